"""Keep who may ask about what: data sets, analysts, tokens and grants.

They are in one SQLite file that only its owner can read.

A token is shown once and stored as its SHA-256: it has 256 random bits, so a slow hash would add
nothing. Every request reads this file, so a token that is revoked ends at once.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from os import PathLike
from pathlib import Path

from privet._atomic import create_private
from privet.accounting.ledger.base import check_name
from privet.domain import Schema
from privet.errors import AccessError, LedgerError, ParameterError, PrivetError, SchemaError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS owner (token TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS datasets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, place TEXT NOT NULL, schema TEXT NOT NULL, added TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS analysts (name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, added TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS grants (
    analyst TEXT NOT NULL REFERENCES analysts (name), dataset TEXT NOT NULL, expires TEXT NOT NULL, PRIMARY KEY (analyst, dataset));
"""  # noqa: E501
# Where the rows of a data set are, also of one that was removed: what was spent on them stays. And
# which data sets have rows in common, as their owner knows. Made when they are first needed, since
# accounts of 0.1 have neither.
_ROWS = (
    "CREATE TABLE IF NOT EXISTS places (dataset TEXT NOT NULL, place TEXT NOT NULL, "
    "PRIMARY KEY (dataset, place))",
    "CREATE TABLE IF NOT EXISTS overlaps (dataset TEXT NOT NULL, other TEXT NOT NULL, "
    "known TEXT NOT NULL, PRIMARY KEY (dataset, other))",
)
_APPLICATION_ID = 0x50726961  # "Pria"
_VERSION = 1


@dataclass(frozen=True)
class RegisteredDataset:
    """A registered table.

    ``place`` is where the rows are, for :func:`privet.open_table`; it may hold a password.
    """

    id: int
    name: str
    place: str
    schema: Schema
    added: str

    def __repr__(self) -> str:
        return f"RegisteredDataset({self.name!r})"


@dataclass(frozen=True)
class Grant:
    """An analyst may ask about a data set, until ``expires`` (ISO time in UTC; empty: no end)."""

    analyst: str
    dataset: str
    expires: str

    @property
    def over(self) -> bool:
        """Whether it has expired."""
        try:
            return self.expires != "" and datetime.fromisoformat(self.expires) <= datetime.now(UTC)
        except (ValueError, TypeError):  # a time that is none is over
            return True


