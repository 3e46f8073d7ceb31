"""Describe a source of rows: how its tables are written, what it needs, and how it opens one."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, unquote

from privet.errors import MissingDependency, ParameterError, TableError

if TYPE_CHECKING:
    from privet.tables.base import Table

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*")
_ENDING = re.compile(r"(\.[a-z0-9_-]+)+")


@dataclass(frozen=True)
class Source:
    """A kind of place where rows are. Making one imports nothing but what you import.

    Args:
        name: what it is called, such as ``"duckdb"``.
        help: what it opens, in plain words: ``"a table in a DuckDB database"``.
        example: how such a table is written: ``"duckdb:///FILE?table=NAME"``.
        opener: opens a table, and looks at no row. It gets a URL of one of the ``schemes`` as it
            was written, the resolved path of an existing file with one of the ``endings``, or an
            object; with labels as its second argument, if there are any.
        schemes: of URLs, such as ``("duckdb",)``.
        endings: of the names of files, in lower case, such as ``(".csv", ".csv.gz")``.
        in_file: whether a URL leads to a file: ``SCHEME:///FILE?...``, with four slashes for an
            absolute path. If not, it leads to a server.
        takes: tells whether it opens an object, such as a data frame of some library.
        takes_labels: whether labels (``y``) may come beside an object.
        needs: packages that the opener imports and that not everybody has.
        requirement: what to install for them, as ``pip`` takes it: ``"privet[postgres]"``.
    """

    name: str
    help: str
    example: str
    opener: Callable[..., Table]
    schemes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()
    in_file: bool = False
    takes: Callable[[Any], bool] | None = None
    takes_labels: bool = False
    needs: tuple[str, ...] = ()
    requirement: str = ""

    def __post_init__(self) -> None:
        for field in ("name", "help", "example"):
            text = getattr(self, field)
            if not isinstance(text, str) or not text.strip() or not text.isprintable():
                raise ParameterError(f"Source: {field} must be one line of text, got {text!r}")
        for field in ("schemes", "endings", "needs"):
            if not isinstance(getattr(self, field), tuple):
                raise ParameterError(
                    f"Source {self.name}: {field} must be a tuple of texts, got "
                    f"{getattr(self, field)!r}"
                )
        for scheme in self.schemes:
            if not _SCHEME.fullmatch(scheme):
                raise ParameterError(
                    f"Source {self.name}: schemes must be in lower case and without '://', such as "
                    f"'duckdb'; got {scheme!r}"
                )
        for ending in self.endings:
            if not _ENDING.fullmatch(ending):
                raise ParameterError(
                    f"Source {self.name}: endings must be in lower case and begin with a dot, such "
                    f"as '.csv'; got {ending!r}"
                )
        if self.needs and not self.requirement:
            raise ParameterError(
                f"Source {self.name}: requirement must say what to install for "
                f"{', '.join(self.needs)}"
            )

    @property
    def has_places(self) -> bool:
        """Whether its tables can be written down, as a file or a URL."""
        return bool(self.schemes or self.endings)

    @property
    def is_installed(self) -> bool:
        """Whether all that it needs is there. Imports nothing."""
        return all(find_spec(package) is not None for package in self.needs)

    @property
    def install_hint(self) -> str:
        """The command that installs what it needs, or an empty text."""
        return f"pip install '{self.requirement}'" if self.needs else ""

    def open(self, table: object, y: object = None) -> Table:
        """Open a table. Looks at no row.

        Args:
            table: what the opener takes: a URL, the path of a file, or an object.
            y: labels beside an object.

        Raises:
            MissingDependency: if a package is missing; it says what to install.
            TableError: if the table cannot be opened.
        """
        from privet.tables.base import is_table

        if y is not None and not self.takes_labels:
            raise TableError(
                "y goes with a data frame in memory; a file, a database or Spark names its class "
                "column in the schema"
            )
        try:
            opened = self.opener(table) if y is None else self.opener(table, y)
        except MissingDependency:
            raise
        except ImportError as error:
            if not self.needs:
                raise
            missing = (error.name or "").partition(".")[0]
            raise MissingDependency(
                missing if missing in self.needs else self.needs[0],
                purpose=self.help,
                requirement=self.requirement,
            ) from error
        if not is_table(opened):
            raise TableError(
                f"the source {self.name!r} opened no table, but a {type(opened).__name__}; this is "
                "a bug in that source, please report it to its authors"
            )
        return opened

    def file_of(self, url: str) -> Path | None:
        """Return the file that a URL leads to, or None where it leads to a server."""
        if not self.in_file:
            return None
        path = url.partition("://")[2].partition("?")[0]
        if not path.startswith("/") or path == "/":
            raise TableError(
                f"{self.help} is given as {self.example}, with four slashes for an absolute path"
            )
        try:
            return Path(unquote(path.removeprefix("/"))).resolve()
        except (OSError, ValueError):  # a name that is too long, or that no file can have
            raise TableError(f"cannot open {self.help}: the URL names no possible file") from None

    def table_named_in(self, url: str) -> str:
        """Return the one table that a URL names with ``table=``."""
        names = parse_qs(url.partition("?")[2]).get("table", [])
        if len(names) != 1:
            raise TableError(f"{self.help} is given as {self.example}")
        return names[0]
