"""Public spaces of trees: what they accept, which splits there are, and how large they are."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Split
from privet.domain.space import (
    MAX_PLANNING,
    MAX_SPACE_DEPTH,
    MAX_THREADS,
    TreeSpace,
    all_splits,
    binary_and_coarse_splits,
    child_masks,
    coarse_splits,
    find_widest_split,
    one_against_rest_splits,
    separates,
    threshold_splits,
)
from privet.errors import ParameterError, QuestionError
from privet.mechanisms.gibbs.draw import Gibbs
from privet.mechanisms.gibbs.plan import SpaceArrays
from privet.tables.counting.marginals import Marginals
from tests.mechanisms.gibbs_oracle import small_schema
from tests.steps import count_steps

SCHEMA = small_schema(3, "12?", 2, "4", 1)


# -- what is accepted ------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [-1, MAX_SPACE_DEPTH + 1, 1.5, "2", None, True])
def test_depth_is_a_small_whole_number(depth):
    with pytest.raises(
        ParameterError, match=f"depth must be an integer from 0 to {MAX_SPACE_DEPTH}, got"
    ):
        TreeSpace(SCHEMA, depth)


@pytest.mark.parametrize("name", ["split", "keep"])
@pytest.mark.parametrize("chance", [0, 1, 0.0001, float("nan"), "0.5", None, True])
def test_chances_are_neither_zero_nor_one(name, chance):
    """A tree without a chance under one table could have one under its neighbour's."""
    with pytest.raises(
        ParameterError, match=rf"{name} must be a number from 0\.001 to 0\.999, got"
    ):
        TreeSpace(SCHEMA, 2, **{name: chance})


@pytest.mark.parametrize("name", ["inner", "last"])
def test_splits_are_checked(name):
    fine = Split("a", (0, 1, 1))
    with pytest.raises(QuestionError, match=f"{name} must hold splits, got str"):
        TreeSpace(SCHEMA, 2, **{name: ["a"]})
    with pytest.raises(QuestionError, match=f"{name} holds the same split twice"):
        TreeSpace(SCHEMA, 2, **{name: [fine, fine]})
    for bad in (Split("z", (0, 1)), Split("a", (0, 1))):
        with pytest.raises(QuestionError):
            TreeSpace(SCHEMA, 2, **{name: [bad]})


def test_splits_that_split_nothing_are_left_out():
    space = TreeSpace(SCHEMA, 2, [Split("a", (0, 0, 0)), Split("a", (0, 1, 0))], [Split("e", (0,))])
    assert (len(space.inner), len(space.last)) == (1, 0)


@pytest.mark.parametrize(("classes", "keep"), [(2, 0.5), (3, 0.999), (26, 0.5), (40, 0.999)])
def test_a_split_that_is_too_wide_is_refused(classes, keep):
    """A product of (1 - keep)/T over its children must stay far from where doubles end."""
    most = find_widest_split(classes, keep)
    schema = small_schema(most, most + 1, classes=classes)
    assert most * math.log(classes / (1 - keep)) <= 600
    TreeSpace(schema, 1, [], [Split.multiway(schema, "a")], keep=keep)
    with pytest.raises(
        QuestionError, match=f"'b' with {most + 1} children.* at most {most} are allowed"
    ):
        TreeSpace(schema, 1, [], [Split.multiway(schema, "b")], keep=keep)


# -- splits ----------------------------------------------------------------------------------------


@given(st.integers(0, 255), st.lists(st.integers(0, 3), min_size=8, max_size=8))
def test_children_divide_what_is_possible(mask, branch):
    names = {child: i for i, child in enumerate(dict.fromkeys(branch))}
    split = Split("a", tuple(names[child] for child in branch))
    parts = child_masks(mask, split)
    assert sum(parts) == mask  # disjoint, and nothing is lost
    assert all(parts)
    homes = {split.branch[code] for code in range(8) if mask >> code & 1}
    assert len(parts) == len(homes)
    assert separates(mask, split) == (len(homes) > 1)


