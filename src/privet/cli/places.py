"""Where files are by default."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from privet.errors import ParameterError

_SERVERS = ("postgresql://", "postgres://")


def ledger_beside(table: str) -> Path:
    """The ledger that lies beside a table's file, however the file is reached."""
    if table.startswith(_SERVERS):
        raise ParameterError("a table in PostgreSQL has no file beside which a ledger could lie; say where with --ledger FILE")
    path = _file_of(table)
    return path.with_name(path.name + ".ledger.sqlite")


def check_apart(written: Iterable[Path], table: str | None, ledger: Path | None, *read: Path | None) -> None:
    """Raise where a file that a command writes is one that it reads: the private table, its ledger, or another."""
    kept: list[tuple[Path, str]] = [(path, "a file that the command reads") for path in read if path is not None]
    if ledger is not None:
        kept.append((ledger, "the ledger"))
    if table is not None and not table.startswith((*_SERVERS, "http://", "https://")):
        kept += [(_file_of(table), "the private table itself"), (ledger_beside(table), "the ledger of the private table")]
    for path in written:
        for other, what in kept:
            if path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other)):
                raise ParameterError(f"{path} is {what}; write elsewhere")


def _file_of(table: str) -> Path:
    return Path(unquote(urlsplit(table).path.removeprefix("/")) if "://" in table else table).resolve()
