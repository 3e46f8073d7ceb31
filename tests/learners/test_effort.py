"""How much work a fit may take, how sharp its draws are, and which attributes get terms."""

import math
from fractions import Fraction as F

import pandas as pd
import pytest

from privet import Budget, Curator, PrivetClassifier, Schema
from privet.domain import Categorical, Numeric
from privet.domain.space import coarse_splits, coarsest_splits
from privet.errors import ParameterError
from privet.learners.default_recipe import choose_line, recipe_for
from privet.learners.effort import (
    DRAW_EVIDENCE,
    LARGE_SHARE,
    MANY_ROWS,
    SHARPEST,
    SHARPEST_OF_MANY,
    allow_steps,
    count_steps,
    share_of_sharp_draws,
)
from privet.learners.screening import CHOSEN, SCREENING_SHARE, WIDE, choose_attributes


def ordered(attributes: int, bins: int = 16, classes: int = 2) -> Schema:
    return Schema(
        {f"x{i}": Numeric(0, 1, bins=bins) for i in range(attributes)},
        "c",
        [f"c{i}" for i in range(classes)],
    )


def wide(attributes: int, **facts) -> Schema:
    return Schema(
        {f"x{i}": Categorical(["a", "b"]) for i in range(attributes)}, "c", ["n", "p"], **facts
    )


def wide_table(attributes: int, rows: int = 400) -> pd.DataFrame:
    """Return rows whose class is the last attribute; the others say nothing about it."""
    columns = {f"x{i}": ["ab"[(row >> 1) % (i + 2) % 2] for row in range(rows)]
               for i in range(attributes - 1)}  # fmt: skip
    last = {f"x{attributes - 1}": ["ab"[row % 2] for row in range(rows)]}
    return pd.DataFrame(columns | last | {"c": ["np"[row % 2] for row in range(rows)]})


# -- effort --


def test_more_effort_allows_more_work_and_less_makes_splits_coarser_then_trees_shallower():
    schema, n_rows = ordered(14), 100_000
    spaces = [
        recipe_for(schema, n_rows, F(5), effort=effort).space for effort in (0.05, 0.4, 1.0, 10.0)
    ]
    assert [space.depth for space in spaces] == [2, 3, 3, 3]
    assert [len(space.inner) for space in spaces[1:]] == [14, 28, 28]
    steps = [count_steps(space, n_rows) for space in spaces]
    assert steps == sorted(steps)
    assert steps[0] < steps[1] < steps[2]


def test_the_default_effort_grows_with_the_table_and_only_with_evidence():
    schema = ordered(14)
    few, many = (allow_steps(schema, n, 1e6, 1.0, small=False) for n in (1000, 100_000))
    assert many > 5 * few
    assert allow_steps(schema, MANY_ROWS - 1, 1e6, 1.0, small=False) == few
    assert allow_steps(schema, MANY_ROWS, 1e6, 1.0, small=False) > 3 * few
    assert allow_steps(schema, 100_000, 1000, 1.0, small=False) == few
    assert allow_steps(schema, 100_000, 1e6, 3.0, small=False) == 3 * many


@pytest.mark.parametrize("effort", [0, -1, 0.001, 101, math.nan, math.inf, True, "much", None])
def test_an_effort_out_of_bounds_is_refused_before_anything_is_charged(effort):
    curator = Curator(wide_table(3), wide(3), Budget(1))
    with pytest.raises(ParameterError, match=r"effort must be a number from 0\.01 to 100, got"):
        PrivetClassifier(1, effort=effort).fit_from(curator)
    assert curator.left == 1


def test_effort_is_on_the_card_and_tells_fits_apart_only_where_it_was_given():
    curator = Curator(wide_table(3), wide(3), Budget(1))
    assert PrivetClassifier(1, effort=2).fit_from(curator).model_.settings["effort"] == 2
    assert "effort=2" in PrivetClassifier(1, effort=2).list_settings()
    assert not any("effort" in setting for setting in PrivetClassifier(1).list_settings())


def test_coarsest_splits_are_one_per_attribute():
    schema = Schema(
        {
            "many": Numeric(0, 1, bins=16),
            "few": Numeric(0, 1, bins=3),
            "kind": Categorical(["a", "b", "c"]),
        },
        "c",
        ["n", "p"],
    )
    splits = coarsest_splits(schema)
    assert [split.n_children for split in splits if split.attribute == "many"] == [4]
    assert set(splits) < set(coarse_splits(schema))
    assert {split.attribute for split in splits} == set(schema.names)


