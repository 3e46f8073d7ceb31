"""Keep which places an owner may name over HTTP: folders and databases.

Connecting to any place that a request names would let whoever has an owner's token read files of
the curator's machine, and reach servers that only it can reach. So over HTTP a table must be in a
folder, or in a database, that the home's administrator has allowed on the command line. What is not
allowed is neither looked at nor connected to. Nor is the home itself, wherever it lies: its
accounts hold passwords.

An address is taken only where it can be read in one way. Python's reader and libpq's differ on
``#``, on several hosts and on several ``@``, and what is checked must be what is connected to.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from privet._atomic import write_atomically
from privet.errors import ParameterError
from privet.tables.sources.registry import file_of

FILE = "places.json"
_SERVERS = ("postgresql", "postgres")
#: What may stand in the query of an address over HTTP: others name further hosts, or files.
_PARAMETERS = frozenset({"table", "sslmode", "connect_timeout", "application_name"})
#: User and password without what separates parts; one host, one port, one database.
_ADDRESS = re.compile(
    r"postgres(?:ql)?://(?:[^/?#@\[\]\\\s]*@)?"
    r"(?P<host>[\w.-]+|\[[0-9a-f:.]+\])(?::(?P<port>\d{1,5}))?"
    r"/(?P<database>[^/?#@\\\s]+)(?:\?(?P<query>[^#\\\s]*))?",
    re.ASCII | re.IGNORECASE,
)
_NEXT = "the administrator allows a place on the curator's machine: privet curator places --allow"


class PlaceRefused(ParameterError):
    """A place that may not be named over HTTP."""


@dataclass(frozen=True)
class AllowedPlaces:
    """The folders, and the databases (``host:port/database``), that may be named over HTTP."""

    folders: tuple[str, ...] = ()
    databases: tuple[str, ...] = ()

    @classmethod
    def read(cls, home: Path) -> AllowedPlaces:
        """Read those of a home; none where nothing was allowed yet."""
        try:
            given = json.loads((home / FILE).read_text(encoding="utf-8"))
            return cls(tuple(given["folders"]), tuple(given["databases"]))
        except FileNotFoundError:
            return cls()
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ParameterError(f"cannot read {home / FILE}: {error}") from None

    def write(self, home: Path) -> None:
        """Write those of a home."""
        text = json.dumps(asdict(self), indent=2) + "\n"
        write_atomically(home / FILE, text.encode(), private=True)

    def allowing(self, place: str) -> AllowedPlaces:
        """Return these and one more: a folder that is there, or ``postgresql://host/database``."""
        if "://" in place:
            named = _name_database(place)
            return replace(self, databases=tuple(sorted({*self.databases, named})))
        folder = Path(place).resolve()
        if not folder.is_dir():
            raise ParameterError(
                f"{place} is no folder; allow a folder, or postgresql://host/database"
            )
        return replace(self, folders=tuple(sorted({*self.folders, str(folder)})))

    def forbidding(self, place: str) -> AllowedPlaces:
        """Return these without one."""
        named = _name_database(place) if "://" in place else str(Path(place).resolve())
        if named not in self.folders + self.databases:
            raise ParameterError(f"{place} was not allowed; {self.describe()}")
        return AllowedPlaces(
            tuple(folder for folder in self.folders if folder != named),
            tuple(database for database in self.databases if database != named),
        )

    def describe(self) -> str:
        """Return what is allowed, in words."""
        listed = [*self.folders, *(f"postgresql://{database}" for database in self.databases)]
        return f"allowed are {', '.join(listed)}" if listed else "none is allowed yet"

    def check(self, place: str, home: Path) -> None:
        """Raise unless this place may be named over HTTP, to the curator of this home.

        Connects to nothing.
        """
        scheme, mark, _ = place.partition("://")
        if mark and scheme in _SERVERS:
            self._check_server(place)
            return
        try:
            path = file_of(place)
            # links are followed: what counts is where the file is in the end
            end = None if path is None else path.resolve()
        except (OSError, ValueError):
            raise PlaceRefused("no file can have this name") from None
        if end is None:
            raise PlaceRefused(
                "over HTTP, a table must be a file or in a PostgreSQL database; register others on "
                "the curator's machine: privet curator dataset add"
            )
        if end.is_relative_to(home.resolve()):
            raise self._refuse("over HTTP, no table may be in the curator's own home")
        if not any(end.is_relative_to(folder) for folder in self.folders):
            raise self._refuse("over HTTP, the file of a table must be in an allowed folder")

    def _check_server(self, place: str) -> None:
        named = _name_database(place)
        extra = {name for name, _ in parse_qsl(urlsplit(place).query, keep_blank_values=True)}
        odd = sorted(extra - _PARAMETERS)
        if odd:
            raise PlaceRefused(
                f"over HTTP, the address of a table may not set {', '.join(map(repr, odd))}; it "
                f"may set {', '.join(sorted(_PARAMETERS))}"
            )
        if named not in self.databases:
            raise self._refuse("over HTTP, the database of a table must be an allowed one")

    def _refuse(self, wrong: str) -> PlaceRefused:
        return PlaceRefused(f"{wrong}; {self.describe()}; {_NEXT}")


def _name_database(place: str) -> str:
    """Return host, port and database of an address, as they are compared."""
    found = _ADDRESS.fullmatch(place)
    if found is None or not place.isprintable():
        raise PlaceRefused(
            "a database is written postgresql://host/database or postgresql://host:port/database: "
            "one host, and the name of one database, with special characters percent-encoded"
        )
    return f"{found['host'].lower()}:{int(found['port'] or 5432)}/{found['database']}"


def with_password(place: str, password: str) -> str:
    """Return the address of a table at a server with another password."""
    from urllib.parse import quote

    parts = urlsplit(place)
    if parts.scheme not in _SERVERS or not parts.hostname:
        raise ParameterError("only a table at a server has a password; leave it out here")
    kept = [
        pair
        for pair in parts.query.split("&")
        if not pair.lower().startswith("password=")  # libpq takes it from there, too
    ]
    user = parts.netloc.rpartition("@")[0].partition(":")[0]
    address = parts.netloc.rpartition("@")[2]
    secret = f"{user}:{quote(password, safe='')}@{address}"
    return parts._replace(netloc=secret, query="&".join(kept)).geturl()
