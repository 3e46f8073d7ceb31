"""Let numbers that follow each other do so within the cells that a pair was counted in, too.

Few rows allow few cells: four by four of tenure and charges, say, where each has a dozen groups. A
Gaussian copula whose correlation is estimated from the noisy counts says how the groups inside a
cell go together, and how the values inside a group do; the counts themselves are met whatever it
says. Post-processing: nothing in here sees a row.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.mechanisms.randomness import Bits
from privet.synthetic.groups import sum_by_group
from privet.synthetic.rows import uniforms

#: A copula of a correlation of one has no density.
MOST_CORRELATED = 0.97
_NORMAL = NormalDist()


def score_groups(alone: Floats, n_ordered: int) -> Floats:
    """Return the mean normal score of the rows of each (group, class).

    Within a class, the row at share u of the order has the score of u in a normal distribution;
    groups beyond the ordered ones, which hold missing entries, score 0.
    """
    scores = np.zeros_like(alone)
    shares = alone[:n_ordered] / alone[:n_ordered].sum(axis=0)
    above = np.minimum(np.cumsum(shares, axis=0), 1.0)
    edges = np.concatenate([np.zeros((1, alone.shape[1])), above])
    heights = np.array([[_height_at(share) for share in line] for line in edges.tolist()])
    scores[:n_ordered] = (heights[:-1] - heights[1:]) / shares
    return scores


def _height_at(share: float) -> float:
    """Return the density of a normal distribution where this share of it lies below."""
    return _NORMAL.pdf(_NORMAL.inv_cdf(share)) if 0 < share < 1 else 0.0


def estimate_correlation(
    counts: Floats,
    deviation: float,
    parts: tuple[Ints, Ints],
    alone: tuple[Floats, Floats],
    scores: tuple[Floats, Floats],
) -> float:
    """Return the correlation of the scores within the classes, by noisy counts (part, part, class).

    It is drawn towards 0 as far as noise may have made it.
    """
    means, spread = [], []
    for part, rows, score in zip(parts, alone, scores, strict=True):
        total = sum_by_group(rows, part)
        mean = sum_by_group(rows * score, part) / total
        means.append(mean)
        # parts know less than groups: what of the variance they know
        spread.append((total * mean**2).sum(axis=0) / total.sum(axis=0))
    products = means[0][:, None, :] * means[1][None]
    scale = float((alone[0].sum(axis=0) * spread[0] * spread[1]).sum())
    if scale <= 0:
        return 0.0
    found = float((counts * products).sum()) / scale
    noise = deviation * float(np.sqrt((products**2).sum())) / scale
    kept = found * max(0.0, 1 - (noise / found) ** 2) if found else 0.0
    return float(np.clip(kept, -MOST_CORRELATED, MOST_CORRELATED))


def weigh_groups(correlation: float, scores: tuple[Floats, Floats]) -> Floats:
    """Return the logarithm of the density of a Gaussian copula at each (group, group, class)."""
    x, y = scores[0][:, None, :], scores[1][None]
    square = correlation**2
    return np.asarray((correlation * x * y - square * (x**2 + y**2) / 2) / (1 - square))


def follow(
    values: Ints, there: npt.NDArray[np.bool_], classes: Ints, correlation: float, bits: Bits
) -> Floats:
    """Return a normal number for each row that has this correlation with the place of its value
    among those of its class.

    Rows whose value is not ``there``, but missing, follow nothing.
    """
    keys = 2 * classes + there
    order = np.lexsort((bits.words(len(values)), values, keys))
    drawn = draw_normals(bits, len(values))
    scores = np.empty(len(values))
    scores[order] = drawn[np.lexsort((drawn, keys[order]))]
    scores[~there] = 0.0
    own = draw_normals(bits, len(values))
    return np.asarray(correlation * scores + math.sqrt(1 - correlation**2) * own)


def draw_normals(bits: Bits, count: int) -> Floats:
    """Draw standard normal numbers (Box and Muller 1958)."""
    radius = np.sqrt(-2 * np.log1p(-uniforms(bits, count)))
    return np.asarray(radius * np.cos(2 * np.pi * uniforms(bits, count)))
