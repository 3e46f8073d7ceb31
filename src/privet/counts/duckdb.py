"""Counts from CSV and Parquet files and DuckDB databases, by DuckDB. The table is never loaded into Python.

One statement answers a whole question. Every partition is a set of leaves; each (attribute, code) is compatible with
some of them, held as a bit set; a row's leaf is the one bit that is left when the sets of its codes are intersected.
The small tables of bit sets are joined, and GROUPING SETS count all partitions in one pass. Where a question has too
many cells for bit sets, the rows are grouped by the codes it uses, and the groups stream into the counting loop.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.cells import Cells, Question
from privet.counts.base import Tables, check_totals, split_tables
from privet.counts.counting import Counting
from privet.counts.sql import Statement, code_expression, quoted
from privet.errors import TableError
from privet.schema import Attribute, Categorical, Numeric, Schema
from privet.schema.attributes import Kind
from privet.schema.problems import What, raise_if_any

if TYPE_CHECKING:
    import duckdb

_WORD = 64  # cells per bit-set word
_MAX_WORDS = 256  # above this many words a question is answered by grouping
_SNAPSHOT = '"temp"."main"."privet_snapshot"'  # never a table of the owner's


@dataclass(frozen=True)
class DuckDBTable:
    """A relation that DuckDB can read.

    ``relation`` is SQL of our own with ``parameters`` bound in it, or a quoted table name; ``database`` is the
    database file, opened read-only, or None for files that DuckDB reads directly; ``broken_lines`` is SQL with its
    values that tells whether some line of a text file is no record.
    """

    name: str
    relation: str
    parameters: dict[str, Any]
    database: str | None = None
    broken_lines: tuple[str, dict[str, Any]] | None = None

    @cached_property
    def _connection(self) -> duckdb.DuckDBPyConnection:
        return _connect(self.database, self.name)

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection of its own to the same database."""
        return self._connection.cursor()

    @cached_property
    def columns(self) -> dict[str, str]:
        """The type of each column."""
        import duckdb

        try:
            with self.cursor() as cursor:
                rows = cursor.execute(f"DESCRIBE SELECT * FROM {self.relation}", self.parameters).fetchall()
        except duckdb.Error:
            raise TableError(f"cannot read {self.name}: it is damaged, or not what its name says") from None
        return {row[0]: row[1] for row in rows}

    def check_structure(self, schema: Schema) -> None:
        raise_if_any(self._structure(schema))

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        person = [] if schema.person is None else [schema.person]
        found: list[tuple[str, What]] = []
        for column in (*schema.names, schema.target, *person):
            if column not in self.columns:
                found.append((column, "absent"))
            elif column == schema.person:
                if self.columns[column] in ("FLOAT", "DOUBLE"):  # two large identifiers may have become one
                    found.append((column, "identity"))
            elif kind_of(self.columns[column]) is None:
                found.append((column, "dtype"))
        return found

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        found = self._structure(schema)
        self._check_lines()
        broken = {column for column, _ in found}
        statement, tests = Statement(dict(self.parameters)), []
        attributes: dict[str, Attribute] = {**schema.attributes, schema.target: Categorical(schema.classes)}
        for i, (column, attribute) in enumerate(attributes.items()):
            if column not in broken:
                kind = kind_of(self.columns[column])
                assert kind is not None
                tests += [(column, what, test) for what, test in _problem_tests(statement, attribute, column, kind, f"d{i}")]
        if tests:
            selected = ", ".join(f"coalesce(bool_or({test}), false)" for _, _, test in tests)
            sql = f"{_with(statement.tables)}SELECT {selected} FROM {self.relation} AS t {' '.join(statement.joins)}"
            with self.cursor() as cursor:
                answers = execute(cursor, sql, statement.parameters, self.name).fetchone()
            assert answers is not None
            found += [(column, what) for (column, what, _), answer in zip(tests, answers, strict=True) if answer]
        return found

    def _check_lines(self) -> None:
        if self.broken_lines is not None:
            with self.cursor() as cursor:
                broken = execute(cursor, *self.broken_lines, self.name).fetchone()
            if broken != (False,):
                raise TableError(
                    f"{self.name} has lines that are no complete record (wrong number of fields, an unclosed quote, a line break "
                    "inside quotes); they are not counted. Repair them, or store the table as Parquet"
                )

    def source(self, schema: Schema) -> DuckDBSource:
        return DuckDBSource(self, schema)


