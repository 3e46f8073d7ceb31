"""Insert and delete people, so that groups stay l-diverse (Nergiz, Clifton and Malluhi 2013).

A new row waits at the server, sealed as a whole, until enough rows wait to make groups of. A
deleted row leaves its sensitive value behind, so that the others of its group stay as hidden as
they were.

When groups are made must not depend on the values that wait: a server that sees two rows wait
although two would make a group knows that their values are the same. So groups are made when so
many rows wait, whatever they hold, and all that still wait are sealed anew. That some remain says
that the most frequent value is among them; docs/concepts/outsource.md says what follows.

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
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from privet._validate import check_integer
from privet.domain import Attribute
from privet.domain.encode.rows import encode
from privet.errors import ParameterError, SchemaError, SealError
from privet.outsource.anatomy import CellText, codes_of, people_cells
from privet.outsource.cipher.sealing import open_true_entry
from privet.outsource.client.replies import encode_base64
from privet.outsource.client.table import OutsourcedTable, retry_step
from privet.outsource.files import Halves
from privet.outsource.split import RowNumbers, check_diverse, check_people, draw_groups, seal_halves

_SENT_AT_ONCE = 5000


@dataclass(frozen=True)
class Flushed:
    """How many rows got a group, in how many groups, and how many still wait.

    ``unreadable`` texts wait, too, that no key opens: somebody without the key has put them there,
    or the server has changed them.
    """

    placed: int
    groups: int
    waiting: int
    unreadable: int = 0


def default_batch(l: int) -> int:  # noqa: E741
    """Return how many rows wait before groups are made."""
    return 20 * l


def insert(table: OutsourcedTable, frame: Any, batch: int | None = None) -> Flushed:
    """Add rows, and make groups where ``batch`` or more wait.

    Every row must fit the schema; otherwise none is added.
    """
    batch = check_integer("batch", default_batch(table.anatomy.l) if batch is None else batch, 1)
    people = _read_people(table, frame)
    _check_fit(table, frame)
    check_people(frame, table.anatomy.schema)
    _check_newcomers(table, people)
    for start in range(0, len(people), _SENT_AT_ONCE):
        coming = [Waiting.new(person) for person in people[start : start + _SENT_AT_ONCE]]
        table.change_any(pending=[encode_base64(row.sealed(table)) for row in coming])
    waiting = read_waiting_rows(table)  # not a number that the server says
    if len(waiting.rows) >= batch:
        return flush(table)
    return Flushed(0, 0, len(waiting.rows), len(waiting.unreadable))


def flush(table: OutsourcedTable, *, drop_unreadable: bool = False) -> Flushed:
    """Make groups of the rows that wait, as many as can be made.

    A plan that was made before is published first. What cannot be opened is left where it is, or
    removed where that is asked for: it must not keep the rows of others from getting a group. To
    pass over it gives a server no more than it has, as it could leave those texts out.
    """
    if drop_unreadable and (junk := read_waiting_rows(table).unreadable):
        table.change_any(remove_pending=junk)
    done = _publish(table)
    for _ in range(-(-done.waiting // _SENT_AT_ONCE)):  # many rows are planned some at a time
        retry_step(lambda: _draw_plan(table))
        drawn = _publish(table)
        done = replace(drawn, placed=done.placed + drawn.placed, groups=done.groups + drawn.groups)
    return done


def _draw_plan(table: OutsourcedTable) -> None:
    """Draw groups for the rows that wait, and leave the plan with them: all are sealed anew, so
    that the server sees nothing of it.
    """
    version = table.about()["version"]
    rows = read_waiting_rows(table).rows
    if not rows or any(row.plan is not None for row in rows):
        return  # another client has drawn meanwhile
    rows = sample_rows(rows, _SENT_AT_ONCE)
    _check_newcomers(table, [row.person for row in rows], waiting=False)
    grouping = draw_groups(
        codes_of(table.anatomy.sensitive_domain, [row.person[-1] for row in rows]), table.anatomy.l
    )
    numbers = RowNumbers.draw(table.anatomy, grouping.group[grouping.group >= 0])
    sealed = [encode_base64(row.sealed(table)) for row in plan_rows(rows, grouping.group, numbers)]
    table.change(version, remove_pending=list_numbers(rows), pending=sealed)


def _publish(table: OutsourcedTable) -> Flushed:
    """Publish the plan that lies with the rows that wait, whoever drew it."""
    return retry_step(lambda: _publish_once(table))


def _publish_once(table: OutsourcedTable) -> Flushed:
    version = table.about()["version"]
    waiting = read_waiting_rows(table)
    rows = waiting.rows
    ready = [(row, row.plan) for row in rows if row.plan is not None]
    if not ready:
        return Flushed(0, 0, len(rows), len(waiting.unreadable))
    check_groups_complete([plan for _, plan in ready])
    *columns, values = (
        [row.person[c] for row, _ in ready] for c in range(len(table.anatomy.columns) + 1)
    )
    numbers = RowNumbers(
        np.array([plan.gid for _, plan in ready], dtype=np.int64),
        np.array([plan.seq for _, plan in ready], dtype=np.int64),
        np.array([plan.pruning for _, plan in ready], dtype=bool),
    )
    check_diverse(table.anatomy, numbers.gid, values)
    halves = seal_halves(table.anatomy, table.sealer, columns, values, numbers)
    published = list_numbers([row for row, _ in ready])
    table.change(version, remove_pending=published, **_new_rows_to(halves))
    n_groups = len(set(numbers.gid.tolist()))
    return Flushed(len(ready), n_groups, len(rows) - len(ready), len(waiting.unreadable))


def delete(table: OutsourcedTable, frame: Any) -> int:
    """Delete rows, each given in full.

    Reads the whole table once; removes all of them or, where one is not there, none.
    """
    _publish(table)  # a row with a plan is missed by the others of its group
    wanted = Counter(_read_people(table, frame))
    n_wanted = wanted.total()
    identifying = {person[:-1] for person in wanted}
    version = table.about()["version"]
    rows: list[int] = []
    for page in table.rows():
        table.holds(len(page.rows) + n_wanted)
        for row in page.rows:
            if tuple(row.cells) not in identifying:
                continue
            _, value = open_true_entry(table.sealer, row.eseq, row.place)
            if wanted[person := (*row.cells, value)] > 0:
                wanted[person] -= 1
                rows.append(row.row)
    waiting: list[Waiting] = []
    if wanted.total():
        for waits in read_waiting_rows(table).rows:
            if wanted[waits.person] > 0:
                wanted[waits.person] -= 1
                waiting.append(waits)
    if wanted.total():
        raise ParameterError(
            f"{wanted.total()} of the {n_wanted} rows are not in the table, so none is deleted"
        )
    table.change(version, remove_rows=rows, remove_pending=list_numbers(waiting))
    return n_wanted


def _read_people(table: OutsourcedTable, frame: Any) -> list[Person]:
    return list(zip(*people_cells(frame, table.anatomy), strict=True))


def _check_fit(table: OutsourcedTable, frame: Any) -> None:
    unfit = np.flatnonzero(~encode(table.anatomy.schema, frame).known(table.anatomy.schema))
    if len(unfit):
        listed = ", ".join(str(row + 1) for row in unfit[:5].tolist())
        raise SchemaError(
            f"{len(unfit)} of {len(frame)} rows have an entry that does not fit the schema (rows "
            f"{listed}...); none is added"
        )


def _check_newcomers(table: OutsourcedTable, people: list[Person], *, waiting: bool = True) -> None:
    """Nobody who is there already, or waits: two groups of one person would have their value in
    common.
    """
    if table.anatomy.schema.person is None:
        return
    coming = {person[-2] for person in people}
    known = coming & {row.person[-2] for row in read_waiting_rows(table).rows} if waiting else set()
    for page in table.rows():
        known |= coming & {row.cells[-1] for row in page.rows}
    if known:
        raise ParameterError(
            f"{len(known)} of the {len(people)} people are in the table already, so none is added"
        )


def _new_rows_to(halves: Halves) -> dict[str, list[Any]]:
    it, st = halves.identifiers, halves.values
    marks, gids = it.pruning.tolist(), it.gid.tolist()
    rows = [
        {"cells": it.row(i), "pruning": marks[i], "gid": gids[i], "eseq": encode_base64(it.eseq[i])}
        for i in range(len(it))
    ]
    values = [list(entry) for entry in zip(st.seq.tolist(), st.gid.tolist(), st.value, strict=True)]
    return {"rows": rows, "values": values}


# Rows that wait for a group, sealed as a whole at the server, with the plan for them.

#: The cells of ``Anatomy.columns`` and the sensitive value.
Person = tuple[CellText, ...]
#: A row waits as a text of this many bytes, or a multiple: its length must not tell its value.
_STEP = 1024
_HEAD = struct.Struct(">B16sQQI")
_PLANNED, _PRUNING = 1, 2
_NUMBER = 32  # of a number or a date as text
_shuffler = secrets.SystemRandom()


@dataclass(frozen=True)
class PlannedRow:
    """The numbers that a row will be published under, and how many rows its group has.

    A group is published whole or not at all.
    """

    gid: int
    seq: int
    pruning: bool
    size: int


@dataclass(frozen=True)
class Waiting:
    """A row that waits for a group.

    ``id`` stays with it however often it is sealed; ``numbers`` are the server's: none before it is
    there, several where somebody has sent its text again.
    """

    person: Person
    id: bytes
    plan: PlannedRow | None = None
    numbers: tuple[int, ...] = ()

    @classmethod
    def new(cls, person: Person) -> Waiting:
        """Make a new row that waits."""
        return cls(person, secrets.token_bytes(16))

    def sealed(self, table: OutsourcedTable) -> bytes:
        """Return its sealed text, of the same length with a plan and without."""
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


@dataclass(frozen=True)
class WaitingRows:
    """All rows that wait, and the numbers of texts that no key opens."""

    rows: list[Waiting]
    unreadable: list[int]

    @property
    def n_texts(self) -> int:
        """How many texts the server holds."""
        return len(list_numbers(self.rows)) + len(self.unreadable)


def list_numbers(rows: Iterable[Waiting]) -> list[int]:
    """Return the server's numbers of rows: where one is there several times, all of them."""
    return [number for row in rows for number in row.numbers]


