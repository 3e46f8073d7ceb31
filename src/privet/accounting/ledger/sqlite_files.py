"""Open the SQLite file of a ledger: its connections, and its tables.

There is one connection for each thread, and none while the process forks. SQLite's locks belong to
a process, and it remembers them for all connections to one file together. A forked child remembers
locks that only its parent has: a connection that the child opens then holds none, its parent may
take itself for the last user of the file and remove the log, and what the child wrote since is
lost. So all connections are closed before a fork, when nobody is using one; parent and child open
new ones when they need them.

Tables of older versions are upgraded:

- Version 1 had charges without hashes, and caps without a history.
- Version 2 (Privet 0.1) has a journal of charges and caps, chained by hashes.
- Version 3 adds reservations, and a column ``more`` to the journal. Programs that know version 2
  only refuse it.
- Version 4 adds the column of the person to who the neighbours of an account are, and charges
  nothing under others (:mod:`~privet.accounting.ledger.relation`).
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from weakref import WeakSet

from privet.errors import LedgerError


class _Held:
    """The connection of one thread. Whoever uses it, or closes it for a fork, holds the lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a thread may use its connection within a use of it
        self.connection: sqlite3.Connection | None = None
        self.process = 0

    def close(self) -> None:
        if self.connection is not None and self.process == os.getpid():
            self.connection.close()
            self.connection = None


_gate = threading.Lock()
_all: WeakSet[_Held] = WeakSet()
_forking: list[_Held] = []


class SQLiteConnections:
    """The connections to one file."""

    def __init__(self) -> None:
        self._local = threading.local()

    @contextmanager
    def using(self, opened: Callable[[], sqlite3.Connection]) -> Iterator[sqlite3.Connection]:
        """Use this thread's connection, or a new one, which other threads must be allowed to close.

        A fork waits for the end of the block.
        """
        held = self._hold_connection()
        with held.lock:
            if held.connection is None:
                held.connection, held.process = opened(), os.getpid()
            elif held.process != os.getpid():
                raise LedgerError(
                    "this process was forked in a way that Python was not told of; open ledgers "
                    "after the fork"
                )
            yield held.connection

    def close(self) -> None:
        """Close this thread's connection; the next use opens another."""
        held = self._hold_connection()
        with held.lock:
            held.close()

    def _hold_connection(self) -> _Held:
        held: _Held | None = getattr(self._local, "held", None)
        if held is None:
            held = self._local.held = _Held()
            with _gate:
                _all.add(held)
        return held


def _before_fork() -> None:
    _gate.acquire()
    for held in tuple(_all):
        held.lock.acquire()
        _forking.append(held)  # only what was taken is given back, should somebody interrupt this
        with suppress(sqlite3.Error):  # a connection that stays open is refused in the child
            held.close()


def _after_fork() -> None:
    """Release what was locked for the fork, in the parent and in the child."""
    while _forking:
        _forking.pop().lock.release()
    _gate.release()


if hasattr(os, "register_at_fork"):  # elsewhere nobody forks
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


# -- tables, and upgrades of those of older versions --

VERSION = 4

_JOURNAL = """
CREATE TABLE {name} (
    number INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('charge', 'cap', 'reserve', 'close')),
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    what TEXT NOT NULL,
    epsilon TEXT NOT NULL,
    rho TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    hash TEXT NOT NULL,
    more TEXT NOT NULL);
"""

# Only the journal is authoritative. All other tables except the answers follow from it, and are
# kept so that a charge need not read it all.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (identity TEXT NOT NULL);
CREATE INDEX journal_by_dataset ON journal (dataset, analyst);
CREATE UNIQUE INDEX journal_by_key ON journal (analyst, key) WHERE key <> '';
CREATE INDEX journal_by_time ON journal (time);
CREATE TABLE IF NOT EXISTS caps (
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    amount TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS spent (
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    epsilon TEXT,
    rho TEXT NOT NULL,
    PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS answers (
    number INTEGER PRIMARY KEY REFERENCES journal (number), body BLOB NOT NULL);
CREATE TABLE reservations (
    number INTEGER PRIMARY KEY REFERENCES journal (number),
    dataset TEXT NOT NULL,
    analyst TEXT NOT NULL,
    unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    reserved TEXT NOT NULL,
    charged TEXT NOT NULL,
    touched TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'done', 'cancelled', 'expired')),
    closed INTEGER NOT NULL);
CREATE INDEX reservations_open ON reservations (dataset, analyst) WHERE state = 'open';
CREATE TABLE accounts (
    dataset TEXT NOT NULL PRIMARY KEY, neighbours TEXT NOT NULL, rows_per_person INTEGER NOT NULL,
    person TEXT);
CREATE TRIGGER journal_stays BEFORE DELETE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER journal_keeps BEFORE UPDATE ON journal
    BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS answers_stay BEFORE DELETE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
CREATE TRIGGER IF NOT EXISTS answers_keep BEFORE UPDATE ON answers
    BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
"""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables that are not there, within a transaction."""
    _run(connection, _JOURNAL.format(name="journal") + _SCHEMA)


def upgrade_journal(connection: sqlite3.Connection) -> None:
    """Bring the tables of version 2 to this one, within a transaction.

    SQLite cannot change a CHECK, so the journal is copied. Its lines stay byte for byte what they
    were. The new table gets its name last: answers refer to the name.
    """
    columns = "number, time, kind, dataset, analyst, what, epsilon, rho, key, request, hash"
    _run(connection, _JOURNAL.format(name="journal_3"))
    connection.execute(
        f"INSERT INTO journal_3 ({columns}, more) "  # noqa: S608 - constants
        f"SELECT {columns}, '' FROM journal ORDER BY number"
    )
    connection.execute("DROP TABLE journal")  # with its triggers and indexes
    connection.execute("ALTER TABLE journal_3 RENAME TO journal")
    _run(connection, _SCHEMA)


def upgrade_accounts(connection: sqlite3.Connection) -> None:
    """Bring the tables of version 3 to this one, within a transaction. No line has said yet which
    column tells people apart.
    """
    connection.execute("ALTER TABLE accounts ADD COLUMN person TEXT")


def _run(connection: sqlite3.Connection, script: str) -> None:
    for statement in _split_statements(script):
        connection.execute(statement)


def _split_statements(script: str) -> Iterator[str]:
    """Return the statements of a script, one by one: executescript would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
