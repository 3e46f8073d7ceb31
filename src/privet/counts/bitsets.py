"""A question as bit sets: one grouped statement for a whole level or forest.

Each (attribute, code) is compatible with some leaves of a partition, held as a bit set. A row's leaf is the one bit that is left
when the sets of its codes are intersected. The small tables of bit sets are joined, and GROUPING SETS count all partitions in one pass.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells
from privet.counts.base import Tables, check_totals, split_tables
from privet.counts.sql import Statement, code_type, with_tables
from privet.question import Question

_WORD = 64  # cells per bit-set word


class BitSets:
    """A question as bit sets of compatible leaves per (attribute, code)."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._trees: list[Cells] = []
        positions: dict[int, int] = {}
        self._tree_of = []
        for partition in question.partitions:
            if id(partition.cells) not in positions:
                positions[id(partition.cells)] = len(self._trees)
                self._trees.append(partition.cells)
            self._tree_of.append(positions[id(partition.cells)])
        self._by = sorted({question.schema.index(p.by) for p in question.partitions if p.by is not None})

    @cached_property
    def n_words(self) -> int:
        """How many words the sets of all partitions take."""
        return sum(self._words(cells) for cells in self._trees)

    @staticmethod
    def _words(cells: Cells) -> int:
        return -(-int((cells.attribute < 0).sum()) // _WORD)

    def statement(self, statement: Statement, encoded: str) -> str:
        """The one statement that answers the question."""
        schema = self._question.schema
        columns: dict[int, list[str]] = {}  # by attribute: the columns of its table of bit sets
        words: list[str] = []
        for t, cells in enumerate(self._trees):
            sets = compatible_leaves(cells)
            for w in range(self._words(cells)):
                terms = []
                for a, table in sets.items():
                    bound = statement.bind(f"m{a}_{t}_{w}", [int(word) for word in table[:, w]])
                    columns.setdefault(a, []).append(f"unnest(CAST({bound} AS UBIGINT[])) AS w{t}_{w}")
                    terms.append(f"m{a}.w{t}_{w}")
                words.append(f"{' & '.join(terms) or 'CAST(1 AS UBIGINT)'} AS w{t}_{w}")
        tables = list(statement.tables)
        tables.append(f"encoded AS ({encoded})")
        joins = []
        for a, selected in columns.items():
            codes = statement.bind(f"m{a}", list(range(schema.sizes[a])))
            kind = code_type(schema.attributes[schema.names[a]])
            tables.append(f"m{a} AS (SELECT unnest(CAST({codes} AS {kind}[])) AS code, {', '.join(selected)})")
            joins.append(f"JOIN m{a} ON e.c{a} = m{a}.code")
        kept = [f"e.c{a}" for a in self._by]
        tables.append(f"routed AS (SELECT {', '.join([*words, *kept, 'e.y'])} FROM encoded AS e {' '.join(joins)})")
        sets_ = ", ".join(f"({', '.join(columns)})" for columns in self._grouping_sets())
        named = [f"w{t}_{w}" for t, cells in enumerate(self._trees) for w in range(self._words(cells))]
        named += [f"c{a}" for a in self._by]
        return f"{with_tables(tables)}SELECT {', '.join(named)}, y, count(*) AS n FROM routed GROUP BY GROUPING SETS ({sets_}, ())"

    def _grouping_sets(self) -> list[list[str]]:
        sets: list[list[str]] = []
        for t, partition in zip(self._tree_of, self._question.partitions, strict=True):
            columns = [f"w{t}_{w}" for w in range(self._words(self._trees[t]))]
            if partition.by is not None:
                columns.append(f"c{self._question.schema.index(partition.by)}")
            columns.append("y")
            if columns not in sets:  # a partition that is asked twice is counted once
                sets.append(columns)
        return sets

    def tables(self, answer: dict[str, npt.NDArray[Any]]) -> Tables:
        """The count tables from the statement's answer. Each row of it belongs to the set whose columns are not null."""
        schema = self._question.schema
        counts = np.asarray(answer["n"], dtype=np.int64)
        present = {name: ~np.ma.getmaskarray(column) for name, column in answer.items()}
        plain = {name: np.ma.getdata(column) for name, column in answer.items()}
        any_by = np.zeros(len(counts), dtype=bool)
        for a in self._by:
            any_by |= present[f"c{a}"]
        rows = int(counts[~present["y"]].sum())
        flat = np.zeros(self._question.entries, dtype=np.int64)
        start, uncovered = 0, []
        for t, partition in zip(self._tree_of, self._question.partitions, strict=True):
            mine = present[f"w{t}_0"] & (~any_by if partition.by is None else present[f"c{schema.index(partition.by)}"])
            cells = self._trees[t]
            leaf_cell = cells.cell[cells.attribute < 0]
            leaf = _single_bit([plain[f"w{t}_{w}"][mine] for w in range(self._words(cells))])
            cell = leaf_cell[leaf].astype(np.int64)
            value = (
                np.zeros(len(cell), dtype=np.int64)
                if partition.by is None
                else plain[f"c{schema.index(partition.by)}"][mine].astype(np.int64)
            )
            size = 1 if partition.by is None else schema.attributes[partition.by].size
            index = (cell * size + value) * schema.n_classes + plain["y"][mine].astype(np.int64)
            np.add.at(flat, start + index[cell >= 0], counts[mine][cell >= 0])
            uncovered.append(int(counts[mine][cell < 0].sum()))
            start += partition.entries
        tables = split_tables(self._question, flat)
        check_totals(tables, uncovered, rows)
        return tables


def compatible_leaves(cells: Cells) -> dict[int, npt.NDArray[np.uint64]]:
    """By tested attribute: for each code, the set of leaves that a row with that code can still reach, as words."""
    sizes = cells.schema.sizes
    leaf_number = np.cumsum(cells.attribute < 0) - 1
    n_leaves = int((cells.attribute < 0).sum())
    allowed = {a: np.zeros((sizes[a], n_leaves), dtype=bool) for a in cells.used}
    # Walk down with the codes that are still possible, per attribute that was tested on the way.
    stack: list[tuple[int, dict[int, npt.NDArray[np.bool_]]]] = [(0, {})]
    while stack:
        node, possible = stack.pop()
        a = int(cells.attribute[node])
        if a < 0:
            for b, table in allowed.items():
                table[:, leaf_number[node]] |= possible.get(b, True)
            continue
        children = cells.branch[cells.offset[node] : cells.offset[node] + sizes[a]]
        for child in dict.fromkeys(children.tolist()):
            here = (children == child) & possible.get(a, True)
            if here.any():
                stack.append((child, {**possible, a: here}))
    return {a: _packed(table) for a, table in allowed.items()}


def _packed(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Lines of booleans to lines of 64-bit words, first entry lowest."""
    n_words = -(-table.shape[1] // _WORD)
    padded = np.zeros((table.shape[0], n_words * _WORD), dtype=bool)
    padded[:, : table.shape[1]] = table
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _single_bit(words: list[npt.NDArray[np.uint64]]) -> npt.NDArray[np.int64]:
    """The position of the one bit that is set."""
    position = np.full(len(words[0]), -1, dtype=np.int64)
    for w, word in enumerate(words):
        lone = (word != 0) & (word & (word - np.uint64(1)) == 0)
        position[lone] = w * _WORD + np.log2(word[lone].astype(np.float64)).astype(np.int64)
    return position
