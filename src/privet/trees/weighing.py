"""How batches of leaf counts weigh, how much thin leaves borrow, when to build anew. From released
numbers only: it pays nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privet.leaves import Batch, Evidence, Weighting

#: Thin leaves borrow at most so many times as much where noise dominates. Chosen on public data
#: sets.
MOST_BORROWING = 8.0
#: No batch counts more often than this.
MOST_WEIGHT = 10.0


def weigh_batches(
    batches: Sequence[Batch], shrink: float, weighting: Weighting = "by-noise"
) -> Evidence:
    """The evidence of some batches.

    By noise: if all batches are samples of one population, a leaf of share q has about n q rows of
    a batch of n rows, with sampling variance n q and noise of variance s^2. The weighted sum has
    the least variance for its expectation if a batch weighs

        n / (s^2 + n q) = 1 / (s^2 / n + q)     (inverse-variance weighting),

    where q is that of a typical row's leaf and class. So batches weigh the same where sampling
    dominates, or where they are equally large and noisy, and n / s^2 where noise does. Weights are
    scaled so that all rows count once on average, and none more than ten times: the sums are about
    those of all rows.

    Thin leaves borrow ``shrink``, times the ratio of noise to strength where that is above 1.
    """
    plain = Evidence(tuple(batches), shrink, weighting, (1.0,) * len(batches), shrink)
    evidence = plain
    if weighting == "by-noise" and len(batches) > 1:
        rows, share = estimate_sizes(batches), _estimate_typical_share(plain)
        found = [
            1 / (batch.deviation**2 / n + share) if n > 0 else 0.0
            for batch, n in zip(batches, rows, strict=True)
        ]
        kept = sum(weight * n for weight, n in zip(found, rows, strict=True))
        alike = max(found) - min(found) <= 1e-12 * max(found)  # sums of whole numbers stay whole
        # Where noise makes up most of the rows there seem to be, counts are not blown up to their
        # number.
        scale = min(sum(rows) / kept, MOST_WEIGHT / max(found)) if kept > 0 else 1.0
        evidence = plain if alike else replace(plain, weights=tuple(one * scale for one in found))
    strength = evidence.strength
    ratio = (
        evidence.deviation / strength
        if strength > 0
        else MOST_BORROWING
        if evidence.deviation
        else 1.0
    )
    return replace(evidence, borrowing=shrink * min(max(ratio, 1.0), MOST_BORROWING))


def estimate_sizes(batches: Sequence[Batch]) -> list[float]:
    """About how many rows each batch has: noisy numbers, drawn towards their mean as far as noise
    explains how they differ.

    A normal model with a variance between batches that is estimated by moments (DerSimonian and
    Laird 1986). Without it, equal batches would weigh differently by chance.
    """
    found = np.array([batch.n_rows for batch in batches])
    noise = np.array([batch.variance_of_n_rows for batch in batches])
    if len(found) > 1 and noise.min() > 1e-100:  # exact counts need no help
        precision = 1 / noise
        excess = float((precision * (found - np.average(found, weights=precision)) ** 2).sum()) - (
            len(found) - 1
        )
        between = max(excess, 0.0) / float((precision * (1 - precision / precision.sum())).sum())
        mean = np.average(found, weights=1 / (between + noise))
        found = mean + (found - mean) * between / (between + noise)
    return [max(float(rows), 0.0) for rows in found]


def explain_wear(evidence: Evidence) -> str:
    """Why a model should be built anew; empty where it should not.

    Noise adds up with every batch. It has outgrown the counts where its deviation exceeds their
    strength; building anew helps where that would have no more noise even at half the epsilon of
    the least noisy batch: about twice its deviation.
    """
    batches = evidence.batches
    anew = 2 * min(batch.deviation for batch in batches)
    noise, strength = evidence.deviation, evidence.strength
    if len(batches) == 1 or noise <= strength or noise < anew * (1 - 1e-9):
        return ""
    return (
        f"the noise of {len(batches)} batches has outgrown the counts: each sum has noise of "
        f"standard deviation {noise:.3g}, and rows account for a root mean square of "
        f"{strength:.3g}. Built anew from all rows at half the epsilon of a batch, it would be "
        f"about {anew:.3g}"
    )


def _estimate_typical_share(plain: Evidence) -> float:
    """The sum of squared shares of the leaves and classes, less what noise adds to it on average,
    in a mean over trees.
    """
    trees = len(plain.batches[0].tables)
    entries = plain.batches[0].entries / trees
    squares = (
        sum(float((table**2).sum()) for table in plain.tables) / trees
        - plain.deviation**2 * entries
    )
    return min(max(squares / max(sum(estimate_sizes(plain.batches)), 1.0) ** 2, 1 / entries), 1.0)
