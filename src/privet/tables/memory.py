"""Count the rows of a data frame, held as a matrix of small integers in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints, Tables, WeightedRows
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.columns import describe_frame
from privet.domain.encode.rows import Encoded, check_structure, encode, find_problems
from privet.domain.questions import Question
from privet.tables.counting.passes import NO_WEIGHTS, Counting
from privet.tables.snapshot_scores import SnapshotScores

if TYPE_CHECKING:
    from privet.tables.counting.row_sums import RowSums

#: Rows at a time, so that what is computed for each of them takes little memory.
READ_BLOCK = 1 << 18


class MemoryTable:
    """A pandas, Polars or Arrow table, a mapping of columns, or an array with its labels in
    ``y``.
    """

    def __init__(self, table: object, y: object = None, *, name: str = "table in memory") -> None:
        self._table, self._y, self.name = table, y, name

    def check_structure(self, schema: Schema) -> None:
        check_structure(schema, self._table, self._y)

    def check_reachable(self) -> None:
        """Do nothing: the table is in this process."""

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        return find_problems(schema, self._table, self._y)

    def source(self, schema: Schema) -> MemorySource:
        return MemorySource(schema, self._table, self._y)

    def read_blocks(self, size: int) -> Iterator[Any]:
        frame = _make_frame(self._table, self._y)
        for low in range(0, max(len(frame), 1), size):
            yield frame.iloc[low : low + size]

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what the types say about each column. Looks at no row.

        The categories of a data frame are read off its rows, so they are not looked at.
        """
        return describe_frame(self._table, self._y)

    @property
    def held(self) -> tuple[object, object]:
        """The table and the labels beside it, for those who may see the rows."""
        return self._table, self._y

    def writable(self) -> bool:
        return False


@dataclass(frozen=True)
class Matrix:
    """The codes of the rows that count, one line per attribute, their classes, and whose they are
    (by number, where known).
    """

    codes: npt.NDArray[Any]
    classes: npt.NDArray[Any]
    person: npt.NDArray[np.intp] | None


class MemorySource:
    """Exact counts from codes. Rows are encoded at the first question: after its charge."""

    def __init__(self, schema: Schema, table: object, y: object = None) -> None:
        self._schema, self._table, self._y = schema, table, y
        self._scores = SnapshotScores()

    @cached_property
    def _matrix(self) -> Matrix:
        return _encode_matrix(self._schema, encode(self._schema, self._table, self._y, matrix=True))

    def count(self, question: Question) -> Tables:
        counting = Counting(question)
        counting.add(self._matrix.codes, self._matrix.classes, NO_WEIGHTS)
        return counting.tables()

    def rows(self) -> Iterator[WeightedRows]:
        codes, classes = self._matrix.codes, self._matrix.classes
        for low in range(0, len(classes), READ_BLOCK):
            yield (
                np.ascontiguousarray(codes[:, low : low + READ_BLOCK]),
                classes[low : low + READ_BLOCK],
                NO_WEIGHTS,
            )

    def sum_rows(self, sums: RowSums) -> Ints:
        """Return sums over all rows; within a snapshot, scores are kept for the next ones."""
        return self._scores.sum_rows(sums, self.rows())

    def parts(self, n_parts: int, key: bytes) -> list[MemoryPart]:
        return [MemoryPart(self, part, n_parts, key) for part in range(n_parts)]

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep what released trees say about the rows, which never change."""
        with self._scores.snapshot():
            yield


class MemoryPart(MemorySource):
    """One of several random parts of a source."""

    def __init__(self, whole: MemorySource, part: int, n_parts: int, key: bytes) -> None:
        super().__init__(whole._schema, None)
        self._whole, self._part, self._n_parts, self._key = whole, part, n_parts, key

    @cached_property
    def _matrix(self) -> Matrix:
        whole = self._whole._matrix
        # Each person (or row) has a number of its own in a stream that nobody knows.
        who = np.arange(len(whole.classes)) if whole.person is None else whole.person
        stream = hashlib.shake_256(self._key).digest(4 * (int(who.max()) + 1 if len(who) else 0))
        mine = np.flatnonzero(
            np.frombuffer(stream, dtype=np.uint32)[who] % self._n_parts == self._part
        )
        person = None if whole.person is None else whole.person[mine]
        # its lines stay contiguous
        return Matrix(np.take(whole.codes, mine, axis=1), whole.classes[mine], person)


def _encode_matrix(schema: Schema, encoded: Encoded) -> Matrix:
    assert encoded.classes is not None
    assert encoded.matrix is not None
    keep = encoded.known(schema)
    if encoded.person is not None:
        _keep_rows_of_each_person(encoded, keep, schema.rows_per_person)
    if keep.all():
        return Matrix(encoded.matrix, encoded.classes, encoded.person)
    codes = _compact(encoded.matrix, keep)
    return Matrix(
        codes, encoded.classes[keep], None if encoded.person is None else encoded.person[keep]
    )


def _compact(matrix: npt.NDArray[Any], keep: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return the columns to keep, moved to the front of the memory that the matrix has."""
    n_kept = int(np.count_nonzero(keep))
    flat = matrix.reshape(-1)
    for number, line in enumerate(matrix):
        # never beyond this line, so the next ones are still whole
        flat[number * n_kept : (number + 1) * n_kept] = line[keep]
    return flat[: len(matrix) * n_kept].reshape(len(matrix), n_kept)


def _keep_rows_of_each_person(encoded: Encoded, keep: npt.NDArray[np.bool_], most: int) -> None:
    """Keep at most this many rows of each person, chosen by that person's rows alone: the first in
    the order of their codes.
    """
    assert encoded.person is not None
    assert encoded.classes is not None
    n_rows = np.bincount(encoded.person[keep])
    many = np.flatnonzero(keep)
    # of most people all rows stay, and need not be sorted
    many = many[n_rows[encoded.person[many]] > most]
    person = encoded.person[many]
    order = np.lexsort(
        (encoded.classes[many], *(column[many] for column in reversed(encoded.codes)), person)
    )
    ordered = person[order]
    first = np.searchsorted(ordered, ordered, side="left")
    keep[many[order[np.arange(len(order)) - first >= most]]] = False


def _make_frame(table: Any, y: Any) -> Any:
    """Return a pandas DataFrame, with the labels in a column of their own name, or ``y``."""
    import pandas as pd

    if not isinstance(table, pd.DataFrame):
        table = table.to_pandas() if hasattr(table, "to_pandas") else pd.DataFrame(table)
    if y is None:
        return table
    name = getattr(y, "name", None)
    return table.assign(**{"y" if name is None else str(name): np.asarray(y)})
