"""The work of a draw does not depend on the counts: no state is skipped, and nothing ends early."""

from __future__ import annotations

import numpy as np
import pytest

from privet import _steady as steady
from privet.domain.cells import Split
from privet.domain.space import TreeSpace, threshold_splits
from privet.mechanisms.gibbs import kernels
from privet.mechanisms.gibbs.plan import SpaceArrays
from privet.mechanisms.gibbs.slack import slack
from tests.mechanisms.gibbs_oracle import gibbs_of, random_rows, small_schema
from tests.steps import count_steps, use_plain_loops


def ordered_space(classes: int) -> TreeSpace:
    schema = small_schema("4", 3, 2, classes=classes)
    return TreeSpace(schema, 3, [*threshold_splits(schema, "a"), Split.multiway(schema, "b")])


SPACES = {
    "two classes": lambda: ordered_space(2),
    "three classes": lambda: ordered_space(3),
    "two tests": lambda: TreeSpace(small_schema(3, 3), 2),
}
#: Epsilon per unit: where all weights count alike, and where most of them vanish.
UNITS = [1e-6, 1e5]


def worlds(space: TreeSpace) -> dict[str, list]:
    one = (tuple(size - 1 for size in space.schema.sizes), 1, 1)
    many = random_rows(space, 60, seed=3)
    alike = [((0,) * len(space.schema.sizes), 0, 5)] * 40
    return {
        "nobody": [],
        "one person": [one],
        "many": many,
        "alike": alike,
        "one unlike the others": [*alike, one],
    }


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", SPACES)
def test_the_dynamic_program_takes_the_same_steps_whatever_the_counts(name, unit, monkeypatch):
    space = SPACES[name]()
    plan = SpaceArrays(space)
    use_plain_loops(monkeypatch, kernels, steady)
    steps = {
        world: count_steps(lambda rows=rows: gibbs_of(space, rows, unit, plan), "gibbs")
        for world, rows in worlds(space).items()
    }
    expected = steps["nobody"]
    assert expected.total() > 1000
    for world, taken in steps.items():
        differing = {line: (expected[line], taken[line]) for line in expected | taken}
        assert taken == expected, (world, {k: v for k, v in differing.items() if v[0] != v[1]})


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("name", SPACES)
def test_listing_the_choices_of_a_node_takes_the_same_steps(name, unit, monkeypatch):
    space = SPACES[name]()
    plan = SpaceArrays(space)
    use_plain_loops(monkeypatch, kernels, steady)
    found = []
    for rows in worlds(space).values():
        gibbs = gibbs_of(space, rows, unit, plan)
        root = gibbs.root()
        split = gibbs.choices(root).splits[1]

        def look(gibbs=gibbs, root=root, split=split):
            gibbs.choices(root)
            for child in gibbs.below(root, 0, split):
                gibbs.choices(child)

        found.append(count_steps(look, "gibbs"))
    assert found[0].total() > 100
    assert all(steps == found[0] for steps in found)


@pytest.mark.parametrize("name", SPACES)
def test_a_state_that_nobody_is_in_is_worth_one(name):
    """It is computed like any other, and rounding is within what the slack allows for a node."""
    space = SPACES[name]()
    gibbs = gibbs_of(space, [], 0.3)
    for left, rests in gibbs._rest.items():
        assert (gibbs._best[left] == 0).all()
        assert np.abs(rests).max() <= float(slack(space)) / 4


def test_exp_and_log_take_the_same_steps_whatever_the_argument():
    for function, arguments in {
        steady.exp.py_func: (0.0, -1e-300, -1.0, -700.0, -708.5, -1e9, 3.0),
        steady.log.py_func: (1.0, 1 - 2**-53, 1.5, 2.0, 1e-300, 1e300),
    }.items():
        taken = [count_steps(lambda f=function, x=x: f(x)) for x in arguments]
        assert taken[0].total() > 5
        assert all(steps == taken[0] for steps in taken)
