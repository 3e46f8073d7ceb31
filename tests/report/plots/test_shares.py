"""Shares of two tables, side by side."""

from __future__ import annotations

import numpy as np
import pytest

from privet.errors import ParameterError
from privet.report.plots import draw_shares, save_figure
from privet.report.plots.shares import MAX_LISTED

LABELS = ("x", "y", "z")
ONE, TWO = np.array([0.2, 0.3, 0.5]), np.array([0.25, 0.8, -0.05])


def test_bars_are_the_shares():
    (axes,) = draw_shares({"a": (LABELS, ONE, TWO, 0.0)}, names=("first", "second")).axes
    first, second = axes.containers
    assert [bar.get_width() for bar in first] == pytest.approx(ONE)
    # noise may take a share below zero
    assert [bar.get_width() for bar in second] == pytest.approx([0.25, 0.8, 0.0])
    assert [text.get_text() for text in axes.get_yticklabels()] == list(LABELS)
    assert axes.get_xlim()[0] == 0
    low, high = axes.get_ylim()
    assert low > high  # the first value on top


def test_whiskers_are_two_deviations():
    (axes,) = draw_shares({"a": (LABELS, ONE, TWO, 0.1)}, names=("first", "second")).axes
    (lines,) = axes.containers[-1][2]
    spans = [segment[:, 0] for segment in lines.get_segments()]
    assert [high - low for low, high in spans] == pytest.approx([0.4] * 3)


def test_a_panel_for_each_attribute():
    figure = draw_shares(
        {f"a{i}": (LABELS, ONE, TWO, 0.1) for i in range(6)}, names=("first", "second")
    )
    assert [axes.get_title(loc="left") for axes in figure.axes] == [f"a{i}" for i in range(6)]
    assert figure.get_figwidth() < 4.5  # a phone
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["first", "second"]


def test_of_many_values_some_are_named():
    labels = tuple(f"v{i}" for i in range(100))
    (axes,) = draw_shares(
        {"a": (labels, np.full(100, 0.01), np.full(100, 0.01), 0.0)}, names=("first", "second")
    ).axes
    named = [text.get_text() for text in axes.get_yticklabels()]
    assert named == [f"v{i}" for i in range(0, 100, 5)]
    assert len(named) <= MAX_LISTED


@pytest.mark.parametrize(
    "text", ["$\\frac$", "$a_{", "two\nlines", "\u202eback", "_x^2_", "%s {}", "a" * 200]
)
def test_any_text_is_drawn_as_it_is(text, tmp_path):
    figure = draw_shares(
        {text: ((text,), np.ones(1), np.ones(1), 0.1)},
        names=(text, "_second"),
        title=text,
        caption=text,
    )
    save_figure(figure, tmp_path / "p.png", dpi=30)
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    assert "\u202e" not in figure.axes[0].get_yticklabels()[0].get_text()


def test_whiskers_are_drawn_where_they_can_be_seen():
    (axes,) = draw_shares({"a": (LABELS, ONE, TWO, 0.004)}, names=("first", "second")).axes
    assert len(axes.containers) == 2


def test_labels_are_not_cut():
    label = "a household of two adults and three children"
    (axes,) = draw_shares(
        {"a": ((label,), np.ones(1), np.ones(1), 0.0)}, names=("first", "second")
    ).axes
    (shown,) = axes.get_yticklabels()
    assert shown.get_text().replace("\n", " ") == label


def test_nothing_to_draw():
    with pytest.raises(ParameterError, match="at least one panel"):
        draw_shares({}, names=("first", "second"))
