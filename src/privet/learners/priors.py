"""Weigh priors by what was released: how much terms of pairs may vary is not known beforehand.

A fixed prior is too sure where there is nothing to tell, or too shy where there is much. So every
visit averages over a public grid of priors, each weighed by how likely it makes the noisy
derivatives (its marginal likelihood). Free: all of it follows from released numbers.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from privet._types import Floats

#: Prior variances of what a pair may tell: nothing in particular, each attribute by itself (each
#: value of this grid), and both together (each value of this grid).
SAME, ALONE, TOGETHER = 0.05, (0.0, 0.05, 0.3, 1.0), (0.0, 0.05, 0.3, 1.5)
#: How much less likely than the one before each variance is beforehand, in nats.
SHY = 0.5
#: Variances of how much the rows of a cell differ from the mean, relative to it, and the parts of
#: them that neighbours do not share.
UNEVEN, BY_THEMSELVES = (0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0), (0.0, 0.5)
#: A curvature stays within this many standard deviations below what was measured: one that is too
#: small makes a step too far.
SURELY = 1.0


def list_priors(first: Floats, second: Floats) -> list[tuple[Floats, float]]:
    """Return what the covariance of a pair's values may be, from how alike each one's are, and the
    logarithm of how likely that is beforehand.

    A sum of three parts, as in an analysis of variance: what all cells share, what depends on one
    attribute, and what depends on both.
    """
    all_first, all_second = np.ones_like(first), np.ones_like(second)
    alone = np.kron(first, all_second) + np.kron(all_first, second)
    both = np.kron(first, second)
    return [
        (SAME + one * alone + two * both, -SHY * (i + j))
        for i, one in enumerate(ALONE)
        for j, two in enumerate(TOGETHER)
    ]


def average_means(weight: Floats, known: Floats, priors: Iterable[tuple[Floats, float]]) -> Floats:
    """Return the posterior mean of values known with these precisions, averaged over the priors.

    Columns are by themselves. A value's measurement is known/weight, of variance 1/weight.
    """
    priors = list(priors)
    means = np.zeros_like(weight)
    for c in range(weight.shape[1]):
        root = np.sqrt(weight[:, c])
        measured = np.divide(known[:, c], root, out=np.zeros_like(root), where=root > 0)
        found = []
        for prior, before in priors:
            total = np.eye(len(root)) + root[:, None] * prior * root
            solved = np.linalg.solve(total, measured)
            likelihood = -np.linalg.slogdet(total)[1] / 2 - measured @ solved / 2
            found.append((prior @ (root * solved), before + float(likelihood)))
        means[:, c] = _average(found)
    return means


def smooth_curvature(second: Floats, variance: float, alike: Floats) -> Floats:
    """Return second derivatives of a pair's cells without most of their noise.

    They follow how many rows there are in a cell, which neighbours tell, too, and are not below 0.
    """
    spread, axes = np.linalg.eigh(alike)
    smooth = np.zeros_like(second)
    for c in range(second.shape[1]):
        mean = max(float(second[:, c].mean()), 1e-3 * variance**0.5, 1e-9)
        noise = max(variance, 1e-9) + mean / 4  # a row adds 1/4 at most
        measured = axes.T @ (second[:, c] - mean)
        found = []
        for uneven in UNEVEN:
            for itself in BY_THEMSELVES:
                prior = uneven * mean**2 * ((1 - itself) * np.maximum(spread, 0) + itself)
                total = prior + noise
                likelihood = -np.log(total).sum() / 2 - np.square(measured) @ (1 / total) / 2
                found.append((axes @ (prior / total * measured), float(likelihood)))
        smooth[:, c] = mean + _average(found)
    return np.asarray(np.maximum(np.maximum(smooth, second - SURELY * variance**0.5), 0.0))


def _average(found: list[tuple[Floats, float]]) -> Floats:
    """Return the mean of answers, weighed by their likelihoods."""
    logarithms = np.array([likelihood for _, likelihood in found])
    weights = np.exp(logarithms - logarithms.max())
    return np.asarray(weights / weights.sum() @ np.array([one for one, _ in found]))
