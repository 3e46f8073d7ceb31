"""Pictures look as they did when somebody last looked at them.

The pictures in ``images`` were looked at. After a change that should be seen, make them anew and
look again:

    python -m tests.report.plots.test_images
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.image import imread

from privet.domain.tree import Tree
from privet.epsilon.picture import draw_epsilon
from privet.report.plots import accuracy_over_epsilon, draw_effects, draw_tree, heatmap
from privet.report.plots.style import FILLS
from tests.report.models import SCHEMA, small_model, small_tree, statement
from tests.report.scored import scored_model, small_drawn, term

IMAGES = Path(__file__).parent / "images"
DPI = 60
#: Pictures are compared tile by tile, by the mean colour of so many pixels squared: letters differ
#: a little between versions of FreeType, and a bar or a colour makes a larger difference.
TILE, TOLERANCE = 8, 0.15


def learnt(sign: float = 1.0) -> Figure:
    def model(age, form):
        terms = {"age": np.outer(age, [1, 0.3, -1]), "form": np.outer(form, [0, 1, -1])}
        return scored_model(trees=tuple(term(SCHEMA, name, each) for name, each in terms.items()))

    first = [2.0 * sign, 0.5, -2.0, 0.4]
    said = model(first, [1.0, 0.2, -1]).explain(
        repeats=[model([2.0, 0.4, -2.1, 0], [1.1, 0, -1]), model(first, [0.9, 0, -1])]
    )
    return draw_effects(said, title="What it has learnt")


def learnt_of_two() -> Figure:
    schema = SCHEMA.number_classes(2)
    scores = np.outer([1.5, -0.5, 0.0, 0.25], [-0.5, 0.5])
    trees = (term(schema, "age", scores),)
    model = small_model(schema, trees=trees, combine="scores", privacy=statement(schema))
    return draw_effects(model.explain(), title="Two classes")


def counted() -> Figure:
    return draw_tree(small_tree(), noise=2.0, title="A tree of counts", footer="so it is promised")


def calibrated(most: int = 4) -> Figure:
    drawn = small_drawn()
    scores = drawn.counts + np.array([0.0, 1.0, 0.5])
    tree = Tree(drawn.cells, scores, "calibrated")
    return draw_tree(tree, title="A drawn tree", scores=True, whole=True, max_leaves=most)


def accuracies() -> Figure:
    runs = [
        (learner, epsilon, level + 0.03 * run + 0.04 * place)
        for learner, level in (("privet", 0.75), ("greedy-tree", 0.66), ("C4.5, exact", 0.8))
        for place, epsilon in enumerate((0.1, 1.0, 10.0))
        for run in range(3)
    ]
    table = pd.DataFrame(runs, columns=["learner", "epsilon", "accuracy"])
    return accuracy_over_epsilon(table, majority=0.6, title="Accuracy over epsilon")


def over_two() -> Figure:
    cells = [
        (depth, trees, 0.6 + 0.03 * depth * trees % 0.3)
        for depth in range(4)
        for trees in (1, 3, 9)
    ]
    return heatmap(
        pd.DataFrame(cells, columns=["depth", "trees", "accuracy"]), "depth", "trees", "accuracy"
    )


def meaning() -> Figure:
    return draw_epsilon([0.1, 1])


PICTURES = {
    each.__name__: each
    for each in (learnt, learnt_of_two, counted, calibrated, accuracies, over_two, meaning)
}


def pixels(figure: Figure) -> np.ndarray:
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DPI, facecolor="white")
    file.seek(0)
    return imread(file)[:, :, :3]


def tiles(picture: np.ndarray) -> np.ndarray:
    """The mean colour of each tile."""
    down, across = (side // TILE for side in picture.shape[:2])
    whole = picture[: down * TILE, : across * TILE]
    return whole.reshape(down, TILE, across, TILE, 3).mean(axis=(1, 3))


def differ(one: np.ndarray, other: np.ndarray) -> str:
    """How two pictures differ; empty where they look alike."""
    if np.abs(np.subtract(one.shape, other.shape)).max() > 2:
        return f"sizes differ: {one.shape} and {other.shape}"
    most = [min(sides) for sides in zip(one.shape[:2], other.shape[:2], strict=True)]
    gaps = np.abs(tiles(one[: most[0], : most[1]]) - tiles(other[: most[0], : most[1]])).max(axis=2)
    row, column = np.unravel_index(int(gaps.argmax()), gaps.shape)
    if gaps.max() <= TOLERANCE:
        return ""
    return f"colours differ by {gaps.max():.2f} around pixel ({column * TILE}, {row * TILE})"


def golden(name: str) -> np.ndarray:
    return imread(IMAGES / f"{name}.png")[:, :, :3]


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name == "meaning")) for name in PICTURES],
)
def test_a_picture_looks_as_it_did(name):
    assert differ(pixels(PICTURES[name]()), golden(name)) == ""


def test_a_picture_that_says_something_else_is_noticed():
    assert "differ" in differ(pixels(learnt(-1.0)), golden("learnt"))
    assert "differ" in differ(pixels(calibrated(6)), golden("calibrated"))
    figure = learnt_of_two()
    bar = figure.axes[0].patches[-4]
    assert to_hex(bar.get_facecolor()) == FILLS[1][0]
    bar.set(facecolor=FILLS[0][0], hatch="")  # the colour of the other class, for one bar
    assert "colours differ" in differ(pixels(figure), golden("learnt_of_two"))


if __name__ == "__main__":
    from matplotlib.image import imsave

    IMAGES.mkdir(exist_ok=True)
    for name, draw in PICTURES.items():
        imsave(IMAGES / f"{name}.png", np.ascontiguousarray(pixels(draw())), dpi=DPI)
