"""The real tables, from the folder that PRIVET_DATA names and in the layout of the repository."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from privet.datasets import catalog, describe, load
from privet.datasets.catalog import CATALOG, DRUGS, Fetched
from privet.errors import DatasetError

COUNTS = {
    "mushroom": {"e": 4208, "p": 3916},
    "votes": {"democrat": 267, "republican": 168},
    "adult": {"<=50K": 37155, ">50K": 11687},
    "drug_consumption": {"non-user": 1206, "user": 679},
    "autos": {"low": 98, "high": 103},
    "australian": {"0": 383, "1": 307},
    "crx": {"-": 383, "+": 307},
}
ADULT_TRAINING_ROWS = 32_561


#: The largest is packed and read for seconds; the others take the same paths.
LARGEST_IS_SLOW = [
    pytest.param(name, marks=pytest.mark.slow) if name == "adult" else name for name in COUNTS
]


@pytest.mark.parametrize("name", COUNTS)
def test_a_real_set_has_the_rows_and_classes_it_should(name: str, real_data: Path) -> None:
    dataset = load(name)
    line = next(line for line in describe() if line.name == name)
    assert dataset.y.value_counts().to_dict() == COUNTS[name]
    assert (line.rows, line.attributes) == dataset.X.shape
    assert line.classes == dataset.y.nunique()
    assert line.available


def test_missing_entries_stay_visible(real_data: Path) -> None:
    crx, votes = load("crx"), load("votes")
    assert crx.X["A2"].isna().sum() == 12
    assert (crx.X["A1"] == "?").sum() == 12
    assert crx.X.loc[0, "A14"] == 202.0
    assert set(votes.X["crime"]) == {"y", "n", "?"}


def test_the_class_of_autos_is_derived_from_the_price(real_data: Path) -> None:
    dataset = load("autos")
    raw = pd.read_csv(real_data / "autos.csv", dtype=str, keep_default_na=False)
    prices = raw["price"][raw["price"] != "?"].astype(int).reset_index(drop=True)
    assert (dataset.y == "high").tolist() == (prices >= catalog.HIGH_PRICE).tolist()
    assert "price" not in dataset.table
    assert dataset.X["make"].tolist() == raw["make"][raw["price"] != "?"].tolist()


@pytest.mark.parametrize("drug", DRUGS)
def test_the_class_of_drug_consumption_is_use_within_a_decade(drug: str, real_data: Path) -> None:
    dataset = load("drug_consumption", target=drug)
    raw = pd.read_csv(real_data / "drug_consumption.csv", dtype=str)[drug]
    assert dataset.schema.target == dataset.y.name == list(dataset.table)[-1] == drug
    assert (dataset.y == "user").tolist() == raw.isin(["CL2", "CL3", "CL4", "CL5", "CL6"]).tolist()
    assert not set(dataset.X) & set(DRUGS)


def raw_files(name: str, folder: Path) -> dict[str, str]:
    """The files of the repository's archive, written from the CSV file in their own layout."""
    with (folder / f"{name}.csv").open(newline="") as table:
        _, *rows = csv.reader(table)

    def lines(separator: str, rows: list[list[str]]) -> str:
        return "".join(separator.join(row) + "\n" for row in rows)

    if name == "adult":
        training, test = rows[:ADULT_TRAINING_ROWS], rows[ADULT_TRAINING_ROWS:]
        dotted = [[*row[:-1], row[-1] + "."] for row in test]
        return {
            "adult.data": lines(", ", training) + "\n",
            "adult.test": "|1x3 Cross validator\n" + lines(", ", dotted) + "\n",
            "adult.names": "| not data",
        }
    if name in ("mushroom", "votes"):
        file = {"mushroom": "agaricus-lepiota.data", "votes": "house-votes-84.data"}[name]
        return {"Index": "not data", file: lines(",", [[row[-1], *row[:-1]] for row in rows])}
    if name == "drug_consumption":
        return {
            "drug_consumption.data": lines(
                ",", [[str(number), *row] for number, row in enumerate(rows, start=1)]
            )
        }
    file = {"autos": "imports-85.data", "australian": "australian.dat", "crx": "crx.data"}[name]
    return {file: lines(" " if name == "australian" else ",", rows)}


@pytest.mark.parametrize("name", LARGEST_IS_SLOW)
def test_fetching_gives_the_same_as_the_folder(
    name: str,
    real_data: Path,
    server: Any,
    zipped: Callable[[Mapping[str, str]], bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    expected = load(name)
    assert server.asked == []
    monkeypatch.delenv("PRIVET_DATA")
    entry = CATALOG[name]
    assert isinstance(entry, Fetched)
    server.answers[entry.archive.path] = zipped(raw_files(name, real_data))
    pd.testing.assert_frame_equal(load(name).table, expected.table)
    assert server.asked == [f"/static/{entry.archive.path}"]
    # the second time from the cache, to the same table
    pd.testing.assert_frame_equal(load(name).table, expected.table)
    assert len(server.asked) == 1


@pytest.mark.parametrize("name", LARGEST_IS_SLOW)
def test_the_cache_has_the_format_of_the_folder(
    name: str,
    real_data: Path,
    server: Any,
    zipped: Callable[[Mapping[str, str]], bytes],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delenv("PRIVET_DATA")
    entry = CATALOG[name]
    assert isinstance(entry, Fetched)
    server.answers[entry.archive.path] = zipped(raw_files(name, real_data))
    fetched = load(name)
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path / "cache" / "datasets"))
    server.answers.clear()
    pd.testing.assert_frame_equal(load(name).table, fetched.table)


def test_a_changed_file_in_the_folder_is_refused(
    real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "votes.csv"
    shutil.copy(real_data / "votes.csv", copy)
    copy.write_text(copy.read_text().replace("republican", "democrat", 1))
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))
    with pytest.raises(
        DatasetError,
        match=r"votes\.csv is not the data set 'votes': the canonical hash of these 435 rows",
    ):
        load("votes")
