"""Ledger: who asked what, when, at what cost. Append-only; a charge is recorded before the data is touched.

A ledger knows accounts. Each data set has a cap of its own over all its analysts, so that colluding analysts
together cannot pass it; an analyst may have a cap as well. A charge must fit into both, exactly: amounts are rationals, so the
last unit can be spent and not one more.
"""

from __future__ import annotations

import math
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Protocol

from privet.budget import NOTHING, Budget, Cost, Unit
from privet.errors import BudgetExceeded, LedgerError, ParameterError, PrivacyError

_EVERYONE = ""  # stands for "no analyst" in the tables; analysts have non-empty names


@dataclass(frozen=True)
class Entry:
    """One charge."""

    number: int
    time: str
    dataset: str
    analyst: str
    what: str
    cost: Cost


class Ledger(Protocol):
    """What the curator needs of a ledger."""

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        """Set the cap of a data set, or of one analyst on it. The unit of a data set's cap is fixed by the first one."""

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        """Set the cap of a data set unless it has one, in one step; the cap that it has then."""

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        """The cap, where there is one."""

    def charge(self, dataset: str, analyst: str, cost: Cost, what: str) -> Entry:
        """Record a charge durably, or raise :class:`BudgetExceeded` and record nothing."""

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        """What was spent on a data set, by one analyst or by all."""

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        """The charges, oldest first."""

    def datasets(self) -> list[str]:
        """The data sets that have a cap."""


def left(ledger: Ledger, dataset: str, analyst: str) -> Fraction:
    """What this analyst can still spend, in the unit of the data set's cap."""
    cap = ledger.cap(dataset)
    if cap is None:
        raise LedgerError(f"the ledger has no budget for data set {dataset!r}; set one first")
    amounts = [_left(cap, ledger.spent(dataset))]
    own = ledger.cap(dataset, analyst)
    if own is not None:
        amounts.append(_left(own, ledger.spent(dataset, analyst)))
    return min(amounts)


