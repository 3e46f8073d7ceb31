"""Splitting a table into two halves that only a key can join (Xiao and Tao 2006; Nergiz and Clifton
2011).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import OutsourceError, ParameterError
from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import CellText, people_cells
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.diversity import find_undiverse_value_groups
from privet.outsource.genuine import seal_anatomy
from privet.outsource.groups import draw_groups
from privet.outsource.halves import Halves, Identifiers, Values
from privet.outsource.sequence import SequenceEntry, place_of, seal_sequence
from privet.schema import Schema
from privet.schema.encode import encode
from privet.typed import Ints


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
    """What is drawn for rows: groups, sequence numbers, and which rows are for pruning."""

    gid: Ints
    seq: Ints
    pruning: npt.NDArray[np.bool_]

    @classmethod
    def draw(cls, anatomy: Anatomy, group: Ints) -> RowNumbers:
        """Fresh numbers for rows whose groups are numbered from 0."""
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
    """The halves of rows that have numbers. Their order says nothing."""
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
    """Raise unless no value has more than one l-th of its group: looked at before anything leaves
    the house.
    """
    if len(find_undiverse_value_groups(anatomy, gid, values)):
        raise OutsourceError(f"a group is not {anatomy.l}-diverse, so nothing is published")


def draw_fresh_numbers(count: int) -> Ints:
    """So many different random whole numbers of 63 bits."""
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
