"""Arrange groups as an adversary sees them: rows, values, and every possible pair of the two.

A candidate is a row with a value that its group holds; equal values of a group are one candidate.
Groups with as many rows and with the same numbers of equal values lie side by side in one block, so
that they are worked on together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.domain import Schema
from privet.errors import ParameterError


@dataclass(frozen=True, eq=False)
class Block:
    """Groups of one shape: ``n_rows`` rows each, and distinct values with their ``counts``.

    The most frequent value comes first.
    """

    n_groups: int
    n_rows: int
    counts: tuple[int, ...]
    start: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Groups, rows of a group, distinct values of a group."""
        return self.n_groups, self.n_rows, len(self.counts)

    @property
    def stop(self) -> int:
        """One past its last candidate."""
        return self.start + self.n_groups * self.n_rows * len(self.counts)

    def of(self, candidates: Floats) -> Floats:
        """Return the part of a column of candidates that is this block: by group, row and value."""
        return candidates[self.start : self.stop].reshape(self.shape)


@dataclass(frozen=True, eq=False)
class CandidateGroups:
    """All candidates of a split, block after block.

    Args:
        n_rows: how many rows the identifier table has.
        n_groups: how many groups have a row.
        n_values: the size of the sensitive domain.
        blocks: groups of one shape each.
        row, value: of each candidate.
        frequency: the share of the value in the group of the candidate: what is known without any
            attack.
        group: the number of the group of each row, from 0 on.
        entries: how many entries of each value there are in groups that have a row.
        l: the largest whole number such that no value has more than one l-th of the entries of any
            group.
        alike: sets of values that stand equally often in every group. Swapping their names changes
            nothing that an adversary sees, so the two tables alone cannot tell which of them is
            which.
    """

    n_rows: int
    n_groups: int
    n_values: int
    blocks: tuple[Block, ...]
    row: Ints
    value: Ints
    frequency: Floats
    group: Ints
    entries: Ints
    l: int  # noqa: E741 - its name everywhere
    alike: tuple[tuple[int, ...], ...]

    def __iter__(self) -> Iterator[Block]:
        return iter(self.blocks)


