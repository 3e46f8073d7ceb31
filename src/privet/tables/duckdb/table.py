"""Open CSV and Parquet files and DuckDB databases, and count their rows with DuckDB.

A table is never loaded into Python. One statement answers a whole question: DuckDB reads the table
and looks values up, and the codes stream into the counting loops, which count a whole level or
forest in one pass. Within a snapshot the table is read once, and counted from the rows that were
kept.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from privet._progress import is_watched, polled, tell
from privet._types import Ints, Tables, WeightedRows
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.values import raise_if_any
from privet.domain.questions import Question
from privet.errors import TableError
from privet.tables.base import Division
from privet.tables.counting.passes import NO_WEIGHTS, Counting
from privet.tables.dialect import (
    found_problems,
    quote_identifier,
    select_problems,
    structure_problems,
)
from privet.tables.duckdb.catalog import describe_duckdb_columns
from privet.tables.duckdb.codes import (
    DuckDBDialect,
    Reading,
    connect,
    copy_codes,
    encode_duckdb_people,
    execute,
    fetch_chunks,
    is_identity_type,
    plan_readings,
    readable_expression,
)
from privet.tables.kept_rows import NOBODY, KeptRows, PeopleRows, keep_rows
from privet.tables.snapshot_scores import SnapshotScores

if TYPE_CHECKING:
    import duckdb

    from privet.tables.counting.row_sums import RowSums

_SQLITE = b"SQLite format 3\0"  # which DuckDB would open with an extension, and read otherwise


@dataclass(frozen=True)
class DuckDBTable:
    """A relation that DuckDB can read.

    ``relation`` is SQL of our own with ``parameters`` bound in it, or a quoted table name;
    ``database`` is the database file, opened read-only, or None for files that DuckDB reads
    directly; ``broken_lines`` is SQL with its values that tells whether some line of a text file is
    no record; ``opened`` is a connection to a database that somebody else has opened.
    """

    name: str
    relation: str
    parameters: dict[str, Any]
    database: str | None = None
    broken_lines: tuple[str, dict[str, Any]] | None = None
    opened: duckdb.DuckDBPyConnection | None = None

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        if self.opened is not None:
            return self.opened
        connection = connect(self.database, self.name)
        self._opened_file  # noqa: B018 - which file it is, as long as it is open
        return connection

    @cached_property
    def _opened_file(self) -> int | None:
        return None if self.database is None else Path(self.database).stat().st_ino

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """Return a connection of its own to the same database."""
        return self._connection.cursor()

    @cached_property
    def columns(self) -> dict[str, str]:
        """The type of each column."""
        import duckdb

        try:
            with self.cursor() as cursor:
                rows = cursor.execute(
                    f"DESCRIBE SELECT * FROM {self.relation}", self.parameters
                ).fetchall()
        except duckdb.Error:
            raise TableError(
                f"cannot read {self.name}: it is damaged, or not what its name says"
            ) from None
        return {row[0]: row[1] for row in rows}

    def check_structure(self, schema: Schema) -> None:
        raise_if_any(self._structure(schema), self.columns)

    def check_reachable(self) -> None:
        files = [
            place for place in (self.database, self.parameters.get("path")) if place is not None
        ]
        try:
            exists = all(Path(place).is_file() for place in files)
            opened = self.database is None or Path(self.database).stat().st_ino == self._opened_file
        except OSError:  # such as a folder that may not be entered
            exists = opened = False
        if not exists:
            raise TableError(f"the file of {self.name} is gone")
        if not opened:  # what is open are the old rows
            raise TableError(
                f"the file of {self.name} was replaced; open it again, which for a service means "
                "to start it again"
            )

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        problems = structure_problems(schema, self.columns, DuckDBDialect)
        if schema.person in self.columns and not is_identity_type(self.columns[schema.person]):
            problems.append((schema.person, "dtype"))
        return problems

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        problems = self._structure(schema)
        self._check_lines()
        dialect = DuckDBDialect(self.parameters)
        broken = {column for column, _ in problems}
        sql, told = select_problems(dialect, self.relation, self.columns, schema, broken)
        if not told:
            return problems
        with self.cursor() as cursor:
            answer = execute(cursor, sql, dialect.parameters, self.name).fetchone()
        assert answer is not None
        return problems + found_problems(told, answer)

    def _check_lines(self) -> None:
        if self.broken_lines is not None:
            with self.cursor() as cursor:
                broken = execute(cursor, *self.broken_lines, self.name).fetchone()
            if broken != (False,):
                raise TableError(
                    f"{self.name} has lines that are no complete record (wrong number of fields, "
                    "an unclosed quote, a line break inside quotes); they are not counted. Repair "
                    "them, or store the table as Parquet"
                )

    def estimate_rows(self) -> int:
        """Return how many rows there are by what is written about the table, to say how far work
        has come; 0 where nothing is written.
        """
        if not self.relation.startswith("read_parquet("):
            return 0
        with self.cursor() as cursor:
            sql = "SELECT sum(num_rows) FROM parquet_file_metadata($path)"
            answer = execute(cursor, sql, self.parameters, self.name).fetchone()
        return 0 if answer is None else int(answer[0] or 0)

    def source(self, schema: Schema) -> DuckDBSource:
        return DuckDBSource(self, schema)

    def read_blocks(self, size: int) -> Iterator[Any]:
        vectors = max(1, size // _VECTOR_ROWS)
        with self.cursor() as cursor:
            selected = ", ".join(readable_expression(*column) for column in self.columns.items())
            sql = f"SELECT {selected} FROM {self.relation} AS t"
            execute(cursor, sql, self.parameters, self.name)
            block = cursor.fetch_df_chunk(vectors)
            yield block
            while len(block) and len(block := cursor.fetch_df_chunk(vectors)):
                yield block

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what the catalog or the file says about each column. Looks at no row."""
        rules = [] if self.database is None else self._list_rules()
        named = [] if self.database is None else self._list_enumerations()
        spelled = self.broken_lines is not None
        return describe_duckdb_columns(self.columns, rules, spelled=spelled, enumerations=named)

    def _list_enumerations(self) -> list[tuple[str, ...]]:
        """Return the labels of each enumeration that has a name."""
        with self.cursor() as cursor:
            found = cursor.execute(
                "SELECT labels FROM duckdb_types() WHERE logical_type = 'ENUM' AND NOT internal "
                "AND database_name = current_database()"
            ).fetchall()
        return [tuple(labels) for (labels,) in found if labels]

    def _list_rules(self) -> list[tuple[str, list[str], str | None]]:
        schema, _, table = self.name.partition(".")
        with self.cursor() as cursor:
            return cursor.execute(
                "SELECT constraint_type, constraint_column_names, expression FROM "
                "duckdb_constraints() WHERE database_name = current_database() AND schema_name = "
                "$schema AND table_name = $table",
                {"schema": schema, "table": table},
            ).fetchall()

    def list_relations(self) -> list[str]:
        """Return the tables that the rows come from, those that a view reads too; none for a file
        that holds one table.
        """
        if self.database is None:
            return []
        cursor = self.cursor()
        cursor.execute("PRAGMA explain_output = 'all'")
        rows = cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {self.relation}").fetchall()
        (catalog,) = cursor.execute("SELECT current_database()").fetchone() or ("",)
        plan = json.loads(dict(rows)["logical_plan"])  # nothing is left out of it yet
        read = {name.removeprefix(f"{catalog}.") for name in _list_scanned(plan)}
        return sorted({self.name, *read})

    def writable(self) -> bool:
        return False  # files are opened read-only


