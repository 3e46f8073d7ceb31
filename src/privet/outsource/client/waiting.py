"""Rows that wait for a group, sealed as a whole at the server.

Groups are drawn in two steps. First the plan (who goes into which group, under which numbers) is
sealed into the rows that wait, and all of them are sealed anew in a new order: the server sees
nothing. Only when it holds the plan are the groups published, and whoever publishes, publishes that
plan. If groups were drawn and published at once, an attempt that came too late would have shown one
grouping, and the next attempt another: in two groups of one person the common value is theirs.
"""

from __future__ import annotations

import json
import secrets
import struct
from collections import Counter
from dataclasses import dataclass, replace

import numpy as np

from privet.errors import SealError
from privet.outsource.cells import CellText
from privet.outsource.client.table import OutsourcedTable
from privet.outsource.split import RowNumbers
from privet.schema import Attribute, Categorical

#: The cells of ``Anatomy.columns`` and the sensitive value.
Person = tuple[CellText, ...]
#: A row waits as a text of this many bytes, or a multiple: its length must not tell its value.
_STEP = 1024
_HEAD = struct.Struct(">B16sQQI")
_PLANNED, _PRUNING = 1, 2
_NUMBER = 32  # of a number as text
_shuffler = secrets.SystemRandom()


@dataclass(frozen=True)
class PlannedRow:
    """The numbers that a row will be published under, and how many rows its group has: it is
    published whole or not at all.
    """

    gid: int
    seq: int
    pruning: bool
    size: int


@dataclass(frozen=True)
class Waiting:
    """A row that waits. ``id`` stays with it however often it is sealed; ``number`` is the
    server's, None before it is there.
    """

    person: Person
    id: bytes
    plan: PlannedRow | None = None
    number: int | None = None

    @classmethod
    def new(cls, person: Person) -> Waiting:
        """A row that comes."""
        return cls(person, secrets.token_bytes(16))

    def sealed(self, table: OutsourcedTable) -> bytes:
        """Its text, of the same length with a plan and without."""
        plan = self.plan or PlannedRow(0, 0, False, 0)
        flags = (_PLANNED if self.plan else 0) | (_PRUNING if plan.pruning else 0)
        text = _HEAD.pack(flags, self.id, plan.gid, plan.seq, plan.size) + _encode_json(self.person)
        # As long as if it held the longest value of all.
        length = (
            len(text)
            - len(_encode_json(self.person[-1]))
            + max(
                len(_encode_json(self.person[-1])),
                _longest_encoding(table.anatomy.sensitive_domain),
            )
        )
        return table.sealer.seal("pending", (), text.ljust(-(-length // _STEP) * _STEP))


def read_waiting_rows(table: OutsourcedTable) -> list[Waiting]:
    """All rows that wait. :class:`SealError` if one is there twice, or not as it was sealed."""
    rows = [_open_waiting_row(table, number, sealed) for number, sealed in table.pending()]
    table.holds(len(rows))
    if len({row.id for row in rows}) < len(rows):
        raise SealError
    return rows


def plan_rows(rows: list[Waiting], group: np.ndarray, numbers: RowNumbers) -> list[Waiting]:
    """The rows in a new order, those with a group (-1: none) with a plan."""
    sizes = Counter(numbers.gid.tolist())
    lines = zip(numbers.gid.tolist(), numbers.seq.tolist(), numbers.pruning.tolist(), strict=True)
    plans = iter([(gid, seq, mark, sizes[gid]) for gid, seq, mark in lines])
    fresh = [
        replace(row, plan=PlannedRow(*next(plans)) if at >= 0 else None, number=None)
        for row, at in zip(rows, group.tolist(), strict=True)
    ]
    _shuffler.shuffle(fresh)
    return fresh


def sample_rows(rows: list[Waiting], n_rows: int) -> list[Waiting]:
    """So many of the rows, drawn at random; all where there are no more."""
    return rows if len(rows) <= n_rows else _shuffler.sample(rows, n_rows)


def check_groups_complete(plans: list[PlannedRow]) -> None:
    """Raise unless every group is there as a whole: of a part of one, somebody could be told from
    their value.
    """
    there = Counter(plan.gid for plan in plans)
    if any(there[plan.gid] != plan.size for plan in plans):
        raise SealError


def _encode_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _longest_encoding(domain: Attribute) -> int:
    return (
        max(len(_encode_json(label)) for label in domain.labels)
        if isinstance(domain, Categorical)
        else _NUMBER
    )


def _open_waiting_row(table: OutsourcedTable, number: int, sealed: bytes) -> Waiting:
    text = table.sealer.open("pending", (), sealed)
    flags, identity, gid, seq, size = _HEAD.unpack_from(text)
    person = tuple(json.loads(text[_HEAD.size :]))
    if len(person) != len(table.anatomy.columns) + 1:
        raise SealError
    return Waiting(
        person,
        identity,
        PlannedRow(gid, seq, bool(flags & _PRUNING), size) if flags & _PLANNED else None,
        number,
    )
