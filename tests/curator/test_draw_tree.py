"""A whole tree through the trust boundary: charged first, drawn by the stated law, from any
source.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction as F
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger, SQLiteLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, QuestionError, TableError
from privet.mechanisms.gibbs.plan import SpaceArrays, plan_of
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.tables.counting.scoring import UNIT
from tests.amounts import NO_EPSILONS
from tests.conformance.check_mechanism import ALPHA, choice_fit
from tests.curator.spied import Spy

SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["n", "p"])
#: Rows of each value and class.
COUNTS = np.array([[5, 3], [2, 6]])
ROWS = pd.DataFrame(
    [(a, c) for i, a in enumerate("xy") for j, c in enumerate("np") for _ in range(COUNTS[i, j])],
    columns=["a", "c"],
)
STUMP = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
EARLIER = Tree(STUMP, np.array([[0, 0], [0.9, 0], [0, 0.4]]))


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


def space(schema: Schema = SCHEMA, depth: int = 1, **options) -> TreeSpace:
    return TreeSpace(schema, depth, **options)


def make(budget: Budget | None = None, schema: Schema = SCHEMA, **options) -> Curator:
    return Curator(ROWS, schema, Budget(1) if budget is None else budget, **options)


@pytest.fixture
def spied(monkeypatch):
    ledger = MemoryLedger()
    spy = Spy(ledger, ROWS)
    monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
    return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy


class TestMoney:
    def test_is_charged_before_the_rows_are_touched(self, spied):
        curator, spy = spied
        answer = curator.draw_tree(space(), "1/4")
        assert spy.entries_seen == [1]
        assert answer.entry == curator.ledger.entries()[0]
        assert answer.cost == answer.row_cost == Cost(F(1, 4), F(1, 128))
        assert curator.left == F(3, 4)
        assert answer.private is True

    def test_that_does_not_fit_never_touches_the_rows(self, spied):
        curator, spy = spied
        with pytest.raises(BudgetExceeded):
            curator.draw_tree(space(), "1.25")
        assert spy.entries_seen == []
        assert curator.left == 1

    def test_stays_charged_when_counting_fails_and_says_nothing_of_rows(self, spied):
        curator, spy = spied
        spy.fail = ValueError("row 17: SECRET")
        with pytest.raises(TableError, match="the charge stands") as caught:
            curator.draw_tree(space(), "1/4")
        assert "SECRET" not in str(caught.value)
        assert caught.value.__context__ is None
        assert curator.left == F(3, 4)

    def test_in_rho_it_costs_an_eighth_of_the_square(self):
        curator = make(Budget(rho=F(1, 2)))
        assert curator.draw_tree(space(), 1).cost.rho == F(1, 8)
        assert curator.left == F(3, 8)

    def test_a_person_costs_more_than_a_row(self):
        schema = replace(SCHEMA, rows_per_person=3, neighbours="replace")
        curator = make(Budget(6), schema)
        answer = curator.draw_tree(space(schema), 1)
        assert (answer.cost.epsilon, answer.row_cost.epsilon) == (6, 1)
        assert answer.cost.rho == F(36, 8)
        assert curator.left == 0

    def test_the_owners_facts_come_from_the_curator_not_from_the_space(self):
        strict = make(Budget(2), replace(SCHEMA, neighbours="replace"))
        assert strict.draw_tree(space(), 1).cost.epsilon == 2

    def test_a_durable_ledger_holds_it(self, tmp_path):
        make(ledger=SQLiteLedger(tmp_path / "l.sqlite"), dataset="d").draw_tree(
            space(), "0.7", weighting=[EARLIER]
        )
        (entry,) = SQLiteLedger(tmp_path / "l.sqlite").entries()
        assert entry.cost.epsilon == F(7, 10)
        assert entry.what == (
            "one tree of depth 1 at most, out of 1 splits and 1 at the last level, rows "
            "weighed by released trees"
        )

    def test_a_generator_of_no_trees_is_no_weighting(self):
        curator = make()
        curator.draw_tree(space(), "1/2", weighting=(tree for tree in ()))
        assert "weighed" not in curator.ledger.entries()[0].what

    def test_parts_of_the_people_pay_from_their_own_budget(self):
        curator = make(Budget(2))
        parts = curator.split_people(2, 1)
        for part in parts:
            part.draw_tree(space(), "1/2", weighting=[EARLIER])
            with pytest.raises(BudgetExceeded):
                part.draw_tree(space(), "3/4")
            with pytest.raises(PrivacyError, match="no noise"):
                part.draw_tree(space(), math.inf)
        assert curator.left == 1

    def test_a_public_table_is_answered_exactly_and_marked(self):
        curator = make(public=True)
        answers = [curator.draw_tree(space(), math.inf) for _ in range(20)]
        assert all(
            answer.labels.tolist()[1:] == [0, 1]
            and answer.private is False
            and answer.entry is None
            for answer in answers
        )
        assert curator.left == 1
        assert curator.draw_tree(space(), 1).private is True
        assert curator.left == 0


class Odd(float):
    """Says one thing when it is compared and another when it is used."""

    def __float__(self):
        return 2.0


class Deep(int):
    def __int__(self):
        return 99

    def __format__(self, spec):
        return "SAYS WHAT IT LIKES"


class OtherSpace(TreeSpace):
    pass


class OtherSchema(Schema):
    pass


class TestRefusals:
    @pytest.mark.parametrize("epsilon", [*NO_EPSILONS, 1e-12])
    def test_what_is_no_epsilon(self, epsilon):
        curator = make()
        with pytest.raises((ParameterError, QuestionError)):
            curator.draw_tree(space(), epsilon)
        assert curator.ledger.entries() == []

    def test_infinity_unless_public(self):
        with pytest.raises(PrivacyError, match="no noise"):
            make().draw_tree(space(), math.inf)

    def test_what_is_no_plain_space_of_this_schema(self):
        curator = make()
        lying = Schema({"a": Categorical(["x", "y", "z"])}, "c", ["n", "p"])
        lying.__dict__["fingerprint"] = SCHEMA.fingerprint
        for bad in (OtherSpace(SCHEMA, 1), "space", None):
            with pytest.raises(ParameterError, match="TreeSpace"):
                curator.draw_tree(bad, "1/2")
        for schema in (
            replace(SCHEMA, classes=["p", "n"]),
            lying,
            OtherSchema(dict(SCHEMA.attributes), "c", ["n", "p"]),
        ):
            with pytest.raises(QuestionError, match="another schema"):
                curator.draw_tree(space(schema), "1/2")
        assert curator.ledger.entries() == []

    def test_trees_that_are_no_plain_trees_of_this_schema(self):
        curator = make()
        other = replace(SCHEMA, classes=["p", "n"])
        for bad in (
            [Tree(Cells.everything(other), np.zeros((1, 2)))],
            ["tree"],
            5,
            EARLIER,
            [None],
        ):
            with pytest.raises((ParameterError, QuestionError)):
                curator.draw_tree(space(), "1/2", weighting=bad)
        assert curator.ledger.entries() == []

    def test_numbers_that_change_when_they_are_used_are_what_they_hold(self):
        taken = space(depth=Deep(1), split=Odd(0.25), keep=Odd(0.5))
        numbers = (taken.depth, taken.split, taken.keep)
        assert numbers == (1, 0.25, 0.5)
        assert list(map(type, numbers)) == [int, float, float]

    def test_a_space_that_is_too_large_whatever_the_rows(self):
        schema = Schema({f"a{i}": Categorical(list(range(6))) for i in range(8)}, "c", ["n", "p"])
        for n_rows in (0, 5):
            classes = pd.Series(["n"] * n_rows, dtype="str")
            table = pd.DataFrame({**{f"a{i}": [0] * n_rows for i in range(8)}, "c": classes})
            curator = Curator(table, schema, Budget(1))
            with pytest.raises(QuestionError, match="too large"):
                curator.draw_tree(TreeSpace(schema, 7), "1/2")
            assert curator.ledger.entries() == []


def law(
    counts: np.ndarray, epsilon: float, split: float, keep: float
) -> dict[tuple[int, ...], float]:
    """The labels of root and leaves (the root alone: no split), with their exact chances."""
    chance = {}
    for root in (0, 1):
        chance[root,] = (1 - split) / 2 * math.exp(epsilon * counts[:, root].sum())
        for leaves in product((0, 1), repeat=2):
            label = math.prod((1 - keep) / 2 + keep * (leaf == root) for leaf in leaves)
            chance[root, *leaves] = (
                split
                / 2
                * label
                * math.exp(epsilon * sum(counts[v, leaf] for v, leaf in enumerate(leaves)))
            )
    total = sum(chance.values())
    return {labels: value / total for labels, value in chance.items()}


def weighed(counts: np.ndarray) -> np.ndarray:
    """The weights of all rows together after the tree EARLIER, by hand."""
    log_odds = np.array([0.9, -0.4])  # of the first class, for each value
    p = np.stack([1 / (1 + np.exp(-log_odds)), 1 / (1 + np.exp(log_odds))], axis=1)
    return counts * np.floor(UNIT * np.minimum(1, 2 * (1 - p))) / UNIT


class TestTheLaw:
    DRAWS = 3000

    def drawn(self, epsilon, weighting=(), table=ROWS, **options) -> Counter:
        curator = Curator(table, SCHEMA, Budget(10**9), bits=seeded(7))
        where = space(inner=[], last=[Split.multiway(SCHEMA, "a")], **options)
        return Counter(
            tuple(curator.draw_tree(where, epsilon, weighting=weighting).labels.tolist())
            for _ in range(self.DRAWS)
        )

    def fits(self, drawn: Counter, expected: dict) -> float:
        assert set(drawn) <= set(expected)
        return choice_fit([drawn[labels] for labels in expected], list(expected.values()))

    @pytest.mark.parametrize(("split", "keep"), [(0.5, 0.5), (0.8, 0.2)])
    def test_is_prior_times_exp_of_epsilon_times_correct_rows(self, split, keep):
        drawn = self.drawn("0.4", split=split, keep=keep)
        assert self.fits(drawn, law(COUNTS, 0.4, split, keep)) > ALPHA
        for wrong in (0.28, 0.52):
            assert self.fits(drawn, law(COUNTS, wrong, split, keep)) < ALPHA
        assert self.fits(drawn, law(COUNTS, 0.4, keep, split)) < ALPHA or split == keep

    def test_earlier_trees_change_it_as_computed_by_hand(self):
        drawn = self.drawn("0.8", [EARLIER])
        assert self.fits(drawn, law(weighed(COUNTS), 0.8, 0.5, 0.5)) > ALPHA
        assert self.fits(drawn, law(COUNTS, 0.8, 0.5, 0.5)) < ALPHA

    def test_an_empty_table_is_drawn_from_the_prior(self):
        assert self.fits(self.drawn(5, table=ROWS.iloc[:0]), law(0 * COUNTS, 5, 0.5, 0.5)) > ALPHA


class TestSources:
    def test_tables_are_the_same_from_memory_and_from_a_database(self, tmp_path, monkeypatch):
        """Exact tables with weights, rows of equal codes grouped by the database."""
        from privet.mechanisms.gibbs import draw

        schema = Schema(
            {"a": Categorical(["x", "y"]), "b": Categorical([1, 2, 3])}, "c", ["n", "p", "q"]
        )
        rng = np.random.default_rng(0)
        table = pd.DataFrame(
            {
                "a": rng.choice(["x", "y", "?"], 500),
                "b": rng.integers(1, 4, 500),
                "c": rng.choice(list("npq"), 500),
            }
        )
        table.to_parquet(tmp_path / "t.parquet")
        tree = Tree(
            Cells.everything(schema).refine({0: Split.multiway(schema, "b")}),
            rng.normal(size=(4, 3)),
        )
        seen = []

        class Recording(draw.Gibbs):
            def __init__(self, plan, flat, base, unit):
                seen.append(flat.copy())
                super().__init__(plan, flat, base, unit)

        monkeypatch.setattr(draw, "Gibbs", Recording)
        where = TreeSpace(schema, 2)
        for source in (table, table.sample(frac=1, random_state=1), tmp_path / "t.parquet"):
            for weighting in ([], [tree]):
                Curator(source, schema, Budget(1)).draw_tree(where, 1, weighting=weighting)
        for weighting in (0, 1):
            for other in (2, 4):
                np.testing.assert_array_equal(seen[weighting], seen[other + weighting])
        assert (seen[0] % UNIT == 0).all()
        assert (seen[1] % UNIT != 0).any()

    def test_one_row_moves_each_table_by_one_at_most(self, monkeypatch):
        from privet.mechanisms.gibbs import draw

        seen = []

        class Recording(draw.Gibbs):
            def __init__(self, plan, flat, base, unit):
                seen.append([flat[low:high].copy() for low, high in pairwise(base)])
                super().__init__(plan, flat, base, unit)

        monkeypatch.setattr(draw, "Gibbs", Recording)
        for table in (ROWS, *(ROWS.drop(index=row) for row in range(len(ROWS)))):
            Curator(table, SCHEMA, Budget(1)).draw_tree(space(), 1, weighting=[EARLIER])
        for fewer in seen[1:]:
            for whole, part in zip(seen[0], fewer, strict=True):
                assert (whole >= part).all()
                assert (whole - part).sum() <= UNIT
                assert np.count_nonzero(whole - part) <= 1

    def test_a_seed_is_repeatable_and_marked(self):
        first, second = (make(bits=seeded(3)).draw_tree(space(), "1/2") for _ in range(2))
        assert first.labels.tolist() == second.labels.tolist()
        assert first.private is False


def test_a_drawn_tree_of_scores():
    drawn = make(public=True).draw_tree(space(), math.inf)
    np.testing.assert_array_equal(drawn.tree(0.5).counts, 0.5 * np.eye(2)[drawn.labels])


def test_nothing_is_laid_out_before_the_charge(monkeypatch):
    """A request that the budget does not allow must not cost the work of an answer."""

    def refuse(*_):
        raise AssertionError("laid out before the charge")

    schema = Schema({"a": Categorical(["x", "y"])}, "c", ["n", "p"])
    curator = Curator({"a": ["x"], "c": ["n"]}, schema, Budget("1/100"))
    monkeypatch.setattr(SpaceArrays, "__init__", refuse)
    with pytest.raises(BudgetExceeded):
        curator.draw_tree(TreeSpace(schema, 2), epsilon=1)
    with pytest.raises(AssertionError, match="before the charge"):
        SpaceArrays(TreeSpace(schema, 2))


def test_spaces_of_the_same_content_share_one_plan():
    schema = Schema({"a": Categorical(["x", "y"]), "b": Categorical([1, 2])}, "c", ["n", "p"])
    plan = plan_of(TreeSpace(schema, 2))
    assert plan_of(TreeSpace(schema, 2)) is plan
    assert plan_of(TreeSpace(schema, 1)) is not plan
    assert plan_of(TreeSpace(schema, 2, keep=0.7)) is not plan
    other = Schema({"a": Categorical(["x", "z"]), "b": Categorical([1, 2])}, "c", ["n", "p"])
    assert plan_of(TreeSpace(other, 2)) is not plan