def _connect(database: str | None, name: str) -> duckdb.DuckDBPyConnection:
    import duckdb

    try:
        connection = duckdb.connect() if database is None else duckdb.connect(database, read_only=True)
        # Our joins are written in their best order: the rows stream through small tables. Estimates only mislead.
        connection.execute("SET disabled_optimizers = 'join_order,build_side_probe_side'")
        return connection
    except duckdb.Error as error:
        raise TableError(f"cannot open {name}: {str(error).splitlines()[0]}") from None


def table_of_database(path: Path, name: str) -> DuckDBTable:
    """A table of a DuckDB file, under the one name that the database has for it: case and schema do not make another table."""
    with _connect(str(path), path.name) as connection:
        rows = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables WHERE table_catalog = current_database() "
            "AND lower($name) IN (lower(table_name), lower(table_schema || '.' || table_name))",
            {"name": name},
        ).fetchall()
    if len(rows) > 1:
        rows = [row for row in rows if row[0] == "main"]
    if len(rows) != 1:
        raise TableError(f"no table {name!r} in {path.name}")
    (schema, table) = rows[0]
    return DuckDBTable(f"{schema}.{table}", f"{quoted(schema)}.{quoted(table)}", {}, database=str(path))


def kind_of(sql_type: str) -> Kind | None:
    """What a DuckDB column holds; None where it cannot match."""
    family = sql_type.partition("(")[0]
    if family in ("VARCHAR", "ENUM", '"NULL"'):  # the last: a column that holds nothing at all
        return "text"
    if family == "BOOLEAN":
        return "bool"
    numbers = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "FLOAT", "DOUBLE", "DECIMAL"}
    return "number" if family in numbers or family.removeprefix("U") in numbers else None


