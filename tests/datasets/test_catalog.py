"""Names, descriptions and what is said about a wrong name or target."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

import privet.datasets
from privet.datasets import describe, load, names
from privet.datasets.catalog import CATALOG
from privet.errors import DatasetError

GENERATED = [
    "nursery",
    "car",
    "tic_tac_toe",
    "monks1",
    "monks2",
    "monks3",
    "synthetic1",
    "synthetic2",
    "synthetic3",
]
FETCHED = ["mushroom", "votes", "adult", "drug_consumption", "autos", "australian", "crx"]


def test_the_catalog_lists_generated_and_fetched_sets() -> None:
    assert names() == GENERATED + FETCHED


def test_descriptions_say_what_loading_gives() -> None:
    described = {line.name: line for line in describe()}
    assert list(described) == names()
    for name in GENERATED:
        dataset, line = load(name), described[name]
        assert (line.rows, line.attributes) == dataset.X.shape
        assert line.classes == dataset.y.nunique()
        assert (line.origin, line.available) == ("generated", True)
    for name in FETCHED:
        assert (described[name].origin, described[name].available) == ("fetched", False)
    for line in describe():
        assert "doi:10." in line.source
        assert line.licence
        assert line.summary


def test_a_description_is_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        describe()[0].rows = 1  # type: ignore[misc]


@pytest.mark.parametrize("variable", ["PRIVET_DATA", "PRIVET_CACHE"])
def test_a_set_is_available_once_its_file_is_there(
    variable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "files" / ("datasets" if variable == "PRIVET_CACHE" else "")
    folder.mkdir(parents=True)
    (folder / "crx.csv").touch()
    monkeypatch.setenv(variable, str(tmp_path / "files"))
    assert [line.name for line in describe() if line.origin == "fetched" and line.available] == [
        "crx"
    ]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("nursry", "nursery"),
        ("Tic-Tac-Toe", "tic_tac_toe"),
        ("drugs_consumption", "drug_consumption"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(asked: str, meant: str) -> None:
    with pytest.raises(
        DatasetError,
        match=f"no data set '{asked}'; did you mean '{meant}'\\? Available are nursery, car",
    ) as caught:
        load(asked)
    assert "crx" in str(caught.value)


def test_a_name_like_no_other_gets_the_list_only() -> None:
    with pytest.raises(DatasetError, match=r"no data set 'zzzzzz'\. Available are nursery"):
        load("zzzzzz")


@pytest.mark.parametrize("name", ["nursery", "votes"])
def test_a_target_is_refused_where_there_is_no_choice(name: str) -> None:
    with pytest.raises(DatasetError, match=f"target of '{name}' must be left out.*got 'class'"):
        load(name, target="class")


def test_an_unknown_drug_is_refused_before_anything_is_fetched() -> None:
    with pytest.raises(DatasetError, match=r"must be one of alcohol, amphet, .*got 'tea'"):
        load("drug_consumption", target="tea")


def test_dataset_holds_table_and_schema_in_the_same_order() -> None:
    dataset = load("car")
    assert list(dataset.table) == [*dataset.schema.names, dataset.schema.target]
    assert tuple(dataset.X) == dataset.schema.names
    assert dataset.y.name == dataset.schema.target == "class"
    assert dataset.schema.n_rows is None
    assert dataset.schema.declare(n_rows=1728).n_rows == 1728
    assert repr(dataset) == "Dataset(name='car')"


def test_two_loads_do_not_share_a_table() -> None:
    first = load("monks1")
    first.X.loc[0, "a1"] = "3"
    assert load("monks1").X.loc[0, "a1"] == "1"


def test_importing_is_light() -> None:
    code = (
        "import sys, privet.datasets as d; d.describe(); sys.exit('pandas' in sys.modules or "
        "'rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_public_surface() -> None:
    assert privet.datasets.__all__ == [
        "Dataset",
        "Description",
        "canonical_hash",
        "describe",
        "load",
        "names",
    ]
    assert all(entry.name == name for name, entry in CATALOG.items())
