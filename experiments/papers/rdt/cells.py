"""The cells of both papers: which jobs, with which parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, get_args

from experiments.papers.experiment import Cell, Row
from experiments.papers.rdt import jobs
from experiments.papers.rdt.protocol import FOLDS, Effort
from experiments.papers.rdt.recursion import Stopping
from experiments.papers.rdt.tables import SOURCES

#: Where the papers' preparation is not private, our learner has the table that is.
PREPARED_PRIVATELY = {"votes": "votes with ?"}
#: About the seconds that a fit of ours takes on one core, by data set.
_OUR_SECONDS: dict[str, float] = {"nursery": 1.0, "mushroom": 1.5, "votes with ?": 0.1}


#: Tables whose folds are so small that three of them tell little; a fit is quick, so there are as
#: many as for the others.
_FEW_ROWS = ("votes with ?",)


def forests(data: str, effort: Effort, trees: int | None = None) -> list[Cell]:
    """Ensembles of random trees, by default of the papers' number of them."""
    given: dict[str, Any] = {
        "epsilons": list(effort.epsilons),
        "draws": effort.draws,
        "folds": effort.folds,
        **({"trees": trees} if trees else {}),
    }
    return [
        _cell(jobs.forest, data, 0.3 * effort.draws, ensemble=one, **given)
        for one in range(effort.ensembles)
    ]


def noisy_id3(data: str, effort: Effort, epsilons: Sequence[float] | None = None) -> list[Cell]:
    """ID3 by the papers' recursion, as published and corrected."""
    asked = [
        one for one in (effort.epsilons if epsilons is None else epsilons) if not math.isinf(one)
    ]
    return [
        _cell(
            jobs.noisy_id3,
            data,
            0.02 * effort.id3_folds * len(asked),
            accounting=how,
            run=run,
            epsilons=asked,
            folds=effort.id3_folds,
        )
        for how in ("published", "corrected")
        for run in range(effort.id3_runs)
    ]


def counted_id3(data: str, queries: int, effort: Effort) -> list[Cell]:
    """ID3 as published in 2009: epsilon is divided by the number of queries that were made, which
    is known afterwards only. By both stopping rules.
    """
    given: dict[str, Any] = {
        "accounting": "published",
        "epsilons": [1.0],
        "folds": effort.id3_folds,
        "queries": queries,
    }
    return [
        _cell(jobs.noisy_id3, data, 0.02 * effort.id3_folds, 2, run=run, stopping=stopping, **given)
        for stopping in get_args(Stopping)
        for run in range(effort.id3_runs)
    ]


def exact_id3(data: str) -> list[Cell]:
    """ID3 without noise, and the most frequent class."""
    return [_cell(jobs.exact_id3, data, 2.0, 2, folds=FOLDS)]


def characteristics(data: str) -> list[Cell]:
    """How many attributes, rows and classes there are."""
    return [_cell(jobs.characteristics, data, 0.1)]


def price_of_the_union(data: str) -> list[Cell]:
    """What the union of two parties costs one person."""
    return [_cell(jobs.price_of_the_union, data, 0.1, epsilon=1.0)]


def ours(
    data: str, effort: Effort, name: str = jobs.OURS, epsilons: Sequence[float] | None = None
) -> list[Cell]:
    """One of our learners."""
    source = PREPARED_PRIVATELY.get(data, data)
    folds = effort.folds if source in _FEW_ROWS else effort.our_folds
    seconds = _OUR_SECONDS.get(source, 0.5) if name == jobs.OURS else 0.2
    return [
        _cell(jobs.learner, source, seconds, name=name, epsilon=epsilon, fold=fold)
        for epsilon in (effort.our_epsilons if epsilons is None else epsilons)
        for fold in range(folds)
    ]


def updates(data: str, parts: int, epsilons: Sequence[float], effort: Effort) -> list[Cell]:
    """Rows that come in parts."""
    given: dict[str, Any] = {
        "parts": parts,
        "epsilons": list(epsilons),
        "draws": effort.draws,
        "folds": effort.folds,
    }
    weight = 0.1 * len(epsilons) * effort.draws
    return [
        _cell(jobs.updates, data, weight, 2, ensemble=one, **given)
        for one in range(effort.ensembles)
    ]


def our_updates(data: str, parts: int, epsilon: float, effort: Effort) -> list[Cell]:
    """The same through our learner of random trees."""
    return [
        _cell(jobs.our_updates, data, 0.1 * parts, parts=parts, epsilon=epsilon, fold=fold)
        for fold in range(effort.our_folds)
    ]


def vertical(data: str, effort: Effort) -> list[Cell]:
    """Two parties with different attributes."""
    given: dict[str, Any] = {
        "epsilons": list(effort.epsilons),
        "draws": effort.draws,
        "folds": effort.folds,
    }
    return [
        _cell(jobs.vertical, data, 0.2 * effort.draws, ensemble=one, **given)
        for one in range(effort.ensembles)
    ]


def _cell(
    job: Callable[..., list[Row]], data: str, weight: float, version: int = 1, **given: Any
) -> Cell:
    return Cell(job, {"data": data, **given}, (SOURCES[data],), version, weight)
