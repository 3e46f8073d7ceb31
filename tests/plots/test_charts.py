"""Box plots, heat maps, and what all pictures share."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from privet.errors import MissingDependency, ParameterError, PrivetError
from privet.plots import accuracy_over_epsilon, draw_terms, draw_tree, heatmap, save_figure
from privet.plots.style import FILLS, text_width
from tests.release.models import small_tree
from tests.release.scored import scored_model


def runs() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    lines = [
        (learner, epsilon, base + rng.normal(0, 0.02))
        for learner, base in (("greedy", 0.7), ("random-trees", 0.8))
        for epsilon in (math.inf, 0.1, 1.0)
        for _ in range(9)
    ]
    return pd.DataFrame(lines, columns=["learner", "epsilon", "accuracy"])


def medians(axes) -> list[tuple[float, float]]:
    """Where the thick black lines are."""
    lines = [
        line for line in axes.lines if line.get_color() == "black" and line.get_linewidth() == 1.8
    ]
    return sorted(
        (round(float(np.mean(line.get_xdata())), 3), float(line.get_ydata()[0])) for line in lines
    )


def test_boxes_stand_by_epsilon_with_infinity_at_the_right():
    table = runs()
    axes = accuracy_over_epsilon(table, majority=0.6, title="adult").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "1", "∞\n(no noise)"]
    expected = table.groupby(["epsilon", "learner"])["accuracy"].median()
    found = medians(axes)
    assert [x for x, _ in found] == pytest.approx([-0.2, 0.2, 0.8, 1.2, 1.8, 2.2])
    assert [y for _, y in found] == pytest.approx(list(expected))
    flat = [line for line in axes.lines if list(line.get_ydata()) == [0.6, 0.6]]
    assert [line.get_linestyle() for line in flat] == ["--"]


def test_the_key_names_learners_and_the_majority_line():
    table = runs()
    named = [
        text.get_text()
        for text in accuracy_over_epsilon(table, majority=0.6).legends[0].get_texts()
    ]
    assert named == ["greedy", "random-trees", "always the majority class"]
    assert len(accuracy_over_epsilon(table).legends[0].get_texts()) == 2


def test_a_learner_may_lack_an_epsilon_or_have_one_run():
    table = runs()
    table = table[~((table["learner"] == "greedy") & (table["epsilon"] == 0.1))]
    table = pd.concat([table, pd.DataFrame([("lone", 1.0, 0.5)], columns=table.columns)])
    assert len(medians(accuracy_over_epsilon(table).axes[0])) == 6


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (runs().drop(columns="learner"), "'learner' is missing"),
        (runs().iloc[:0], "at least one line"),
        (runs().assign(epsilon=0.0), "epsilon must be above zero"),
        (runs().assign(epsilon=math.nan), "epsilon must be above zero"),
        (runs().assign(accuracy=math.nan), "accuracy must be a finite number"),
    ],
)
def test_tables_that_cannot_be_drawn(table, message):
    with pytest.raises(ParameterError, match=message):
        accuracy_over_epsilon(table)


def grid() -> pd.DataFrame:
    lines = [
        (depth, trees, depth / 10 + trees / 1000 + shift)
        for depth in (2, 10, 4)
        for trees in (1, 100)
        for shift in (0, 0.02)
    ]
    return pd.DataFrame(lines, columns=["depth", "trees", "accuracy"])


def test_a_heat_map_shows_means_in_order():
    axes = heatmap(grid(), "depth", "trees", "accuracy").axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["2", "4", "10"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "100"]
    assert [text.get_text() for text in axes.texts] == [
        "0.211",
        "0.310",
        "0.411",
        "0.510",
        "1.011",
        "1.110",
    ]


def test_numbers_stand_out_from_their_grey():
    axes = heatmap(grid(), "depth", "trees", "accuracy").axes[0]
    for text in axes.texts:
        column, line = (round(value) for value in text.get_position())
        ink, paper = (
            luminance(colour)
            for colour in (
                text.get_color(),
                axes.collections[0].to_rgba(axes.collections[0].get_array()[line, column]),
            )
        )
        # as web pages must have it
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5


def test_a_pair_without_a_run_is_hatched():
    table = grid()
    table = table[~((table["depth"] == 4) & (table["trees"] == 100))]
    axes = heatmap(table, "depth", "trees", "accuracy").axes[0]
    assert [(patch.get_x(), patch.get_y()) for patch in axes.patches if patch.get_hatch()] == [
        (0.5, 0.5)
    ]
    assert len(axes.texts) == 5
    assert "hatched: no run" in axes.get_title(loc="left")


def test_one_cell_and_no_number():
    one = grid().iloc[:1]
    assert [
        text.get_text()
        for text in heatmap(one, "depth", "trees", "accuracy", digits=1).axes[0].texts
    ] == ["0.2"]
    with pytest.raises(ParameterError, match="at least one finite number"):
        heatmap(grid().assign(accuracy=math.nan), "depth", "trees", "accuracy")
    with pytest.raises(ParameterError, match="no column 'height'"):
        heatmap(grid(), "height", "trees", "accuracy")


# -- style and saving ------------------------------------------------------------------------------


def luminance(colour) -> float:
    """Of WCAG 2: how light a colour is."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in to_rgb(colour)
    ]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def test_fills_differ_in_grey():
    assert len({hatch for _, hatch in FILLS}) == len(FILLS)
    greys = [luminance(colour) for colour, _ in FILLS]
    for one, other in itertools.pairwise(greys):
        assert (max(one, other) + 0.05) / (min(one, other) + 0.05) > 1.25


def test_text_widths_are_those_of_the_picture():
    assert text_width("mmmm", 9) == pytest.approx(2 * text_width("mm", 9), rel=0.05)
    assert text_width("mm", 18) == pytest.approx(2 * text_width("mm", 9), rel=0.05)
    assert text_width("mm", 9, bold=True) > text_width("mm", 9)


@pytest.mark.parametrize(
    ("suffix", "start"),
    [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF"), ("SVG", b"<?xml")],
)
def test_saving_by_suffix_and_always_the_same(suffix, start, tmp_path):
    for name in ("a", "b"):
        save_figure(draw_tree(small_tree(), noise=1.0), tmp_path / f"{name}.{suffix}")
    one, other = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("a", "b"))
    assert one.startswith(start)
    assert one == other


def test_other_suffixes_are_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"must end in \.svg, \.png or \.pdf, got 'tree\.jpg'"):
        save_figure(draw_tree(small_tree()), tmp_path / "tree.jpg")
    with pytest.raises(PrivetError, match=r"cannot write .*: No such file"):
        save_figure(draw_tree(small_tree()), tmp_path / "no" / "tree.svg")
    assert not list(tmp_path.iterdir())


def test_without_matplotlib_the_error_has_the_install_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: draw_tree(small_tree()),
        lambda: draw_terms(scored_model()),
        lambda: accuracy_over_epsilon(runs()),
        lambda: heatmap(grid(), "depth", "trees", "a"),
    ):
        with pytest.raises(
            MissingDependency,
            match=r"plotting needs the package 'matplotlib': pip install 'privet\[plots\]'",
        ):
            draw()
