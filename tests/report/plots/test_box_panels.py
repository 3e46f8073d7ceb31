"""Box plots in panels, with lines over them."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.report.plots.boxes import Panel, draw_box_panels

BOXES = [("0", 0.9), ("0", 0.8), ("0", 0.1), ("10", 0.5), ("10", 0.7)]
LINE = [("10", 0.2), ("10", 0.4), ("0", 0.6)]


def drawn(**more):
    panels = {
        "(a) one": Panel(BOXES, {"ours": LINE}),
        "(b) two": Panel([], {"ours": LINE, "theirs": [("5", 0.3)]}),
    }
    return draw_box_panels(
        panels,
        places=["0", "5", "10"],
        parameter="1/epsilon",
        measure="accuracy",
        title="Nursery",
        **more,
    )


def test_whiskers_reach_from_the_least_to_the_largest():
    axes = drawn().axes[0]
    reach = sorted({float(y) for line in axes.lines for y in line.get_ydata()})
    assert (reach[0], reach[-1]) == (0.1, 0.9)
    (box, other) = axes.patches
    corners = box.get_path().vertices
    assert corners[:, 1].min() == pytest.approx(np.percentile([0.9, 0.8, 0.1], 25))
    assert other.get_path().vertices[:, 0].mean() == pytest.approx(2, abs=0.2)


def test_lines_are_means_at_their_places_and_keep_their_style():
    first, second = drawn().axes
    ours = next(line for line in first.lines if line.get_marker() == "s")
    assert list(ours.get_xdata()) == [0, 2]
    assert list(ours.get_ydata()) == pytest.approx([0.6, 0.3])
    assert [line.get_marker() for line in second.lines if len(line.get_xdata())] == ["s", "^"]
    assert [label.get_text() for label in first.get_xticklabels()] == ["0", "5", "10"]


def test_key_and_level():
    figure = drawn(level=(0.33, "most frequent"), caption="below")
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[1:] == ["ours", "theirs", "most frequent"]
    assert all(
        any(list(line.get_ydata()) == [0.33, 0.33] for line in axes.lines) for axes in figure.axes
    )


@pytest.mark.parametrize(
    "panels",
    [
        {},
        {"a": Panel([], {})},
        {"a": Panel([("7", 0.5)], {})},
        {"a": Panel([("0", float("nan"))], {})},
    ],
)
def test_what_cannot_be_drawn(panels):
    with pytest.raises(ParameterError, match="draw_box_panels"):
        draw_box_panels(panels, places=["0"], parameter="", measure="")
