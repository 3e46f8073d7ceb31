"""Make or open a store by its place: a DuckDB file, or a schema of a PostgreSQL database."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from privet.outsource.store.base import Store

_POSTGRES = ("postgresql://", "postgres://")


def make_store(place: str | PathLike[str], folder: str | PathLike[str]) -> None:
    """Load the folder that an owner made into a new store, all of it or nothing.

    What is wrong with it is said, and where.
    """
    named = fspath(place)
    if named.startswith(_POSTGRES):
        from privet.outsource.store.postgres import PostgresStore

        PostgresStore.make(named, Path(folder))
    else:
        from privet.outsource.store.duckdb import DuckDBStore

        DuckDBStore.make(Path(named), Path(folder))


def open_store(place: str | PathLike[str]) -> Store:
    """Open a store that was made before."""
    named = fspath(place)
    if named.startswith(_POSTGRES):
        from privet.outsource.store.postgres import PostgresStore

        return PostgresStore(named)
    from privet.outsource.store.duckdb import DuckDBStore

    return DuckDBStore(Path(named))
