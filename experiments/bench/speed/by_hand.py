"""DuckDB alone: the counts of a forest in the SQL that somebody would write by hand, a SELECT with
nested CASE for each tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb

from experiments.bench.speed.ours import HEIGHT, schema_of
from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import Store
from privet.domain.cells import Cells
from privet.learners.random_trees.drawing import draw_forest
from privet.mechanisms.randomness import SystemBits

Timed = Callable[[], object]


def table(task: Task, store: Store) -> Timed:
    connection = duckdb.connect()
    connection.execute(
        f"CREATE TABLE people AS SELECT * FROM '{store.parquet(task.rows, task.attributes)}'"
    )
    return _counting(task, connection, "people")


def parquet(task: Task, store: Store) -> Timed:
    return _counting(task, duckdb.connect(), f"'{store.parquet(task.rows, task.attributes)}'")


def statement(forest: list[Cells], relation: str) -> str:
    """Tree, leaf, class and count of all trees."""
    selects = [
        f"SELECT {t} AS tree, {_leaf(tree)} AS leaf, y, count(*) AS n FROM {relation} GROUP BY ALL"
        for t, tree in enumerate(forest)
    ]
    return " UNION ALL ".join(selects)


def _leaf(tree: Cells, node: int = 0) -> str:
    a = int(tree.attribute[node])
    if a < 0:
        return str(int(tree.cell[node]))
    name, children = (
        tree.schema.names[a],
        tree.branch[tree.offset[node] :][: tree.schema.sizes[a]].tolist(),
    )
    if len(set(children)) == 2:
        cut = children.index(children[-1])
        return (
            f"CASE WHEN {name} < {cut} THEN {_leaf(tree, children[0])} ELSE "
            f"{_leaf(tree, children[-1])} END"
        )
    tests = " ".join(
        f"WHEN {code} THEN {_leaf(tree, child)}" for code, child in enumerate(children)
    )
    return f"CASE {name} {tests} END"


def _counting(task: Task, connection: Any, relation: str) -> Timed:
    schema = schema_of(task)
    query = statement(draw_forest(schema, task.trees, HEIGHT, SystemBits()), relation)

    def run() -> None:
        counts = connection.execute(query).fetchnumpy()["n"]
        assert counts.sum() == task.rows * task.trees

    return run
