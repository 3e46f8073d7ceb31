"""Noisy derivatives of the log-likelihood through the trust boundary."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.domain.tree import Tree
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, QuestionError, TableError
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from privet.tables.counting.scoring import UNIT, clip_of, even_clip_of
from tests.conformance.check_mechanism import ALPHA, fit, gaussian_law, laplace_law
from tests.curator.spied import Spy


def table_of(n_classes: int, n: int = 400) -> tuple[Schema, pd.DataFrame, Tree, Cells]:
    schema = Schema(
        {"a": Categorical(["x", "y", "z"]), "b": Categorical([1, 2])}, "c", list(range(n_classes))
    )
    rng = np.random.default_rng(n_classes)
    rows = pd.DataFrame(
        {
            "a": rng.choice(["x", "y", "z", "?"], n),
            "b": rng.integers(1, 3, n),
            "c": rng.integers(0, n_classes, n),
        }
    )
    by_b = Cells.everything(schema).refine({0: Split.multiway(schema, "b")})
    tree = Tree(by_b, rng.normal(size=(3, n_classes)))
    return schema, rows, tree, Cells.everything(schema).refine({0: Split.multiway(schema, "a")})


SCHEMA, ROWS, TREE, CELLS = table_of(2)


def seeded(seed: int = 1) -> SeededBits:
    with unlock_test_seeds():
        return SeededBits(seed)


def reference(schema: Schema, rows: pd.DataFrame, tree: Tree) -> np.ndarray:
    """Sums over the values of a, in real numbers."""
    n_classes = schema.n_classes
    found = np.zeros((3, 2, n_classes))
    for a, b, c in rows.itertuples(index=False):
        if a in "xyz":
            odds = np.exp(tree.counts[b])
            p = odds / odds.sum()
            numbers = np.stack([np.eye(n_classes)[c] - p, p * (1 - p)])
            if n_classes == 2:
                numbers = numbers * [0, 1]
            found["xyz".index(a)] += numbers * min(
                1, clip_of(n_classes) / UNIT / np.abs(numbers).sum()
            )
    return found[:, :, 1:] if n_classes == 2 else found


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_sums_equal_a_reference_and_are_the_same_from_a_database(n_classes, tmp_path):
    schema, rows, tree, cells = table_of(n_classes)
    rows.to_parquet(tmp_path / "t.parquet")
    sources = (rows, rows.sample(frac=1, random_state=0), tmp_path / "t.parquet")
    exact = [
        Curator(source, schema, Budget(1), public=True).gradients(cells, [tree], math.inf)
        for source in sources
    ]
    np.testing.assert_allclose(
        exact[0].tables[0] / UNIT, reference(schema, rows, tree), atol=400 / UNIT
    )
    for other in exact[1:]:
        np.testing.assert_array_equal(exact[0].tables[0], other.tables[0])
    assert exact[0].private is False
    assert exact[0].entry is None


@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_row_moves_the_sums_by_the_clip_at_most(n_classes):
    schema, rows, tree, cells = table_of(n_classes, n=25)
    answers = [
        Curator(some, schema, Budget(1), public=True).gradients(cells, [tree], math.inf).tables[0]
        for some in (rows, *(rows.drop(index=row) for row in rows.index))
    ]
    moved = [np.abs(answers[0] - fewer).sum() for fewer in answers[1:]]
    assert clip_of(n_classes) * 0.5 < max(moved) <= clip_of(n_classes)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_one_row_moves_evenly_clipped_sums_by_the_clip_in_l2_at_most(n_classes):
    schema, rows, tree, cells = table_of(n_classes, n=25)
    answers = [
        Curator(some, schema, Budget(1), public=True)
        .gradients(cells, [tree], math.inf, clip="even")
        .tables[0]
        for some in (rows, *(rows.drop(index=row) for row in rows.index))
    ]
    moved = [np.sqrt(((answers[0] - fewer) ** 2).sum()) for fewer in answers[1:]]
    assert even_clip_of(n_classes) * 0.9 < max(moved) <= even_clip_of(n_classes)


def test_one_person_moves_the_sums_by_their_rows_at_most(tmp_path):
    """However many rows they bring, from memory and from a file."""
    schema, rows, tree, cells = table_of(3, n=60)
    people = replace(schema, person="who", rows_per_person=2)
    rows = rows.assign(who=[f"p{i % 20}" for i in range(60)])
    newcomer = pd.concat([rows[rows["a"] != "?"].iloc[:9].assign(who="new")] * 3)
    answers = []
    for table in (rows, pd.concat([rows, newcomer])):
        table.to_parquet(tmp_path / "t.parquet")
        sources = (table, tmp_path / "t.parquet")
        memory, file = (
            Curator(source, people, Budget(1), public=True)
            .gradients(cells, [tree], math.inf)
            .tables[0]
            for source in sources
        )
        np.testing.assert_array_equal(memory, file)
        answers.append(memory)
    assert 0 < np.abs(answers[1] - answers[0]).sum() <= 2 * clip_of(3)


class TestNoise:
    def residues(self, clip="own", **cost):
        curator = Curator(ROWS, SCHEMA, Budget(rho=10**9), bits=seeded(3))
        exact = (
            Curator(ROWS, SCHEMA, Budget(1), public=True)
            .gradients(CELLS, [TREE], math.inf, clip=clip)
            .tables[0]
        )
        answers = [curator.gradients(CELLS, [TREE], clip=clip, **cost) for _ in range(400)]
        return answers[0], np.concatenate(
            [(answer.tables[0] - exact).reshape(-1) for answer in answers]
        )

    def test_laplace_of_scale_clip_over_epsilon(self):
        answer, noise = self.residues(epsilon=2000)
        scale = clip_of(2) / 2000
        assert (answer.noise, answer.spread, answer.row_cost) == (
            "discrete-laplace",
            F(clip_of(2), 2000),
            Cost.pure(2000),
        )
        assert fit(noise, laplace_law(scale)) > ALPHA
        for wrong in (0.7, 1.3):
            assert fit(noise, laplace_law(scale * wrong)) < ALPHA

    def test_gaussian_of_variance_clip_squared_over_two_rho(self):
        answer, noise = self.residues(rho=10**6)
        variance = clip_of(2) ** 2 / 2e6
        assert (answer.noise, answer.spread) == ("discrete-gaussian", F(clip_of(2) ** 2, 2 * 10**6))
        assert fit(noise, gaussian_law(variance)) > ALPHA
        for wrong in (0.7, 1.3):
            assert fit(noise, gaussian_law(variance * wrong**2)) < ALPHA

    def test_evenly_clipped_sums_have_gaussian_noise_for_their_size_in_l2(self):
        answer, noise = self.residues(clip="even", rho=10**6)
        variance = even_clip_of(2) ** 2 / 2e6
        assert answer.spread == F(even_clip_of(2) ** 2, 2 * 10**6)
        assert answer.row_cost == Cost.concentrated(10**6)
        assert fit(noise, gaussian_law(variance)) > ALPHA
        for wrong in (0.7, 1.3):
            assert fit(noise, gaussian_law(variance * wrong**2)) < ALPHA

    @pytest.mark.parametrize("n_classes", [2, 3])
    def test_evenly_clipped_sums_have_laplace_noise_for_the_largest_size_in_l1(self, n_classes):
        schema, rows, tree, cells = table_of(n_classes)
        numbers = 2 if n_classes == 2 else 2 * n_classes
        answer = Curator(rows, schema, Budget(1)).gradients(cells, [tree], 1, clip="even")
        assert answer.spread**2 >= numbers * even_clip_of(n_classes) ** 2

    def test_more_classes_have_a_clip_of_one(self):
        schema, rows, tree, cells = table_of(3)
        assert Curator(rows, schema, Budget(1)).gradients(cells, [tree], 1).spread == UNIT


class TestMoney:
    @pytest.fixture
    def spied(self, monkeypatch):
        ledger = MemoryLedger()
        spy = Spy(ledger, ROWS)
        monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
        return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy

    def test_is_charged_before_the_rows_are_touched(self, spied):
        curator, spy = spied
        answer = curator.gradients(CELLS, [TREE], "1/4")
        assert spy.entries_seen == [1]
        assert answer.cost == Cost.pure("1/4")
        assert curator.left == F(3, 4)
        assert curator.ledger.entries()[0].what == "derivatives of the log-likelihood: 3 cells"

    def test_that_does_not_fit_never_touches_the_rows(self, spied):
        curator, spy = spied
        with pytest.raises(BudgetExceeded):
            curator.gradients(CELLS, [TREE], 2)
        assert spy.entries_seen == []

    def test_stays_charged_when_counting_fails(self, spied):
        curator, spy = spied
        spy.fail = ValueError("SECRET")
        with pytest.raises(TableError, match=r"\(ValueError\); the charge stands"):
            curator.gradients(CELLS, [TREE], "1/4")
        assert curator.left == F(3, 4)

    def test_a_person_costs_more_than_a_row(self):
        schema = replace(SCHEMA, rows_per_person=3, neighbours="replace")
        answer = Curator(ROWS, schema, Budget(6)).gradients(CELLS, [TREE], 1)
        assert (answer.cost.epsilon, answer.spread) == (6, clip_of(2))
        assert Curator(ROWS, schema, Budget(rho=36)).gradients(CELLS, [TREE], rho=1).cost.rho == 36

    def test_parts_of_the_people_add_up(self):
        """Disjoint parts: what they say together is what the whole says, but for noise."""
        exact = (
            Curator(ROWS, SCHEMA, Budget(1), public=True)
            .gradients(CELLS, [TREE], math.inf)
            .tables[0]
        )
        parts = Curator(ROWS, SCHEMA, Budget(10**12)).split_people(3, 10**9)
        summed = sum(part.gradients(CELLS, [TREE], 10**9).tables[0] for part in parts)
        np.testing.assert_array_equal(summed, exact)


class Watching(Cells):
    """Cells that would see which node each row is in."""

    seen: list = []

    @property
    def cell(self):
        self.seen.append("asked")
        return np.array([-1, 0, 1, 2])

    @cell.setter
    def cell(self, value):
        pass


class OtherQuestion(Question):
    pass


class OtherPartition(Partition):
    pass


class TestRefusals:
    @pytest.mark.parametrize("clip", ["none", None, ["even"]])
    def test_a_clip_that_there_is_not(self, clip):
        curator = Curator(ROWS, SCHEMA, Budget(1))
        with pytest.raises(ParameterError, match="clip must be 'own' or 'even'"):
            curator.gradients(CELLS, [TREE], "1/2", clip=clip)
        assert curator.ledger.entries() == []

    def test_cells_that_could_watch(self):
        curator = Curator(ROWS, SCHEMA, Budget(1))
        watching = Watching.__new__(Watching)
        for name in ("schema", "attribute", "offset", "branch", "n_cells"):
            object.__setattr__(watching, name, getattr(CELLS, name))
        for ask in (
            lambda: curator.gradients(watching, [TREE], "1/2"),
            lambda: curator.count(watching, "1/2"),
            lambda: curator.count(OtherQuestion((Partition(CELLS),)), "1/2"),
            lambda: curator.count(Question((OtherPartition(CELLS),)), "1/2"),
            lambda: curator.choose(watching, [Split.multiway(SCHEMA, "a")], "max", "1/2"),
        ):
            with pytest.raises(ParameterError, match="plain"):
                ask()
        assert curator.ledger.entries() == []

    def test_cells_and_trees_of_another_schema(self):
        curator = Curator(ROWS, SCHEMA, Budget(1))
        lying = Schema({"a": Categorical(list("xyzw")), "b": Categorical([1, 2])}, "c", [0, 1])
        other = Cells.everything(lying).refine({0: Split.multiway(lying, "a")})
        with pytest.raises(QuestionError, match="another schema"):
            curator.gradients(CELLS, [Tree(other, np.zeros((5, 2)))], "1/2")
        for fingerprint in (lying.fingerprint, SCHEMA.fingerprint):
            lying.__dict__["fingerprint"] = fingerprint
            with pytest.raises(QuestionError, match="another schema"):
                curator.gradients(other, [TREE], "1/2")
        with pytest.raises(QuestionError, match="one partition"):
            curator.gradients(Question.of(CELLS), [TREE], "1/2")
        with pytest.raises(ParameterError, match="either"):
            curator.gradients(CELLS, [TREE])
        with pytest.raises(ParameterError, match="list of released trees"):
            curator.gradients(CELLS, TREE, 1)
        with pytest.raises(PrivacyError, match="no noise"):
            curator.gradients(CELLS, [TREE], math.inf)
        with pytest.raises(ParameterError, match="64 bits"):
            curator.gradients(CELLS, [TREE], "1e-9")
        assert curator.ledger.entries() == []

    def test_cells_that_are_changed_while_rows_are_counted(self, monkeypatch):
        """The curator counts with its own copy."""
        from privet.domain.routing import Routes

        cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
        curator = Curator(ROWS, SCHEMA, Budget(1), public=True)
        before = curator.gradients(cells, [TREE], math.inf).tables[0]
        find_nodes = Routes.find_nodes

        def changed(*args, **options):
            cells.cell.setflags(write=True)
            cells.cell[:] = 10**6
            return find_nodes(*args, **options)

        monkeypatch.setattr(Routes, "find_nodes", changed)
        np.testing.assert_array_equal(curator.gradients(cells, [TREE], math.inf).tables[0], before)
        assert (cells.cell == 10**6).all()