def read_waiting_rows(table: OutsourcedTable) -> WaitingRows:
    """Read all rows that wait.

    One that is there several times counts once, and its copies go with it: of two groups of one
    person, the common value would be theirs.
    """
    found: dict[bytes, list[Waiting]] = {}
    unreadable: list[int] = []
    for number, sealed in table.pending():
        try:
            row = _open_waiting_row(table, number, sealed)
        except SealError:
            unreadable.append(number)
        else:
            found.setdefault(row.id, []).append(row)
    table.holds(len(found))
    return WaitingRows([_join_copies(copies) for copies in found.values()], unreadable)


def _join_copies(copies: list[Waiting]) -> Waiting:
    """One row of its copies: as it was sealed last, which is with its plan."""
    plans = {row.plan for row in copies if row.plan is not None}
    if len(plans) > 1:
        raise SealError  # a server shows two plans, of which at most one was ever to be published
    return replace(copies[0], plan=next(iter(plans), None), numbers=tuple(list_numbers(copies)))


def plan_rows(rows: list[Waiting], group: np.ndarray, numbers: RowNumbers) -> list[Waiting]:
    """Put the rows in a new order, and give a plan to those with a group (-1: none)."""
    sizes = Counter(numbers.gid.tolist())
    lines = zip(numbers.gid.tolist(), numbers.seq.tolist(), numbers.pruning.tolist(), strict=True)
    plans = iter([(gid, seq, mark, sizes[gid]) for gid, seq, mark in lines])
    fresh = [
        replace(row, plan=PlannedRow(*next(plans)) if at >= 0 else None, numbers=())
        for row, at in zip(rows, group.tolist(), strict=True)
    ]
    _shuffler.shuffle(fresh)
    return fresh


def sample_rows(rows: list[Waiting], n_rows: int) -> list[Waiting]:
    """Draw so many of the rows at random; all where there are no more."""
    return rows if len(rows) <= n_rows else _shuffler.sample(rows, n_rows)


def check_groups_complete(plans: list[PlannedRow]) -> None:
    """Raise unless every group is there as a whole.

    From a part of one, somebody could be told from their value.
    """
    there = Counter(plan.gid for plan in plans)
    if any(there[plan.gid] != plan.size for plan in plans):
        raise SealError


def _encode_json(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


def _longest_encoding(domain: Attribute) -> int:
    return max(_NUMBER, *(len(_encode_json(label)) for label in domain.labels))


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
        (number,),
    )
