"""Keep sealed sub-trees until the server has them, and send them while nobody waits.

The paper's client does not wait until the server has a sub-tree that it has learnt. Ours writes it
to a file first, sealed as the server gets it: a client that is killed loses nothing that it has
learnt, and the next one sends it. The file holds no row and no key.

Once a server has kept a batch of sub-trees, or refused them because it has others or its rows have
changed, they are removed. So a sub-tree may be sent twice, and is kept once.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Self

from privet._atomic import create_private
from privet.client.transport import Link
from privet.errors import NotThere, OutsourceError, PrivetError, SealError, Unavailable
from privet.outsource.client.table import OutsourcedTable, SealedSubtree

_SCHEMA = """
CREATE TABLE IF NOT EXISTS subtrees (
    place TEXT NOT NULL, tree TEXT NOT NULL, leaf INTEGER NOT NULL, data INTEGER NOT NULL,
    sealed BLOB NOT NULL, PRIMARY KEY (place, tree, leaf));
"""
_APPLICATION_ID, _VERSION = 0x5072696F, 1  # "Prio"
_AT_ONCE = 500


class Outbox:
    """Sub-trees on their way to the server of one table.

    Args:
        table: where they go.
        path: a file in which they are safe, sent by a thread in the background; without one, they
            are in memory until :meth:`send` sends them.
    """

    def __init__(self, table: OutsourcedTable, path: str | PathLike[str] | None = None) -> None:
        self._table, self._place = table, table.anatomy.id
        self.path = None if path is None else Path(path)
        self._lock = threading.RLock()
        self._database = _open(self.path)
        self._closing, self._come = False, threading.Event()
        self._trouble: PrivetError | None = None
        self._left: int | None = None
        self._thread: threading.Thread | None = None
        self._drop_unreadable()
        if self.path is not None:
            self._thread = threading.Thread(target=self._send_in_background, daemon=True)
            self._thread.start()
            self._come.set()  # what an earlier client has left

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._using() as database:
            ((waiting,),) = database.execute(
                "SELECT count(*) FROM subtrees WHERE place = ?", (self._place,)
            ).fetchall()
        return int(waiting)

    def add(self, tree: str, subtree: SealedSubtree) -> None:
        """Keep a sub-tree, durably where there is a file."""
        leaf, sealed, data = subtree
        with self._using() as database:
            database.execute(
                "INSERT OR REPLACE INTO subtrees VALUES (?, ?, ?, ?, ?)",
                (self._place, tree, leaf, data, sealed),
            )

    def subtrees(self, tree: str) -> dict[int, bytes]:
        """Return what waits for a tree, by leaf."""
        with self._using() as database:
            rows = database.execute(
                "SELECT leaf, sealed FROM subtrees WHERE place = ? AND tree = ?",
                (self._place, tree),
            ).fetchall()
        return dict(rows)

    def send(self) -> None:
        """Send what waits: at once where it is in memory, else soon, in the background."""
        if self._thread is None:
            while self._send_some(None):
                pass
        else:
            self._come.set()

    def close(self) -> int:
        """Wait until everything is sent, or cannot be, and return how many sub-trees still wait."""
        if self._left is None:
            self._closing = True
            self._come.set()
            if self._thread is not None:
                self._thread.join()
            self._left = len(self)
            with self._lock:
                self._database.close()
        return self._left

    @property
    def trouble(self) -> PrivetError | None:
        """Why the background has stopped sending, or None."""
        return self._trouble

    # -- how it is done ----------------------------------------------------------------------------

    def _send_in_background(self) -> None:
        link = self._table.open_link()  # of its own: predictions do not wait for it
        while True:
            self._come.wait()
            self._come.clear()
            try:
                while self._send_some(link):
                    pass
            except PrivetError as error:
                self._trouble = error  # it waits in the file
                return
            if self._closing:
                return

    def _send_some(self, link: Link | None) -> bool:
        """Send some of what waits for one tree; returns whether anything did."""
        with self._using() as database:
            lines = database.execute(
                "SELECT tree, leaf, sealed, data FROM subtrees WHERE place = ? AND tree = (SELECT "
                "min(tree) FROM subtrees WHERE place = ?) ORDER BY leaf LIMIT ?",
                (self._place, self._place, _AT_ONCE),
            ).fetchall()
        if not lines:
            return False
        tree = lines[0][0]
        with suppress(NotThere):  # the tree is gone, and what was learnt for it is of no use
            self._table.refined += self._table.store_subtrees(
                tree, [line[1:] for line in lines], link
            )
        with self._using() as database:
            database.executemany(
                "DELETE FROM subtrees WHERE place = ? AND tree = ? AND leaf = ? AND sealed = ?",
                [(self._place, tree, leaf, sealed) for _, leaf, sealed, _ in lines],
            )
        return True

    def _drop_unreadable(self) -> None:
        """Drop what an earlier client left that no key of today opens: nobody could use it."""
        with self._using() as database:
            lines = database.execute(
                "SELECT tree, leaf, sealed FROM subtrees WHERE place = ?", (self._place,)
            ).fetchall()
            for tree, leaf, sealed in lines:
                try:
                    self._table.sealer.open("subtree", (tree, leaf), sealed)
                except SealError:
                    database.execute(
                        "DELETE FROM subtrees WHERE place = ? AND tree = ? AND leaf = ?",
                        (self._place, tree, leaf),
                    )

    @contextmanager
    def _using(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock, self._database:
                yield self._database
        except sqlite3.Error as error:
            raise Unavailable(
                f"cannot use the file of sub-trees on their way, {self.path}: {error}"
            ) from None


def _open(path: Path | None) -> sqlite3.Connection:
    if path is None:
        database = sqlite3.connect(":memory:", check_same_thread=False)
        database.executescript(_SCHEMA)
        return database
    try:
        with suppress(FileExistsError):
            create_private(path)
        database = sqlite3.connect(path, timeout=30, check_same_thread=False)
        (kind,) = database.execute("PRAGMA application_id").fetchone()
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if tables and (kind, version) != (_APPLICATION_ID, _VERSION):
            database.close()
            raise OutsourceError(
                f"{path} is no file of sub-trees on their way that this Privet knows; name another"
            )
        # written through to the system with each sub-tree: a killed client loses none
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
        database.executescript(
            f"{_SCHEMA} PRAGMA application_id = {_APPLICATION_ID}; "
            f"PRAGMA user_version = {_VERSION};"
        )
    except OSError as error:
        raise OutsourceError(f"cannot make {path}: {error.strerror}") from None
    except sqlite3.Error as error:
        raise OutsourceError(
            f"cannot use {path} for sub-trees on their way ({error}); name another file"
        ) from None
    return database
