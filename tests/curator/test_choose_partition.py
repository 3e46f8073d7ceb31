"""Which partition is farthest from what is expected of it: scores, their range, the law of the
choice, and what is refused.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Partition, Question
from privet.errors import BudgetExceeded, ParameterError, PrivetError, QuestionError, TableError
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.queries.choose_partition import distances
from tests.conformance.check_mechanism import ALPHA, choice_fit, exponential_law, flip_law
from tests.curator.spied import Spy

SCHEMA = Schema(
    {"a": Categorical(["x", "y"]), "b": Categorical(["p", "q", "r"])}, "c", ["no", "yes"]
)
TABLE = pd.DataFrame({"a": list("xxxyyy"), "b": list("pqrpqr"), "c": ["no", "yes"] * 3})
ROOT = Cells.everything(SCHEMA)
QUESTION = Question(
    (
        Partition(ROOT),
        Partition(ROOT, by="a"),
        Partition(ROOT.refine({0: Split.multiway(SCHEMA, "b")})),
    )
)
COUNTS = [np.array([[3, 3]]), np.array([[[2, 1], [1, 2]]]), np.array([[1, 1], [1, 1], [1, 1]])]
ZEROS = [np.zeros(part.shape, dtype=np.int64) for part in QUESTION.partitions]
# farther by 1, 6 and 3
EXPECTED = [np.array([[3, 4]]), np.array([[[0, 0], [0, 4]]]), np.array([[1, 1], [1, 4], [1, 1]])]


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


def make(budget: Budget | None = None, schema: Schema = SCHEMA, **options) -> Curator:
    return Curator(TABLE, schema, budget or Budget(1), **options)


@pytest.fixture
def spied(monkeypatch):
    ledger = MemoryLedger()
    spy = Spy(ledger, TABLE)
    monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
    return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy


def test_scores_are_distances_less_handicaps():
    assert distances(COUNTS, EXPECTED, [0, 0, 0]) == [1, 6, 3]
    assert distances(COUNTS, EXPECTED, [-4, 1, 10**18]) == [5, 5, 3 - 10**18]


@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_the_farthest_is_found_at_a_large_epsilon(mechanism):
    curator = make(Budget(10**6))
    assert curator.choose_partition(QUESTION, EXPECTED, 1000, mechanism=mechanism).index == 1
    assert (
        curator.choose_partition(
            QUESTION, EXPECTED, 1000, mechanism=mechanism, handicaps=[0, 6, 0]
        ).index
        == 2
    )
    assert (
        curator.choose_partition(
            QUESTION, EXPECTED, 1000, mechanism=mechanism, handicaps=[np.int64(-9), 0, 0]
        ).index
        == 0
    )


def test_nested_lists_and_cells_will_do():
    curator = make(Budget(10**6))
    assert (
        curator.choose_partition(QUESTION, [table.tolist() for table in EXPECTED], 1000).index == 1
    )
    assert curator.choose_partition(ROOT, [[[0, 0]]], 1).index == 0


def test_public_tables_give_the_exact_one_free_of_charge():
    curator = make(public=True)
    answer = curator.choose_partition(QUESTION, EXPECTED, math.inf)
    assert (answer.index, answer.private, answer.entry, answer.cost.epsilon) == (1, False, None, 0)
    assert curator.left == 1


class TestAccounting:
    def test_is_charged_before_the_data_is_touched(self, spied):
        curator, spy = spied
        answer = curator.choose_partition(QUESTION, EXPECTED, "1/4")
        assert spy.entries_seen == [1]
        assert answer.entry == curator.ledger.entries()[0]
        assert answer.cost.epsilon == curator.spent.epsilon == F(1, 4)
        assert answer.private is True
        assert "3 partitions" in answer.entry.what

    def test_that_does_not_fit_never_touches_the_data(self, spied):
        curator, spy = spied
        with pytest.raises(BudgetExceeded):
            curator.choose_partition(QUESTION, EXPECTED, "1.25")
        assert spy.entries_seen == curator.ledger.entries() == []

    def test_an_engines_failure_tells_nothing_and_stays_charged(self, spied):
        curator, spy = spied
        spy.fail = IndexError("row 776 SECRET")
        with pytest.raises(TableError, match="the charge stands") as caught:
            curator.choose_partition(QUESTION, EXPECTED, "1/4")
        assert "SECRET" not in str(caught.value)
        assert curator.left == F(3, 4)

    @pytest.mark.parametrize(
        ("mechanism", "rho"), [("exponential", F(1, 8)), ("permute-and-flip", F(1, 2))]
    )
    def test_costs_a_person_more_than_a_row(self, mechanism, rho):
        schema = SCHEMA.declare(rows_per_person=3, neighbours="replace")
        answer = make(Budget(6), schema).choose_partition(
            QUESTION, EXPECTED, 1, mechanism=mechanism
        )
        assert answer.row_cost == Cost(F(1), rho)
        assert answer.cost == Cost(F(6), 36 * rho)


class TestPrivacy:
    def neighbours(self):
        """Small tables, each with what one more row makes of the scores: it is in one entry of each
        partition, or in none.
        """
        expected = [np.array([[2, 0]]), np.array([[1, 0], [0, 1]])]
        # rows by value and class; the second partition leaves value 1 out
        for entries in itertools.product(range(3), repeat=4):
            rows = np.array(entries).reshape(2, 2)
            tables = [rows.sum(axis=0, keepdims=True), np.where([[True], [False]], rows, 0)]
            before = distances(tables, expected, [0, 1])
            for entry in range(4):
                more = rows.copy()
                more.flat[entry] += 1
                after = [more.sum(axis=0, keepdims=True), np.where([[True], [False]], more, 0)]
                yield before, distances(after, expected, [0, 1])

    def test_the_range_is_two_and_no_less(self):
        found = set()
        for before, after in self.neighbours():
            changes = [b - a for a, b in zip(before, after, strict=True)]
            assert max(map(abs, changes)) <= 1
            found.add(max(changes) - min(changes))
        assert max(found) == 2

    @pytest.mark.parametrize("law", [flip_law, exponential_law])
    def test_likelihood_ratios_never_exceed_epsilon(self, law):
        worst = 0.0
        for before, after in self.neighbours():
            for p, q in zip(law(before, 1.0, 2), law(after, 1.0, 2), strict=True):
                worst = max(worst, abs(math.log(p / q)))
        assert 0.5 < worst <= 1 + 1e-9

    @pytest.mark.parametrize(
        ("mechanism", "law"), [("exponential", exponential_law), ("permute-and-flip", flip_law)]
    )
    def test_the_choice_follows_its_law(self, mechanism, law):
        """Distances 1, 6 and 3, less 0, 3 and 1: scores 1, 3 and 2."""
        curator = make(Budget(10**9), bits=seeded())
        draws = Counter(
            curator.choose_partition(
                QUESTION, EXPECTED, 2, handicaps=[0, 3, 1], mechanism=mechanism
            ).index
            for _ in range(1500)
        )
        observed = [draws[index] for index in range(3)]
        assert choice_fit(observed, law([1, 3, 2], 2.0, 2)) > ALPHA
        for wrong in (0.7, 1.3):
            assert choice_fit(observed, law([1, 3, 2], 2.0 * wrong, 2)) < ALPHA

    def test_rows_in_no_cell_do_not_count(self):
        # one row, of class no
        some = Cells.of(SCHEMA, [Cell((Condition("a", (0,)), Condition("b", (2,))))])
        question = Question((Partition(some), Partition(ROOT)))
        assert (
            make(Budget(10**6)).choose_partition(question, [[[0, 0]], [[3, 3]]], 10_000).index == 0
        )
        assert (
            make(Budget(10**6)).choose_partition(question, [[[1, 0]], [[3, 2]]], 10_000).index == 1
        )


class Sly(np.ndarray):
    """Says other things to those who ask."""

    def astype(self, *_, **__):
        return np.full((1, 2), 1 << 62)

    def max(self, *_, **__):
        return 0

    min = max  # noqa: A003


LARGE = 1 << 35
BAD = {
    "too few tables": (
        {"expected": ZEROS[:2]},
        QuestionError,
        r"one table per partition \(3\), got 2",
    ),
    "another shape": (
        {"expected": [ZEROS[1], ZEROS[0], ZEROS[2]]},
        QuestionError,
        r"expected\[0\] must be .* of shape \(1, 2\)",
    ),
    "fractions": ({"expected": [np.zeros((1, 2)), *ZEROS[1:]]}, QuestionError, "float64"),
    "truth values": (
        {"expected": [np.zeros((1, 2), dtype=bool), *ZEROS[1:]]},
        QuestionError,
        "bool",
    ),
    "objects": ({"expected": [np.array([[1, None]]), *ZEROS[1:]]}, QuestionError, "object"),
    "ragged": ({"expected": [[[1], [1, 2]], *ZEROS[1:]]}, QuestionError, "shape"),
    "too large": ({"expected": [np.array([[LARGE + 1, 0]]), *ZEROS[1:]]}, QuestionError, "at most"),
    "too small": (
        {"expected": [np.array([[0, -(1 << 63)]]), *ZEROS[1:]]},
        QuestionError,
        "at most",
    ),
    "unsigned": (
        {"expected": [np.array([[0, 1 << 63]], dtype=np.uint64), *ZEROS[1:]]},
        QuestionError,
        "at most",
    ),
    "sly": (
        {"expected": [np.array([[LARGE + 1, 0]]).view(Sly), *ZEROS[1:]]},
        QuestionError,
        "at most",
    ),
    "too few handicaps": (
        {"handicaps": [1, 2]},
        QuestionError,
        r"one number per partition \(3\), got 2",
    ),
    "a broken handicap": (
        {"handicaps": [0, 0.5, 0]},
        QuestionError,
        r"handicaps\[1\] must be an integer",
    ),
    "a true handicap": ({"handicaps": [True, 0, 0]}, QuestionError, "an integer"),
    "a huge handicap": ({"handicaps": [0, 0, 1 << 70]}, QuestionError, "must be an integer from -"),
    "another mechanism": ({"mechanism": "best"}, ParameterError, "mechanism"),
    "no epsilon": ({"epsilon": None}, ParameterError, "epsilon"),
    "infinity": ({"epsilon": math.inf}, PrivetError, "no noise"),
    "another schema": (
        {"question": Cells.everything(Schema(SCHEMA.attributes, "c", ["yes", "no"]))},
        QuestionError,
        "another schema",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_is_refused_before_a_charge(case, spied):
    changes, error, message = BAD[case]
    curator, spy = spied
    asked = {"question": QUESTION, "expected": EXPECTED, "epsilon": "1/2", **changes}
    with pytest.raises(error, match=message):
        curator.choose_partition(**asked)
    assert spy.entries_seen == curator.ledger.entries() == []


def test_the_largest_expectations_do_not_overflow():
    expected = [np.full_like(table, -LARGE) for table in ZEROS]
    assert make(Budget(10**6)).choose_partition(QUESTION, expected, 1).index in range(3)
    assert distances(COUNTS, expected, [0, 0, 0]) == [2 * LARGE + 6, 4 * LARGE + 6, 6 * LARGE + 6]
    widest = np.full((1 << 20, 2), LARGE)
    assert distances([np.zeros_like(widest)], [widest], [0]) == [(1 << 21) * LARGE]


def test_what_is_expected_cannot_change_after_it_was_checked(spied, monkeypatch):
    curator, _ = spied
    given = [table.copy() for table in EXPECTED]
    charge = MemoryLedger.charge

    def change_then_charge(self, *arguments, **more):
        given[0][:] = 1 << 62
        return charge(self, *arguments, **more)

    monkeypatch.setattr(MemoryLedger, "charge", change_then_charge)
    seen = []
    monkeypatch.setattr(
        "privet.queries.choose_partition.distances",
        lambda tables, expected, less: seen.append(expected[0].tolist()) or [0, 0, 0],
    )
    curator.choose_partition(QUESTION, given, 1)
    assert seen == [[[3, 4]]]
