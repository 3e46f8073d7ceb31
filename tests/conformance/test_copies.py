"""Copies of what is asked: many equal splits are copied once, and only what is equal in kind."""

from __future__ import annotations

import pytest

from privet.domain.cells import Cells, Split
from privet.errors import QuestionError
from privet.queries import ChooseSplits
from privet.queries.plain import copy_query
from tests.conformance.asked import SCHEMA


def split() -> Split:
    return Split("colour", (1, 0, 0))


def by_smoking() -> Cells:
    return Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "smokes")})


def test_equal_splits_are_one_copy_within_a_query():
    theirs = [[split()], [split()]]
    (mine,), (again,) = copy_query(ChooseSplits(by_smoking(), theirs), SCHEMA).candidates
    assert mine is again
    assert mine == split()
    assert all(mine is not given for (given,) in theirs)
    other = copy_query(ChooseSplits(by_smoking(), theirs), SCHEMA).candidates[0][0]
    assert other is not mine  # whoever got an answer holds the copy


@pytest.mark.parametrize("branch", [(True, False, False), (1.0, 0.0, 0.0), (1, 0, False)])
def test_a_branch_that_only_equals_integers_is_refused(branch):
    forged = split()
    object.__setattr__(forged, "branch", branch)
    with pytest.raises(QuestionError, match="number its children"):
        copy_query(ChooseSplits(by_smoking(), [[split()], [forged]]), SCHEMA)
