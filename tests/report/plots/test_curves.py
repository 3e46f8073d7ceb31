"""Curves of means over a parameter."""

from __future__ import annotations

import math

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.report.plots import save_figure
from privet.report.plots.curves import LINES, draw_curves

RUNS = [
    (series, at, base + shift)
    for series, base in (("one", 0.5), ("two", 0.7))
    for at in (4.0, 0.5)
    for shift in (0.0, 0.02, 0.1)
]


def curves(axes) -> list:
    return [box.lines for box in axes.containers]


def test_the_points_are_the_means_in_the_order_of_the_parameter():
    axes = draw_curves({"a": [*RUNS, ("two", 2.0, 0.3)]}, parameter="m", measure="accuracy").axes[0]
    one, two = (line for line, _, _ in curves(axes))
    assert one.get_ydata().tolist() == pytest.approx([0.54, 0.54])
    assert two.get_ydata().tolist() == pytest.approx([0.74, 0.3, 0.74])
    assert [round(x) for x in one.get_xdata()] == [0, 2]
    assert [round(x) for x in two.get_xdata()] == [0, 1, 2]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.5", "2", "4"]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title(loc="left")) == (
        "m",
        "accuracy",
        "a",
    )


def test_whiskers_are_one_standard_error_to_each_side():
    axes = draw_curves({"a": RUNS}, parameter="m", measure="accuracy").axes[0]
    low, high = curves(axes)[0][2][0].get_segments()[0][:, 1]
    error = np.std([0.0, 0.02, 0.1], ddof=1) / math.sqrt(3)
    assert (low, high) == (pytest.approx(0.54 - error), pytest.approx(0.54 + error))


def test_series_stand_apart_and_keep_their_style_in_every_panel():
    figure = draw_curves(
        {"a": RUNS, "b": [run for run in RUNS if run[0] == "two"], "c": RUNS},
        parameter="m",
        measure="accuracy",
    )
    first, second = figure.axes[:2]
    assert len(figure.axes) == 3
    assert curves(first)[1][0].get_marker() == curves(second)[0][0].get_marker() == LINES[1][1]
    assert curves(first)[0][0].get_xdata()[0] < curves(first)[1][0].get_xdata()[0]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["one", "two"]


def test_no_noise_stands_at_the_right_end_behind_a_line():
    axes = draw_curves(
        {"a": [("one", math.inf, 0.9), ("one", 5.0, 0.8), ("one", 1.0, 0.7)]},
        parameter="epsilon",
        measure="m",
    ).axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "5", "∞"]
    assert curves(axes)[0][0].get_ydata().tolist() == [0.7, 0.8, 0.9]
    assert [list(line.get_xdata()) for line in axes.lines if list(line.get_ydata()) == [0, 1]] == [
        [1.5, 1.5]
    ]


def test_title_and_key_do_not_overlap():
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = draw_curves(
        {"a": RUNS}, parameter="m", measure="accuracy", title="A title", caption="below"
    )
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    legend, axes = figure.legends[0], figure.axes[0]
    title, key = (
        legend.get_title().get_window_extent(),
        [text.get_window_extent() for text in legend.get_texts()],
    )
    assert legend.get_title().get_text() == "A title"
    assert all(text.y1 <= title.y0 for text in key)
    assert all(axes.title.get_window_extent().y1 <= text.y0 for text in key)


def test_styles_differ_in_marker_and_dash():
    assert (
        len({marker for _, marker, _ in LINES})
        == len({str(dash) for _, _, dash in LINES})
        == len(LINES)
    )


def test_the_file_is_the_same_every_time_and_a_dollar_is_a_dollar(tmp_path):
    for name in ("a.svg", "b.svg"):
        figure = draw_curves(
            {"$p$": [("$s$", 1.0, 0.5)]},
            parameter="$x$",
            measure="$y$",
            title="$t$",
            caption="what to see",
        )
        save_figure(figure, tmp_path / name)
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert "what to see" in (tmp_path / "a.svg").read_text()


@pytest.mark.parametrize(
    ("panels", "message"),
    [
        ({}, "at least one run"),
        ({"a": []}, "at least one run"),
        ({"a": [("s", 1.0, math.nan)]}, "finite number"),
        ({"a": [("s", 1.0, None)]}, "finite number"),
        ({"a": [("s", math.nan, 1.0)]}, "parameter must be a number"),
    ],
)
def test_runs_that_cannot_be_drawn(panels, message):
    with pytest.raises(ParameterError, match=message):
        draw_curves(panels, parameter="x", measure="y")
