"""Splits: public ways to cut a cell by one attribute."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Split
from privet.errors import QuestionError

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "one": Categorical(["u"]), "n": Numeric(0, 1, bins=4)},
    "class",
    [0, 1],
)


def test_constructors_number_the_branches_of_a_split() -> None:
    assert Split.multiway(SCHEMA, "n").branch == (0, 1, 2, 3)
    assert Split.value(SCHEMA, "a", 1).branch == (0, 1, 0)
    assert Split.threshold(SCHEMA, "n", code=1).branch == (0, 1, 1, 1)
    assert Split.threshold(SCHEMA, "n", code=3).branch == (0, 0, 0, 1)
    assert (Split.multiway(SCHEMA, "one").n_children, Split.value(SCHEMA, "a", 0).n_children) == (
        1,
        2,
    )


@pytest.mark.parametrize(
    "branch", [(), (1,), (0, 2), (-1, 0), (1, 2), (0, 1 << 31), (0, 1, 10**400)]
)
def test_children_are_numbered_without_a_gap(branch: tuple) -> None:
    """However far apart they are, nothing is made for what lies between: a request of an analyst
    would take all memory.
    """
    tracemalloc.start()
    try:
        with pytest.raises(QuestionError, match=r"split of 'a' must number its children 0, 1, 2"):
            Split("a", branch)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("make", "attribute", "code", "said"),
    [
        (Split.value, "a", 3, "'a' has codes 0 to 2, got 3"),
        (Split.value, "a", -1, "'a' has codes 0 to 2, got -1"),
        (Split.value, "one", 0, "'one' has 1 values; a value split needs 2 or more"),
        (Split.threshold, "n", 0, "threshold must be 1 to 3, got 0"),
        (Split.threshold, "n", 4, "threshold must be 1 to 3, got 4"),
        (Split.threshold, "one", 0, "'one' has 1 values; a threshold"),
        (Split.value, "c", 0, "no attribute 'c'; there are a, one, n"),
        (Split.threshold, "c", 0, "no attribute 'c'"),
        pytest.param(
            *(Split.value, "a", 0.5, r"got '0\.5'"),
        ),
    ],
)
def test_a_code_that_splits_nothing_is_refused(
    make: Any, attribute: str, code: float, said: str
) -> None:
    with pytest.raises(QuestionError, match=said):
        make(SCHEMA, attribute, code)


def test_an_unknown_attribute_has_no_multiway_split() -> None:
    with pytest.raises(QuestionError, match="no attribute 'c'"):
        Split.multiway(SCHEMA, "c")


@pytest.mark.parametrize("branch", [("x",), (0.0, 1.0), (None,)])
def test_children_are_whole_numbers(branch: tuple) -> None:
    with pytest.raises(QuestionError):
        Split("a", branch)
