"""Score encoded rows by released trees, in fixed point: class scores, row weights and derivatives.

The compiled loops compute each row's numbers in a loop of their own: vectorised functions may round
a row differently beside other rows, and then one row more would change what the others count.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from math import exp, floor, sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet._numba import compile_kernel
from privet._parallel import for_each_range
from privet._types import Floats, Ints
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.routing import Routes
from privet.domain.tree import Tree
from privet.errors import ParameterError, QuestionError

#: Weights and derivatives are whole multiples of 1/UNIT: sums of floats would not have a
#: sensitivity.
UNIT = 1 << 16
#: A row's derivatives, all classes and both orders together, are scaled down to this size in L1.
#: (Two classes need one number each.)
CLIP = {2: UNIT * 3 // 4}
CLIP_MORE_CLASSES = UNIT
#: Or, rows of equal scores alike, to this size in L2. For two classes that is sqrt(5)/4, as much as
#: a row in doubt has.
EVEN_CLIP = {2: 36_635}
EVEN_CLIP_MORE_CLASSES = UNIT * 3 // 4
#: How a row's derivatives are scaled down: by its own size in L1, or evenly, as those of a row of
#: the least likely class are, in L2.
Clip = Literal["own", "even"]
MAX_TREES = 10_000
MAX_SCORE = 1e6


class Scoring:
    """Trees whose node values are class scores that add up; checked, and ready to be asked about
    rows.

    Whatever the trees hold, a weight is from 0 to UNIT and a row's derivatives are at most
    :func:`clip_of` in L1, or :func:`even_clip_of` in L2: that is what the sensitivity of a question
    stands on, so it does not rest on who made the trees.
    """

    def __init__(self, schema: Schema, trees: Iterable[Tree]) -> None:
        if not isinstance(trees, Iterable):
            raise ParameterError(
                f"rows are weighed by a list of released trees, got {type(trees).__name__}"
            )
        self._schema = schema
        self._trees = [_copy_tree(schema, tree) for tree in islice(trees, MAX_TREES + 1)]
        if len(self._trees) > MAX_TREES:
            raise ParameterError(f"at most {MAX_TREES} trees can weigh rows")

    def __len__(self) -> int:
        return len(self._trees)

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in copies that nobody else holds."""
        return tuple(self._trees)

    def weights(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Ints:
        """Return how much a row still counts: min(1, (1 - p) T / (T - 1)).

        p is the probability that the trees give to its class, T the number of classes.
        """
        weights = np.full(len(classes), UNIT, dtype=np.int64)
        if self._trees:
            total = self._scores(codes)
            for_each_range(
                len(weights),
                lambda low, high: weigh(total[low:high], classes[low:high], weights[low:high]),
                workers=total.size >> 17,
            )
        return weights

    def add_derivatives(
        self,
        codes: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        times: Ints,
        cell: npt.NDArray[Any],
        table: Ints,
        clip: Clip = "own",
    ) -> None:
        """Add the rows' first derivatives [y = c] - p_c and second ones p_c (1 - p_c) of their
        log-likelihood to a table.

        The table is (cells, 2, numbers): one number each for two classes (that of the second),
        otherwise one per class. A row's numbers are scaled down, all together, to :func:`clip_of`
        in L1, or to :func:`even_clip_of` in L2. It counts ``times`` (empty: once), in its cell. The
        last cell of the table is for rows of none (-1), which take as long as others.
        """
        n_classes, scores = self._schema.n_classes, self._scores(codes)
        if clip == "own":
            differentiate(scores, classes, times, cell, clip_of(n_classes), table)
        else:
            differentiate_evenly(scores, classes, times, cell, even_clip_of(n_classes), table)

    @cached_property
    def _routes(self) -> tuple[Routes, Floats]:
        """The trees laid out for walking, and the scores of their nodes."""
        return Routes.through([tree.cells for tree in self._trees]), np.concatenate(
            [tree.counts for tree in self._trees]
        )

    def _scores(self, codes: npt.NDArray[Any]) -> Floats:
        total = np.zeros((codes.shape[1], self._schema.n_classes))
        if self._trees:
            routes, scores = self._routes
            routes.add_values(codes, scores, total, compiled=True)
        return total


def clip_of(n_classes: int) -> int:
    """Return the most that a row's derivatives can be in L1, in units."""
    return CLIP.get(n_classes, CLIP_MORE_CLASSES)


def even_clip_of(n_classes: int) -> int:
    """Return the most that a row's evenly clipped derivatives can be in L2, in units."""
    return EVEN_CLIP.get(n_classes, EVEN_CLIP_MORE_CLASSES)


def copy_cells(schema: Schema, cells: Cells) -> Cells:
    """Return a copy that nobody else holds, proved anew under the curator's own schema.

    Compiled loops do not look where they step.
    """
    # A subclass could look at the rows it is asked about.
    if type(cells) is not Cells:
        raise ParameterError(f"cells must be plain Cells, got {type(cells).__name__}")
    if type(cells.schema) is not Schema or cells.schema.fingerprint != schema.fingerprint:
        raise QuestionError("the cells are for another schema")
    return Cells(schema, cells.attribute, cells.offset, cells.branch, cells.cell, cells.n_cells)


def _copy_tree(schema: Schema, tree: Tree) -> Tree:
    if type(tree) is not Tree:
        raise ParameterError(f"rows are weighed by released plain trees, got {type(tree).__name__}")
    own = Tree(copy_cells(schema, tree.cells), tree.counts, "scores")
    if not np.abs(own.counts).max() <= MAX_SCORE:  # nor NaN
        raise ParameterError(f"scores must be at most {MAX_SCORE:g} in size")
    return own


# -- compiled loops, one row at a time --


@compile_kernel(error_model="numpy")
def softmax(scores: Any, out: Any) -> None:
    """Write the class probabilities of one row into ``out``."""
    top, total = scores[0], 0.0
    for c in range(len(scores)):
        top = max(top, scores[c])
    for c in range(len(scores)):
        out[c] = exp(scores[c] - top)
        total += out[c]
    for c in range(len(scores)):
        out[c] /= total


@compile_kernel(error_model="numpy")
def weigh(total: Any, classes: Any, out: Any) -> None:
    """Write the weight of each row, from 0 to UNIT, into ``out``."""
    n_classes = total.shape[1]
    p = np.empty(n_classes)
    for row in range(len(classes)):
        softmax(total[row], p)
        weight = floor(UNIT * (1.0 - p[classes[row]]) * n_classes / (n_classes - 1))
        out[row] = max(0, min(UNIT, int(weight)))


@compile_kernel(error_model="numpy")
def differentiate(total: Any, classes: Any, times: Any, cell: Any, clip: int, table: Any) -> None:
    """Add the derivatives of each row to its cell (-1: the last of the table), in units, each row's
    at most ``clip`` in L1.
    """
    n_classes, numbers = total.shape[1], table.shape[2]
    first = n_classes - numbers  # of two classes, only the second
    p = np.empty(n_classes)
    for row in range(len(classes)):
        place = cell[row] if cell[row] >= 0 else len(table) - 1
        softmax(total[row], p)
        size = 0.0
        for c in range(first, n_classes):
            size += abs((1.0 if c == classes[row] else 0.0) - p[c]) + p[c] * (1.0 - p[c])
        scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))
        left = clip  # cut off towards zero, and never beyond the clip
        for c in range(first, n_classes):
            slope = int(scale * ((1.0 if c == classes[row] else 0.0) - p[c]))
            bend = int(scale * p[c] * (1.0 - p[c]))
            slope = max(-left, min(left, slope))
            left -= abs(slope)
            bend = max(0, min(left, bend))
            left -= bend
            table[place, 0, c - first] += slope * (times[row] if len(times) else 1)
            table[place, 1, c - first] += bend * (times[row] if len(times) else 1)


