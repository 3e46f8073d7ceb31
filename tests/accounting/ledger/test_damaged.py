"""A ledger whose file was damaged: one error, and never a budget that begins anew."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger, verify
from privet.errors import BudgetExceeded, LedgerError, ParameterError


@pytest.fixture
def path(tmp_path):
    """One is left of ten."""
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.set_cap("people", Budget(10))
    entry = ledger.charge("people", "ada", Cost.pure(9), "count", key="k", request="r")
    ledger.record(entry.number, b"an answer")
    ledger.close()  # all of it is in the one file then
    return ledger.path


def damaged(path, *statements: str) -> SQLiteLedger:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for statement in ("DROP TRIGGER journal_keeps", "DROP TRIGGER answers_keep", *statements):
            connection.execute(statement)
        connection.commit()
    return SQLiteLedger(path)


def test_a_ledger_that_is_whole_takes_what_is_left_and_no_more(path):
    ledger = SQLiteLedger(path)
    with pytest.raises(BudgetExceeded):
        ledger.charge("people", "eve", Cost.pure(2), "count")
    ledger.charge("people", "eve", Cost.pure(1), "count")


@pytest.mark.parametrize("index", [False, True], ids=["table", "index"])
def test_a_page_whose_rows_are_gone_is_no_fresh_budget(path, index):
    """One byte of a page says how many rows it has: of the totals, or of the index by which they
    are found.
    """
    with closing(sqlite3.connect(path)) as connection:
        kind, size = (
            "index" if index else "table",
            connection.execute("PRAGMA page_size").fetchone()[0],
        )
        sql = "SELECT rootpage FROM sqlite_master WHERE tbl_name = 'spent' AND type = ?"
        (page,) = connection.execute(sql, (kind,)).fetchone()
    data = bytearray(path.read_bytes())
    data[(page - 1) * size + 4] = 0
    path.write_bytes(data)
    ledger = SQLiteLedger(path)
    for _ in range(2):
        with pytest.raises(
            LedgerError,
            match=r"damaged, so nothing is charged.*lower the caps by what was spent since",
        ):
            ledger.charge("people", "eve", Cost.pure(2), "count")
    with pytest.raises(LedgerError, match="damaged"):
        ledger.set_cap("people", Budget(20))


def test_a_ledger_without_its_version_is_not_made_anew(path):
    with pytest.raises(LedgerError, match="it has no version"):
        damaged(path, "PRAGMA user_version = 0")


def test_an_empty_list_of_tables_is_not_made_anew(path):
    with pytest.raises(LedgerError):
        damaged(path, "DELETE FROM sqlite_master", "PRAGMA user_version = 0")


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE journal SET epsilon = 'x'", lambda ledger: ledger.entries()),
        ("UPDATE journal SET rho = '1e999999999'", lambda ledger: ledger.charged("ada", "k")),
        ("UPDATE spent SET rho = '1/0'", lambda ledger: ledger.spent("people")),
        ("UPDATE caps SET amount = x'ff'", lambda ledger: ledger.cap("people")),
        ("UPDATE answers SET body = x'00'", lambda ledger: ledger.answer(2)),
        ("UPDATE answers SET body = 7", lambda ledger: ledger.answer(2)),
    ],
)
def test_what_no_ledger_writes_is_one_error(path, statement, read):
    ledger = damaged(path, statement)
    with pytest.raises(LedgerError, match="is damaged"):
        read(ledger)


def test_verify_tells_of_names_that_are_no_text(path):
    ledger = damaged(
        path, "UPDATE spent SET dataset = 7 WHERE analyst = ''", "UPDATE caps SET dataset = x'00'"
    )
    assert len(verify(ledger)) == 4


@pytest.mark.parametrize(
    "ask",
    [
        lambda ledger: ledger.charge("people", "ada", Cost.pure(1), "count by \udcff"),
        lambda ledger: ledger.charge("people", "ada", Cost.pure(1), "count", key="\ud800"),
        lambda ledger: ledger.cap("\ud800"),
        lambda ledger: ledger.entries(analyst="\udcff"),
    ],
)
def test_a_text_that_cannot_be_written_is_no_damage(path, ask):
    """Who were told to put a backup in its place would forget what was spent since."""
    ledger = SQLiteLedger(path)
    with pytest.raises(ParameterError, match="UTF-8"):
        ask(ledger)
    assert len(ledger.entries()) == 1
    assert verify(ledger) == []
