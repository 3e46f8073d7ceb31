"""Choose the event that best tells two worlds apart, from runs that will not be counted.

An event that was chosen because it was frequent is frequent in the runs that it was chosen on. So
an :class:`Event` is a fixed rule, found by :func:`choose_event` from one half of the runs; only its
counts in the other half are evidence.

Among the candidates are scores of all features together (:class:`Likelihood`), learnt from runs:
what a likelihood-ratio test would look at.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np

from privet._types import Bools, Floats
from privet.audit.features import Runs

#: So many thresholds of a number are tried at most.
THRESHOLDS = 64
#: Events are compared with their shares so many standard deviations off, first since the best of
#: many is lucky, and then since a bound that holds will be so far off when the event is counted.
LUCK, BOUND = 1.5, 3.3


class Rule(Protocol):
    """A fixed yes-or-no question about a run."""

    def holds(self, runs: Runs) -> Bools:
        """Return in which of these runs it holds."""

    @property
    def words(self) -> str:
        """Describe it for people."""


@dataclass(frozen=True)
class Threshold:
    """A number lies on one side of a threshold. A missing number is on neither side."""

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
    """A rule, and the world in which it is likelier.

    ``promise`` is how far apart the worlds seemed, for comparing events.
    """

    rule: Rule
    likelier_in_other: bool
    promise: float

    @property
    def words(self) -> str:
        """Describe it for people."""
        return (
            f"{self.rule.words} (likelier {'with' if self.likelier_in_other else 'without'} the "
            "row)"
        )

    def hits(self, one: Runs, other: Runs) -> tuple[int, int]:
        """Count how often it holds where it is likelier, and where it is not."""
        first, second = int(self.rule.holds(one).sum()), int(self.rule.holds(other).sum())
        return (second, first) if self.likelier_in_other else (first, second)


#: From a rule with its hits and runs in both worlds to an event.
Guess = Callable[[Rule, int, int, int, int], Event]


def choose_event(one: Runs, other: Runs, counted: int, delta: float = 0.0) -> Event:
    """Choose the most telling event, from runs in the two worlds that will not be counted.

    It is chosen for a number of runs in which it will be counted.

    Likelihoods are fitted to the first half of these runs, and compared on the second; every number
    and every word by itself, on all of them.
    """
    middle, other_middle = len(one) // 2, len(other) // 2
    scores = fit_likelihoods(one[:middle], other[:other_middle])
    guess = partial(_estimate_event, counted=counted, delta=delta)
    events: list[Event] = []
    for name in dict.fromkeys(name for run in (*one, *other) for name in run):
        events += _propose_word_events(name, one, other, guess)
        events += _propose_threshold_events(
            partial(Threshold, name), numbers_of(one, name), numbers_of(other, name), guess
        )
    one, other = one[middle:], other[other_middle:]
    for score in scores:
        events += _propose_threshold_events(
            partial(Likely, score), score.of(one), score.of(other), guess
        )
    return max(
        events,
        key=lambda event: event.promise,
        default=Event(Says("nothing", "seen"), True, -math.inf),
    )


def numbers_of(runs: Runs, feature: str) -> Floats:
    """Return a feature as numbers; NaN where it is a word, or missing."""
    values = (run.get(feature, math.nan) for run in runs)
    return np.array(
        [math.nan if isinstance(value, str) else value for value in values], dtype=np.float64
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


# Likelihood ratios of the two worlds, learnt from runs.

#: A number of at most so many values is taken value by value, and otherwise by as many ranges.
RANGES = 16
#: Added to every count, so that what was seen once does not decide.
SMOOTHING = 2.0
#: Words that are seen less often say nothing.
RARE = 5
#: At most so many features are put together: the most telling ones.
MOST = 40
#: And so many words are scores by themselves.
ALONE = 4


@dataclass(frozen=True)
class FeatureRatio:
    """The log-likelihood ratio of one feature: by word, by range of numbers, or if missing."""

    name: str
    edges: Floats
    of_range: Floats
    of_word: Mapping[str, float]
    absent: float

    def of(self, runs: Runs) -> Floats:
        """Return the ratio of each run."""
        said = [run.get(self.name) for run in runs]
        numbers = np.array(
            [math.nan if value is None or isinstance(value, str) else value for value in said],
            dtype=np.float64,
        )
        ratios = np.where(
            np.isnan(numbers),
            self.absent,
            self.of_range[np.searchsorted(self.edges, numbers, side="right")],
        )
        for run, value in enumerate(said):
            if isinstance(value, str):
                ratios[run] = self.of_word.get(value, 0.0)
        return ratios


@dataclass(frozen=True)
class Likelihood:
    """A weighted sum of the features' log-likelihood ratios."""

    words: str
    columns: tuple[FeatureRatio, ...]
    weights: tuple[float, ...]

    def of(self, runs: Runs) -> Floats:
        """Score each run: the higher, the more it looks like the other world.

        Rounded, so that equal sums are equal.
        """
        total = np.zeros(len(runs))
        for column, weight in zip(self.columns, self.weights, strict=True):
            total += weight * column.of(runs)
        return np.asarray(total.round(9))


