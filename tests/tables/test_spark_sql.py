"""What Spark gets: expressions without a name or value of the table, and nothing of Spark where
there is none.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pandas as pd
import pytest

from privet.domain import Boolean, Categorical, Date, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import MissingDependency, SchemaMismatch, TableError
from privet.tables.dialect import ColumnSQL
from privet.tables.grouping import Cases
from privet.tables.open import open_table
from privet.tables.sources.builtin import is_spark
from privet.tables.spark.codes import SparkDialect, part_of
from privet.tables.spark.table import SparkTable


def test_spark_is_not_imported_for_other_tables():
    program = (
        "import sys, privet, pandas as pd\n"
        "from privet.tables.open import open_table\n"
        "open_table(pd.DataFrame({'a': [1]}))\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('pyspark', 'py4j', "
        "'grpc')]\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


class Field:
    def __init__(self, name, type_name):
        self.name, self.dataType = name, self
        self.typeName = lambda: type_name


class DataFrame:
    """What a DataFrame of Spark is known by."""

    __module__ = "pyspark.sql.classic.dataframe"

    def __init__(self, **columns):
        self.schema = self
        self.fields = [Field(name, type_name) for name, type_name in columns.items()]


class Mine(DataFrame):
    __module__ = "mine"


@pytest.mark.parametrize("kind", [DataFrame, Mine])
def test_a_data_frame_of_spark_is_known_by_its_type(kind):
    frame = kind(a="string")
    table = open_table(frame)
    assert isinstance(table, SparkTable)
    assert table.name == "table in Spark"
    assert table.frame is frame
    assert open_table(table) is table
    with pytest.raises(TableError, match="y goes with a data frame in memory"):
        open_table(frame, ["no"])


def test_other_objects_are_not_spark():
    for other in (pd.DataFrame({"a": [1]}), {"a": [1]}, [[1]], "people.csv", None):
        assert not is_spark(other)


def test_arrow_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency, match=r"privet\[spark\]"):
        open_table(DataFrame(a="string"))


SCHEMA = Schema(
    {"a": Categorical(["x", "y"]), "n": Numeric(0, 10, bins=2)}, "c", ["no", "yes"], person="who"
)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": "string", "n": "double", "who": "long"}, "column 'c' is not in the table"),
        ({"a": "date", "n": "double", "c": "string", "who": "long"}, "column 'a' has a type"),
        ({"a": "string", "n": "timestamp", "c": "string", "who": "long"}, "column 'n' has a type"),
        ({"a": "string", "n": "array", "c": "string", "who": "long"}, "column 'n' has a type"),
        (
            {"a": "string", "n": "double", "c": "string", "who": "double"},
            "'who' says whose row it is",
        ),
        ({"a": "string", "n": "double", "c": "string", "who": "map"}, "column 'who' has a type"),
        (
            {"a": "string", "n": "double", "c": "string", "who": "variant"},
            "column 'who' has a type",
        ),
        (
            {"A": "string", "n": "double", "c": "string", "who": "long"},
            "column 'a' is not in the table",
        ),
    ],
)
def test_what_cannot_match_is_refused_by_name(columns, said):
    with pytest.raises(SchemaMismatch, match=said):
        open_table(DataFrame(**columns)).check_structure(SCHEMA)


@pytest.mark.parametrize(
    "who",
    [
        "string",
        "long",
        "decimal",
        "date",
        "timestamp",
        "timestamp_ntz",
        "binary",
        "boolean",
        "void",
    ],
)
def test_people_are_told_apart_by_columns_that_have_a_text(who):
    open_table(DataFrame(a="void", n="decimal", c="string", who=who)).check_structure(SCHEMA)


SECRET = 'it\'s `quoted`\\ "$1" {x} :y'


def expressions_of(dialect):
    """All that Spark is given as text."""
    return [
        *dialect.readings.values(),
        *dialect.scalars.values(),
        *dialect.positions.values(),
        *(sql_type for _, sql_type in dialect.constants.values()),
    ]


@pytest.mark.parametrize("way", ["encoding_of", "diagnosis_of"])
@pytest.mark.parametrize(
    ("attribute", "type_name"),
    [
        (Categorical([SECRET, "other"], missing="nothing"), "string"),
        (Categorical([f"{SECRET}{i}" for i in range(100)]), "string"),
        (Categorical([13579.5, 97531]), "double"),
        (Categorical([13579, 97531]), "long"),
        (Numeric(13579.5, 97531, bins=3, on_unknown="drop"), "string"),
        (Numeric(13579.5, 97531, bins=100, missing="nothing"), "decimal"),
        (Date("2007-03-07", "2237-01-12", bins=3, missing="nothing"), "string"),  # day 13579, 97531
        (Date(1357, 9753, part="year", bins=100, on_unknown="drop"), "timestamp"),
        (Boolean(missing="nothing"), "string"),
    ],
)
def test_no_value_of_the_schema_stands_in_an_expression(attribute, type_name, way):
    dialect, column = SparkDialect(), ColumnSQL("v7", type_name)
    code = dialect.code(column, getattr(dialect, way)(attribute, column), "c0")
    for expression in (code, *expressions_of(dialect)):
        assert len(expression) < 20_000
        for value in (SECRET, "quoted", "other", "nothing", "13579", "97531", "1357", "9753"):
            assert value not in expression
        assert not re.search("yes|true", expression)
    bound = [value for values, _ in dialect.constants.values() for value in values]
    assert json.loads(json.dumps(bound)) == bound


def code_of(attribute, type_name):
    dialect, column = SparkDialect(), ColumnSQL("v0", type_name)
    return dialect, dialect.code(column, dialect.encoding_of(attribute, column), "y")


def test_few_values_are_searched_by_halves():
    dialect, code = code_of(Categorical(["b", "a", "c"]), "string")
    assert code == (
        "coalesce(CASE WHEN x_y < get(k0, 1) THEN CASE WHEN x_y < get(k0, 0) THEN NULL ELSE CASE "
        "WHEN x_y = get(k0, 0) THEN 1 END END ELSE CASE WHEN x_y < get(k0, 2) THEN CASE WHEN x_y = "
        "get(k0, 1) THEN 0 END ELSE CASE WHEN x_y = get(k0, 2) THEN 2 END END END, 3)"
    )
    assert dialect.constants == {"k0": (["a", "b", "c"], "array<string>")}


def test_a_scalar_is_read_once_however_often_it_is_looked_at():
    dialect, code = code_of(Date(0, 99, part="age", at="2024-12-31", missing="?"), "string")
    assert code.count("x_y") > 4
    assert "v0 IS NULL" not in code  # as null has the code of text that is no date
    assert list(dialect.scalars) == ["x_y"]
    assert dialect.scalars["x_y"].count("m_v0") > 2
    assert "v0" not in dialect.scalars["x_y"].replace("m_v0", "").replace("s_v0", "")
    assert list(dialect.readings) == ["s_v0", "m_v0"]


def test_parts_of_one_column_share_its_moment():
    dialect, column = SparkDialect(), ColumnSQL("v0", "timestamp")
    for i, part in enumerate(["month", "weekday", "hour"]):
        dialect.code(column, dialect.encoding_of(Date(part=part), column), f"c{i}")
    assert list(dialect.readings) == ["m_v0"]


@pytest.mark.parametrize(
    ("listed", "type_name", "bound"),
    [
        ([3, -(2**63), 2**63 - 1, 2**63, "01", 0.5], "long", [-(2**63), 3, 2**63 - 1]),
        ([3, 0.5, "x", 10**22], "double", [0.5, 3.0, 1e22]),
        (["\U0001d7d9", "\uff11", "b", "B"], "string", ["B", "b", "\uff11", "\U0001d7d9"]),
        (["x"], "byte", []),
    ],
)
def test_listed_values_are_bound_in_the_order_of_their_type(listed, type_name, bound):
    dialect, _ = code_of(Categorical(listed), type_name)
    (values, _), *_ = dialect.constants.values()
    assert values == bound


def test_an_attribute_may_read_a_column_of_another_name():
    schema = Schema(
        {"month": Date(part="month", column="born"), "hour": Date(part="hour", column="born")},
        "c",
        ["no", "yes"],
    )
    open_table(DataFrame(born="date", c="string")).check_structure(schema)
    with pytest.raises(SchemaMismatch, match="column 'born' is not in the table"):
        open_table(DataFrame(c="string")).check_structure(schema)


def test_parts_are_whole_numbers():
    assert part_of("who", "key", 3).endswith("AS BIGINT) % 3")


def test_expressions_of_a_question():
    schema = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])
    cases = Cases(Question.level(Cells.everything(schema), ["a"]))
    assert cases.cells() == ["0 AS w0", "c0"]
    assert cases.entries() == ["0 + (w0 * 2 + c0) * 2 + y", "8"]
