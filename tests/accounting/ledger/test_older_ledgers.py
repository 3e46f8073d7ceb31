"""Ledgers that version 0.1 wrote become ledgers with reservations, and stay what they were."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import (
    PostgresLedger,
    Receipt,
    SQLiteLedger,
    Witness,
    sqlite_files,
    verify,
)
from privet.accounting.ledger.postgres import script_of
from privet.errors import LedgerError

IDENTITY = "ab" * 32
VERSION_2 = """
CREATE TABLE ledger (identity TEXT NOT NULL);
CREATE TABLE journal (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'cap')), dataset TEXT NOT NULL,
    analyst TEXT NOT NULL, what TEXT NOT NULL, epsilon TEXT NOT NULL, rho TEXT NOT NULL,
    key TEXT NOT NULL, request TEXT NOT NULL, hash TEXT NOT NULL);
CREATE INDEX journal_by_dataset ON journal (dataset, analyst);
CREATE UNIQUE INDEX journal_by_key ON journal (analyst, key) WHERE key <> '';
CREATE TABLE caps (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')), PRIMARY KEY (dataset, analyst));
CREATE TABLE spent (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL,
    PRIMARY KEY (dataset, analyst));
CREATE TABLE answers (number INTEGER PRIMARY KEY REFERENCES journal (number), body BLOB NOT NULL);
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER answers_stay BEFORE DELETE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
CREATE TRIGGER answers_keep BEFORE UPDATE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
PRAGMA application_id = 0x50726976;
PRAGMA user_version = 2;
"""
TIME = "2026-01-0{}T00:00:00.000+00:00"
FIELDS = [
    (1, TIME.format(1), "cap", "people", "", "cap: epsilon 1", "1", "", "", ""),
    (2, TIME.format(2), "charge", "people", "ada", "counts", "1/3", "1/18", "", ""),
    (3, TIME.format(3), "charge", "people", "bob", "zählen", "1/4", "1/32", "key", "digest"),
    (4, TIME.format(4), "cap", "people", "ada", "cap: epsilon 0.5", "1/2", "", "", ""),
]
CAPS = [("people", "", "1", "epsilon"), ("people", "ada", "1/2", "epsilon")]
SPENT = [
    ("people", "", "7/12", "25/288"),
    ("people", "ada", "1/3", "1/18"),
    ("people", "bob", "1/4", "1/32"),
]


def lines():
    """As 0.1 hashed them."""
    before = IDENTITY
    for fields in FIELDS:
        written = "".join(f"{len(str(text).encode())}:{text}," for text in fields)
        before = hashlib.sha256((before + written).encode()).hexdigest()
        yield (*fields, before)


LINES = list(lines())
ANSWER = b"an answer"
RECEIPT = Receipt(IDENTITY, 3, LINES[2][-1], hashlib.sha256(ANSWER).hexdigest())


@pytest.fixture
def path(tmp_path):
    import zlib

    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(VERSION_2)
        connection.execute("INSERT INTO ledger VALUES (?)", (IDENTITY,))
        for table, rows in (("journal", LINES), ("caps", CAPS), ("spent", SPENT)):
            marks = ", ".join("?" * len(rows[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
        connection.execute("INSERT INTO answers VALUES (3, ?)", (zlib.compress(ANSWER, 1),))
        connection.commit()
    return path


@pytest.fixture
def url(postgres):
    import psycopg

    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA privet")
        for script in ("fractions.sql", "journal.sql"):  # the tables of version 1
            connection.execute(script_of(script))
        for name, count in (("charge", 7), ("spend", 4), ("append", 8), ("lock", 0)):
            connection.execute(
                f"CREATE FUNCTION privet.{name}({', '.join(['text'] * count)}) RETURNS void "
                "LANGUAGE plpgsql AS 'BEGIN PERFORM FROM privet.ledger FOR UPDATE; END'"
            )
        connection.execute("INSERT INTO privet.ledger VALUES (%s, 1, 4)", (IDENTITY,))
        for table, rows in (("journal", LINES), ("caps", CAPS), ("spent", SPENT)):
            marks = ", ".join(["%s"] * len(rows[0]))
            for row in rows:
                connection.execute(f"INSERT INTO privet.{table} VALUES ({marks})", row)
        connection.execute("INSERT INTO privet.answers VALUES (3, %s)", (ANSWER,))
    return url


@pytest.fixture(params=["sqlite", "postgres"])
def opened(request):
    """Opens the ledger of 0.1."""
    if request.param == "sqlite":
        path = request.getfixturevalue("path")
        return lambda: SQLiteLedger(path)
    url = request.getfixturevalue("url")
    return lambda: PostgresLedger(url)


def test_it_opens_verifies_and_goes_on(opened, tmp_path):
    witness = Witness(tmp_path / "witness")
    witness.path.write_text(f"{Receipt(IDENTITY, 4, LINES[3][-1])}\n")
    for _ in range(2):
        ledger = opened()
        assert ledger.identity == IDENTITY
        assert verify(ledger, witness, [RECEIPT]) == []
        found = [
            tuple(getattr(line, name) for name in ("number", "hash", "more"))
            for line in ledger.journal()
        ]
        assert found == [(line[0], line[-1], "") for line in LINES]
        assert ledger.answer(3) == ANSWER
        assert ledger.cap("people", "ada") == Budget("1/2")
        assert ledger.reservations() == []
        assert ledger.relation("people") is None
        ledger.close()
    ledger = opened()
    again = ledger.charge("people", "bob", Cost.pure("1/4"), "zählen", key="key", request="digest")
    assert again.number == 3
    given = {"request": "r", "schema": "s", "neighbours": "replace", "rows_per_person": 1}
    ledger.reserve("people", "ada", Budget("1/6"), "a fit", key="fit", **given)
    ledger.charge("people", "ada", Cost.pure("1/6"), "x", reservation="fit")
    ledger.close_reservation("ada", "fit")
    ledger.charge("people", "bob", Cost.pure("1/12"), "x")
    assert ledger.relation("people") == ("replace", 1, "")
    assert verify(ledger, witness, [RECEIPT]) == []
    ledger.close()


def test_programs_of_0_1_refuse_it(path):
    SQLiteLedger(path).close()
    with closing(sqlite3.connect(path)) as connection:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        assert version not in (0, 1, 2)  # what they read
        # one that has it open writes nothing any more
        with pytest.raises(sqlite3.OperationalError, match="12 columns"):
            connection.execute(f"INSERT INTO journal VALUES ({', '.join('?' * 11)})", LINES[0])


def test_programs_of_0_1_refuse_it_in_postgres(url):
    import psycopg

    PostgresLedger(url).close()
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT version FROM privet.ledger").fetchone() == (3,)
        # one that has it open charges by the new rules
        row = connection.execute(
            "SELECT number FROM privet.charge('people', 'bob', 'x', '1/9', '1/162', '', '')"
        ).fetchone()
        assert row == (5,)


@pytest.mark.parametrize("statement", ["DELETE FROM journal", "UPDATE journal SET epsilon = '0'"])
def test_it_is_append_only_as_before(path, statement):
    ledger = SQLiteLedger(path)
    with (
        closing(sqlite3.connect(path)) as connection,
        pytest.raises(sqlite3.IntegrityError, match="append-only"),
    ):
        connection.execute(statement)
    assert verify(ledger) == []


def test_it_has_the_tables_of_a_new_one(path, tmp_path):
    def tables(place):
        SQLiteLedger(place).close()
        with closing(sqlite3.connect(place)) as connection:
            rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql <> ''")
            return {
                (kind, name, " ".join(sql.replace('"', "").split()))
                for kind, name, sql in rows
                if name not in ("ledger", "caps", "spent", "answers")
                and not name.startswith("answers")
            }

    assert tables(path) == tables(tmp_path / "new.sqlite")


def test_answers_still_belong_to_the_journal(path):
    SQLiteLedger(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA foreign_keys = ON")
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
            connection.execute("INSERT INTO answers VALUES (99, x'00')")


def test_an_upgrade_that_dies_leaves_the_old_ledger(path, monkeypatch):
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(sqlite_files, "_SCHEMA", sqlite_files._SCHEMA + "CREATE TABLE ledger (x);")
        with pytest.raises(LedgerError, match="already exists"):
            SQLiteLedger(path)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (2,)
        assert connection.execute("SELECT * FROM journal").fetchall() == LINES
    assert len(path.read_bytes()) == len(before)
    assert verify(SQLiteLedger(path)) == []


def test_an_edited_ledger_of_0_1_is_found_out(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "DROP TRIGGER journal_keeps; UPDATE journal SET epsilon = '1/9' WHERE number = 2"
        )
    ledger = SQLiteLedger(path)
    with pytest.raises(LedgerError, match="damaged"):
        ledger.charge("people", "ada", Cost.pure("1/100"), "x")
    assert verify(ledger) != []
