"""An account has one neighbour relation: costs for different neighbours do not add up."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger, PostgresLedger, SQLiteLedger, verify
from privet.accounting.ledger import sqlite as sqlite_ledger
from privet.accounting.ledger.postgres import script_of
from privet.accounting.ledger.relation import Relation, stated_by
from privet.errors import PrivacyError

ROW = {"neighbours": "add-remove", "rows_per_person": 1}
REPLACED = {"neighbours": "replace", "rows_per_person": 1}
OTHERS = [
    REPLACED,
    {"neighbours": "add-remove", "rows_per_person": 2},
    {**ROW, "person": "who"},
]
AIDE = {"key": "fit", "request": "r", "schema": "s"}


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "memory":
        made = MemoryLedger()
    elif request.param == "sqlite":
        made = SQLiteLedger(tmp_path / "ledger.sqlite")
    else:
        made = PostgresLedger(request.getfixturevalue("postgres").database())
    made.set_cap("people", Budget(10))
    yield made
    if not isinstance(made, MemoryLedger):
        made.close()


def charge(ledger, amount=1, **given):
    return ledger.charge("people", "ada", Cost.pure(amount), "counts", **given)


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_is_charged_under_another_relation(ledger, other):
    """2 for one row added or removed, and 4 for one row replaced, were 6; they are 8."""
    charge(ledger, 2, **ROW)
    lines = list(ledger.journal())
    refused = "is for one row added or removed, this would be for one"
    with pytest.raises(PrivacyError, match=refused):
        charge(ledger, 4, **other)
    with pytest.raises(PrivacyError, match=refused):
        ledger.reserve("people", "ada", Budget(4), "a fit", **AIDE, **other)
    assert list(ledger.journal()) == lines
    assert ledger.spent("people") == Cost.pure(2)
    charge(ledger, 1, **ROW)
    assert verify(ledger) == []


def test_a_reservation_fixes_it_too(ledger):
    ledger.reserve("people", "ada", Budget(4), "a fit", **AIDE, **REPLACED, person="who")
    assert ledger.relation("people") == ("replace", 1, "who")
    with pytest.raises(PrivacyError, match=r"one person of up to 1 rows \(by 'who'\) replaced"):
        charge(ledger, **ROW)
    charge(ledger, reservation="fit", **REPLACED, person="who")
    ledger.reserve("people", "bob", Budget(4), "a fit", **AIDE, **REPLACED, person="who")


def test_it_is_stated_once(ledger):
    assert ledger.relation("people") is None
    charge(ledger)  # says nothing, as charges of 0.1
    assert ledger.relation("people") is None
    charge(ledger, **REPLACED)
    charge(ledger, **REPLACED)
    charge(ledger)
    assert ledger.relation("people") == Relation("replace", 1, "")
    stated = '{"neighbours":"replace","person":"","rows_per_person":1}'
    assert [line.more for line in ledger.journal()] == ["", "", stated, "", ""]


def test_a_curator_says_it(ledger):
    schema = pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", ["x", "y"])
    table = {"a": ["0", "1"], "c": ["x", "y"], "who": ["1", "2"]}
    for number, own in enumerate((schema, schema.declare(person="who", rows_per_person=3))):
        ledger.set_cap(str(number), Budget(10))
        for asked in (schema, schema.declare(person="who", rows_per_person=3)):
            curator = pv.Curator(table, own, ledger=ledger, dataset=str(number), analyst="ada")
            curator.size(1)
            other = pv.Curator(table, asked, ledger=ledger, dataset=str(number), analyst="ada")
            if asked != own:
                with pytest.raises(PrivacyError, match="do not add up"):
                    other.size(1)
                with pytest.raises(PrivacyError, match="do not add up"):
                    other.reserve(Cost.pure("1/2"), "a fit")


# -- ledgers of the version before -----------------------------------------------------------------


@pytest.fixture
def old(tmp_path):
    """Made by the version before: people were charged 2 and 4 under two relations, cars have an
    open reservation, and new have nothing yet.
    """
    path = tmp_path / "ledger.sqlite"
    script = Path(__file__).with_name("version_3.sql").read_text("utf-8")
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            f"{script} PRAGMA application_id = 0x50726976; PRAGMA user_version = 3;"
        )
    return path


def test_a_ledger_of_version_3_goes_on(old):
    for _ in range(2):
        with closing(SQLiteLedger(old)) as ledger:
            assert ledger.relation("people") == ("add-remove", 1, None)
            assert ledger.relation("cars") == ("replace", 2, None)
            assert ledger.relation("new") is None
            assert verify(ledger) == []
    with closing(SQLiteLedger(old)) as ledger:
        with pytest.raises(PrivacyError):
            charge(ledger, **REPLACED)
        charge(ledger, **ROW, person="who")  # the first that says
        assert ledger.relation("people") == ("add-remove", 1, "who")
        with pytest.raises(PrivacyError):
            charge(ledger, **ROW)
        both = [("add-remove", 1, None), ("replace", 1, None)]
        assert stated_by(ledger.journal())["people"] == both
        cars = {"neighbours": "replace", "rows_per_person": 2}
        there = ledger.reserve("cars", "ada", Budget(1), "a fit", **AIDE, **cars)
        assert there.charged == Budget("1/2").amount  # goes on with the one that is there
        cost = Cost.pure("1/2")
        ledger.charge("cars", "ada", cost, "counts", reservation="fit", **cars, person="who")
        assert ledger.relation("cars") == ("replace", 2, "who")
        ledger.charge("new", "ada", cost, "counts", **ROW)
        assert verify(ledger) == []


def test_an_upgrade_that_dies_leaves_the_old_ledger(old, monkeypatch):
    upgrade = sqlite_ledger.upgrade_accounts

    def dies(connection):
        upgrade(connection)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(sqlite_ledger, "upgrade_accounts", dies)
        with pytest.raises(KeyboardInterrupt):
            SQLiteLedger(old)
    with closing(sqlite3.connect(old)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)
        assert len(connection.execute("SELECT * FROM accounts").fetchone()) == 3
    assert SQLiteLedger(old).relation("people") == ("add-remove", 1, None)


def test_a_ledger_of_version_2_in_postgres_goes_on(postgres):
    import psycopg

    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA privet")
        for script in ("fractions.sql", "journal.sql", "reservations.sql"):
            connection.execute(script_of(script))
        for name, types in {
            "charge": "text, text, text, text, text, text, text, text, text, text, bigint, text",
            "reserved_for": "text, text, text, text, text, text, bigint, text",
            "lock": "",
        }.items():
            connection.execute(
                f"CREATE FUNCTION privet.{name}({types}) RETURNS void LANGUAGE plpgsql AS "
                "'BEGIN PERFORM FROM privet.ledger FOR UPDATE; END'"
            )
        connection.execute("INSERT INTO privet.ledger VALUES (%s, 2, 0)", ("ab" * 32,))
        connection.execute("INSERT INTO privet.accounts VALUES ('people', 'replace', 1)")
    with closing(PostgresLedger(url)) as ledger:
        ledger.set_cap("people", Budget(10))
        assert ledger.relation("people") == ("replace", 1, None)
        with pytest.raises(PrivacyError):
            charge(ledger, **ROW)
        charge(ledger, **REPLACED, person="who")
        assert ledger.relation("people") == ("replace", 1, "who")
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'privet'::regnamespace "
            "AND proname IN ('charge', 'reserved_for')"
        ).fetchall()
        assert len(rows) == 2  # the old ones are gone
