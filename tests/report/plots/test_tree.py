"""Pictures of trees: what is in them, and that nothing overlaps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.patches import Rectangle

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.report.plots import draw_tree
from privet.report.plots.layout import (
    LENGTH,
    branch_label,
    choose_opened_nodes,
    compute_bar_shares,
    groups_of,
    lay_out_columns,
    legend_lines,
    place_nodes,
)
from privet.report.plots.style import text_width
from tests.report.models import SCHEMA, random_model, small_tree

WIDE = Schema(
    {
        "a very long attribute name that goes on": Categorical(
            [f"a long value {i} $x$ & <b>" for i in range(12)]
        ),
        "n": Numeric(0, 1),
    },
    "t",
    [f"class number {i}" for i in range(9)],
)


def wide_tree() -> Tree:
    cells = Cells.everything(WIDE).refine(
        {0: Split(WIDE.names[0], tuple(i % 3 for i in range(12)))}
    )
    cells = cells.refine(
        {0: Split.threshold(WIDE, "n", code=5), 1: Split("n", tuple(i % 2 for i in range(16)))}
    )
    return Tree.from_leaves(cells, np.random.default_rng(0).integers(-5, 300, (len(cells), 9)))


def texts(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts]


def boxes_of_texts(figure) -> dict:
    renderer = FigureCanvasAgg(figure).get_renderer()
    return {text: text.get_window_extent(renderer) for text in figure.axes[0].texts}


def trees() -> list[Tree]:
    randoms = [tree for seed in range(12) for tree in random_model(seed).trees]
    return [
        small_tree(),
        wide_tree(),
        Tree(Cells.everything(SCHEMA), np.array([[3.0, 1, 0]])),
        *randoms[:20],
    ]


@pytest.mark.parametrize("number", range(len(trees())))
def test_no_text_overlaps_another_or_leaves_the_picture(number):
    tree = trees()[number]
    if len(tree.leaves) > 60:
        pytest.skip("too large to draw")
    figure = draw_tree(
        tree,
        noise=3.0,
        title="A title that is rather long, for a picture of a tree",
        footer="so it is promised " * 12,
    )
    whole = figure.bbox
    placed = boxes_of_texts(figure)
    for text, box in placed.items():
        assert box.x0 >= 0, text
        assert box.x1 <= whole.x1, text
        assert box.y0 >= 0, text
        assert box.y1 <= whole.y1, text
    for (one, a), (other, b) in itertools.combinations(placed.items(), 2):
        # Half a point apart is apart: extents hold the room for accents.
        apart = a.x1 <= b.x0 + 0.5 or b.x1 <= a.x0 + 0.5 or a.y1 <= b.y0 + 1.5 or b.y1 <= a.y0 + 1.5
        assert apart, (one.get_text(), other.get_text())


def test_what_the_picture_says():
    said = texts(
        draw_tree(small_tree(), noise=2.0, title="my tree", footer="1-differentially private")
    )
    for text in (
        "my tree",
        "form",
        "age",
        "income",
        "complete",
        "< 40",
        ">= 40",
        "not told",
        "1-differentially private",
    ):
        assert text in said
    assert "yes" in said  # the legend
    assert [text for text in said if text.startswith("yes ")] == ["yes 92%", "yes 97%"]
    # of a leaf that may be empty, no chance is said
    assert "n = 1.10 ± 6.9, not distinguishable from noise" in said
    assert "The more people take a branch" in " ".join(said)
    assert "n = 48 ± 6.9" in said  # 2 * 2 * sqrt(3 classes)
    assert any(text.startswith("Whiskers") for text in said)


def test_without_noise_there_are_no_whiskers():
    quiet, noisy = (draw_tree(small_tree(), noise=noise) for noise in (0.0, 2.0))
    assert not any("±" in text or "Whiskers" in text for text in texts(quiet))
    # a rim and a line per bar
    assert len(noisy.axes[0].lines) == len(quiet.axes[0].lines) + 2 * 6 * 3


def test_bars_are_as_long_as_their_shares():
    figure = draw_tree(small_tree())
    # the legend has three
    bars = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)][3:]
    widths = np.array([bar.get_width() for bar in bars]).reshape(6, 3) / LENGTH
    assert widths[0] == pytest.approx([40 / 48, 7 / 48, 1 / 48])
    assert widths[4] == pytest.approx([0, 30 / 31, 1 / 31])  # -4 counts as nothing
    assert [bar.get_hatch() or "" for bar in bars[:3]] == ["", "///", "..."]


def test_shares_and_whiskers():
    groups = [("a", [0]), ("b", [1]), ("c and d", [2, 3])]
    parts = compute_bar_shares(np.array([60.0, 20.0, 15.0, 5.0]), groups, 4.0)
    assert [part[0] for part in parts] == pytest.approx([0.6, 0.2, 0.2])
    assert parts[0][1:] == pytest.approx((0.52, 0.68))
    assert parts[2][1:] == pytest.approx((0.2 - 0.08 * 2**0.5, 0.2 + 0.08 * 2**0.5))
    assert compute_bar_shares(np.array([-1.0, 0, 0, -2]), groups, 1.0) == [
        (0.25, 0, 1),
        (0.25, 0, 1),
        (0.5, 0, 1),
    ]
    assert compute_bar_shares(np.array([1.0, 0, 0, 0]), groups, 100.0)[0] == (1.0, 0.0, 1.0)


def test_the_top_of_a_tree_sums_up_what_is_below():
    said = texts(draw_tree(small_tree(), noise=2.0, max_depth=1))
    assert "n = 114.50 ± 9.8, 2 leaves below" in said  # 2 * 2 * sqrt(3 classes * 2 leaves)
    assert "n = 33 ± 6.9" in said
    assert "age" not in said


def test_many_classes_share_a_bar():
    groups = groups_of(WIDE, wide_tree().counts[0])
    assert len(groups) == 5
    assert groups[-1][0] == "5 other classes"
    assert sorted(position for _, members in groups for position in members) == list(range(9))
    root = wide_tree().counts[0]
    assert (
        min(root[position] for _, members in groups[:-1] for position in members)
        >= root[groups[-1][1]].max()
    )


def test_a_dollar_sign_is_no_formula():
    figure = draw_tree(wide_tree(), title="$x$")
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)


def test_too_many_leaves_are_summed_up_from_the_bottom():
    schema = Schema({name: Categorical(list("abcdefgh")) for name in "xyz"}, "t", ["n", "y"])
    cells = Cells.everything(schema)
    for name, first in (("x", 1), ("y", 6), ("z", 48)):
        cells = cells.refine({cell: Split.multiway(schema, name) for cell in range(first)})
    tree = Tree.from_leaves(cells, np.ones((len(cells), 2)))
    for most, drawn in ((1, 1), (7, 1), (8, 8), (40, 36), (60, 57), (1000, len(tree.leaves))):
        nodes = place_nodes(tree, None, most)
        assert sum(not placed.test for placed in nodes) == drawn
        deepest = max((placed.depth for placed in nodes if placed.test), default=-1)
        # no level before the one above it is done
        assert all(placed.depth >= deepest for placed in nodes if placed.cut)
    assert texts(draw_tree(tree, max_leaves=40)).count("n = 16, 8 leaves below") == 32
    for wrong in (0, 1001):
        with pytest.raises(ParameterError, match="max_leaves must be an integer from 1 to 1000"):
            draw_tree(tree, max_leaves=wrong)


def test_what_more_of_the_domain_reaches_is_drawn_first_but_no_deeper_level_before_the_one_above():
    schema = Schema(
        {
            "x": Categorical(list("abcdefgh")),
            "y": Categorical(["u", "v"]),
            "z": Categorical(["u", "v"]),
        },
        "t",
        ["n", "y"],
    )
    # an eighth, and seven
    cells = Cells.everything(schema).refine({0: Split("x", (0, 1, 1, 1, 1, 1, 1, 1))})
    cells = cells.refine({0: Split.multiway(schema, "y"), 1: Split.multiway(schema, "y")})
    cells = cells.refine({cell: Split.multiway(schema, "z") for cell in range(4)})
    tree = Tree.from_leaves(cells, np.ones((8, 2)))
    assert [sorted(choose_opened_nodes(tree, None, most)) for most in (2, 3, 4, 5)] == [
        [0],
        [0, 2],
        [0, 1, 2],
        [0, 1, 2, 5],
    ]
    assert choose_opened_nodes(tree, 1, 40) == {0}


def test_layout_columns_do_not_meet():
    nodes = place_nodes(wide_tree(), None, 40)
    place = lay_out_columns(nodes, 0.2)
    assert place.starts[0] + place.widths[0] < place.starts[1]
    assert place.starts[1] + place.widths[1] < place.end
    assert [placed.line for placed in place.leaves] == [0, 1, 2, 3, 4]
    assert nodes[0].line == nodes[0].children[0].line == 0  # at the top left


def test_branch_labels_are_short_and_say_what_is_left_out():
    attribute = WIDE.attributes[WIDE.names[0]]
    assert branch_label(attribute, (0, 3, 6, 9)) == "a long value 0…, … (3 more)"
    assert branch_label(Categorical(["a", "b", "c"]), (0, 2)) == "a, c"
    for codes in [(0,), (0, 1), tuple(range(12))]:
        assert len(branch_label(attribute, codes)) <= 32


def test_the_legend_breaks_its_lines():
    names = ["one", "two", "three", "a rather long name of a class"]
    assert legend_lines(names, 100) == [[0, 1, 2, 3]]
    broken = legend_lines(names, 2.0)
    assert [number for line in broken for number in line] == [0, 1, 2, 3]
    assert len(broken) > 1
    for line in broken[:-1]:
        assert sum(text_width(names[number], 7.5) + 0.55 for number in line) <= 2.0
