"""Which event tells two worlds apart: looked for in some runs, to be counted in others.

An event that was chosen because it was frequent is frequent in the runs that it was chosen on. So
an :class:`Event` is a fixed rule, found by :func:`choose_event` from one half of the runs; only its
counts in the other half are evidence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from privet.audit.features import Runs
from privet.audit.likelihood import RARE, Likelihood, fit_likelihoods
from privet.typed import Bools, Floats

#: So many thresholds of a number are tried at most.
THRESHOLDS = 64
#: Events are compared with their shares so many standard deviations off, first since the best of
#: many is lucky, and then since a bound that holds will be so far off when the event is counted.
LUCK, BOUND = 1.5, 3.3


class Rule(Protocol):
    """A fixed question about a run, with the answer yes or no."""

    def holds(self, runs: Runs) -> Bools:
        """In which of these runs it does."""

    @property
    def words(self) -> str:
        """For people."""


@dataclass(frozen=True)
class Threshold:
    """A number lies on one side of a threshold, or is not there at all, which is on neither."""

    feature: str
    above: bool
    at: float

    def holds(self, runs: Runs) -> Bools:
        values = numbers_of(runs, self.feature)
        with np.errstate(invalid="ignore"):
            return np.asarray(values >= self.at if self.above else values <= self.at)

    @property
    def words(self) -> str:
        return f"{self.feature} is at {'least' if self.above else 'most'} {self.at:.6g}"


@dataclass(frozen=True)
class Says:
    """A word is this one."""

    feature: str
    word: str

    def holds(self, runs: Runs) -> Bools:
        return np.array([run.get(self.feature) == self.word for run in runs], dtype=bool)

    @property
    def words(self) -> str:
        return f"{self.feature} is {self.word!r}"


@dataclass(frozen=True)
class Likely:
    """A likelihood of all features together lies on one side of a threshold."""

    score: Likelihood
    above: bool
    at: float

    def holds(self, runs: Runs) -> Bools:
        values = self.score.of(runs)
        return np.asarray(values >= self.at if self.above else values <= self.at)

    @property
    def words(self) -> str:
        return f"{self.score.words} is at {'least' if self.above else 'most'} {self.at:.4g}"


@dataclass(frozen=True)
class Event:
    """A rule, and in which of the two worlds it is likelier. ``promise`` is how far apart the
    worlds seemed, for comparing events.
    """

    rule: Rule
    likelier_in_other: bool
    promise: float

    @property
    def words(self) -> str:
        """For people."""
        return (
            f"{self.rule.words} (likelier {'with' if self.likelier_in_other else 'without'} the "
            "row)"
        )

    def hits(self, one: Runs, other: Runs) -> tuple[int, int]:
        """How often it holds where it is likelier, and where it is not."""
        first, second = int(self.rule.holds(one).sum()), int(self.rule.holds(other).sum())
        return (second, first) if self.likelier_in_other else (first, second)


#: From a rule with its hits and runs in both worlds to an event.
Guess = Callable[[Rule, int, int, int, int], Event]


def choose_event(one: Runs, other: Runs, counted: int, delta: float = 0.0) -> Event:
    """The most telling event, from runs in the two worlds that will not be counted, for a number of
    runs in which it will be.

    Likelihoods are fitted to the first half of these runs; they, every number and every word are
    then compared on the second.
    """
    middle, other_middle = len(one) // 2, len(other) // 2
    scores = fit_likelihoods(one[:middle], other[:other_middle])
    one, other = one[middle:], other[other_middle:]
    guess = partial(_estimate_event, counted=counted, delta=delta)
    found: list[Event] = []
    for name in dict.fromkeys(name for run in (*one, *other) for name in run):
        found += _propose_word_events(name, one, other, guess)
        found += _propose_threshold_events(
            partial(Threshold, name), numbers_of(one, name), numbers_of(other, name), guess
        )
    for score in scores:
        found += _propose_threshold_events(
            partial(Likely, score), score.of(one), score.of(other), guess
        )
    return max(
        found,
        key=lambda event: event.promise,
        default=Event(Says("nothing", "seen"), True, -math.inf),
    )


def numbers_of(runs: Runs, feature: str) -> Floats:
    """A feature as numbers; NaN where it is a word, or not there."""
    found = (run.get(feature, math.nan) for run in runs)
    return np.array(
        [math.nan if isinstance(value, str) else value for value in found], dtype=np.float64
    )


def _propose_word_events(name: str, one: Runs, other: Runs, guess: Guess) -> list[Event]:
    first, second = (
        Counter(word for run in runs if isinstance(word := run.get(name), str))
        for runs in (one, other)
    )
    often = [word for word, times in (first + second).most_common(THRESHOLDS) if times >= RARE]
    return [
        guess(Says(name, word), first[word], len(one), second[word], len(other)) for word in often
    ]


def _propose_threshold_events(
    rule: Callable[[bool, float], Rule], one: Floats, other: Floats, guess: Guess
) -> list[Event]:
    """All thresholds of a number or a score; of many, as many as there may be."""
    values = np.concatenate([one, other])
    values = values[np.isfinite(values)]
    cuts = np.unique(values)
    if len(cuts) > THRESHOLDS:
        cuts = np.unique(np.quantile(values, np.linspace(0, 1, THRESHOLDS), method="nearest"))
    sides = ((True, np.greater_equal), (False, np.less_equal))
    return [
        guess(
            rule(above, float(at)),
            int(holds(one, at).sum()),
            len(one),
            int(holds(other, at).sum()),
            len(other),
        )
        for at in cuts
        for above, holds in sides
    ]


def _estimate_event(
    rule: Rule,
    hits: int,
    runs: int,
    other_hits: int,
    other_runs: int,
    *,
    counted: int,
    delta: float,
) -> Event:
    """An event with about the bound that it promises, whichever world it is likelier in. It guides
    the choice, and proves nothing.
    """
    turned = other_hits * runs > hits * other_runs
    if turned:
        hits, runs, other_hits, other_runs = other_hits, other_runs, hits, runs
    above, below = (
        _wilson_limit(hits / runs, runs, -LUCK),
        _wilson_limit(other_hits / other_runs, other_runs, LUCK),
    )
    above, below = (
        _wilson_limit(above, counted, -BOUND) - delta,
        _wilson_limit(below, counted, BOUND),
    )
    return Event(rule, turned, math.log(above / below) if above > 0 else -math.inf)


def _wilson_limit(share: float, runs: int, deviations: float) -> float:
    """So many standard deviations above or below a share (Wilson 1927): good enough to compare, and
    quick.
    """
    square = deviations**2
    half = deviations * math.sqrt(max(share * (1 - share), 0.0) / runs + square / (4 * runs**2))
    return (share + square / (2 * runs) + half) / (1 + square / runs)
