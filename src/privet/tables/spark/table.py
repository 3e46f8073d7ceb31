"""Count the rows of a Spark DataFrame on its cluster.

Only counts of encoded rows come back to the driver, never a row. One action answers a whole
question (:mod:`~privet.tables.grouping`). Where it is too large for that, or uses few codes, the
rows are grouped by these, and the groups are fed to the counting loop.
"""

from __future__ import annotations

import importlib
import logging
import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from privet._types import Ints, Tables, WeightedRows
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.drafting.facts import ColumnFacts
from privet.domain.encode.values import raise_if_any
from privet.domain.questions import Question
from privet.errors import TableError
from privet.tables.base import Division
from privet.tables.counting.passes import Counting
from privet.tables.dialect import (
    ColumnSQL,
    diagnose_columns,
    found_problems,
    structure_problems,
    used_codes,
)
from privet.tables.grouping import Cases, CodeRadix
from privet.tables.spark.codes import (
    SPARK_FENCE,
    SparkDialect,
    columns_by_position,
    encode_spark_rows,
    identity_expression,
    part_of,
)

if TYPE_CHECKING:
    from privet.tables.counting.row_sums import RowSums

_MAX_SPARK_NODES = 1 << 11  # of all trees: Spark walks expressions by recursion, and compiles them
_MAX_SPARK_DEPTH = 16
_FEW_GROUPS = 1 << 14  # as few rows to send, and no cell to find

# in which PySpark quotes what an error says
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class SparkTable:
    """A DataFrame of a Spark session, classic or Connect."""

    frame: Any = field(repr=False)
    name: str = "table in Spark"

    def ask(self, what: Callable[[], _T]) -> _T:
        """Let Spark do something.

        What it says about an error may quote rows: it is not passed on, not even as a cause, nor
        logged.
        """
        try:
            with _unlogged():
                return what()
        # - of PySpark, Py4J, gRPC, Arrow or a socket, and any of them may quote rows
        except Exception as error:  # noqa: BLE001
            kind = type(error).__name__
        raise TableError(
            f"Spark could not read {self.name} ({kind}); its message is withheld because it may "
            "quote rows"
        )

    @cached_property
    def functions(self) -> Any:
        """The functions that make columns for this kind of session; both kinds may be in use at
        once.
        """
        connect = any(
            base.__module__.startswith("pyspark.sql.connect.") for base in type(self.frame).__mro__
        )
        return importlib.import_module(
            "pyspark.sql.connect.functions" if connect else "pyspark.sql.functions"
        )

    @cached_property
    def can_sum(self) -> bool:
        """Whether executors have Python and this version of Privet. Looks at no row."""
        from privet.tables.spark.sums import can_sum

        try:
            return self.ask(lambda: can_sum(self.frame.sparkSession))
        except TableError:  # no Python, another one, or none with Privet
            return False

    @cached_property
    def columns(self) -> dict[str, ColumnSQL]:
        """The columns by their positions, and their types as Spark calls them."""
        fields = self.ask(lambda: self.frame.schema.fields)
        types = {column.name: column.dataType.typeName() for column in fields}
        if len(types) < len(fields):
            raise TableError(f"{self.name} has two columns of the same name; rename one of them")
        return columns_by_position(types)

    def describe_columns(self) -> list[ColumnFacts]:
        """Return what the types say about each column. Looks at no row."""
        return [
            ColumnFacts(name, SparkDialect.kind_of(column.type), column.type)
            for name, column in self.columns.items()
        ]

    def check_structure(self, schema: Schema) -> None:
        raise_if_any(self._structure(schema), self.columns)

    def check_reachable(self) -> None:
        try:
            # - asks the session, and runs nothing
            self.frame.sparkSession.range(1).schema  # noqa: B018
            return
        except Exception as error:  # noqa: BLE001
            kind = type(error).__name__
        raise TableError(
            f"the Spark session of {self.name} does not answer ({kind}); open the table in another "
            "one"
        )

    def _structure(self, schema: Schema) -> list[tuple[str, What]]:
        types = {name: column.type for name, column in self.columns.items()}
        problems = structure_problems(schema, types, SparkDialect)
        person = self.columns.get(schema.person or "")
        if person is not None and not (
            SparkDialect.is_fraction(person.type) or identity_expression(person)
        ):
            problems.append((str(schema.person), "dtype"))
        return list(dict.fromkeys(problems))

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        problems, dialect = self._structure(schema), SparkDialect()
        broken = {column for column, _ in problems}
        checked = [
            (name, self.columns[name], attribute)
            for _, name, attribute in schema.list_checks(self.columns)
            if name not in broken
        ]
        selected, tests, told = diagnose_columns(dialect, checked)
        if not told:
            return problems
        read = [column for _, column, _ in checked]
        answer = self.ask(
            lambda: (
                dialect.select(self.frame, read, selected, self.functions)
                .selectExpr(*tests)
                .toArrow()
            )
        )
        return problems + found_problems(told, [column[0].as_py() for column in answer.columns])

    def source(self, schema: Schema) -> SparkSource:
        return SparkSource(self, schema)

    def read_blocks(self, size: int) -> Iterator[Any]:  # noqa: ARG002
        raise TableError(
            "rows of a table in Spark stay on its cluster; if you may see them, let Spark write "
            "them to a Parquet file and open that"
        )

    def writable(self) -> bool:
        return False  # a DataFrame is a recipe to read


