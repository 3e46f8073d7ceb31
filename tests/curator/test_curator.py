"""The trust boundary: charge first, answer only through a mechanism."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet import datasets
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger, SQLiteLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Question
from privet.errors import (
    BudgetExceeded,
    KeyReused,
    LedgerError,
    OverlapError,
    ParameterError,
    PrivacyError,
    PrivetError,
    QuestionError,
    SchemaMismatch,
    TableError,
)
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.queries import RowScore
from tests.amounts import NO_EPSILONS
from tests.conformance.check_mechanism import ALPHA, fit, gaussian_law, laplace_law
from tests.curator.spied import Spy

NURSERY = datasets.load("nursery")
SCHEMA = NURSERY.schema.declare(n_rows=12960)
TRUTH = NURSERY.y.value_counts().reindex(list(SCHEMA.classes)).to_numpy()


def make(budget: Budget | None = None, schema: Schema = SCHEMA, **options) -> Curator:
    return Curator(NURSERY.table, schema, Budget(1) if budget is None else budget, **options)


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


@pytest.fixture
def everyone():
    return Cells.everything(SCHEMA)


def forest(n_trees: int) -> Question:
    root = Cells.everything(SCHEMA)
    return Question.forest(
        [root.refine({0: Split.multiway(SCHEMA, name)}) for name in SCHEMA.names[:n_trees]]
    )


@pytest.fixture
def spied(monkeypatch):
    ledger = MemoryLedger()
    spy = Spy(ledger, NURSERY.table)
    monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
    return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy


ASK = {
    "count": lambda curator, epsilon: curator.count(Cells.everything(SCHEMA), epsilon),
    "size": lambda curator, epsilon: curator.size(epsilon),
    "sums": lambda curator, epsilon: curator.sums(
        Cells.everything(SCHEMA), RowScore(SCHEMA, np.array([1, 0, 2, 0, -3])), epsilon
    ),
    "choose": lambda curator, epsilon: curator.choose(
        Cells.everything(SCHEMA), [Split.multiway(SCHEMA, name) for name in SCHEMA], "max", epsilon
    ),
}


@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
class TestEveryQuestion:
    def test_is_charged_before_the_data_is_touched(self, ask, spied):
        curator, spy = spied
        answer = ask(curator, "1/4")
        assert spy.entries_seen == [1]
        assert answer.entry == curator.ledger.entries()[0]
        assert answer.cost.epsilon == curator.spent.epsilon == F(1, 4)
        assert curator.left == F(3, 4)
        assert answer.private is True

    def test_that_does_not_fit_never_touches_the_data(self, ask, spied):
        curator, spy = spied
        with pytest.raises(BudgetExceeded) as caught:
            ask(curator, "1.25")
        assert (caught.value.asked, caught.value.left) == (F(5, 4), 1)
        assert spy.entries_seen == []
        assert curator.left == 1

    def test_stays_charged_when_the_source_fails(self, ask, spied):
        curator, spy = spied
        spy.fail = TableError("gone")
        with pytest.raises(TableError):
            ask(curator, "1/4")
        assert curator.left == F(3, 4)

    @pytest.mark.parametrize("epsilon", NO_EPSILONS)
    def test_refuses_what_is_no_epsilon_without_a_charge(self, ask, epsilon):
        curator = make()
        with pytest.raises(ParameterError):
            ask(curator, epsilon)
        assert curator.ledger.entries() == []

    def test_refuses_infinite_epsilon(self, ask):
        curator = make()
        with pytest.raises(PrivacyError, match="no noise"):
            ask(curator, math.inf)
        assert curator.ledger.entries() == []

    def test_costs_a_person_more_than_a_row(self, ask):
        schema = replace(SCHEMA, rows_per_person=3, neighbours="replace")
        curator = Curator(NURSERY.table, schema, Budget(6))
        answer = ask(curator, 1)
        assert answer.cost.epsilon == curator.spent.epsilon == 6
        assert curator.left == 0

    def test_is_repeatable_and_not_private_with_a_test_seed(self, ask):
        first, second, other = (ask(make(bits=seeded(seed)), "1/2") for seed in (1, 1, 2))
        assert first.private is second.private is False
        if hasattr(first, "tables"):
            assert all((a == b).all() for a, b in zip(first.tables, second.tables, strict=True))
            assert any((a != b).any() for a, b in zip(first.tables, other.tables, strict=True))
        else:
            assert first.splits == second.splits

    def test_answers_from_a_database_as_from_memory(self, ask, tmp_path):
        path = tmp_path / "nursery.parquet"
        NURSERY.table.to_parquet(path)
        memory, database = (
            ask(curator, "1/2")
            for curator in (make(bits=seeded(5)), Curator(path, SCHEMA, Budget(1), bits=seeded(5)))
        )
        if hasattr(memory, "tables"):
            assert all((a == b).all() for a, b in zip(memory.tables, database.tables, strict=True))
        else:
            assert memory.splits == database.splits


class TestCount:
    def residues(self, question, **cost):
        """The noise of many draws of one question."""
        curator = make(Budget(rho=10**9), bits=seeded(3))
        with_public = Curator(NURSERY.table, SCHEMA, Budget(1), public=True)
        exact = with_public.count(question, math.inf)
        draws = []
        for _ in range(400):
            answer = curator.count(question, **cost)
            draws += [
                table - truth for table, truth in zip(answer.tables, exact.tables, strict=True)
            ]
        return answer, np.concatenate([draw.reshape(-1) for draw in draws])

    @pytest.mark.parametrize("n_trees", [1, 4])
    def test_laplace_scale_is_partitions_over_epsilon(self, n_trees):
        answer, noise = self.residues(forest(n_trees), epsilon="1/2")
        assert (answer.noise, answer.spread) == ("discrete-laplace", 2 * n_trees)
        assert answer.cost == Cost.pure("1/2")
        assert fit(noise, laplace_law(2 * n_trees)) > ALPHA
        for wrong in (0.7, 1.3):
            assert fit(noise, laplace_law(2 * n_trees * wrong)) < ALPHA
        assert answer.deviation == pytest.approx(noise.std(), rel=0.05)

    @pytest.mark.parametrize("n_trees", [1, 4])
    def test_gaussian_variance_is_partitions_over_two_rho(self, n_trees):
        answer, noise = self.residues(forest(n_trees), rho="1/50")
        assert (answer.noise, answer.spread) == ("discrete-gaussian", 25 * n_trees)
        assert answer.cost == Cost.concentrated("1/50")
        assert fit(noise, gaussian_law(25 * n_trees)) > ALPHA
        for wrong in (0.7, 1.3):
            assert fit(noise, gaussian_law(25 * n_trees * wrong**2)) < ALPHA

    def test_a_level_costs_its_epsilon_once(self, everyone):
        curator = make()
        leaves = everyone.refine({0: Split.multiway(SCHEMA, "health")})
        assert curator.count(leaves, "0.1").cost.epsilon == F(1, 10)
        assert curator.count(Question.level(leaves, SCHEMA.names), "0.1").spread == 8 * 10
        assert curator.left == F(4, 5)

    def test_no_entry_is_spared_the_noise(self):
        """Empty cells get noise like any other: an exact zero would tell that nobody is there."""
        cells = Cells.of(
            SCHEMA,
            [
                Cell((Condition("health", (0,)), Condition("health", (1,)))),
                Cell((Condition("health", (2,)),)),
            ],
        )
        noise = [
            make(Budget(10), bits=seeded(seed)).count(cells, "0.1").tables[0][0]
            for seed in range(40)
        ]
        assert (np.array(noise).std(axis=0) > 5).all()

    def test_overlapping_cells_are_refused_before_a_charge(self):
        curator = make()
        cells = [Cell((Condition("health", (0, 1)),)), Cell((Condition("social", (0,)),))]
        with pytest.raises(OverlapError) as caught:
            curator.count(cells, "0.1")
        assert (caught.value.first, caught.value.second) == tuple(cells)
        assert curator.ledger.entries() == []

    def test_epsilon_or_rho_and_not_both(self, everyone):
        for cost in ({}, {"epsilon": 1, "rho": 1}):
            with pytest.raises(ParameterError, match="either epsilon or rho"):
                make().count(everyone, **cost)

    def test_noise_that_would_not_fit_is_refused_before_a_charge(self, everyone):
        curator = make()
        with pytest.raises(ParameterError, match="64 bits"):
            curator.count(everyone, "1e-20")
        assert curator.ledger.entries() == []

    def test_a_question_about_another_schema_is_refused(self, everyone):
        other = Schema(dict(SCHEMA.attributes), "class", SCHEMA.classes[::-1])
        curator = make()
        with pytest.raises(QuestionError, match="another schema"):
            curator.count(Cells.everything(other), 1)
        assert curator.ledger.entries() == []

    def test_the_owners_facts_come_from_the_curator_not_the_question(self, everyone):
        """A question whose schema has the same domain but a milder promise is charged by the
        curator's promise.
        """
        strict = Curator(NURSERY.table, replace(SCHEMA, neighbours="replace"), Budget(1))
        assert strict.count(everyone, "0.5").cost.epsilon == 1


class TestChoose:
    def test_finds_the_best_split_at_a_large_epsilon(self, everyone):
        for criterion in ("max", "gini", "info_gain"):
            choice = make(Budget(100)).choose(
                everyone, [Split.multiway(SCHEMA, name) for name in SCHEMA], criterion, 50
            )
            assert choice.splits[0].attribute == "health"

    def test_one_list_per_cell_and_one_charge_for_all(self, everyone):
        cells = everyone.refine({0: Split.multiway(SCHEMA, "health")})
        lists = [
            [Split.multiway(SCHEMA, "parents")],
            [Split.multiway(SCHEMA, "social"), Split.multiway(SCHEMA, "form")],
        ]
        lists.append([Split.value(SCHEMA, "finance", code=0)])
        curator = make()
        choice = curator.choose(cells, lists, "max", "1/2")
        assert all(split in allowed for split, allowed in zip(choice.splits, lists, strict=True))
        assert curator.left == F(1, 2)

    def test_chance_of_the_better_split_follows_epsilon(self, everyone):
        """With scores that differ by a known gap, permute-and-flip takes the worse one with
        probability exp(-eps gap)/2.
        """
        rows = pd.DataFrame(
            {"a": ["x", "y"] * 6, "b": ["x", "y"] * 5 + ["y", "x"], "c": ["n", "p"] * 6}
        )
        schema = Schema({name: Categorical(["x", "y"]) for name in "ab"}, "c", ["n", "p"])
        splits = [Split.multiway(schema, name) for name in "ab"]  # correct rows: 12 and 10
        curator = Curator(rows, schema, Budget(10**6), bits=seeded(4))
        draws = [
            curator.choose(Cells.everything(schema), splits, "max", 1).splits[0].attribute
            for _ in range(4000)
        ]
        expected = math.exp(-2) / 2
        assert draws.count("b") / 4000 == pytest.approx(
            expected, abs=4 * math.sqrt(expected / 4000)
        )

    def test_exponential_costs_less_rho(self, everyone):
        splits = [Split.multiway(SCHEMA, name) for name in SCHEMA]
        curator = make(Budget(rho=1))
        assert curator.choose(everyone, splits, "max", 1, mechanism="exponential").cost.rho == F(
            1, 8
        )
        assert curator.choose(everyone, splits, "max", 1).cost.rho == F(1, 2)

    def test_information_gain_needs_a_declared_number_of_rows(self, everyone):
        curator = make(schema=SCHEMA.declare(n_rows=None))
        with pytest.raises(PrivacyError, match="n_rows"):
            curator.choose(everyone, [Split.multiway(SCHEMA, "form")], "info_gain", "1/2")
        assert curator.ledger.entries() == []

    @pytest.mark.parametrize(
        ("candidates", "criterion", "mechanism", "message"),
        [
            ([], "max", "exponential", "list of candidates"),
            ([[]], "max", "exponential", "no candidate"),
            ([Split("form", (0, 1))], "max", "exponential", "a child for each"),
            ([Split("nothing", (0, 1))], "max", "exponential", "nothing"),
            ([Split.multiway(SCHEMA, "form")], "entropy", "exponential", "criterion"),
            ([Split.multiway(SCHEMA, "form")], "max", "best", "mechanism"),
            ([Split.multiway(SCHEMA, "form"), []], "max", "exponential", "candidates"),
        ],
    )
    def test_bad_candidates_are_refused_before_a_charge(
        self, everyone, candidates, criterion, mechanism, message
    ):
        curator = make()
        with pytest.raises(PrivetError, match=message):
            curator.choose(everyone, candidates, criterion, "1/2", mechanism=mechanism)
        assert curator.ledger.entries() == []

    def test_a_criterion_is_a_name_never_an_object_that_would_see_counts(self, everyone):
        seen = []

        class Peeking:
            score_range = 1

            def scores(self, children):
                seen.append(children)
                return children.sum(axis=(-1, -2))

        with pytest.raises(ParameterError, match="criterion"):
            make().choose(everyone, [Split.multiway(SCHEMA, "form")], Peeking(), "1/2")
        assert seen == []


class TestSumsAndSize:
    def test_sums_have_the_scale_of_the_scores_bound(self, everyone):
        score = RowScore(SCHEMA, np.array([0, 1, 2, 3, -7]))
        curator = make(Budget(10**6), bits=seeded(2))
        noise = np.array(
            [curator.sums(everyone, score, "1/2").tables[0][0] for _ in range(3000)]
        ) - int((TRUTH * score.table).sum())
        assert curator.sums(everyone, score, "1/2").spread == 14
        assert fit(noise, laplace_law(14)) > ALPHA
        assert fit(noise, laplace_law(14 * 0.7)) < ALPHA

    def test_sums_by_an_attribute(self, everyone):
        table = np.arange(15, dtype=np.int64).reshape(3, 5)
        cells = everyone.refine({0: Split.multiway(SCHEMA, "health")})
        score = RowScore(SCHEMA, table, by="parents")
        answer = make(Budget(10**6)).sums(cells, score, 1000).tables[0]
        codes = NURSERY.table.assign(
            score=[
                table[SCHEMA.attributes["parents"].labels.index(p), list(SCHEMA.classes).index(c)]
                for p, c in zip(NURSERY.table.parents, NURSERY.y, strict=True)
            ]
        )
        truth = (
            codes.groupby("health")
            .score.sum()
            .reindex(list(SCHEMA.attributes["health"].labels))
            .to_numpy()
        )
        assert np.abs(answer - truth).max() <= 2
        assert answer.shape == (3,)

    @pytest.mark.parametrize(
        "table", [np.zeros(5, dtype=int), np.ones(4, dtype=int), np.ones(5), np.array([2**40] * 5)]
    )
    def test_a_row_score_is_bounded_whole_numbers(self, table):
        with pytest.raises(QuestionError, match="row score"):
            RowScore(SCHEMA, table)

    def test_size(self):
        curator = make(Budget(10**6), bits=seeded(2))
        sizes = np.array([curator.size("1/2").tables[0][0] for _ in range(3000)])
        assert fit(sizes - 12960, laplace_law(2)) > ALPHA


class TestPublicTables:
    def test_exact_counts_are_marked_and_not_charged(self, everyone):
        curator = make(public=True)
        answer = curator.count(everyone, math.inf)
        np.testing.assert_array_equal(answer.tables[0][0], TRUTH)
        assert answer.private is False
        assert answer.entry is None
        assert (answer.noise, answer.deviation) == ("none", 0)
        assert curator.left == 1


class TestAccounts:
    def test_a_preview_charges_nothing(self):
        curator = make(Budget(1))
        preview = curator.preview([Cost.pure("1/3")] * 3)
        assert (preview.cost.epsilon, preview.left, preview.fits) == (1, 1, True)
        assert curator.preview([Cost.pure("1/3")] * 4).fits is False
        assert curator.preview([Cost.concentrated("0.1")]).fits is False
        assert curator.ledger.entries() == []

    def test_a_preview_is_what_is_charged(self, everyone):
        schema = replace(SCHEMA, neighbours="replace", rows_per_person=2)
        curator = Curator(NURSERY.table, schema, Budget(10))
        assert curator.preview([Cost.pure("0.3")]).cost == curator.count(everyone, "0.3").cost

    def test_a_durable_ledger_adds_up_over_curators(self, everyone, tmp_path):
        path = tmp_path / "ledger.sqlite"
        make(Budget(1), ledger=SQLiteLedger(path), dataset="nursery").count(everyone, "0.7")
        again = Curator(NURSERY.table, SCHEMA, ledger=SQLiteLedger(path), dataset="nursery")
        with pytest.raises(BudgetExceeded) as caught:
            again.count(everyone, "0.5")
        assert caught.value.left == F(3, 10)

    def test_budgets_are_stated_once(self, tmp_path):
        ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
        with pytest.raises(LedgerError, match="no budget"):
            Curator(NURSERY.table, SCHEMA, ledger=ledger)
        make(Budget(1), ledger=ledger)
        make(Budget("1.0"), ledger=ledger)
        with pytest.raises(LedgerError, match="holds a budget of epsilon 1"):
            make(Budget(2), ledger=ledger)

    def test_analysts_have_caps_of_their_own(self, everyone):
        ledger = MemoryLedger()
        ada = make(Budget(1), ledger=ledger, analyst="ada")
        ledger.set_cap(ada.dataset, Budget("0.2"), "ada")
        with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
            ada.count(everyone, "0.3")
        make(Budget(1), ledger=ledger, analyst="bob").count(everyone, "0.3")
        assert ada.left == F(1, 5)


class TestTheTable:
    def test_structure_is_checked_at_once_and_values_only_for_the_owner(self):
        table = NURSERY.table.assign(form="SECRET-VALUE")
        Curator(table, SCHEMA, Budget(1))
        with pytest.raises(SchemaMismatch) as caught:
            Curator(table, SCHEMA, Budget(1), strict=True)
        assert "'form'" in str(caught.value)
        assert "SECRET-VALUE" not in str(caught.value)
        with pytest.raises(SchemaMismatch, match="'form' is not in the table"):
            Curator(NURSERY.table.drop(columns="form"), SCHEMA, Budget(1))

    def test_no_failure_depends_on_the_rows(self, everyone):
        """Whatever stands in a row, the question is answered."""
        row = NURSERY.table.iloc[0]
        for strange in (
            "?",
            "",
            "x" * 10_000,
            None,
            math.nan,
            1e308,
            "'; DROP TABLE t; --",
            object(),
        ):
            table = pd.DataFrame([row] * 5, dtype=object)
            table.iloc[0] = strange
            answer = Curator(table, SCHEMA, Budget(100)).count(everyone, 50)
            assert answer.tables[0].sum() == 4

    def test_a_snapshot_is_made_after_the_first_charge(self, everyone, spied):
        curator, spy = spied
        with curator.snapshot():
            assert spy.entries_seen == []
            curator.count(everyone, "0.1")
        assert spy.entries_seen == [1]


class TestAgainstAttacks:
    """Ways around the promise that were found in review, each closed."""

    @pytest.mark.parametrize(
        "smallest",
        [np.array([-(2**63), 1, 1, 1, 1]), np.array([2**63, 1, 1, 1, 1], dtype=np.uint64)],
    )
    def test_a_score_without_an_absolute_value_is_refused(self, smallest):
        """The smallest int64 is its own absolute value: its bound would be 1, and the sum would
        show the parity of a cell.
        """
        with pytest.raises(QuestionError, match="at most"):
            RowScore(SCHEMA, smallest)

    def test_a_score_cannot_be_changed_after_its_bound_is_known(self):
        given = np.ones(5, dtype=np.int64)
        score = RowScore(SCHEMA, given)
        given[:] = 10**6
        assert score.bound == int(score.table.max()) == 1
        with pytest.raises(ValueError, match="read-only"):
            score.table[0] = 10**6

    def test_what_is_charged_is_what_the_noise_was_scaled_by(self, everyone):
        """An epsilon that is another number each time it is looked at."""

        class Shifty(float):
            looks = 0

            def __float__(self):
                Shifty.looks += 1
                return 50.0 if Shifty.looks == 1 else 0.001

        answer = make(Budget(100)).count(everyone, Shifty(0.5))
        assert answer.spread == 1 / answer.cost.epsilon

    def test_an_engines_failure_tells_nothing(self, spied, everyone):
        curator, spy = spied
        spy.fail = IndexError("index 776 is out of bounds, SECRET-VALUE")
        with pytest.raises(TableError) as caught:
            curator.count(everyone, "0.1")
        assert "776" not in str(caught.value)
        assert "the charge stands" in str(caught.value)
        assert caught.value.__cause__ is caught.value.__context__ is None

    def test_a_second_opener_cannot_replace_the_cap(self):
        ledger = MemoryLedger()
        assert ledger.open_cap("people", Budget(1)) == Budget(1)
        assert ledger.open_cap("people", Budget(10)) == Budget(1)
        assert ledger.cap("people") == Budget(1)

    def test_selection_and_sums_take_one_partition(self):
        curator = make()
        with pytest.raises(QuestionError, match="one partition"):
            curator.choose(forest(2), [Split.multiway(SCHEMA, "form")], "max", "0.1")
        with pytest.raises(QuestionError, match="one partition"):
            curator.sums(forest(2), RowScore(SCHEMA, np.ones(5, dtype=int)), "0.1")
        assert curator.ledger.entries() == []

    def test_the_ledger_says_when_a_test_seed_was_used(self, everyone):
        curator = make(bits=seeded())
        curator.count(everyone, "0.1")
        assert curator.ledger.entries()[0].what.startswith("NOT PRIVATE")


class TestModelsAndParts:
    """Released models on private rows, and people divided into groups."""

    @staticmethod
    def model(**changes):
        from privet.learners import RandomTreesClassifier

        return RandomTreesClassifier(1, SCHEMA, **changes).fit(NURSERY.X, NURSERY.y).model_

    def test_a_confusion_matrix_is_noisy_and_charged_once(self):
        curator = make(Budget(10**6), bits=seeded(3))
        model = self.model()
        answers = np.array([curator.confusion(model, 2).tables[0] for _ in range(60)])
        codes = [np.array(column) for column in _codes()]
        predicted = model.probabilities(codes).argmax(axis=1)
        truth = np.zeros((5, 5), dtype=int)
        np.add.at(truth, (NURSERY.y.map(list(SCHEMA.classes).index).to_numpy(), predicted), 1)
        noise = (answers - truth).reshape(-1)
        assert fit(noise, laplace_law(0.5)) > ALPHA
        assert curator.spent.epsilon == 120

    def test_the_better_model_is_chosen(self):
        good, bad = self.model(), self.model(n_trees=1, height=1)
        index, choice = make().choose_model([bad, good], "1/2")
        assert index == 1
        assert choice.cost.epsilon == F(1, 2)

    def test_models_that_could_look_at_rows_are_refused_before_a_charge(self):
        from dataclasses import replace as other

        from privet.accounting.statement import PrivacyStatement
        from privet.domain.tree import Tree
        from privet.model import Model

        seen = []

        class Spy(Tree):
            def reach(self, codes):
                seen.append(codes)
                return super().reach(codes)

        model = self.model()
        spied = other(
            model, trees=(Spy(model.trees[0].cells, model.trees[0].counts),), evidence=None
        )
        curator = make()
        for ask in (lambda: curator.confusion(spied, 1), lambda: curator.choose_model([spied], 1)):
            with pytest.raises(ParameterError, match="must be a plain"):
                ask()
        assert seen == []

        class Sly(PrivacyStatement):
            pass

        leaf = model.privacy
        sly = Sly(
            leaf.charges,
            leaf.neighbours,
            leaf.rows_per_person,
            leaf.person,
            private=True,
            id="f" * 32,
        )
        nested = other(
            model, privacy=PrivacyStatement.together([leaf, sly], "may-overlap"), evidence=None
        )
        with pytest.raises(ParameterError, match="must be a plain"):
            curator.confusion(nested, 1)
        foreign = Schema(dict(SCHEMA.attributes), "class", SCHEMA.classes[::-1])
        with pytest.raises(QuestionError, match="about its schema"):
            Model("x", foreign, model.trees, "counts", model.privacy)
        assert curator.ledger.entries() == []

    def test_a_row_score_that_lies_about_its_bound_is_refused(self, everyone):
        class Liar(RowScore):
            bound = 1

        with pytest.raises((ParameterError, AttributeError)):
            make().sums(everyone, Liar(SCHEMA, np.full(5, 10**6)), 1)

    @pytest.mark.parametrize("place", ["memory", "parquet"])
    def test_disjoint_groups_cost_epsilon_once(self, place, tmp_path, everyone):
        NURSERY.table.to_parquet(tmp_path / "t.parquet")
        table = NURSERY.table if place == "memory" else tmp_path / "t.parquet"
        curator = Curator(table, SCHEMA, Budget(200))
        with curator.snapshot():
            parts = curator.split_people(4, 100)
            sizes = [part.size(50).tables[0][0] for part in parts]
            with pytest.raises(BudgetExceeded):
                parts[0].size(60)
        assert sum(sizes) == pytest.approx(12960, abs=4)
        assert curator.spent.epsilon == 100

    @pytest.mark.parametrize("place", ["memory", "file"])
    def test_a_key_divides_people_once(self, place, tmp_path):
        """Groups that are drawn anew have budgets of their own, which nobody paid for."""
        ledger = MemoryLedger() if place == "memory" else SQLiteLedger(tmp_path / "ledger.sqlite")
        curator = make(ledger=ledger)
        (part,) = curator.split_people(1, 1, "a-key")
        assert part.left == 1
        with pytest.raises(KeyReused, match="divided the people before"):
            curator.split_people(1, 1, "a-key")
        assert curator.spent.epsilon == 1

    def test_a_part_of_a_database_is_gone_with_its_snapshot_or_when_divided_anew(self, tmp_path):
        """Otherwise somebody could be in two parts that were paid for once."""
        NURSERY.table.to_parquet(tmp_path / "t.parquet")
        curator = Curator(tmp_path / "t.parquet", SCHEMA, Budget(100))
        with pytest.raises(TableError, match="within a snapshot"):
            curator.split_people(2, 1)
        assert curator.ledger.entries() == []
        with curator.snapshot():
            old = curator.split_people(2, 1)
            old[0].size("1/2")
            curator.split_people(2, 1)
            with pytest.raises(TableError, match="gone"):
                old[1].size("1/2")
            fresh = curator.split_people(2, 1)
            with pytest.raises(TableError, match="further"):
                fresh[0].split_people(2, "1/2")
        with curator.snapshot(), pytest.raises(TableError, match="gone"):
            fresh[1].size("1/2")


def _codes():
    from privet.domain.encode.rows import encode

    return encode(SCHEMA, NURSERY.table).codes