def _list_scanned(plan: Any) -> Iterator[str]:
    """Return the tables that a plan scans."""
    if isinstance(plan, list):
        for step in plan:
            yield from _list_scanned(step)
    elif isinstance(plan, dict):
        table = plan.get("extra_info", {}).get("Table")
        if isinstance(table, str):
            yield table
        yield from _list_scanned(plan.get("children", []))


def table_of_database(path: Path, name: str) -> DuckDBTable:
    """Return a table of a DuckDB file, under the one name that the database has for it.

    Case and schema do not make another table.
    """
    with path.open("rb") as file:
        if file.read(len(_SQLITE)) == _SQLITE:
            raise TableError(
                f"{path.name} is an SQLite file; write sqlite:///{path.name}?table={name}"
            )
    with connect(str(path), path.name) as connection:
        schema, table = _find_table(connection, name, path.name)
    return DuckDBTable(f"{schema}.{table}", _quote(schema, table), {}, database=str(path))


def table_of_connection(connection: duckdb.DuckDBPyConnection, name: str) -> DuckDBTable:
    """Return a table of a connection's database, read over a connection of its own."""
    own = connection.cursor()
    schema, table = _find_table(own, name, "the committed tables of this database")
    return DuckDBTable(f"{schema}.{table}", _quote(schema, table), {}, opened=own)


def _find_table(connection: duckdb.DuckDBPyConnection, name: str, place: str) -> tuple[str, str]:
    """Return the schema and the name of a table, as the database has them."""
    rows = connection.execute(
        "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = "
        "current_database() "
        "AND lower($name) IN (lower(table_name), lower(table_schema || '.' || table_name))",
        {"name": name},
    ).fetchall()
    if len(rows) > 1:
        rows = [row for row in rows if row[0] == "main"]
    if len(rows) != 1:
        raise TableError(f"no table {name!r} in {place}")
    (found,) = rows
    return found


def _quote(schema: str, table: str) -> str:
    return f"{quote_identifier(schema)}.{quote_identifier(table)}"


# -- exact counts --

