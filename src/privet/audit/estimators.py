"""``audit_estimator``: the claim of anybody's estimator against what it does."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from typing import Any

from privet.audit.bounds import CONFIDENCE
from privet.audit.fitted import EstimatorRun, Look
from privet.audit.result import AuditResult
from privet.audit.two_worlds import audit
from privet.audit.worlds import Pair, pairs_of
from privet.errors import ParameterError
from privet.schema.schema import Neighbours


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

    Args:
        estimator: any object with ``fit(X, y)`` that was not fitted yet and has no seed, or a
            function that makes one.
        epsilon, delta: the claim.
        runs, confidence, executor: see :func:`~privet.audit.two_worlds.audit`.
        neighbours: for whom the claim is: a row added or removed, or replaced by another.
        pairs: worlds of your own (:func:`~privet.audit.own_worlds.pair_of`). By default the ready
            ones with a crowd: rows of both classes, since many estimators refuse an empty table or
            a single class. Attribute ``a`` is 0 or 1, ``b`` lies in [0, 4], and the classes are 0
            and 1; estimators that want a domain are to be given this one.
        as_frame: give data frames with words, rather than arrays in which a word is its place in
            the domain.
        look: ``"all"``: predictions for the row in question, public attributes that end in an
            underscore, trees and members of ensembles. ``"predictions"``: these alone. A function
            of the fitted estimator: predictions, and what it gives back (numbers, words, arrays, or
            lists and mappings of these).
        name: for the result; the class by default.
        observe_failures: whether an error in a run is something that is seen, rather than raised.
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
        pairs_of(neighbours, crowd=True) if pairs is None else pairs,
        epsilon,
        runs,
        delta=delta,
        confidence=confidence,
        name=name if name is not None else type(made).__name__,
        executor=executor,
        observe_failures=observe_failures,
    )
    return replace(result, neighbours=neighbours if pairs is None else "")
