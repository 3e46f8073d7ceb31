"""Keep encoded rows in a file without a name: a snapshot that need not fit into memory.

The file lies in the folder for temporary files (``TMPDIR``). It has no name from the start, so that
nothing is left of it, whatever ends the process. Blocks are read back one at a time, in the form
that the counting loops take.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._progress import tell
from privet._types import WeightedRows
from privet.domain import Schema
from privet.errors import TableError
from privet.tables.base import Division
from privet.tables.counting.passes import NO_WEIGHTS

#: Codes, classes, and what tells people apart: a number per row, or nothing where people are not
#: named.
PeopleRows = tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.uint64]]
NOBODY = np.empty(0, dtype=np.uint64)
_MAX_POINTS = 1 << 18  # of a domain: equal rows of it are kept once, with how many they are
_BLOCK_ROWS = 1 << 18
_GROUP_ROWS_PER_CHUNK = 1 << 22  # rows of a group that are divided at a time


@dataclass(frozen=True)
class _Block:
    start: int
    rows: int
    weighted: bool
    named: bool


class KeptRows:
    """Blocks of encoded rows, each with how often its rows stand for (or once), and whose they are
    (where people are named).
    """

    def __init__(self, schema: Schema) -> None:
        self._lines = len(schema.names)
        self._codes = np.result_type(*(attribute.dtype for attribute in schema.attributes.values()))
        self._classes = schema.label.dtype
        self._blocks: list[_Block] = []
        self._end = 0
        self._lock = threading.Lock()
        # - closed by close()
        self._file = tempfile.TemporaryFile(prefix="privet-", buffering=0)  # noqa: SIM115

    def close(self) -> None:
        """Forget the rows."""
        self._file.close()

    def add(
        self,
        codes: npt.NDArray[Any],
        classes: npt.NDArray[Any],
        weights: npt.NDArray[np.int64],
        who: npt.NDArray[np.uint64],
    ) -> None:
        """Keep one more block."""
        block = _Block(self._end, len(classes), len(weights) > 0, len(who) > 0)
        for array, kind in (
            (codes, self._codes),
            (classes, self._classes),
            (weights, np.int64),
            (who, np.uint64),
        ):
            self._write(np.ascontiguousarray(array, dtype=kind))
        self._blocks.append(block)

    def _write(self, array: npt.NDArray[Any]) -> None:
        data = _bytes_of(array)
        try:
            while len(data):
                written = self._file.write(data)
                self._end, data = self._end + written, data[written:]
        except OSError as error:
            problem = error.strerror
        else:
            return
        raise TableError(
            f"the encoded rows could not be kept in {tempfile.gettempdir()} ({problem}); "
            "make room there, or name another folder in the environment variable TMPDIR"
        )

    def blocks(self) -> Iterator[WeightedRows]:
        """Return all rows, block by block."""
        for number, block in enumerate(self._blocks):
            codes, classes, weights, _ = self._read(block)
            yield codes, classes, weights
            tell("counting", (number + 1) / len(self._blocks))

    def part(self, division: Division, part: int) -> Iterator[WeightedRows]:
        """Return the rows of one part.

        Everybody's part depends on the key and, where people are named, on who they are alone.
        """
        tables = _make_hash_tables(division.key)
        for number, block in enumerate(self._blocks):
            codes, classes, weights, who = self._read(block)
            if block.weighted:
                assert not block.named
                taken = _share_of_groups(weights, division, number, part)
                mine = np.flatnonzero(taken)
                yield np.ascontiguousarray(codes[:, mine]), classes[mine], taken[mine]
                continue
            drawn = (
                _hash_people(tables, who)
                if block.named
                else _draw_keyed_words(division.key, (number,), block.rows)
            )
            mine = np.flatnonzero(drawn % np.uint64(division.n_parts) == part)
            yield np.ascontiguousarray(codes[:, mine]), classes[mine], NO_WEIGHTS

    def _read(
        self, block: _Block
    ) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
        n, at = block.rows, block.start

        def take(count: int, kind: Any) -> npt.NDArray[Any]:
            nonlocal at
            array = np.empty(count, dtype=kind)
            data = _bytes_of(array)
            with self._lock:
                if self._file.closed:  # by the end of its snapshot
                    raise TableError("the snapshot has ended, and its rows are forgotten")
                self._file.seek(at)
                while len(data):
                    read = self._file.readinto(data)
                    if not read:
                        raise TableError(
                            "the file of the encoded rows is shorter than what was written"
                        )
                    at, data = at + read, data[read:]
            return array

        codes = take(self._lines * n, self._codes).reshape(self._lines, n)
        classes = take(n, self._classes)
        weights = take(n, np.int64) if block.weighted else NO_WEIGHTS
        return codes, classes, weights, take(n, np.uint64) if block.named else NOBODY


def keep_rows(schema: Schema, blocks: Iterable[PeopleRows]) -> KeptRows:
    """Keep these rows; those of a small domain as counts of its points, which may be far fewer."""
    kept = KeptRows(schema)
    try:
        if schema.person is None and math.prod(schema.sizes) * schema.n_classes <= _MAX_POINTS:
            kept.add(*_count_points(schema, blocks), NOBODY)
        else:
            for codes, classes, who in blocks:
                kept.add(codes, classes, NO_WEIGHTS, who)
    except BaseException:
        kept.close()
        raise
    return kept


def keep_groups(schema: Schema, groups: Iterable[WeightedRows]) -> KeptRows:
    """Keep groups of equal rows, in blocks that are worth a pass over many tables."""
    kept = KeptRows(schema)
    waiting: list[WeightedRows] = []

    def keep() -> None:
        codes, classes, weights = zip(*waiting, strict=True)
        kept.add(
            np.concatenate(codes, axis=1), np.concatenate(classes), np.concatenate(weights), NOBODY
        )
        waiting.clear()

    try:
        for group in groups:
            waiting.append(group)
            if sum(len(classes) for _, classes, _ in waiting) >= _BLOCK_ROWS:
                keep()
        if waiting:
            keep()
    except BaseException:
        kept.close()
        raise
    return kept


def _count_points(schema: Schema, blocks: Iterable[PeopleRows]) -> WeightedRows:
    """Return the points of the domain that occur, and how often each does."""
    shape = (*schema.sizes, schema.n_classes)
    times = np.zeros(math.prod(shape), dtype=np.int64)
    for codes, classes, _ in blocks:
        times += np.bincount(np.ravel_multi_index((*codes, classes), shape), minlength=len(times))
    occurring = np.flatnonzero(times)
    points = np.unravel_index(occurring, shape)
    return np.array(points[:-1]), points[-1], times[occurring]


def _bytes_of(array: npt.NDArray[Any]) -> memoryview:
    flat: Any = array.reshape(-1).view(np.uint8)
    return memoryview(flat)


def _draw_keyed_words(key: bytes, place: tuple[int, ...], n: int) -> npt.NDArray[np.uint64]:
    """Return numbers that nobody knows without the key, others for every place."""
    label = b"".join(number.to_bytes(8, "big") for number in place)
    return np.frombuffer(hashlib.shake_256(key + label).digest(8 * n), dtype=np.uint64)


def _make_hash_tables(key: bytes) -> npt.NDArray[np.uint64]:
    """Return a secret table for each of the four pieces of a number of 64 bits."""
    return _draw_keyed_words(key, (), 4 << 16).reshape(4, 1 << 16)


def _hash_people(
    tables: npt.NDArray[np.uint64], who: npt.NDArray[np.uint64]
) -> npt.NDArray[np.uint64]:
    """Return a number per person, the same wherever they occur (tabulation hashing: Zobrist 1970;
    Patrascu and Thorup 2012).
    """
    pieces = who.view(np.uint16).reshape(-1, 4)
    drawn: npt.NDArray[np.uint64] = tables[0][pieces[:, 0]]
    for i in range(1, 4):
        drawn ^= tables[i][pieces[:, i]]
    return drawn


def _share_of_groups(
    weights: npt.NDArray[np.int64], division: Division, block: int, part: int
) -> npt.NDArray[np.int64]:
    """Return how many rows of each group of equal rows are in a part, if every row is drawn for
    itself.
    """
    ends = np.cumsum(weights)
    taken = np.zeros(len(weights), dtype=np.int64)
    for chunk, start in enumerate(range(0, int(ends[-1]), _GROUP_ROWS_PER_CHUNK)):
        rows = np.arange(start, min(start + _GROUP_ROWS_PER_CHUNK, int(ends[-1])))
        drawn = _draw_keyed_words(division.key, (block, chunk), len(rows))
        mine = rows[drawn % np.uint64(division.n_parts) == part]
        taken += np.bincount(np.searchsorted(ends, mine, side="right"), minlength=len(weights))
    return taken
