"""Schemas, random tables and questions for the count-source suite, and a counting oracle in plain
Python.
"""

from __future__ import annotations

import hashlib
import math
import pickle

import numpy as np
import pandas as pd

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question

SCHEMA = Schema(
    {
        "colour": Categorical(["red", "green", "blue"], other="other", missing="?"),
        "rooms": Categorical([1, 2, 3, 4]),
        "age": Numeric(0, 100, bins=7, missing="unknown"),
        "income": Numeric(0, 100_000, bins=16, spacing="log"),
        "height": Numeric(edges=[140, 160, 170, 180, 210], on_unknown="drop"),
        "owner": Categorical([True, False]),
    },
    target="label",
    classes=["no", "yes", "maybe"],
)


def random_table(n_rows: int, seed: int, schema: Schema = SCHEMA) -> pd.DataFrame:
    """Rows with nulls, unlisted categories, numbers out of range and unlisted classes."""
    rng = np.random.default_rng(seed)

    def pick(values, chances=None):
        return [values[i] for i in rng.choice(len(values), n_rows, p=chances)]

    table = pd.DataFrame(
        {
            "colour": pick(["red", "green", "blue", "pink", None], [0.3, 0.3, 0.2, 0.1, 0.1]),
            "rooms": pick(["1", "2", "3", "4", "5"], [0.3, 0.3, 0.2, 0.15, 0.05]),
            "age": np.where(
                rng.random(n_rows) < 0.1, np.nan, rng.integers(-5, 110, n_rows).astype(float)
            ),
            "income": np.round(np.expm1(rng.random(n_rows) * 12), 2),
            "height": rng.integers(135, 215, n_rows).astype(float),
            "owner": rng.random(n_rows) < 0.5,
            "label": pick(["no", "yes", "maybe", "never"], [0.5, 0.3, 0.15, 0.05]),
        }
    )
    return table.astype({"colour": object, "rooms": object, "label": object})


def wide_schema(n_values: int = 300) -> Schema:
    """An attribute with more than 256 values."""
    return Schema(
        {
            "street": Categorical([f"s{i}" for i in range(n_values)]),
            "side": Categorical(["left", "right"]),
        },
        target="label",
        classes=["no", "yes"],
    )


def wide_table(n_rows: int, seed: int, n_values: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "street": [f"s{i}" for i in rng.integers(0, n_values, n_rows)],
            "side": np.where(rng.random(n_rows) < 0.5, "left", "right"),
            "label": np.where(rng.random(n_rows) < 0.3, "yes", "no"),
        }
    ).astype(object)


def random_tree(schema: Schema, height: int, seed: int) -> Cells:
    """Random thresholds, values and multiway splits."""
    rng = np.random.default_rng(seed)
    cells = Cells.everything(schema)
    for _ in range(height):
        splits = {}
        for cell in range(len(cells)):
            name = schema.names[rng.integers(len(schema.names))]
            size = schema.attributes[name].size
            kind = rng.integers(4)
            if kind == 0:
                splits[cell] = Split.multiway(schema, name)
            elif kind == 1:
                splits[cell] = Split.value(schema, name, code=int(rng.integers(size)))
            elif kind == 2:
                splits[cell] = Split.threshold(schema, name, code=int(rng.integers(1, size)))
        cells = cells.refine(splits)
    return cells


_known: dict[bytes, list[np.ndarray]] = {}


def oracle(question: Question, table: pd.DataFrame) -> list[np.ndarray]:
    """The counts of a question, row by row, sharing no code with the sources but the meaning of a
    schema.

    Every source is asked the same about the same tables, so what is known is kept.
    """
    key = hashlib.sha256(pickle.dumps((question, table.to_dict("list")))).digest()
    if key not in _known:
        _known[key] = _oracle(question, table)
    return [answer.copy() for answer in _known[key]]


def _oracle(question: Question, table: pd.DataFrame) -> list[np.ndarray]:
    schema = question.schema
    answers = [np.zeros(partition.shape, dtype=np.int64) for partition in question.partitions]
    for row in _counted_rows(schema, table):
        for answer, partition in zip(answers, question.partitions, strict=True):
            cell = _walk(partition.cells, row)
            if cell >= 0:
                index = (
                    (cell,)
                    if partition.by is None
                    else (cell, row[schema.names.index(partition.by)])
                )
                answer[(*index, row[-1])] += 1
    return answers


def _counted_rows(schema: Schema, table: pd.DataFrame) -> list[tuple[int, ...]]:
    kept: dict[object, list[tuple[int, ...]]] = {}
    for number, (_, row) in enumerate(table.iterrows()):
        codes = [_code(schema.attributes[name], row[name]) for name in schema.names]
        codes.append(_code(Categorical(schema.classes), row[schema.target]))
        who = number if schema.person is None else row[schema.person]
        if None not in codes and not pd.isna(who):
            kept.setdefault(who, []).append(tuple(codes))
    most = None if schema.person is None else schema.rows_per_person
    return [codes for rows in kept.values() for codes in sorted(rows)[:most]]


def _code(attribute, value) -> int | None:
    if isinstance(attribute, Categorical):
        if pd.isna(value):
            return (
                None
                if attribute.missing is None
                else attribute.labels.index(str(attribute.missing))
            )
        text = (
            {True: "true", False: "false"}[bool(value)]
            if isinstance(value, bool | np.bool_)
            else str(value)
        )
        if text in attribute.labels:
            return attribute.labels.index(text)
        return None if attribute.other is None else attribute.labels.index(str(attribute.other))
    if pd.isna(value):
        return None if attribute.missing is None else attribute.bins
    if attribute.on_unknown == "drop" and not attribute.low <= value <= attribute.high:
        return None
    if value in (math.inf, -math.inf):
        return attribute.bins - 1 if value > 0 else 0
    return sum(1 for edge in attribute.cuts[1:-1] if value >= edge)


def _walk(cells: Cells, row: tuple[int, ...]) -> int:
    node = 0
    while (attribute := cells.attribute[node]) >= 0:
        node = cells.branch[cells.offset[node] + row[attribute]]
    return int(cells.cell[node])


def forest(schema: Schema, n_trees: int = 3, height: int = 3) -> Question:
    return Question.forest([random_tree(schema, height, seed) for seed in range(n_trees)])


def mixed(schema: Schema) -> Question:
    """Partitions with and without ``by``, one of them twice, and cells that do not cover the
    domain.
    """
    some = random_tree(schema, 2, 7)
    part = Cells.of(schema, list(some)[: max(1, len(some) // 2)])
    return Question(
        (
            Partition(some, by=schema.names[0]),
            Partition(part),
            Partition(some),
            Partition(part, by=schema.names[1]),
            Partition(part),
        )
    )
