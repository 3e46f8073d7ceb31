"""Counts in SQL are those of the memory source, for any table, schema and condition."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, Schema
from privet.tables.memory import MemorySource
from tests.postgres import put_table
from tests.service.sql.conftest import new_dataset

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

TEXT = [
    "red",
    "green",
    "blue",
    "Red",
    " red",
    "",
    None,
    "1",
    "1.0",
    "true",
    "\N{DECIDUOUS TREE}",
    "a'b\"c",
]
NUMBERS = [0.0, 1.0, 2.5, -3.0, 99.0, 100.0, 101.0, 1e300, float("nan"), float("inf"), 33.3]
SPELT = [
    "1",
    " 2.5 ",
    "1e2",
    "-0",
    "x",
    "",
    None,
    "nan",
    "inf",
    "1e999",
    "1_0",
    "33",
    "100",
    "1e-400",
]
ATTRIBUTES = {
    "plain": Categorical(["red", "green", "blue"]),
    "caught": Categorical(["red", 1, True], other="other", missing="none"),
    "dropped": Categorical(["red", "1"], other="other", on_unknown="drop"),
    "listed": Categorical([0, 1, 2.5, 100]),
    "binned": Numeric(0, 100, bins=7),
    "narrow": Numeric(0, 100, bins=3, missing="?", on_unknown="drop"),
    "spelt": Numeric(0, 100, bins=4, missing="?"),
    "truth": Categorical([True, False], missing="?"),
    "one": Numeric(0, 1, bins=1),
}


def frame(rng, rows):
    draw = {
        "plain": TEXT[:4],
        "caught": TEXT,
        "dropped": TEXT,
        "listed": NUMBERS,
        "binned": NUMBERS,
        "narrow": NUMBERS,
        "spelt": SPELT,
        "truth": [True, False],
        "one": [0, 1, 2],
        "class": ["no", "yes", "maybe"],
        "who": ["a", "b", "c", "d", None],
    }
    # Mostly values that count, or hardly a row would have all of them.
    common = {"class": 2, "plain": 3, "listed": 3, "binned": 6}
    columns = {}
    for name, values in draw.items():
        drawn = rng.integers(len(values), size=rows)
        often = common.get(name, len(values))
        drawn = np.where(rng.random(rows) < 0.8, drawn % often, drawn)
        columns[name] = [values[i] for i in drawn]
    return pd.DataFrame(columns)


def random_condition(rng, schema):
    """Attributes, or the target, with lists of their labels."""
    chosen = {}
    for name, attribute in {**schema.attributes, schema.target: schema.label}.items():
        if rng.random() < 0.4:
            chosen[name] = [label for label in attribute.labels if rng.random() < 0.7]
    return chosen


def counted_in_memory(schema, table, condition):
    total = 0
    for codes, classes, weights in MemorySource(schema, table).rows():
        keep = np.ones(len(classes), dtype=bool)
        for name, labels in condition.items():
            attribute = schema.label if name == schema.target else schema.attributes[name]
            column = classes if name == schema.target else codes[schema.index(name)]
            keep &= np.isin(
                column, [code for code, label in enumerate(attribute.labels) if label in labels]
            )
        total += int(keep.sum()) if not len(weights) else int(weights[keep].sum())
    return total


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (3, 4, 5))]
)
def test_counts_are_those_of_the_memory_source(place, seed):
    rng = np.random.default_rng(seed)
    table = frame(rng, 400)
    names = [name for name in ATTRIBUTES if rng.random() < 0.6] or ["plain"]
    facts = [
        {},
        {"person": "who", "rows_per_person": 7},
        {"person": "who", "rows_per_person": 1, "neighbours": "replace"},
    ][seed % 3]
    schema = Schema({name: ATTRIBUTES[name] for name in names}, "class", ["no", "yes"], **facts)
    put_table(place.url, table, f"random_{seed}")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"GRANT SELECT ON random_{seed} TO {owner}")
    dataset = new_dataset(place, table=f"random_{seed}", schema=schema)
    seen = set()
    for condition in ({}, *(random_condition(rng, schema) for _ in range(15))):
        expected = counted_in_memory(schema, table, condition)
        assert place.sql(
            "SELECT privet.exact_numbers(%s, privet.partition(%s, %s, '{}'))",
            (dataset, dataset, json.dumps(condition)),
        ) == [([expected],)]
        seen.add(expected)
    assert len(seen) > 2


def test_an_empty_table_counts_nothing(place):
    place.sql("CREATE TABLE empty AS TABLE people WITH NO DATA; GRANT SELECT ON empty TO PUBLIC")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"REVOKE ALL ON empty FROM PUBLIC; GRANT SELECT ON empty TO {owner}")
    dataset = new_dataset(place, table="empty")
    assert place.sql(
        "SELECT privet.exact_numbers(%s, privet.partition(%s, '{}', '{class}'))", (dataset, dataset)
    ) == [([0, 0],)]


def test_values_that_are_no_text_are_named_by_their_labels_or_as_they_are(place):
    schema = Schema(
        {"listed": ATTRIBUTES["listed"], "truth": ATTRIBUTES["truth"]}, "class", ["no", "yes"]
    )
    put_table(place.url, frame(np.random.default_rng(8), 300), "valued")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"GRANT SELECT ON valued TO {owner}")
    dataset = new_dataset(place, table="valued", schema=schema)

    def count(condition):
        return place.sql(
            "SELECT privet.exact_numbers(%s, privet.partition(%s, %s, '{}'))",
            (dataset, dataset, json.dumps(condition)),
        )[0][0][0]

    assert (
        count({"listed": [1, 2.5]})
        == count({"listed": [1.0, "2.5"]})
        == count({"listed": ["1", 2.50, 1]})
        > 0
    )
    assert count({"truth": [True]}) == count({"truth": ["true"]}) > 0
