"""The ledger in PostgreSQL under concurrency, crashes and tampering."""

from __future__ import annotations

import math
import random
import sys
import threading
import time
from fractions import Fraction as F

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import (
    MemoryLedger,
    PostgresLedger,
    Receipt,
    SQLiteLedger,
    Witness,
    left,
    verify,
)
from privet.accounting.ledger.base import add
from privet.errors import BudgetExceeded, KeyReused, LedgerError, MissingDependency, PrivacyError
from tests.accounting.ledger.spending import Spender

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

SPENDER = """
import sys
from privet.accounting.cost import Cost
from privet.errors import BudgetExceeded, LedgerError
from privet.accounting.ledger import PostgresLedger
answered = 0
try:
    ledger = PostgresLedger(sys.argv[1])
    while True:
        ledger.charge("people", sys.argv[2], Cost.pure(sys.argv[3]), "x")
        answered += 1
        print(answered, flush=True)
except BudgetExceeded:
    print("refused", flush=True)
    ledger.close()
except LedgerError:
    pass  # the server went away
"""


@pytest.fixture
def spend(tmp_path):
    """Start a process that spends."""
    return lambda *words: Spender(SPENDER, list(words), tmp_path, {"PGAPPNAME": "spender"})


def wait_for_what_it_left_running(url):
    """A server goes on with what a client asked before it was killed, or has not begun with it
    yet.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        until = time.monotonic() + 120
        while connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'spender'"
        ).fetchone()[0]:
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.fixture
def url(postgres):
    return postgres.database()


@pytest.fixture
def ledger(url):
    ledger = PostgresLedger(url)
    ledger.set_cap("people", Budget(1))
    yield ledger
    ledger.close()


@pytest.fixture
def sql(url):
    """Runs statements as a superuser."""
    with psycopg.connect(url, autocommit=True) as connection:
        yield connection.execute


# -- exact amounts in SQL --------------------------------------------------------------------------

AMOUNTS = st.one_of(
    st.fractions(min_value=0, max_value=10**6),
    st.builds(F, st.integers(0, 10**310), st.integers(1, 10**310)),
    st.builds(
        F,
        st.integers(0, 10**302),
        st.sampled_from([10**300, 10**300 - 1, 10**300 + 1, 2 * 10**300]),
    ),
)


@pytest.fixture(scope="module")
def arithmetic(postgres):
    url = postgres.database()
    PostgresLedger(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        yield lambda call, *values: connection.execute(
            f"SELECT privet.{call}", [str(value) for value in values]
        ).fetchone()[0]


@settings(max_examples=300)
@given(a=AMOUNTS, b=AMOUNTS)
@example(a=F(0), b=F(0))
@example(a=F(1, 3), b=F(1, 3))
def test_written_fractions_compute_as_fractions_do(arithmetic, a, b):
    assert arithmetic("plus(%s, %s)", a, b) == str(a + b)
    assert arithmetic("less(%s, %s)", a, b) == str(max(a - b, F(0)))
    assert arithmetic("at_most(%s, %s)", a, b) is (a <= b)
    assert arithmetic("tidy(%s)", a) == str(add(Cost(a, a), Cost(F(0), F(0))).rho)
    assert arithmetic("written(%s, %s)", a.numerator * 6, a.denominator * 6) == str(a)


def test_accounts_are_those_of_the_other_ledgers(ledger):
    """The same random charges, accepted or refused alike, with equal totals and equal messages."""
    rng = random.Random(4)
    twin = MemoryLedger()
    twin.set_cap("people", Budget(1))
    for both in (ledger, twin):
        both.set_cap("people", Budget("1/2"), "ada")
        both.set_cap("cars", Budget(rho="1/7"))
    refused = 0
    for i in range(150):
        amount = F(
            rng.randrange(1, 10 ** rng.choice([2, 20])),
            10 ** rng.choice([3, 21]) + rng.randrange(100),
        )
        cost = (
            Cost.concentrated(min(amount, F(1, 50)))
            if rng.random() < 0.2
            else Cost.pure(min(amount, F(1, 20)))
        )
        charge = (
            rng.choice(["people", "cars", "ships"]),
            rng.choice(["ada", "bob"]),
            cost,
            f"number {i}",
        )
        said = []
        for each in (ledger, twin):
            try:
                entry = each.charge(*charge)
                said.append((entry.number, entry.cost))
            except (BudgetExceeded, PrivacyError, LedgerError) as error:
                said.append((type(error), str(error)))
        assert said[0] == said[1]
        refused += isinstance(said[0][0], type)
    assert 20 < refused < 130
    for dataset in ("people", "cars"):
        for who in (None, "ada", "bob"):
            assert ledger.spent(dataset, who) == twin.spent(dataset, who)
    assert verify(ledger) == []


def test_odd_fractions_of_one_analyst_do_not_choke_the_account(ledger):
    spent = F(0)
    for i in range(150):
        odd = F(10**25 + 2 * i + 1, 10**29 + 7919 * i + 1)
        ledger.charge("people", "eve", Cost.pure(odd), "x")
        spent += odd
    recorded = ledger.spent("people").epsilon
    assert spent <= recorded <= spent + F(1, 10**250)
    left_over = 1 - recorded
    with pytest.raises(BudgetExceeded):
        ledger.charge(
            "people",
            "bob",
            Cost.pure(F(math.floor(left_over * 10**50) + 1, 10**50)),
            "a hair too much",
        )
    ledger.charge(
        "people", "bob", Cost.pure(F(math.floor(left_over * 10**50), 10**50)), "all but a hair"
    )
    assert verify(ledger) == []


# -- concurrency and crashes -----------------------------------------------------------------------


def test_eight_processes_never_overspend_by_one_unit(ledger, url, spend):
    processes = [spend(url, f"analyst {i}", "1/400") for i in range(8)]
    assert [process.wait() for process in processes] == [0] * 8
    outputs = [process.told for process in processes]
    assert all(output[-1] == "refused" for output in outputs)
    assert ledger.spent("people").epsilon == 1
    assert len(ledger.entries()) == sum(len(output) - 1 for output in outputs) == 400
    for i, output in enumerate(outputs):
        assert ledger.spent("people", f"analyst {i}").epsilon == F(len(output) - 1, 400)
    assert verify(ledger) == []


def test_threads_share_one_ledger(ledger):
    refused = []

    def work():
        try:
            while True:
                ledger.charge("people", "ada", Cost.pure("1/100"), "x")
        except BudgetExceeded:
            refused.append(True)

    threads = [threading.Thread(target=work) for _ in range(12)]  # more than there are connections
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(refused) == 12
    assert len(ledger.entries()) == 100


def test_one_key_pays_once_however_many_ask_at_once(ledger):
    entries = []
    threads = [
        threading.Thread(
            target=lambda: entries.append(
                ledger.charge("people", "ada", Cost.pure("1/9"), "x", key="k", request="r")
            )
        )
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(entries) == 8
    assert len(set(entries)) == 1
    assert ledger.entries() == entries[:1]
    with pytest.raises(KeyReused, match="line 2"):
        ledger.charge("people", "ada", Cost.pure("1/9"), "x", key="k", request="another")


def test_openers_at_once_agree_on_one_ledger_and_one_cap(url):
    opened = []

    def work(amount):
        ledger = PostgresLedger(url)
        opened.append((ledger.identity, ledger.open_cap("people", Budget(amount))))
        ledger.close()

    threads = [threading.Thread(target=work, args=(i + 1,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert len(opened) == 6
    assert len(set(opened)) == 1


@pytest.mark.parametrize("end", ["COMMIT", "ROLLBACK"])
def test_who_opens_a_ledger_while_another_makes_it_waits(url, end):
    opened = []

    def work():
        try:
            opened.append(PostgresLedger(url))
        except LedgerError as error:
            opened.append(str(error))

    opener = threading.Thread(target=work)
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("BEGIN; CREATE SCHEMA privet")
        opener.start()
        time.sleep(0.3)
        assert opened == []
        other.execute(end)
    opener.join(timeout=120)
    if end == "COMMIT":
        assert "that is no Privet ledger" in opened[0]
    else:
        assert verify(opened[0]) == []
        opened[0].close()


def test_no_login_can_lock_the_owner_out(ledger, url):
    """Anybody may hold any advisory lock, for as long as they like."""
    with psycopg.connect(url, autocommit=True) as login:
        login.execute("SELECT pg_advisory_lock(%s)", (0x50726976,))
        again = PostgresLedger(url)
        assert again.identity == ledger.identity
        again.charge("people", "ada", Cost.pure("1/9"), "x")
        again.close()


def test_kill_9_at_random_moments_never_loses_an_answered_charge(ledger, url, spend):
    ledger.set_cap("people", Budget(1_000_000))
    rng = random.Random(9)
    for _ in range(12):
        before = len(ledger.entries())
        process = spend(url, "ada", "1/7")
        process.wait_until_it_told(rng.randrange(1, 9))  # it is at work
        time.sleep(rng.random() * 0.01)
        process.kill()
        told = int(process.told[-1])
        wait_for_what_it_left_running(url)
        recorded = len(ledger.entries()) - before
        # at most one charge may be on disk whose answer was not given any more
        assert told <= recorded <= told + 1
    assert ledger.spent("people").epsilon == F(len(ledger.entries()), 7)
    assert verify(ledger) == []


def test_a_crash_of_the_server_never_loses_an_answered_charge(own_postgres, monkeypatch, spend):
    monkeypatch.setattr("privet.accounting.ledger.postgres._TIMEOUT_SECONDS", 120)
    url = own_postgres.database()
    ledger = PostgresLedger(url)
    ledger.set_cap("people", Budget(1_000_000))
    told = 0
    for _ in range(2):
        process = spend(url, "ada", "1/7")
        process.wait_until_it_told(20)
        own_postgres.crash()
        process.kill()  # it would wait for the server to come back
        told += int(process.told[-1])
        with pytest.raises(LedgerError) as caught:
            PostgresLedger(url)
        assert "cannot use ledger" in str(caught.value)
        own_postgres.start()
        recorded = len(ledger.entries())  # by connections that were closed under the ledger
        assert told <= recorded <= told + 1
        told = recorded
    assert told >= 40
    assert ledger.spent("people").epsilon == F(told, 7)
    assert verify(ledger) == []
    ledger.close()


@pytest.mark.parametrize("isolation", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_caller_with_an_old_snapshot_fails_instead_of_reading_old_totals(ledger, url, isolation):
    ledger.charge("people", "ada", Cost.pure("0.6"), "x")
    with psycopg.connect(url) as other:
        other.execute(f"SET TRANSACTION ISOLATION LEVEL {isolation}")
        other.execute("SELECT count(*) FROM privet.journal")  # takes its snapshot
        ledger.charge("people", "ada", Cost.pure("0.4"), "the rest")
        with pytest.raises(psycopg.errors.SerializationFailure):
            other.execute("SELECT privet.charge('people', 'bob', 'x', '2/5', '2/25', '', '')")
    assert ledger.spent("people").epsilon == 1
    assert [entry.analyst for entry in ledger.entries()] == ["ada", "ada"]


def test_a_ledger_whose_lock_is_held_says_so_and_charges_nothing(ledger, url, monkeypatch):
    # also for a connection, on a busy machine
    monkeypatch.setattr("privet.accounting.ledger.postgres._TIMEOUT_SECONDS", 2)
    ledger.close()
    with psycopg.connect(url) as other:
        other.execute("SELECT privet.lock()")
        with pytest.raises(LedgerError, match=r"busy.*nothing is charged"):
            ledger.charge("people", "ada", Cost.pure("0.1"), "x")
    assert ledger.entries() == []
    ledger.charge("people", "ada", Cost.pure("0.1"), "x")


def test_charges_are_flushed_whatever_the_default_of_the_database(ledger, url, sql):
    sql("ALTER ROLE CURRENT_USER SET synchronous_commit = off")
    try:
        ledger.close()
        with psycopg.connect(url) as other:
            assert other.execute("SHOW synchronous_commit").fetchone() == ("off",)
        with ledger._connected() as connection:
            assert connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    finally:
        sql("ALTER ROLE CURRENT_USER RESET synchronous_commit")


def test_a_forked_child_gets_connections_of_its_own(ledger):
    mine = ledger._connections()
    ledger._process = -1  # as a child process sees it
    ledger.charge("people", "ada", Cost.pure("0.5"), "x")
    assert ledger._pool is not mine
    mine.close()


# -- opening ---------------------------------------------------------------------------------------


def test_it_is_the_same_ledger_when_opened_again(ledger, url):
    ledger.set_cap("people", Budget("1/4"), "ada")
    entry = ledger.charge("people", "ada", Cost.bounded_range("1/5"), "split")
    again = PostgresLedger(url)
    assert again.identity == ledger.identity
    assert again.entries() == [entry]
    assert left(again, "people", "ada") == F(1, 20)
    again.close()


def test_a_newer_ledger_is_refused(ledger, url, sql):
    sql("UPDATE privet.ledger SET version = 99")
    with pytest.raises(LedgerError, match="version 99"):
        PostgresLedger(url)


def test_another_schema_of_that_name_is_refused_and_left_as_it_is(url, sql):
    sql("CREATE SCHEMA privet")
    with pytest.raises(LedgerError, match="no Privet ledger"):
        PostgresLedger(url)
    assert sql(
        "SELECT count(*) FROM pg_class WHERE relnamespace = 'privet'::regnamespace"
    ).fetchone() == (0,)


def test_a_schema_of_somebody_else_is_refused(url, sql):
    """Who may create schemas could lay a charge of their own in the way of a superuser."""
    sql(
        "CREATE ROLE mallory; CREATE SCHEMA privet AUTHORIZATION mallory; CREATE TABLE "
        "privet.ledger AS SELECT 1"
    )
    with pytest.raises(LedgerError, match="belongs to another user"):
        PostgresLedger(url)
    sql("DROP SCHEMA privet CASCADE; DROP ROLE mallory")


def test_what_fails_while_it_is_made_leaves_nothing_behind(url, sql, monkeypatch):
    monkeypatch.setattr(
        "privet.accounting.ledger.postgres._SCRIPTS",
        ("fractions.sql", "journal.sql", "reservations.sql", "journal.sql"),
    )
    with pytest.raises(LedgerError, match="already exists"):
        PostgresLedger(url)
    assert sql("SELECT to_regnamespace('privet')").fetchone() == (None,)


def test_another_encoding_is_refused(postgres, sql):
    sql("CREATE DATABASE bytes ENCODING 'SQL_ASCII' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'")
    with pytest.raises(LedgerError, match="UTF-8"):
        PostgresLedger(postgres.url.replace("/postgres?", "/bytes?"))


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ada:hunter2@127.0.0.1:1/people",
        "postgresql://ada:hunter2@nowhere.invalid/people",
        "postgresql://ada:hunter2/7@127.0.0.1/people",
        "postgresql://ada:at@hunter2@127.0.0.1/people",
        "postgresql://ada:hunter2@127.0.0.1:hunter2/people",
        "postgresql://ada:hunter2@127.0.0.1/people?no_such_option=hunter2",
        "hunter2",
        "host=127.0.0.1 port=1 password=hunter2 user='ada",
    ],
)
def test_a_server_that_cannot_be_reached_is_named_without_its_password(address):
    with pytest.raises(LedgerError) as caught:
        PostgresLedger(address)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_without_the_driver_the_way_to_install_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingDependency, match=r"privet\[postgres\]"):
        PostgresLedger("postgresql://127.0.0.1/people")


# -- the chain -------------------------------------------------------------------------------------


def test_lines_are_hashed_as_in_python_whatever_they_hold(ledger):
    for what in ("ünïcödé", "two\nlines, 3:abc,", "emoji \N{DECIDUOUS TREE}", ""):
        ledger.charge("people", "ädä", Cost.pure("1/1000"), what, key=f"k{what}", request=what)
    ledger.set_cap("cars", Budget(rho="1/3"))
    ledger.charge("cars", "ädä", Cost.concentrated("1/1000"), "no pure epsilon")
    before = ledger.identity
    for line in ledger.journal():
        assert line.hash == line.hashed(before)
        before = line.hash
    assert line.number == 7


def test_times_are_written_as_python_writes_them(ledger, url):
    from datetime import UTC, datetime

    with psycopg.connect(url) as other:
        other.execute("SET TimeZone = 'Asia/Kolkata'; SET DateStyle = 'German'; SET lc_time = 'C'")
        written = other.execute(
            "SELECT time FROM privet.charge('people', 'ada', 'x', '1/3', '1/18', '', '')"
        ).fetchone()[0]
    time_ = datetime.fromisoformat(written)
    assert time_.isoformat(timespec="milliseconds") == written
    assert abs((datetime.now(UTC) - time_).total_seconds()) < 60


@pytest.mark.parametrize("table", ["journal", "answers"])
@pytest.mark.parametrize("statement", ["DELETE FROM", "UPDATE", "TRUNCATE"])
def test_journal_and_answers_are_append_only(ledger, sql, table, statement):
    entry = ledger.charge("people", "ada", Cost.pure(1), "x", key="k")
    ledger.record(entry.number, b"42")
    change = (
        " SET number = number + 1"
        if statement == "UPDATE"
        else " CASCADE"
        if statement == "TRUNCATE"
        else ""
    )
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match=r"append-only|kept"):
        sql(f"SET session_replication_role = replica; {statement} privet.{table}{change}")
    assert ledger.answer(entry.number) == b"42"
    assert verify(ledger) == []


EDITS = {
    "amount": "UPDATE privet.journal SET epsilon = '1/100' WHERE number = 3",
    "who": "UPDATE privet.journal SET analyst = 'bob' WHERE number = 3",
    "time": "UPDATE privet.journal SET time = '2020-01-01T00:00:00.000+00:00' WHERE number = 3",
    "removed": "DELETE FROM privet.journal WHERE number = 3",
    "closed up": (
        "DELETE FROM privet.journal WHERE number = 3; UPDATE privet.journal SET number = number - "
        "1 WHERE number > 3"
    ),
    "swapped": "UPDATE privet.journal SET number = -number WHERE number IN (3, 4); "
    "UPDATE privet.journal SET number = 7 + number WHERE number < 0",
    "first": "DELETE FROM privet.journal WHERE number = 1",
    "cap": "UPDATE privet.caps SET amount = '100'",
    "own cap": "INSERT INTO privet.caps VALUES ('people', 'eve', '100', 'epsilon')",
    "total": "UPDATE privet.spent SET epsilon = '0'",
    "no total": "DELETE FROM privet.spent",
    "identity": "UPDATE privet.ledger SET identity = repeat('0', 64)",
    "nonsense": "UPDATE privet.journal SET epsilon = 'much' WHERE number = 3",
}


def tamper(sql, statements):
    """As a superuser who first disables the triggers."""
    sql(
        "ALTER TABLE privet.journal DISABLE TRIGGER ALL; ALTER TABLE privet.answers DISABLE "
        "TRIGGER ALL"
    )
    sql(statements)


@pytest.mark.parametrize("edit", EDITS)
def test_tampering_by_a_superuser_is_found(ledger, url, sql, edit):
    for i in range(4):
        ledger.charge("people", "ada", Cost.pure("1/10"), f"number {i}")
    assert verify(ledger) == []
    tamper(sql, EDITS[edit])
    again = PostgresLedger(url)
    assert verify(again) != []
    again.close()


def test_a_cut_tail_is_found_by_witness_and_receipt_and_takes_no_charge(ledger, sql, tmp_path):
    witness = Witness(tmp_path / "witness")
    entries = [ledger.charge("people", "ada", Cost.pure("1/10"), f"number {i}") for i in range(3)]
    assert verify(ledger, witness) == []
    tamper(
        sql,
        (
            "DELETE FROM privet.journal WHERE number = 4; UPDATE privet.spent SET epsilon = '1/5', "
            "rho = '1/100'"
        ),
    )
    assert verify(ledger) == []  # by itself it looks whole
    assert verify(ledger, witness) != []
    assert (
        verify(ledger, receipts=[Receipt(ledger.identity, entries[-1].number, entries[-1].hash)])
        != []
    )
    with pytest.raises(LedgerError, match="line 4 of the ledger is gone"):
        ledger.charge("people", "ada", Cost.pure("1/10"), "x")


def test_a_changed_answer_is_found_by_its_receipt(ledger, sql):
    import hashlib

    entry = ledger.charge("people", "ada", Cost.pure("1/10"), "x", key="k")
    ledger.record(entry.number, b"42")
    receipt = Receipt(ledger.identity, entry.number, entry.hash, hashlib.sha256(b"42").hexdigest())
    assert verify(ledger, receipts=[receipt]) == []
    tamper(sql, "UPDATE privet.answers SET body = '43'")
    assert verify(ledger, receipts=[receipt]) == ["the answer of line 2 was changed"]


def test_the_journal_streams(ledger, sql):
    ledger.set_cap("people", Budget(10_000))
    sql(
        "SELECT count(privet.charge('people', 'ada', 'x', '1', '1/2', '', '')) FROM "
        "generate_series(1, 2500)"
    )
    lines = ledger.journal()
    assert next(lines).number == 1
    ledger.charge("people", "ada", Cost.pure(1), "while it is read")
    assert sum(1 for _ in lines) == 2501  # one snapshot: without the last one
    assert verify(ledger) == []


def test_the_same_charges_make_the_same_lines_as_in_sqlite(ledger, tmp_path):
    twin = SQLiteLedger(tmp_path / "ledger.sqlite")
    twin.set_cap("people", Budget(1))
    for each in (ledger, twin):
        each.set_cap("people", Budget("1/3"), "ada")
        each.charge("people", "ada", Cost.pure("1/7"), "x", key="k", request="r")
        each.open_cap("cars", Budget(rho=1))
        each.charge("cars", "bob", Cost.concentrated("1/7"), "y")
    fields = ("number", "kind", "dataset", "analyst", "what", "epsilon", "rho", "key", "request")
    ours, theirs = (
        [[getattr(line, field) for field in fields] for line in each.journal()]
        for each in (ledger, twin)
    )
    assert ours == theirs
    twin.close()
