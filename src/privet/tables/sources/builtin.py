"""Describe the sources that come with Privet. What they open tables with is imported then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from privet.errors import TableError
from privet.tables.sources.source import Source

if TYPE_CHECKING:
    from privet.tables.base import Table

_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow", "numpy")


def is_frame(table: object) -> bool:
    """Return whether it is a table in memory. Imports nothing."""
    return isinstance(table, Mapping | Sequence) or any(
        base.__module__.partition(".")[0] in _FRAME_LIBRARIES for base in type(table).__mro__
    )


def is_spark(table: object) -> bool:
    """Return whether it is a DataFrame of Spark, classic or Connect. Imports nothing."""
    return any(
        base.__module__.startswith("pyspark.sql.") and base.__name__ == "DataFrame"
        for base in type(table).__mro__
    )


def _open_memory(table: object, y: object = None) -> Table:
    from privet.tables.memory import MemoryTable

    return MemoryTable(table, y)


def _open_csv(path: Path) -> Table:
    from privet.tables.csv_lines import csv_relation
    from privet.tables.duckdb.table import DuckDBTable

    _check_no_pattern(path)
    relation, broken = csv_relation(path)
    return DuckDBTable(path.name, *relation, broken_lines=broken)


def _open_parquet(path: Path) -> Table:
    from privet.tables.duckdb.table import DuckDBTable

    _check_no_pattern(path)
    return DuckDBTable(
        path.name, "read_parquet($path, hive_partitioning = false)", {"path": str(path)}
    )


def _check_no_pattern(path: Path) -> None:
    if any(character in str(path) for character in "*?["):
        raise TableError(
            f"cannot open {path}: a path with *, ? or [ would be read as a pattern; rename it"
        )


def _open_duckdb(url: str) -> Table:
    from privet.tables.duckdb.table import table_of_database

    name, path = DUCKDB.table_named_in(url), DUCKDB.file_of(url)
    assert path is not None
    if not path.is_file():
        raise TableError(f"no DuckDB file {path}")
    return table_of_database(path, name)


def _open_sqlite(url: str) -> Table:
    from privet.tables.sqlite.table import table_of_file

    name, path = SQLITE.table_named_in(url), SQLITE.file_of(url)
    assert path is not None
    return table_of_file(path, name)


def _open_postgres(url: str) -> Table:
    from privet.tables.postgres.table import table_of_server

    return table_of_server(url)


def _open_spark(frame: object) -> Table:
    import pyarrow as pa  # noqa: F401 - in which counts come back

    from privet.tables.spark.table import SparkTable

    return SparkTable(frame)


MEMORY = Source(
    name="memory",
    help="a pandas, Polars or Arrow table, a mapping of columns, or an array",
    example="a data frame",
    opener=_open_memory,
    takes=is_frame,
    takes_labels=True,
)
SPARK = Source(
    name="spark",
    help="a table in Spark",
    example="a Spark DataFrame",
    opener=_open_spark,
    takes=is_spark,
    needs=("pyspark", "pyarrow"),
    requirement="privet[spark]",
)
CSV = Source(
    name="csv",
    help="a CSV file, UTF-8 with a header line",
    example="FILE.csv",
    opener=_open_csv,
    endings=(".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz"),
)
PARQUET = Source(
    name="parquet",
    help="a Parquet file",
    example="FILE.parquet",
    opener=_open_parquet,
    endings=(".parquet", ".pq"),
)
DUCKDB = Source(
    name="duckdb",
    help="a table in a DuckDB database",
    example="duckdb:///FILE?table=NAME",
    opener=_open_duckdb,
    schemes=("duckdb",),
    in_file=True,
)
SQLITE = Source(
    name="sqlite",
    help="a table in an SQLite file",
    example="sqlite:///FILE?table=NAME",
    opener=_open_sqlite,
    schemes=("sqlite",),
    in_file=True,
)
POSTGRES = Source(
    name="postgres",
    help="a table in PostgreSQL",
    example="postgresql://USER@HOST/DATABASE?table=SCHEMA.TABLE",
    opener=_open_postgres,
    schemes=("postgresql", "postgres"),
    needs=("psycopg",),
    requirement="privet[postgres]",
)

#: In the order in which they are listed, and asked whether they take an object.
BUILT_IN = (CSV, PARQUET, DUCKDB, SQLITE, POSTGRES, MEMORY, SPARK)
