"""Exact counts by DuckDB.

One statement answers a whole question: DuckDB reads the table and looks values up, and the codes
stream into the counting loops, which count a whole level or forest in one pass. Within a snapshot
the table is read once, and counted from the rows that were kept.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from privet.counts.base import Division
from privet.counts.counting import NO_WEIGHTS, Counting
from privet.counts.duckdb_codes import Reading, copy_codes, encode_duckdb_people, plan_readings
from privet.counts.duckdb_connection import execute, fetch_chunks
from privet.counts.kept import NOBODY, KeptRows, PeopleRows, keep_rows
from privet.errors import TableError
from privet.progress import is_watched, polled, tell
from privet.question import Question
from privet.schema import Schema
from privet.typed import Tables, WeightedRows

if TYPE_CHECKING:
    from privet.counts.duckdb import DuckDBTable

_CHUNK_BYTES = 1 << 22  # of codes that are taken at a time
_VECTOR_ROWS = 2048  # rows that DuckDB hands out together


class DuckDBSource:
    """Exact counts by DuckDB. Within a snapshot, the rows are encoded once and kept, and counted
    from there.
    """

    def __init__(self, table: DuckDBTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._snapshots = 0  # that are open, one in another
        self._kept: KeptRows | None = None
        self._divided: Division | None = None  # of this snapshot
        self._lock = threading.RLock()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep the encoded rows (:mod:`~privet.counts.kept`), so that all questions see the same
        rows.

        They are read by the first question, after its charge.
        """
        with self._lock:
            self._snapshots += 1
            try:
                yield
            finally:
                self._snapshots -= 1
                if self._snapshots == 0:
                    self._divided = None
                    if self._kept is not None:
                        self._kept.close()
                        self._kept = None

    def count(self, question: Question) -> Tables:
        counting = Counting(question)
        for rows in self.rows():
            counting.add(*rows)
        return counting.tables()

    def rows(self) -> Iterator[WeightedRows]:
        with self._lock:  # other threads wait until the snapshot of one has ended
            kept = self._rows if self._snapshots else None
        if kept is not None:
            yield from kept.blocks()
            return
        for codes, classes, _ in self._read("counting"):
            yield codes, classes, NO_WEIGHTS

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:
        """Parts of this snapshot. They are good until it ends or the rows are divided anew: who is
        in which part is then forgotten.
        """
        with self._lock:
            if not self._snapshots:
                raise TableError(
                    "a table is divided within a snapshot, so that everybody stays in one part"
                )
            self._divided = Division(n_parts, key)
            return [DuckDBPart(self, part, self._divided) for part in range(n_parts)]

    @property
    def _rows(self) -> KeptRows:
        """The rows of this snapshot."""
        with self._lock:
            if not self._snapshots:  # it ended while another thread waited for it
                raise TableError("the snapshot has ended")
            if self._kept is None:
                self._kept = keep_rows(self._schema, self._read("reading the table"))
            return self._kept

    def _read(self, what: str) -> Iterator[PeopleRows]:
        """The rows that count, block by block, in one statement; a number for each person where
        people are named.
        """
        named = self._schema.person is not None
        if named:
            statement, sql = encode_duckdb_people(self._table, self._schema)
            readings = [
                Reading(name, copy_codes) for name in (*self._schema.names, self._schema.target)
            ]
        else:
            statement, sql, readings = plan_readings(self._table, self._schema)
        sizes = np.array([*self._schema.sizes, self._schema.n_classes])
        codes_type = np.result_type(
            *(attribute.dtype for attribute in self._schema.attributes.values())
        )
        vectors = max(1, min(128, _CHUNK_BYTES // (_VECTOR_ROWS * len(sizes))))
        total, done = self._table.estimate_rows() if is_watched() else 0, 0
        with self._table.cursor() as cursor:
            with polled(what, lambda: cursor.query_progress() / 100):  # until the first rows come
                execute(cursor, sql, statement.parameters, self._table.name)
            for chunk in fetch_chunks(cursor, vectors, self._table.name):
                columns = [chunk[name] for name in chunk.columns]
                codes = np.empty((len(sizes) - 1, len(chunk)), dtype=codes_type)
                keep = np.ones(len(chunk), dtype=bool)
                for line, column, one, size in zip(codes, columns, readings, sizes, strict=False):
                    one.write(column, line)
                    keep &= line < size
                classes = np.empty(len(chunk), dtype=self._schema.label.dtype)
                readings[-1].write(columns[len(codes)], classes)
                keep &= classes < sizes[-1]
                who = columns[-1].to_numpy().astype(np.uint64) if named else NOBODY
                if not keep.all():
                    codes, classes, who = (
                        np.ascontiguousarray(codes[:, keep]),
                        classes[keep],
                        who[keep] if named else NOBODY,
                    )
                yield codes, classes, who
                done += len(chunk)
                tell(what, done / total if total else None)


class DuckDBPart(DuckDBSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: DuckDBSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    def rows(self) -> Iterator[WeightedRows]:
        # In another snapshot, or divided otherwise, somebody could be in two parts that were paid
        # for once.
        with self._whole._lock:
            if self._whole._divided is not self._division:
                raise TableError(
                    "this part of the table is gone: its snapshot has ended, or the table was "
                    "divided anew"
                )
            rows = self._whole._rows
        yield from rows.part(self._division, self._part)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # that of the whole

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")
