"""The measurements behind ``privet epsilon``: how they are made, and how often ranges hold."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import pytest

from experiments.bench.expected.__main__ import add, is_measured
from experiments.bench.expected.check import check_held_out, check_left_out, table
from experiments.bench.expected.measure import EPSILONS, LEARNERS, Run, choose_rows, run
from experiments.bench.expected.tables import NAMES, family_of, use_of
from privet import datasets
from privet.epsilon.expected import load_measurements, select_lines

PAGE = Path(__file__).parents[3] / "docs" / "results" / "expected.md"


def test_the_page_says_how_often_ranges_hold():
    assert table() in PAGE.read_text(encoding="utf-8")


def test_families_are_for_the_same_use():
    assert family_of("monks1") == family_of("monks3") == "monks"
    assert family_of("Ecdat/OFP, privins") == family_of("Ecdat/OFP, medicaid")
    assert family_of("generated, pairs") != family_of("generated, deep")
    uses = [use_of(name) for name in NAMES]
    assert 0.2 < uses.count("check") / len(uses) < 0.4


def test_what_ships_is_what_is_measured():
    assert {line.data for line in load_measurements()} <= set(NAMES)
    assert {line.learner for line in load_measurements()} == set(LEARNERS)
    assert {line.epsilon for line in load_measurements()} == set(EPSILONS)
    for line in load_measurements():
        assert line.use == use_of(line.data)


def test_checks_count_each_table_once():
    lines = [line for line in select_lines("privet", "way") if line.use == "check"]
    found = check_held_out("privet", "way", lines)
    assert (found.lines, found.tables) == (len(lines), len({line.data for line in lines}))
    some = [line for line in lines if line.data != lines[0].data or line == lines[0]]
    assert check_held_out("privet", "way", some).tables == found.tables


def test_tables_left_out_in_turn_are_not_in_their_own_range():
    lines = [line for line in select_lines("privet", "kept") if line.use == "range"]
    assert 0.85 < check_left_out("privet", "kept", lines).held < 0.99


def test_the_file_grows_by_a_row_for_all_learners(tmp_path):
    path = tmp_path / "m.csv"
    for rows in (300, 900):
        add(
            [
                Run("car", "range", 6, 4, rows, 400, learner, epsilon, accuracy, 0.5)
                for epsilon in (0.1, math.inf)
                for learner, accuracy in (("privet", 0.75), ("greedy-tree", 0.5))
            ],
            path,
        )
    with path.open() as file:
        lines = list(csv.DictReader(file))
    assert [(line["rows"], line["epsilon"]) for line in lines] == [
        (rows, epsilon) for rows in ("300", "900") for epsilon in ("0.1", "inf")
    ]
    assert {(line["privet"], line["greedy-tree"]) for line in lines} == {("0.75", "0.5")}
    assert is_measured(path, "car", 900)
    assert not is_measured(path, "car", 901)
    assert not is_measured(tmp_path / "none.csv", "car", 900)


@pytest.mark.slow
def test_a_repeat_on_car():
    data = datasets.load("car")
    found = list(run(data, 0))
    assert len(found) == len(LEARNERS) * len(EPSILONS)
    assert {(one.rows, one.attributes, one.classes) for one in found} == {
        (choose_rows(data, 0), 6, 4)
    }
    best = max(one.accuracy for one in found if math.isinf(one.epsilon))
    assert best > found[0].majority > 0.6
