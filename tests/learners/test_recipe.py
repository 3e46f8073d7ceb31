"""The public rule: from public quantities alone, for domains of any shape, and always something
that can be drawn.
"""

from __future__ import annotations

import inspect
import math
import warnings
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.errors import FewRowsWarning
from privet.learners import (
    GibbsBoostClassifier,
    GibbsTreeClassifier,
    PrivetClassifier,
    default_recipe,
)
from privet.learners.default_recipe import (
    CYCLED_SHARE,
    CYCLES,
    measure_evidence,
    recipe_for,
)
from privet.learners.effort import allow_steps, count_steps
from privet.mechanisms.gibbs.slack import epsilon_per_unit
from privet.tables.counting.scoring import UNIT


def listed(*sizes: int, classes: int = 2) -> Schema:
    return Schema(
        {f"a{i}": Categorical(list(range(size))) for i, size in enumerate(sizes)},
        "c",
        list(range(classes)),
    )


def ordered(k: int, bins: int, classes: int = 2) -> Schema:
    return Schema({f"a{i}": Numeric(0, 1, bins=bins) for i in range(k)}, "c", list(range(classes)))


DOMAINS = {
    "45 attributes of 16 bins": ordered(45, 16),
    "1000 attributes": ordered(1000, 2),
    "one of 5000 values": listed(5000),
    "one of 5000 values and a small one": listed(5000, 3),
    "wide ones": listed(200, 200, 200, 200),
    "26 classes": ordered(16, 16, classes=26),
    "one attribute": listed(2),
    "one value": listed(1),
    "20 bits": listed(*[2] * 20),
    "300 bins": ordered(2, 300),
}


@pytest.mark.parametrize("schema", DOMAINS.values(), ids=DOMAINS)
@pytest.mark.parametrize("n_rows", [0, pytest.param(1000.5, marks=pytest.mark.slow), 70_000])
def test_every_choice_can_be_drawn_and_is_bounded(schema, n_rows):
    for amount, unit in (
        (F(1, 1000), "epsilon"),
        (F(1), "epsilon"),
        (None, "epsilon"),
        (F(1, 50), "rho"),
    ):
        chosen = recipe_for(schema, n_rows, amount, unit)
        space = chosen.space
        space.check_size()
        assert 1 <= space.depth <= 12
        assert 1 <= chosen.rounds <= 100
        assert chosen.rounds % 2 == 1 or chosen.leaves or chosen.additive  # no ties
        assert 0 <= chosen.additive <= (F(1, 2) if unit == "epsilon" else CYCLED_SHARE)
        assert chosen.cycles == (1 if unit == "epsilon" or not chosen.additive else CYCLES)
        assert chosen.strength > 0
        spared = (chosen.additive, chosen.calibration, chosen.leaves)
        share = math.prod(1 - part for part in spared) / chosen.rounds
        each = (
            F(1000)
            if amount is None
            else amount * share
            if unit == "epsilon"
            else F(math.sqrt(8 * amount * share))
        )
        assert 0 < epsilon_per_unit(space, each, UNIT) <= each / UNIT
        tables = math.comb(len(schema.names), space.depth)
        evidence = measure_evidence(n_rows, amount, unit, chosen.rounds)
        steps = max(allow_steps(schema, n_rows, evidence, 1.0, small=small) for small in (0, 1))
        enough = chosen.rounds * count_steps(space, n_rows) <= steps
        assert space.depth == 1 or tables <= default_recipe.TABLES or enough
        assert space.depth <= 2 or enough


def test_a_label_of_one_tree_has_about_half_of_the_probability():
    """However many classes there are; where leaves or counts say more, they say it."""
    for n_classes in (4, 10):
        schema = Schema(
            {name: Numeric(0, 1, bins=16) for name in "pqrstuvw"},
            "c",
            [str(label) for label in range(n_classes)],
        )
        thin = recipe_for(schema, 100, F(1))
        assert thin.only_labels
        odds = math.exp(thin.strength)
        assert odds / (odds + n_classes - 1) == pytest.approx(0.5)
        assert not recipe_for(schema, 10_000, F(1)).only_labels


def test_a_recipe_is_made_of_public_quantities():
    """It is given a schema, a number of rows that was declared or paid for, and the amount: nothing
    else to look at. A line of the rule is public, too.
    """
    assert list(inspect.signature(recipe_for).parameters) == [
        "schema",
        "n_rows",
        "amount",
        "unit",
        "rounds",
        "depth",
        "draws_only",
        "rare",
        "line",
        "effort",
        "alone",
    ]


def settings_of(table, learner, **facts) -> dict:
    schema = Schema(
        {"a": Categorical(["x", "y"]), "n": Numeric(0, 1, bins=16)}, "c", ["n", "p"], **facts
    )
    settings = dict(learner.fit_from(Curator(table, schema, Budget(5))).model_.settings)
    if "rows" in settings:  # by the identity of the release, which is random
        settings["rows"] = list(settings["rows"].values())
    return settings


@pytest.mark.parametrize("make", [PrivetClassifier, GibbsBoostClassifier, GibbsTreeClassifier])
def test_what_is_chosen_does_not_depend_on_the_rows_where_their_number_is_declared(make):
    """Not on how many there are, nor on what they say."""
    one = pd.DataFrame({"a": ["x"], "n": [0.5], "c": ["n"]})
    tables = (
        one.iloc[:0],
        one,
        pd.concat([one] * 700),
        pd.DataFrame({"a": list("xy") * 200, "n": np.linspace(0, 1, 400), "c": list("np") * 200}),
    )
    assert len({str(settings_of(table, make(1), n_rows=5000)) for table in tables}) == 1


def test_a_number_of_rows_that_was_not_declared_shows_with_noise_only():
    """Two fits of one table say different numbers."""
    table = pd.DataFrame(
        {"a": list("xy") * 500, "n": np.linspace(0, 1, 1000), "c": list("np") * 500}
    )
    said = [settings_of(table, PrivetClassifier("0.1"))["why"] for _ in range(6)]
    assert len(set(said)) > 1
    assert all(text.startswith("rows times epsilon is about ") for text in said)


def test_more_evidence_never_means_fewer_rounds():
    for schema in (ordered(10, 16), ordered(16, 16, classes=26)):
        rounds = [
            recipe_for(schema, n, F(1)).rounds for n in (10, 100, 1000, 10_000, 100_000, 10**6)
        ]
        assert rounds == sorted(rounds)
        assert rounds[0] < rounds[-1]


def test_what_is_given_is_taken():
    chosen = recipe_for(ordered(10, 16), 0, F(1), rounds=4, depth=1, draws_only=True)
    assert (chosen.rounds, chosen.space.depth) == (4, 1)
    assert not any((chosen.leaves, chosen.additive))


def test_too_few_rows_are_warned_of_and_enough_are_not():
    columns = {"a": ["x", "y"] * 10, "b": ["x", "y"] * 10, "n": 0.5, "m": 0.5}
    table = pd.DataFrame({**columns, "c": ["n", "p"] * 10})
    with pytest.warns(FewRowsWarning, match="rows times epsilon is about 2"):
        settings_of(table, PrivetClassifier("0.1"), n_rows=20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", FewRowsWarning)
        enough = pd.concat([table] * 100, ignore_index=True)
        settings_of(enough, PrivetClassifier("0.1"), n_rows=2000)


def test_why_is_said_in_numbers_of_any_size():
    assert "many points in the domain (1.1e+301)" in recipe_for(ordered(1000, 2), 10, F(1)).why
    assert "many points in the domain (1.1e+602)" in recipe_for(ordered(1000, 4), 1, F(1)).why
