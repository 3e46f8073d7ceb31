"""Which epsilon keeps what is wished for: the wish is kept there, and no longer a little
further.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import privet as pv
from privet.epsilon import Setting, Wishes, choose, explain
from privet.epsilon.wording import format_chosen_epsilon
from privet.errors import ParameterError

SCHEMA = pv.Schema(
    {"a": pv.Categorical(["x", "y"])}, "c", ["n", "y"], n_rows=1000, rows_per_person=2
)
SETTING = Setting(cost=10, tolerance=1)


def only(
    wishes: Wishes, schema: pv.Schema | None = None, setting: Setting = SETTING
) -> tuple[str, float]:
    (choice,) = choose(wishes, schema, setting).choices
    return choice.bound, choice.epsilon


def test_epsilons_for_wishes_worked_out_by_hand():
    assert only(Wishes(posterior=0.2)) == ("at most", pytest.approx(math.log(9 / 4))), (
        "for the prior 0.1, the highest below 0.2"
    )
    assert only(Wishes(record=0.2)) == ("at most", pytest.approx(math.log(9 / 4) / 2))
    assert only(Wishes(attack=0.75)) == ("at most", pytest.approx(math.log(3)))
    assert only(Wishes(exact_count=1 / 3), setting=Setting()) == (
        "at most",
        pytest.approx(math.log(2)),
    )
    assert only(Wishes(budget=5000), setting=replace(SETTING, people=1000)) == (
        "at most",
        pytest.approx(math.log(1.5)),
    )
    assert only(Wishes(margin=4), setting=Setting(confidence=23 / 24)) == (
        "at least",
        pytest.approx(math.log(2)),
    )


def test_a_person_of_two_rows_gets_half_of_it():
    unknown = SCHEMA.declare(n_rows=None)
    assert only(Wishes(posterior=0.2), unknown) == ("at most", pytest.approx(math.log(9 / 4) / 2))
    assert only(Wishes(record=0.2), unknown) == ("at most", pytest.approx(math.log(9 / 4) / 4))
    people = replace(SETTING, people=1000)
    assert only(Wishes(budget=5000), unknown, people) == (
        "at most",
        pytest.approx(math.log(1.5) / 2),
    )


def test_and_a_quarter_where_the_number_of_rows_is_public():
    assert only(Wishes(posterior=0.2), SCHEMA) == ("at most", pytest.approx(math.log(9 / 4) / 4))
    assert only(Wishes(record=0.2), SCHEMA) == ("at most", pytest.approx(math.log(9 / 4) / 4))
    assert only(Wishes(budget=5000), SCHEMA) == ("at most", pytest.approx(math.log(1.5) / 4))


def test_neighbours_do_not_change_what_is_asked():
    replaced = SCHEMA.declare(neighbours="replace")
    assert choose(Wishes(posterior=0.2, record=0.3), replaced) == choose(
        Wishes(posterior=0.2, record=0.3), SCHEMA
    )


@pytest.mark.parametrize("schema", [None, SCHEMA])
@pytest.mark.parametrize(
    ("wishes", "number"),
    [
        (Wishes(posterior=0.7), lambda one: one.beliefs[2].in_table - 0.7),
        (Wishes(record=0.7), lambda one: one.beliefs[2].record - 0.7),
        (Wishes(attack=0.6), lambda one: one.attack.guess - 0.6),
        (Wishes(exact_count=0.4), lambda one: one.attack.exact_count - 0.4),
        (Wishes(budget=2000), lambda one: one.price.total - 2000),
        (Wishes(ratio=1.3), lambda one: one.trial.ratio - 1.3),
    ],
)
def test_the_chosen_epsilon_explains_itself(wishes, number, schema):
    setting = replace(SETTING, people=1000)
    bound, epsilon = only(wishes, schema, setting)
    assert number(explain(epsilon, schema, setting)) == pytest.approx(0, abs=1e-6)
    worse = explain(epsilon * (1.01 if bound == "at most" else 0.99), schema, setting)
    assert number(worse) > 0


def test_the_margin_is_kept_and_not_below():
    _, epsilon = only(Wishes(margin=7))
    assert explain(epsilon).noise.margin == 7
    assert explain(epsilon * 0.999).noise.margin == 8


def test_all_wishes_together():
    found = choose(Wishes(posterior=0.2, exact_count=0.3, margin=10, ratio=1.1), None, Setting())
    by_wish = {one.wish: one.epsilon for one in found.choices}
    assert list(by_wish) == ["posterior", "exact_count", "margin", "ratio"]
    assert (
        found.largest == by_wish["exact_count"] == min(by_wish["posterior"], by_wish["exact_count"])
    )
    assert found.smallest == by_wish["ratio"] == max(by_wish["margin"], by_wish["ratio"])
    assert found.possible
    assert found.to_json() == {
        "choices": [vars(one) for one in found.choices],
        "largest": found.largest,
        "smallest": found.smallest,
        "possible": True,
    }


def test_wishes_that_do_not_go_together():
    found = choose(Wishes(posterior=0.11, margin=1))
    assert not found.possible
    one_sided = choose(Wishes(margin=1))
    assert (one_sided.largest, one_sided.possible) == (None, True)


@given(st.floats(1e-6, 1e4))
def test_printed_epsilons_are_on_the_safe_side(epsilon):
    low, high = (
        float(format_chosen_epsilon(epsilon, "at most")),
        float(format_chosen_epsilon(epsilon, "at least")),
    )
    assert low <= epsilon * (1 + 1e-12)
    assert epsilon <= high * (1 + 1e-12)
    assert (low, high) == (pytest.approx(epsilon, rel=0.011), pytest.approx(epsilon, rel=0.011))


@pytest.mark.parametrize(
    ("wishes", "setting", "told"),
    [
        (Wishes(), Setting(), "at least one wish"),
        (
            Wishes(posterior=0.01),
            Setting(),
            r"posterior must be above a prior, and the lowest is 0\.01; got 0\.01",
        ),
        (Wishes(record=1), Setting(), "record must be above 0 and below 1, got 1"),
        (
            Wishes(attack=0.5),
            Setting(),
            "attack must be above 0.5, which is what a coin has, got 0.5",
        ),
        (Wishes(exact_count=0), Setting(), "exact_count must be above 0 and below 1, got 0"),
        (
            Wishes(budget=10),
            Setting(),
            r"what a person must expect to lose who does not take part \(cost\)",
        ),
        (Wishes(budget=10), Setting(cost=1), r"how many people take part \(people or rows\)"),
        (
            Wishes(budget=0),
            Setting(cost=1, people=3),
            "budget must be a finite number above zero, got 0",
        ),
        (Wishes(margin=-1), Setting(), "margin must be an integer of at least 0, got -1"),
        (Wishes(ratio=1), Setting(), "ratio must be above 1"),
    ],
)
def test_what_is_refused(wishes, setting, told):
    with pytest.raises(ParameterError, match=told):
        choose(wishes, None, setting)
