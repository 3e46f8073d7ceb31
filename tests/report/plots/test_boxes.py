"""Box plots by place and series."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.report.plots import save_figure
from privet.report.plots.boxes import draw_boxes

RUNS = [
    (place, series, base + shift)
    for place, base in (("2: b", 0.5), ("1: a", 0.7))
    for series, more in (("one", 0.0), ("two", 0.1))
    for shift in (more, more + 0.01, more + 0.08)
]


def dots(axes) -> list[tuple[float, float]]:
    lines = [
        line
        for line in axes.lines
        if line.get_marker() == "o" and line.get_markerfacecolor() == "black"
    ]
    return sorted(
        (round(float(x), 3), float(y))
        for line in lines
        for x, y in zip(*line.get_data(), strict=True)
    )


def test_places_and_series_stand_in_the_order_in_which_they_come():
    figure = draw_boxes(RUNS, measure="share")
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2: b", "1: a"]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two", "mean"]
    assert axes.get_ylabel() == "share"


def test_the_dots_are_the_means_and_the_lines_the_medians():
    axes = draw_boxes(RUNS, measure="share").axes[0]
    assert [x for x, _ in dots(axes)] == [-0.2, 0.2, 0.8, 1.2]
    assert [y for _, y in dots(axes)] == pytest.approx([0.53, 0.63, 0.73, 0.83])
    thick = [
        line for line in axes.lines if line.get_color() == "black" and line.get_linewidth() == 1.8
    ]
    medians = sorted(
        (float(np.mean(line.get_xdata())), float(line.get_ydata()[0])) for line in thick
    )
    assert [y for _, y in medians] == pytest.approx([0.51, 0.61, 0.71, 0.81])


def test_a_level_is_drawn_and_named():
    figure = draw_boxes(RUNS, measure="share", level=(1.0, "as much"))
    flat = [line for line in figure.axes[0].lines if list(line.get_ydata()) == [1.0, 1.0]]
    assert [line.get_linestyle() for line in flat] == ["--"]
    assert figure.legends[0].get_texts()[-1].get_text() == "as much"
    assert figure.axes[0].get_ylim()[0] == 0


def test_a_series_may_lack_a_place():
    assert len(dots(draw_boxes([*RUNS, ("1: a", "three", 0.4)], measure="share").axes[0])) == 5


def test_the_caption_is_in_the_file_and_the_file_is_the_same_every_time(tmp_path):
    for name in ("a.svg", "b.svg"):
        save_figure(
            draw_boxes(
                [("x\n$_", "$y$", 1.0)], measure="m", title="$t", caption="not differential privacy"
            ),
            tmp_path / name,
        )
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "not differential privacy" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([], "at least one run"),
        ([("a", "b", math.nan)], "finite number"),
        ([("a", "b", None)], "finite number"),
    ],
)
def test_runs_that_cannot_be_drawn(runs, message):
    with pytest.raises(ParameterError, match=message):
        draw_boxes(runs, measure="share")