_CHUNK_BYTES = 1 << 22  # of codes that are taken at a time
_VECTOR_ROWS = 2048  # rows that DuckDB hands out together


class DuckDBSource:
    """Exact counts by DuckDB.

    Within a snapshot, the rows are encoded once and kept, and counted from there.
    """

    def __init__(self, table: DuckDBTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._snapshots = 0  # that are open, one in another
        self._kept: KeptRows | None = None
        self._divided: Division | None = None  # of this snapshot
        self._scores = SnapshotScores()
        self._lock = threading.RLock()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep the encoded rows (:mod:`~privet.tables.kept_rows`), so that all questions see
        the same rows.

        They are read by the first question, after its charge.
        """
        with self._lock:
            self._snapshots += 1
            try:
                with self._scores.snapshot():
                    yield
            finally:
                self._snapshots -= 1
                if self._snapshots == 0:
                    self._divided = None
                    if self._kept is not None:
                        self._kept.close()
                        self._kept = None

    def count(self, question: Question) -> Tables:
        counting = Counting(question)
        for rows in self.rows():
            counting.add(*rows)
        return counting.tables()

    def rows(self) -> Iterator[WeightedRows]:
        with self._lock:  # other threads wait until the snapshot of one has ended
            kept = self._rows if self._snapshots else None
        if kept is not None:
            yield from kept.blocks()
            return
        for codes, classes, _ in self._read("counting"):
            yield codes, classes, NO_WEIGHTS

    def sum_rows(self, sums: RowSums) -> Ints:
        """Return sums over all rows; within a snapshot, scores are kept for the next ones."""
        return self._scores.sum_rows(sums, self.rows())

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:
        """Return parts of this snapshot.

        They are good until it ends or the rows are divided anew: who is in which part is then
        forgotten.
        """
        with self._lock:
            if not self._snapshots:
                raise TableError(
                    "a table is divided within a snapshot, so that everybody stays in one part"
                )
            self._divided = Division(n_parts, key)
            return [DuckDBPart(self, part, self._divided) for part in range(n_parts)]

    @property
    def _rows(self) -> KeptRows:
        """The rows of this snapshot."""
        with self._lock:
            if not self._snapshots:  # it ended while another thread waited for it
                raise TableError("the snapshot has ended")
            if self._kept is None:
                self._kept = keep_rows(self._schema, self._read("reading the table"))
            return self._kept

    def _read(self, what: str) -> Iterator[PeopleRows]:
        """Return the rows that count, block by block, in one statement; a number for each person
        where people are named.
        """
        named = self._schema.person is not None
        if named:
            parameters, sql = encode_duckdb_people(self._table, self._schema)
            readings = [
                Reading(name, copy_codes) for name in (*self._schema.names, self._schema.target)
            ]
        else:
            parameters, sql, readings = plan_readings(self._table, self._schema)
        sizes = np.array([*self._schema.sizes, self._schema.n_classes])
        codes_type = np.result_type(
            *(attribute.dtype for attribute in self._schema.attributes.values())
        )
        vectors = max(1, min(128, _CHUNK_BYTES // (_VECTOR_ROWS * len(sizes))))
        total, done = self._table.estimate_rows() if is_watched() else 0, 0
        with self._table.cursor() as cursor:
            with polled(what, lambda: cursor.query_progress() / 100):  # until the first rows come
                execute(cursor, sql, parameters, self._table.name)
            for chunk in fetch_chunks(cursor, vectors, self._table.name):
                columns = [chunk[name] for name in chunk.columns]
                codes = np.empty((len(sizes) - 1, len(chunk)), dtype=codes_type)
                keep = np.ones(len(chunk), dtype=bool)
                for line, column, reading, size in zip(
                    codes, columns, readings, sizes, strict=False
                ):
                    reading.write(column, line)
                    keep &= line < size
                classes = np.empty(len(chunk), dtype=self._schema.label.dtype)
                readings[-1].write(columns[len(codes)], classes)
                keep &= classes < sizes[-1]
                who = columns[-1].to_numpy().astype(np.uint64) if named else NOBODY
                if not keep.all():
                    codes, classes, who = (
                        np.ascontiguousarray(codes[:, keep]),
                        classes[keep],
                        who[keep] if named else NOBODY,
                    )
                yield codes, classes, who
                done += len(chunk)
                tell(what, done / total if total else None)


class DuckDBPart(DuckDBSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: DuckDBSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    def rows(self) -> Iterator[WeightedRows]:
        # In another snapshot, or divided otherwise, somebody could be in two parts that were paid
        # for once.
        with self._whole._lock:
            if self._whole._divided is not self._division:
                raise TableError(
                    "this part of the table is gone: its snapshot has ended, or the table was "
                    "divided anew"
                )
            rows = self._whole._rows
        yield from rows.part(self._division, self._part)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # that of the whole

    def parts(self, n_parts: int, key: bytes) -> Sequence[DuckDBPart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")
