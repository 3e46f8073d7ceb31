"""Store the audit log: in an SQLite file of its own, or beside a ledger in PostgreSQL.

Both are append-only, and shared by processes: whoever appends holds a lock that orders the events.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, LiteralString, Protocol

from privet._atomic import create_private
from privet._planted import follow_own_links
from privet.accounting.ledger.journal import new_identity
from privet.accounting.ledger.verify import Witness
from privet.errors import LedgerError, PrivetError
from privet.service.audit_log.events import COLUMNS, Event, chain_event, verify_log

if TYPE_CHECKING:
    from privet.accounting.ledger.postgres import PostgresLedger

_APPLICATION_ID = 0x50726965  # "Prie"
_VERSION = 1
_COLUMNS = ", ".join(COLUMNS)
_SQLITE = """
CREATE TABLE log (identity TEXT NOT NULL);
CREATE TABLE events (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, who TEXT NOT NULL, role TEXT NOT NULL,
    kind TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL, what TEXT NOT NULL,
    more TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TRIGGER events_stay BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER events_keep BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
"""


class AuditLog(Protocol):
    """What every audit log does."""

    @property
    def identity(self) -> str:
        """64 random hexadecimal digits, from which the chain begins."""
        ...

    def append(self, event: Event) -> Event:
        """Record an event durably, and return it numbered and chained."""
        ...

    def events(
        self,
        dataset: str | None = None,
        analyst: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Event]:
        """Return the events, oldest first.

        ``since`` and ``until`` are days (both included), or times.
        """
        ...

    def line(self, number: int) -> Event | None:
        """Return the event of this number, or None."""
        ...


def verify_stored(log: AuditLog, witness: Witness) -> list[str]:
    """Return what is wrong with a log, in words; a log that is whole is noted in the witness."""
    seen = witness.seen()  # before the events are read: what was seen then must be among them
    events = log.events()
    problems = verify_log(log.identity, events, witness if seen is not None else None)
    if not problems and events:
        witness.note(log, events[-1])
    return problems


class SQLiteAuditLog:
    """An audit log in an SQLite file, which is made when it is first needed."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._identity = ""

    @property
    def identity(self) -> str:
        if not self._identity:
            with self._opened() as connection:
                self._identity = _read_identity(connection)
        return self._identity

    def append(self, event: Event) -> Event:
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            row = connection.execute(
                "SELECT hash, number FROM events ORDER BY number DESC LIMIT 1"
            ).fetchone()
            before, number = (_read_identity(connection), 0) if row is None else row
            chained = chain_event(event, before, number + 1)
            marks = ", ".join("?" * len(COLUMNS))
            connection.execute(
                f"INSERT INTO events ({_COLUMNS}) VALUES ({marks})",  # noqa: S608 - constants
                chained.columns,
            )
            connection.execute("COMMIT")
        return chained

    def events(
        self,
        dataset: str | None = None,
        analyst: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Event]:
        with self._opened() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE (?1 IS NULL OR dataset = ?1) "  # noqa: S608
                "AND (?2 IS NULL OR analyst = ?2) AND time >= ?3 "
                "AND (?4 = '' OR substr(time, 1, length(?4)) <= ?4) ORDER BY number",
                (dataset, analyst, since, until),
            ).fetchall()
        return [Event(*row) for row in rows]

    def line(self, number: int) -> Event | None:
        with self._opened() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM events WHERE number = ?",  # noqa: S608 - a constant
                (number,),
            ).fetchone()
        return None if row is None else Event(*row)

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection for one use: a few a minute need none that stays, and forks cannot harm."""
        try:
            self._create()
            connection = sqlite3.connect(self.path, timeout=30, isolation_level=None)
            try:
                connection.execute("PRAGMA synchronous=FULL")
                self._make_tables(connection)
                yield connection
            finally:
                connection.close()
        except PrivetError:
            raise
        except OSError as error:
            raise LedgerError(f"cannot use the audit log {self.path}: {error.strerror}") from None
        except (sqlite3.Error, TypeError, ValueError) as error:
            raise LedgerError(f"cannot use the audit log {self.path}: {error}") from None

    def _create(self) -> None:
        if not self.path.exists():
            try:
                create_private(follow_own_links(self.path))
            except FileExistsError:  # somebody was faster
                return

    def _make_tables(self, connection: sqlite3.Connection) -> None:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version == 0:
            connection.execute("BEGIN IMMEDIATE")
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:
                _run(connection, _SQLITE)
                connection.execute("INSERT INTO log VALUES (?)", (new_identity(),))
                connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version={_VERSION}")
            connection.execute("COMMIT")
        elif version != _VERSION:
            raise LedgerError(
                f"the audit log {self.path} has version {version}, this Privet reads version "
                f"{_VERSION}"
            )


def _read_identity(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT identity FROM log").fetchone()[0])


def _run(connection: sqlite3.Connection, script: str) -> None:
    """Run the statements of a script within a transaction, which executescript would end."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""