class MemoryLedger:
    """A ledger that lives as long as the process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._caps: dict[tuple[str, str | None], Budget] = {}
        self._spent: dict[tuple[str, str | None], Cost] = {}
        self._entries: list[Entry] = []

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._lock:
            _checked_cap(self._caps.get((dataset, None)), dataset, budget, analyst)
            self._caps[dataset, analyst] = budget

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._lock:
            _checked_cap(None, dataset, budget, None)
            return self._caps.setdefault((dataset, None), budget)

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        return self._caps.get((dataset, analyst))

    def charge(self, dataset: str, analyst: str, cost: Cost, what: str) -> Entry:
        with self._lock:
            totals = {}
            for who in (None, analyst):
                totals[who] = _fitted(self._caps.get((dataset, who)), self.spent(dataset, who), cost, dataset, who)
            entry = Entry(len(self._entries) + 1, _now(), dataset, analyst, what, cost)
            self._entries.append(entry)
            self._spent.update({(dataset, who): total for who, total in totals.items()})
        return entry

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        return self._spent.get((dataset, analyst), NOTHING)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        return [e for e in self._entries if dataset in (None, e.dataset) and analyst in (None, e.analyst)]

    def datasets(self) -> list[str]:
        return sorted(dataset for dataset, analyst in self._caps if analyst is None)


_SCHEMA = """
CREATE TABLE IF NOT EXISTS caps (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, amount TEXT NOT NULL, unit TEXT NOT NULL CHECK (unit IN ('epsilon', 'rho')),
    PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS spent (
    dataset TEXT NOT NULL, analyst TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL, PRIMARY KEY (dataset, analyst));
CREATE TABLE IF NOT EXISTS entries (
    number INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, dataset TEXT NOT NULL, analyst TEXT NOT NULL,
    what TEXT NOT NULL, epsilon TEXT, rho TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS entries_by_dataset ON entries (dataset, analyst);
CREATE TRIGGER IF NOT EXISTS entries_stay BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER IF NOT EXISTS entries_keep BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
"""
_APPLICATION_ID = 0x50726976  # "Priv"
_VERSION = 1


class SQLiteLedger:
    """A durable ledger in one SQLite file, shared by processes of one machine.

    A charge is one transaction that is on disk (WAL, synchronous=FULL) before :meth:`charge` returns, and takes the
    write lock before it reads what was spent, so that concurrent charges never overspend.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._local = threading.local()
        with self._connected() as connection:
            try:
                tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
                identity = connection.execute("PRAGMA application_id").fetchone()[0]
                version = connection.execute("PRAGMA user_version").fetchone()[0]
                if tables and identity != _APPLICATION_ID:
                    raise LedgerError(f"{self.path} is an SQLite file, but not a Privet ledger")
                if tables and version != _VERSION:
                    raise LedgerError(f"ledger {self.path} has version {version}, this Privet reads version {_VERSION}")
                connection.executescript(
                    f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA application_id={_APPLICATION_ID}; PRAGMA user_version={_VERSION}; COMMIT;"
                )
            except sqlite3.Error as error:
                raise LedgerError(f"cannot open ledger {self.path}: {error}") from None

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._transaction() as connection:
            _checked_cap(self._read_cap(connection, dataset, None), dataset, budget, analyst)
            connection.execute(
                "INSERT INTO caps VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET amount = excluded.amount, unit = excluded.unit",
                (dataset, analyst or _EVERYONE, str(budget.amount), budget.unit),
            )

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._transaction() as connection:
            _checked_cap(None, dataset, budget, None)
            connection.execute(
                "INSERT INTO caps VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
                (dataset, _EVERYONE, str(budget.amount), budget.unit),
            )
            return self._read_cap(connection, dataset, None) or budget

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        with self._connected() as connection:
            return self._read_cap(connection, dataset, analyst)

    def charge(self, dataset: str, analyst: str, cost: Cost, what: str) -> Entry:
        with self._transaction() as connection:
            for who in (None, analyst):
                total = _fitted(self._read_cap(connection, dataset, who), self._read_spent(connection, dataset, who), cost, dataset, who)
                connection.execute(
                    "INSERT INTO spent VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET epsilon = excluded.epsilon, rho = excluded.rho",
                    (dataset, who or _EVERYONE, *_cost_to_text(total)),
                )
            time = _now()
            number = connection.execute(
                "INSERT INTO entries (time, dataset, analyst, what, epsilon, rho) VALUES (?, ?, ?, ?, ?, ?)",
                (time, dataset, analyst, what, *_cost_to_text(cost)),
            ).lastrowid
        return Entry(number or 0, time, dataset, analyst, what, cost)

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        with self._connected() as connection:
            return self._read_spent(connection, dataset, analyst)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        with self._connected() as connection:
            rows = connection.execute(
                "SELECT number, time, dataset, analyst, what, epsilon, rho FROM entries "
                "WHERE (?1 IS NULL OR dataset = ?1) AND (?2 IS NULL OR analyst = ?2) ORDER BY number",
                (dataset, analyst),
            ).fetchall()
        return [Entry(n, t, d, a, what, _cost_from_text(epsilon, rho)) for n, t, d, a, what, epsilon, rho in rows]

    def datasets(self) -> list[str]:
        with self._connected() as connection:
            rows = connection.execute("SELECT dataset FROM caps WHERE analyst = ? ORDER BY dataset", (_EVERYONE,)).fetchall()
        return [row[0] for row in rows]

    def close(self) -> None:
        """Close this thread's connection. The ledger can be used again afterwards."""
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    @staticmethod
    def _read_cap(connection: sqlite3.Connection, dataset: str, analyst: str | None) -> Budget | None:
        row = connection.execute(
            "SELECT amount, unit FROM caps WHERE dataset = ? AND analyst = ?", (dataset, analyst or _EVERYONE)
        ).fetchone()
        return None if row is None else Budget(**{row[1]: Fraction(row[0])})

    @staticmethod
    def _read_spent(connection: sqlite3.Connection, dataset: str, analyst: str | None) -> Cost:
        row = connection.execute(
            "SELECT epsilon, rho FROM spent WHERE dataset = ? AND analyst = ?", (dataset, analyst or _EVERYONE)
        ).fetchone()
        return NOTHING if row is None else _cost_from_text(*row)

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """This thread's connection; a driver error becomes a ledger error."""
        try:
            # A connection must not be carried into a forked child.
            if getattr(self._local, "connection", None) is None or self._local.process != os.getpid():
                connection = sqlite3.connect(self.path, timeout=60, isolation_level=None)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")
                self._local.connection, self._local.process = connection, os.getpid()
                self._local.file = self.path.stat().st_ino
            elif not self.path.exists() or self.path.stat().st_ino != self._local.file:
                raise LedgerError(f"ledger {self.path} was removed or replaced while in use; nothing is charged")
            yield self._local.connection
        except sqlite3.Error as error:
            raise LedgerError(f"cannot use ledger {self.path}: {error}") from None

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with self._connected() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")


def _fitted(cap: Budget | None, spent: Cost, cost: Cost, dataset: str, analyst: str | None) -> Cost:
    """What will have been spent after this charge; raises if it does not fit into the cap."""
    if analyst == _EVERYONE:
        raise ParameterError("analyst must be a name, got ''")
    if cap is None:
        if analyst is None:
            raise LedgerError(f"the ledger has no budget for data set {dataset!r}; set one first")
        return _tidy(spent + cost)
    asked = cost.amount(cap.unit)
    if asked is None:
        raise PrivacyError(
            f"data set {dataset!r} has a pure epsilon budget, and this mechanism only gives a rho (zCDP) guarantee; "
            "use a pure mechanism, or ask the owner for a budget in rho"
        )
    remaining = _left(cap, spent)
    if asked > remaining:
        account = f"data set {dataset!r}" if analyst is None else f"analyst {analyst!r} on data set {dataset!r}"
        raise BudgetExceeded(asked, remaining, cap.unit, account)
    return _tidy(spent + cost)


_DIGITS = 10**300


def _tidy(total: Cost) -> Cost:
    """The total itself; beyond 300 digits rounded up, so that odd fractions of one analyst cannot choke the account."""

    def tidy(amount: Fraction) -> Fraction:
        return amount if amount.denominator <= _DIGITS else Fraction(math.ceil(amount * _DIGITS), _DIGITS)

    return Cost(None if total.epsilon is None else tidy(total.epsilon), tidy(total.rho))


def _left(cap: Budget, spent: Cost) -> Fraction:
    used = spent.amount(cap.unit)
    return Fraction(0) if used is None else max(cap.amount - used, Fraction(0))


def _checked_cap(dataset_cap: Budget | None, dataset: str, budget: Budget, analyst: str | None) -> None:
    for parameter, name in (("dataset", dataset), ("analyst", analyst)):
        if name is not None and (not isinstance(name, str) or not name):
            raise ParameterError(f"{parameter} must be a name, got {name!r}")
    if dataset_cap is None and analyst is not None:
        raise LedgerError(f"set the budget of data set {dataset!r} before that of an analyst")
    if dataset_cap is not None and dataset_cap.unit != budget.unit:
        unit: Unit = dataset_cap.unit
        raise LedgerError(f"the budget of data set {dataset!r} is in {unit}; a cap in {budget.unit} cannot be compared with it")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _cost_to_text(cost: Cost) -> tuple[str | None, str]:
    return None if cost.epsilon is None else str(cost.epsilon), str(cost.rho)


def _cost_from_text(epsilon: str | None, rho: str) -> Cost:
    return Cost(None if epsilon is None else Fraction(epsilon), Fraction(rho))
