"""Sum integers over rows in the executors: only sums come to the driver.

Executors that have Python and this version of Privet run the same compiled loops on their rows as
a curator does on a data frame. Encoded rows go to them packed, some thousands in one value, so that
Spark hands bytes over and not rows. Each partition gives a table; tables are cut into pieces, sent
to one place for each piece, and added up there. What the driver gets is one table, however many
rows and partitions there are.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import privet
from privet._parallel import limit_cores
from privet._types import Ints
from privet.domain import Schema
from privet.tables.counting.passes import NO_WEIGHTS

if TYPE_CHECKING:
    import pyarrow as pa

    from privet.tables.counting.row_sums import RowSums, ScoredRows

#: Rows in one value, and rows that are counted at a time.
PACKED, COUNTED = 1 << 12, 1 << 18
#: Numbers of a table that are sent together, and the most places to which they are sent.
PIECE, MOST_PLACES = 1 << 15, 16
#: Executors are asked in so many places whether they can sum.
_PROBES = 8

_ROWS, _PIECES = "rows BINARY", "piece INT, amounts BINARY"


def can_sum(session: Any) -> bool:
    """Return whether executors have Python with these loops. No row is looked at.

    Raises what Spark raises where they have not.
    """
    asked = session.range(0, _PROBES, 1, _PROBES).mapInArrow(_say_version, "version STRING")
    found = asked.toArrow().column(0).to_pylist()
    return bool(set(found) == {_find_version()})


def pack_rows(coded: Any, names: list[str], schema: Schema) -> Any:
    """Return a DataFrame of encoded rows, packed, from one of the columns of codes and classes."""
    largest = max(*schema.sizes, schema.n_classes)
    small = "TINYINT" if largest <= 1 << 7 else "SMALLINT" if largest <= 1 << 15 else "INT"
    columns = [f"CAST({name} AS {small}) AS {name}" for name in names]
    return coded.selectExpr(*columns).mapInArrow(_Packing(_code_type(schema)), _ROWS)


def sum_packed(packed: Any, schema: Schema, sums: RowSums) -> Ints:
    """Return the sums over packed rows."""
    total = sums.sum(iter(()))
    places = max(1, min(MOST_PLACES, -(-len(total) // PIECE)))
    parts = packed.mapInArrow(_PartSums(sums, len(schema.names), _code_type(schema)), _PIECES)
    added = parts.repartition(places, "piece").mapInArrow(_add_pieces, _PIECES)
    for piece, amounts in _read_pieces(added.toArrow().to_batches()):
        total[piece * PIECE :][: len(amounts)] += amounts
    return total


def _code_type(schema: Schema) -> str:
    largest = max(*schema.sizes, schema.n_classes)
    return "u1" if largest <= 1 << 8 else "u2" if largest <= 1 << 16 else "u4"


# -- in the executors ------------------------------------------------------------------------------


def _find_version() -> str:
    """Return what tells the loops of this installation from others."""
    from privet._numba import hash_sources

    return hash_sources(Path(privet.__file__).parent)


def _say_version(_: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"version": [_find_version()]})


class _Packing:
    """Pack rows of code columns into bytes: a line for each column."""

    def __init__(self, kind: str) -> None:
        self._kind = kind

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for batch in batches:
            lines = np.empty((batch.num_columns, batch.num_rows), dtype=self._kind)
            for line, column in zip(lines, batch.columns, strict=True):
                line[:] = column.to_numpy(zero_copy_only=False)
            packed = [lines[:, low : low + PACKED].tobytes() for low in range(0, len(line), PACKED)]
            yield pa.RecordBatch.from_pydict({"rows": pa.array(packed, pa.binary())})


class _PartSums:
    """Sum the packed rows of a partition, and cut the table into pieces."""

    def __init__(self, sums: RowSums, n_attributes: int, kind: str) -> None:
        self._sums, self._lines, self._kind = sums, n_attributes + 1, kind

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        limit_cores(1)  # the others have tasks of their own
        rows = self._score(batches)
        first = next(rows, None)
        if first is None:
            return
        table = self._sums.sum(itertools.chain([first], rows))
        for piece in range(-(-len(table) // PIECE)):
            yield _piece(piece, table[piece * PIECE : (piece + 1) * PIECE])

    def _score(self, batches: Iterable[pa.RecordBatch]) -> Iterator[ScoredRows]:
        for lines in self._unpack(batches):
            codes, classes = np.ascontiguousarray(lines[:-1]), lines[-1]
            yield codes, classes, NO_WEIGHTS, self._sums.scoring.scores(codes)

    def _unpack(self, batches: Iterable[pa.RecordBatch]) -> Iterator[npt.NDArray[Any]]:
        """Return rows in blocks that are worth a pass over the tables."""
        waiting: list[npt.NDArray[Any]] = []
        for batch in batches:
            for value in batch.column(0):
                lines = np.frombuffer(value.as_buffer(), dtype=self._kind)
                waiting.append(lines.reshape(self._lines, -1))
                if sum(part.shape[1] for part in waiting) >= COUNTED:
                    yield np.concatenate(waiting, axis=1)
                    waiting = []
        if waiting:
            yield np.concatenate(waiting, axis=1)


def _add_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Add up the pieces that came to one place."""
    added: dict[int, Ints] = {}
    for piece, amounts in _read_pieces(batches):
        if piece in added:
            added[piece] += amounts
        else:
            added[piece] = amounts.copy()
    for piece, amounts in added.items():
        yield _piece(piece, amounts)


def _piece(number: int, amounts: Ints) -> pa.RecordBatch:
    import pyarrow as pa

    columns = [pa.array([number], pa.int32()), pa.array([amounts.tobytes()], pa.binary())]
    return pa.RecordBatch.from_arrays(columns, names=["piece", "amounts"])


def _read_pieces(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int, Ints]]:
    for batch in batches:
        for piece, amounts in zip(*batch.columns, strict=True):
            yield piece.as_py(), np.frombuffer(amounts.as_buffer(), dtype=np.int64)
