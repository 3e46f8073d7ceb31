"""Where files are by default."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote, urlsplit

from privet.errors import ParameterError

_SERVERS = ("postgresql://", "postgres://")
_LEDGER = ".ledger.sqlite"
_SQLITE = b"SQLite format 3\0"


def ledger_beside(table: str) -> Path:
    """The ledger that lies beside a table's file, however the file is reached."""
    if table.startswith(_SERVERS):
        raise ParameterError(
            "a table in PostgreSQL has no file beside which a ledger could lie; say where with "
            "--ledger FILE"
        )
    path = _file_of(table)
    return path.with_name(path.name + _LEDGER)


def check_apart(
    written: Iterable[Path], table: str | None, ledger: Path | None, *read: Path | None
) -> None:
    """Raise where a file that a command writes is one that it reads: the private table, its ledger,
    or another.
    """
    kept: list[tuple[Path, str]] = [
        (path, "a file that the command reads") for path in read if path is not None
    ]
    if ledger is not None:
        kept.append((ledger, "the ledger"))
    if table is not None and _is_file(table):
        kept += [
            (_file_of(table), "the private table itself"),
            (ledger_beside(table), "the ledger of the private table"),
        ]
    for path in written:
        for other, what in kept:
            if _is_same_file(path, other):
                raise ParameterError(f"{path} is {what}; write elsewhere")


def check_no_table(path: Path) -> None:
    """Raise where a file to be written over is a table that has been asked about, or a ledger."""
    if path.with_name(path.name + _LEDGER).exists():
        raise ParameterError(f"{path} is a private table: a ledger lies beside it; write elsewhere")
    if _begins_with(path, _SQLITE):
        raise ParameterError(f"{path} is a database, such as a ledger; write elsewhere")


def check_public(rows: Path, table: str) -> None:
    """Raise where rows that are taken as public are those of a private table."""
    if rows.with_name(rows.name + _LEDGER).exists() or (
        _is_file(table) and _is_same_file(rows, _file_of(table))
    ):
        raise ParameterError(
            f"{rows} is taken as public here, and is a private table; name the synthetic rows "
            "first, then the held-out ones"
        )


def _begins_with(path: Path, mark: bytes) -> bool:
    try:
        if not path.is_file():  # a pipe would wait for somebody
            return False
        with path.open("rb") as file:
            return file.read(len(mark)) == mark
    except OSError:  # it must not be read
        return False


def _is_file(table: str) -> bool:
    return not table.startswith((*_SERVERS, "http://", "https://"))


def _is_same_file(one: Path, other: Path) -> bool:
    return one.resolve() == other.resolve() or (
        one.exists() and other.exists() and one.samefile(other)
    )


def _file_of(table: str) -> Path:
    return Path(
        unquote(urlsplit(table).path.removeprefix("/")) if "://" in table else table
    ).resolve()
