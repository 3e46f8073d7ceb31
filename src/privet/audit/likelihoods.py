"""Compute how much likelier the answers of a curator are in one world than in the other, exactly.

Whoever fits a model is given answers, and these are what epsilon was paid for. Their laws are
known, so the best test of two worlds is known too: the likelihood ratio (Neyman and Pearson 1933).
It adds up over answers, also where later questions depend on earlier answers. :class:`Listener` is
a curator that keeps what it answers; :class:`Heard` is a release with these answers.

A ratio is one more feature of a run, and whether an event on it is frequent is still counted: if a
law is not what it should be, the bound says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.accounting.cost import Number
from privet.audit.worlds import Pair, World
from privet.curator import Curator
from privet.errors import ParameterError
from privet.queries import Answer, DrawTree, Query
from privet.queries.answers import ChosenIndex, ChosenSplits, Drawn, Numbers, Quantiles
from privet.queries.choose import ChooseSplits
from privet.queries.release_kinds import Divides, Selects, score_cuts
from privet.tables.base import CountSource

A = TypeVar("A", bound=Answer)
#: From a world of a pair to the table that a question was about.
View = Callable[[World], World]


def see_all(world: World) -> World:
    """The table of the world itself."""
    return world


@dataclass(frozen=True)
class HeardAnswer:
    """An answer, which table it is about, and which part of the people, if they were divided."""

    answer: Answer
    view: View = see_all
    part: int | None = None


class Listener(Curator):
    """A curator that keeps its answers, for the audit."""

    heard: list[HeardAnswer]
    _view: View
    _part: int | None

    @classmethod
    def over(cls, *arguments: Any, view: View = see_all, **facts: Any) -> Listener:
        listener = super().over(*arguments, **facts)
        assert isinstance(listener, Listener)
        listener.heard, listener._view, listener._part = [], view, None
        return listener

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        answer = super().ask(query, epsilon, rho=rho)
        self.heard.append(HeardAnswer(answer, self._view, self._part))
        return answer

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> list[Curator]:
        parts: list[Curator] = []
        for number, part in enumerate(super().split_people(n_parts, epsilon, key)):
            listener = Listener.__new__(Listener)
            listener.__dict__.update(vars(part))
            listener.heard, listener._view, listener._part = self.heard, self._view, number
            parts.append(listener)
        return parts


@dataclass(frozen=True)
class Heard:
    """What a run released, and the answers that it was made of."""

    what: Any
    answers: Sequence[HeardAnswer]

    def features(self, pair: Pair) -> dict[str, float | str]:
        """Return the log-likelihood ratios of the pair's other world to its one: of all answers
        together, and of each.
        """
        whole = [heard for heard in self.answers if heard.part is None]
        ratios = [
            log_ratio(heard.answer, heard.view(pair.one).source, heard.view(pair.other).source)
            for heard in whole
        ]
        features: dict[str, float | str] = {
            f"log-likelihood ratio of answer {number}": round(ratio, 9)
            for number, ratio in enumerate(ratios)
        }
        divided = [heard for heard in self.answers if heard.part is not None]
        if divided:
            ratios.append(
                _log_ratio_in_parts(divided, pair.other) - _log_ratio_in_parts(divided, pair.one)
            )
        # Rounded, so that equal ratios are equal.
        return features | {"log-likelihood ratio of all answers": round(sum(ratios), 9)}


def log_ratio(answer: Answer, one: CountSource, other: CountSource) -> float:
    """Return ln(P(answer in the other world) / P(answer in the one))."""
    query = answer.asked
    assert query is not None
    if isinstance(answer, Numbers):
        return _log_ratio_of_noise(answer, query.exact(one), query.exact(other))
    if isinstance(answer, Drawn):
        return _log_probability_of_tree(answer, other) - _log_probability_of_tree(answer, one)
    kind, epsilon = query.kind, answer.row_cost.epsilon
    assert epsilon is not None
    if isinstance(answer, Quantiles) and isinstance(kind, Divides):
        rate = float(epsilon) / kind.levels / kind.score_range
        before, after = (
            _probability_of_cuts(answer.codes, query.exact(world)[0], 0, kind.levels, rate)
            for world in (one, other)
        )
        return math.log(after / before)
    chosen = _chosen_indices(answer)
    assert isinstance(kind, Selects)
    rate = float(epsilon) / kind.score_range
    total = 0.0
    for index, *scores in zip(chosen, query.exact(one), query.exact(other), strict=True):
        former, latter = (log_selection(each, rate, kind.mechanism)[index] for each in scores)
        total += latter - former
    return total


def _log_ratio_of_noise(
    answer: Numbers, one: Sequence[npt.NDArray[Any]], other: Sequence[npt.NDArray[Any]]
) -> float:
    total = 0.0
    for said, before, after in zip(answer.tables, one, other, strict=True):
        if answer.noise == "discrete-laplace":
            farther = np.abs(said - before).astype(float) - np.abs(said - after)
            total += float(farther.sum()) / float(answer.spread)
        else:
            farther = (said - before).astype(float) ** 2 - (said - after).astype(float) ** 2
            total += float(farther.sum()) / (2 * float(answer.spread))
    return total


def _chosen_indices(answer: Answer) -> list[int]:
    query = answer.asked
    if isinstance(answer, ChosenSplits) and isinstance(query, ChooseSplits):
        return [
            list(splits).index(split)
            for splits, split in zip(query.lists, answer.splits, strict=True)
        ]
    if isinstance(answer, ChosenIndex):
        return [answer.index]
    raise ParameterError(f"the law of a {type(answer).__name__} is not known to the audit")


def _probability_of_cuts(
    cuts: Sequence[int], counts: Sequence[int], first: int, levels: int, rate: float
) -> float:
    """Return the probability that a part, which begins at a code, is cut so, whatever the order."""
    if not levels or len(counts) < 2:
        return float(not cuts)
    chances = np.exp(log_selection(score_cuts(counts), rate, "exponential"))
    total = 0.0
    for number, cut in enumerate(cuts):
        below, above = counts[: cut - first], counts[cut - first :]
        total += (
            chances[cut - first - 1]
            * _probability_of_cuts(cuts[:number], below, first, levels - 1, rate)
            * _probability_of_cuts(cuts[number + 1 :], above, cut, levels - 1, rate)
        )
    return float(total)


def log_selection(scores: Sequence[int], rate: float, mechanism: str) -> Floats:
    """Return the log-probability of each candidate.

    Permute-and-flip takes candidate i with probability q_i times the integral of the product of
    (1 - t q_j) over the others j, for t from 0 to 1: where i stands in the order, those before it
    were not taken.
    """
    below = rate * (np.array(scores, dtype=float) - max(scores))
    if mechanism == "exponential":
        return np.asarray(below - math.log(float(np.exp(below).sum())))
    taken = np.exp(below)
    places, weights = np.polynomial.legendre.leggauss(len(scores) // 2 + 1)  # exact for polynomials
    passed = 1 - np.outer((places + 1) / 2, taken)
    chances = [
        taken[i] * float(weights @ np.delete(passed, i, axis=1).prod(axis=1)) / 2
        for i in range(len(scores))
    ]
    return np.asarray(np.log(chances))


def _log_probability_of_tree(answer: Drawn, source: CountSource) -> float:
    """Up to what is the same in all worlds: the prior of the tree."""
    from privet.mechanisms.gibbs.draw import Gibbs
    from privet.mechanisms.gibbs.plan import plan_of
    from privet.mechanisms.gibbs.slack import epsilon_per_unit
    from privet.tables.counting.scoring import UNIT, Scoring

    query = answer.asked
    assert isinstance(query, DrawTree)
    assert answer.row_cost.epsilon is not None
    unit = epsilon_per_unit(query.space.merged, answer.row_cost.epsilon, UNIT)
    exact = query.exact(source)
    gibbs = Gibbs(plan_of(query.space.merged), exact.flat, exact.base, unit)
    choices = gibbs.choices(gibbs.root())
    weights = unit * choices.whole.astype(float) + choices.rest
    most = float(weights.max())
    total = most + math.log(float(np.exp(weights - most).sum()))
    scoring, tree, right = Scoring(query.schema, query.weighting), answer.tree(), 0.0
    for codes, classes, times in source.rows():
        correct = answer.labels[tree.reach(list(codes))] == classes
        weight = scoring.weights(codes, classes)
        right += float((weight * (times if len(times) else 1))[correct].sum())
    return unit * right - total


def _log_ratio_in_parts(heard: Iterable[HeardAnswer], world: World) -> float:
    """How much likelier answers about parts of the people are in a world than if nobody was there.

    The one person of the world is in each part with equal probability.
    """
    if len(world.rows) > 1:
        raise ParameterError("people in parts are audited in worlds of one person")
    if not world.rows:
        return 0.0
    nobody = World(world.schema, ()).source
    by_part: dict[int, float] = {}
    for each in heard:
        assert each.part is not None
        ratio = log_ratio(each.answer, nobody, world.source)
        by_part[each.part] = by_part.get(each.part, 0.0) + ratio
    most = max(by_part.values())
    return most + math.log(sum(math.exp(ratio - most) for ratio in by_part.values()) / len(by_part))
