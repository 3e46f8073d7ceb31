"""What a check can tell is said beforehand, from public sizes, and holds afterwards."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.synthetic.check import check_synthetic
from privet.synthetic.check_plan import NOTHING, label_parts, plan_check
from tests.synthetic.small import SCHEMA, table

WIDE = Schema(
    {"a": Numeric(0, 100, bins=100), "b": Numeric(0, 100, bins="auto")}, "c", ["no", "yes"]
)


def wide(n_rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    columns = {name: rng.random(n_rows) * 100 for name in WIDE.names}
    return pd.DataFrame({**columns, "c": rng.choice(["no", "yes"], n_rows)})


def test_values_are_counted_together_until_noise_hides_little():
    plan = plan_check(wide(2000), WIDE, 1)
    sizes = {name: int(parts.max()) + 1 for name, parts in plan.parts.items()}
    # 100 and 1024 values of two classes each would show distances of .2 and 1
    assert 10 < sizes["a"] < 40
    assert 10 < sizes["b"] < 40
    assert max(plan.floors.values()) <= 0.055
    assert plan.tells


def test_what_was_said_is_what_is_shown():
    rows = wide(2000)
    plan = plan_check(rows, WIDE, 1)
    made = check_synthetic(rows, Curator(rows, WIDE, Budget(1)), 1)
    for one in made.marginals:
        assert one.floor == pytest.approx(plan.floors[one.name], rel=0.1)
        assert one.synthetic.shape == one.held_out.shape == (len(one.labels), 2)
        assert one.distance < 4 * one.floor


def test_sizes_are_declared_or_those_of_the_synthetic_rows():
    rows = table(1000)
    assert plan_check(rows, SCHEMA, 1).n_rows == 1000
    declared = plan_check(rows, SCHEMA.declare(n_rows=77), 1)
    assert (declared.n_rows, declared.declared) == (77, True)
    assert "77 held-out rows (declared)" in declared.describe()
    assert "half as many double what follows" in plan_check(rows, SCHEMA, 1).describe()


def test_too_little_tells_nothing_and_what_is_advised_tells():
    rows = table(200)
    plan = plan_check(rows, SCHEMA, "1/100")
    assert not plan.tells
    assert min(plan.floors.values()) > NOTHING
    advised = plan_check(rows, SCHEMA, plan.enough)
    assert advised.tells
    assert np.median(list(advised.floors.values())) <= 0.11


def test_more_models_are_told_less():
    one, many = (plan_check(table(500), SCHEMA, 1, models=models) for models in (1, 5))
    assert many.accuracy == pytest.approx(5 * one.accuracy)


def test_parts_have_labels():
    numbers = Numeric(0, 100, bins=10, missing="?")
    labels = label_parts(numbers, np.array([0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3]))
    assert labels == ("0 to 30", "30 to 70", "70 to 100", "?")
    labels = label_parts(numbers, np.array([0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3]))
    assert labels == ("0 to 10", "10 to 90", "90 to 100", "?"), "a bin alone is spelt like several"
    colours = Categorical(list("abcdef"))
    assert label_parts(colours, np.array([2, 0, 2, 2, 2, 1])) == ("b", "f", "a, c, d and 1 more")