class Accounts:
    """The accounts of one curator."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)

    @classmethod
    def make(cls, path: str | PathLike[str]) -> tuple[Accounts, str]:
        """Make new accounts, and return them with the owner's token."""
        accounts = cls(path)
        create_private(accounts.path)
        token = _new_token()
        with accounts._opened() as connection:
            connection.executescript(
                f"{_SCHEMA} PRAGMA application_id={_APPLICATION_ID}; PRAGMA "
                f"user_version={_VERSION};"
            )
            connection.execute("INSERT INTO owner VALUES (?)", (hash_token(token),))
        return accounts, token

    # -- data sets ---------------------------------------------------------------------------------

    def check_new_dataset(self, name: str) -> None:
        """Raise unless a data set can be added under this name."""
        check_name("dataset", name)
        if "/" in name:
            raise ParameterError(f"dataset must be a name without '/', got {name!r}")
        if name in {dataset.name for dataset in self.datasets()}:
            raise ParameterError(
                f"there is a data set {name!r} already; another table needs another name, and "
                "this one can be registered anew once it is removed"
            )

    def add_dataset(
        self,
        name: str,
        place: str,
        schema: Schema,
        rows: Iterable[str] = (),
        known: Iterable[str] = (),
    ) -> None:
        """Register a table under a name that no other has.

        Args:
            name, place, schema: what it is called, where it is, and what is public about it.
            rows: where its rows are, as :func:`~privet.tables.identity.identify_rows` has it.
            known: other data sets with the same rows, as its owner knows.
        """
        self.check_new_dataset(name)
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            for table in _ROWS:
                connection.execute(table)
            connection.executemany(
                "INSERT OR IGNORE INTO places VALUES (?, ?)", [(name, one) for one in rows]
            )
            connection.executemany(
                "INSERT OR REPLACE INTO overlaps VALUES (?, ?, ?)",
                [(name, other, _now()) for other in known],
            )
            connection.execute(
                "INSERT INTO datasets (name, place, schema, added) VALUES (?, ?, ?, ?)",
                (name, place, json.dumps(schema.to_json()), _now()),
            )

    def places(self) -> dict[str, frozenset[str]]:
        """Return where the rows of each data set are, as far as it was recorded: not for those that
        0.1 registered, and also for those that were removed.
        """
        places: dict[str, set[str]] = {}
        with self._opened() as connection:
            if _has_table(connection, "places"):
                for dataset, place in connection.execute("SELECT dataset, place FROM places"):
                    places.setdefault(dataset, set()).add(place)
        return {dataset: frozenset(found) for dataset, found in places.items()}

    def overlaps(self) -> list[tuple[str, str, str]]:
        """Return which data sets have rows of which others, and since when the owner knows."""
        with self._opened() as connection:
            if not _has_table(connection, "overlaps"):
                return []
            return connection.execute("SELECT * FROM overlaps ORDER BY dataset, other").fetchall()

    def remove_dataset(self, name: str) -> None:
        """Stop answering queries about a data set, and forget its grants.

        What was spent on it stays in the ledger.
        """
        with self._opened() as connection:
            connection.execute("DELETE FROM grants WHERE dataset = ?", (name,))
            if not connection.execute("DELETE FROM datasets WHERE name = ?", (name,)).rowcount:
                raise ParameterError(
                    f"no data set {name!r}; there are {self._names(connection, 'datasets')}"
                )

    def dataset(self, name: str) -> RegisteredDataset:
        """Return the registered table of this name."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT id, name, place, schema, added FROM datasets WHERE name = ?", (name,)
            ).fetchone()
            if row is None:
                raise ParameterError(
                    f"no data set {name!r}; there are {self._names(connection, 'datasets')}"
                )
            return _dataset_of_row(row)

    def datasets(self) -> list[RegisteredDataset]:
        """Return all registered tables, by name."""
        with self._opened() as connection:
            rows = connection.execute(
                "SELECT id, name, place, schema, added FROM datasets ORDER BY name"
            ).fetchall()
            return [_dataset_of_row(row) for row in rows]

    # -- analysts ----------------------------------------------------------------------------------

    def add_analyst(self, name: str) -> str:
        """Register an analyst, and return their token.

        The token is not stored and cannot be shown again.
        """
        check_name("analyst", name)
        token = _new_token()
        with self._opened() as connection:
            try:
                connection.execute(
                    "INSERT INTO analysts VALUES (?, ?, ?)", (name, hash_token(token), _now())
                )
            except sqlite3.IntegrityError:
                raise ParameterError(
                    f"there is an analyst {name!r} already; give them a new token with 'analyst "
                    "token'"
                ) from None
        return token

    def new_token(self, name: str) -> str:
        """Make another token for an analyst; the one before ends at once."""
        token = _new_token()
        with self._opened() as connection:
            self._check_analyst(connection, name)
            connection.execute(
                "UPDATE analysts SET token = ? WHERE name = ?", (hash_token(token), name)
            )
        return token

    def analysts(self) -> list[str]:
        """Return the names of all analysts."""
        with self._opened() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM analysts ORDER BY name")]

    def analyst_of(self, token: str) -> str:
        """Return whose token this is."""
        with self._opened() as connection:
            row = connection.execute(
                "SELECT name FROM analysts WHERE token = ?", (hash_token(token),)
            ).fetchone()
        if row is None:
            raise AccessError("this token is not known; it may have been replaced or revoked")
        return str(row[0])

    def is_owner(self, token: str) -> bool:
        """Return whether this is the owner's token."""
        return self.holds(hash_token(token), None)

    def holds(self, digest: str, analyst: str | None) -> bool:
        """Return whether the token with this SHA-256 is valid now.

        It must be the analyst's, or the owner's (None).
        """
        with self._opened() as connection:
            if analyst is None:
                rows = connection.execute("SELECT token FROM owner").fetchall()
            else:
                rows = connection.execute(
                    "SELECT token FROM analysts WHERE name = ?", (analyst,)
                ).fetchall()
            return any(secrets.compare_digest(row[0], digest) for row in rows)

    def new_owner_token(self) -> str:
        """Make another token for the owner; the one before ends at once."""
        token = _new_token()
        with self._opened() as connection:
            connection.execute("UPDATE owner SET token = ?", (hash_token(token),))
        return token

    # -- grants ------------------------------------------------------------------------------------

    def grant(self, analyst: str, dataset: str, expires: datetime | None = None) -> None:
        """Let an analyst ask about a data set. Their cap is the ledger's."""
        if expires is not None and expires.tzinfo is None:
            raise ParameterError("expires must be a time with its zone")
        with self._opened() as connection:
            self._check_analyst(connection, analyst)
            if (
                connection.execute("SELECT 1 FROM datasets WHERE name = ?", (dataset,)).fetchone()
                is None
            ):
                raise ParameterError(
                    f"no data set {dataset!r}; there are {self._names(connection, 'datasets')}"
                )
            until = "" if expires is None else expires.astimezone(UTC).isoformat(timespec="seconds")
            connection.execute(
                (
                    "INSERT INTO grants VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET expires = "
                    "excluded.expires"
                ),
                (analyst, dataset, until),
            )

    def revoke(self, analyst: str, dataset: str | None = None) -> list[str]:
        """Take back a grant, or all grants of an analyst and their token, at once.

        Returns the data sets concerned.
        """
        with self._opened() as connection:
            self._check_analyst(connection, analyst)
            rows = connection.execute(
                (
                    "SELECT dataset FROM grants WHERE analyst = ?1 AND (?2 IS NULL OR dataset = "
                    "?2) ORDER BY dataset"
                ),
                (analyst, dataset),
            ).fetchall()
            if dataset is not None and not rows:
                raise ParameterError(f"analyst {analyst!r} has no grant on data set {dataset!r}")
            connection.execute(
                "DELETE FROM grants WHERE analyst = ?1 AND (?2 IS NULL OR dataset = ?2)",
                (analyst, dataset),
            )
            if dataset is None:  # a hash that no token has
                connection.execute(
                    "UPDATE analysts SET token = ? WHERE name = ?",
                    (f"revoked {secrets.token_hex(8)}", analyst),
                )
        return [row[0] for row in rows]

    def grants(self, analyst: str | None = None) -> list[Grant]:
        """Return the grants, of one analyst or of all, expired ones too."""
        with self._opened() as connection:
            rows = connection.execute(
                (
                    "SELECT analyst, dataset, expires FROM grants WHERE ?1 IS NULL OR analyst = ?1 "
                    "ORDER BY dataset, analyst"
                ),
                (analyst,),
            ).fetchall()
        return [Grant(*row) for row in rows]

    def granted(self, analyst: str, dataset: str) -> Grant:
        """Return the grant of an analyst on a data set, or raise.

        There is one error for all reasons why there is none.
        """
        for grant in self.grants(analyst):
            if grant.dataset == dataset and not grant.over:
                return grant
        raise AccessError(f"no data set {dataset!r} is granted to you")

    # -- how it is done ----------------------------------------------------------------------------

    @staticmethod
    def _check_analyst(connection: sqlite3.Connection, name: str) -> None:
        if connection.execute("SELECT 1 FROM analysts WHERE name = ?", (name,)).fetchone() is None:
            raise ParameterError(
                f"no analyst {name!r}; there are {Accounts._names(connection, 'analysts')}"
            )

    @staticmethod
    def _names(connection: sqlite3.Connection, table: str) -> str:
        # - a constant
        rows = connection.execute(f"SELECT name FROM {table} ORDER BY name").fetchall()  # noqa: S608
        return ", ".join(repr(row[0]) for row in rows) or "none yet"

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        """A connection for one transaction."""
        if not self.path.is_file():
            raise LedgerError(f"no accounts file {self.path}")
        try:
            connection = sqlite3.connect(self.path, timeout=30)
            try:
                with connection:
                    yield connection
            finally:
                connection.close()
        except SchemaError:  # that of a data set was looked at before it was stored
            raise LedgerError(
                f"the accounts {self.path} are damaged: a schema in them is none; put a backup in "
                "their place"
            ) from None
        except PrivetError:
            raise
        except sqlite3.Error as error:
            raise LedgerError(f"cannot use the accounts {self.path}: {error}") from None
        except UnicodeEncodeError:  # what came is at fault, not the accounts
            raise ParameterError(
                "names in the accounts must be text that UTF-8 can write"
            ) from None
        except (ValueError, TypeError, RecursionError):
            raise LedgerError(
                f"the accounts {self.path} are damaged: they hold what Privet does not write; put "
                "a backup in their place"
            ) from None


def _dataset_of_row(row: tuple[int, str, str, str, str]) -> RegisteredDataset:
    number, name, place, schema, added = row
    return RegisteredDataset(number, name, place, Schema.from_json(json.loads(schema)), added)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    row = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone()
    return row is not None


def _new_token() -> str:
    return f"privet_{secrets.token_urlsafe(32)}"


def hash_token(token: str) -> str:
    """Return the SHA-256 of a token, as it is stored."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
