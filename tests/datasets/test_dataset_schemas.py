"""Every table fits its hand-written schema, and the schemas list what the documentation lists."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from privet.datasets import Dataset, load, names
from privet.datasets.catalog import CATALOG, Generated
from privet.domain import Categorical, Numeric, Schema

GENERATED = [name for name in names() if isinstance(CATALOG[name], Generated)]
FETCHED = [name for name in names() if name not in GENERATED]


def misfits(dataset: Dataset) -> list[str]:
    """What of the table is outside its schema."""
    found = [f"class {label}" for label in set(dataset.y) - set(dataset.schema.label.labels)]
    for name, attribute in dataset.schema.attributes.items():
        column = dataset.X[name]
        if isinstance(attribute, Categorical):
            found += [f"{name} {value}" for value in set(column) - set(attribute.labels)]
        else:
            numbers = column.dropna()
            found += [
                f"{name} {number}"
                for number in numbers[(numbers < attribute.low) | (numbers > attribute.high)]
            ]
            if attribute.missing is None and column.isna().any():
                found.append(f"{name} missing")
    return found


@pytest.mark.parametrize("name", FETCHED)
def test_every_value_of_a_fetched_set_fits(name: str, real_data: Path) -> None:
    assert misfits(load(name)) == []


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_set_has_exactly_the_values_of_its_schema(name: str) -> None:
    dataset = load(name)
    assert misfits(dataset) == []
    for attribute, domain in dataset.schema.attributes.items():
        assert set(dataset.X[attribute]) == set(domain.labels)
    assert set(dataset.y) == set(dataset.schema.label.labels)


def test_the_check_itself_sees_what_does_not_fit() -> None:
    schema = Schema({"c": Categorical(["a"]), "n": Numeric(0, 1)}, "class", ["0", "1"])
    table = pd.DataFrame({"c": ["a", "b"], "n": [2.0, float("nan")]})
    assert misfits(Dataset("x", table, pd.Series(["0", "2"]), schema)) == [
        "class 2",
        "c b",
        "n 2.0",
        "n missing",
    ]


@pytest.mark.parametrize("name", names())
def test_a_schema_survives_its_own_format_and_declares_no_size(name: str) -> None:
    schema = CATALOG[name].schema()
    assert Schema.from_json(schema.to_json()) == schema
    assert (schema.n_rows, schema.person, schema.neighbours) == (None, None, "add-remove")


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("mushroom", "stalk_root", "z"),
        ("mushroom", "stalk_root", "u"),
        ("mushroom", "veil_type", "u"),
        ("mushroom", "gill_attachment", "d"),
        ("mushroom", "ring_type", "z"),
        ("crx", "A4", "t"),
        ("australian", "A6", "6"),
        ("autos", "symboling", "-3"),
    ],
)
def test_documented_values_that_never_occur_are_listed(
    name: str, attribute: str, value: str
) -> None:
    assert value in CATALOG[name].schema().attributes[attribute].labels


MISSING = {
    "mushroom": {"stalk_root"},
    "adult": {"workclass", "occupation", "native_country"},
    "autos": {"normalized_losses", "num_of_doors", "bore", "stroke", "horsepower", "peak_rpm"},
    "crx": {"A1", "A2", "A4", "A5", "A6", "A7", "A14"},
    "australian": set(),
    "drug_consumption": set(),
}


@pytest.mark.parametrize("name", MISSING)
def test_missing_entries_are_declared_where_they_are_documented(name: str) -> None:
    attributes = CATALOG[name].schema().attributes
    assert {key for key, attribute in attributes.items() if attribute.missing == "?"} == MISSING[
        name
    ]


@pytest.mark.parametrize(
    ("attribute", "levels"),
    [("age", 6), ("gender", 2), ("education", 9), ("country", 7), ("ethnicity", 7)],
)
def test_each_documented_level_has_a_bin_of_its_own(
    attribute: str, levels: int, real_data: Path
) -> None:
    dataset = load("drug_consumption")
    domain = dataset.schema.attributes[attribute]
    assert isinstance(domain, Numeric)
    used = domain.codes_of(dataset.X[attribute].unique())
    assert len(used) == len(set(used)) == domain.bins == levels
