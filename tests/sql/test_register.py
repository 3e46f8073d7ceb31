"""SQL in a DuckDB connection asks curators: each question is charged once, refusals charge
nothing.
"""

from __future__ import annotations

import json
from fractions import Fraction as F

import duckdb
import numpy as np
import pytest

import privet as pv
from privet.accounting.ledger import verify
from privet.errors import ParameterError, TableError

SCHEMA = pv.Schema(
    {"color": pv.Categorical(["red", "green", "blue"]), "age": pv.Numeric(0, 100, bins=10)},
    target="class",
    classes=["no", "yes"],
)
MAKE = (
    "CREATE TABLE people AS SELECT ['red', 'green', 'blue'][1 + i % 3] AS color, i % 100 AS age, "
    "['no', 'yes'][1 + i % 2] AS class FROM range(3000) AS r (i)"
)


@pytest.fixture
def connection():
    with duckdb.connect() as connection:
        connection.execute(MAKE)
        yield connection


@pytest.fixture
def ledger(tmp_path):
    return pv.SQLiteLedger(tmp_path / "ledger.sqlite")


def register(connection, ledger=None, budget=10):
    table = pv.sql.open_table(connection, "people")
    curator = pv.Curator(table, SCHEMA, pv.Budget(budget), ledger=ledger, dataset="people")
    with pytest.warns(pv.PrivacyWarning, match="no wall"):
        pv.sql.register(connection, {"people": curator})
    return curator


@pytest.fixture
def curator(connection, ledger):
    return register(connection, ledger)


def fetch(connection, sql):
    return connection.execute(sql).fetchall()


def test_a_partition_has_its_labels_and_is_charged_once(connection, curator, ledger):
    sql = "FROM privet_counts('people', by := ['class', 'color'], epsilon := {})"
    rows = fetch(connection, sql.format("0.5"))
    assert [json.loads(cell) for cell, _ in rows] == [
        {"class": label, "color": color}
        for label in ("no", "yes")
        for color in ("red", "green", "blue")
    ]
    assert all(abs(noisy - 500) < 100 for _, noisy in rows)
    assert ledger.spent("people").epsilon == F(1, 2)
    assert len(ledger.entries("people")) == 1
    assert curator.left == F(19, 2)
    assert verify(ledger) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT privet_count('people', epsilon := 1) FROM range(5000)",
        "SELECT privet_count('people', epsilon := 1), privet_count('people', epsilon := 1)",
        "WITH c AS (FROM privet_counts('people', epsilon := 1)) SELECT * FROM c AS a, c AS b",
        "SELECT * FROM privet_counts('people', epsilon := 1) AS a, "
        "privet_counts('people', epsilon := 1) AS b",
        "CREATE TABLE kept AS SELECT privet_count('people', epsilon := 1)",
    ],
)
def test_a_statement_is_charged_once_however_often_it_calls(connection, curator, ledger, sql):
    connection.execute(sql)
    if not sql.startswith("CREATE"):
        assert len({number for row in connection.fetchall() for number in row}) <= 2
    assert ledger.spent("people").epsilon == 1
    assert curator.left == 9


def test_planning_a_statement_charges_nothing(connection, curator):
    fetch(connection, "EXPLAIN SELECT privet_count('people', epsilon := 1)")
    connection.execute("PREPARE counting AS SELECT privet_count('people', epsilon := 1)")
    assert curator.left == 10
    fetch(connection, "EXECUTE counting")
    fetch(connection, "EXECUTE counting")
    assert curator.left == 8


def test_a_transaction_is_charged_once_and_a_rollback_takes_nothing_back(connection, curator):
    sql = "SELECT privet_count('people', epsilon := 1)"
    connection.execute("BEGIN")
    assert fetch(connection, sql) == fetch(connection, sql)
    connection.execute("ROLLBACK")
    assert curator.left == 9
    fetch(connection, sql)
    assert curator.left == 8


