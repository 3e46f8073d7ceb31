"""Split a table into two halves that only a key can join.

The method is that of Xiao and Tao 2006 and Nergiz and Clifton 2011. Groups are random and
l-diverse. Only the sensitive values decide which rows may share a group, never what identifies
people; within a value, which row goes where is drawn uniformly. So for an adversary who holds the
sensitive values to be independent of what identifies people, every matching of a group's rows with
its values is equally likely (the paper's simple l-diverse distribution), and nobody's value has
more than probability 1/l. Whoever knows of a dependence learns more: that is the deFinetti attack.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet._validate import check_integer
from privet.domain import Schema
from privet.domain.encode.rows import encode
from privet.errors import OutsourceError, ParameterError
from privet.outsource.anatomy import Anatomy, CellText, find_undiverse_value_groups, people_cells
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import SequenceEntry, place_of, seal_anatomy, seal_sequence
from privet.outsource.files import Halves, Identifiers, Values


@dataclass(frozen=True, eq=False)
class SplitTable:
    """The halves, and the rows of the table (from 0) that are in neither."""

    halves: Halves
    unfit: npt.NDArray[np.intp]
    unplaced: npt.NDArray[np.intp]

    @property
    def withheld(self) -> npt.NDArray[np.intp]:
        """All rows that were held back, in order."""
        return np.sort(np.concatenate([self.unfit, self.unplaced]))


def split(
    table: Any,
    schema: Schema,
    sensitive: str,
    l: int,  # noqa: E741
    ring: KeyRing,
    *,
    pruning: float = 0.2,
) -> SplitTable:
    """Split a data frame.

    Not differential privacy: whoever holds both halves knows every person's group, and by
    correlation often more.

    Args:
        table: a pandas DataFrame with the schema's columns; others are left out.
        schema: the public schema. A row with an entry that does not fit it is held back.
        sensitive: the attribute to hide.
        l: no sensitive value (bin, for numbers) has more than one l-th of a group. Rows that cannot
            be placed are held back.
        ring: the client's keys.
        pruning: the share of rows to mark for pruning, each with this probability.
    """
    anatomy = Anatomy(secrets.token_hex(16), l, sensitive, schema, pruning)
    check_people(table, schema)
    encoded = encode(schema, table)
    fit = np.flatnonzero(encoded.known(schema))
    codes = np.asarray(encoded.codes[schema.index(sensitive)], dtype=np.int64)[fit]
    grouping = draw_groups(codes, l)
    placed = fit[grouping.group >= 0]
    if not len(placed):
        raise OutsourceError(
            f"not one group of {l} different values of {sensitive!r} can be made of the {len(fit)} "
            "rows that fit the schema"
        )
    unplaced = fit[grouping.withheld]
    group = grouping.group[grouping.group >= 0]
    *columns, values = people_cells(table.iloc[placed], anatomy)
    numbers = RowNumbers.draw(anatomy, group)
    check_diverse(anatomy, numbers.gid, values)
    halves = seal_halves(anatomy, Sealer(ring, anatomy.id), columns, values, numbers)
    return SplitTable(halves, np.setdiff1d(np.arange(len(table)), fit), unplaced)


@dataclass(frozen=True, eq=False)
class RowNumbers:
    """The numbers drawn for rows: groups, sequence numbers, and which rows are for pruning."""

    gid: Ints
    seq: Ints
    pruning: npt.NDArray[np.bool_]

    @classmethod
    def draw(cls, anatomy: Anatomy, group: Ints) -> RowNumbers:
        """Draw fresh numbers for rows whose groups are numbered from 0."""
        n_rows = len(group)
        marks = [secrets.randbelow(1 << 30) < anatomy.pruning * (1 << 30) for _ in range(n_rows)]
        return cls(
            draw_fresh_numbers(int(group.max(initial=-1)) + 1)[group],
            draw_fresh_numbers(n_rows),
            np.array(marks, dtype=bool),
        )


def seal_halves(
    anatomy: Anatomy,
    sealer: Sealer,
    columns: list[list[CellText]],
    values: list[CellText],
    numbers: RowNumbers,
) -> Halves:
    """Make the halves of rows that have numbers.

    Their order says nothing.
    """
    n_rows = len(values)
    seqs, gids, marks = numbers.seq, numbers.gid, numbers.pruning
    entries: dict[int, list[SequenceEntry]] = {}
    for seq, gid, value in zip(seqs.tolist(), gids.tolist(), values, strict=True):
        entries.setdefault(gid, []).append((seq, value))
    rows = zip(
        seqs.tolist(), gids.tolist(), marks.tolist(), zip(*columns, strict=True), strict=True
    )
    eseqs = [
        seal_sequence(sealer, seq, place_of(gid, mark, cells, entries[gid]))
        for seq, gid, mark, cells in rows
    ]
    # Sealed and sequence numbers are random, so these two orders have nothing to do with each other
    # or with the table's.
    by_eseq = sorted(range(n_rows), key=eseqs.__getitem__)
    by_seq = np.argsort(seqs)
    identifiers = Identifiers(
        [[column[i] for i in by_eseq] for column in columns],
        marks[by_eseq],
        gids[by_eseq],
        [eseqs[i] for i in by_eseq],
    )
    values_by_seq = Values(seqs[by_seq], gids[by_seq], [values[i] for i in by_seq.tolist()])
    return Halves(anatomy, identifiers, values_by_seq, seal_anatomy(sealer, anatomy))


def check_diverse(anatomy: Anatomy, gid: Ints, values: list[CellText]) -> None:
    """Raise unless no value has more than one l-th of its group.

    This is checked before anything leaves the owner.
    """
    if len(find_undiverse_value_groups(anatomy, gid, values)):
        raise OutsourceError(f"a group is not {anatomy.l}-diverse, so nothing is published")


def draw_fresh_numbers(count: int) -> Ints:
    """Draw so many different random integers of 63 bits."""
    while True:
        drawn = np.frombuffer(secrets.token_bytes(8 * count), dtype=np.uint64) >> np.uint64(1)
        if len(np.unique(drawn)) == count:
            return drawn.astype(np.int64)


def check_people(table: Any, schema: Schema) -> None:
    """Raise if somebody has two rows, where the schema names the person."""
    if schema.person is None:
        return
    if schema.person not in table.columns:
        raise ParameterError(
            f"the table has no column {schema.person!r}, which the schema names as the person"
        )
    repeated = table[schema.person].duplicated(keep=False) & table[schema.person].notna()
    if repeated.any():
        row = int(np.flatnonzero(repeated)[0])
        raise ParameterError(
            f"every person must have one row, but the person of row {row + 1} has several: two of "
            "them in one group would point at their common value"
        )


# Random l-diverse groups. Only the sensitive values decide which rows may share one.

_shuffler = secrets.SystemRandom()


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each row, numbered from 0 in no order; -1 for a row that cannot be placed."""

    group: npt.NDArray[np.int64]
    n_groups: int

    @property
    def withheld(self) -> npt.NDArray[np.intp]:
        """The rows without a group."""
        return np.flatnonzero(self.group < 0)


