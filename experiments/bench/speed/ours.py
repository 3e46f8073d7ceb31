"""Privet's contestants: what each prepares before the clock starts, and what is timed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import privet as pv
from experiments.bench.speed.contestants import MULTIWAY
from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import Store, sizes
from privet.learners.random_trees.drawing import draw_forest
from privet.mechanisms.randomness import SystemBits

HEIGHT = 4
Timed = Callable[[], object]


def schema_of(task: Task, *, texts: bool = False) -> pv.Schema:
    """Categories have a child for each value; numbers, two children."""
    domains: list[Any] = [
        pv.Categorical([f"v{v}" if texts else v for v in range(size)])
        for size in sizes(task.attributes)
    ]
    if task.shape != MULTIWAY:
        domains = [pv.Numeric(0, size, bins=size) for size in sizes(task.attributes)]
    return pv.Schema({f"a{number}": domain for number, domain in enumerate(domains)}, "y", [0, 1])


def fitted(table: object, schema: pv.Schema, learner: Any) -> Any:
    """A whole fit: a curator, its charge, encoding, counting and noise."""
    return learner.fit_from(pv.Curator(table, schema, pv.Budget(1)))


def random_trees(task: Task) -> pv.RandomTreesClassifier:
    return pv.RandomTreesClassifier(1, n_trees=task.trees, height=HEIGHT)


def frame(task: Task, store: Store) -> Timed:
    table, schema = store.frame(task.rows, task.attributes), schema_of(task)
    return lambda: fitted(table, schema, random_trees(task))


def text(task: Task, store: Store) -> Timed:
    table, schema = store.frame(task.rows, task.attributes), schema_of(task, texts=True)
    words = np.array([f"v{value}" for value in range(max(sizes(task.attributes)))], dtype=object)
    for name in schema.names:
        table[name] = words[table[name].to_numpy()]
        table[name] = table[name].astype("str")
    return lambda: fitted(table, schema, random_trees(task))


def parquet(task: Task, store: Store) -> Timed:
    path, schema = store.parquet(task.rows, task.attributes), schema_of(task)
    return lambda: fitted(path, schema, random_trees(task))


def database(task: Task, store: Store) -> Timed:
    place, schema = (
        f"duckdb:///{store.database(task.rows, task.attributes)}?table=people",
        schema_of(task),
    )
    return lambda: fitted(place, schema, random_trees(task))


def kernel(task: Task, store: Store) -> Timed:
    """Exact counts of a forest from rows that are encoded already."""
    schema = schema_of(task)
    source = pv.open_table(store.frame(task.rows, task.attributes)).source(schema)
    question = pv.Question.forest(draw_forest(schema, task.trees, HEIGHT, SystemBits()))
    source.count(question)  # encodes
    return lambda: source.count(question)


def gibbs(task: Task, store: Store) -> Timed:
    table, schema = store.frame(task.rows, task.attributes), schema_of(task)
    return lambda: fitted(table, schema, pv.PrivetClassifier(1))


def greedy(task: Task, store: Store) -> Timed:
    table, schema = store.frame(task.rows, task.attributes), schema_of(task)
    return lambda: fitted(table, schema, pv.GreedyTreeClassifier(1, max_depth=HEIGHT))


def predict_frame(task: Task, store: Store) -> Timed:
    table, model = store.frame(task.rows, task.attributes), _model(task, store)
    rows = table.drop(columns="y")
    return lambda: model.predict_proba(rows)


def predict_array(task: Task, store: Store) -> Timed:
    (rows, _), model = store.matrix(task.rows, task.attributes, np.uint8), _model(task, store)
    return lambda: model.predict_proba(rows)


def predict_codes(task: Task, store: Store) -> Timed:
    rows, model = list(store.codes(task.rows, task.attributes)[:-1]), _model(task, store)
    return lambda: model.model_.probabilities(rows)


def predict_gibbs(task: Task, store: Store) -> Timed:
    """Predictions of the default learner, by a model of at most 100 000 rows."""
    table, few = store.frame(task.rows, task.attributes), min(task.rows, 100_000)
    model = fitted(store.frame(few, task.attributes), schema_of(task), pv.PrivetClassifier(1))
    rows = table.drop(columns="y")
    return lambda: model.predict_proba(rows)


def _model(task: Task, store: Store) -> Any:
    return fitted(
        store.frame(min(task.rows, 100_000), task.attributes), schema_of(task), random_trees(task)
    )
