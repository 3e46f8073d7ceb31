"""Verdicts can fail: every claim of the report agrees in some made-up world, and differs in
another.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from experiments.papers.anatomy.paper import PAPER as ANATOMY
from experiments.papers.experiment import Comparison, Experiment, Row
from experiments.papers.papers import MODULES, paper_named
from experiments.papers.rdt.jobs import RDT
from tests.experiments.papers.made_up import fold
from tests.experiments.papers.worlds import World, lines_of, random_worlds

#: Numbers that a paper names: worlds in which all is so.
NAMED = (
    0.0, 0.015, 0.025, 0.33, 0.4, 0.46, 0.52, 0.526, 0.56, 0.61, 0.1873, 0.6399, 0.75, 0.8017,
    0.8348, 0.866, 0.9448, 0.9819, 1.0,
)  # fmt: skip
MOST = 150
#: A quick run has too few runs of these for any verdict.
FULL = {"maximum", "folds", "trees"}
SLOW = {"summary", "dimensions"}
REAL, OTHER = ("nursery", "mushroom", "votes"), ("synthetic1", "synthetic2", "synthetic3")
#: Worlds of which few are drawn by chance.
SOUGHT = (
    World(noise=0.001, noise_of=dict.fromkeys(REAL, 0.1)),
    World(noise=0.001, noise_of=dict.fromkeys(OTHER, 0.1)),
    World(0.5, {"epsilon": 0.6}),
    World(0.3, of_series={RDT: 0.4, "mushroom": 0.5}),
    World(0.3, of_series={RDT: 0.2}),
    World(noise=0.002, noise_by_folds=0.003),
    World(noise=0.06, noise_by_folds=-0.0028),
    World(noise=0.002, noise_by_trees=0.003),
    World(noise=0.06, noise_by_trees=-0.0028),
    World(0.5, {"trees": 0.3}),
    World(0.8, {"trees": -0.3}),
)


def _experiments() -> Iterator[object]:
    """Every figure. Those that are compared as another one is, of other data, are slow ones."""
    seen = set()
    for name in MODULES:
        for experiment in paper_named(name).experiments:
            if name == "anatomy" and experiment.number != "love canal":
                continue  # their lines are measured, see below
            way = getattr(experiment.compare, "func", experiment.compare)
            slow = way in seen or experiment.number in SLOW
            marks = [pytest.mark.slow] if slow else []
            seen.add(way)
            yield pytest.param(experiment, id=f"{name}-{experiment.number}", marks=marks)


def worlds() -> Iterator[World]:
    for base in NAMED:
        yield World(base)
    for factor in (0.0, 0.5, 0.872, 0.99, 1.01, 2.0, 48 / 28.284):
        yield World(factor=factor)
    yield from SOUGHT
    yield from random_worlds(MOST)


def claims(experiment: Experiment, rows: Sequence[Row]) -> list[Comparison]:
    compared = experiment.compare(rows)
    assert compared
    assert all(one.what and one.ours for one in compared)
    assert all(one.holds for one in compared if one.verdict is not None)
    return [one for one in compared if one.verdict is not None]


@pytest.mark.parametrize("experiment", list(_experiments()))
def test_every_claim_agrees_in_one_world_and_differs_in_another(experiment):
    cells = experiment.cells(experiment.number not in FULL)
    seen: dict[int, set[str | None]] = {}
    named: dict[int, str] = {}
    for world in worlds():
        for number, claim in enumerate(claims(experiment, lines_of(cells, world))):
            seen.setdefault(number, set()).add(claim.verdict)
            named[number] = claim.what
        if all({"agrees", "differs"} <= verdicts for verdicts in seen.values()):
            break
    lacking = {
        named[number]: sorted({"agrees", "differs"} - verdicts)
        for number, verdicts in seen.items()
        if not {"agrees", "differs"} <= verdicts
    }
    assert seen
    assert lacking == {}


@pytest.mark.parametrize("number", ["4", "5", "6"])
def test_every_claim_about_outsourced_tables_agrees_and_differs(number):
    experiment = next(one for one in ANATOMY.experiments if one.number == number)
    draw = np.random.default_rng(1)
    seen: dict[int, set[str | None]] = {}
    for _ in range(200):
        lines = []
        right = draw.integers(1, 10, 3)
        slow, together = draw.uniform(0.5, 6), draw.choice([-1, 1])
        big = int(draw.choice([40, 150]))
        for experiment_number in (2, 3, 4, 5):
            for at in range(6):
                extra = int(draw.integers(0, 2))
                lines += fold(
                    experiment_number,
                    at,
                    cdbsl=int(right[0]) + extra,
                    cdtl=int(right[1]) + int(draw.integers(0, 2)),
                    cnl=int(right[2]) + int(draw.integers(0, 2)),
                    seconds=slow * (1 + 0.1 * together * at),
                    largest=big + 2 * at,
                )
        for place, claim in enumerate(claims(experiment, lines)):
            seen.setdefault(place, set()).add(claim.verdict)
        if all({"agrees", "differs"} <= verdicts for verdicts in seen.values()):
            return
    assert seen == {place: {"agrees", "differs"} for place in seen}


def test_one_fold_gives_no_verdict():
    lines = [line for number in (2, 3, 4, 5) for line in fold(number, 0)]
    for experiment in ANATOMY.experiments:
        if experiment.number != "love canal":
            assert {one.verdict for one in claims(experiment, lines)} == {"cannot tell"}
