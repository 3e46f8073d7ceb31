"""Damage to reservations is found, by whoever it was done and however well."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import astuple, replace

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import PostgresLedger, SQLiteLedger, verify
from privet.accounting.ledger.verify import problems_of
from privet.errors import LedgerError

GIVEN = {"request": "r", "schema": "s", "neighbours": "replace", "rows_per_person": 2}


def fill(ledger):
    """Lines 1: cap, 2 and 3: reservations, 4 to 6: charges, 7: close of line 3."""
    ledger.set_cap("people", Budget(10))
    ledger.reserve("people", "ada", Budget(4), "a fit", key="open", **GIVEN)
    ledger.reserve("people", "ada", Budget(2), "a fit", key="closed", **GIVEN)
    ledger.charge("people", "ada", Cost.pure(1), "x", reservation="open", asked="how many?")
    ledger.charge("people", "ada", Cost.pure(1), "x", reservation="closed")
    ledger.charge("people", "bob", Cost.pure(1), "x")
    ledger.close_reservation("ada", "closed", model="m")
    assert verify(ledger) == []


@pytest.fixture
def path(tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    fill(ledger)
    ledger.close()
    return ledger.path


def tampered(path, script):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript("DROP TRIGGER journal_stays; DROP TRIGGER journal_keeps;" + script)
    return SQLiteLedger(path)


EDITS = {
    "UPDATE reservations SET charged = '0' WHERE number = 2": "what its charges",
    "UPDATE reservations SET reserved = '5' WHERE number = 2": "what its charges",
    "UPDATE reservations SET state = 'done', closed = 6 WHERE number = 2": "its end",
    "UPDATE reservations SET state = 'open' WHERE number = 3": "its end",
    "UPDATE reservations SET closed = 6 WHERE number = 3": "its end",
    "UPDATE reservations SET touched = '2999-01-01T00:00:00.000+00:00' WHERE number = 2": "line 2",
    "UPDATE reservations SET analyst = 'bob' WHERE number = 2": "line 2",
    "UPDATE reservations SET dataset = 'cars' WHERE number = 2": "line 2",
    "UPDATE reservations SET unit = 'rho' WHERE number = 2": "line 2",
    "DELETE FROM reservations WHERE number = 2": "reservation of line 2 is gone",
    "INSERT INTO reservations SELECT 6, dataset, analyst, unit, reserved, charged, touched, state, "
    "closed FROM reservations WHERE number = 2": "reservation 6 that no line made",
    "UPDATE accounts SET rows_per_person = 1": "neighbours or rows per person",
    "DELETE FROM accounts": "neighbours or rows per person",
    "UPDATE accounts SET person = 'who'": "neighbours or rows per person",
    "INSERT INTO accounts VALUES ('cars', 'replace', 1, '')": "of data set 'cars'",
    "UPDATE journal SET more = '' WHERE number = 4": "line 4 is not what was written",
    "UPDATE journal SET more = '{}' WHERE number = 6": "line 6 is not what was written",
    "UPDATE journal SET more = 'x' WHERE number = 4": "line 4",
    "UPDATE journal SET more = x'7b7d' WHERE number = 4": "line 4",
    "UPDATE journal SET kind = 'cap' WHERE number = 7": "line 7",
}


@pytest.mark.parametrize("edit", EDITS)
def test_a_careless_change_is_found_and_takes_no_charge(path, edit):
    ledger = tampered(path, edit)
    found = verify(ledger)
    assert any(EDITS[edit] in problem for problem in found), found
    for act in (
        lambda: ledger.charge("people", "eve", Cost.pure(1), "x"),
        lambda: ledger.reserve("people", "eve", Budget(1), "a fit", key="k", **GIVEN),
    ):
        with pytest.raises(LedgerError, match="damaged"):
            act()


@pytest.mark.parametrize("edit", [edit for edit in EDITS if "x'" not in edit])
def test_a_superuser_is_found_out(postgres, edit):
    import psycopg

    url = postgres.database()
    ledger = PostgresLedger(url)
    fill(ledger)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER TABLE privet.journal DISABLE TRIGGER ALL")
        for table in ("reservations", "accounts", "journal"):
            edit = edit.replace(f" {table} ", f" privet.{table} ")
        connection.execute(edit.replace("FROM accounts", "FROM privet.accounts"))
    assert verify(ledger) != []
    ledger.close()


def rechained(ledger, change):
    """The books after a change of the lines, chained anew by somebody who knows how."""
    books = ledger.books()
    before, lines = ledger.identity, []
    for number, line in enumerate(change(list(books.lines)), start=1):
        line = replace(line, number=number)
        lines.append(replace(line, hash=line.hashed(before)))
        before = lines[-1].hash
    return [
        problem
        for problem in problems_of(ledger.identity, replace(books, lines=lines))
        if problem.startswith("line")
    ]


def more(line, **changed):
    written = {**json.loads(line.more or "{}"), **changed}
    kept = {name: value for name, value in written.items() if value is not None}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return replace(line, more=text)


HISTORIES = {
    "a close of nothing": (
        lambda lines: [*lines, more(lines[6], reservation=6)],
        "line 8 is about a reservation 6 that no line before it made",
    ),
    "a second close": (
        lambda lines: [*lines, lines[6]],
        "line 8 is about the reservation 3, which was closed before",
    ),
    "a charge after the close": (
        lambda lines: [*lines, lines[4]],
        "line 8 is about the reservation 3, which was closed before",
    ),
    "a charge to a reservation that comes later": (
        lambda lines: [lines[0], lines[3], *lines[1:3], *lines[4:]],
        "line 2 is about a reservation 2 that no line before it made",
    ),
    "a charge of somebody else": (
        lambda lines: [*lines, replace(lines[3], analyst="bob")],
        "line 8 is about the reservation 2 of somebody else",
    ),
    "a charge on another data set": (
        lambda lines: [*lines, replace(lines[3], dataset="cars")],
        "line 8 is about the reservation 2 of somebody else",
    ),
    "a close by somebody else": (
        lambda lines: [*lines, replace(more(lines[6], reservation=2), analyst="bob")],
        "line 8 is about the reservation 2 of somebody else",
    ),
    "more than was reserved": (
        lambda lines: [*lines, replace(lines[3], epsilon="4", rho="8")],
        "line 8 charges more to reservation 2 than it had left",
    ),
    "an end for no reason": (
        lambda lines: [*lines, more(lines[6], reservation=2, why="boredom")],
        "line 8 closes reservation 2 for no reason that there is",
    ),
    "an end without a reason": (
        lambda lines: [*lines, more(lines[6], reservation=2, why=None)],
        "line 8 is not a close that a ledger writes",
    ),
    "an end of no reservation": (
        lambda lines: [*lines, more(lines[6], reservation=None)],
        "line 8 is not a close that a ledger writes",
    ),
    "particulars that are not canonical": (
        lambda lines: [*lines, replace(lines[5], more='{"asked": "x"}')],
        "line 8 is not a charge that a ledger writes",
    ),
    "a list of particulars": (
        lambda lines: [*lines, replace(lines[5], more="[" * 100_000)],
        "line 8 is not a charge that a ledger writes",
    ),
    "a charge to a list": (
        lambda lines: [*lines, more(lines[3], reservation=[2])],
        "line 8 is not a charge that a ledger writes",
    ),
    "a charge without a pure guarantee": (
        lambda lines: [*lines, replace(lines[3], epsilon="")],
        "line 8 is not a charge that a ledger writes",
    ),
    "friends for neighbours": (
        lambda lines: [*lines, more(lines[5], neighbours="friends", rows_per_person=1)],
        "line 8 is not a charge that a ledger writes",
    ),
    "other neighbours than the account's": (
        lambda lines: [
            *lines,
            more(lines[5], neighbours="add-remove", person="", rows_per_person=2),
        ],
        "line 8 is for other neighbours than its account",
    ),
    "a reservation of nothing that is an amount": (
        lambda lines: [*lines, replace(lines[1], epsilon="much")],
        "line 8 is not a reserve that a ledger writes",
    ),
    "another kind": (
        lambda lines: [*lines, replace(lines[5], kind="gift")],
        "line 8 is of no kind that a ledger writes",
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_that_breaks_the_rules_is_found_although_its_chain_is_whole(path, name):
    change, problem = HISTORIES[name]
    assert problem in rechained(SQLiteLedger(path), change)


def test_the_history_itself_breaks_no_rule(path):
    assert rechained(SQLiteLedger(path), lambda lines: lines) == []


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE reservations SET charged = 'x'", lambda ledger: ledger.reservations()),
        ("UPDATE reservations SET reserved = '1/0'", lambda ledger: ledger.committed("people")),
        ("UPDATE journal SET more = '[]'", lambda ledger: ledger.reservation("ada", "open")),
        ("UPDATE journal SET more = '{\"a\": 1}'", lambda ledger: ledger.entries()),
    ],
)
def test_what_no_ledger_writes_is_one_error(path, statement, read):
    ledger = tampered(path, statement)
    with pytest.raises(LedgerError, match="is damaged"):
        read(ledger)


def test_more_is_part_of_the_hash(path):
    """Nothing can move from one field into the next."""
    lines = list(SQLiteLedger(path).journal())
    for line in lines:
        if line.more:
            assert replace(line, more="").hashed("") != line.hashed("")
            moved = replace(line, request=line.request + line.more, more="")
            assert moved.hashed("") != line.hashed("")
    assert [astuple(line)[-1] != "" for line in lines] == [0, 1, 1, 1, 1, 0, 1]