# -- how sharp draws are --


@pytest.mark.parametrize(
    ("classes", "sharpest"), [(2, SHARPEST), (3, SHARPEST_OF_MANY), (7, SHARPEST_OF_MANY)]
)
@pytest.mark.parametrize("unit", ["epsilon", "rho"])
def test_a_draw_gets_no_more_than_it_can_use_and_its_leaves_the_rest(classes, sharpest, unit):
    schema, amount = ordered(10, classes=classes), F(400)
    recipe = recipe_for(schema, 20_000, amount, unit)
    each = amount * (1 - recipe.additive) * (1 - recipe.leaves) / recipe.rounds
    assert each == (sharpest if unit == "epsilon" else sharpest**2 / 8)
    assert recipe.leaves > F(1, 2)


def test_a_draw_of_few_rows_may_be_sharper_and_one_that_shares_little_is_not_cut():
    schema = ordered(10)
    few = share_of_sharp_draws(schema, 100, F(100), "epsilon", 1)
    assert few * 100 == F(DRAW_EVIDENCE, 100) > SHARPEST
    assert share_of_sharp_draws(schema, 20_000, F(1), "epsilon", 9) == 1
    # leaves get what they can use, or nothing
    all_of_it = 9 * SHARPEST / LARGE_SHARE
    assert share_of_sharp_draws(schema, 20_000, all_of_it, "epsilon", 9) == 1
    assert share_of_sharp_draws(schema, 20_000, all_of_it * 2, "epsilon", 9) == LARGE_SHARE / 2
    assert share_of_sharp_draws(schema, 20_000, None, "epsilon", 9) == 1
    assert recipe_for(schema, 5000, F(1)).leaves == 0


def test_few_rows_bear_few_trees_whatever_epsilon_is():
    lines = [
        choose_line(ordered(10), 500, F(epsilon), "epsilon", F(1), rare=False)
        for epsilon in (1, 10, 1000)
    ]
    assert lines[0].rounds < lines[1].rounds
    assert lines[1] == lines[2]


# -- terms in wide tables --


def test_terms_are_for_chosen_attributes_where_a_table_is_wide():
    narrow, broad = (recipe_for(wide(k), 100_000, F(5)) for k in (WIDE, WIDE + 1))
    assert narrow.additive
    assert not narrow.screening
    assert broad.additive
    assert broad.screening == SCREENING_SHARE
    assert "10 additive terms" in broad.why
    assert "10 additive" not in narrow.why
    many = recipe_for(ordered(WIDE + 1, bins=4, classes=3), 10**6, F(5))
    assert many.additive
    assert not many.screening
    # where there are no terms, nothing is chosen
    thin = recipe_for(wide(WIDE + 1), 100, F(1))
    assert not thin.additive
    assert not thin.screening


@pytest.mark.parametrize("delta", [0, "1e-6"])
def test_charges_with_a_choice_of_attributes_add_up_to_what_was_promised(delta):
    schema = wide(WIDE + 1, n_rows=100_000)
    budget = Budget(5, delta=delta) if delta else Budget(5)
    curator = Curator(wide_table(WIDE + 1), schema, budget)
    before = curator.left
    model = PrivetClassifier(5, delta=delta).fit_from(curator).model_
    charges = model.privacy.charges
    chosen = [charge for charge in charges if charge.what.startswith("choice of an attribute")]
    terms = [charge.what for charge in charges if charge.what.startswith("additive term of")]
    assert len(chosen) == len(set(terms)) == CHOSEN
    assert f"additive term of x{WIDE}" in terms
    unit = "rho" if delta else "epsilon"
    paid = sum(charge.cost.amount(unit) for charge in charges)
    assert paid == before if not delta else before * F(999, 1000) < paid <= before
    assert model.settings["screening_share"] == 0.05


def test_the_attribute_that_tells_the_class_is_chosen_first():
    curator = Curator(wide_table(12), wide(12), Budget(200))
    names, charges = choose_attributes(curator, 3, 20)
    assert names[0] == "x11"
    assert len(set(names)) == 3
    assert sum(charge.cost.epsilon for charge in charges) == 60
    assert len(choose_attributes(curator, 99, 1)[0]) == 12