def test_the_public_splits_of_each_kind():
    by_name = {
        name: [one for one in all_splits(SCHEMA) if one.attribute == name] for name in SCHEMA.names
    }
    assert {name: len(listed) for name, listed in by_name.items()} == {
        "a": 4,  # all apart, three values against the rest
        "b": 1 + 2 + 11,  # all apart, 4 and 8 groups, thresholds
        "c": 1,
        "d": 1 + 3,
        "e": 0,
    }
    # missing entries are a child of their own
    assert Split("b", (0,) * 5 + (1,) * 7 + (2,)) in by_name["b"]
    binary, coarse = binary_and_coarse_splits(SCHEMA), coarse_splits(SCHEMA)
    assert Split.multiway(SCHEMA, "b") not in binary
    assert {one.attribute: one.n_children for one in coarse if one.attribute != "b"} == {
        "a": 3,
        "c": 2,
        "d": 2,
    }
    assert [one.n_children for one in coarse if one.attribute == "b"] == [5, 9]
    for listed in (all_splits(SCHEMA), binary, coarse):
        assert len(
            {
                (one.attribute, frozenset(child_masks((1 << len(one.branch)) - 1, one)))
                for one in listed
            }
        ) == len(listed)


def test_very_large_domains_are_not_split_value_by_value():
    """Quickly, and so that every list can be used with the default chances."""
    schema = Schema(
        {
            "zip": Categorical([f"z{i}" for i in range(5000)]),
            "age": Numeric(0, 1, bins=3000),
            "sex": Categorical(["f", "m"]),
        },
        "y",
        ["n", "p"],
    )
    assert not one_against_rest_splits(schema, "zip")
    assert len(threshold_splits(schema, "age")) == 255
    for listed in (all_splits(schema), binary_and_coarse_splits(schema), coarse_splits(schema)):
        assert {one.attribute for one in listed} == {"age", "sex"}
        TreeSpace(schema, 2, listed, listed)


# -- sizes -----------------------------------------------------------------------------------------


def stages(plan: SpaceArrays, which: int, by: int) -> list[int]:
    """How many entries per class a table has while it is summed over subsets, attribute by
    attribute.
    """
    shape = [int(plan.sizes[a]) for a in plan.sets[which]]
    found = [math.prod(shape)]
    for i, a in enumerate(plan.sets[which]):
        if a != by:
            shape[i] = len(plan.masks[a]) - 1
            found.append(math.prod(shape))
    return found


SPACES = [
    TreeSpace(SCHEMA, 0),
    TreeSpace(SCHEMA, 1),
    TreeSpace(SCHEMA, 2),
    TreeSpace(SCHEMA, 3),
    TreeSpace(SCHEMA, 3, coarse_splits(SCHEMA), all_splits(SCHEMA)),
    TreeSpace(SCHEMA, 4, [], all_splits(SCHEMA)),
    TreeSpace(SCHEMA, 4, coarse_splits(SCHEMA), []),
    TreeSpace(small_schema(3, 3, 3, 3, 3, classes=3), 5),
    TreeSpace(
        small_schema("16", "16", "16?", 2), 3, coarse_splits(small_schema("16", "16", "16?", 2))
    ),
]


@pytest.mark.parametrize(
    "space", SPACES, ids=lambda space: f"{space.depth}-{len(space.inner)}-{len(space.last)}"
)
def test_the_size_bounds_what_is_held(space):
    plan, schema = SpaceArrays(space.merged), space.merged.schema
    marginals = Marginals(plan.sets, schema.sizes, schema.n_classes)
    gibbs = Gibbs(plan, marginals.flat, marginals.base, 1.0)
    held = [marginals.flat, *plan.arrays, *gibbs._best.values(), *gibbs._rest.values()]
    counts = 8 * plan.n_states * schema.n_classes
    at_once, states = 0, 0
    for which in range(plan.n_state_sets):
        here = math.prod(len(plan.masks[a]) - 1 for a in plan.sets[which])
        states = max(states, here * (17 + 8 * schema.n_classes))
        for by in range(-1, len(schema.sizes)):
            table = which if by in (-1, *plan.sets[which]) else plan.arrays.with_more[which, by]
            if table >= 0:
                sizes = stages(plan, table, by)
                at_once = max(at_once, *(sum(sizes[i : i + 2]) for i in range(len(sizes))))
    threads = MAX_THREADS * (8 * schema.n_classes * at_once + states)
    size = space.size
    assert plan.n_states <= size.states
    assert len(marginals.flat) <= size.counts
    assert sum(array.nbytes for array in held) + counts + threads <= size.bytes
    # and is no fantasy
    assert size.bytes < 60 * (sum(array.nbytes for array in held) + counts + threads) + 2**20


