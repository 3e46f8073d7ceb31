"""Inserting and deleting people, so that groups stay l-diverse (Nergiz, Clifton and Malluhi 2013).

A new row waits at the server, sealed as a whole, until enough rows wait to make groups of. A deleted row leaves its sensitive
value behind, so that the others of its group stay as hidden as they were.

When groups are made must not depend on the values that wait: a server that sees two rows wait although two would make a group
knows that their values are the same. So groups are made when so many rows wait, whatever they hold, and all that still wait are
sealed anew. That some remain says that the most frequent value is among them; docs/concepts/outsource.md says what follows.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet.errors import ParameterError, SchemaError, SealError
from privet.outsource.cells import Cell, cells_of, codes_of
from privet.outsource.client.table import OutsourcedTable
from privet.outsource.groups import random_groups
from privet.outsource.halves import Halves
from privet.outsource.sequence import true_entry
from privet.outsource.split import check_people, sealed_halves
from privet.schema.encode import encode

#: A row waits as a text of this many bytes, or a multiple: its length must not tell its value.
_STEP = 1024
_SENT_AT_ONCE = 5000
#: The cells of ``Anatomy.columns`` and the sensitive value.
Person = tuple[Cell, ...]


@dataclass(frozen=True)
class Flushed:
    """How many rows got a group, in how many groups, and how many still wait."""

    placed: int
    groups: int
    waiting: int


def default_batch(l: int) -> int:  # noqa: E741
    """How many rows wait before groups are made."""
    return 20 * l


def insert(table: OutsourcedTable, frame: Any, batch: int | None = None) -> Flushed:
    """Add rows, and make groups where ``batch`` or more wait. Every row must fit the schema; otherwise none is added."""
    batch = default_batch(table.anatomy.l) if batch is None else batch
    if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
        raise ParameterError(f"batch must be a whole number of at least 1, got {batch!r}")
    people = _people(table, frame)
    _check_fit(table, frame)
    check_people(frame, table.anatomy.schema)
    _check_newcomers(table, people)
    for start in range(0, len(people), _SENT_AT_ONCE):
        sealed = [_text(_sealed(table, person)) for person in people[start : start + _SENT_AT_ONCE]]
        table.change_any(pending=sealed)
    waiting = table.about()["pending"]
    return flush(table) if waiting >= batch else Flushed(0, 0, waiting)


def flush(table: OutsourcedTable) -> Flushed:
    """Make groups of the rows that wait, as many as can be made."""
    version = table.about()["version"]
    waiting = table.pending()
    people = [_opened(table, sealed) for _, sealed in waiting]
    table.holds(len(people))
    codes = codes_of(table.anatomy.sensitive_domain, [person[-1] for person in people])
    grouping = random_groups(codes, table.anatomy.l)
    left = [people[i] for i in grouping.withheld.tolist()]
    if not grouping.n_groups:
        return Flushed(0, 0, len(left))
    placed = [person for person, group in zip(people, grouping.group.tolist(), strict=True) if group >= 0]
    *columns, values = ([person[c] for person in placed] for c in range(len(table.anatomy.columns) + 1))
    halves = sealed_halves(table.anatomy, table.sealer, columns, values, grouping.group[grouping.group >= 0])
    still = [_text(_sealed(table, person)) for person in left]
    table.change(version, remove_pending=[number for number, _ in waiting], pending=still, **_added(halves))
    return Flushed(len(placed), grouping.n_groups, len(left))


def delete(table: OutsourcedTable, frame: Any) -> int:
    """Delete rows, each given in full. Reads the whole table once; removes all of them or, where one is not there, none."""
    wanted = Counter(_people(table, frame))
    n_wanted = wanted.total()
    identifying = {person[:-1] for person in wanted}
    version = table.about()["version"]
    rows: list[int] = []
    for page in table.rows():
        table.holds(len(page.rows) + n_wanted)
        for row in page.rows:
            if tuple(row.cells) not in identifying:
                continue
            _, value = true_entry(table.sealer, row.eseq, row.place)
            if wanted[person := (*row.cells, value)] > 0:
                wanted[person] -= 1
                rows.append(row.row)
    waiting: list[int] = []
    if wanted.total():
        for number, sealed in table.pending():
            if wanted[person := _opened(table, sealed)] > 0:
                wanted[person] -= 1
                waiting.append(number)
    if wanted.total():
        raise ParameterError(f"{wanted.total()} of the {n_wanted} rows are not in the table, so none is deleted")
    table.change(version, remove_rows=rows, remove_pending=waiting)
    return n_wanted


def waiting_people(table: OutsourcedTable) -> list[Person]:
    """The rows that wait for a group."""
    return [_opened(table, sealed) for _, sealed in table.pending()]


def _people(table: OutsourcedTable, frame: Any) -> list[Person]:
    columns = cells_of(frame, [*table.anatomy.columns, table.anatomy.sensitive])
    return list(zip(*columns, strict=True))


def _check_fit(table: OutsourcedTable, frame: Any) -> None:
    unfit = np.flatnonzero(~encode(table.anatomy.schema, frame).known(table.anatomy.schema))
    if len(unfit):
        listed = ", ".join(str(row + 1) for row in unfit[:5].tolist())
        raise SchemaError(f"{len(unfit)} of {len(frame)} rows have an entry that does not fit the schema (rows {listed}...); none is added")


def _check_newcomers(table: OutsourcedTable, people: list[Person]) -> None:
    """Nobody who is there already: two groups of one person would have their value in common."""
    if table.anatomy.schema.person is None:
        return
    coming = {person[-2] for person in people}
    known = coming & {person[-2] for person in waiting_people(table)}
    for page in table.rows():
        known |= coming & {row.cells[-1] for row in page.rows}
    if known:
        raise ParameterError(f"{len(known)} of the {len(people)} people are in the table already, so none is added")


def _sealed(table: OutsourcedTable, person: Person) -> bytes:
    text = json.dumps(person, separators=(",", ":")).encode()
    return table.sealer.seal("pending", (), text.ljust(-(-len(text) // _STEP) * _STEP))


def _opened(table: OutsourcedTable, sealed: bytes) -> Person:
    person = tuple(json.loads(table.sealer.open("pending", (), sealed)))
    if len(person) != len(table.anatomy.columns) + 1:
        raise SealError
    return person


def _added(halves: Halves) -> dict[str, list[Any]]:
    it, st = halves.identifiers, halves.values
    marks, gids = it.pruning.tolist(), it.gid.tolist()
    rows = [{"cells": it.row(i), "pruning": marks[i], "gid": gids[i], "eseq": _text(it.eseq[i])} for i in range(len(it))]
    values = [list(entry) for entry in zip(st.seq.tolist(), st.gid.tolist(), st.value, strict=True)]
    return {"rows": rows, "values": values}


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
