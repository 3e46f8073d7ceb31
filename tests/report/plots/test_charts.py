"""Accuracy over epsilon, heat maps, and what all pictures share."""

from __future__ import annotations

import itertools
import math
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb

from privet.errors import MissingDependency, ParameterError, PrivetError
from privet.report.plots import accuracy_over_epsilon, draw_terms, draw_tree, heatmap, save_figure
from privet.report.plots.style import FILLS, text_width
from tests.report.models import small_tree
from tests.report.scored import scored_model


def runs() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    lines = [
        (learner, epsilon, base + rng.normal(0, 0.02))
        for learner, base in (("greedy", 0.7), ("random-trees", 0.8))
        for epsilon in (math.inf, 0.1, 1.0)
        for _ in range(9)
    ]
    return pd.DataFrame(lines, columns=["learner", "epsilon", "accuracy"])


def curves(axes) -> dict[str, list[tuple[float, float, float, float]]]:
    """For each marker: place, mean and both whisker ends of its dots, from left to right."""
    found = {}
    for line, _, (whiskers,) in axes.containers:
        ends = [sorted(segment[:, 1]) for segment in whiskers.get_segments()]
        assert [segment[0, 0] for segment in whiskers.get_segments()] == list(line.get_xdata())
        found[line.get_marker()] = [
            (float(x), float(y), *map(float, end))
            for x, y, end in zip(line.get_xdata(), line.get_ydata(), ends, strict=True)
        ]
    return found


def dashed(axes) -> list[float]:
    """The accuracy at each dashed line from side to side."""
    return [line.get_ydata()[0] for line in axes.lines if list(line.get_xdata()) == [0, 1]]


def leaders(axes) -> list[tuple[list[float], list[float]]]:
    """The lines from dots to labels, in shares of the axes."""
    return [
        (list(line.get_xdata()), list(line.get_ydata()))
        for line in axes.lines
        if line.get_label() == "_leader"
    ]


