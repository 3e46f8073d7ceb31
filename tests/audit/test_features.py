"""What is seen of a release."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

import privet as pv
from privet.audit import pairs_of
from privet.audit.features import observed
from privet.audit.fitted import Fitted
from privet.audit.worlds import World
from privet.errors import ParameterError

PAIR = pairs_of("replace")[1]


def exactly(world: World, learner: pv.RandomTreesClassifier) -> pv.RandomTreesClassifier:
    """Without noise, so that the features are known."""
    return learner.set_params(epsilon=math.inf).fit_from(
        pv.Curator(world.table, world.schema, pv.Budget(1), public=True)
    )


def test_of_a_model_the_leaf_of_the_row_is_seen_and_the_rest():
    seen = observed(
        exactly(PAIR.other, pv.RandomTreesClassifier(n_trees=1, height=2, shrink=0)), PAIR.probed
    )
    where = next(
        name
        for name in seen
        if name.startswith("released yes") and name.endswith("where the row falls")
    )
    assert seen[where] == 1
    assert seen[where.replace("where the row falls", "elsewhere than the row")] == 0
    assert seen["no in all of tree 0"] == 3
    assert seen["setting height"] == seen["first number in setting height"] == 2
    assert isinstance(seen["structure of tree 0"], str)
    assert "leaf counts of 1 trees" in str(seen["charges"])


def test_worlds_give_the_same_names():
    one, other = (
        observed(exactly(world, pv.RandomTreesClassifier(n_trees=2, height=1)), PAIR.probed)
        for world in (PAIR.one, PAIR.other)
    )
    assert one.keys() == other.keys()


def test_of_anybodys_estimator_predictions_are_seen():
    fitted = DecisionTreeClassifier(random_state=0).fit(PAIR.other.numbers[0], PAIR.other.y)
    seen = observed(Fitted(fitted), PAIR.probed)
    assert seen["predict_proba: entry 0, 1"] == 1.0
    assert seen["predict: entry 0"] == "yes"
    along = [seen[f"predict along b: entry {i}"] for i in range(17)]
    assert along == fitted.predict([[0, i / 4] for i in range(17)]).tolist()
    assert (seen["classes_: entry 0"], seen["classes_: entry 1"]) == ("no", "yes")


def test_of_rows_those_like_the_row_are_counted():
    frame = pd.concat([PAIR.other.table] * 2)
    seen = observed(frame, PAIR.probed)
    assert seen["rows"] == 8
    assert seen["rows like the row"] == 2
    assert seen["rows like its replacement"] == 6
    assert observed(PAIR.other.table.iloc[:1], PAIR.probed)["row 0"] == "('y', 3.5, 'no')"


def test_of_answers_all_numbers_are_seen():
    seen = observed(
        {"size": 3, "word": "w", "table": np.array([[1, 2], [3, 4]]), "none": None}, PAIR.probed
    )
    assert seen["size"] == 3.0
    assert seen["word"] == "w"
    assert seen["table: sum"] == 10.0
    assert seen["table: entry 1, 0"] == 3.0
    assert seen["none"] == "None"
    assert observed([1.5, "x"], PAIR.probed) == {
        "answer 0": 1.5,
        "answer 1": "x",
        "all together": "(1.5, 'x')",
    }


def test_what_cannot_be_seen_is_refused():
    with pytest.raises(ParameterError, match="cannot look at a object"):
        observed(object(), PAIR.probed)


def test_of_a_record_what_it_tells_is_held_against_the_row():
    told = observed({"a": "x", "b": None, "class": "no"}, PAIR.probed)
    assert (told["told like the row"], told["told otherwise than the row"]) == (1, 1)
    assert (told["told like its replacement"], told["told otherwise than its replacement"]) == (
        1,
        1,
    )
    assert told["all together"] == "('x', None, 'no')"
    assert "all together" not in observed({"one": 1}, PAIR.probed)
