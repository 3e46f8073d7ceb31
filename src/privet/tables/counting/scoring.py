"""Score encoded rows by released trees, in fixed point: class scores, row weights and derivatives.

The compiled loops compute each row's numbers in a loop of their own: vectorised functions may round
a row differently beside other rows, and then one row more would change what the others count.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import cached_property
from itertools import islice
from math import floor, sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from privet._numba import compile_kernel
from privet._parallel import count_cores, for_each_part, for_each_range
from privet._steady import exp
from privet._types import Floats, Ints
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.routing import Routes
from privet.domain.routing_loops import walk
from privet.domain.tree import Tree
from privet.errors import ParameterError, QuestionError

#: Rows whose derivatives are worked out at a time.
BLOCK = 4096
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
    def n_classes(self) -> int:
        """How many classes there are."""
        return self._schema.n_classes

    @property
    def trees(self) -> tuple[Tree, ...]:
        """The trees, in copies that nobody else holds."""
        return tuple(self._trees)

    @cached_property
    def keys(self) -> tuple[bytes, ...]:
        """What tells each tree from others: equal ones say the same about every row."""
        return tuple(_digest_tree(tree) for tree in self._trees)

    def weights(self, codes: npt.NDArray[Any], classes: npt.NDArray[Any]) -> Ints:
        """Return how much a row still counts: min(1, (1 - p) T / (T - 1)).

        p is the probability that the trees give to its class, T the number of classes.
        """
        return self.weigh(self.scores(codes), classes)

    def weigh(self, scores: Floats, classes: npt.NDArray[Any]) -> Ints:
        """Return the weights of rows that have these scores, a line for each class."""
        weights = np.full(len(classes), UNIT, dtype=np.int64)
        if self._trees:
            loop = weigh_two if self._schema.n_classes == 2 else weigh
            for_each_range(
                len(weights),
                lambda low, high: loop(scores, classes, low, high, weights),
                workers=scores.size >> 17,
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
        self.differentiate(self.scores(codes), classes, times, cell, table, clip)

    def differentiate(
        self,
        scores: Floats,
        classes: npt.NDArray[Any],
        times: Ints,
        cell: npt.NDArray[Any],
        table: Ints,
        clip: Clip = "own",
    ) -> None:
        """Add the derivatives of rows that have these scores, see :meth:`add_derivatives`."""
        n_classes, n_rows = self._schema.n_classes, len(classes)
        if clip == "own":
            loop = differentiate_two if n_classes == 2 else differentiate
            most = clip_of(n_classes)
        else:
            loop = differentiate_two_evenly if n_classes == 2 else differentiate_evenly
            most = even_clip_of(n_classes)
        parts = max(1, min(n_rows >> 16, count_cores()))

        def add_part(part: int) -> Ints:
            # Each thread has a table of its own.
            mine = np.full_like(table, 0)
            low, high = n_rows * part // parts, n_rows * (part + 1) // parts
            loop(scores, classes, times, cell, low, high, most, mine)
            return mine

        for mine in for_each_part(parts, add_part):
            table += mine

    def scores(self, codes: npt.NDArray[Any]) -> Floats:
        """Return what the trees say about each row, summed in their order: a line per class."""
        total = np.zeros((self._schema.n_classes, codes.shape[1]))
        self.add_scores(codes, total, 0, len(self._trees))
        return total

    def add_scores(self, codes: npt.NDArray[Any], total: Floats, first: int, last: int) -> None:
        """Add what the trees from ``first`` to ``last`` say about each row."""
        trees = self._trees[first:last]
        if trees:
            routes = Routes.through([tree.cells for tree in trees])
            values = np.concatenate([tree.counts.T for tree in trees], axis=1)
            for_each_range(
                codes.shape[1],
                lambda low, high: add_scores(codes, low, high, *routes.arrays, values, total),
                workers=len(trees) * codes.shape[1] >> 17,
            )


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


def _digest_tree(tree: Tree) -> bytes:
    cells = tree.cells
    digest = hashlib.sha256()
    for part in (cells.attribute, cells.offset, cells.branch, cells.cell, tree.counts):
        digest.update(f"{part.dtype.str} {part.shape} ".encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()


def _copy_tree(schema: Schema, tree: Tree) -> Tree:
    if type(tree) is not Tree:
        raise ParameterError(f"rows are weighed by released plain trees, got {type(tree).__name__}")
    own = Tree(copy_cells(schema, tree.cells), tree.counts, "scores")
    if not np.abs(own.counts).max() <= MAX_SCORE:  # nor NaN
        raise ParameterError(f"scores must be at most {MAX_SCORE:g} in size")
    return own


# -- compiled loops, one row at a time --


@compile_kernel
def add_scores(
    codes: Any,
    low: int,
    high: int,
    root: Any,
    steps: Any,
    words: Any,
    first_end: Any,
    values: Any,
    total: Any,
) -> None:
    """Add the scores of the nodes that the rows from ``low`` to ``high`` end in, tree by tree.

    ``values`` and ``total`` have a line for each class.
    """
    node = np.empty(BLOCK, dtype=np.uint64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        for t in range(len(root)):
            walk(codes, first, n, root[t], steps[t], words, first_end, node)
            for c in range(len(total)):
                line, value = total[c, first : first + n], values[c]
                for i in range(n):
                    line[i] += value[node[i]]


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
def weigh(total: Any, classes: Any, low: int, high: int, out: Any) -> None:
    """Write the weight of each row from ``low`` to ``high``, from 0 to UNIT, into ``out``."""
    n_classes = len(total)
    p = np.empty(n_classes)
    for row in range(low, high):
        softmax(total[:, row], p)
        weight = floor(UNIT * (1.0 - p[classes[row]]) * n_classes / (n_classes - 1))
        out[row] = max(0, min(UNIT, int(weight)))


@compile_kernel(error_model="numpy")
def weigh_two(total: Any, classes: Any, low: int, high: int, out: Any) -> None:
    """Do what :func:`weigh` does for two classes, where the loop becomes vector instructions."""
    for row in range(low, high):
        ahead = total[1, row] - total[0, row]
        less = exp(-abs(ahead))
        likely = (ahead > 0.0) == (classes[row] == 1)
        weight = floor(UNIT * (1.0 - (1.0 if likely else less) / (1.0 + less)) * 2)
        out[row] = max(0, min(UNIT, int(weight)))


@compile_kernel(error_model="numpy")
def differentiate(
    total: Any, classes: Any, times: Any, cell: Any, low: int, high: int, clip: int, table: Any
) -> None:
    """Add the derivatives of each row from ``low`` to ``high`` to its cell (-1: the last of the
    table), in units, each row's at most ``clip`` in L1.
    """
    n_classes, numbers = len(total), table.shape[2]
    first = n_classes - numbers  # of two classes, only the second
    p = np.empty(n_classes)
    for row in range(low, high):
        place = cell[row] if cell[row] >= 0 else len(table) - 1
        softmax(total[:, row], p)
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
def differentiate_two(
    total: Any, classes: Any, times: Any, cell: Any, low: int, high: int, clip: int, table: Any
) -> None:
    """Do what :func:`differentiate` does for two classes: most of it in vector instructions."""
    slopes, bends = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        for i in range(n):
            ahead = total[1, first + i] - total[0, first + i]
            less = exp(-abs(ahead))
            p = (1.0 if ahead > 0.0 else less) / (1.0 + less)
            slope_of, bend_of = (1.0 if classes[first + i] == 1 else 0.0) - p, p * (1.0 - p)
            size = abs(slope_of) + bend_of
            scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))
            slope = max(-clip, min(clip, int(scale * slope_of)))
            slopes[i] = slope
            bends[i] = max(0, min(clip - abs(slope), int(scale * bend_of)))
        for i in range(n):
            row = first + i
            place = cell[row] if cell[row] >= 0 else len(table) - 1
            table[place, 0, 0] += slopes[i] * (times[row] if len(times) else 1)
            table[place, 1, 0] += bends[i] * (times[row] if len(times) else 1)


@compile_kernel(error_model="numpy")
def differentiate_evenly(
    total: Any, classes: Any, times: Any, cell: Any, low: int, high: int, clip: int, table: Any
) -> None:
    """Add the derivatives of each row from ``low`` to ``high`` to its cell (-1: the last of the
    table), in units, each row's at most ``clip`` in L2.

    Rows of equal scores are scaled alike, as one of the least likely class has to be. So sums are
    zero where the scores are right; a clip by each row's own size makes scores too sure.
    """
    n_classes, numbers = len(total), table.shape[2]
    first = n_classes - numbers  # of two classes, only the second
    p = np.empty(n_classes)
    for row in range(low, high):
        place = cell[row] if cell[row] >= 0 else len(table) - 1
        softmax(total[:, row], p)
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


@compile_kernel(error_model="numpy")
def differentiate_two_evenly(
    total: Any, classes: Any, times: Any, cell: Any, low: int, high: int, clip: int, table: Any
) -> None:
    """Do what :func:`differentiate_evenly` does for two classes: most of it in vector
    instructions.
    """
    slopes, bends = np.empty(BLOCK, dtype=np.int64), np.empty(BLOCK, dtype=np.int64)
    for first in range(low, high, BLOCK):
        n = min(BLOCK, high - first)
        for i in range(n):
            ahead = total[1, first + i] - total[0, first + i]
            less = exp(-abs(ahead))
            p, least = (1.0 if ahead > 0.0 else less) / (1.0 + less), less / (1.0 + less)
            bend_of = p * (1.0 - p)
            size = sqrt((1.0 - least) ** 2 + bend_of**2)
            scale = UNIT * min(1.0, clip / max(UNIT * size, 1.0))
            slope = int(scale * ((1.0 if classes[first + i] == 1 else 0.0) - p))
            slope = slope if abs(slope) <= clip else 0
            left = clip * clip - slope * slope
            bend = int(scale * bend_of)
            slopes[i] = slope
            bends[i] = bend if 0 <= bend <= clip and bend * bend <= left else 0
        for i in range(n):
            row = first + i
            place = cell[row] if cell[row] >= 0 else len(table) - 1
            table[place, 0, 0] += slopes[i] * (times[row] if len(times) else 1)
            table[place, 1, 0] += bends[i] * (times[row] if len(times) else 1)