@compile_kernel(error_model="numpy")
def differentiate_evenly(
    total: Any, classes: Any, times: Any, cell: Any, clip: int, table: Any
) -> None:
    """Add the derivatives of each row to its cell (-1: the last of the table), in units, each row's
    at most ``clip`` in L2.

    Rows of equal scores are scaled alike, as one of the least likely class has to be. So sums are
    zero where the scores are right; a clip by each row's own size makes scores too sure.
    """
    n_classes, numbers = total.shape[1], table.shape[2]
    first = n_classes - numbers  # of two classes, only the second
    p = np.empty(n_classes)
    for row in range(len(classes)):
        place = cell[row] if cell[row] >= 0 else len(table) - 1
        softmax(total[row], p)
        least, likely, bends = 1.0, 0.0, 0.0
        for c in range(n_classes):
            least = min(least, p[c])
            likely += p[c] * p[c]
        for c in range(first, n_classes):
            bends += (p[c] * (1.0 - p[c])) ** 2
        slopes = (1.0 - least) ** 2 if numbers == 1 else 1.0 - 2.0 * least + likely
        scale = UNIT * min(1.0, clip / max(UNIT * sqrt(slopes + bends), 1.0))
        left = clip * clip  # cut off towards zero, and whatever rounding does never beyond the clip
        for c in range(first, n_classes):
            slope = int(scale * ((1.0 if c == classes[row] else 0.0) - p[c]))
            bend = int(scale * p[c] * (1.0 - p[c]))
            # the size first: the square of a very large number could come out small
            slope = slope if abs(slope) <= clip and slope * slope <= left else 0
            left -= slope * slope
            bend = bend if 0 <= bend <= clip and bend * bend <= left else 0
            left -= bend * bend
            table[place, 0, c - first] += slope * (times[row] if len(times) else 1)
            table[place, 1, c - first] += bend * (times[row] if len(times) else 1)
