"""``open_table``: the right kind of table for what the owner has."""

from __future__ import annotations

import csv
import gzip
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from privet.counts.base import Table
from privet.counts.duckdb import DuckDBTable, execute
from privet.counts.memory import MemoryTable
from privet.counts.sql import quoted
from privet.errors import TableError

_CSV = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_SUPPORTED = "a data frame, a .csv or .parquet file, or duckdb:///FILE?table=NAME"


def open_table(table: object, y: object = None) -> Table:
    """A table to count: a data frame (with its labels in ``y``, if they are not in it), or where the rows are.

    ``"people.csv"``, ``"people.parquet"``, ``"duckdb:///people.db?table=people"`` (relative path; four slashes for an
    absolute one). Opening looks at no row; of a CSV file it reads the header line.
    """
    if isinstance(table, DuckDBTable | MemoryTable):
        return table
    if not isinstance(table, str | PathLike):
        return MemoryTable(table, y)
    if y is not None:
        raise TableError("y goes with a data frame; a file or database names its class column in the schema")
    place = fspath(table)
    if isinstance(table, str) and "://" in place:
        return _database(place)
    path = Path(place)
    if not path.is_file():
        raise TableError(f"no file {place}; a table is {_SUPPORTED}")
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return DuckDBTable(path.name, "read_parquet($path)", {"path": place})
    if name.endswith(_CSV):
        return _csv(path)
    raise TableError(f"cannot tell what {place} is; a table is {_SUPPORTED}")


def read_public(place: str) -> Any:
    """All rows of a *public* table, as a pandas DataFrame with the types that the file suggests."""
    table = open_table(place)
    if not isinstance(table, DuckDBTable):
        raise TableError(f"a public sample is a file or a DuckDB table, got {place!r}")
    is_csv = table.strict_relation is not None
    relation, parameters = ("read_csv($path, header = true)", {"path": place}) if is_csv else (table.relation, table.parameters)
    with table.cursor() as cursor:
        return execute(cursor, f"SELECT * FROM {relation}", parameters, table.name).df()


def _csv(path: Path) -> DuckDBTable:
    """All columns as text; a line that cannot be read is left out, so that no failure depends on the rows.

    The separator comes from the header line alone: guessing it from rows would let one row change how all are read.
    """
    delim, names = _header(path)
    parameters: dict[str, Any] = {"path": str(path), "delim": delim, "columns": dict.fromkeys(names, "VARCHAR")}
    options = "header = true, auto_detect = false, delim = $delim, quote = '\"', escape = '\"', columns = $columns"
    return DuckDBTable(
        path.name,
        f"read_csv($path, {options}, ignore_errors = true)",
        parameters,
        strict_relation=f"read_csv($path, {options})",
    )


def _header(path: Path) -> tuple[str, list[str]]:
    """The separator that cuts the header line into most names, and the names."""
    opened = gzip.open if path.suffix == ".gz" else open
    best: tuple[str, list[str]] = (",", [])
    for delim in ",;\t|":
        try:
            with opened(path, "rt", encoding="utf-8-sig", newline="") as file:
                names = next(csv.reader(file, delimiter=delim), [])
        except (OSError, UnicodeDecodeError, csv.Error, EOFError):
            raise TableError(f"cannot read {path} as CSV: it must be UTF-8 text with a header line") from None
        if len(names) > len(best[1]):
            best = delim, names
    named = [name or f"column {i}" for i, name in enumerate(best[1], start=1)]
    if not named:
        raise TableError(f"cannot read {path} as CSV: it is empty, and needs a header line")
    if twice := {name for name in named if named.count(name) > 1}:
        raise TableError(f"cannot read {path} as CSV: the header names column {sorted(twice)[0]!r} twice")
    return best[0], named


def _database(url: str) -> DuckDBTable:
    parts = urlsplit(url)
    if parts.scheme != "duckdb":
        raise TableError(f"cannot open a {parts.scheme}:// table; a table is {_SUPPORTED}")
    path = Path(unquote(parts.path.removeprefix("/")))
    names = parse_qs(parts.query).get("table", [])
    if len(names) != 1:
        raise TableError("a DuckDB table is given as duckdb:///FILE?table=NAME")
    if not path.is_file():
        raise TableError(f"no DuckDB file {path}")
    return DuckDBTable(names[0], ".".join(quoted(part) for part in names[0].split(".")), {}, database=str(path))