def make_groups(
    row_gid: npt.ArrayLike, st_values: npt.ArrayLike, st_gid: npt.ArrayLike, n_values: int
) -> CandidateGroups:
    """Make the candidates of a split.

    They come from the group of each row and the group and value of each sensitive entry.
    """
    rows, values, entries = (
        _read_integers(name, given)
        for name, given in (("row_gid", row_gid), ("st_values", st_values), ("st_gid", st_gid))
    )
    if not len(rows):
        raise ParameterError("attack: row_gid must have at least one row")
    if len(values) != len(entries):
        raise ParameterError(
            f"attack: st_values and st_gid must be equally long, got {len(values)} and "
            f"{len(entries)}"
        )
    if len(values) and not 0 <= values.min() <= values.max() < n_values:
        raise ParameterError(f"attack: st_values must be codes from 0 to below {n_values}")
    numbers, group = np.unique(rows, return_inverse=True)
    place = np.minimum(np.searchsorted(numbers, entries), len(numbers) - 1)
    used = numbers[place] == entries  # a group that lost all its rows tells nothing about anybody
    pair, count = np.unique(place[used] * n_values + values[used], return_counts=True)
    of, value = np.divmod(pair, n_values)
    n_entries, distinct = (
        np.bincount(place[used], minlength=len(numbers)),
        np.bincount(of, minlength=len(numbers)),
    )
    size = np.bincount(group)
    if (n_entries < size).any():
        raise ParameterError(
            "attack: every group must have at least as many sensitive entries as rows"
        )
    order = np.lexsort((value, -count, of))
    value, count = value[order], count[order]
    most = np.maximum.reduceat(count, np.cumsum(distinct) - distinct)
    blocks, row_parts, value_parts, frequency_parts, start = [], [], [], [], 0
    by_group, first_row, first_value = (
        np.argsort(group, kind="stable"),
        np.cumsum(size) - size,
        np.cumsum(distinct) - distinct,
    )
    for members, counts in _group_by_shape(size, distinct, first_value, count):
        k, d = int(size[members[0]]), len(counts)
        block = Block(len(members), k, counts, start)
        start = block.stop
        blocks.append(block)
        mine = by_group[first_row[members][:, None] + np.arange(k)]
        theirs = value[first_value[members][:, None] + np.arange(d)]
        row_parts.append(np.broadcast_to(mine[:, :, None], block.shape).ravel())
        value_parts.append(np.broadcast_to(theirs[:, None, :], block.shape).ravel())
        frequency_parts.append(np.broadcast_to(np.array(counts) / sum(counts), block.shape).ravel())
    return CandidateGroups(
        n_rows=len(rows),
        n_groups=len(numbers),
        n_values=n_values,
        blocks=tuple(blocks),
        row=np.concatenate(row_parts),
        value=np.concatenate(value_parts),
        frequency=np.concatenate(frequency_parts),
        group=group.astype(np.int64),
        entries=np.bincount(value, weights=count, minlength=n_values).astype(np.int64),
        l=int((n_entries // most).min()),
        alike=_find_alike_values(of[order], value, count, n_values),
    )


def mix_bits(number: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble 64-bit numbers publicly (the finalizer of SplitMix64).

    No secret, and the same everywhere.
    """
    number = number + np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


def _find_alike_values(
    group: Ints, value: Ints, count: Ints, n_values: int
) -> tuple[tuple[int, ...], ...]:
    """Values with the same column of counts: told by a sum of scrambled group numbers."""
    sums = np.zeros(n_values, dtype=np.uint64)
    np.add.at(sums, value, mix_bits(group.astype(np.uint64)) * count.astype(np.uint64))
    present = np.unique(value)
    sets = [present[sums[present] == key].tolist() for key in np.unique(sums[present])]
    return tuple(sorted(tuple(members) for members in sets if len(members) > 1))


def _group_by_shape(
    size: Ints, distinct: Ints, first: Ints, count: Ints
) -> Iterator[tuple[Ints, tuple[int, ...]]]:
    """The groups of each shape, and its counts."""
    for k, d in np.unique(np.stack([size, distinct], axis=1), axis=0).tolist():
        members = np.flatnonzero((size == k) & (distinct == d))
        shapes, which = np.unique(
            count[first[members][:, None] + np.arange(d)], axis=0, return_inverse=True
        )
        for number, counts in enumerate(shapes.tolist()):
            yield members[which.ravel() == number], tuple(counts)


def _read_integers(name: str, given: npt.ArrayLike) -> Ints:
    column = np.asarray(given)
    if column.ndim != 1 or (len(column) and column.dtype.kind not in "iu"):
        raise ParameterError(f"attack: {name} must be one column of integers")
    return column.astype(np.int64)


# The identifier table as columns of codes, the class among them: all that is known about a person.


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns of codes and the size of each domain.

    A code that is not in the domain is one more value: it is seen, too.
    """

    columns: tuple[npt.NDArray[Any], ...]
    sizes: tuple[int, ...]

    @property
    def n_rows(self) -> int:
        """How many rows."""
        return len(self.columns[0])


def make_table(
    schema: Schema, codes: Sequence[npt.ArrayLike], classes: npt.ArrayLike
) -> CodedTable:
    """Return all columns that identify people, checked against the public schema."""
    if len(codes) != len(schema.attributes):
        raise ParameterError(
            f"attack: codes must have a column for each of {len(schema.attributes)} attributes, "
            f"got {len(codes)}"
        )
    columns: list[npt.NDArray[Any]] = []
    sizes: list[int] = []
    for name, size, given in zip(
        (*schema.names, schema.target),
        (*schema.sizes, schema.n_classes),
        (*codes, classes),
        strict=True,
    ):
        column = np.asarray(given)
        if column.ndim != 1 or (len(column) and column.dtype.kind not in "iu"):
            raise ParameterError(f"attack: column {name!r} must be one column of integers")
        if columns and len(column) != len(columns[0]):
            raise ParameterError(f"attack: column {name!r} must be as long as the others")
        if len(column) and not 0 <= column.min() <= column.max() <= size:
            raise ParameterError(f"attack: column {name!r} must hold codes from 0 to {size}")
        columns.append(column)
        sizes.append(size + int((column == size).any()))
    return CodedTable(tuple(columns), tuple(sizes))
