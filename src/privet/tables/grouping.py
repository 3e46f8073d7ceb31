"""Count a whole level or forest in one SQL statement, with one pass over the rows.

The entries of all count tables are numbered in a row. A row of the table falls into one entry of
each partition: nested CASE expressions find the cell, arithmetic the entry. The numbers of a row
are unnested from an array, and counted. Engines differ in how they unnest, and in what keeps them
from computing a cell several times; the expressions are the same.

Where a question is too large for one statement, rows are grouped by their codes.
:class:`MixedRadix` holds several small codes as few large numbers, so that a database groups by
them fast and sends little.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Tables, WeightedRows
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.questions import Partition, Question
from privet.tables.base import check_totals
from privet.tables.postgres.codes import POSTGRES_FENCE

_MAX_CASE_NODES = 1 << 13  # of all trees: a statement of about a megabyte
_MAX_CASE_DEPTH = 32


class Cases:
    """A question in nested CASE expressions.

    Each partition has one cell more than asked, for the rows outside of all cells.
    """

    def __init__(self, question: Question) -> None:
        self._question = question
        self._trees = list(
            {id(partition.cells): partition.cells for partition in question.partitions}.values()
        )
        self._starts = [
            0,
            *np.cumsum([self._entries(partition) for partition in question.partitions]).tolist(),
        ]

    @property
    def nodes(self) -> int:
        """How many nodes the expressions look at: what they grow with."""
        return sum(len(cells.attribute) for cells in self._trees)

    @property
    def depth(self) -> int:
        """How many levels the deepest tree has."""
        return max(len(cells.levels) for cells in self._trees)

    @property
    def fits(self) -> bool:
        """Whether the statement is of a reasonable size."""
        return self.nodes <= _MAX_CASE_NODES and self.depth <= _MAX_CASE_DEPTH

    def cells(self) -> list[str]:
        """Return what is selected of the encoded rows, besides the class.

        The cell in each tree, and the codes that split cells further.
        """
        schema, by = (
            self._question.schema,
            dict.fromkeys(partition.by for partition in self._question.partitions),
        )
        columns = [f"{_route_expression(cells)} AS w{t}" for t, cells in enumerate(self._trees)]
        return columns + [f"c{schema.index(name)}" for name in by if name is not None]

    def entries(self) -> list[str]:
        """Return the entry numbers of a row from its cells, its codes and its class.

        The last number counts all rows.
        """
        names = {id(cells): f"w{t}" for t, cells in enumerate(self._trees)}
        schema, entries = self._question.schema, []
        for start, partition in zip(self._starts, self._question.partitions, strict=False):
            cell = names[id(partition.cells)]
            if partition.by is not None:
                cell = (
                    f"({cell} * {schema.attributes[partition.by].size} + "
                    f"c{schema.index(partition.by)})"
                )
            entries.append(f"{start} + {cell} * {schema.n_classes} + y")
        return [*entries, str(self._starts[-1])]

    def statement(self, encoded: str) -> str:
        """Return the one statement with which PostgreSQL answers the question: entry numbers and
        counts.
        """
        routed = f"SELECT {', '.join([*self.cells(), 'y'])} FROM ({encoded}) AS k {POSTGRES_FENCE}"
        numbered = (
            f"SELECT unnest(ARRAY[{', '.join(self.entries())}]) AS entry FROM ({routed}) AS r"
        )
        return f"SELECT entry, count(*) AS n FROM ({numbered}) AS u GROUP BY entry"

    def tables(self, answer: Iterable[list[tuple[Any, ...]] | npt.NDArray[np.int64]]) -> Tables:
        """Return the count tables from the statement's answer.

        It comes in blocks: rows of two, or anything that is an array of such rows.
        """
        flat = np.zeros(self._starts[-1] + 1, dtype=np.int64)
        for block in answer:
            entries, counts = np.asarray(block, dtype=np.int64).T
            flat[entries] = counts
        tables, uncovered = [], []
        for (start, end), partition in zip(
            pairwise(self._starts), self._question.partitions, strict=True
        ):
            cells, *rest = partition.shape
            table = flat[start:end].reshape(cells + 1, *rest)
            tables.append(table[:-1].copy())
            uncovered.append(int(table[-1].sum()))
        check_totals(tables, uncovered, int(flat[-1]))
        return tables

    @staticmethod
    def _entries(partition: Partition) -> int:
        return partition.entries // len(partition.cells) * (len(partition.cells) + 1)


def _route_expression(cells: Cells, node: int = 0) -> str:
    """Return the cell of a row; one past the last for a row outside of all cells."""
    a = int(cells.attribute[node])
    if a < 0:
        return str(int(cells.cell[node]) if cells.cell[node] >= 0 else len(cells))
    children = cells.branch[cells.offset[node] : cells.offset[node] + cells.schema.sizes[a]]
    # of runs of codes that go to the same child
    starts = [0, *(np.flatnonzero(np.diff(children)) + 1).tolist()]
    codes_of = {
        child: np.flatnonzero(children == child).tolist()
        for child in dict.fromkeys(children.tolist())
    }

    def search(low: int, high: int) -> str:
        """Among the runs low to high."""
        if low == high:
            return _route_expression(cells, int(children[starts[low]]))
        middle = (low + high + 1) // 2
        return (
            f"CASE WHEN c{a} < {starts[middle]} THEN {search(low, middle - 1)} ELSE "
            f"{search(middle, high)} END"
        )

    if len(starts) == len(codes_of):
        return search(0, len(starts) - 1)
    *few, most = sorted(codes_of, key=lambda child: len(codes_of[child]))
    tests = [
        f"WHEN c{a} IN ({', '.join(map(str, codes_of[child]))}) THEN "
        f"{_route_expression(cells, child)}"
        for child in few
    ]
    return f"CASE {' '.join(tests)} ELSE {_route_expression(cells, most)} END"


# -- several small codes as few large numbers --

_MOST = 1 << 62  # what a signed 64-bit number holds without care


class MixedRadix:
    """Columns of codes (by name: how many codes there are) as numbers in a mixed radix, each of 64
    bits.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        self._sizes = dict(sizes)
        self._numbers: list[list[str]] = [[]]
        product = 1
        for name, size in self._sizes.items():
            product *= size
            if product > _MOST:
                self._numbers.append([])
                product = size
            self._numbers[-1].append(name)

    def expressions(self, zero: str = "0::int8") -> list[str]:
        """Return the numbers, in SQL; ``zero`` is how the database writes a zero of 64 bits."""
        out = []
        for names in self._numbers:
            number = zero
            for name in names:
                number = f"({number} * {self._sizes[name]} + {name})"
            out.append(number)
        return out

    def columns(self, numbers: Sequence[npt.NDArray[np.int64]]) -> dict[str, npt.NDArray[np.int64]]:
        """Return the columns back from the numbers."""
        out = {}
        for names, number in zip(self._numbers, numbers, strict=True):
            rest = number
            for name in reversed(names):
                rest, out[name] = np.divmod(rest, self._sizes[name])
        return out


class CodeRadix(MixedRadix):
    """The codes c0, c1, ... of some attributes, and the class y."""

    def __init__(self, schema: Schema, names: Sequence[str]) -> None:
        self._width = len(schema.sizes)
        super().__init__(
            {
                **{f"c{a}": size for a, size in enumerate(schema.sizes) if f"c{a}" in names},
                "y": schema.n_classes,
            }
        )

    def rows(
        self, numbers: Sequence[npt.NDArray[np.int64]], weights: npt.NDArray[np.int64]
    ) -> WeightedRows:
        """Return groups of equal rows from their numbers; codes of other attributes are zero."""
        columns = self.columns(numbers)
        codes = np.zeros((self._width, len(weights)), dtype=np.uint16)
        for a in range(self._width):
            if f"c{a}" in columns:
                codes[a] = columns[f"c{a}"]
        return codes, columns["y"].astype(np.uint16), np.ascontiguousarray(weights)
