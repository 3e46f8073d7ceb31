"""The recipes that are compared: the shipped line is among them, and others are not the same."""

from __future__ import annotations

from fractions import Fraction

import pandas as pd
import pytest

from experiments.recipe.cells import Cell, list_cells, list_different, order_cells, rule_for
from experiments.recipe.fitting import VariantClassifier
from experiments.recipe.menu import (
    RULE_0_1,
    SHIPPED,
    VERSION_0_1,
    Variant,
    list_variants,
    recipe_of,
)
from experiments.recipe.tables import KINDS, kind_of
from privet import testing
from privet.datasets import Dataset
from privet.domain import Numeric, Schema
from privet.learners.default import PrivetClassifier
from privet.learners.default_recipe import recipe_for

SCHEMA = Schema({f"x{i}": Numeric(0, 1, bins=16) for i in range(9)}, "y", ["no", "yes"])


@pytest.mark.parametrize("kind", KINDS)
def test_every_menu_has_the_shipped_line_first_and_changes_of_it(kind):
    for line in rule_for(kind):
        shipped, *others = list_variants(line, kind)
        assert shipped.change(line) == line
        names = [variant.name for variant in (shipped, *others)]
        assert len(set(names)) == len(names)
        for variant in others:
            changed = variant.change(line) != line
            assert changed + (variant.terms is not None) + (variant.start != "by rule") == 1


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("n_rows", [100, 400, 2000, 9000, 15_000, 50_000, 10**6])
def test_the_shipped_variant_is_the_learners_recipe(n_rows, rare):
    chosen = recipe_of(SHIPPED, SCHEMA, n_rows, Fraction(1), rare=rare)
    assert chosen.settings == recipe_for(SCHEMA, n_rows, Fraction(1), rare=rare).settings


@pytest.mark.parametrize(
    ("variant", "setting", "value"),
    [
        (Variant("", rounds=3), "rounds", 3),
        (Variant("", depth=1), "max_depth", 1),
        (Variant("", strength=0.33), "strength", 0.33),
        (Variant("", leaves=Fraction(9, 20)), "leaf_share", 0.45),
        (Variant("", terms=Fraction(2, 5)), "additive_share", 0.4),
    ],
)
def test_a_variant_does_what_it_says(variant, setting, value):
    settings = recipe_of(variant, SCHEMA, 2000, Fraction(1), rare=False).settings
    assert settings[setting] == value != recipe_for(SCHEMA, 2000, Fraction(1)).settings[setting]


@pytest.mark.parametrize(("n_rows", "rounds"), [(150, 1), (500, 3), (3000, 5), (15_000, 9)])
def test_the_rule_of_0_1_has_its_rounds_and_no_leaves(n_rows, rounds):
    recipe = recipe_of(VERSION_0_1, SCHEMA, n_rows, Fraction(1), rare=False)
    strength = next(strength for _, number, strength in RULE_0_1 if number == rounds)
    assert (recipe.rounds, recipe.strength, recipe.leaves) == (rounds, strength, 0)


def test_recipes_that_do_the_same_as_the_shipped_one_are_not_run():
    """There are no terms for so few rows, so leaving them out changes nothing."""
    cell = Cell("balanced", 0, "t", 200, "0.5", 0)
    names = [variant.name for variant in list_different(cell, SCHEMA)]
    assert names[0] == SHIPPED.name
    assert "40% for terms" in names
    assert "0% for terms" not in names


def balanced_table(rows: int) -> Dataset:
    numbers = [(row * 37 % 101) / 101 for row in range(rows)]
    columns = {f"x{i}": [(number * (i + 1)) % 1 for number in numbers] for i in range(9)}
    labels = pd.Series(["yes" if number > 0.5 else "no" for number in numbers], name="y")
    return Dataset("t", pd.DataFrame(columns), labels, SCHEMA)


def test_a_cell_is_in_the_band_of_the_line_that_the_learner_follows():
    data = balanced_table(8000)
    assert kind_of(data) == "balanced"
    for cell in list_cells(data, 1):
        recipe = recipe_for(SCHEMA, cell.rows, Fraction(cell.epsilon))
        assert recipe.rounds == cell.line.rounds
        assert recipe.leaves >= cell.line.leaves  # more where draws would be too sharp


def test_bands_and_tables_take_turns():
    """A run that stops early has treated them alike."""
    cells = [
        Cell("balanced", band, table, 100, "1", repeat)
        for band in range(2)
        for table in "abc"
        for repeat in range(4)
    ]
    ordered = order_cells(cells)
    assert sorted(ordered) == sorted(cells)
    assert len({(cell.band, cell.table) for cell in ordered[:6]}) == 6
    assert [cell.band for cell in ordered[:4]] in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_the_learner_of_the_experiment_follows_the_shipped_rule_and_variants():
    data = balanced_table(600)
    schema = SCHEMA.declare(n_rows=600)
    with testing.unlock_test_seeds():
        shipped, same, other = (
            learner.fit(data.X, data.y)
            for learner in (
                PrivetClassifier(1, schema, random_state=3),
                VariantClassifier(1, schema, random_state=3),
                VariantClassifier(
                    1, schema, variant=Variant("", rounds=2, start="never"), random_state=3
                ),
            )
        )
    assert (shipped.predict_proba(data.X) == same.predict_proba(data.X)).all()
    assert len(other.model_.trees) == 2
    assert shipped.privacy_.epsilon == other.privacy_.epsilon
