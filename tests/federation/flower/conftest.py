"""Three parties with a third of the nursery data each, in DuckDB files, and the settings of a
round.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import pytest

from privet import datasets
from privet.federation.plan import draw_plan, write_plan
from privet.learners.random_trees.drawing import Plan

NURSERY = datasets.load("nursery")


@dataclass
class Federation:
    """What parties and server have on their disks."""

    home: Path
    plan: Plan
    nodes: dict[int, dict[str, object]]
    run: dict[str, object]
    tables: dict[int, pd.DataFrame]

    @property
    def output(self) -> Path:
        return self.home / "model.json"

    def ledger(self, node: int) -> Path:
        return self.home / f"{node}.ledger.sqlite"


NODES = (11, 22, 33)


def rows_of(node: int) -> pd.DataFrame:
    return NURSERY.table.iloc[NODES.index(node) :: 3]


@pytest.fixture(scope="session")
def table_files(tmp_path_factory) -> Path:
    """Made once, and copied for each test."""
    folder = tmp_path_factory.mktemp("parties")
    for node in NODES:
        rows = rows_of(node)
        with duckdb.connect(folder / f"{node}.db") as connection:
            connection.register("given", rows)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return folder


@pytest.fixture
def federation(tmp_path, table_files) -> Federation:
    plan = draw_plan(NURSERY.schema, 4, height=3)
    write_plan(plan, tmp_path / "plan.json")
    NURSERY.schema.write(tmp_path / "schema.json")
    nodes: dict[int, dict[str, object]] = {}
    tables: dict[int, pd.DataFrame] = {}
    for node in NODES:
        shutil.copy(table_files / f"{node}.db", tmp_path)
        tables[node] = rows_of(node)
        nodes[node] = {
            "table": f"duckdb:////{str(tmp_path).lstrip('/')}/{node}.db?table=people",
            "schema": str(tmp_path / "schema.json"),
            "ledger": str(tmp_path / f"{node}.ledger.sqlite"),
            "epsilon": "2",
            "budget": "3",
            "colluding": 1,
        }
    run = {
        "plan": str(tmp_path / "plan.json"),
        "epsilon": "2",
        "honest": 1,
        "colluding": 1,
        "parties": 3,
        "people": "disjoint",
        "output": str(tmp_path / "model.json"),
        "timeout": 5,
    }
    return Federation(tmp_path, plan, nodes, run, tables)
