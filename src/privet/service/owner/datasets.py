"""Add, test, update, pause and remove data sets."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from privet.accounting.cost import Budget
from privet.accounting.ledger.relation import Relation, check_relation
from privet.domain import Schema
from privet.errors import LedgerError, ParameterError, PrivetError
from privet.service.accounts import RegisteredDataset
from privet.service.owner.desk import Desk, Outcome
from privet.service.owner.places import AllowedPlaces, with_password
from privet.service.state import ServiceState
from privet.tables.base import Table
from privet.tables.identity import identify_rows
from privet.tables.open import open_table
from privet.tables.sources.registry import make_absolute
from privet.text import hide_password

_WRITABLE = (
    "these credentials could change the table; give the curator a role that can only read it"
)


def add_dataset(
    desk: Desk,
    name: str,
    place: str,
    schema: Schema,
    budget: Budget,
    *,
    sql: bool = False,
    public_counts: bool = False,
    same_rows: bool = False,
    why: str = "",
) -> Outcome:
    """Register a table with its schema and the budget of all analysts together.

    Args:
        desk, why: who does it, and the reason.
        name: what analysts call it.
        place: where the rows are.
        schema: what is public about it.
        budget: the cap over all analysts.
        sql: let SQL clients ask, too.
        public_counts: exact counts of parts of it are public, in its server's catalog.
        same_rows: its owner knows that another data set has the same rows.
    """
    state = desk.state
    desk.require_owner("dataset added", name)
    opened = _open_checked(desk, place, schema)
    before = state.ledger.cap(name)
    if before is not None and not before.matches(budget):
        raise LedgerError(
            f"the ledger knows data set {name!r} already, with a budget of {before}, which stays: "
            "give that one"
        )
    _check_account(desk, name, schema)
    state.accounts.check_new_dataset(name)
    rows = identify_rows(place, opened)
    known = _check_same_rows(desk, name, opened, rows, same_rows=same_rows)
    functions = state.require_functions() if sql else None
    what = (
        f"data set {name!r}: {opened.name}, {len(schema.names)} attributes, {schema.n_classes} "
        f"classes, budget {before or budget}"
    )
    warnings = [_WRITABLE] if opened.writable() else []
    facts: dict[str, Any] = {
        "place": hide_password(make_absolute(place)),
        "schema": schema.fingerprint,
        "budget": str(before or budget),
        "same_rows_as": known,
    }
    with desk.changing("dataset added", what, name, why=why, **facts) as event:
        if functions is not None:
            functions.add_dataset(name, opened.name, schema, public_counts=public_counts)
            warnings += [
                f"every login can read the exact number of rows of {told}"
                for told in functions.list_told(name)
            ]
        state.ledger.open_cap(name, budget)
        state.accounts.add_dataset(name, make_absolute(place), schema, rows, known)
    return Outcome(what, event.number, warnings=tuple(warnings))


def update_dataset(
    desk: Desk,
    name: str,
    *,
    place: str | None = None,
    password: str | None = None,
    schema: Schema | None = None,
    same_rows: bool = False,
    why: str = "",
) -> Outcome:
    """Give a data set another place, password or schema. Grants and spending stay.

    Args:
        desk, name, why: who does it, to which data set, and the reason.
        place: where the rows are now.
        password: the new password of the table's server.
        schema: what is public about it now. It must be for the same neighbours.
        same_rows: its owner knows that another data set has the same rows.
    """
    state = desk.state
    desk.require_owner("dataset updated", name)
    before = desk.dataset(name)
    if place is None and password is None and schema is None:
        raise ParameterError("say what changes: the place, the password or the schema")
    new_place = before.place if place is None else place
    if password is not None:
        new_place = with_password(new_place, password)
    new_schema = before.schema if schema is None else schema
    opened = _open_checked(desk, new_place, new_schema, trusted=before.place)
    _check_account(desk, name, new_schema)
    rows = identify_rows(new_place, opened)
    known = _check_same_rows(desk, name, opened, rows, same_rows=same_rows)
    changed = [
        told
        for told, given in (
            (f"the place is {hide_password(make_absolute(new_place))}", place is not None),
            ("a new password", password is not None),
            (f"a new schema with {len(new_schema.names)} attributes", schema is not None),
        )
        if given
    ]
    what = f"data set {name!r} updated: {', '.join(changed)}; its grants stay"
    facts: dict[str, Any] = {
        "place": hide_password(make_absolute(new_place)),
        "schema": new_schema.fingerprint,
        "schema_before": before.schema.fingerprint,
        "same_rows_as": known,
    }
    functions = state.functions
    with desk.changing("dataset updated", what, name, why=why, **facts) as event:
        if functions is not None and functions.has_dataset(name):
            functions.add_dataset(name, opened.name, new_schema)
        state.accounts.update_dataset(name, make_absolute(new_place), new_schema, rows, known)
    warnings = (_WRITABLE,) if opened.writable() else ()
    return Outcome(what, event.number, warnings=warnings)


def pause_dataset(desk: Desk, name: str, why: str = "") -> Outcome:
    """Answer no questions about a data set until it is resumed. Grants and fits stay."""
    state = desk.state
    if desk.dataset(name).paused is not None:
        raise ParameterError(f"data set {name!r} is paused already")
    what = f"data set {name!r} paused: no question about it is answered until it is resumed"
    functions = state.functions
    with desk.changing("dataset paused", what, name, why=why) as event:
        state.accounts.pause_dataset(name, why)
        for held in state.accounts.grants() if functions is not None else ():
            if held.dataset == name and functions is not None:
                functions.forbid(name, held.analyst)
    return Outcome(what, event.number)


def resume_dataset(desk: Desk, name: str, why: str = "") -> Outcome:
    """Answer questions about a data set again."""
    state = desk.state
    if desk.dataset(name).paused is None:
        raise ParameterError(f"data set {name!r} is not paused")
    what = f"data set {name!r} resumed"
    functions = state.functions
    with desk.changing("dataset resumed", what, name, why=why) as event:
        state.accounts.resume_dataset(name)
        for held in state.accounts.grants() if functions is not None else ():
            if held.dataset == name and functions is not None:
                ends = datetime.fromisoformat(held.expires) if held.expires else None
                functions.allow(name, held.analyst, ends)
    return Outcome(what, event.number)


def remove_dataset(desk: Desk, name: str, why: str = "") -> Outcome:
    """No longer answer questions about a table. What was spent on it stays in the ledger."""
    state = desk.state
    desk.dataset(name)
    what = f"data set {name!r} is no longer served"
    with desk.changing("dataset removed", what, name, why=why) as event:
        state.accounts.remove_dataset(name)
        functions = state.functions
        if functions is not None:
            functions.remove_dataset(name)
    return Outcome(what, event.number)


@dataclass(frozen=True)
class TableState:
    """Whether a table can be asked about now: can it be reached, and is it as the schema says?

    It follows from the catalog of the table, never from rows. ``trouble`` says what is wrong.
    """

    reachable: bool
    fits: bool
    trouble: str = ""

    @property
    def good(self) -> bool:
        """Whether it can be asked about."""
        return self.reachable and self.fits


def look_at_table(place: str, schema: Schema) -> TableState:
    """Look whether a table can be reached, and has the columns that a schema says. Reads no row."""
    try:
        opened = open_table(place)
        opened.check_reachable()
    except PrivetError as error:
        return TableState(reachable=False, fits=False, trouble=hide_password(str(error)))
    try:
        opened.check_structure(schema)
    except PrivetError as error:
        return TableState(reachable=True, fits=False, trouble=str(error))
    return TableState(reachable=True, fits=True)


def check_dataset(
    desk: Desk, name: str = "", *, place: str | None = None, schema: Schema | None = None
) -> TableState:
    """Look whether a data set can be asked about, or could be with another place or schema.

    Changes nothing. For a table that is not registered, give place and schema.
    """
    registered = desk.dataset(name) if name else None
    if place is not None:
        _check_place(desk, place)
    if registered is not None:
        place = registered.place if place is None else place
        schema = registered.schema if schema is None else schema
    if place is None or schema is None:
        raise ParameterError("give the name of a data set, or a place and a schema")
    return look_at_table(place, schema)


def _open_checked(desk: Desk, place: str, schema: Schema, trusted: str = "") -> Table:
    """Open a table that has the schema's columns; ``trusted`` is a place that was registered."""
    if place != trusted:
        _check_place(desk, place)
    opened = open_table(place)
    opened.check_structure(schema)
    opened.check_reachable()
    return opened


