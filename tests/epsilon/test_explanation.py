"""All numbers for one epsilon are those of the formulas, for the right epsilon."""

from __future__ import annotations

import json
import math

import pytest

import privet as pv
from privet.epsilon import Setting, Trial, explain
from privet.errors import ParameterError

SCHEMA = pv.Schema(
    {"a": pv.Categorical(["x", "y"]), "b": pv.Categorical(["x", "y"])}, "c", ["n", "y"]
)
PEOPLE = SCHEMA.declare(n_rows=2000, rows_per_person=3, neighbours="replace")
LN2 = math.log(2)


def test_a_row_is_a_person():
    """Epsilon ln 2: odds double, noise has variance 4."""
    found = explain(LN2, setting=Setting(priors=[0.5, "1/3"], cost=10, people=4))
    assert [(one.prior, one.in_table) for one in found.beliefs] == [
        (0.5, pytest.approx(2 / 3)),
        (pytest.approx(1 / 3), pytest.approx(1 / 2)),
    ]
    assert [one.in_table_at_least for one in found.beliefs] == pytest.approx([1 / 3, 1 / 5])
    assert [one.record for one in found.beliefs] == pytest.approx([4 / 5, 2 / 3])
    attack = found.attack
    assert (attack.guess, attack.guess_record, attack.test, attack.exact_count) == pytest.approx(
        (2 / 3, 4 / 5, 0.1, 1 / 3)
    )
    assert (found.noise.deviation, found.noise.margin, found.noise.coverage) == pytest.approx(
        (2, 4, 23 / 24)
    )
    assert (found.trial.without, found.trial.noisy, found.share) == (785, 801, None)
    assert found.rise == pytest.approx(1)
    assert (found.price.each, found.price.total) == pytest.approx((10, 40))
    assert (found.rows, found.expected, found.nearest) == (None, (), ())


def test_a_person_of_three_rows_who_may_be_replaced():
    """Beliefs and price are about the person, six times epsilon: all know how many rows there are.
    Noise is about the question.
    """
    found = explain("1/6", PEOPLE, Setting(priors=[0.5], cost=1))
    assert found.losses == explain("1/6", PEOPLE.declare(n_rows=None)).losses
    assert [str(loss) for loss in vars(found.losses).values()] == ["1/6", "1", "1", "1"]
    assert found.beliefs[0].in_table == pytest.approx(1 / (1 + math.exp(-1)))
    assert found.beliefs[0].record == pytest.approx(1 / (1 + math.exp(-1)))
    assert found.attack.guess == pytest.approx(1 / (1 + math.exp(-1)))
    assert found.attack.test == pytest.approx(0.05 * math.e)
    assert found.rise == pytest.approx(math.exp(1) - 1)
    assert found.price.total == pytest.approx(2000 * (math.exp(1) - 1))
    alone = explain("1/6", setting=Setting(rows=2000))
    assert (found.noise, found.trial, found.share, found.expected) == (
        alone.noise,
        alone.trial,
        alone.share,
        alone.expected,
    )
    assert found.attack.exact_count == alone.attack.exact_count == pytest.approx(math.tanh(1 / 12))
    assert found.share.without == 2000


def test_settings_reach_their_formulas():
    found = explain(
        LN2,
        setting=Setting(
            false_alarms=0.2, tolerance=1, confidence=0.5, trial=Trial(0.1, 0.02, 0.1, 0.9)
        ),
    )
    assert found.attack.test == pytest.approx(0.4)
    assert found.attack.exact_count == pytest.approx(2 / 3)
    assert found.noise.margin == 1  # 1 - (4/3) / 4 = 2/3 is the first above one half
    assert found.trial.without == math.ceil(8.563852 * 225)


def test_rows_are_those_asked_for_rather_than_declared():
    assert explain(1, PEOPLE).rows == 2000
    assert explain(1, PEOPLE, Setting(rows=500)).rows == 500
    assert {one.classes for one in explain(1, PEOPLE).nearest} == {2}, "tables like the schema's"


def test_json():
    told = json.loads(
        json.dumps(explain("1/6", PEOPLE, Setting(cost=1)).to_json(), allow_nan=False)
    )
    assert told["losses"] == {"row": "1/6", "presence": "1", "record": "1", "charged": "1"}
    assert told["share"]["without"] == told["rows"] == 2000
    assert [one["prior"] for one in told["beliefs"]] == [0.01, 0.1, 0.5]
    assert {one["learner"] for one in told["expected"]} == {"privet", "greedy-tree", "random-trees"}
    assert told["expected"][0].keys() >= {"learner", "middle", "low", "high", "tables"}
    assert told["expected"][0]["lost"].keys() == {"low", "middle", "high"}
    assert told["expected"][0]["accuracy"] is None
    assert told["nearest"][0].keys() >= {"data", "rows", "epsilon", "accuracy", "majority", "best"}


def test_json_has_no_infinity():
    told = explain(1000, setting=Setting(cost=1)).to_json()
    assert (told["rise"], told["price"]["each"], told["attack"]["guess"]) == (None, None, 1.0)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: explain(0), "epsilon must be a finite number above zero, got 0"),
        (lambda: explain(math.inf), "epsilon must be a finite number above zero, got inf"),
        (lambda: Setting(rows=0), "rows must be an integer of at least 1, got 0"),
        (lambda: Setting(priors=()), "priors must hold at least one prior"),
        (lambda: Setting(priors=[0.1, 2]), "prior must be above 0 and below 1, got 2"),
        (lambda: Setting(people=0), "people must be an integer of at least 1, got 0"),
        (
            lambda: explain(1, setting=Setting(rows=10, people=11, cost=1)),
            "people must be at most the number of rows, 10, got 11",
        ),
        (
            lambda: explain(1, PEOPLE, Setting(people=2001, cost=1)),
            "people must be at most the number of rows, 2,000, got 2001",
        ),
        (
            lambda: Setting(rows=10**16),
            "rows must be at most 1,000,000,000,000,000, got 10000000000000000",
        ),
        (lambda: Setting(tolerance=10**400), "tolerance must be at most 1,000,000,000,000,000"),
        (lambda: explain(1, SCHEMA.declare(n_rows=0)), "the schema declares 0"),
        (
            lambda: explain(1, setting=Setting(tolerance=-1)),
            "tolerance must be an integer of at least 0, got -1",
        ),
        (
            lambda: explain(1, setting=Setting(cost=-1)),
            "cost must be a finite number above zero, got -1",
        ),
        (
            lambda: Setting(majority=1),
            "majority must be above 0 and below 1, got 1",
        ),
        (
            lambda: explain(1, setting=Setting(false_alarms=1)),
            "false_alarms must be above 0 and below 1, got 1",
        ),
    ],
)
def test_what_is_refused(call, told):
    with pytest.raises(ParameterError, match=told):
        call()


def test_extremes_are_explained():
    """The smallest and largest that are let in: numbers, not errors of arithmetic."""
    trial = Trial("1/1000", "1e-50", "1e-50", 0.999)
    for epsilon in ("1e-12", "1e60"):
        found = explain(
            epsilon,
            PEOPLE,
            Setting(rows=10**15, priors=["1e-60"], tolerance=10**15, trial=trial, cost="1e60"),
        )
        assert 0 <= found.beliefs[0].in_table_at_least <= found.beliefs[0].in_table <= 1
        assert found.trial.noisy >= found.trial.without
        assert 0 <= found.attack.exact_count <= 1
