"""Share what the processes that serve one home must know of each other.

The ledger has what was charged and answered, and the accounts who may ask. The rest is here, in a
file of the home that may be lost at any time without loss:

- which snapshots are open, and in which process. A snapshot belongs to a connection of its process,
  and its rows stay there: requests that name it are passed on to that process;
- who has signed in to the page, by the SHA-256 of session and token;
- how many requests a person or an address has sent, in buckets of tokens.

The file is written without waiting for the disk.
"""

from __future__ import annotations

import os
import secrets
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from privet._atomic import create_private, make_private_folder
from privet.accounting.ledger.sqlite_files import SQLiteConnections
from privet.errors import LedgerError
from privet.service.limits import Busy, Limits, TooMany

_FILE, _FOLDER = "shared.sqlite", "processes"
_TABLES = """
CREATE TABLE IF NOT EXISTS processes (
    name TEXT PRIMARY KEY, pid INTEGER NOT NULL, place TEXT NOT NULL, secret TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS snapshots (
    name TEXT PRIMARY KEY, process TEXT NOT NULL, analyst TEXT NOT NULL, dataset INTEGER NOT NULL,
    reservation TEXT NOT NULL, used REAL NOT NULL, busy INTEGER NOT NULL, ended INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS sessions (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL, token TEXT NOT NULL,
    begun REAL NOT NULL, used REAL NOT NULL);
CREATE TABLE IF NOT EXISTS buckets (
    kind TEXT NOT NULL, name TEXT NOT NULL, tokens REAL NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (kind, name));
"""
_HOUR = 3600.0
_LONGEST_PATH = 100  # bytes, of the address of a Unix socket


@dataclass(frozen=True)
class Process:
    """A process that serves the home: where it listens for the others, and what they show it."""

    name: str
    place: Path
    secret: str

    @property
    def address(self) -> str:
        """The address of its socket."""
        return socket_address(self.place)


class SnapshotElsewhere(Busy):
    """A snapshot is in another process, which the request has to be passed on to."""

    def __init__(self, process: Process) -> None:
        self.process = process
        super().__init__("the snapshot is in another process; nothing was charged, send it again")