def test_states_are_those_that_tests_lead_to():
    space = TreeSpace(small_schema(4), 3, [Split("a", (0, 0, 1, 1))], [])
    # {0, 1} and {2, 3} after one test; nothing separates them any more, so no second test leads to
    # them.
    assert space.subsets == [{0b1111: 0b1, 0b0011: 0b10, 0b1100: 0b10}]
    twice = TreeSpace(small_schema(4), 3, [Split("a", (0, 0, 1, 1)), Split("a", (0, 1, 0, 0))], [])
    assert twice.subsets[0][0b0001] == 0b100
    assert twice.subsets[0][0b1101] == 0b10


def test_a_space_that_is_too_large_is_refused_with_advice():
    schema = small_schema(*[6] * 8)
    with pytest.raises(
        QuestionError,
        match=(
            r"too large: drawing from it could need .* GiB, .* use less depth \(now 7\), fewer "
            r"splits"
        ),
    ):
        TreeSpace(schema, 7).check_size()
    TreeSpace(schema, 2).check_size()


def test_too_many_subsets_are_refused_before_they_are_listed():
    schema = small_schema(60)
    with pytest.raises(QuestionError, match="'a' into more sets of values"):
        TreeSpace(schema, 6).check_size()


def test_a_refusal_knows_no_data(monkeypatch):
    """It comes from the space alone, the same for any table and any number of cores."""
    schema = small_schema(*[6] * 8)
    size = TreeSpace(schema, 7).size
    monkeypatch.setattr("os.cpu_count", lambda: 128)
    assert (
        TreeSpace(schema.declare(n_rows=10), 7).size
        == TreeSpace(schema.declare(n_rows=10**9), 7).size
        == size
    )


def test_a_plan_can_be_made_for_every_depth():
    for depth in range(5):
        plan = SpaceArrays(TreeSpace(small_schema(2, 3), depth))
        assert plan.n_states >= 1
        assert all(array.dtype == np.int64 for array in plan.arrays)


def splits_that_cut_everywhere(size: int, more: int) -> tuple[Schema, list[Split]]:
    """One attribute, each of its values apart from the others, and other splits in two: almost all
    sets of values can be left.
    """
    schema = Schema({"a": Categorical(list(range(size)))}, "c", ["n", "p"])
    apart = [Split.value(schema, "a", code) for code in range(size)]
    others = [
        Split("a", tuple((number >> code) & 1 for code in range(size)))
        for number in range(3, 3 + 4 * more, 4)
    ]
    return schema, [*apart, *others]


def test_to_see_how_large_a_space_is_takes_bounded_work():
    """A request of a few KB took seconds of CPU, and was then refused for its budget."""
    schema, splits = splits_that_cut_everywhere(15, 60)
    space = TreeSpace(schema, 12, splits, splits[:1])
    steps = count_steps(lambda: space.fits, "space.py")
    assert not space.fits
    assert steps.total() < 2 * MAX_PLANNING
    with pytest.raises(QuestionError, match="less depth"):
        space.check_size()


@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_the_steps_of_laying_a_space_out_are_counted(depth):
    schema, splits = splits_that_cut_everywhere(5, 3)
    space = TreeSpace(schema, depth, splits)
    assert count_steps(lambda: SpaceArrays(space), "plan.py").total() < 40 * space.size.planning
    # what tests can leave, found by trying: the sets that a path of splits ends in
    left = {0b11111}
    for _ in range(depth - 1):
        left |= {c for mask in left for split in splits for c in child_masks(mask, split)}
    assert set(space.subsets[0]) == left
