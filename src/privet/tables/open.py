"""Open the right kind of table for what the owner has."""

from __future__ import annotations

from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from privet.tables.base import Table, is_table
from privet.tables.sources.registry import load_registry
from privet.text import hide_password

#: Rows that are read at a time by those who may see them.
READ_ROWS = 50 * 2048


def open_table(table: object, y: object = None) -> Table:
    """Open a table to count, where its rows are.

    Opening looks at no row; of a CSV file it reads the header line.

    Parameters
    ----------
    table
        A data frame of pandas, Polars, Arrow or Spark (which is counted by its cluster), or where
        the rows are: ``"people.csv"``, ``"people.parquet"``,
        ``"duckdb:///people.db?table=people"`` or ``"sqlite:///people.db?table=people"`` (relative
        path; four slashes for an absolute one), or
        ``"postgresql://user:password@host/database?table=public.people"`` (all other parameters
        are libpq's). ``privet sources`` lists all sources, also those that other packages add.
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
    if is_table(table):
        return table
    registry = load_registry()
    if not isinstance(table, str | PathLike):
        return registry.find_object(table).open(table, y)
    place = fspath(table)
    if isinstance(table, str) and "://" in place:
        return registry.find_scheme(place.partition("://")[0]).open(place, y)
    # One file has one name, however it is reached: a ledger knows tables by their names.
    try:
        path = Path(place).resolve()
        exists = path.is_file()
    except (OSError, ValueError):  # a name that is too long, or that no file can have
        exists = False
    if not exists:
        raise registry.refuse_absent_file(hide_password(place))
    return registry.find_file(path).open(path, y)


def read_public(place: str) -> Any:
    """Read all rows of a *public* table, as a pandas DataFrame.

    They are read as they are counted: a CSV file as text.
    """
    import pandas as pd

    return pd.concat(list(read_blocks(place)), ignore_index=True)


def read_blocks(place: str, size: int = READ_ROWS) -> Iterator[Any]:
    """Read the rows of a table that the caller may see, block by block.

    Blocks are pandas DataFrames of about so many rows (an empty one for no rows).
    """
    yield from open_table(place).read_blocks(size)
