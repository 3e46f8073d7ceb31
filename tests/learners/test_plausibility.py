"""A model of next to no rows says so, by what was released."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import privet as pv
from privet.curator.spending import RowsSeen
from privet.errors import ConstantWarning
from privet.learners.plausibility import doubt_rows, spread_points

NURSERY = pv.datasets.load("nursery")
N = len(NURSERY.table)
LEARNERS = [
    pv.PrivetClassifier(1),
    pv.GreedyTreeClassifier(1),
    pv.ForestClassifier(1),
    pv.ForestClassifier(1, divide="budget", n_trees=2),
    pv.RandomTreesClassifier(1, height=2, n_trees=2),
    pv.NoisyID3Classifier(1, max_depth=1),
    pv.AdditiveClassifier(1),
]


def warned(learner, rows, **facts):
    """Return what a fit warns of, and the notes on its card."""
    schema = NURSERY.schema.declare(**facts)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        learner.set_params(schema=schema).fit(rows)
    said = [str(warning.message) for warning in caught]
    card = " ".join(pv.card(learner).to_html().split())
    assert all(text.split(";")[0] in card for text in said if "rows fit" in text)
    return " ".join(said)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_no_rows_are_told_from_their_noisy_number(learner):
    assert "rows fit the schema" in warned(learner, NURSERY.table.iloc[:0], n_rows=N)
    assert "rows fit" not in warned(learner, NURSERY.table, n_rows=N)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_half_of_the_declared_rows_are_missed(learner):
    assert f"and {N} are declared" in warned(learner, NURSERY.table.iloc[: N // 2], n_rows=N)


def test_a_misspelt_class_is_noticed_without_a_declared_number():
    table = NURSERY.table.assign(**{"class": NURSERY.table["class"].astype(str) + " "})
    said = warned(pv.PrivetClassifier(1), table)
    assert "may be none at all" in said
    assert "privet schema check" in said


@pytest.mark.parametrize(
    ("seen", "declared", "said"),
    [
        (RowsSeen(1000, 20), 1000, None),
        (RowsSeen(1070, 20), 1000, None),  # noise
        (RowsSeen(560, 20), 1000, "About 560 rows fit"),
        (RowsSeen(1900, 20), 1000, "Declare how many there are"),
        (RowsSeen(700, 200), 1000, None),  # nobody can tell
        (RowsSeen(50, 20), None, "may be none at all"),
        (RowsSeen(70, 20), None, None),
        (RowsSeen(-50, 20), None, "About 0 rows"),
        (RowsSeen(5, 20, at_least=True), 1000, "cannot be told from"),
        (RowsSeen(500, 20, at_least=True), 1000, None),  # it may be more
        (None, 1000, None),
        (RowsSeen(0, 20), 0, None),
    ],
    ids=str,
)
def test_a_noisy_number_of_rows(seen, declared, said):
    doubt = doubt_rows(NURSERY.schema.declare(n_rows=declared), seen)
    assert said in doubt.text if said else doubt is None


def test_a_model_that_says_the_same_of_everybody_is_named():
    rare = pv.Schema({"a": pv.Categorical(["x", "y"])}, "c", ["no", "yes"], n_rows=4000)
    table = {
        "a": np.repeat(["x", "y"], 2000),
        "c": np.repeat(["no", "yes", "no"], [1900, 300, 1800]),
    }
    with pytest.warns(ConstantWarning, match="says 'no' of every row"):
        model = pv.GreedyTreeClassifier(1, rare, max_depth=1).fit(table)
    assert "says 'no'" in " ".join(model.privacy_.notes)
    with pytest.warns(pv.FewRowsWarning, match="learnt nothing"):
        pv.PrivetClassifier("0.0001", rare).fit(table)


def test_points_cover_every_value():
    for codes, size in zip(spread_points(NURSERY.schema), NURSERY.schema.sizes, strict=True):
        assert set(codes.tolist()) == set(range(size))