def _check_place(desk: Desk, place: str) -> None:
    if desk.over_http:
        AllowedPlaces.read(desk.state.path).check(place, desk.state.path)


def _check_account(desk: Desk, name: str, schema: Schema) -> None:
    """Raise where the account promises something to other neighbours than the schema's."""
    own = Relation(schema.neighbours, schema.rows_per_person, schema.person or "")
    check_relation(name, desk.state.ledger.relation(name), own)


def _check_same_rows(
    desk: Desk, name: str, opened: Table, rows: frozenset[str], *, same_rows: bool
) -> list[str]:
    known = _find_same_rows(desk.state, name, rows)
    if known and not same_rows:
        others = ", ".join(map(repr, known))
        raise ParameterError(
            f"the rows of {opened.name!r} are, or may be, those of data set {others}: under two "
            "names each budget can be spent in full. Grant analysts that one instead, or say "
            "--same-rows (same_rows) if that is what you want; it is recorded"
        )
    return known


def _find_same_rows(state: ServiceState, name: str, rows: frozenset[str]) -> list[str]:
    """Return the other data sets that have some of these rows, or may have: removed ones too, as
    what was spent on them stays.
    """
    places = state.accounts.places()
    for dataset in state.accounts.datasets():
        if dataset.name not in places:  # registered by 0.1
            try:
                places[dataset.name] = identify_rows(dataset.place, open_table(dataset.place))
            except PrivetError:  # it cannot be looked at now
                places[dataset.name] = rows
    return sorted(other for other, found in places.items() if other != name and found & rows)


def describe_place(dataset: RegisteredDataset) -> str:
    """Return where a data set is, without a password."""
    return hide_password(dataset.place)
