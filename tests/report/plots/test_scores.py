"""Pictures of drawn trees and of additive terms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, Rectangle

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.model.population import Population
from privet.report.plots import draw_terms, draw_tree
from privet.report.plots.style import FILLS, ink_on
from tests.report.models import SCHEMA, small_model, statement
from tests.report.plots.test_charts import luminance
from tests.report.plots.test_tree import WIDE, boxes_of_texts, texts
from tests.report.scored import drawn_tree, labelled, scored_model, small_drawn, term

TWO = Schema(
    {"age": Numeric(0, 40, bins=4), "word": Categorical([f"w{i}" for i in range(30)])},
    "t",
    ["no", "yes"],
)


def two_classes(*scores: float) -> np.ndarray:
    return np.array([[-score / 2, score / 2] for score in scores])


def terms_of_two(**changes):
    words = term(TWO, "word", two_classes(*(0.1 * i for i in range(30))))
    trees = (term(TWO, "age", two_classes(1.5, -0.5, 0, 0.25)), words)
    return small_model(TWO, trees=trees, combine="scores", privacy=statement(TWO), **changes)


def apart(figure) -> None:
    """No text overlaps another or leaves the picture."""
    placed = boxes_of_texts(figure)
    for text, box in placed.items():
        assert box.x0 >= 0, text
        assert box.x1 <= figure.bbox.x1, text
        assert box.y0 >= 0, text
        assert box.y1 <= figure.bbox.y1, text
    for (one, a), (other, b) in itertools.combinations(placed.items(), 2):
        free = a.x1 <= b.x0 + 0.5 or b.x1 <= a.x0 + 0.5 or a.y1 <= b.y0 + 1.5 or b.y1 <= a.y0 + 1.5
        assert free, (one.get_text(), other.get_text())


def chips(figure) -> list[str]:
    """The fills of the boxes."""
    return [
        to_hex(patch.get_facecolor())
        for patch in figure.axes[0].patches
        if isinstance(patch, FancyBboxPatch)
    ]


# -- drawn trees -----------------------------------------------------------------------------------


def test_a_drawn_tree_says_classes_in_their_colours_with_the_promise_beneath():
    figure = draw_tree(
        small_drawn(), scores=True, title="my tree", footer="1-differentially private"
    )
    said = texts(figure)
    for text in (
        "my tree",
        "form",
        "colour",
        "not blue",
        "blue",
        "incomplete, foster",
        "wait",
        "no",
        "yes",
    ):
        assert said.count(text) == 1, text
    assert "age" not in said  # all its leaves agree
    assert not any("n =" in text or "%" in text for text in said)
    assert chips(figure) == ["#ffffff", "#ffffff", FILLS[2][0], FILLS[0][0], FILLS[1][0]]
    from_above = [
        text.get_text()
        for text in sorted(figure.axes[0].texts, key=lambda text: text.get_position()[1])
    ]
    promise = from_above.index("1-differentially private")
    assert promise > from_above.index("yes")
    assert from_above[promise + 1].startswith("Each leaf says a class; it holds no count.")


def test_a_drawn_tree_as_a_whole():
    said = texts(draw_tree(small_drawn(), scores=True, whole=True))
    assert said.count("yes") == 3
    assert "age" in said


@pytest.mark.parametrize("seed", range(20))
def test_no_text_overlaps_in_a_drawn_tree(seed):
    rng = np.random.default_rng(seed)
    tree = drawn_tree(rng, WIDE if seed % 2 else SCHEMA, depth=4, chance=0.9)
    apart(
        draw_tree(
            tree,
            scores=True,
            title="A title that is rather long, for a picture",
            footer="promised " * 30,
            max_leaves=30,
        )
    )


def test_a_wide_deep_tree_is_cut_with_marks_that_add_up():
    """Eight attributes of two to five values, seven tests deep, no two neighbours alike."""
    schema = Schema(
        {f"a{i}": Categorical([f"v{j}" for j in range(2 + i % 4)]) for i in range(8)},
        "class",
        ["n", "p", "q"],
    )
    cells = Cells.everything(schema)
    for level in range(5):
        cells = cells.refine(
            {cell: Split.multiway(schema, f"a{level}") for cell in range(len(cells))}
        )
    labels = np.zeros(cells.attribute.size, dtype=int)
    for node in range(1, len(labels)):
        labels[node] = (node - np.flatnonzero(cells.parents == cells.parents[node])[0]) % 2
    tree = labelled(cells, labels)
    for most in (1, 10, 40, 200):
        figure = draw_tree(tree, scores=True, whole=True, max_leaves=most)
        said = texts(figure)
        marked = [int(text.split()[1]) for text in said if text.startswith("…")]
        single = sum(text in ("n", "p", "q") for text in said)
        assert len(marked) + single <= most
        assert sum(marked) + single == len(tree.leaves)
        assert any("Dashed" in text for text in said)
    assert not any("Dashed" in text for text in texts(draw_tree(small_drawn(), scores=True)))


def test_leaves_that_are_not_drawn_say_what_most_of_them_say():
    """By how many people get there, not by how many leaves there are."""
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Categorical(["u", "v", "w"])}, "class", ["n", "p"]
    )
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
    cells = cells.refine({0: Split.multiway(schema, "b"), 1: Split.multiway(schema, "b")})
    scores = np.zeros((cells.attribute.size, 2))
    leaves = np.flatnonzero(cells.attribute < 0)
    scores[leaves, [0, 1, 1, 0, 1, 0]] = np.log(3)  # three to one
    people = Population({"a": np.array([0.5, 0.5]), "b": np.array([0.8, 0.1, 0.1])}, 0.0)
    for kind, by_people, by_domain in (
        ("drawn", ["n 80%", "n 90%"], ["p 67%", "n 67%"]),
        ("calibrated", ["n 65%", "n 70%"], ["p 58%", "n 58%"]),
    ):
        tree = Tree(cells, scores, kind)
        for who, expected in ((people, by_people), (None, by_domain)):
            figure = draw_tree(tree, scores=True, whole=True, max_leaves=2, people=who)
            chips = [text for text in texts(figure) if text.startswith("…")]
            assert chips == [f"… 3 leaves: {part}" for part in expected]
    whole = texts(draw_tree(Tree(cells, scores, "calibrated"), scores=True, whole=True))
    assert {"n 75%", "p 75%"} <= set(whole)
    assert any("how likely it is by this tree" in text for text in whole)


def test_a_tree_that_did_not_split():
    assert "yes" in texts(draw_tree(labelled(Cells.everything(SCHEMA), [1]), scores=True))


def test_other_trees_of_scores_are_drawn_as_probabilities():
    tree = Tree(small_drawn().cells, np.log(np.arange(1.0, 25).reshape(8, 3)))
    figure = draw_tree(tree, scores=True)
    bars = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)][3:6]
    assert [bar.get_width() / 1.7 for bar in bars] == pytest.approx([13 / 42, 14 / 42, 15 / 42])
    assert not any("n =" in text for text in texts(figure))


def test_ink_stands_out_from_every_fill():
    for colour, _ in FILLS:
        ink, paper = luminance(ink_on(colour)), luminance(colour)
        # as web pages must have it
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 4.5


# -- additive terms --------------------------------------------------------------------------------


def bars_of(figure, n_legend: int) -> list[tuple[float, str]]:
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)][n_legend:]
    return [(round(patch.get_width(), 4), to_hex(patch.get_facecolor())) for patch in patches]


def test_two_classes_have_one_bar_that_points_to_its_class():
    figure = draw_terms(terms_of_two(), title="scores", max_values=16)
    found = bars_of(figure, 2)[-4:]  # the attribute with the narrower scores stands last
    # of 0.9 inches for a score of 3
    assert [width for width, _ in found] == pytest.approx([0.45, -0.15, 0, 0.075])
    assert [colour for _, colour in found] == [FILLS[1][0], FILLS[0][0], FILLS[0][0], FILLS[1][0]]
    said = texts(figure)
    for text in (
        "scores",
        "age",
        "word",
        "< 10",
        "10 to 20",
        "w29",
        "w14",
        "… 14 more, nearer to 0",
        "+3",
        "-3",
        "no",
        "yes",
    ):
        assert text in said
    assert "w13" not in said
    assert "0.833334-differentially private with one row added or removed" in said
    assert any("points to the class that it speaks for" in text for text in said)
    apart(figure)


def test_neighbouring_bins_with_like_scores_share_a_bar():
    schema = Schema({"age": Numeric(0, 100, bins=100, missing="none")}, "y", ["no", "yes"])
    scores = [1.0] * 30 + [-2.0] * 70 + [1.5]
    trees = (term(schema, "age", two_classes(*scores)),)
    model = small_model(schema, trees=trees, combine="scores", privacy=statement(schema))
    figure = draw_terms(model, max_values=3)
    said = texts(figure)
    assert [text for text in said if text in ("< 30", ">= 30", "none")] == ["< 30", ">= 30", "none"]
    assert not any("nearer to 0" in text for text in said)
    assert any("share a bar" in text for text in said)
    widths = [width for width, _ in bars_of(figure, 2)]
    assert widths == pytest.approx([0.45, -0.9, 0.675])  # 0.9 inches for a score of 2


def test_more_classes_have_a_bar_each_and_a_constant_has_a_panel():
    figure = draw_terms(scored_model())
    found = [width for width, _ in bars_of(figure, 3)]
    assert found[:3] == pytest.approx([0.12, -0.06, -0.06])  # every row; 0.9 inches for 1.5
    assert found[3:6] == pytest.approx([0.3, -0.15, -0.15])
    assert [colour for _, colour in bars_of(figure, 3)][:3] == [FILLS[i][0] for i in range(3)]
    assert "every row" in texts(figure)
    apart(figure)


def test_a_constant_on_all_classes_moves_no_bar():
    model = scored_model()
    lifted = tuple(
        Tree(tree.cells, tree.counts + (tree.cells.attribute < 0)[:, None], tree.kind)
        for tree in model.trees[1:]
    )
    assert bars_of(draw_terms(scored_model(trees=lifted)), 3) == bars_of(draw_terms(model), 3)


def test_many_attributes_and_many_classes_are_cut_in_words():
    schema = Schema(
        {f"a{i}": Categorical(["x", "y"]) for i in range(30)}, "t", [f"c{i}" for i in range(9)]
    )
    rng = np.random.default_rng(0)
    trees = tuple(
        term(schema, name, rng.normal(size=(2, 9)) * (1 + i)) for i, name in enumerate(schema.names)
    )
    figure = draw_terms(
        small_model(schema, trees=trees, combine="scores", privacy=statement(schema))
    )
    said = texts(figure)
    assert "6 more attributes with smaller scores." in said
    assert "3 classes with smaller scores are not drawn." in said
    assert "a29" in said
    assert "a0" not in said
    apart(figure)


def test_without_terms_there_is_nothing_to_draw():
    for model in (scored_model(trees=(small_drawn(),)), small_model()):
        with pytest.raises(ParameterError, match="must have additive terms"):
            draw_terms(model)