class Shared:
    """What is shared by the processes of one home, as one of them sees it."""

    def __init__(self, home: Path) -> None:
        self.path, self._folder = home / _FILE, home / _FOLDER
        self.process, self.secret = secrets.token_hex(8), secrets.token_hex(32)
        self._connections = SQLiteConnections()
        # threads take turns: SQLite's own way of waiting is to sleep
        self._turn = threading.RLock()
        try:
            self._make()
        except sqlite3.DatabaseError:  # nothing in it has to last
            self._connections.close()
            for ending in ("", "-wal", "-shm"):
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            self._make()

    def _make(self) -> None:
        try:
            with suppress(FileExistsError):
                create_private(self.path)
        except OSError as error:
            raise LedgerError(f"cannot use {self.path}: {error.strerror}") from None
        with self._connections.using(self._connect) as connection:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_TABLES)
            me = (self.process, os.getpid(), "", self.secret)
            connection.execute("INSERT INTO processes VALUES (?, ?, ?, ?)", me)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=30, isolation_level=None, check_same_thread=False
        )
        connection.execute("PRAGMA synchronous=OFF")
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Read and write in one step."""
        with self._turn, self.reading() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Use this thread's connection."""
        try:
            with self._connections.using(self._connect) as connection:
                yield connection
        except sqlite3.Error as error:
            raise LedgerError(f"cannot use {self.path}: {error}") from None

    # -- processes ---------------------------------------------------------------------------------

    def listen(self) -> socket.socket:
        """Return a socket in the home, at which other processes pass requests on to this one."""
        make_private_folder(self._folder)
        place = self._folder / self.process
        listener = socket.socket(socket.AF_UNIX)
        try:
            listener.bind(socket_address(place))
            place.chmod(0o600)
        except OSError as error:
            listener.close()
            raise LedgerError(f"cannot listen at {place}: {error.strerror}") from None
        with self.transaction() as connection:
            connection.execute(
                "UPDATE processes SET place = ? WHERE name = ?", (str(place), self.process)
            )
        return listener

    def close(self) -> None:
        """Leave: nothing is passed on to this process any more."""
        with suppress(LedgerError):
            self.forget(self.process)

    def forget(self, process: str) -> None:
        """Forget a process that is gone, with its snapshots."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM snapshots WHERE process = ?", (process,))
            connection.execute("DELETE FROM processes WHERE name = ?", (process,))
        (self._folder / process).unlink(missing_ok=True)

    def forget_dead(self) -> None:
        """Forget the processes that were killed."""
        with self.reading() as connection:
            known = connection.execute("SELECT name, pid, place FROM processes").fetchall()
        for name, pid, place in known:
            if name != self.process and not _lives(pid, place):
                self.forget(name)

    # -- snapshots ---------------------------------------------------------------------------------

    def claim_snapshot(
        self, name: str, analyst: str, dataset: int, reservation: str, limits: Limits
    ) -> bool:
        """Count a new snapshot of this process; return False where one has to be left first.

        That of the same fit ends; and if the analyst has as many as are allowed, the one that was
        not used for longest, if it was not used for a while. Raises :class:`TooMany` where there is
        no room.
        """
        now = time.time()
        with self.transaction() as connection:
            if reservation:
                connection.execute(
                    "UPDATE snapshots SET ended = 1 "
                    "WHERE analyst = ? AND dataset = ? AND reservation = ?",
                    (analyst, dataset, reservation),
                )
            own = connection.execute(
                "SELECT name, used, busy, ended FROM snapshots WHERE analyst = ? ORDER BY used",
                (analyst,),
            ).fetchall()
            (in_all,) = connection.execute("SELECT count(*) FROM snapshots").fetchone()
            if len(own) >= limits.snapshots_each:
                leaving = any(ended for *_, ended in own)
                lease = now - limits.snapshot_lease
                idle = [one for one, used, busy, _ in own if not busy and used <= lease]
                if not leaving and not idle:
                    raise TooMany(
                        f"you have {limits.snapshots_each} snapshots open, which is all that is "
                        "allowed; end one",
                        5,
                    )
                if not leaving:
                    connection.execute("UPDATE snapshots SET ended = 1 WHERE name = ?", idle[:1])
                return False
            if in_all >= limits.snapshots:
                raise TooMany("too many snapshots are open; wait until one ends", 5)
            row = (name, self.process, analyst, dataset, reservation, now, 0, 0)
            connection.execute("INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        return True

    def use_snapshot(self, name: str, busy: int) -> None:
        """Note that a snapshot is used now, by so many questions."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE snapshots SET used = ?, busy = ? WHERE name = ?", (time.time(), busy, name)
            )

    def drop_snapshot(self, name: str) -> None:
        """Count a snapshot no longer: its thread has left it."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM snapshots WHERE name = ?", (name,))

    def ended_snapshots(self) -> set[str]:
        """Return the snapshots of this process that have to end."""
        with self.reading() as connection:
            rows = connection.execute(
                "SELECT name FROM snapshots WHERE process = ? AND ended", (self.process,)
            )
            return {row[0] for row in rows}

    def owner_of_snapshot(self, name: str, analyst: str, dataset: int) -> Process | None:
        """Return the other process that has a snapshot of this analyst and data set."""
        with self.reading() as connection:
            row = connection.execute(
                "SELECT p.name, p.place, p.secret FROM snapshots AS s "
                "JOIN processes AS p ON p.name = s.process "
                "WHERE s.name = ? AND s.analyst = ? AND s.dataset = ? AND NOT s.ended "
                "AND p.name <> ? AND p.place <> ''",
                (name, analyst, dataset, self.process),
            ).fetchone()
        return None if row is None else Process(row[0], Path(row[1]), row[2])

    # -- buckets -----------------------------------------------------------------------------------

    def take_tokens(
        self, kind: str, name: str, rate: float, burst: float, wanted: float, owed: float
    ) -> tuple[float, float]:
        """Take up to ``wanted`` tokens of a bucket after what is owed; at least one, or none.

        Returns how many were taken, and how many are there.
        """
        now = time.time()
        with self.transaction() as connection:
            row = connection.execute(
                "SELECT tokens, at FROM buckets WHERE kind = ? AND name = ?", (kind, name)
            ).fetchone()
            tokens, at = row or (burst, now)
            tokens = min(burst, tokens + max(0.0, now - at) * rate) - owed
            taken = min(wanted, tokens) if tokens >= 1 else 0.0
            connection.execute(
                "INSERT OR REPLACE INTO buckets VALUES (?, ?, ?, ?)",
                (kind, name, tokens - taken, now),
            )
        return taken, tokens

    def tidy(self) -> None:
        """Forget buckets that nobody took from for an hour: what was owed is paid."""
        with self.transaction() as connection:
            connection.execute("DELETE FROM buckets WHERE at < ?", (time.time() - _HOUR,))


def socket_address(place: Path) -> str:
    """Return an address for a Unix socket at this place, whose length is limited."""
    if len(os.fsencode(place)) <= _LONGEST_PATH:
        return str(place)
    held = _held_folders.get(place.parent)
    if held is None:
        held = _held_folders.setdefault(place.parent, os.open(place.parent, os.O_RDONLY))
    return f"/proc/self/fd/{held}/{place.name}"


_held_folders: dict[Path, int] = {}


def _lives(pid: int, place: str) -> bool:
    """Return whether a process answers, or exists as far as it can be known."""
    if place:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(1)
            try:
                probe.connect(socket_address(Path(place)))
            except TimeoutError:
                return True
            except OSError:
                return False
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
