"""``privet count``: noisy counts, charged to a ledger that adds up over runs."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from privet.accounting.ledger import SQLiteLedger

Run = Callable[..., Any]
SIZE = 12_960


def charges(ledger: str = "book.sqlite") -> list[Fraction | None]:
    """What was charged, oldest first."""
    return [entry.cost.epsilon for entry in SQLiteLedger(ledger).entries()]


def test_charges_of_two_processes_add_up_and_a_third_is_refused(
    process: Run, nursery: Path, tmp_path: Path
) -> None:
    for name in ("nursery.csv", "nursery.schema.json"):
        shutil.copy(nursery / name, tmp_path / name)
    asked = ("count", "nursery.csv", "--schema", "nursery.schema.json", "--epsilon")
    assert process(*asked, "0.7", "--budget", "1").code == 0
    second = process(*asked, "0.3", "--json")
    assert (second.code, json.loads(second.out)["left"]) == (0, "0")
    third = process(*asked, "0.001")
    assert (third.code, third.out) == (2, "")
    assert third.err.endswith(
        "'nursery.csv' does not allow this: asked epsilon 0.001, left epsilon 0\n"
    )
    assert third.err.count("\n") == 1
    assert charges("nursery.csv.ledger.sqlite") == [Fraction(7, 10), Fraction(3, 10)]


def test_json_holds_counts_that_are_near_the_truth(count: Run) -> None:
    ran = count("--epsilon", "10", "--budget", "1000000", "--json")
    said = json.loads(ran.out)
    (counts,) = said["noisy_counts"].values()
    assert len(counts) == 5
    assert abs(sum(counts.values()) - SIZE) < 100
    assert (
        said.items()
        >= {"private": True, "epsilon": "10", "left": "999990", "neighbours": "add-remove"}.items()
    )
    assert 0 < said["deviation"] < 1


def test_counts_by_an_attribute(count: Run) -> None:
    counts = json.loads(
        count("--epsilon", "10", "--budget", "100", "--by", "health", "--json").out
    )["noisy_counts"]
    assert list(counts) == ["recommended", "priority", "not_recom"]
    assert all(abs(sum(line.values()) - SIZE / 3) < 100 for line in counts.values())
    table = count("--epsilon", "10", "--by", "health").out
    assert "health" in table
    assert all(label in table for label in counts)
    assert charges() == [10, 10]


def test_the_table_says_how_exact_it_is_and_what_is_left(count: Run) -> None:
    said = count("--epsilon", "1/4", "--budget", "1").out
    assert "right to within about 11, 19 times in 20" in " ".join(said.split())
    whom = ["one", "row", "added", "or", "removed"]
    assert ["nursery.csv", "epsilon", "1", "0.25", "0.75", *whom] in [
        line.split() for line in said.splitlines()
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *(
            (("--epsilon", amount), "epsilon must be a finite number above zero")
            for amount in ("0", "nan", "inf", "abc", "1/0")
        ),
        (("--epsilon=-1",), "epsilon must be a finite number above zero, got '-1'"),
        (("--epsilon", "1e999999999"), "epsilon must be"),
        (("--epsilon", "1e-20"), "epsilon is so small"),
        (("--epsilon", "0.1", "--by", "age"), "no attribute 'age'; there are parents"),
        (("--epsilon", "0.1", "--budget", "2"), "holds a budget of epsilon 1 .*not epsilon 2"),
        (("--epsilon", "0.1", "--budget", "abc"), "--budget must be"),
        (("--epsilon", "0.1", "--analyst", ""), "analyst must be a name"),
        (("--epsilon", "2"), "asked epsilon 2, left epsilon 0.5"),
    ],
)
def test_a_refused_question_charges_nothing(count: Run, arguments: tuple, said: str) -> None:
    assert count("--epsilon", "0.5", "--budget", "1").code == 0
    ran = count(*arguments)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("\n") == ran.err.count("privet: ") == 1
    assert re.search(said, ran.err)
    assert charges() == [Fraction(1, 2)]


@pytest.mark.parametrize("arguments", [("--epsilon", "abc"), ("--epsilon", "0.1", "--by", "age")])
def test_a_refused_first_question_leaves_no_budget_behind(count: Run, arguments: tuple) -> None:
    assert count(*arguments, "--budget", "10").code == 2
    assert count("--epsilon", "0.1", "--budget", "1").code == 0


def test_a_table_has_a_budget_of_10_unless_its_owner_names_another(count: Run) -> None:
    assert count("--epsilon", "10").code == 0
    ran = count("--epsilon", "0.1")
    assert ran.code == 2
    assert "asked epsilon 0.1, left epsilon 0" in ran.err


@pytest.mark.parametrize(
    ("table", "schema", "said"),
    [
        ("absent.csv", "good.json", "no file absent.csv"),
        ("table.xls", "good.json", "cannot tell what table.xls is"),
        ("empty.csv", "good.json", "cannot read .*empty.csv as CSV"),
        ("binary.parquet", "good.json", "cannot read binary.parquet"),
        ("duckdb:///absent.db?table=t", "good.json", "no DuckDB file .*absent.db"),
        ("mysql://host/db?table=t", "good.json", "cannot open a mysql:// table"),
        (
            "postgresql://u:SECRET@127.0.0.1:1/db?table=t",
            "good.json",
            "cannot reach the PostgreSQL server 127.0.0.1/db",
        ),
        ("other.csv", "good.json", "columns of the schema are not in the table: 'parents'"),
        ("other.csv", "absent.json", "cannot read schema file absent.json"),
        ("other.csv", "bad.json", "schema file bad.json is not JSON"),
        ("other.csv", "wrong.json", "schema file wrong.json: .*not a Privet schema"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(
    privet: Run, nursery: Path, table: str, schema: str, said: str
) -> None:
    shutil.copy(nursery / "nursery.schema.json", "good.json")
    files = {"table.xls": "a", "empty.csv": "", "binary.parquet": "\0\1", "other.csv": "a,b\n1,2\n"}
    for name, content in {**files, "bad.json": "{", "wrong.json": "{}"}.items():
        Path(name).write_text(content)
    ran = privet(
        "count",
        table,
        "--schema",
        schema,
        "--epsilon",
        "1",
        "--budget",
        "1",
        "--ledger",
        "book.sqlite",
    )
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("privet: ") == 1
    assert "Traceback" not in ran.err
    assert re.search(said, ran.err)
    assert SQLiteLedger("book.sqlite").datasets() == charges() == []


def test_a_missing_option_is_exit_code_2(privet: Run, nursery: Path) -> None:
    ran = privet("count", nursery / "nursery.csv", "--epsilon", "1")
    assert ran.code == 2
    assert "--schema" in ran.err