def test_a_key_is_one_question_also_for_another_connection(connection, curator, ledger):
    sql = "SELECT privet_count('people', epsilon := 0.01, key := 'dashboard')"
    first = fetch(connection, sql)
    again = connection.cursor()
    register(again, ledger)
    assert fetch(again, sql) == first == fetch(connection, sql)
    assert curator.left == 10 - F(1, 100)
    with pytest.raises(duckdb.Error, match="KeyReused"):
        fetch(connection, sql.replace("0.01", "0.02"))
    assert curator.left == 10 - F(1, 100)


def test_two_connections_do_not_share_answers(connection, curator, ledger):
    """Also where their transactions have the same number."""
    with duckdb.connect() as other:
        other.execute(MAKE)
        register(other, ledger)
        for asking in (connection, other):
            fetch(asking, "SELECT privet_count('people', epsilon := 1)")
    assert curator.left == 8
    with pytest.raises(duckdb.Error, match="privet_count does not exist"):
        fetch(connection.cursor(), "SELECT privet_count('people', epsilon := 1)")


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ("'peple', epsilon := 1", r"no data set 'peple'.*did you mean 'people'\?"),
        ("'people'", "epsilon must be given, such as epsilon := 0.1"),
        ("NULL, epsilon := 1", "no data set None"),
        ("'people', epsilon := 'many'", "epsilon"),
        ("'people', epsilon := -1", "epsilon"),
        ("'people', epsilon := 11", "BudgetExceeded.*asked epsilon 11, left epsilon 10"),
        ("'people', '{', 1", "condition: it must be an object"),
        ("'people', '{\"colour\": [\"red\"]}', 1", "no attribute 'colour'.*did you mean 'color'"),
        ("'people', '{\"color\": [\"rad\"]}', 1", "did you mean 'red'"),
        ('\'people\', \'{"color": {"from": "red"}}\', 1', "'color' has no order"),
        ("'people', '{\"age\": {\"from\": 15}}', 1", "15 is no edge of a bin of 'age'; there are"),
        ("'people', '[\"not\"]', 1", "condition: it must be an object"),
        (
            '\'people\', \'["or", {"class": ["yes"]}, {"color": ["red"]}]\', 1',
            "ask for each part on its own",
        ),
    ],
)
def test_a_refusal_says_why_and_charges_nothing(connection, curator, ledger, call, told):
    with pytest.raises(duckdb.Error, match=told):
        fetch(connection, f"SELECT privet_count({call})")
    assert ledger.entries("people") == []
    fetch(connection, "SELECT privet_count('people', epsilon := 1)")  # and goes on


def test_by_names_attributes_each_once(connection, curator):
    for by in ("['color', 'color']", "['colour']", "[NULL]"):
        with pytest.raises(duckdb.Error, match=r"by must name|no attribute"):
            fetch(connection, f"FROM privet_counts('people', by := {by}, epsilon := 1)")
    assert curator.left == 10


def test_the_noise_is_that_of_one_count(connection):
    """One number has one noise, of scale 1/epsilon, also where it adds up classes."""
    register(connection, budget=10**6)
    call = "privet_count('people', epsilon := 0.1, key := 'key ' || i)"
    noise = np.array(fetch(connection, f"SELECT {call} - 3000 FROM range(400) AS r (i)")).ravel()
    mean = np.abs(noise).mean()  # about 10, with a standard deviation of 0.5
    assert 7 < mean < 13


def test_rows_count_from_their_commit_on(connection):
    register(connection, budget=10**7)
    asked = "SELECT privet_count('people', epsilon := 100000)"
    connection.execute("BEGIN")
    connection.execute("DELETE FROM people WHERE color = 'red'")
    assert fetch(connection, asked) == [(3000,)]
    connection.execute("COMMIT")
    assert fetch(connection, asked) == [(2000,)]


def test_what_is_no_curator_or_no_table_is_refused(connection):
    table = pv.sql.open_table(connection, "MAIN.People")
    assert table.name == "main.people"
    for wrong in ({}, [], {"people": table}, {"": None}):
        with pytest.raises(ParameterError, match="register: "):
            pv.sql.register(connection, wrong)
    connection.execute("CREATE TEMP TABLE passing (i INTEGER)")
    for name in ("passing", "another", "people; DROP TABLE people"):
        with pytest.raises(TableError, match=r"no table .* in the committed tables"):
            pv.sql.open_table(connection, name)
