"""The commands on a table in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import privet
from privet.accounting.ledger import SQLiteLedger
from tests.postgres import Server, put_table

Run = Callable[..., Any]
SECRET = "SECRET-PASSWORD"


@pytest.fixture
def table(postgres: Server) -> str:
    car = privet.datasets.load("car")
    car.schema.declare(n_rows=1728).write("car.schema.json")
    return put_table(postgres.database(), car.table.astype(object), "car").replace(
        "postgres:@", f"postgres:{SECRET}@"
    )


def test_a_ledger_must_be_named(privet: Run, table: str) -> None:
    ran = privet("count", table, "--schema", "car.schema.json", "--epsilon", "1")
    assert ran.code == 2
    assert "say where with --ledger FILE" in ran.err
    assert SECRET not in ran.err + ran.out
    assert sorted(path.name for path in Path().iterdir()) == ["car.schema.json"]


def test_fit_predict_evaluate_and_count(privet: Run, table: str) -> None:
    charged = ("--schema", "car.schema.json", "--ledger", "book.sqlite", "--epsilon", "1")
    ran = privet(
        "fit", table, *charged, "--budget", "10", "--learner", "greedy-tree", "-o", "m.json"
    )
    assert (ran.code, ran.err) == (0, "")
    assert privet("predict", "m.json", table, "-o", "answers.csv").code == 0
    assert len(pd.read_csv("answers.csv")) == 1728
    assert privet("evaluate", "m.json", table, *charged).code == 0
    ran = privet("count", table, *charged, "--json")
    assert abs(sum(json.loads(ran.out)["noisy_counts"]["all rows"].values()) - 1728) < 100
    book = SQLiteLedger("book.sqlite")
    assert book.datasets() == ["public.car"]
    assert 2 < book.spent("public.car").epsilon <= 3
    assert privet("schema", "check", "car.schema.json", table).code == 0
    written = b"".join(path.read_bytes() for path in Path().iterdir() if path.is_file())
    assert SECRET.encode() not in written
