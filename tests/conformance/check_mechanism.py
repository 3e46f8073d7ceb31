"""Goodness of fit that can fail: a sampler must follow its exact law, and one whose scale is 30%
off must be rejected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import permutations

import numpy as np
from scipy import stats

#: With a fixed seed a check is deterministic; a right sampler fails it for one seed in a million.
ALPHA = 1e-6
SAMPLES = 100_000

Law = Callable[[np.ndarray], np.ndarray]


def laplace_law(scale: float) -> Law:
    """Pr[k] = (1 - p)/(1 + p) p**|k| with p = exp(-1/scale)."""
    p = math.exp(-1 / scale)
    return lambda k: (1 - p) / (1 + p) * p ** np.abs(k)


def gaussian_law(variance: float) -> Law:
    """Pr[k] proportional to exp(-k**2 / (2 variance))."""
    reach = np.arange(-int(40 * math.sqrt(variance)) - 40, int(40 * math.sqrt(variance)) + 41)
    total = np.exp(-(reach**2) / (2 * variance)).sum()
    return lambda k: np.exp(-(k.astype(float) ** 2) / (2 * variance)) / total


def fit(samples: np.ndarray, law: Law) -> float:
    """The p-value of a chi-square test of integer samples against a law."""
    low, high = int(samples.min()), int(samples.max())
    support = np.arange(low, high + 1)
    expected = law(support) * len(samples)
    observed = np.bincount(samples - low, minlength=len(support)).astype(float)
    # Merge neighbours until every bin expects enough; what lies outside the samples' range goes to
    # the ends.
    bins_observed, bins_expected = [0.0], [0.0]
    for seen, wanted in zip(observed, expected, strict=True):
        if bins_expected[-1] >= 50:
            bins_observed.append(0.0)
            bins_expected.append(0.0)
        bins_observed[-1] += seen
        bins_expected[-1] += wanted
    bins_expected[-1] += max(len(samples) - sum(bins_expected), 0.0)
    return choice_fit(np.array(bins_observed), np.array(bins_expected) / len(samples))


def choice_fit(
    observed: Sequence[float] | np.ndarray, chances: Sequence[float] | np.ndarray
) -> float:
    """The p-value of a chi-square test of counts against probabilities; rare outcomes are
    merged.
    """
    observed, expected = np.asarray(observed, dtype=float), np.asarray(chances) * np.sum(observed)
    rare = expected < 25
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
        if expected[-1] < 5:
            observed, expected = observed[:-1], expected[:-1]
    expected = expected * observed.sum() / expected.sum()
    return float(stats.chisquare(observed, expected).pvalue)


def check_noise(draw: Callable[[int], np.ndarray], law: Law, n_samples: int = SAMPLES) -> None:
    """The sampler follows the law, on the integers, symmetric around zero.

    Of a scale 30% off, each Laplace sample tells .03 nats or more: with 20 000, the statistic lies
    1200 above its mean, where 150 would do.
    """
    samples = draw(n_samples)
    assert samples.dtype == np.int64
    assert samples.shape == (n_samples,)
    positive, negative = int((samples > 0).sum()), int((samples < 0).sum())
    if positive + negative:
        assert stats.binomtest(positive, positive + negative).pvalue > ALPHA, (
            "signs are not balanced"
        )
    wide = law(np.array([3]))[0] > 1e-3
    assert not wide or set(range(4)) == set(np.unique(samples % 4).tolist()), (
        "some integers never occur"
    )
    assert fit(samples, law) > ALPHA, "the sampler does not follow its law"


def flip_law(scores: Sequence[int], epsilon: float, score_range: int) -> list[float]:
    """The exact law of permute-and-flip, over all orders of the candidates."""
    best = max(scores)
    take = [math.exp(-epsilon * (best - score) / score_range) for score in scores]
    chances = [0.0] * len(scores)
    orders = list(permutations(range(len(scores))))
    for order in orders:
        reach = 1 / len(orders)
        for i in order:
            chances[i] += reach * take[i]
            reach *= 1 - take[i]
    return chances


def exponential_law(scores: Sequence[int], epsilon: float, score_range: int) -> list[float]:
    """Proportional to exp(epsilon score / range)."""
    weights = [math.exp(epsilon * (score - max(scores)) / score_range) for score in scores]
    return [weight / sum(weights) for weight in weights]
