"""The measurements behind ``privet epsilon``: how they are made, and how far off they are for a
table that was left out.
"""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from experiments.bench.expected.__main__ import write
from experiments.bench.expected.check import family, left_out, table
from experiments.bench.expected.measure import EPSILONS, LEARNERS, SETS, Run, runs
from privet import datasets
from privet.epsilon.expected import load_measurements

PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "choose-epsilon.md"


def test_the_page_has_the_errors_of_tables_left_out():
    assert table() in PAGE.read_text(encoding="utf-8")


def test_families_are_left_out_together():
    assert {family(name) for name in ("monks1", "monks3", "synthetic2", "car")} == {
        "monks",
        "synthetic",
        "car",
    }


def test_shares_and_lines():
    found = left_out("privet")
    assert found.lines == sum(
        one.learner == "privet" and math.isfinite(one.epsilon) for one in load_measurements()
    )
    assert 0 < found.off < 1
    assert 0.5 < found.within < 1


def test_what_ships_is_what_is_measured():
    assert {one.data for one in load_measurements()} == set(SETS)
    assert {one.learner for one in load_measurements()} == set(LEARNERS)
    assert {one.epsilon for one in load_measurements()} == set(EPSILONS)


def test_a_file_holds_means_and_standard_errors(tmp_path):
    found = [Run("car", 6, 4, 300, "privet", math.inf, accuracy, 0.5) for accuracy in (0.6, 0.8)]
    write([*found, Run("car", 6, 4, 300, "privet", 0.1, 0.7, 0.5)], tmp_path / "m.csv")
    with (tmp_path / "m.csv").open() as file:
        first, second = csv.DictReader(file)
    assert (
        first["epsilon"],
        first["repeats"],
        first["accuracy"],
        first["error"],
        first["majority"],
    ) == ("inf", "2", "0.7", "0.1", "0.5")
    assert (second["epsilon"], second["repeats"], second["accuracy"]) == ("0.1", "1", "0.7")


@pytest.mark.slow
def test_a_repeat_on_car():
    found = list(runs(datasets.load("car"), 0))
    assert len(found) == 2 * len(LEARNERS) * len(EPSILONS)
    assert {(one.rows, one.attributes, one.classes) for one in found} == {(300, 6, 4), (1000, 6, 4)}
    best = max(one.accuracy for one in found if math.isinf(one.epsilon))
    assert best > max(one.majority for one in found) > 0.6