def test_dots_are_means_and_whiskers_go_from_the_lowest_to_the_highest_run():
    table = runs()
    axes = accuracy_over_epsilon(table, majority=0.6, title="adult").axes[0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0.1", "1", "∞\n(no noise)"]
    for learner, (dots, shift) in zip(
        ("greedy", "random-trees"),
        zip(curves(axes).values(), (-0.06, 0.06), strict=True),
        strict=True,
    ):
        by_epsilon = table[table["learner"] == learner].groupby("epsilon")["accuracy"]
        expected = by_epsilon.agg(["mean", "min", "max"])
        assert [x for x, *_ in dots] == pytest.approx([shift, 1 + shift, 2 + shift])
        assert np.array(dots)[:, 1:] == pytest.approx(expected.to_numpy())
    assert dashed(axes) == [0.6]


def test_the_caption_says_what_whiskers_are_and_how_many_runs_there_were():
    table = runs()
    captions = [
        accuracy_over_epsilon(runs_of).texts[0].get_text()
        for runs_of in (table, table.iloc[1:], table.drop_duplicates(["learner", "epsilon"]))
    ]
    assert captions == [
        "Dots: mean of 9 runs. Whiskers: lowest to highest run.",
        "Dots: mean of up to 9 runs. Whiskers: lowest to highest run.",
        "Each dot is one run.",
    ]


def test_labels_stand_where_the_lines_end():
    table = runs()
    axes = accuracy_over_epsilon(table, majority=0.6).axes[0]
    low, high = axes.get_ylim()
    ends = table[table["epsilon"] == math.inf].groupby("learner")["accuracy"].mean()
    wanted = {
        "random-trees": ends["random-trees"],
        "greedy": ends["greedy"],
        "always the majority class": 0.6,
    }
    assert [text.get_text() for text in axes.texts] == list(wanted)
    heights = [low + text.get_position()[1] * (high - low) for text in axes.texts]
    assert heights == pytest.approx(list(wanted.values()))
    assert all(text.get_position()[0] > 1 for text in axes.texts), "beside the axes"
    assert axes.figure.legends == []
    assert len(accuracy_over_epsilon(table).axes[0].texts) == 2


def test_leaders_join_each_line_with_its_label():
    table = runs()
    early = table[(table["learner"] == "greedy") | (table["epsilon"] < 1)]
    axes = accuracy_over_epsilon(early).axes[0]
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    dots = curves(axes)
    by_label = dict(zip((text.get_text() for text in axes.texts), leaders(axes), strict=True))
    for marker, name, count in (("o", "greedy", 3), ("s", "random-trees", 1)):
        assert len(dots[marker]) == count
        x, y, *_ = dots[marker][-1]
        (start, _, _), (level, _, end) = by_label[name]
        assert left + start * (right - left) == pytest.approx(x)
        assert low + level * (high - low) == pytest.approx(y)
        (text,) = (text for text in axes.texts if text.get_text() == name)
        assert text.get_position()[1] == pytest.approx(end)


LONG = "a forest of two hundred disjoint trees of height four with $shrinkage$, tuned elsewhere"


@pytest.mark.parametrize("learners", [2, 5, 8])
@pytest.mark.parametrize("epsilons", [1, 6])
@pytest.mark.parametrize("apart", [0.0, 0.001, 0.1])
@pytest.mark.parametrize("name", ["tree", LONG])
def test_no_label_overlaps_another_or_leaves_the_picture(learners, epsilons, apart, name):
    table = pd.DataFrame(
        [
            (f"{number} {name}", 0.1 * 2**step, 0.9 - apart * number)
            for number in range(learners)
            for step in range(epsilons)
        ],
        columns=["learner", "epsilon", "accuracy"],
    )
    figure = accuracy_over_epsilon(table, majority=0.9 - apart / 2, title=f"{name} " * 3)
    figure.draw_without_rendering()
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    # Matplotlib also makes ticks beyond the axis, which it does not show.
    at_y = [text for text in axes.get_yticklabels() if low <= text.get_position()[1] <= high]
    words = [*figure.texts, axes.xaxis.label, axes.yaxis.label, *axes.get_xticklabels(), *at_y]
    boxes = [text.get_window_extent() for text in (*axes.texts, *words)]
    assert len(axes.texts) == learners + 1
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1


def test_long_names_have_three_lines_at_most_and_dollars_stay():
    table = runs().replace({"greedy": "costs $1$ or $2$", "random-trees": LONG})
    long, short = accuracy_over_epsilon(table).axes[0].texts
    assert short.get_text() == "costs $1$ or $2$"
    assert not short.get_parse_math()
    *lines, last = long.get_text().split("\n")
    assert len(lines) == 2
    assert LONG.startswith(" ".join([*lines, last.removesuffix(" …")]))
    assert last.endswith(" …")


@pytest.mark.parametrize(
    ("majority", "label"),
    [(0.1, "↓ majority class: 0.100"), (1.6, "↑ majority class: 1.600")],
)
def test_a_majority_far_away_is_written_and_does_not_press_the_dots_together(majority, label):
    table = runs()
    axes = accuracy_over_epsilon(table, majority=majority).axes[0]
    assert label in [text.get_text() for text in axes.texts]
    assert dashed(axes) == []
    low, high = axes.get_ylim()
    assert table["accuracy"].max() - table["accuracy"].min() > 0.8 * (high - low)


def test_equal_runs_get_an_axis_that_does_not_magnify_nothing():
    axes = accuracy_over_epsilon(runs().assign(accuracy=0.7)).axes[0]
    assert axes.get_ylim() == pytest.approx((0.65, 0.75))
    assert all(
        end == pytest.approx((y, y)) for dots in curves(axes).values() for _, y, *end in dots
    )


def test_eight_learners_have_eight_markers_and_the_labels_show_them():
    table = pd.DataFrame(
        [(f"tree {number}", 1.0, 0.9 - number / 20) for number in range(8)],
        columns=["learner", "epsilon", "accuracy"],
    )
    axes = accuracy_over_epsilon(table).axes[0]
    markers = list(curves(axes))
    assert len(markers) == 8
    samples = [line.get_marker() for line in axes.lines if line.get_label() == "_sample"]
    assert samples == markers


def test_a_learner_may_lack_an_epsilon_or_have_one_run():
    table = runs()
    table = table[~((table["learner"] == "greedy") & (table["epsilon"] == 0.1))]
    table = pd.concat([table, pd.DataFrame([("lone", 1.0, 0.5)], columns=table.columns)])
    dots = curves(accuracy_over_epsilon(table).axes[0])
    assert [len(of_learner) for of_learner in dots.values()] == [2, 3, 1]
    assert dots["^"] == [pytest.approx((1 + 0.12, 0.5, 0.5, 0.5))]


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
