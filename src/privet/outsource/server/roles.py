"""Keep what a client's token is good for.

A client without the key can do no harm to what others learnt, if their token says so: with the role
``ask`` it is good for the base trees and their predictions, which need no key. It changes nothing,
removes nothing, and gets neither rows nor sealed texts. The role ``key`` is for those who have the
key, and allows everything. It is that of every token that 0.1 gave out.

Roles are in a file of their own beside the accounts. Every request reads it, as it reads them, so
that a change counts at once.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Literal, get_args

from privet._atomic import create_private
from privet._validate import check_name
from privet.errors import OutsourceError

Role = Literal["key", "ask"]
ROLES: tuple[Role, ...] = get_args(Role)
_TABLE = "CREATE TABLE IF NOT EXISTS roles (client TEXT PRIMARY KEY, role TEXT NOT NULL)"


class Roles:
    """The roles of the clients of one server."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def of(self, client: str) -> Role:
        """Return a client's role."""
        if not self._path.exists():  # of 0.1, or nobody has another role than "key"
            return "key"
        with self._opened() as database:
            row = database.execute("SELECT role FROM roles WHERE client = ?", (client,)).fetchone()
        # what a later Privet may have written is good for as little as possible
        return "key" if row is None or row[0] == "key" else "ask"

    def set(self, client: str, role: Role) -> None:
        """Give a client a role, which counts from the next request on."""
        check_name("role", role, ROLES)
        if role == "key" and not self._path.exists():
            return
        with suppress(FileExistsError):
            create_private(self._path)
        with self._opened() as database:
            database.execute(_TABLE)
            database.execute("INSERT OR REPLACE INTO roles VALUES (?, ?)", (client, role))

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=30)) as database, database:
                yield database
        except sqlite3.Error:
            raise OutsourceError(f"cannot read or write the roles in {self._path}") from None
