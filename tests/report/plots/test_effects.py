"""Pictures of what a whole model has learnt: their texts, bars and lines, compared with numbers."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from privet.report.plots import draw_effects
from privet.report.plots.style import FILLS
from tests.model.test_explanations import random_model, with_term
from tests.report.models import SCHEMA, small_model, statement
from tests.report.plots.test_scores import TWO, apart, two_classes
from tests.report.plots.test_tree import texts
from tests.report.scored import scored_model, term


def of_two(*scores: float):
    trees = (term(TWO, "age", two_classes(*scores)),)
    return small_model(TWO, trees=trees, combine="scores", privacy=statement(TWO))


def bars(figure) -> list[tuple[float, str, str]]:
    """Length, fill and hatch of all bars, from top to bottom."""
    patches = [patch for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    return [(bar.get_width(), to_hex(bar.get_facecolor()), bar.get_hatch()) for bar in patches]


def test_bars_are_as_long_as_the_effects_and_have_the_fill_of_their_class():
    said = of_two(1.5, -0.5, 0.0, 0.25).explain()
    figure = draw_effects(said, title="what it learnt", max_attributes=1)
    drawn = bars(figure)[-4:]
    effects = said.effects["age"].values[:, 0]
    np.testing.assert_allclose(effects, np.array([1.5, -0.5, 0, 0.25]) - 0.3125)
    lengths = np.array([bar[0] for bar in drawn])
    np.testing.assert_allclose(lengths / effects, lengths[0] / effects[0])
    assert [bar[1] for bar in drawn] == [FILLS[int(each > 0)][0] for each in effects]
    said_texts = texts(figure)
    for text in ("what it learnt", "what matters", "age", "up to 9", "30 and more", "no", "yes"):
        assert text in " ".join(said_texts)
    assert any("uniform population" in text for text in said_texts)
    assert any("differentially private" in text for text in said_texts)


def test_what_is_noise_is_an_outline_with_its_band():
    said = with_term([2.0, 0.0, -2.0, 0.4]).explain(
        repeats=[with_term([1.9, 0.1, -2.1, 0.0]), with_term([2.1, -0.1, -1.9, 0.0])]
    )
    figure = draw_effects(said)
    fills = {bar[1] for bar in bars(figure)}
    assert "#ffffff" in fills
    assert FILLS[0][0] in fills
    assert "form, income, colour make no difference to this model." in texts(figure)
    lines = [line for line in figure.axes[0].lines if line.get_color() == "white"]
    assert len(lines) == 1 + 3 * SCHEMA.attributes["age"].size  # what matters, and each of its bars


def test_an_attribute_that_is_all_noise_is_named_and_has_no_panel():
    def model(age, form):
        terms = (
            (name, np.outer(values, [1, 0, -1])) for name, values in (("age", age), ("form", form))
        )
        return scored_model(trees=tuple(term(SCHEMA, name, scores) for name, scores in terms))

    said = model([2.0, 0, -2, 0], [0.3, 0, 0]).explain(
        repeats=[model([1.9, 0, -2.1, 0], [-0.3, 0, 0]), model([2.1, 0, -1.9, 0], [0, 0, 0.3])]
    )
    shown = texts(draw_effects(said))
    assert "form: not distinguishable from noise, in all values." in shown
    assert shown.count("form") == 1  # in what matters
    assert shown.count("age") == 2
    assert not set(SCHEMA.attributes["form"].labels) & set(shown)


@pytest.mark.parametrize("seed", [1, 2])
def test_no_text_overlaps_another(seed):
    apart(draw_effects(random_model(seed).explain(), title="a title", max_values=3))


def test_the_rest_is_counted():
    said = random_model(1).explain()
    shown = " ".join(texts(draw_effects(said, max_attributes=2, max_values=2)))
    assert "2 more attributes matter less." in shown
    assert "more values" in shown
