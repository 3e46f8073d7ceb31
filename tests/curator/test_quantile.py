"""Order statistics on public bins: scores, their range, the law of the choice, what it costs, and
what is refused.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, QuestionError, TableError
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.queries.quantile import bin_range, bin_scores, bound_rows_off
from tests.conformance.check_mechanism import ALPHA, choice_fit, exponential_law, flip_law
from tests.curator.spied import Spy

AGE = Numeric(0, 100, bins=5, missing="?")
SCHEMA = Schema({"age": AGE, "sex": Categorical(["f", "m"])}, "c", ["no", "yes"])
AGES = [5, 15, 25, 45, 55, 65, 65, 85, None, None]  # by bin: 2, 1, 2, 2, 1
TABLE = pd.DataFrame({"age": AGES, "sex": ["f"] * 10, "c": ["no", "yes"] * 5})
SHARES = [F(0), F(1, 10), F(1, 4), F(1, 3), F(1, 2), F(2, 3), F(9, 10), F(1)]


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


def make(ages=AGES, budget: Budget | None = None, attribute: Numeric = AGE, **options) -> Curator:
    table = pd.DataFrame({"age": pd.Series(ages, dtype=float), "c": "no"})
    return Curator(
        table, Schema({"age": attribute}, "c", ["no", "yes"]), budget or Budget(10**9), **options
    )


def scores_of(counts, q) -> list[int]:
    """As the curator has it: of value-by-class counts, with a bin for missing values."""
    table = np.array([[[count, 0] for count in counts] + [[10**6, 10**6]]], dtype=np.int64)
    return bin_scores(table, len(counts), q)


@pytest.fixture
def spied(monkeypatch):
    ledger = MemoryLedger()
    spy = Spy(ledger, TABLE)
    monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
    return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy


class TestScores:
    def test_by_hand(self):
        # 8 rows: four below; in halves of rows
        assert scores_of([2, 1, 2, 2, 1], F(1, 2)) == [-4, -2, 0, -2, -6]
        # two below: the upper end of the first, the lower of the second
        assert scores_of([2, 1, 2, 2, 1], F(1, 4)) == [0, 0, -4, -12, -20]
        # whatever lies between the middle two is a median
        assert scores_of([2, 0, 0, 2], F(1, 2)) == [0, 0, 0, 0]
        assert scores_of([0, 3, 0], F(0)) == [0, 0, -3]
        assert scores_of([0, 3, 0], F(1)) == [-3, 0, 0]
        assert scores_of([0, 0], F(1, 3)) == [0, 0]

    @given(st.lists(st.integers(0, 6), min_size=1, max_size=6), st.sampled_from(SHARES))
    def test_zero_is_where_a_quantile_lies(self, counts, q):
        values = [j for j, count in enumerate(counts) for _ in range(count)]
        for j, score in enumerate(scores_of(counts, q)):
            below, up_to = sum(value < j for value in values), sum(value <= j for value in values)
            target = q * len(values)
            off = max(below - target, target - up_to, 0)
            assert score == -off * q.denominator

    def test_huge_counts_and_odd_shares_do_not_overflow(self):
        q = F(10**30 + 1, 3 * 10**30)
        scores = scores_of([1 << 61, 1 << 61, 1 << 61], q)
        assert scores[1] == 0
        assert scores[2] < -(1 << 64) < scores[0] < 0


class TestPrivacy:
    @pytest.mark.parametrize("q", SHARES, ids=str)
    def test_the_range_is_what_one_row_can_do_and_no_less(self, q):
        widest = 0
        for counts in itertools.product((0, 1, 2, 13), repeat=4):
            before = scores_of(counts, q)
            for k in range(4):
                after = scores_of([count + (j == k) for j, count in enumerate(counts)], q)
                changes = [b - a for a, b in zip(before, after, strict=True)]
                widest = max(widest, max(changes) - min(changes))
        assert widest == bin_range(q)

    @pytest.mark.parametrize("q", [F(0), F(1, 10), F(1, 2), F(2, 3)], ids=str)
    @pytest.mark.parametrize("law", [flip_law, exponential_law])
    def test_likelihood_ratios_never_exceed_epsilon(self, q, law):
        """All tables of three bins with up to three rows in each, and all their neighbours."""
        worst = 0.0
        for counts in itertools.product(range(4), repeat=3):
            before = law(scores_of(counts, q), 1.0, bin_range(q))
            for k in range(3):
                after = law(
                    scores_of([count + (j == k) for j, count in enumerate(counts)], q),
                    1.0,
                    bin_range(q),
                )
                worst = max(
                    worst,
                    *(abs(math.log(p / other)) for p, other in zip(before, after, strict=True)),
                )
        assert worst <= 1 + 1e-9
        assert worst > 0.3  # and the budget is used

    @pytest.mark.parametrize(
        ("mechanism", "law"), [("exponential", exponential_law), ("permute-and-flip", flip_law)]
    )
    def test_the_choice_follows_its_law(self, mechanism, law):
        curator = make(bits=seeded())
        draws = Counter(
            curator.quantile("age", "1/2", 1, mechanism=mechanism).index for _ in range(1500)
        )
        observed, scores = [draws[index] for index in range(5)], [-4, -2, 0, -2, -6]
        assert choice_fit(observed, law(scores, 1.0, 2)) > ALPHA
        for wrong in (0.7, 1.3):
            assert choice_fit(observed, law(scores, wrong, 2)) < ALPHA

    @pytest.mark.parametrize("q", SHARES, ids=str)
    @pytest.mark.parametrize("law", [flip_law, exponential_law])
    def test_bins_that_are_further_off_than_told_are_rare(self, q, law):
        for counts in ([40] * 6, [0, 0, 100, 0, 0, 100], [1, 200, 1, 200, 1, 0]):
            scores = scores_of(counts, q)
            chances = law(scores, 0.1, bin_range(q))
            for chance in (0.05, 0.3):
                most = bound_rows_off(q, F(1, 10), 6, chance) * q.denominator
                assert (
                    sum(p for p, score in zip(chances, scores, strict=True) if -score > most)
                    <= chance
                )


class TestAnswers:
    def test_a_bin_and_its_edges(self):
        answer = make().quantile("age", 0.5, 10_000)
        assert (answer.index, answer.low, answer.high, answer.middle) == (2, 40, 60, 50)
        assert (answer.attribute, answer.q) == ("age", F(1, 2))
        assert make().median("age", 10_000).index == 2

    @pytest.mark.parametrize(
        ("q", "bins"),
        [("0.1", {0}), (0.3, {1}), (F(3, 4), {3}), (Decimal("0.9"), {4}), (1, {4}), (0, {0})],
    )
    def test_other_shares(self, q, bins):
        assert make().quantile("age", q, 10_000).index in bins

    def test_missing_values_are_left_out_and_those_out_of_bounds_are_not(self):
        assert make([-50, -50, -50, 70, *[None] * 20]).median("age", 10_000).index == 0
        assert make([10, 500, 500]).median("age", 10_000).index == 4
        dropping = Numeric(0, 100, bins=5, on_unknown="drop")
        assert make([10, 500, 500], attribute=dropping).median("age", 10_000).index == 0
        assert (
            make([10, 90, 90, *[None] * 20], attribute=Numeric(0, 100, bins=5))
            .median("age", 10_000)
            .index
            == 4
        )

    @pytest.mark.parametrize("ages", [[], [None, None]], ids=["empty", "all missing"])
    def test_nobody_is_everywhere_alike(self, ages):
        curator = make(ages, bits=seeded(2))
        draws = Counter(curator.median("age", 100).index for _ in range(300))
        assert choice_fit([draws[index] for index in range(5)], [0.2] * 5) > ALPHA

    def test_public_tables_give_the_exact_one_free_of_charge(self):
        curator = make(budget=Budget(1), public=True)
        answer = curator.median("age", math.inf)
        assert (answer.index, answer.private, answer.entry, curator.left) == (2, False, None, 1)

    def test_the_widest_bins_have_a_middle(self):
        curator = make([0.0], attribute=Numeric(edges=[-1.7e308, 1.7e308]))
        assert curator.median("age", 1).middle == 0


class TestAccounting:
    def test_is_charged_before_the_data_is_touched(self, spied):
        curator, spy = spied
        answer = curator.quantile("age", "0.9", "1/4")
        assert spy.entries_seen == [1]
        assert answer.entry == curator.ledger.entries()[0]
        assert answer.entry.what == "private selection of a quantile: age, q 0.9, 5 bins"
        assert answer.cost.epsilon == curator.spent.epsilon == F(1, 4)
        assert answer.private is True

    def test_that_does_not_fit_never_touches_the_data(self, spied):
        curator, spy = spied
        with pytest.raises(BudgetExceeded):
            curator.median("age", "1.25")
        assert spy.entries_seen == curator.ledger.entries() == []

    def test_an_engines_failure_tells_nothing_and_stays_charged(self, spied):
        curator, spy = spied
        spy.fail = IndexError("row 776 SECRET")
        with pytest.raises(TableError, match="the charge stands") as caught:
            curator.median("age", "1/4")
        assert "SECRET" not in str(caught.value)
        assert curator.left == F(3, 4)

    @pytest.mark.parametrize(
        ("mechanism", "rho"), [("exponential", F(1, 8)), ("permute-and-flip", F(1, 2))]
    )
    def test_costs_a_person_more_than_a_row(self, mechanism, rho):
        schema = SCHEMA.declare(rows_per_person=3, neighbours="replace")
        answer = Curator(TABLE, schema, Budget(6)).quantile("age", 0.5, 1, mechanism=mechanism)
        assert answer.row_cost == Cost(F(1), rho)
        assert answer.cost == Cost(F(6), 36 * rho)

    @pytest.mark.parametrize(
        ("changes", "error", "message"),
        [
            (
                {"attribute": "sex"},
                ParameterError,
                r"a number or a date \(there are age\), got 'sex', which is categorical",
            ),
            ({"attribute": "height"}, QuestionError, "no attribute 'height'; there are age, sex"),
            ({"attribute": "c"}, QuestionError, "no attribute 'c'"),
            ({"attribute": None}, ParameterError, "got NoneType"),
            ({"q": 1.01}, ParameterError, "q must be a number from 0 to 1, got 1.01"),
            ({"q": -0.1}, ParameterError, "q must be"),
            ({"q": math.nan}, ParameterError, "q must be"),
            ({"q": "half"}, ParameterError, "q must be"),
            ({"q": None}, ParameterError, "q must be"),
            ({"q": True}, ParameterError, "q must be"),
            ({"epsilon": 0}, ParameterError, "epsilon"),
            ({"epsilon": math.inf}, PrivacyError, "no noise"),
            ({"mechanism": "best"}, ParameterError, "mechanism"),
        ],
    )
    def test_is_refused_before_a_charge(self, spied, changes, error, message):
        curator, spy = spied
        with pytest.raises(error, match=message):
            curator.quantile(**{"attribute": "age", "q": "0.5", "epsilon": "1/2", **changes})
        assert spy.entries_seen == curator.ledger.entries() == []
