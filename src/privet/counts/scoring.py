"""What released trees say about encoded rows: summed class scores, row weights and derivatives, in fixed point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from privet.cells import Cells
from privet.errors import ParameterError, QuestionError
from privet.schema import Schema
from privet.tree import Tree

#: Weights and derivatives are whole multiples of 1/UNIT: sums of floats would not have a sensitivity.
UNIT = 1 << 16
#: A row's derivatives, all classes and both orders together, are scaled down to this size in L1. (Two classes need one number each.)
CLIP = {2: UNIT * 3 // 4}
CLIP_MORE_CLASSES = UNIT
MAX_TREES = 10_000
MAX_SCORE = 1e6

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Scoring:
    """Trees whose node values are class scores that add up; checked, and ready to be asked about rows.

    Whatever the trees hold, a weight is from 0 to UNIT and a row's derivatives are at most :func:`clip_of` in L1: that is what
    the sensitivity of a question stands on, so it does not rest on who made the trees.
    """

    def __init__(self, schema: Schema, trees: Sequence[Tree]) -> None:
        self._schema = schema
        self._trees = list(trees)
        if len(self._trees) > MAX_TREES:
            raise ParameterError(f"at most {MAX_TREES} trees can weigh rows, got {len(self._trees)}")
        for tree in self._trees:
            # A subclass could look at the rows it is asked about.
            if type(tree) is not Tree or type(tree.cells) is not Cells:
                raise ParameterError(f"rows are weighed by released plain trees, got {type(tree).__name__}")
            if tree.schema.fingerprint != schema.fingerprint:
                raise QuestionError("a tree that weighs rows is for another schema")
            if np.abs(tree.counts).max() > MAX_SCORE:
                raise ParameterError(f"scores must be at most {MAX_SCORE:g} in size")

    def probabilities(self, codes: npt.NDArray[Any]) -> Floats:
        """The softmax of the summed scores, per row."""
        total = np.zeros((codes.shape[1], self._schema.n_classes))
        for tree in self._trees:
            add_scores(codes, tree.cells.attribute, tree.cells.offset, tree.cells.branch, tree.counts, total)
        total -= total.max(axis=1, keepdims=True)
        np.exp(total, out=total)
        total /= total.sum(axis=1, keepdims=True)
        return total

    def weights(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Ints:
        """How much a row still counts: min(1, (1 - p) T / (T - 1)), where p is the chance that the trees give to its class."""
        if not self._trees:
            return np.full(len(classes), UNIT, dtype=np.int64)
        n_classes = self._schema.n_classes
        chance = self.probabilities(codes)[np.arange(len(classes)), classes]
        weights = np.floor(UNIT * np.minimum(1.0, (1.0 - chance) * n_classes / (n_classes - 1))).astype(np.int64)
        return np.asarray(np.clip(weights, 0, UNIT))

    def derivatives(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Ints:
        """First derivatives [y = c] - p_c and second ones p_c (1 - p_c) of a row's log-likelihood by its scores: (rows, 2, numbers).

        One number each for two classes (that of the second), otherwise one per class; scaled down, all together, to :func:`clip_of`.
        """
        p = self.probabilities(codes)
        first = -p
        first[np.arange(len(classes)), classes] += 1.0
        both = np.stack([first, p * (1.0 - p)], axis=1)
        if self._schema.n_classes == 2:
            both = both[:, :, 1:]
        clip = clip_of(self._schema.n_classes)
        size = UNIT * np.abs(both).sum(axis=(1, 2))
        scale = UNIT * np.minimum(1.0, clip / np.maximum(size, 1.0))
        # Cut off towards zero, so that whole numbers cannot add up to more than the clip.
        return np.asarray(np.trunc(both * scale[:, None, None]).astype(np.int64))


def clip_of(n_classes: int) -> int:
    """The most that a row's derivatives can be in L1, in units."""
    return CLIP.get(n_classes, CLIP_MORE_CLASSES)


def cells_of(cells: Cells, codes: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    """The cell of each row; -1 for none."""
    node = np.empty(codes.shape[1], dtype=np.int64)
    reach(codes, cells.attribute, cells.offset, cells.branch, node)
    return np.asarray(cells.cell[node])


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def reach(codes: Any, attribute: Any, offset: Any, branch: Any, out: Any) -> None:
    """The node that each row ends in. Rows that count have known codes only."""
    for row in range(codes.shape[1]):
        node = 0
        while attribute[node] >= 0:
            node = branch[offset[node] + codes[attribute[node], row]]
        out[row] = node


@njit(nogil=True, cache=True)  # type: ignore[untyped-decorator]
def add_scores(codes: Any, attribute: Any, offset: Any, branch: Any, scores: Any, total: Any) -> None:
    """Add the scores of the node that each row ends in."""
    for row in range(codes.shape[1]):
        node = 0
        while attribute[node] >= 0:
            node = branch[offset[node] + codes[attribute[node], row]]
        for c in range(total.shape[1]):
            total[row, c] += scores[node, c]
