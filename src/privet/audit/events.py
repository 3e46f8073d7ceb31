"""Which event tells two worlds apart: looked for in some runs, to be counted in others.

An event that was chosen because it was frequent is frequent in the runs that it was chosen on. So an :class:`Event` is a fixed rule,
found by :func:`choose_event` from one half of the runs; only its counts in the other half are evidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
import numpy.typing as npt

from privet.audit.features import Features
from privet.audit.likelihood import RARE, Likelihood, fit_likelihoods

Flags = npt.NDArray[np.bool_]
Runs = Sequence[Features]
#: So many thresholds of a number are tried at most.
THRESHOLDS = 64
#: Events are compared with their shares so many standard deviations off, first since the best of many is lucky, and then since a bound
#: that holds will be so far off when the event is counted.
LUCK, BOUND = 1.5, 3.3


class Rule(Protocol):
    """A fixed question about a run, with the answer yes or no."""

    def holds(self, runs: Runs) -> Flags:
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

    def holds(self, runs: Runs) -> Flags:
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

    def holds(self, runs: Runs) -> Flags:
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

    def holds(self, runs: Runs) -> Flags:
        values = self.score.of(runs)
        return np.asarray(values >= self.at if self.above else values <= self.at)

    @property
    def words(self) -> str:
        return f"{self.score.words} is at {'least' if self.above else 'most'} {self.at:.4g}"


@dataclass(frozen=True)
class Event:
    """A rule, and in which of the two worlds it is likelier. ``promise`` is how far apart the worlds seemed, for comparing events."""

    rule: Rule
    likelier_in_other: bool
    promise: float

    @property
    def words(self) -> str:
        """For people."""
        return f"{self.rule.words} (likelier {'with' if self.likelier_in_other else 'without'} the row)"

    def hits(self, one: Runs, other: Runs) -> tuple[int, int]:
        """How often it holds where it is likelier, and where it is not."""
        first, second = int(self.rule.holds(one).sum()), int(self.rule.holds(other).sum())
        return (second, first) if self.likelier_in_other else (first, second)


def choose_event(one: Runs, other: Runs, counted: int, delta: float = 0.0) -> Event:
    """The most telling event, from runs in the two worlds that will not be counted, for a number of runs in which it will be.

    Likelihoods are fitted to the first half of these runs; they, every number and every word are then compared on the second.
    """
    middle, other_middle = len(one) // 2, len(other) // 2
    scores = fit_likelihoods(one[:middle], other[:other_middle])
    one, other = one[middle:], other[other_middle:]
    rules: list[Rule] = []
    for name in dict.fromkeys(name for run in (*one, *other) for name in run):
        rules += _words(name, one, other)
        values = np.concatenate([numbers_of(one, name), numbers_of(other, name)])
        rules += [Threshold(name, above, at) for at in _thresholds(values) for above in (True, False)]
    guess = partial(_event, counted=counted, delta=delta)
    best = max((_judged(rule, one, other, guess) for rule in rules), key=lambda event: event.promise, default=None)
    for score in scores:
        found = _best_threshold(score, one, other, guess)
        best = found if best is None or (found is not None and found.promise > best.promise) else best
    return best if best is not None else Event(Says("", ""), True, 0.0)


#: From a rule with its hits and runs in both worlds to an event.
Guess = Callable[[Rule, int, int, int, int], Event]


def numbers_of(runs: Runs, feature: str) -> npt.NDArray[np.float64]:
    """A feature as numbers; NaN where it is a word, or not there."""
    found = (run.get(feature, math.nan) for run in runs)
    return np.array([math.nan if isinstance(value, str) else value for value in found], dtype=np.float64)


def _words(name: str, one: Runs, other: Runs) -> list[Rule]:
    said = [word for run in (*one, *other) if isinstance(word := run.get(name), str)]
    if not said:
        return []
    words, times = np.unique(np.array(said), return_counts=True)
    often = np.argsort(-times)[:THRESHOLDS]
    return [Says(name, str(words[i])) for i in often if times[i] >= RARE]


def _thresholds(values: npt.NDArray[np.float64]) -> list[float]:
    found = np.unique(values[np.isfinite(values)])
    if len(found) > THRESHOLDS:
        found = np.unique(np.quantile(values[np.isfinite(values)], np.linspace(0, 1, THRESHOLDS), method="nearest"))
    return [float(value) for value in found]


def _judged(rule: Rule, one: Runs, other: Runs, guess: Guess) -> Event:
    hits, other_hits = int(rule.holds(one).sum()), int(rule.holds(other).sum())
    return guess(rule, hits, len(one), other_hits, len(other))


def _best_threshold(score: Likelihood, one: Runs, other: Runs, guess: Guess) -> Event | None:
    """The best threshold of a score, which is worked out once for all of them."""
    values, other_values = score.of(one), score.of(other)
    found = [
        guess(Likely(score, above, at), *_counts(values, at, above=above), *_counts(other_values, at, above=above))
        for at in _thresholds(np.concatenate([values, other_values]))
        for above in (True, False)
    ]
    return max(found, key=lambda event: event.promise, default=None)


def _counts(values: npt.NDArray[np.float64], at: float, *, above: bool) -> tuple[int, int]:
    return int((values >= at if above else values <= at).sum()), len(values)


def _event(rule: Rule, hits: int, runs: int, other_hits: int, other_runs: int, *, counted: int, delta: float) -> Event:
    """An event with about the bound that it promises, whichever world it is likelier in. It guides the choice, and proves nothing."""
    turned = other_hits * runs > hits * other_runs
    if turned:
        hits, runs, other_hits, other_runs = other_hits, other_runs, hits, runs
    above, below = _wilson(hits / runs, runs, -LUCK), _wilson(other_hits / other_runs, other_runs, LUCK)
    above, below = _wilson(above, counted, -BOUND) - delta, _wilson(below, counted, BOUND)
    return Event(rule, turned, math.log(above / below) if above > 0 else -math.inf)


def _wilson(share: float, runs: int, deviations: float) -> float:
    """So many standard deviations above or below a share (Wilson 1927): good enough to compare, and quick."""
    square = deviations**2
    half = deviations * math.sqrt(max(share * (1 - share), 0.0) / runs + square / (4 * runs**2))
    return (share + square / (2 * runs) + half) / (1 + square / runs)
