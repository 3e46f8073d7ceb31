"""Tampering with a ledger file is found: by its chain, by the witness, or by the receipts that
analysts hold.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from dataclasses import astuple, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import JournalEntry, Receipt, SQLiteLedger, Witness, verify
from privet.accounting.ledger.verify import problems_of
from privet.errors import LedgerError, ParameterError

UNLOCK = (
    "DROP TRIGGER journal_stays; DROP TRIGGER journal_keeps; DROP TRIGGER answers_stay; DROP "
    "TRIGGER answers_keep;"
)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


@pytest.fixture
def ledger(path):
    ledger = SQLiteLedger(path)
    ledger.set_cap("people", Budget(1))
    ledger.set_cap("people", Budget("1/2"), "ada")
    for i in range(6):
        charge(ledger, i)
    return ledger


@pytest.fixture
def witness(tmp_path):
    return Witness(tmp_path / "witness")


def charge(ledger, i):
    entry = ledger.charge(
        "people",
        "ada" if i % 2 else "bob",
        Cost.pure("1/20"),
        f"question {i}",
        key=f"k{i}",
        request=f"r{i}",
    )
    answer = f"answer {i}".encode()
    ledger.record(entry.number, answer)
    return Receipt(ledger.identity, entry.number, entry.hash, hashlib.sha256(answer).hexdigest())


def tamper(path, script):
    connection = sqlite3.connect(path)
    connection.executescript(UNLOCK + script)
    connection.close()


def rewrite(path, change):
    """Change the lines and chain them anew, with totals to fit, as somebody would who knows how it
    is done.
    """
    ledger = SQLiteLedger(path)
    before, lines = ledger.identity, []
    for number, line in enumerate(change(list(ledger.journal())), start=1):
        line = replace(line, number=number)
        lines.append(replace(line, hash=line.hashed(before)))
        before = lines[-1].hash
    ledger.close()
    connection = sqlite3.connect(path)
    connection.executescript(UNLOCK + "DELETE FROM journal; DELETE FROM spent;")
    connection.executemany(
        "INSERT INTO journal VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", [astuple(line) for line in lines]
    )
    for who in ("", "ada", "bob"):
        costs = [
            line.entry.cost for line in lines if line.kind == "charge" and who in ("", line.analyst)
        ]
        if costs:
            total = sum(costs[1:], costs[0])
            connection.execute(
                "INSERT INTO spent VALUES ('people', ?, ?, ?)",
                (who, str(total.epsilon), str(total.rho)),
            )
    connection.commit()
    connection.close()


def test_a_ledger_that_nobody_touched_verifies(ledger, witness):
    assert verify(ledger, witness) == []
    receipt = charge(ledger, 8)
    assert verify(ledger, witness, [receipt]) == []
    assert witness.seen().number == receipt.number


@pytest.mark.parametrize(
    "script",
    [
        "UPDATE journal SET epsilon = '0' WHERE number = 5",
        "UPDATE journal SET analyst = 'eve' WHERE number = 5",
        "UPDATE journal SET dataset = 'cars' WHERE number = 5",
        "UPDATE journal SET what = 'nothing' WHERE number = 5",
        "UPDATE journal SET time = '2020-01-01T00:00:00.000+00:00' WHERE number = 5",
        "UPDATE journal SET key = 'other' WHERE number = 5",
        "UPDATE journal SET request = 'other' WHERE number = 5",
        "UPDATE journal SET rho = '1/1000' WHERE number = 8",
        "UPDATE journal SET hash = substr(hash, 2) || '0' WHERE number = 8",
        "UPDATE journal SET epsilon = 'nonsense' WHERE number = 5",
        "DELETE FROM journal WHERE number = 5",
        (
            "DELETE FROM journal WHERE number = 5; UPDATE journal SET number = number - 1 WHERE "
            "number > 5"
        ),
        "UPDATE journal SET number = 99 WHERE number = 5; UPDATE journal SET number = 5 WHERE "
        "number = 6; UPDATE journal SET number = 6 WHERE number = 99",
        "DELETE FROM journal WHERE number > 5",
        "UPDATE spent SET epsilon = '0'",
        "UPDATE spent SET epsilon = '0' WHERE analyst = 'ada'",
        "DELETE FROM spent WHERE analyst = 'bob'",
        "UPDATE caps SET amount = '100' WHERE analyst = ''",
        "DELETE FROM caps WHERE analyst = 'ada'",
        "INSERT INTO caps VALUES ('cars', '', '5', 'epsilon')",
        "INSERT INTO caps VALUES ('people', 'eve', '5', 'epsilon')",
        "UPDATE ledger SET identity = lower(hex(randomblob(32)))",
    ],
)
def test_the_chain_finds_every_careless_change(path, ledger, script):
    ledger.close()
    tamper(path, script)
    assert verify(SQLiteLedger(path)) != []


def change_amount(lines):
    return [
        replace(line, epsilon="1/1000", rho="1/2000000") if line.number == 5 else line
        for line in lines
    ]


def cut_tail(lines):
    return lines[:-2]


def leave_out(lines):
    return [line for line in lines if line.number != 5]


def swap(lines):
    lines[4], lines[5] = lines[5], lines[4]
    return lines


@pytest.mark.parametrize("change", [change_amount, cut_tail, leave_out, swap])
def test_witness_and_receipts_find_a_rewritten_history(path, ledger, witness, change):
    assert verify(ledger, witness) == []
    late = charge(ledger, 6)
    witness.note(ledger, ledger.entries()[-1])
    ledger.close()
    rewrite(path, change)
    again = SQLiteLedger(path)
    assert verify(again) == [], "it is a whole chain, so nothing inside of it tells"
    assert verify(again, witness) != []
    assert verify(again, receipts=[late]) != []
    assert witness.seen().number == late.number, "the witness keeps what it has seen"


def test_a_restored_backup_is_found_even_after_it_went_on(path, tmp_path, ledger, witness):
    ledger.close()
    shutil.copy(path, tmp_path / "backup")
    ledger = SQLiteLedger(path)
    receipt = charge(ledger, 6)
    assert verify(ledger, witness) == []
    ledger.close()
    for extra in tmp_path.glob("ledger.sqlite-*"):
        extra.unlink()
    shutil.copy(tmp_path / "backup", path)
    restored = SQLiteLedger(path)
    assert any("restored from a backup" in found for found in verify(restored, witness))
    charge(restored, 7)
    charge(restored, 8)
    assert any("restored from a backup" in found for found in verify(restored, witness))
    assert any("restored from a backup" in found for found in verify(restored, receipts=[receipt]))


def test_a_receipt_covers_the_answer(path, ledger):
    receipt = charge(ledger, 6)
    ledger.close()
    tamper(
        path,
        (
            "UPDATE answers SET body = (SELECT body FROM answers WHERE number = 5) WHERE number = "
            f"{receipt.number}"
        ),
    )
    assert any("answer" in found for found in verify(SQLiteLedger(path), receipts=[receipt]))


def test_the_receipt_of_another_ledger_is_none_here(tmp_path, ledger):
    other = SQLiteLedger(tmp_path / "other.sqlite")
    other.set_cap("people", Budget(1))
    assert any("another ledger" in found for found in verify(ledger, receipts=[charge(other, 0)]))


def test_a_damaged_witness_is_an_error_and_not_taken_for_an_empty_one(ledger, witness):
    witness.path.write_text("gone")
    with pytest.raises(LedgerError, match="damaged"):
        verify(ledger, witness)


def test_the_witness_never_goes_back(ledger, witness):
    entries = ledger.entries()
    witness.note(ledger, entries[3])
    witness.note(ledger, entries[1])
    assert witness.seen().number == entries[3].number
    assert [path.name for path in witness.path.parent.glob("witness*")] == ["witness"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "privet-receipt-1",
        "privet-receipt-1.a.b.c.d",
        f"privet-receipt-2.{'0' * 64}.1.{'0' * 64}.",
    ],
)
def test_what_is_no_receipt_is_refused(text):
    with pytest.raises(ParameterError, match="receipt"):
        Receipt.read(text)


hexes = st.text("0123456789abcdef", min_size=64, max_size=64)


@given(hexes, st.integers(0, 10**17), hexes, st.one_of(st.just(""), hexes))
def test_receipts_read_back(ledger, number, line, answer):
    receipt = Receipt(ledger, number, line, answer)
    assert Receipt.read(f" {receipt}\n") == receipt


fields = st.text(max_size=8)


@given(st.tuples(*[fields] * 9), st.tuples(*[fields] * 9))
def test_different_lines_have_different_hashes(one, other):
    """Fields are told apart by their lengths: nothing can move from one into the next."""
    first, second = JournalEntry(1, *one, ""), JournalEntry(1, *other, "")
    assert (first.hashed("") == second.hashed("")) == (one == other)


VERSION_1 = """
CREATE TABLE caps (dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount TEXT NOT NULL, unit TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE spent (dataset TEXT NOT NULL, analyst TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE entries (number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    what TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL);
CREATE TRIGGER entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
INSERT INTO caps VALUES ('people', '', '1', 'rho'), ('people', 'ada', '1/2', 'rho');
INSERT INTO entries VALUES (1, '2026-01-01T00:00:00.000+00:00', 'people', 'ada', 'counts', '1/3', '1/18'),
    (2, '2026-01-02T00:00:00.000+00:00', 'people', 'bob', 'noise', NULL, '1/9');
INSERT INTO spent VALUES ('people', '', NULL, '1/6'), ('people', 'ada', '1/3', '1/18'), ('people', 'bob', NULL, '1/9');
PRAGMA application_id = 0x50726976;
PRAGMA user_version = 1;
"""  # noqa: E501


def test_a_ledger_of_version_1_is_brought_to_this_one(path):
    connection = sqlite3.connect(path)
    connection.executescript(VERSION_1)
    connection.close()
    ledger = SQLiteLedger(path)
    assert [(e.number, e.time[:10], e.analyst, e.cost) for e in ledger.entries()] == [
        (1, "2026-01-01", "ada", Cost.pure("1/3")),
        (2, "2026-01-02", "bob", Cost.concentrated("1/9")),
    ]
    assert ledger.cap("people") == Budget(rho=1)
    assert ledger.cap("people", "ada") == Budget(rho="1/2")
    assert str(ledger.spent("people").rho) == "1/6"
    assert verify(ledger) == []
    ledger.charge("people", "ada", Cost.pure("0.1"), "more")
    ledger.close()
    assert verify(SQLiteLedger(path)) == []


@pytest.mark.parametrize("number", [None, "2", 2.5])
def test_a_line_without_a_number_is_told(ledger, number):
    """In a damaged file anything may stand there."""
    books = ledger.books()
    lines = [*books.lines]
    lines[1] = replace(lines[1], number=number)
    found = problems_of(ledger.identity, replace(books, lines=lines))
    assert f"line {number} stands where line 2 should: a line was removed or moved" in found
    assert not any(line.startswith("line 3 stands") for line in found)


def test_a_ledger_that_went_back_is_noticed_at_the_next_charge(tmp_path):
    """Also by the process that noted the lines which are gone."""
    ledger, witness = SQLiteLedger(tmp_path / "ledger.sqlite"), Witness(tmp_path / "witness")
    ledger.set_cap("people", Budget(10))
    ledger.close()
    backup = (tmp_path / "ledger.sqlite").read_bytes()
    for _ in range(3):
        witness.note(ledger, ledger.charge("people", "ada", Cost.pure(1), "w"))
    ledger.close()
    (tmp_path / "ledger.sqlite").write_bytes(backup)
    with pytest.raises(LedgerError, match="gone or another"):
        witness.note(ledger, ledger.charge("people", "ada", Cost.pure(1), "w"))


def test_threads_share_notes_and_the_last_line_is_seen(tmp_path):
    ledger, witness = SQLiteLedger(tmp_path / "ledger.sqlite"), Witness(tmp_path / "witness")
    ledger.set_cap("people", Budget(1000))

    def work(_: int) -> int:
        line = ledger.charge("people", "ada", Cost.pure("1/10"), "w")
        witness.note(ledger, line)
        seen = witness.seen()
        assert seen is not None
        assert seen.number >= line.number
        return line.number

    with ThreadPoolExecutor(8) as threads:
        last = max(threads.map(work, range(100)))
    seen = witness.seen()
    assert seen is not None
    assert (seen.number, verify(ledger, witness)) == (last, [])
