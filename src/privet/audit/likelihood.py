"""Likelihoods of one world against the other, from all features together: what a likelihood-ratio
test would look at, learnt from runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from privet.audit.features import Runs
from privet.typed import Floats

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
    """The log-likelihood ratio of one feature: by word, by range of numbers, or where it is not
    there.
    """

    name: str
    edges: Floats
    of_range: Floats
    of_word: Mapping[str, float]
    absent: float

    def of(self, runs: Runs) -> Floats:
        """The ratio of each run."""
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
        """The score of each run: the higher, the more it looks like the other world. Rounded, so
        that equal sums are equal.
        """
        total = np.zeros(len(runs))
        for column, weight in zip(self.columns, self.weights, strict=True):
            total += weight * column.of(runs)
        return np.asarray(total.round(9))


def fit_likelihoods(one: Runs, other: Runs) -> list[Likelihood]:
    """Scores learnt from runs in two worlds: all features as if they were independent, weighted by
    logistic regression, and some alone.

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
