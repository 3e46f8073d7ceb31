"""What Spark gets: expressions without a name or value of the table, and nothing of Spark where
there is none.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pandas as pd
import pytest

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import MissingDependency, SchemaMismatch, TableError
from privet.tables.grouping import Cases
from privet.tables.open import open_table
from privet.tables.sources.builtin import is_spark
from privet.tables.spark.codes import Coder, SparkColumn, part_of
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
    open_table(DataFrame(a="void", n="decimal", c="boolean", who=who)).check_structure(SCHEMA)


SECRET = 'it\'s `quoted`\\ "$1" {x} :y'


@pytest.mark.parametrize(
    ("attribute", "type_name"),
    [
        (Categorical([SECRET, "other"], missing="nothing"), "string"),
        (Categorical([f"{SECRET}{i}" for i in range(100)]), "string"),
        (Categorical([13579.5, 97531]), "double"),
        (Categorical([13579, 97531]), "long"),
        (Numeric(13579.5, 97531, bins=3, on_unknown="drop"), "string"),
        (Numeric(13579.5, 97531, bins=100, missing="nothing"), "decimal"),
    ],
)
def test_no_value_of_the_schema_stands_in_an_expression(attribute, type_name):
    coder = Coder("c0", attribute, SparkColumn(7, type_name))
    tests = [test for _, test in coder.problem_tests()]
    for expression in (coder.text or "", coder.value, coder.position or "", coder.code, *tests):
        assert len(expression) < 20_000
        for value in (SECRET, "quoted", "other", "nothing", "13579", "97531"):
            assert value not in expression
    values = [value for entries, _ in coder.constants.values() for value in entries]
    assert json.loads(json.dumps(values)) == values


def test_few_values_are_searched_by_halves():
    assert Coder("y", Categorical(["b", "a", "c"]), SparkColumn(0, "string")).code == (
        "CASE WHEN x_y IS NULL THEN 3 ELSE CASE WHEN x_y < get(k_y, 1) THEN CASE WHEN x_y < "
        "get(k_y, 0) THEN 3 ELSE CASE WHEN x_y = get(k_y, 0) THEN 1 ELSE 3 END END ELSE CASE WHEN "
        "x_y < get(k_y, 2) THEN CASE WHEN x_y = get(k_y, 1) THEN 0 ELSE 3 END ELSE CASE WHEN x_y = "
        "get(k_y, 2) THEN 2 ELSE 3 END END END END"
    )


def test_parts_are_whole_numbers():
    assert part_of("who", "key", 3).endswith("AS BIGINT) % 3")


def test_expressions_of_a_question():
    schema = Schema({"a": Categorical(["x", "y"])}, "c", ["no", "yes"])
    cases = Cases(Question.level(Cells.everything(schema), ["a"]))
    assert cases.cells() == ["0 AS w0", "c0"]
    assert cases.entries() == ["0 + (w0 * 2 + c0) * 2 + y", "8"]