class DuckDBSource:
    """Exact counts by DuckDB."""

    def __init__(self, table: DuckDBTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._session: duckdb.DuckDBPyConnection | None = None
        self._kept = False
        self._lock = threading.RLock()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep the encoded rows in a temporary table of DuckDB (which spills to disk), so that all questions see the same rows.

        It is made by the first question, after its charge.
        """
        with self._lock:
            if self._session is not None:
                yield
                return
            with self._table.cursor() as cursor:
                self._session, self._kept = cursor, False
                try:
                    yield
                finally:
                    self._session = None
                    if self._kept:
                        cursor.execute(f"DROP TABLE {_SNAPSHOT}")

    def count(self, question: Question) -> Tables:
        with self._lock:
            if self._session is None:
                with self._table.cursor() as cursor:
                    return self._count(question, cursor, *encoded_rows(self._table, self._schema))
            if not self._kept:
                statement, encoded = encoded_rows(self._table, self._schema)
                sql = f"CREATE OR REPLACE TEMP TABLE {_SNAPSHOT} AS {_with(statement.tables)}{encoded}"
                execute(self._session, sql, statement.parameters, self._table.name)
                self._kept = True
            return self._count(question, self._session, Statement(), f"SELECT * FROM {_SNAPSHOT}")

    def _count(self, question: Question, cursor: duckdb.DuckDBPyConnection, statement: Statement, encoded: str) -> Tables:
        plan = BitSets(question)
        if plan.n_words <= _MAX_WORDS:
            sql = plan.statement(statement, encoded)
            answer: dict[str, Any] = dict(execute(cursor, sql, statement.parameters, self._table.name).fetchnumpy())
            return plan.tables(answer)
        sql = grouped_statement(question, statement, encoded)
        execute(cursor, sql, statement.parameters, self._table.name)
        counting = Counting(question)
        while len(chunk := cursor.fetch_df_chunk(16)):
            columns = {name: chunk[name].to_numpy() for name in chunk.columns}
            codes = np.zeros((len(self._schema.names), len(chunk)), dtype=np.uint16)
            for a in range(len(codes)):
                if f"c{a}" in columns:
                    codes[a] = columns[f"c{a}"]
            counting.add(codes, columns["y"].astype(np.uint16), columns["n"].astype(np.int64))
        return counting.tables()


def encoded_rows(table: DuckDBTable, schema: Schema) -> tuple[Statement, str]:
    """A SELECT of the code columns c0, c1, ... and the class y, of the rows that count."""
    statement = Statement(dict(table.parameters))
    columns, conditions = [], []
    attributes: list[tuple[str, str, Attribute]] = [
        (f"c{a}", name, schema.attributes[name]) for a, name in enumerate(schema.names)
    ]
    for alias, column, attribute in [*attributes, ("y", schema.target, schema.label)]:
        kind = kind_of(table.columns[column])
        assert kind is not None
        code = code_expression(statement, attribute, column, kind, f"d_{alias}")
        columns.append(f"CAST({code} AS {_code_type(attribute)}) AS {alias}")
        if attribute.size in (attribute.unknown_code, attribute.missing_code):
            conditions.append(f"{alias} < {attribute.size}")
    person = "" if schema.person is None else f", {_identity(table, schema.person)} AS person"
    inner = f"SELECT {', '.join(columns)}{person} FROM {table.relation} AS t {' '.join(statement.joins)}"
    kept = f"SELECT * FROM ({inner}) WHERE {' AND '.join(conditions) or 'true'}"
    if schema.person is not None:
        order = ", ".join([alias for alias, _, _ in attributes] + ["y"])
        kept += " AND person IS NOT NULL"
        kept += f" QUALIFY row_number() OVER (PARTITION BY person ORDER BY {order}) <= {int(schema.rows_per_person)}"
    statement.joins = []
    return statement, kept


class BitSets:
    """A question as bit sets of compatible leaves per (attribute, code)."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._trees: list[Cells] = []
        positions: dict[int, int] = {}
        self._tree_of = []
        for partition in question.partitions:
            if id(partition.cells) not in positions:
                positions[id(partition.cells)] = len(self._trees)
                self._trees.append(partition.cells)
            self._tree_of.append(positions[id(partition.cells)])
        self._by = sorted({question.schema.index(p.by) for p in question.partitions if p.by is not None})

    @cached_property
    def n_words(self) -> int:
        """How many words the sets of all partitions take."""
        return sum(self._words(cells) for cells in self._trees)

    @staticmethod
    def _words(cells: Cells) -> int:
        return -(-int((cells.attribute < 0).sum()) // _WORD)

    def statement(self, statement: Statement, encoded: str) -> str:
        """The one statement that answers the question."""
        schema = self._question.schema
        columns: dict[int, list[str]] = {}  # by attribute: the columns of its table of bit sets
        words: list[str] = []
        for t, cells in enumerate(self._trees):
            sets = _compatible_leaves(cells)
            for w in range(self._words(cells)):
                terms = []
                for a, table in sets.items():
                    bound = statement.bind(f"m{a}_{t}_{w}", [int(word) for word in table[:, w]])
                    columns.setdefault(a, []).append(f"unnest(CAST({bound} AS UBIGINT[])) AS w{t}_{w}")
                    terms.append(f"m{a}.w{t}_{w}")
                words.append(f"{' & '.join(terms) or 'CAST(1 AS UBIGINT)'} AS w{t}_{w}")
        tables = list(statement.tables)
        tables.append(f"encoded AS ({encoded})")
        joins = []
        for a, selected in columns.items():
            codes = statement.bind(f"m{a}", list(range(schema.sizes[a])))
            code_type = _code_type(schema.attributes[schema.names[a]])
            tables.append(f"m{a} AS (SELECT unnest(CAST({codes} AS {code_type}[])) AS code, {', '.join(selected)})")
            joins.append(f"JOIN m{a} ON e.c{a} = m{a}.code")
        kept = [f"e.c{a}" for a in self._by]
        tables.append(f"routed AS (SELECT {', '.join([*words, *kept, 'e.y'])} FROM encoded AS e {' '.join(joins)})")
        sets_ = ", ".join(f"({', '.join(columns)})" for columns in self._grouping_sets())
        named = [f"w{t}_{w}" for t, cells in enumerate(self._trees) for w in range(self._words(cells))]
        named += [f"c{a}" for a in self._by]
        return f"{_with(tables)}SELECT {', '.join(named)}, y, count(*) AS n FROM routed GROUP BY GROUPING SETS ({sets_}, ())"

    def _grouping_sets(self) -> list[list[str]]:
        sets: list[list[str]] = []
        for t, partition in zip(self._tree_of, self._question.partitions, strict=True):
            columns = [f"w{t}_{w}" for w in range(self._words(self._trees[t]))]
            if partition.by is not None:
                columns.append(f"c{self._question.schema.index(partition.by)}")
            columns.append("y")
            if columns not in sets:  # a partition that is asked twice is counted once
                sets.append(columns)
        return sets

    def tables(self, answer: dict[str, npt.NDArray[Any]]) -> Tables:
        """The count tables from the statement's answer. Each row of it belongs to the set whose columns are not null."""
        schema = self._question.schema
        counts = np.asarray(answer["n"], dtype=np.int64)
        present = {name: ~np.ma.getmaskarray(column) for name, column in answer.items()}
        plain = {name: np.ma.getdata(column) for name, column in answer.items()}
        any_by = np.zeros(len(counts), dtype=bool)
        for a in self._by:
            any_by |= present[f"c{a}"]
        rows = int(counts[~present["y"]].sum())
        flat = np.zeros(self._question.entries, dtype=np.int64)
        start, uncovered = 0, []
        for t, partition in zip(self._tree_of, self._question.partitions, strict=True):
            mine = present[f"w{t}_0"] & (~any_by if partition.by is None else present[f"c{schema.index(partition.by)}"])
            cells = self._trees[t]
            leaf_cell = cells.cell[cells.attribute < 0]
            leaf = _single_bit([plain[f"w{t}_{w}"][mine] for w in range(self._words(cells))])
            cell = leaf_cell[leaf].astype(np.int64)
            value = (
                np.zeros(len(cell), dtype=np.int64)
                if partition.by is None
                else plain[f"c{schema.index(partition.by)}"][mine].astype(np.int64)
            )
            size = 1 if partition.by is None else schema.attributes[partition.by].size
            index = (cell * size + value) * schema.n_classes + plain["y"][mine].astype(np.int64)
            np.add.at(flat, start + index[cell >= 0], counts[mine][cell >= 0])
            uncovered.append(int(counts[mine][cell < 0].sum()))
            start += partition.entries
        tables = split_tables(self._question, flat)
        check_totals(tables, uncovered, rows)
        return tables


def grouped_statement(question: Question, statement: Statement, encoded: str) -> str:
    """Rows grouped by the codes that the question uses."""
    schema = question.schema
    used = {a for partition in question.partitions for a in partition.cells.used}
    used |= {schema.index(partition.by) for partition in question.partitions if partition.by is not None}
    columns = ", ".join([f"c{a}" for a in sorted(used)] + ["y"])
    tables = [*statement.tables, f"encoded AS ({encoded})"]
    return f"{_with(tables)}SELECT {columns}, count(*) AS n FROM encoded GROUP BY {columns}"


def execute(cursor: duckdb.DuckDBPyConnection, sql: str, parameters: dict[str, Any], name: str) -> duckdb.DuckDBPyConnection:
    """Run a statement. What the engine says about an error may quote rows, so it is not passed on, not even as a cause."""
    import duckdb

    try:
        return cursor.execute(sql, parameters)
    except duckdb.Error as error:
        kind = type(error).__name__
    raise TableError(f"DuckDB could not read {name} ({kind}); its message is withheld because it may quote rows")


def _compatible_leaves(cells: Cells) -> dict[int, npt.NDArray[np.uint64]]:
    """By tested attribute: for each code, the set of leaves that a row with that code can still reach, as words."""
    sizes = cells.schema.sizes
    leaf_number = np.cumsum(cells.attribute < 0) - 1
    n_leaves = int((cells.attribute < 0).sum())
    allowed = {a: np.zeros((sizes[a], n_leaves), dtype=bool) for a in cells.used}
    # Walk down with the codes that are still possible, per attribute that was tested on the way.
    stack: list[tuple[int, dict[int, npt.NDArray[np.bool_]]]] = [(0, {})]
    while stack:
        node, possible = stack.pop()
        a = int(cells.attribute[node])
        if a < 0:
            for b, table in allowed.items():
                table[:, leaf_number[node]] |= possible.get(b, True)
            continue
        children = cells.branch[cells.offset[node] : cells.offset[node] + sizes[a]]
        for child in dict.fromkeys(children.tolist()):
            here = (children == child) & possible.get(a, True)
            if here.any():
                stack.append((child, {**possible, a: here}))
    return {a: _packed(table) for a, table in allowed.items()}


def _packed(table: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint64]:
    """Lines of booleans to lines of 64-bit words, first entry lowest."""
    n_words = -(-table.shape[1] // _WORD)
    padded = np.zeros((table.shape[0], n_words * _WORD), dtype=bool)
    padded[:, : table.shape[1]] = table
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64)


def _single_bit(words: list[npt.NDArray[np.uint64]]) -> npt.NDArray[np.int64]:
    """The position of the one bit that is set."""
    position = np.full(len(words[0]), -1, dtype=np.int64)
    for w, word in enumerate(words):
        lone = (word != 0) & (word & (word - np.uint64(1)) == 0)
        position[lone] = w * _WORD + np.log2(word[lone].astype(np.float64)).astype(np.int64)
    return position


def _problem_tests(statement: Statement, attribute: Attribute, column: str, kind: Kind, name: str) -> Iterator[tuple[What, str]]:
    """Conditions that hold for a row that does not fit."""
    quoted_column = f"t.{quoted(column)}"
    expected = attribute.on_unknown is not None
    if isinstance(attribute, Numeric):
        number = f"TRY_CAST({quoted_column} AS DOUBLE)" if kind == "text" else f"CAST({quoted_column} AS DOUBLE)"
        if kind == "text" and attribute.missing is None:
            yield "not a number", f"{quoted_column} IS NOT NULL AND {number} IS NULL"
        if not expected:
            low, high = statement.bind(f"{name}_low", attribute.low), statement.bind(f"{name}_high", attribute.high)
            yield "out of range", f"NOT isnan({number}) AND ({number} < {low} OR {number} > {high})"
        if attribute.missing is None and attribute.on_unknown != "drop":
            yield "null", f"{quoted_column} IS NULL OR isnan({number})"
        return
    if not expected and attribute.other is None:
        strict = Categorical(attribute.values)
        code = code_expression(statement, strict, column, kind, name)
        not_null = f"{quoted_column} IS NOT NULL" + (
            f" AND NOT isnan(CAST({quoted_column} AS DOUBLE))" if kind == "number" else ""
        )
        yield "unlisted", f"{not_null} AND {code} = {strict.size}"
        if attribute.missing is None:
            yield "null", f"NOT ({not_null})"


def _identity(table: DuckDBTable, column: str) -> str:
    """Whose row it is; text is compared as it is, whatever collation the column has."""
    text = kind_of(table.columns[column]) == "text"
    return f'CAST(t.{quoted(column)} AS VARCHAR) COLLATE "binary"' if text else f"t.{quoted(column)}"


def _code_type(attribute: Attribute) -> str:
    return {1: "UTINYINT", 2: "USMALLINT", 4: "UINTEGER"}[attribute.dtype.itemsize]


def _with(tables: list[str]) -> str:
    return f"WITH {', '.join(tables)} " if tables else ""