_POSTGRES: LiteralString = """
CREATE TABLE IF NOT EXISTS privet.audit_log_identity (identity text NOT NULL);
CREATE TABLE IF NOT EXISTS privet.audit_log (
    number bigint PRIMARY KEY, time text COLLATE "C" NOT NULL, who text COLLATE "C" NOT NULL,
    role text NOT NULL, kind text NOT NULL, dataset text COLLATE "C" NOT NULL,
    analyst text COLLATE "C" NOT NULL, what text NOT NULL, more text NOT NULL, hash text NOT NULL);
CREATE OR REPLACE TRIGGER audit_log_stays BEFORE UPDATE OR DELETE OR TRUNCATE ON privet.audit_log
    FOR EACH STATEMENT EXECUTE FUNCTION privet.keep('the audit log is append-only');
ALTER TABLE privet.audit_log ENABLE ALWAYS TRIGGER audit_log_stays;
"""


class PostgresAuditLog:
    """An audit log in the database of a ledger. Its tables are made when they are first needed."""

    def __init__(self, ledger: PostgresLedger) -> None:
        self._ledger = ledger
        self._identity = ""

    @property
    def identity(self) -> str:
        if not self._identity:
            with self._opened() as connection:
                self._identity = _read_postgres_identity(connection)
        return self._identity

    def append(self, event: Event) -> Event:
        with self._opened() as connection:
            row = connection.execute(
                "SELECT hash, number FROM privet.audit_log ORDER BY number DESC LIMIT 1"
            ).fetchone()
            before, number = (_read_postgres_identity(connection), 0) if row is None else row
            chained = chain_event(event, before, number + 1)
            marks = ", ".join(f"${place}" for place in range(1, len(COLUMNS) + 1))
            connection.execute(
                f"INSERT INTO privet.audit_log ({_COLUMNS}) VALUES ({marks})",  # noqa: S608
                chained.columns,
            )
        return chained

    def events(
        self,
        dataset: str | None = None,
        analyst: str | None = None,
        since: str = "",
        until: str = "",
    ) -> list[Event]:
        with self._opened() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM privet.audit_log WHERE "  # noqa: S608 - a constant
                "($1::text IS NULL OR dataset = $1) AND ($2::text IS NULL OR analyst = $2) AND "
                "time >= $3 AND ($4 = '' OR left(time, length($4)) <= $4) ORDER BY number",
                (dataset, analyst, since, until),
            ).fetchall()
        return [Event(*row) for row in rows]

    def line(self, number: int) -> Event | None:
        with self._opened() as connection:
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM privet.audit_log WHERE number = $1",  # noqa: S608
                (number,),
            ).fetchone()
        return None if row is None else Event(*row)

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._ledger.transaction() as connection:
            there = connection.execute("SELECT to_regclass('privet.audit_log') IS NOT NULL")
            if there.fetchone() == (False,):
                connection.execute(_POSTGRES)
                connection.execute(
                    "INSERT INTO privet.audit_log_identity VALUES ($1)", (new_identity(),)
                )
            yield connection


def _read_postgres_identity(connection: Any) -> str:
    return str(connection.execute("SELECT identity FROM privet.audit_log_identity").fetchone()[0])
