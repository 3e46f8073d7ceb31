"""Rows that wait for a group, sealed as a whole at the server.

Groups are drawn in two steps. First the plan (who goes into which group, under which numbers) is sealed into the rows that wait, and all
of them are sealed anew in a new order: the server sees nothing. Only when it holds the plan are the groups published, and whoever
publishes, publishes that plan. If groups were drawn and published at once, an attempt that came too late would have shown one grouping,
and the next attempt another: in two groups of one person the common value is theirs.
"""

from __future__ import annotations

import json
import secrets
import struct
from dataclasses import dataclass, replace

import numpy as np

from privet.errors import SealError
from privet.outsource.cells import Cell
from privet.outsource.client.table import OutsourcedTable
from privet.outsource.split import Numbers

#: The cells of ``Anatomy.columns`` and the sensitive value.
Person = tuple[Cell, ...]
#: A row waits as a text of this many bytes, or a multiple: its length must not tell its value.
_STEP = 1024
_HEAD = struct.Struct(">B16sQQ")
_PLANNED, _PRUNING = 1, 2
_shuffler = secrets.SystemRandom()


@dataclass(frozen=True)
class Plan:
    """The numbers that a row will be published under."""

    gid: int
    seq: int
    pruning: bool


@dataclass(frozen=True)
class Waiting:
    """A row that waits. ``id`` stays with it however often it is sealed; ``number`` is the server's, None before it is there."""

    person: Person
    id: bytes
    plan: Plan | None = None
    number: int | None = None

    @classmethod
    def new(cls, person: Person) -> Waiting:
        """A row that comes."""
        return cls(person, secrets.token_bytes(16))

    def sealed(self, table: OutsourcedTable) -> bytes:
        """Its text, of the same length with a plan and without."""
        plan = self.plan or Plan(0, 0, False)
        flags = (_PLANNED if self.plan else 0) | (_PRUNING if plan.pruning else 0)
        text = _HEAD.pack(flags, self.id, plan.gid, plan.seq) + json.dumps(self.person, separators=(",", ":")).encode()
        return table.sealer.seal("pending", (), text.ljust(-(-len(text) // _STEP) * _STEP))


def waiting_rows(table: OutsourcedTable) -> list[Waiting]:
    """All rows that wait. :class:`SealError` if one is there twice, or not as it was sealed."""
    rows = [_opened(table, number, sealed) for number, sealed in table.pending()]
    table.holds(len(rows))
    if len({row.id for row in rows}) < len(rows):
        raise SealError
    return rows


def planned(rows: list[Waiting], group: np.ndarray, numbers: Numbers) -> list[Waiting]:
    """The rows in a new order, those with a group (-1: none) with a plan."""
    plans = iter(zip(numbers.gid.tolist(), numbers.seq.tolist(), numbers.pruning.tolist(), strict=True))
    fresh = [replace(row, plan=Plan(*next(plans)) if at >= 0 else None, number=None) for row, at in zip(rows, group.tolist(), strict=True)]
    _shuffler.shuffle(fresh)
    return fresh


def _opened(table: OutsourcedTable, number: int, sealed: bytes) -> Waiting:
    text = table.sealer.open("pending", (), sealed)
    flags, identity, gid, seq = _HEAD.unpack_from(text)
    person = tuple(json.loads(text[_HEAD.size :]))
    if len(person) != len(table.anatomy.columns) + 1:
        raise SealError
    return Waiting(person, identity, Plan(gid, seq, bool(flags & _PRUNING)) if flags & _PLANNED else None, number)
