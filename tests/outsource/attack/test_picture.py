"""The picture of an attack."""

from __future__ import annotations

import sys

import pytest

from privet.errors import MissingDependency
from privet.outsource.attack import Score, acquaintances, population, score
from privet.outsource.attack.picture import draw_attack
from privet.report.plots import save_figure
from tests.outsource.attack.splits import people


def made(*, n_values: int = 4, known: int = 0, with_population: bool = False) -> Score:
    table = people(200, n_values=n_values, tells=0.5)
    posterior = table.attacked(model="naive-bayes", known=acquaintances(table.truth, known))
    beside = (
        population(table.schema, table.codes, table.classes, posterior, table.truth)
        if with_population
        else None
    )
    return score(posterior, table.truth, population=beside)


def labels(axes) -> list[str]:
    return [label.get_text().replace("\n", " ") for label in axes.get_yticklabels()]


def test_bars_are_as_long_as_they_say():
    result = made(with_population=True)
    left, right = draw_attack(result, "a table").axes
    lengths = [bar.get_width() for bar in left.patches]
    assert lengths == [
        result.random_guess,
        result.population.accuracy,
        result.population.in_group,
        result.accuracy,
    ]
    assert [text.get_text() for text in left.texts[:4]] == [f"{length:.1%}" for length in lengths]
    assert len(labels(left)) == 4
    assert sum(bar.get_height() for bar in right.patches) == pytest.approx(1)
    assert f"{result.at_least_confident:.1%}" in right.texts[0].get_text()


def test_the_bound_is_drawn_on_both_sides():
    for axes in draw_attack(made()).axes:
        dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert [list(line.get_xdata()) for line in dashed] == [[0.5, 0.5]]
        assert any(text.get_text() == "1/l = 0.5" for text in axes.texts)


def test_without_a_population_and_with_open_names():
    assert labels(draw_attack(made()).axes[0]) == [
        "a random guess in the group",
        "the attack: learnt from groups alone",
    ]
    opened = draw_attack(made(n_values=2)).axes
    assert labels(opened[0])[-1] == "the attack, once it is known which value is which"
    assert "which value is which was guessed" in opened[1].texts[0].get_text().replace("\n", " ")
    assert "knew 3 people beforehand" in draw_attack(made(n_values=2, known=3)).get_supxlabel()


def test_it_can_be_saved_and_says_what_it_is(tmp_path):
    figure = draw_attack(made(), "50% of $x$")
    save_figure(figure, tmp_path / "attack.svg")
    assert figure.get_suptitle() == "50% of $x$"
    assert "not differential privacy" in figure.get_supxlabel()


def test_without_matplotlib(monkeypatch):
    result = made()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingDependency, match="plotting needs the package 'matplotlib'"):
        draw_attack(result)