class SparkSource:
    """Exact counts by Spark.

    Several threads may count at once; a snapshot belongs to the thread that opened it.
    """

    def __init__(self, table: SparkTable, schema: Schema) -> None:
        self._table, self._schema = table, schema
        self._own = _SparkSession()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Keep the encoded rows on the executors, so that all questions see the same ones.

        A DataFrame is a recipe, and what it reads may change. The rows are kept by the first
        question, after its charge, in a local checkpoint, which has no recipe: where an executor is
        lost there is an error, and never other rows.
        """
        if self._own.inside:
            yield
            return
        self._own.inside = True
        try:
            yield
        finally:
            kept = [self._own.packed, self._own.kept]
            self._own.inside, self._own.division = False, None
            self._own.packed = self._own.kept = None
            for frame in kept:
                if frame is not None:
                    _release(frame)

    def count(self, question: Question) -> Tables:
        cases, used = Cases(question), used_codes(question)
        groups = (
            math.prod(self._schema.sizes[int(name[1:])] for name in used) * self._schema.n_classes
        )
        if (
            cases.nodes > _MAX_SPARK_NODES
            or cases.depth > _MAX_SPARK_DEPTH
            or groups <= _FEW_GROUPS
        ):
            counting = Counting(question)
            for rows in self._groups(used):
                counting.add(*rows)
            return counting.tables()
        encoded = self._encoded()
        numbers = f"explode(array({', '.join(cases.entries())})) AS entry"
        answer = self._table.ask(
            lambda: (
                encoded.selectExpr(*cases.cells(), "y", SPARK_FENCE)
                .where("fence >= 0")
                .selectExpr(numbers)
                .groupBy("entry")
                .count()
                .toArrow()
                .to_batches()
            )
        )
        return cases.tables(
            np.stack([column.to_numpy() for column in batch.columns], axis=1) for batch in answer
        )

    def rows(self) -> Iterator[WeightedRows]:
        yield from self._groups([f"c{a}" for a in range(len(self._schema.names))])

    def sum_rows(self, sums: RowSums) -> Ints:
        """Return sums over all rows, summed in the executors where these have Python and Privet.

        Otherwise groups of equal rows come to the driver.
        """
        from privet.tables.spark.sums import sum_packed

        if not self._table.can_sum:
            scoring = sums.scoring
            return sums.sum((*rows, scoring.scores(rows[0])) for rows in self.rows())
        packed = self._packed()
        return self._table.ask(lambda: sum_packed(packed, self._schema, sums))

    def _packed(self) -> Any:
        """Return the encoded rows, packed: within a snapshot, those that are kept."""
        from privet.tables.spark.sums import pack_rows

        if self._own.packed is not None:
            return self._own.packed
        encoded, names = self._encoded(), [f"c{a}" for a in range(len(self._schema.names))]
        packed = self._table.ask(lambda: pack_rows(encoded, [*names, "y"], self._schema))
        if self._own.inside:
            packed = self._own.packed = self._table.ask(packed.localCheckpoint)
        return packed

    def parts(self, n_parts: int, key: bytes) -> Sequence[SparkPart]:
        """Return parts of this snapshot.

        They are good until it ends or the rows are divided anew: who is in which part is then
        forgotten.
        """
        if not self._own.inside:
            raise TableError(
                "a table is divided within a snapshot, so that everybody stays in one part"
            )
        self._own.division = Division(n_parts, key)
        return [SparkPart(self, part, self._own.division) for part in range(n_parts)]

    @cached_property
    def _coded_rows(self) -> Any:
        """How the rows are encoded. Nothing is computed yet."""
        columns, functions = self._table.columns, self._table.functions
        return self._table.ask(
            lambda: encode_spark_rows(self._table.frame, columns, self._schema, functions)
        )

    def _encoded(self) -> Any:
        """Return a DataFrame of the encoded rows: within a snapshot, of those that are kept, with
        whose they are.
        """
        if not self._own.inside:
            return self._coded_rows
        names = [f"c{a}" for a in range(len(self._schema.names))] + ["y"]
        if self._own.kept is None:
            largest = max(*self._schema.sizes, self._schema.n_classes)
            small = "TINYINT" if largest < 1 << 7 else "SMALLINT" if largest < 1 << 15 else "INT"
            # The number of a row is drawn once, as it is kept.
            who = (
                "who" if self._schema.person is not None else "monotonically_increasing_id() AS who"
            )
            packed, coded = (
                f"CAST(array({', '.join(names)}) AS ARRAY<{small}>) AS codes",
                self._coded_rows,
            )
            self._own.kept = self._table.ask(
                lambda: coded.selectExpr(packed, who).localCheckpoint()
            )
        codes, kept = (
            [f"CAST(get(codes, {i}) AS INT) AS {name}" for i, name in enumerate(names)],
            self._own.kept,
        )
        return self._table.ask(lambda: kept.selectExpr(*codes, "who"))

    def _groups(self, names: list[str]) -> Iterator[WeightedRows]:
        """Return groups of equal rows as codes, classes and weights.

        Codes that were not selected are zero.
        """
        encoded = self._encoded()
        radix = CodeRadix(self._schema, names)
        numbers = {
            f"k{i}": f"{number} AS k{i}"
            for i, number in enumerate(radix.expressions("CAST(0 AS BIGINT)"))
        }
        answer = self._table.ask(
            lambda: (
                encoded.selectExpr(*numbers.values())
                .groupBy(*numbers)
                .count()
                .toArrow()
                .to_batches()
            )
        )
        for batch in answer:
            *packed, weights = (column.to_numpy() for column in batch.columns)
            yield radix.rows(packed, weights)


class SparkPart(SparkSource):
    """One of several random parts of a snapshot."""

    def __init__(self, whole: SparkSource, part: int, division: Division) -> None:
        super().__init__(whole._table, whole._schema)
        self._whole, self._part, self._division = whole, part, division

    def _encoded(self) -> Any:
        # In another snapshot, or divided otherwise, somebody could be in two parts that were paid
        # for once.
        if self._whole._own.division is not self._division:
            raise TableError(
                "this part of the table is gone: its snapshot has ended, or the table was divided "
                "anew"
            )
        encoded, functions = self._whole._encoded(), self._table.functions
        mine = f"{part_of('who', 'part_key', self._division.n_parts)} = {self._part}"
        key = bytearray(self._division.key)
        return self._table.ask(
            lambda: encoded.select("*", functions.lit(key).alias("part_key")).where(mine)
        )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # that of the whole

    def parts(self, n_parts: int, key: bytes) -> Sequence[SparkPart]:  # noqa: ARG002
        raise TableError("a part of a table cannot be divided further")


class _SparkSession(threading.local):
    """What a thread has open: whether it is in a snapshot, the rows that are kept for it, the same
    rows packed, and how they are divided.
    """

    inside = False
    kept: Any = None
    packed: Any = None
    division: Division | None = None


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the errors of this thread out of the log of the driver's process.

    PySpark writes errors there before it raises them.
    """
    module = sys.modules.get("pyspark.logger")
    loggers = [] if module is None else [module.PySparkLogger.getLogger(name) for name in _LOGGERS]
    thread = threading.get_ident()

    def of_others(record: logging.LogRecord) -> bool:
        return record.thread != thread

    for logger in loggers:
        logger.addFilter(of_others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(of_others)


def _release(kept: Any) -> None:
    """Free what the executors keep.

    Connect does that when the last reference goes; a classic session would wait for Java's
    collector.
    """
    with suppress(Exception):
        if hasattr(kept, "_jdf"):
            kept._jdf.queryExecution().logical().rdd().unpersist(False)
