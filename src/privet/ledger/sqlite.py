"""A durable ledger in one SQLite file, shared by processes of one machine."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import astuple
from os import PathLike
from pathlib import Path

from privet.budget import NOTHING, Budget, Cost, written_fraction
from privet.errors import LedgerError, ParameterError, PrivetError
from privet.ledger.base import check_cap, fitted, same_request
from privet.ledger.journal import Books, Entry, Line, cap_line, charge_line, new_identity, written
from privet.ledger.sqlite_connections import Connections
from privet.ledger.verify import problems_of

_EVERYONE = ""  # stands for "no analyst" in the tables; analysts have non-empty names

# What counts is the journal. Caps and totals follow from it, and are kept so that a charge need not
# read it all.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS ledger (identity TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS journal (
    number INTEGER PRIMARY KEY, time TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('charge', 'cap')), dataset TEXT NOT NULL,
    analyst TEXT NOT NULL, what TEXT NOT NULL, epsilon TEXT NOT NULL, rho TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL,
    hash TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS journal_by_dataset ON journal (dataset, analyst);
CREATE UNIQUE INDEX IF NOT EXISTS journal_by_key ON journal (analyst, key) WHERE key <> '';
CREATE TABLE IF NOT EXISTS caps (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount TEXT NOT NULL, unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS spent (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS answers (number INTEGER PRIMARY KEY REFERENCES journal (number), body BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS journal_stays BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS journal_keeps BEFORE UPDATE ON journal BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END;
CREATE TRIGGER IF NOT EXISTS answers_stay BEFORE DELETE ON answers BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
CREATE TRIGGER IF NOT EXISTS answers_keep BEFORE UPDATE ON answers BEGIN SELECT RAISE(ABORT, 'answers are kept'); END;
"""  # noqa: E501
_APPLICATION_ID = 0x50726976  # "Priv"
_VERSION = 2
_RESTORE = "put a backup in its place, and lower the caps by what was spent since it was made"
_COLUMNS = "number, time, kind, dataset, analyst, what, epsilon, rho, key, request, hash"


