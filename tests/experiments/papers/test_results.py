"""From what clients measured to lines, and what the summary says of them."""

from __future__ import annotations

import csv
import math

import pandas as pd
import pytest

from experiments.papers.anatomy.pictures import PICTURES, write_pictures
from experiments.papers.anatomy.results import COLUMNS, LEARNERS, VARIANTS, write_csv
from experiments.papers.anatomy.summary import (
    WARNING,
    accuracy_verdicts,
    paired,
    summary,
    trade_off,
)
from tests.experiments.papers.made_up import fold


def test_the_lines_of_a_fold():
    lines = {line["learner"]: line for line in fold(2, 0)}
    assert tuple(lines) == (*LEARNERS, *VARIANTS)
    assert all(tuple(line) == COLUMNS for line in lines.values())
    cdtl, cnl, chosen = lines["cdtl"], lines["cnl"], lines["cdtl-threshold"]
    assert (cdtl["fold"], cdtl["data"], cdtl["sensitive"]) == (1, "votes", "physician_fee_freeze")
    assert (cdtl["accuracy"], cnl["accuracy"]) == (0.7, 0.8)
    assert (cnl["learn_seconds"], cnl["predict_seconds"], cnl["seconds"], cnl["cpu_seconds"]) == (
        1,
        3,
        4,
        2,
    )
    # the server's time is in no ratio
    assert (cdtl["server_grow_seconds"], cnl["server_grow_seconds"]) == (0.5, None)
    assert (
        cdtl["time_ratio"],
        cdtl["largest_leaf_ratio"],
        cdtl["rows_held_ratio"],
        cdtl["peak_ratio"],
    ) == (0.5, 0.3, 0.3, 0.25)
    assert (
        chosen["time_ratio"],
        chosen["rows_held"],
        chosen["leaf_size"],
        chosen["peak_ratio"],
    ) == (2.0, 150, 8, None)
    assert cnl["time_ratio"] is None
    assert (cnl["requests"], cnl["requests_each"], cnl["received_each"]) == (24, 2.4, 800)


def test_the_csv_file(tmp_path):
    lines = [*fold(2, 0), *fold(2, 1)]
    write_csv(lines, tmp_path / "results.csv")
    with (tmp_path / "results.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert len(read) == 16
    assert tuple(read[0]) == COLUMNS
    assert [float(one["accuracy"]) for one in read] == [line["accuracy"] for line in lines]
    assert read[0]["time_ratio"] == ""


def test_paired_differences():
    lines = pd.DataFrame(
        [*fold(2, 0, cnl=8, cdtl=7), *fold(2, 1, cnl=9, cdtl=6), *fold(2, 2, cnl=7, cdtl=7)]
    )
    mean, error = paired(lines, "cnl", "cdtl")
    assert mean == pytest.approx(0.4 / 3)
    assert error == pytest.approx(pd.Series([0.1, 0.3, 0.0]).std() / math.sqrt(3))


def test_an_order_that_does_not_hold_is_told():
    table = pd.DataFrame([*fold(2, 0, cdtl=5), *fold(2, 1, cdtl=4), *fold(3, 0), *fold(3, 1)])
    told = "\n".join(accuracy_verdicts(table))
    two, three = (
        next(line for line in told.splitlines() if line.startswith(f"- **{number}:"))
        for number in (2, 3)
    )
    assert "cnl - cdtl = +0.3500 ± 0.0500: holds;" in two
    assert "cdtl - cdbsl = -0.1500 ± 0.0500: does NOT hold." in two
    assert "NOT" not in three
    assert "less accurate than base trees in 2: votes, physician_fee_freeze." in told
    assert (
        "mean of 2 experiments**: cnl - cdtl = +0.2250: holds; cdtl - cdbsl = -0.0250: does NOT "
        "hold."
    ) in told


def test_a_difference_that_may_be_chance_and_a_tie():
    told = "\n".join(
        accuracy_verdicts(
            pd.DataFrame([*fold(2, 0, cnl=9, cdtl=7), *fold(2, 1, cnl=6, cdtl=7, cdbsl=8)])
        )
    )
    assert (
        "cnl - cdtl = +0.0500 ± 0.1500: holds, but less than two standard errors from none" in told
    )
    assert "cdtl - cdbsl = +0.0000 ± 0.1000: a tie." in told
    assert "overfits in none" in told


def test_one_fold_has_no_standard_error():
    assert "±" not in accuracy_verdicts(pd.DataFrame(fold(2, 0)))[1]


@pytest.mark.parametrize(("largest", "sign"), [((10, 30, 60), "+1.00"), ((60, 30, 10), "-1.00")])
def test_the_trade_off_between_experiments(largest, sign):
    sizes = zip((1, 2, 3), largest, (1.0, 2.0, 5.0), strict=True)
    table = pd.DataFrame(
        [
            line
            for number, size, seconds in sizes
            for line in fold(number, 0, largest=size, seconds=seconds)
        ]
    )
    saved, told = trade_off(table)
    assert f"Between the means of experiments it is {sign}." in told
    assert saved.startswith(
        "cdtl takes less time than cnl in 1: autos, symboling; 2: votes, physician_fee_freeze. It "
        "holds fewer rows"
    )


def test_the_summary_and_the_pictures_say_what_this_is_not(tmp_path):
    lines = [*fold(2, 0), *fold(2, 1, cdtl=6), *fold(4, 0), *fold(4, 1)]
    assert WARNING in summary(lines)
    write_pictures(lines, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(PICTURES)
