"""Lines of CSV, one by one: cut as the table is cut, and reports that come back as they were."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema, text_of
from privet.errors import SchemaMismatch, TableError
from privet.local.randomizer import Randomizer
from privet.local.records import header_line, records_of, report_line
from privet.tables.csv_lines import fields_of
from privet.tables.open import read_public
from tests.domain.strategies import attributes
from tests.local.small import SCHEMA


def test_a_line_is_cut_as_in_a_table(tmp_path):
    """All lines of a few kinds of characters, empty first fields before quotes among them."""
    lines = [
        "".join(parts)
        for length in range(1, 6)
        for parts in itertools.product('a", é', repeat=length)
    ]
    path = tmp_path / "t.csv"
    path.write_text(
        "\n".join(["p,q,number", *(f"{line},{number}" for number, line in enumerate(lines))])
        + "\n",
        encoding="utf-8",
    )
    counted = [
        [None if v is None or v != v else v for v in row]
        for row in read_public(str(path)).itertuples(index=False, name=None)
    ]
    cut = [fields_of(f"{line},{number}", ",") for number, line in enumerate(lines)]
    assert [fields for fields in cut if len(fields) == 3] == counted
    assert fields_of(',"",a', ",") == [None, "", "a"]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(attributes, min_size=1, max_size=3))
def test_a_report_comes_back_as_it_was(listed):
    schema = Schema(
        {f"column {i}": attribute for i, attribute in enumerate(listed)},
        "class",
        ["no", "ja, doch", ""],
    )
    values = [attribute.list_examples() for attribute in listed]
    for row in range(max(map(len, values))):
        report = {
            name: column[row % len(column)]
            for name, column in zip(schema.names, values, strict=True)
        } | {"class": schema.classes[row % 3]}
        line = report_line(report)
        if "\n" in line[:-1]:
            continue  # refused before
        (again,) = records_of(
            [header_line(report).encode(), line.encode()], schema, "here", over_lines=True
        )
        assert again == {name: text_of(value) for name, value in report.items()}


def test_what_was_not_drawn_is_nothing_and_an_empty_text_is_quoted():
    assert report_line({"a": None, "b": "", "c": float("nan"), "d": 'x"y'}) == ',"",,"x""y"\n'


def test_a_header_is_needed_with_all_columns():
    with pytest.raises(TableError, match="standard input as CSV: it is empty"):
        records_of([], SCHEMA, "standard input", over_lines=True)
    with pytest.raises(SchemaMismatch, match="'b' is not in the table"):
        records_of([b"a,c,class\n"], SCHEMA, "standard input", over_lines=True)
    with pytest.raises(TableError, match="UTF-8"):
        records_of([b"\xff\n"], SCHEMA, "standard input", over_lines=True)


def test_lines_that_are_no_records_are_records_of_nothing():
    lines = ["a,b,c,class", "x,1,3,no", "x,1", "", "x,1,3,no,more", "\udcff"]
    schema = Schema(
        {"a": Categorical(["x"]), "b": Categorical([1]), "c": Categorical([3])},
        "class",
        ["no", "yes"],
    )
    randomizer = Randomizer(schema, 100, "split")
    records = list(
        records_of(
            [(line + "\n").encode(errors="surrogateescape") for line in lines],
            schema,
            "here",
            over_lines=True,
        )
    )
    assert len(records) == 4
    assert randomizer.one(records[0])["class"] == "no"
    reports = {randomizer.one(records[1])["class"] for _ in range(40)}
    assert reports == {"no", "yes"}  # nothing is known about it: drawn
