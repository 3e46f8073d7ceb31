"""Audit a claimed epsilon: run something many times in two worlds that differ in one person.

An event is chosen on one half of the runs and counted on the other; the counts bound epsilon from
below. :func:`audit` takes anything that can be run, :func:`audit_estimator` anybody's estimator.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from privet._progress import tell
from privet._validate import check_integer
from privet.audit.bounds import CONFIDENCE, check_claim, reach_of_claim
from privet.audit.events import choose_event
from privet.audit.features import Features, observed
from privet.audit.fitted import EstimatorRun, Look
from privet.audit.likelihoods import Heard
from privet.audit.result import AuditResult
from privet.audit.worlds import FOR_ESTIMATORS, Pair, World, pairs_of
from privet.domain.schema import Neighbours
from privet.errors import ParameterError

#: Anything that releases something about a world: a fitted model, answers, rows. With fresh
#: randomness each time.
RunInWorld = Callable[[World], Any]
_RUNS_PER_CHUNK = 25  # runs that a process does at once
#: What was seen of each run is kept until an event is chosen.
MOST_RUNS = 1_000_000


def audit(
    run: RunInWorld,
    pairs: Pair | Sequence[Pair],
    epsilon: float | Fraction,
    runs: int = 4000,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    name: str = "",
    executor: Executor | None = None,
    observe_failures: bool = False,
) -> AuditResult:
    """Test the claim that ``run`` is (epsilon, delta)-differentially private.

    The claim is for the neighbours that the pairs are.

    A quarter of the runs is shared by the pairs, and tells which of them to go on with. A second
    quarter, in this pair, tells which event. The other half is done in this pair too, and the event
    is counted there, and there alone. So the bound is one test, and is right with the confidence
    whatever was tried before: a true claim is called violated with probability 1 - ``confidence``
    at most. A claim that is not refuted is not proved: the result says how much of what was
    within reach the audit has seen (``power``).

    Parameters
    ----------
    run
        Releases something about a world; whatever :func:`~privet.audit.features.observed` can
        look at. For an estimator of anybody's: ``lambda world:
        Estimator(epsilon=1).fit(world.X, world.y)``. It must draw fresh randomness in every
        call.
    pairs
        Neighbouring worlds, such as :func:`~privet.audit.worlds.pairs_of` makes.
    epsilon, delta
        The claim.
    runs
        How many there are in each world, in all.
    confidence
        That of the bound.
    name
        Of what is audited, for the result.
    executor
        Where runs are done, if not here; ``run`` must be picklable for processes, which
        should be spawned: forked ones begin with one state of NumPy's and Python's generators,
        so that who draws from these repeats runs, and repeated runs prove nothing.
    observe_failures
        Take an error that a run raises for what it released, since whether there
        is one can be seen. By default it is raised here.
    """
    listed = (pairs,) if isinstance(pairs, Pair) else tuple(pairs)
    check_integer("runs", runs, 16 * min(max(len(listed), 1), 4), MOST_RUNS)
    if not listed or not all(isinstance(pair, Pair) for pair in listed):
        raise ParameterError(
            "pairs must be one or several pairs of worlds, such as pairs_of or pair_of makes"
        )
    if (
        isinstance(epsilon, bool)
        or not isinstance(epsilon, int | float | Fraction)
        or not 0 < epsilon < math.inf
    ):
        raise ParameterError(
            f"epsilon must be the claimed number, above 0 and finite, got {epsilon!r}"
        )
    check_claim(delta, confidence)
    if observe_failures:
        run = partial(_run_or_record_failure, run)
    half = runs // 2
    counted = runs - half
    first = half // 2 // len(listed)
    more = half - first * len(listed)
    work = _Work(run, name, 2 * (first * len(listed) + more + counted), executor)
    seen = [
        (pair, work.done(pair, pair.one, first), work.done(pair, pair.other, first))
        for pair in listed
    ]
    pair, one, other = (
        max(seen, key=lambda each: choose_event(each[1], each[2], counted, delta).promise)
        if len(seen) > 1
        else seen[0]
    )
    event = choose_event(
        one + work.done(pair, pair.one, more),
        other + work.done(pair, pair.other, more),
        counted,
        delta,
    )
    # From here on nothing is chosen any more.
    hits = event.hits(work.done(pair, pair.one, counted), work.done(pair, pair.other, counted))
    return AuditResult(
        name,
        float(epsilon),
        delta,
        confidence,
        runs,
        counted,
        hits,
        pair.name,
        event.words,
        reach=reach_of_claim(float(epsilon), counted, delta, confidence),
    )


@dataclass
class _Work:
    """Runs, here or elsewhere, and how many of them are done."""

    run: RunInWorld
    name: str
    total: int
    executor: Executor | None
    finished: int = 0

    def done(self, pair: Pair, world: World, count: int) -> list[Features]:
        """The features of so many runs in a world."""
        features: list[Features] = []
        for some in self._chunks(pair, world, count):
            features += some
            self.finished += len(some)
            tell(self.name, self.finished / self.total)
        return features

    def _chunks(self, pair: Pair, world: World, count: int) -> Iterator[list[Features]]:
        sizes = [min(_RUNS_PER_CHUNK, count - start) for start in range(0, count, _RUNS_PER_CHUNK)]
        if self.executor is None:
            yield from (_observe_runs(self.run, world, pair, size) for size in sizes)
            return
        waiting: list[Future[list[Features]]] = [
            self.executor.submit(_observe_runs, self.run, world, pair, size) for size in sizes
        ]
        try:
            yield from (future.result() for future in as_completed(waiting))
        finally:
            for future in waiting:
                future.cancel()


def _run_or_record_failure(run: RunInWorld, world: World) -> Any:
    try:
        return run(world)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is seen
        return {"failure": type(error).__name__}


def _observe_runs(run: RunInWorld, world: World, pair: Pair, count: int) -> list[Features]:
    return [_observe_run(run(world), pair) for _ in range(count)]


def _observe_run(released: Any, pair: Pair) -> Features:
    if isinstance(released, Heard):
        return observed(released.what, pair.probed) | released.features(pair)
    return observed(released, pair.probed)


# The audit of anybody's estimator.


def audit_estimator(
    estimator: Any,
    epsilon: float | Fraction,
    runs: int = 4000,
    *,
    delta: float = 0.0,
    neighbours: Neighbours = "add-remove",
    pairs: Pair | Sequence[Pair] | None = None,
    as_frame: bool = False,
    look: Look = "all",
    confidence: float = CONFIDENCE,
    name: str | None = None,
    executor: Executor | None = None,
    observe_failures: bool = False,
) -> AuditResult:
    """Test the claim that fitting an estimator is (epsilon, delta)-differentially private.

    It is fitted afresh in every run, to made-up tables that differ in one person
    (:func:`~privet.audit.two_worlds.audit` says how).

    Parameters
    ----------
    estimator
        Any object with ``fit(X, y)`` that was not fitted yet and has no seed, or a
        function that makes one.
    epsilon, delta
        The claim.
    runs, confidence, executor
        See :func:`~privet.audit.two_worlds.audit`.
    neighbours
        For whom the claim is: a row added or removed, or replaced by another.
    pairs
        Worlds of your own (:func:`~privet.audit.worlds.pair_of`). By default the ready
        ones with a crowd: rows of both classes, since many estimators refuse an empty table or
        a single class. Attribute ``a`` is 0 or 1, ``b`` lies in [0, 4], and the classes are 0
        and 1; estimators that want a domain are to be given this one.
    as_frame
        Give data frames with words, rather than arrays in which a word is its place in
        the domain.
    look
        ``"all"``: predictions for the row in question and along each attribute, every public
        attribute and property and what these hold, trees and members of ensembles.
        ``"predictions"``: these alone. A function
        of the fitted estimator: predictions, and what it gives back (numbers, words, arrays, or
        lists and mappings of these).
    name
        For the result; the class by default.
    observe_failures
        Whether an error in a run is something that is seen, rather than raised.
    """
    if not callable(look) and look not in ("all", "predictions"):
        raise ParameterError(
            f"look must be 'all', 'predictions' or a function of the fitted estimator, got {look!r}"
        )
    if not hasattr(estimator, "fit") and not callable(estimator):
        raise ParameterError(
            "estimator must have fit(X, y), or be a function that makes one, got a "
            f"{type(estimator).__name__}"
        )
    run = EstimatorRun(estimator, as_frame, look)
    made = run.make_estimator()  # what cannot be made is told before the first run
    if not hasattr(made, "fit"):
        raise ParameterError(
            f"estimator must make an object with fit(X, y), got a {type(made).__name__}"
        )
    result = audit(
        run,
        pairs_of(neighbours, families=FOR_ESTIMATORS, crowd=True) if pairs is None else pairs,
        epsilon,
        runs,
        delta=delta,
        confidence=confidence,
        name=name if name is not None else type(made).__name__,
        executor=executor,
        observe_failures=observe_failures,
    )
    return replace(result, neighbours=neighbours if pairs is None else "")
