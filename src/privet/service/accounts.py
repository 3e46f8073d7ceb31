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
import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from os import PathLike
from pathlib import Path

from privet._atomic import create_private
from privet.accounting.ledger.base import check_name
from privet.accounting.ledger.sqlite_files import SQLiteConnections
from privet.domain import Schema
from privet.errors import AccessError, LedgerError, ParameterError, PrivetError, SchemaError
from privet.service.audit_log.events import Person, Role
from privet.service.token_ends import TokenEnded, find_end, is_over, let_end

_SCHEMA = """
CREATE TABLE IF NOT EXISTS owner (token TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS datasets (
    id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, place TEXT NOT NULL, schema TEXT NOT NULL, added TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS analysts (name TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, added TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS grants (
    analyst TEXT NOT NULL REFERENCES analysts (name), dataset TEXT NOT NULL, expires TEXT NOT NULL, PRIMARY KEY (analyst, dataset));
"""  # noqa: E501
# Where the rows of a data set are, also of one that was removed: what was spent on them stays.
# Which data sets have rows in common, as their owner knows. Which are paused, since when and why.
# And who owns or audits beside the owner that `init` made. Made when they are first needed, since
# accounts of 0.1 have none of them.
_LATER = (
    "CREATE TABLE IF NOT EXISTS places (dataset TEXT NOT NULL, place TEXT NOT NULL, "
    "PRIMARY KEY (dataset, place))",
    "CREATE TABLE IF NOT EXISTS overlaps (dataset TEXT NOT NULL, other TEXT NOT NULL, "
    "known TEXT NOT NULL, PRIMARY KEY (dataset, other))",
    "CREATE TABLE IF NOT EXISTS pauses (dataset TEXT PRIMARY KEY, since TEXT NOT NULL, "
    "why TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS staff (name TEXT PRIMARY KEY, role TEXT NOT NULL CHECK "
    "(role IN ('owner', 'auditor')), token TEXT NOT NULL UNIQUE, added TEXT NOT NULL)",
)
# Tokens that were replaced and are valid for a while longer. Made when it is first needed.
_FORMER = (
    "CREATE TABLE IF NOT EXISTS former_tokens (analyst TEXT NOT NULL, token TEXT NOT NULL UNIQUE, "
    "ends TEXT NOT NULL)"
)
#: The longest time for which a token may be valid beside the one that replaces it.
LONGEST_OVERLAP = timedelta(days=30)
_APPLICATION_ID = 0x50726961  # "Pria"
#: The owner whose token ``init`` shows.
FIRST_OWNER = Person("owner", "owner")
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
    #: Since when it is not served for a while, and why; None where it is served.
    paused: tuple[str, str] | None = None

    def __repr__(self) -> str:
        return f"RegisteredDataset({self.name!r})"


@dataclass(frozen=True)
class Grant:
    """An analyst may ask about a data set, until ``expires`` (ISO time in UTC; empty: no end)."""

    analyst: str
    dataset: str
    expires: str
    #: When it was looked up, by a clock that never goes back.
    now: datetime = field(default_factory=lambda: datetime.now(UTC), compare=False, repr=False)

    @property
    def over(self) -> bool:
        """Whether it has expired."""
        return is_over(self.expires, self.now)