def draw_groups(values: npt.NDArray[np.integer], l: int) -> Grouping:  # noqa: E741
    """Draw groups in which no value stands twice, nearly all of exactly ``l`` rows.

    As many rows are placed as any l-diverse grouping can place: with g groups a value has room for
    g rows, and g is the largest number for which ``sum_v min(n_v, g) >= l g``. Which rows of a
    value that is too frequent are left out is drawn uniformly. Groups are filled one after the
    other with values drawn in proportion to the rows left of them; a value with as many rows left
    as there are groups must be in each of them.

    Args:
        values: the sensitive code of each row.
        l: how many values a group has at least.
    """
    check_integer("l", l, 2)
    group = np.full(len(values), -1, dtype=np.int64)
    codes, counts = np.unique(np.asarray(values), return_counts=True)
    n_groups = _most_groups(counts, l)
    if n_groups == 0:
        return Grouping(group, 0)
    waiting = [_shuffle_rows(np.flatnonzero(values == code))[:n_groups] for code in codes]
    left = [len(rows) for rows in waiting]
    numbers = _shuffle_rows(np.arange(n_groups))
    for done, number in enumerate(numbers):
        for value in _draw_group_values(left, n_groups - done, l):
            left[value] -= 1
            group[waiting[value][left[value]]] = number
    return Grouping(group, n_groups)


def _most_groups(counts: npt.NDArray[np.integer], l: int) -> int:  # noqa: E741
    """The largest g with sum_v min(n_v, g) >= l g. The left side grows slower and slower, so this
    holds up to some g.
    """
    low, high = 0, int(counts.sum()) // l
    while low < high:
        g = (low + high + 1) // 2
        low, high = (g, high) if int(np.minimum(counts, g).sum()) >= l * g else (low, g - 1)
    return low


def _draw_group_values(left: list[int], groups: int, l: int) -> list[int]:  # noqa: E741
    """The values of the next of so many groups."""
    chosen = [value for value, n in enumerate(left) if n == groups]
    if len(chosen) >= l:
        return chosen
    open_ = {value: n for value, n in enumerate(left) if 0 < n < groups}
    total = sum(open_.values())
    while len(chosen) < l:
        value = _pick_weighted(open_, secrets.randbelow(total))
        chosen.append(value)
        total -= open_.pop(value)
    return chosen


def _pick_weighted(weights: dict[int, int], at: int) -> int:
    for value, weight in weights.items():
        at -= weight
        if at < 0:
            return value
    raise AssertionError("a place beyond all weights")


def _shuffle_rows(rows: npt.NDArray[np.integer]) -> list[int]:
    listed: list[int] = rows.tolist()
    _shuffler.shuffle(listed)
    return listed