class SQLiteLedger:
    """A durable ledger in one SQLite file, shared by processes of one machine.

    A charge is one transaction that is on disk (WAL, synchronous=FULL) before :meth:`charge`
    returns, and takes the write lock before it reads what was spent, so that concurrent charges
    never overspend.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self.identity = ""
        self._whole = True  # while it is made
        self._file: int | None = None  # which file it is, once it is open
        self._connections = Connections()
        with self._connected() as connection:
            try:
                tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                identity = connection.execute("PRAGMA application_id").fetchone()[0]
                if tables and identity != _APPLICATION_ID:
                    raise LedgerError(f"{self.path} is an SQLite file, but not a Privet ledger")
                with self._transaction():
                    self._make(connection)
                self.identity = _identity(connection)
                self._whole = False  # until somebody has looked, before the first charge
            except sqlite3.Error as error:
                raise LedgerError(f"cannot open ledger {self.path}: {error}") from None

    def _make(self, connection: sqlite3.Connection) -> None:
        """Make the tables, or bring them from an older version to this one."""
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if version not in (0, 1, _VERSION):
            raise LedgerError(
                f"ledger {self.path} has version {version}, this Privet reads versions 1 to "
                f"{_VERSION}"
            )
        if version == _VERSION:
            return
        # a new file has nothing in it
        if version == 0 and connection.execute("PRAGMA page_count").fetchone()[0] > 1:
            raise LedgerError(f"ledger {self.path} is damaged: it has no version; {_RESTORE}")
        for statement in _statements(_SCHEMA):
            connection.execute(statement)
        connection.execute("INSERT INTO ledger VALUES (?)", (new_identity(),))
        if version == 1:
            self._upgrade(connection)
        connection.execute(f"PRAGMA application_id={_APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={_VERSION}")

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Version 1 had charges without hashes, and caps without a history."""
        old = connection.execute(
            "SELECT time, dataset, analyst, what, epsilon, rho FROM entries ORDER BY number"
        ).fetchall()
        for time, dataset, analyst, what, epsilon, rho in old:
            cost = _cost_from_text(epsilon, rho)
            self._append(
                connection,
                charge_line(*self._head(connection), dataset, analyst, what, cost, time=time),
            )
        for dataset, analyst, amount, unit in connection.execute(
            "SELECT dataset, analyst, amount, unit FROM caps"
        ).fetchall():
            budget = Budget(**{unit: written_fraction(amount)})
            self._append(
                connection, cap_line(*self._head(connection), dataset, analyst or None, budget)
            )
        connection.execute("DROP TABLE entries")

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._transaction() as connection:
            check_cap(self._read_cap(connection, dataset, None), dataset, budget, analyst)
            self._set_cap(connection, dataset, budget, analyst)

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._transaction() as connection:
            check_cap(None, dataset, budget, None)
            there = self._read_cap(connection, dataset, None)
            if there is None:
                self._set_cap(connection, dataset, budget, None)
            return there or budget

    def _set_cap(
        self, connection: sqlite3.Connection, dataset: str, budget: Budget, analyst: str | None
    ) -> None:
        self._append(connection, cap_line(*self._head(connection), dataset, analyst, budget))
        connection.execute(
            (
                "INSERT INTO caps VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET amount = "
                "excluded.amount, unit = excluded.unit"
            ),
            (dataset, analyst or _EVERYONE, str(budget.amount), budget.unit),
        )

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        with self._connected() as connection:
            return self._read_cap(connection, dataset, analyst)

    def charge(
        self, dataset: str, analyst: str, cost: Cost, what: str, *, key: str = "", request: str = ""
    ) -> Entry:
        with self._transaction() as connection:
            there = self._charged(connection, analyst, key)
            if there is not None:
                return same_request(there, request)
            for who in (None, analyst):
                total = fitted(
                    self._read_cap(connection, dataset, who),
                    self._read_spent(connection, dataset, who),
                    cost,
                    dataset,
                    who,
                )
                connection.execute(
                    (
                        "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET epsilon = "
                        "excluded.epsilon, rho = excluded.rho"
                    ),
                    (dataset, who or _EVERYONE, *written(total)),
                )
            line = charge_line(*self._head(connection), dataset, analyst, what, cost, key, request)
            self._append(connection, line)
        return line.entry

    def charged(self, analyst: str, key: str) -> Entry | None:
        with self._connected() as connection:
            return self._charged(connection, analyst, key)

    def record(self, number: int, answer: bytes) -> bytes:
        with self._transaction() as connection:
            connection.execute(
                "INSERT INTO answers VALUES (?, ?) ON CONFLICT DO NOTHING",
                (number, zlib.compress(answer, 1)),
            )
            return self._answer(connection, number) or answer

    def answer(self, number: int) -> bytes | None:
        with self._connected() as connection:
            return self._answer(connection, number)

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        with self._connected() as connection:
            return self._read_spent(connection, dataset, analyst)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        with self._connected() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM journal WHERE kind = 'charge' "  # noqa: S608 - a constant
                "AND (?1 IS NULL OR dataset = ?1) AND (?2 IS NULL OR analyst = ?2) ORDER BY number",
                (dataset, analyst),
            ).fetchall()
            return [Line(*row).entry for row in rows]

    def unanswered(self) -> set[int]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT number FROM journal WHERE key <> '' AND number NOT IN (SELECT number FROM "
                "answers)"
            )
            return {row[0] for row in rows}

    def datasets(self) -> list[str]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT dataset FROM caps WHERE analyst = ? ORDER BY dataset", (_EVERYONE,)
            ).fetchall()
        return [row[0] for row in rows]

    def analysts(self, dataset: str) -> list[str]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT analyst FROM caps WHERE dataset = ? AND analyst <> ? ORDER BY analyst",
                (dataset, _EVERYONE),
            ).fetchall()
        return [row[0] for row in rows]

    def journal(self) -> Iterator[Line]:
        with self._connected() as connection:
            # - a constant
            rows = connection.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY number").fetchall()  # noqa: S608
        for row in rows:
            yield Line(*row)

    def line(self, number: int) -> Line | None:
        with self._connected() as connection:
            # - a constant
            row = connection.execute(
                f"SELECT {_COLUMNS} FROM journal WHERE number = ?",  # noqa: S608
                (number,),
            ).fetchone()
        return None if row is None else Line(*row)

    def recorded(self, analyst: str) -> int:
        with self._connected() as connection:
            sql = (
                "SELECT coalesce(sum(length(body)), 0) FROM journal JOIN answers USING (number) "
                "WHERE analyst = ?"
            )
            return int(connection.execute(sql, (analyst,)).fetchone()[0])

    def books(self) -> Books:
        with self._connected() as connection:
            connection.execute("BEGIN")  # what is read in one transaction is of one moment
            try:
                return _books(connection)
            finally:
                connection.execute("ROLLBACK")

    def close(self) -> None:
        """Close this thread's connection. The ledger can be used again afterwards."""
        self._connections.close()

    def _head(self, connection: sqlite3.Connection) -> tuple[str, int]:
        """The hash of the last line, and the number of the next."""
        row = connection.execute(
            "SELECT hash, number FROM journal ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if row is None:
            return _identity(connection), 1
        return row[0], row[1] + 1

    @staticmethod
    def _append(connection: sqlite3.Connection, line: Line) -> None:
        connection.execute(
            "INSERT INTO journal VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", astuple(line)
        )

    @staticmethod
    def _charged(connection: sqlite3.Connection, analyst: str, key: str) -> Entry | None:
        if not key:
            return None
        row = connection.execute(
            # - a constant
            f"SELECT {_COLUMNS} FROM journal WHERE analyst = ? AND key = ? AND key <> ''",  # noqa: S608
            (analyst, key),
        ).fetchone()
        return None if row is None else Line(*row).entry

    @staticmethod
    def _answer(connection: sqlite3.Connection, number: int) -> bytes | None:
        row = connection.execute("SELECT body FROM answers WHERE number = ?", (number,)).fetchone()
        return None if row is None else zlib.decompress(row[0])

    @staticmethod
    def _read_cap(
        connection: sqlite3.Connection, dataset: str, analyst: str | None
    ) -> Budget | None:
        row = connection.execute(
            "SELECT amount, unit FROM caps WHERE dataset = ? AND analyst = ?",
            (dataset, analyst or _EVERYONE),
        ).fetchone()
        return None if row is None else Budget(**{row[1]: written_fraction(row[0])})

    @staticmethod
    def _read_spent(connection: sqlite3.Connection, dataset: str, analyst: str | None) -> Cost:
        row = connection.execute(
            "SELECT epsilon, rho FROM spent WHERE dataset = ? AND analyst = ?",
            (dataset, analyst or _EVERYONE),
        ).fetchone()
        return NOTHING if row is None else _cost_from_text(*row)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection; a driver error becomes a ledger error."""
        try:
            if self._file is not None and self._file != self._found():
                raise LedgerError(
                    f"ledger {self.path} was removed or replaced while in use; nothing is charged"
                )
            with self._connections.using(self._open) as connection:
                yield connection
        except PrivetError:
            raise
        except sqlite3.Error as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error}") from None
        except UnicodeEncodeError:  # what came is at fault, not the ledger
            raise ParameterError(
                "names, keys and descriptions in a ledger must be text that UTF-8 can write; "
                "nothing is charged"
            ) from None
        except (
            ValueError,
            TypeError,
            zlib.error,
        ):  # an amount that is none, a text that is no UTF-8, an answer that does not unfold
            raise LedgerError(
                f"ledger {self.path} is damaged: it holds what no ledger writes; {_RESTORE}"
            ) from None

    def _check_whole(self, connection: sqlite3.Connection) -> None:
        """A damaged file may still be one that SQLite reads, with a total that is gone or not
        found: nothing is charged to it.
        """
        indexes = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
        found = (
            problems_of(self.identity, _books(connection))
            if indexes == "ok"
            else [" ".join(indexes.split())]
        )
        if found:
            raise LedgerError(
                f"ledger {self.path} is damaged, so nothing is charged ({found[0]}); {_RESTORE}"
            )
        self._whole = True

    def _open(self) -> sqlite3.Connection:
        mode = "rwc" if self._file is None else "rw"  # a ledger that is gone is not made anew
        connection = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}",
            timeout=60,
            isolation_level=None,
            uri=True,
            check_same_thread=False,
        )
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        # another file may get the number of one that was removed
        if self.identity and self.identity != _identity(connection):
            connection.close()
            raise LedgerError(f"ledger {self.path} was replaced while in use; nothing is charged")
        self._file = self._file or self._found()
        return connection

    def _found(self) -> int | None:
        """Which file is at the ledger's place, if any."""
        try:
            return self.path.stat().st_ino
        except FileNotFoundError:
            return None
        except OSError as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error.strerror}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                if not self._whole:
                    self._check_whole(connection)
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # some failures, such as a full disk, have ended it
                    connection.execute("ROLLBACK")
                raise


def _books(connection: sqlite3.Connection) -> Books:
    # - a constant
    lines = [
        Line(*row)
        for row in connection.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY number")  # noqa: S608
    ]
    caps = connection.execute("SELECT dataset, analyst, unit, amount FROM caps").fetchall()
    spent = connection.execute("SELECT dataset, analyst, epsilon, rho FROM spent").fetchall()
    return Books.read(lines, caps, spent)


def _statements(script: str) -> Iterator[str]:
    """The statements of a script, one by one: executescript would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def _identity(connection: sqlite3.Connection) -> str:
    return str(connection.execute("SELECT identity FROM ledger").fetchone()[0])


def _cost_from_text(epsilon: str | None, rho: str) -> Cost:
    return Cost(None if epsilon is None else written_fraction(epsilon), written_fraction(rho))