class Accounts:
    """The accounts of one curator."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._latest = datetime.min.replace(tzinfo=UTC)
        self._connections = SQLiteConnections()  # opening one takes longer than asking it
        self._threads = threading.local()

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, timeout=30, check_same_thread=False)

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
            _note_rows(connection, name, rows, known)
            connection.execute(
                "INSERT INTO datasets (name, place, schema, added) VALUES (?, ?, ?, ?)",
                (name, place, json.dumps(schema.to_json()), _now()),
            )

    def update_dataset(
        self,
        name: str,
        place: str,
        schema: Schema,
        rows: Iterable[str] = (),
        known: Iterable[str] = (),
    ) -> None:
        """Give a data set another place or schema. Its grants stay.

        With another schema it gets a new number, so that a question of before that has no answer
        yet is not answered under a schema that it was not asked under.

        Args:
            name, place, schema, rows, known: as in :meth:`add_dataset`.
        """
        before = self.dataset(name)
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            _note_rows(connection, name, rows, known)
            if schema.fingerprint == before.schema.fingerprint:
                connection.execute("UPDATE datasets SET place = ? WHERE name = ?", (place, name))
                return
            connection.execute("DELETE FROM datasets WHERE name = ?", (name,))
            connection.execute(
                "INSERT INTO datasets (name, place, schema, added) VALUES (?, ?, ?, ?)",
                (name, place, json.dumps(schema.to_json()), before.added),
            )

    def pause_dataset(self, name: str, why: str = "") -> None:
        """Answer no questions about a data set for a while. Its grants stay."""
        self.dataset(name)
        with self._opened() as connection:
            _make_later_tables(connection)
            connection.execute(
                "INSERT OR REPLACE INTO pauses VALUES (?, ?, ?)", (name, _now(), why)
            )

    def resume_dataset(self, name: str) -> None:
        """Answer questions about a data set again."""
        self.dataset(name)
        with self._opened() as connection:
            _make_later_tables(connection)
            connection.execute("DELETE FROM pauses WHERE dataset = ?", (name,))

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
            if _has_table(connection, "pauses"):
                connection.execute("DELETE FROM pauses WHERE dataset = ?", (name,))
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
            return _dataset_of_row(row, _read_pauses(connection))

    def datasets(self) -> list[RegisteredDataset]:
        """Return all registered tables, by name."""
        with self._opened() as connection:
            rows = connection.execute(
                "SELECT id, name, place, schema, added FROM datasets ORDER BY name"
            ).fetchall()
            pauses = _read_pauses(connection)
            return [_dataset_of_row(row, pauses) for row in rows]

    # -- analysts ----------------------------------------------------------------------------------

    def add_analyst(self, name: str, ends: datetime | None = None) -> str:
        """Register an analyst, and return their token, which may end by itself.

        The token is not stored and cannot be shown again.
        """
        self.check_new_analyst(name)
        token = _new_token()
        with self._opened() as connection:
            try:
                connection.execute(
                    "INSERT INTO analysts VALUES (?, ?, ?)", (name, hash_token(token), _now())
                )
            except sqlite3.IntegrityError:
                raise _analyst_exists_error(name) from None
            let_end(connection, hash_token(token), ends)
        return token

    def check_new_analyst(self, name: str) -> None:
        """Raise unless an analyst can be added under this name."""
        check_name("analyst", name)
        if name in self.analysts():
            raise _analyst_exists_error(name)

    def new_token(
        self, name: str, overlap: timedelta = timedelta(0), ends: datetime | None = None
    ) -> str:
        """Make another token for an analyst, which may end by itself.

        The one before ends at once, or after ``overlap``, so that what is under way can go on.
        Tokens before that one end now.
        """
        if not timedelta(0) <= overlap <= LONGEST_OVERLAP:
            raise ParameterError(
                f"overlap must be a span of at most {LONGEST_OVERLAP.days} days, got {overlap}"
            )
        token = _new_token()
        with self._opened() as connection:
            self._check_analyst(connection, name)
            connection.execute(_FORMER)
            connection.execute("DELETE FROM former_tokens WHERE analyst = ?", (name,))
            if overlap:
                connection.execute(
                    "INSERT INTO former_tokens SELECT name, token, ? FROM analysts WHERE name = ?",
                    ((datetime.now(UTC) + overlap).isoformat(timespec="seconds"), name),
                )
            connection.execute(
                "UPDATE analysts SET token = ? WHERE name = ?", (hash_token(token), name)
            )
            let_end(connection, hash_token(token), ends)
        return token

    def remove_analyst(self, name: str) -> list[str]:
        """Remove an analyst with their token and grants; return the data sets concerned.

        What they spent stays in the ledger, under their name.
        """
        datasets = self.revoke(name)
        with self._opened() as connection:
            connection.execute("DELETE FROM analysts WHERE name = ?", (name,))
        return datasets

    def analysts(self) -> list[str]:
        """Return the names of all analysts."""
        with self._opened() as connection:
            return [row[0] for row in connection.execute("SELECT name FROM analysts ORDER BY name")]

    def analyst_of(self, token: str) -> str:
        """Return whose token this is."""
        with self._opened() as connection:
            # both are looked up in any case: the time tells nothing about a token
            former = self._find_former(connection, "analyst", "token", hash_token(token))
            row = connection.execute(
                "SELECT name FROM analysts WHERE token = ?", (hash_token(token),)
            ).fetchone()
            ends = find_end(connection, hash_token(token))
        found = row or former
        if found is None:
            raise _unknown_token_error()
        self._check_end(ends)
        return str(found[0])

    def is_owner(self, token: str) -> bool:
        """Return whether this is the token of the first owner."""
        return self.holds(hash_token(token), FIRST_OWNER)

    def holds(self, digest: str, person: Person) -> bool:
        """Return whether the token with this SHA-256 is this person's now, in this role."""
        with self._opened() as connection:
            if person.role == "analyst":
                rows = connection.execute(
                    "SELECT token FROM analysts WHERE name = ?", (person.name,)
                ).fetchall()
                former = self._find_former(connection, "token", "analyst", person.name)
                rows += [] if former is None else [former]
            elif person == FIRST_OWNER:
                rows = connection.execute("SELECT token FROM owner").fetchall()
            elif _has_table(connection, "staff"):
                rows = connection.execute(
                    "SELECT token FROM staff WHERE name = ? AND role = ?",
                    (person.name, person.role),
                ).fetchall()
            else:
                rows = []
            ends = find_end(connection, digest)
            held = any(secrets.compare_digest(row[0], digest) for row in rows)
        return held and not is_over(ends, self.now())

    def person_of(self, token: str) -> Person:
        """Return whose token this is: an owner's, an auditor's or an analyst's."""
        digest = (hash_token(token),)
        with self._opened() as connection:
            ends = find_end(connection, *digest)
            row: tuple[str, Role] | None = None
            if connection.execute("SELECT 1 FROM owner WHERE token = ?", digest).fetchone():
                row = FIRST_OWNER.name, FIRST_OWNER.role
            elif _has_table(connection, "staff"):
                row = connection.execute(
                    "SELECT name, role FROM staff WHERE token = ?", digest
                ).fetchone()
            if row is None:
                analyst = connection.execute(
                    "SELECT name FROM analysts WHERE token = ?", digest
                ).fetchone() or self._find_former(connection, "analyst", "token", *digest)
                row = None if analyst is None else (analyst[0], "analyst")
        if row is None:
            raise _unknown_token_error()
        self._check_end(ends)
        return Person(*row)

    def new_owner_token(self, ends: datetime | None = None) -> str:
        """Make another token for the first owner; the one before ends at once."""
        token = _new_token()
        with self._opened() as connection:
            connection.execute("UPDATE owner SET token = ?", (hash_token(token),))
            let_end(connection, hash_token(token), ends)
        return token

    def token_ends(self) -> dict[Person, str]:
        """Return whose tokens end by themselves, and when (ISO time in UTC)."""
        with self._opened() as connection:
            people: list[tuple[str, str, Role]] = [
                (token, FIRST_OWNER.name, "owner")
                for (token,) in connection.execute("SELECT token FROM owner")
            ]
            people += [
                (token, name, "analyst")
                for token, name in connection.execute("SELECT token, name FROM analysts")
            ]
            if _has_table(connection, "staff"):
                people += connection.execute("SELECT token, name, role FROM staff").fetchall()
            ends = {Person(name, role): find_end(connection, token) for token, name, role in people}
        return {person: end for person, end in ends.items() if end}

    def _check_end(self, ends: str) -> None:
        """Raise if a token has ended by itself. A clock that is set back revives none."""
        if is_over(ends, self.now()):
            raise TokenEnded(ends)

    # -- owners and auditors -----------------------------------------------------------------------

    def staff(self) -> list[Person]:
        """Return all owners and auditors, the first owner first."""
        with self._opened() as connection:
            if not _has_table(connection, "staff"):
                return [FIRST_OWNER]
            rows = connection.execute("SELECT name, role FROM staff ORDER BY role DESC, name")
            return [FIRST_OWNER, *(Person(name, role) for name, role in rows)]

    def add_staff(self, name: str, role: Role, ends: datetime | None = None) -> str:
        """Register another owner, or an auditor, and return their token, which is not stored."""
        self.check_new_staff(name, role)
        token = _new_token()
        with self._opened() as connection:
            _make_later_tables(connection)
            connection.execute(
                "INSERT INTO staff VALUES (?, ?, ?, ?)", (name, role, hash_token(token), _now())
            )
            let_end(connection, hash_token(token), ends)
        return token

    def check_new_staff(self, name: str, role: Role) -> None:
        """Raise unless an owner or auditor can be added under this name."""
        check_name("name", name)
        if role not in ("owner", "auditor"):
            raise ParameterError(f"role must be 'owner' or 'auditor', got {role!r}")
        if name in {person.name for person in self.staff()}:
            raise ParameterError(f"there is an owner or auditor {name!r} already; use another name")

    def new_staff_token(self, name: str, ends: datetime | None = None) -> str:
        """Make another token for an owner or auditor; the one before ends at once."""
        if name == FIRST_OWNER.name:
            return self.new_owner_token(ends)
        self.check_staff(name)
        token = _new_token()
        with self._opened() as connection:
            connection.execute(
                "UPDATE staff SET token = ? WHERE name = ?", (hash_token(token), name)
            )
            let_end(connection, hash_token(token), ends)
        return token

    def remove_staff(self, name: str) -> None:
        """Remove an owner or auditor with their token."""
        if self.check_staff(name) == FIRST_OWNER:
            raise ParameterError(
                "the first owner stays, so that there is always one; their token can be replaced"
            )
        with self._opened() as connection:
            connection.execute("DELETE FROM staff WHERE name = ?", (name,))

    def check_staff(self, name: str) -> Person:
        """Return the owner or auditor of this name, or raise."""
        staff = self.staff()
        for person in staff:
            if person.name == name:
                return person
        names = ", ".join(repr(person.name) for person in staff)
        raise ParameterError(f"no owner or auditor {name!r}; there are {names}")

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
                connection.execute(_FORMER)
                connection.execute("DELETE FROM former_tokens WHERE analyst = ?", (analyst,))
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
        return [Grant(row[0], row[1], row[2], self.now()) for row in rows]

    def now(self) -> datetime:
        """Return the time, but never an earlier one than before.

        A clock that is set back must not revive a grant.
        """
        self._latest = max(self._latest, datetime.now(UTC))
        return self._latest

    def note_time(self, time: str) -> None:
        """Take note of a time that has been, such as that of a line of the ledger."""
        if time:
            self._latest = max(self._latest, datetime.fromisoformat(time))

    def granted(self, analyst: str, dataset: str) -> Grant:
        """Return the grant of an analyst on a data set, or raise.

        There is one error for all reasons why there is none.
        """
        for grant in self.grants(analyst):
            if grant.dataset == dataset and not grant.over:
                return grant
        raise AccessError(f"no data set {dataset!r} is granted to you")

    def _find_former(
        self, connection: sqlite3.Connection, wanted: str, column: str, value: str
    ) -> tuple[str] | None:
        """Return a column of a replaced token that is still valid, if there is one.

        A clock that is set back revives none.
        """
        if not _has_table(connection, "former_tokens"):
            return None
        now = max(_now(), self.now().isoformat(timespec="seconds"))
        row: tuple[str] | None = connection.execute(
            f"SELECT {wanted} FROM former_tokens WHERE {column} = ? AND ends > ?",  # noqa: S608 - names
            (value, now),
        ).fetchone()
        return row

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
        try:
            there = self.path.stat()
        except OSError:
            raise LedgerError(f"no accounts file {self.path}") from None
        # a file that was put in its place is another one
        if self._threads.__dict__.setdefault("file", there.st_ino) != there.st_ino:
            self._connections.close()
            self._threads.file = there.st_ino
        try:
            with self._connections.using(self._connect) as connection, connection:
                yield connection
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


