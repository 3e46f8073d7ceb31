"""Every source of counts passes the same suite."""

from __future__ import annotations

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from privet.errors import TableError
from privet.tables.open import open_table
from tests.conformance.check_source import READS_ROWS, check_source
from tests.postgres import put_table, server
from tests.spark import ABOUT_PANDAS, classic_session, connect_session
from tests.sqlite import put_frame


def in_pandas(frame, folder):
    return open_table(frame)


def in_polars(frame, folder):
    return open_table(pl.from_pandas(frame))


def in_arrow(frame, folder):
    return open_table(pa.Table.from_pandas(frame, preserve_index=False))


def in_csv(frame, folder):
    path = folder / "table.csv"
    frame.to_csv(path, index=False)
    return open_table(path)


def in_parquet(frame, folder):
    path = folder / "table.parquet"
    frame.to_parquet(path, index=False)
    return open_table(path)


def in_duckdb(frame, folder):
    path = folder / f"table{len(list(folder.iterdir()))}.db"
    with duckdb.connect(str(path)) as connection:
        connection.execute('CREATE TABLE "the ""table""" AS SELECT * FROM frame')
    return open_table(f'duckdb:///{path}?table=the "table"')


def in_sqlite(frame, folder):
    path = folder / f"table{len(list(folder.iterdir()))}.db"
    return open_table(put_frame(path, frame, 'the "table"'))


def in_postgres(frame, folder):
    return open_table(put_table(server().database(), frame, 'the "table"'))


def in_spark(frame, folder, session=classic_session):
    path = folder / f"table{len(list(folder.iterdir()))}.parquet"
    frame.to_parquet(path, index=False)
    return open_table(session().read.parquet(str(path)))


def in_spark_connect(frame, folder):
    return in_spark(frame, folder, connect_session)


PLACES = {
    "pandas": in_pandas,
    "polars": in_polars,
    "arrow": in_arrow,
    "csv": in_csv,
    "parquet": in_parquet,
    "duckdb": in_duckdb,
    "sqlite": in_sqlite,
    "postgres": in_postgres,
    "spark": in_spark,
    "spark connect": in_spark_connect,
}
SLOW = [pytest.mark.slow, pytest.mark.filterwarnings(ABOUT_PANDAS)]
CHECKS = [name for name, _ in check_source(lambda frame: None)]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    "source", [pytest.param(name, marks=SLOW if "spark" in name else []) for name in PLACES]
)
def test_a_source_conforms(source, check, tmp_path):
    checks = dict(check_source(lambda frame: PLACES[source](frame, tmp_path)))
    if check == READS_ROWS and "spark" in source:
        with pytest.raises(TableError, match="stay on its cluster"):
            checks[check]()
        return
    checks[check]()


def test_the_suite_can_fail(tmp_path):
    """A source that counts one row too many in one cell does not pass."""

    class Wrong:
        def __init__(self, frame):
            self._table = in_pandas(frame, tmp_path)

        def source(self, schema):
            source = self._table.source(schema)
            right = source.count

            def wrong(question):
                tables = right(question)
                tables[0].flat[0] += 1
                return tables

            source.count = wrong
            return source

    checks = dict(check_source(Wrong))
    for name in (
        "counts random tables exactly",
        "counts a table without rows",
        "counts 1000 cells",
    ):
        with pytest.raises(AssertionError):
            checks[name]()


def test_a_table_opens_without_reading_rows(tmp_path):
    """Only the structure is looked at: a table of the wrong values opens all the same."""
    table = open_table(pd.DataFrame({"colour": ["x"]}))
    assert table.name == "table in memory"
