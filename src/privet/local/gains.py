"""Decide whether a split is above the noise of randomised records.

Only public numbers go in: it costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.domain import Schema
from privet.domain.cells import Split
from privet.local.counts import Box, Estimate, LocalCounts, restricted_attributes, round_counts
from privet.mechanisms.criteria import Criterion

#: The chance that noise alone makes a cell split, over all of its candidates.
LEVEL = 0.1


def best_split(
    schema: Schema,
    source: LocalCounts,
    cell: Sequence[Box],
    splits: Sequence[Split],
    quality: Criterion | None,
) -> Split | None:
    """Choose the best split of a cell, among those that are above the noise.

    Best is by a criterion (None: the drop in Gini impurity).

    None where there is none. Splits that the records cannot tell about are passed over.
    """
    view, best, highest, parent = source.view(cell), None, -np.inf, None
    by_attribute: dict[str, list[Split]] = {}
    for split in splits:
        by_attribute.setdefault(split.attribute, []).append(split)
    for name, some in by_attribute.items():
        a = schema.index(name)
        if not source.answers(restricted_attributes(cell) | {a}):
            continue
        parent = view.totals().counts if parent is None else parent
        children = view.by(a).sets(
            np.array(
                [
                    np.asarray(split.branch) == child
                    for split in some
                    for child in range(split.n_children)
                ]
            )
        )
        n_children = np.array([split.n_children for split in some])
        starts = np.cumsum(n_children) - n_children
        gains, noise = gini_gains(children, parent, starts)
        freedom = np.maximum((n_children - 1) * (schema.n_classes - 1), 1).astype(np.float64)
        above = gains > noise * chi_square_quantile(freedom, LEVEL / len(splits))
        scores = np.where(
            above,
            gains - noise if quality is None else _score_splits(quality, children.counts, starts),
            -np.inf,
        )
        if scores.max() > highest:
            best, highest = some[int(scores.argmax())], float(scores.max())
    return best


def _score_splits(quality: Criterion, children: Floats, starts: npt.NDArray[np.intp]) -> Floats:
    """A criterion's scores of some splits, from counts that are whole and not below zero."""
    whole = round_counts(np.maximum(children, 0))
    return np.array([float(quality.scores(part)) for part in np.split(whole, starts[1:])])


def gini_gains(
    children: Estimate, parent: Floats, starts: npt.NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the drop in Gini impurity of some splits, times the people.

    Also return what noise alone would make of it, in the mean.

    ``children`` has a line per child, those of one split one after the other from ``starts`` on.
    With the class shares f of the parent, a child of n people has e = counts - n f that a useless
    split would not have, and the drop is the sum of e^2 / n. Noise of variance v in e adds v/n, and
    so does chance in who the people are. A child that is smaller than its noise counts as large as
    that, so that next to nothing is not divided by nothing.
    """
    shares = np.maximum(parent, 0.0)
    shares = shares / max(float(shares.sum()), 1e-9)
    sizes = children.counts.sum(axis=1, keepdims=True)
    sizes = np.maximum(sizes, np.sqrt(children.variances.sum(axis=1, keepdims=True)))
    sizes = np.maximum(sizes, 1.0)
    excess = children.counts - children.counts.sum(axis=1, keepdims=True) * shares
    variances = children.variances + sizes * shares * (1 - shares)
    gains = (excess**2 / sizes).sum(axis=1)
    noise = (variances / sizes).sum(axis=1)
    return np.add.reduceat(gains, starts), np.add.reduceat(noise, starts)


def chi_square_quantile(freedom: Floats, chance: float) -> Floats:
    """Return what a mean of squares of standard normal numbers exceeds with this probability.

    After Wilson and Hilferty 1931.
    """
    z, part = NormalDist().inv_cdf(1 - chance), 2 / (9 * freedom)
    return np.asarray((1 - part + z * np.sqrt(part)) ** 3)
