"""Chance in floating point, as papers draw it: **NOT PRIVATE**. Only for the runs that repeat a
paper with its errors.

A Laplace draw that is computed in floating point has gaps that depend on the true answer (Mironov
2012, *On significance of the least significant bits for differential privacy*), so that some
answers rule out a neighbour. Learners never come here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.mechanisms.randomness import Bits


def uniform_floats(bits: Bits, count: int) -> Floats:
    """Numbers between 0 and 1, never either of them, of 53 bits."""
    return np.asarray(((bits.words(count) >> np.uint64(12)) + 0.5) * 2.0**-52)


def laplace_not_private(bits: Bits, shape: tuple[int, ...], scale: float) -> Floats:
    """Laplace draws by the inverse of the distribution function, in floating point."""
    u = uniform_floats(bits, int(np.prod(shape))) - 0.5
    return np.asarray(-scale * np.sign(u) * np.log1p(-2 * np.abs(u))).reshape(shape)


def index_by_weight(bits: Bits, log_weights: npt.NDArray[Any]) -> int:
    """An index with probability proportional to the exponential of its weight, in floating
    point.
    """
    weights = np.exp(log_weights - log_weights.max())
    return int(
        np.searchsorted(
            np.cumsum(weights), uniform_floats(bits, 1)[0] * weights.sum(), side="right"
        )
    )
