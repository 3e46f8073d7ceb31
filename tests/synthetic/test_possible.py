"""What the schema says to be impossible is in no synthetic row, and costs nothing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.errors import ParameterError
from privet.synthetic.possible import draw_possible, find_impossible_rows
from privet.synthetic.synthesize import synthesize
from tests.synthetic.small import SCHEMA, seeded, table

RULED = replace(SCHEMA, impossible=[{"a": "x", "b": 2}, {"a": ["x", "y"], "age": "[60, 80]"}])


def count_impossible(frame: pd.DataFrame) -> int:
    old = frame["a"].isin(["x", "y"]) & (frame["age"] >= 60)
    return int(((frame["a"] == "x") & (frame["b"] == 2) | old).sum())


@pytest.mark.parametrize("epsilon", [0.01, 1, 50])
def test_no_row_is_impossible(epsilon):
    rows = table(2000)
    assert count_impossible(rows) > 50  # even where the real rows break the rules
    made = synthesize(Curator(rows, RULED, Budget(50)), epsilon, rows=700)
    assert len(made.frame) == 700
    assert count_impossible(made.frame) == 0


def test_what_is_stated_is_measured_without_a_selection():
    asked = Curator(table(20_000), RULED, Budget(4), bits=seeded(1))
    made = synthesize(asked, 4, rows=10)
    assert set(made.pairs) >= {("a", "b"), ("a", "age")}
    assert not [one for one in made.privacy.charges if "selections" in one.what]
    assert asked.left == 0
    assert made.privacy.charged.epsilon == 4


def test_who_breaks_a_rule_is_not_told():
    """What is asked, at what cost, is the same whether the rows follow the rules or not."""
    rows = table(2000)
    old = rows["a"].isin(["x", "y"]) & (rows["age"] >= 60)
    ruly = rows[~((rows["a"] == "x") & (rows["b"] == 2) | old)]
    assert count_impossible(rows) > 0 == count_impossible(ruly)
    told = [
        synthesize(Curator(one, RULED, Budget(40), bits=seeded(1)), 40, rows=10).privacy.charges
        for one in (rows, ruly)
    ]
    assert told[0] == told[1]


def test_the_rest_keeps_its_shares():
    rows = table(20_000)
    rows = rows[~((rows["a"] == "x") & (rows["b"] == 2))]
    schema = replace(SCHEMA, impossible=[{"a": "x", "b": 2}])
    made = synthesize(Curator(rows, schema, Budget(5), bits=seeded(2)), 5).frame
    true, found = (frame.groupby(["a", "b"]).size() / len(frame) for frame in (rows, made))
    assert np.abs(true - found).max() < 0.02


def test_rules_are_found_in_codes():
    a, b = np.array([0, 0, 1, 2]), np.array([0, 1, 1, 1])
    found = find_impossible_rows(RULED, [a, b, np.array([0, 0, 3, 3])])
    assert found.tolist() == [False, True, True, False]


def test_where_nothing_is_possible_it_says_so():
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Categorical(["u"])},
        "c",
        ["n", "y"],
        impossible=[{"a": "x", "b": "u"}],
    )

    def draw(n_rows):
        return [np.zeros(n_rows, dtype=np.int64)] * 2, np.zeros(n_rows, dtype=np.int64)

    with pytest.raises(ParameterError, match="next to no row is possible"):
        draw_possible(schema, 3, draw)


def test_a_card_says_what_the_schema_decided():
    from privet.synthetic.files import render_table_card

    made = synthesize(Curator(table(200), RULED, Budget(1)), 1, rows=5)
    assert "What the schema says to be impossible is in no row" in render_table_card(made)


def test_learners_do_nothing_with_it():
    rows = table(300)
    said = [
        pv.GreedyTreeClassifier(math.inf, schema=schema.declare(n_rows=300))
        .fit(rows)
        .predict_proba(rows)
        for schema in (SCHEMA, RULED)
    ]
    assert (said[0] == said[1]).all()