@lru_cache(maxsize=256)
def _parse_schema(text: str) -> Schema:
    """Return a schema as it is stored. Every request needs one, and it cannot be changed."""
    return Schema.from_json(json.loads(text))


def _dataset_of_row(
    row: tuple[int, str, str, str, str], pauses: Mapping[str, tuple[str, str]]
) -> RegisteredDataset:
    number, name, place, text, added = row
    return RegisteredDataset(number, name, place, _parse_schema(text), added, pauses.get(name))


def _read_pauses(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
    if not _has_table(connection, "pauses"):
        return {}
    rows = connection.execute("SELECT dataset, since, why FROM pauses")
    return {dataset: (since, why) for dataset, since, why in rows}


def _note_rows(
    connection: sqlite3.Connection, name: str, rows: Iterable[str], known: Iterable[str]
) -> None:
    _make_later_tables(connection)
    connection.executemany(
        "INSERT OR IGNORE INTO places VALUES (?, ?)", [(name, one) for one in rows]
    )
    connection.executemany(
        "INSERT OR REPLACE INTO overlaps VALUES (?, ?, ?)",
        [(name, other, _now()) for other in known],
    )


def _make_later_tables(connection: sqlite3.Connection) -> None:
    for table in _LATER:
        connection.execute(table)


def _unknown_token_error() -> AccessError:
    return AccessError("this token is not known; it may have been replaced or revoked")


def _analyst_exists_error(name: str) -> ParameterError:
    return ParameterError(
        f"there is an analyst {name!r} already; give them a new token with 'analyst token'"
    )


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
