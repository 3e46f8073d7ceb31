"""Hold how the values of each attribute are spread over the people that a model was trained on.

Noisy shares, one attribute at a time: enough to weigh the branches of a tree by who takes them,
which no model of scores says by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.tree import share_of_nodes
from privet.errors import QuestionError


@dataclass(frozen=True, eq=False)
class Population:
    """The share of each value of each attribute, with noise.

    Parameters
    ----------
    shares
        For each attribute of the schema, in its order, the share of each of its values:
        non-negative, adding up to 1.
    deviation
        The standard deviation of the noise of each share, before shares were made non-negative.

    Examples
    --------
    >>> import privet as pv
    >>> nursery = pv.datasets.load("nursery")
    >>> schema = nursery.schema.declare(n_rows=12_960)
    >>> model = pv.PrivetClassifier(epsilon=5, schema=schema).fit(nursery.table).model_
    >>> model.population.shares["health"].round(1).tolist()
    [0.3, 0.3, 0.3]
    """

    shares: Mapping[str, Floats]
    deviation: float = 0.0

    def __post_init__(self) -> None:
        frozen = {}
        for name, shares in self.shares.items():
            array = np.array(shares, dtype=np.float64)
            fits = array.ndim == 1 and np.isfinite(array).all() and (array >= 0).all()
            if not (fits and math.isclose(float(array.sum()), 1.0, abs_tol=1e-6)):
                raise QuestionError(
                    f"the shares of {name!r} in a population must be non-negative and add up to 1"
                )
            array.setflags(write=False)
            frozen[name] = array
        object.__setattr__(self, "shares", frozen)
        if not (math.isfinite(self.deviation) and self.deviation >= 0):
            raise QuestionError("the deviation of a population's shares must be at least 0")

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Population", dict(self.shares), self.deviation)

    def fits(self, schema: Schema) -> bool:
        """Return whether it is about all attributes of this schema."""
        sizes = tuple(len(shares) for shares in self.shares.values())
        return tuple(self.shares) == tuple(schema.names) and sizes == tuple(schema.sizes)

    def reach(self, cells: Cells) -> Floats:
        """Return the share of people that reaches each node, if attributes were independent."""
        return share_of_nodes(cells, list(self.shares.values()))


def project_to_shares(counts: npt.NDArray[Any], n_rows: float) -> Floats:
    """Return the shares closest to noisy counts, in the sum of squares.

    Non-negative, adding up to 1: one amount is taken off all counts, and what falls below 0 is 0
    (projection onto the simplex; Duchi et al. 2008).
    """
    noisy = np.asarray(counts, dtype=np.float64) / max(n_rows, 1.0)
    ordered = np.sort(noisy)[::-1]
    taken = (np.cumsum(ordered) - 1.0) / np.arange(1, len(ordered) + 1)
    kept = int(np.flatnonzero(ordered > taken)[-1])
    shares = np.maximum(noisy - taken[kept], 0.0)
    return np.asarray(shares / shares.sum())