def fit_likelihoods(one: Runs, other: Runs) -> list[Likelihood]:
    """Learn scores from runs in two worlds.

    They take all features as if these were independent, weighted by logistic regression, and some
    features alone.

    Alone are the most telling ones that are words: several of them may speak for one world, and
    each be rare.
    """
    names = dict.fromkeys(name for run in (*one, *other) for name in run)
    columns = [_fit_column(name, one, other) for name in names]
    matrix = np.array([np.concatenate([column.of(one), column.of(other)]) for column in columns])
    if not len(matrix):
        return []
    telling = np.abs(matrix).mean(axis=1)
    kept = [int(i) for i in np.argsort(-telling, kind="stable")[:MOST] if telling[i] > 0]
    if not kept:
        return []
    chosen = tuple(columns[i] for i in kept)
    independent = Likelihood(
        "the likelihood of all features, as if independent,", chosen, (1.0,) * len(chosen)
    )
    regression = Likelihood(
        "the likelihood of all features, by logistic regression,",
        chosen,
        _fit_feature_weights(matrix[kept], len(one)),
    )
    words = [column for column in chosen if len(column.of_word) > 2][:ALONE]
    return [
        independent,
        regression,
        *(Likelihood(f"the likelihood of {column.name}", (column,), (1.0,)) for column in words),
    ]


def _fit_feature_weights(ratios: Floats, of_one: int) -> tuple[float, ...]:
    from sklearn.linear_model import LogisticRegression

    world = (np.arange(ratios.shape[1]) >= of_one).astype(np.int64)
    fitted = LogisticRegression(C=0.1, max_iter=200, solver="liblinear", random_state=0).fit(
        ratios.T, world
    )
    return tuple(float(weight) for weight in fitted.coef_[0].round(6))


def _fit_column(name: str, one: Runs, other: Runs) -> FeatureRatio:
    sides = [[run.get(name) for run in runs] for runs in (one, other)]
    numbers = [
        np.array(
            [v for v in side if v is not None and not isinstance(v, str) and v == v],
            dtype=np.float64,
        )
        for side in sides
    ]
    edges = _find_bin_edges(np.concatenate(numbers))
    ranges = [
        np.bincount(np.searchsorted(edges, side, side="right"), minlength=len(edges) + 1)
        for side in numbers
    ]
    words = [Counter(value for value in side if isinstance(value, str)) for side in sides]
    missing = [sum(value is None or value != value for value in side) for side in sides]
    n, m = len(one), len(other)
    return FeatureRatio(
        name,
        edges,
        np.array([_smoothed_log_ratio(a, n, b, m) for a, b in zip(*ranges, strict=True)]),
        {
            word: _smoothed_log_ratio(words[0][word], n, words[1][word], m)
            for word, times in (words[0] + words[1]).items()
            if times >= RARE
        },
        _smoothed_log_ratio(missing[0], n, missing[1], m),
    )


def _find_bin_edges(values: Floats) -> Floats:
    """Where one range ends and the next begins."""
    distinct = np.unique(values)
    if len(distinct) > RANGES:
        distinct = np.unique(
            np.quantile(values, np.linspace(0, 1, RANGES + 1)[:-1], method="nearest")
        )
    return np.asarray((distinct[1:] + distinct[:-1]) / 2) if len(distinct) > 1 else np.empty(0)


def _smoothed_log_ratio(hits: int, runs: int, other_hits: int, other_runs: int) -> float:
    return math.log((other_hits + SMOOTHING) / (other_runs + SMOOTHING)) - math.log(
        (hits + SMOOTHING) / (runs + SMOOTHING)
    )
