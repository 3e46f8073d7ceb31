"""Open the right kind of table for what the owner has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from privet.errors import TableError
from privet.tables.base import Table
from privet.tables.csv_lines import csv_relation
from privet.tables.duckdb.codes import execute
from privet.tables.duckdb.table import DuckDBTable, table_of_database
from privet.tables.memory import MemoryTable
from privet.tables.postgres.table import PostgresTable, table_of_server
from privet.tables.spark.table import SparkTable, is_spark

#: How the names of CSV files end.
CSV_ENDINGS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz")
_PARQUET = (".parquet", ".pq")
_SUPPORTED = (
    "a data frame, a DataFrame of Spark, a .csv or .parquet file, duckdb:///FILE?table=NAME, or "
    "postgresql://USER@HOST/DATABASE?table=SCHEMA.TABLE"
)
_POSTGRES = ("postgresql", "postgres")


def open_table(table: object, y: object = None) -> Table:
    """Open a table to count, where its rows are.

    Opening looks at no row; of a CSV file it reads the header line.

    Parameters
    ----------
    table
        A data frame of pandas, Polars, Arrow or Spark (which is counted by its cluster), or where
        the rows are: ``"people.csv"``, ``"people.parquet"``,
        ``"duckdb:///people.db?table=people"`` (relative path; four slashes for an absolute one) or
        ``"postgresql://user:password@host/database?table=public.people"`` (all other parameters
        are libpq's).
    y
        The classes of a data frame in memory, if they are not in it.

    Returns
    -------
    Table
        What a :class:`~privet.Curator` takes.

    Raises
    ------
    TableError
        If there is no such table.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> car.table.to_csv("car.csv", index=False)
    >>> curator = pv.Curator(pv.open_table("car.csv"), car.schema, pv.Budget(1))
    >>> curator
    <Curator of 'car.csv': 6 attributes, epsilon 1 left>
    """
    if isinstance(table, DuckDBTable | MemoryTable | PostgresTable | SparkTable):
        return table
    spark = is_spark(table)
    if not spark and not isinstance(table, str | PathLike):
        return MemoryTable(table, y)
    if y is not None:
        raise TableError(
            "y goes with a data frame in memory; a file, a database or Spark names its class "
            "column in the schema"
        )
    if spark:
        return SparkTable(table)
    assert isinstance(table, str | PathLike)
    place = fspath(table)
    if isinstance(table, str) and "://" in place:
        return _open_database(place)
    # One file has one name, however it is reached: a ledger knows tables by their names.
    try:
        path = Path(place).resolve()
        exists = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or that no file can have
        exists = False
    if not exists:
        raise TableError(f"no file {_hide_password(place)}; a table is {_SUPPORTED}")
    if any(character in str(path) for character in "*?["):
        raise TableError(
            f"cannot open {place}: a path with *, ? or [ would be read as a pattern; rename it"
        )
    name = path.name.lower()
    if name.endswith(_PARQUET):
        return DuckDBTable(
            path.name, "read_parquet($path, hive_partitioning = false)", {"path": str(path)}
        )
    if name.endswith(CSV_ENDINGS):
        relation, broken = csv_relation(path)
        return DuckDBTable(path.name, *relation, broken_lines=broken)
    raise TableError(f"cannot tell what {place} is; a table is {_SUPPORTED}")


def read_public(place: str) -> Any:
    """Read all rows of a *public* table, as a pandas DataFrame.

    They are read as they are counted: a CSV file as text.
    """
    import pandas as pd

    return pd.concat(list(read_blocks(place)), ignore_index=True)


def read_blocks(place: str, vectors: int = 50) -> Iterator[Any]:
    """Read the rows of a table that the caller may see, block by block.

    Blocks are pandas DataFrames (an empty one for no rows).
    """
    table = open_table(place)
    if isinstance(table, PostgresTable):
        yield from table.read_blocks(vectors * 2048)
        return
    assert isinstance(table, DuckDBTable)
    with table.cursor() as cursor:
        execute(cursor, f"SELECT * FROM {table.relation}", table.parameters, table.name)
        block = cursor.fetch_df_chunk(vectors)
        yield block
        while len(block) and len(block := cursor.fetch_df_chunk(vectors)):
            yield block


def _open_database(url: str) -> DuckDBTable | PostgresTable:
    scheme = url.partition("://")[0]
    if scheme in _POSTGRES:
        return table_of_server(url)
    if scheme != "duckdb":
        raise TableError(f"cannot open a {scheme}:// table; a table is {_SUPPORTED}")
    parts = urlsplit(url)
    path = Path(unquote(parts.path.removeprefix("/"))).resolve()
    names = parse_qs(parts.query).get("table", [])
    if len(names) != 1:
        raise TableError("a DuckDB table is given as duckdb:///FILE?table=NAME")
    if not path.is_file():
        raise TableError(f"no DuckDB file {path}")
    return table_of_database(path, names[0])


def _hide_password(place: str) -> str:
    """Return what was given, fit for a message.

    A URL that is written wrongly may still hold a password.
    """
    return re.sub(r"^(\w{2,}:/+).*@", r"\1...@", place)
