"""From a curator to a synthetic table: what is charged, what is promised, what is refused, and
where it works.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction as F

import duckdb
import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, Cost, rho_for
from privet.accounting.ledger import MemoryLedger
from privet.curator import Curator
from privet.curator.spending import Spending
from privet.domain import Categorical, Numeric, Schema
from privet.domain.encode.rows import encode
from privet.errors import BudgetExceeded, ParameterError, PrivacyError
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.synthetic import structure
from privet.synthetic import synthesize as synthesizing
from privet.synthetic.structure import choose_pair
from privet.synthetic.synthesize import MOST_ROWS, _count, synthesize
from tests.amounts import NO_DELTAS
from tests.curator.spied import Spy
from tests.synthetic.small import SCHEMA, curator, seeded, table

BIG = table(20_000)
ONE = Schema({"a": SCHEMA.attributes["a"]}, "c", ["no", "yes"])


#: What is chosen, one selection after the other; None is the choice to stop.
CASES = {
    "no candidates": (table(40), SCHEMA, []),
    "one attribute": (BIG, ONE, []),
    "stops at once": (BIG, SCHEMA, [None]),
    "stops early": (BIG, SCHEMA, [(1, 2), None]),
    "all pairs": (BIG, SCHEMA, [(1, 2), (0, 1)]),
}


@pytest.fixture(params=CASES)
def case(request, monkeypatch):
    """A table, its schema, and how many pairs are chosen: selections are asked and paid for, and
    their outcome is set.
    """
    frame, schema, outcomes = CASES[request.param]
    left = list(outcomes)

    def choose(*arguments):
        return left.pop(0), choose_pair(*arguments)[1]

    if not outcomes:
        monkeypatch.setattr("privet.synthetic.synthesize.list_candidates", lambda *_: [])
    monkeypatch.setattr("privet.synthetic.synthesize.choose_pair", choose)
    yield frame, schema, sum(pair is not None for pair in outcomes)
    assert left == []


class TestAccounting:
    @pytest.mark.parametrize(
        ("facts", "factor"),
        [
            ({}, 1),
            ({"neighbours": "replace"}, 2),
            ({"rows_per_person": 3}, 3),
            ({"rows_per_person": 3, "neighbours": "replace"}, 6),
        ],
    )
    def test_all_of_epsilon_is_charged_and_no_more(self, case, facts, factor):
        frame, schema, pairs = case
        epsilon = F(7, 3)
        asked = curator(frame, schema.declare(**facts), Budget(epsilon * factor))
        made = synthesize(asked, epsilon, rows=10)
        assert asked.left == 0
        assert sum(entry.cost.epsilon for entry in asked.ledger.entries()) == epsilon * factor
        assert made.privacy.charged.epsilon == epsilon
        assert made.privacy.promised.epsilon == epsilon * factor
        assert made.privacy.private
        assert len(made.pairs) == pairs

    def test_a_statement_says_what_was_asked(self):
        made = synthesize(curator(BIG, budget=Budget(4)), 4, rows=10)
        assert [(charge.what, charge.cost.epsilon) for charge in made.privacy.charges] == [
            ("class counts of every value of every attribute", F(8, 5)),
            ("which pairs of attributes to measure, in 2 selections", F(4, 5)),
            (f"class counts of {len(made.pairs)} pairs of attributes", F(8, 5)),
        ]

    def test_rho_is_promised_and_never_more_is_spent(self, case):
        frame, schema, pairs = case
        asked = curator(frame, schema, Budget(2, delta=1e-6))
        made = synthesize(asked, 2, rows=10, delta=1e-6)
        rho = rho_for(F(2), F(1, 10**6))
        spent = asked.spent.rho
        assert rho * (1 - F(1, 10**15)) < spent <= rho
        assert made.privacy.promised.rho == rho
        assert made.privacy.promised.epsilon is None
        assert made.privacy.epsilon <= 2
        assert made.privacy.delta == F(1, 10**6)
        assert len(made.pairs) == pairs

    def test_pure_epsilon_from_a_budget_in_rho(self):
        asked = curator(BIG, budget=Budget(rho=2))
        made = synthesize(asked, 2, rows=10)
        assert made.privacy.promised.epsilon == 2
        assert asked.spent.epsilon == 2
        assert asked.spent.rho <= 2

    def test_the_next_one_is_charged_again(self):
        asked = curator(budget=Budget(1))
        synthesize(asked, "1/2", rows=10)
        synthesize(asked, "1/2", rows=10)
        assert asked.left == 0
        with pytest.raises(BudgetExceeded):
            synthesize(asked, "1/1000", rows=10)


class TestRefused:
    @pytest.fixture
    def spied(self, monkeypatch):
        """A source that fails the test when it is touched."""
        ledger = MemoryLedger()
        spy = Spy(ledger, table(60))
        spy.fail = AssertionError("a row was read")
        monkeypatch.setattr("privet.curator.curator.open_table", lambda _: spy)
        return Curator("anything", SCHEMA, Budget(1), ledger=ledger), spy

    @pytest.mark.parametrize(
        ("options", "error", "named"),
        [
            ({"epsilon": "1.01"}, BudgetExceeded, "1"),
            ({"epsilon": 0}, ParameterError, "epsilon"),
            ({"epsilon": -1}, ParameterError, "epsilon"),
            ({"epsilon": math.nan}, ParameterError, "epsilon"),
            ({"epsilon": "inf"}, ParameterError, "epsilon"),
            ({"epsilon": None}, ParameterError, "epsilon"),
            ({"epsilon": math.inf}, PrivacyError, "epsilon = inf"),
            ({"epsilon": math.inf, "delta": "much"}, ParameterError, "delta"),
            (
                {"epsilon": 1, "delta": 1e-6},
                ParameterError,
                "delta above 0 needs a curator with a budget in rho",
            ),
            ({"epsilon": 1, "delta": -1}, ParameterError, "delta"),
            ({"epsilon": 1, "rows": 0}, ParameterError, "rows"),
            ({"epsilon": 1, "rows": 1.5}, ParameterError, "rows"),
            ({"epsilon": 1, "rows": True}, ParameterError, "rows"),
            ({"epsilon": 1, "rows": MOST_ROWS + 1}, ParameterError, "rows"),
            ({"epsilon": F(1, 10**30), "rows": 9}, ParameterError, "epsilon"),
            ({"epsilon": F(1, 10**6)}, ParameterError, "epsilon .* rows"),
        ],
    )
    def test_before_anything_is_charged_or_read(self, spied, options, error, named):
        asked, spy = spied
        with pytest.raises(error, match=named):
            synthesize(asked, **options)
        assert spy.entries_seen == asked.ledger.entries() == []

    @pytest.mark.parametrize("delta", NO_DELTAS)
    def test_impossible_deltas(self, delta):
        asked = curator(budget=Budget(1, delta=1e-6))
        with pytest.raises(ParameterError, match="delta"):
            synthesize(asked, 1, delta=delta)
        assert asked.ledger.entries() == []

    def test_records_that_people_randomised(self):
        """Asking them costs nothing, so a statement of what was charged would promise
        everything.
        """
        with_noise = Randomizer(SCHEMA, 2)
        records = local_curator(with_noise.many(table(50)), with_noise)
        with pytest.raises(ParameterError, match="people randomised"):
            synthesize(records, 1)


class TestRows:
    def test_are_of_the_schema_and_nothing_else(self):
        frame = table().assign(who=np.arange(600), secret="s")
        made = synthesize(curator(frame, SCHEMA.declare(person="who"), Budget(1)), 1, rows=77)
        assert list(made.frame.columns) == [*SCHEMA.names, "c"]
        assert len(made.frame) == len(made.X) == len(made.y) == 77
        assert encode(SCHEMA, made.frame).known(SCHEMA).all()
        assert made.public_schema == SCHEMA.declare(n_rows=77)

    def test_are_as_many_as_declared(self):
        assert len(synthesize(curator(schema=SCHEMA.declare(n_rows=123)), 1).frame) == 123

    def test_are_about_as_many_as_there_are(self):
        made = synthesize(curator(budget=Budget(1), bits=seeded()), 1)
        # three attributes, 20 numbers of deviation 11: about 16
        assert abs(len(made.frame) - 600) < 60

    def test_how_many_there_are_is_not_told_exactly(self):
        """With noise of a deviation above 10, ten tables of one length would be one in a
        million.
        """
        assert len({len(synthesize(curator(bits=seeded(seed)), 1).frame) for seed in range(10)}) > 1

    @pytest.mark.parametrize("n_rows", [0, 1])
    @pytest.mark.parametrize("declared", [True, False])
    def test_of_a_table_with_hardly_any(self, n_rows, declared):
        schema = SCHEMA.declare(n_rows=n_rows) if declared else SCHEMA
        made = synthesize(curator(table(5).head(n_rows), schema), 1)
        assert len(made.frame) >= 1
        assert encode(SCHEMA, made.frame).known(SCHEMA).all()

    def test_of_a_declared_size_of_nothing_are_not_all_alike(self):
        made = synthesize(curator(table(0), SCHEMA.declare(n_rows=0), bits=seeded()), 1, rows=500)
        assert len(made.frame[["a", "b", "c"]].drop_duplicates()) > 1

    def test_where_one_value_is_all_there_is(self):
        schema = Schema(
            {"a": Categorical(["only"]), "b": Numeric(0, 1, bins=1)}, "c", ["no", "yes"]
        )
        made = synthesize(
            curator(pd.DataFrame({"a": ["only"] * 9, "b": 0.5, "c": "no"}), schema), 1, rows=4
        )
        assert made.frame["a"].tolist() == ["only"] * 4

    def test_of_many_values_and_classes(self):
        rng = np.random.default_rng(0)
        schema = Schema(
            {"a": Categorical(list(range(3000))), "b": Numeric(0, 1, bins=500)},
            "c",
            [f"c{i}" for i in range(40)],
        )
        frame = pd.DataFrame(
            {
                "a": rng.integers(0, 3000, 2000),
                "b": rng.random(2000),
                "c": [f"c{i}" for i in rng.integers(0, 40, 2000)],
            }
        )
        made = synthesize(curator(frame, schema, Budget(10)), 10, rows=300)
        assert encode(schema, made.frame).known(schema).all()

    def test_at_a_tiny_epsilon(self):
        made = synthesize(curator(), F(1, 10**4), rows=30)
        assert len(made.frame) == 30


class TestWhere:
    def test_public_tables_without_noise(self):
        asked = curator(BIG, public=True)
        made = synthesize(asked, math.inf)
        assert asked.left == 1
        assert not made.privacy.private
        assert "no noise" in made.privacy.reason
        assert made.privacy.epsilon == math.inf
        assert len(made.frame) == 20_000
        counts = made.frame.groupby(["a", "b", "c"]).size()
        true = BIG.groupby(["a", "b", "c"]).size()
        # the pair was measured, so that only roundings are left
        assert (counts - true).abs().max() < 12

    def test_a_seed_gives_the_same_table_and_is_not_private(self):
        first, second = (synthesize(curator(bits=seeded(9)), 1) for _ in range(2))
        pd.testing.assert_frame_equal(first.frame, second.frame)
        assert not first.privacy.private
        assert "test seed" in first.privacy.reason
        other = synthesize(curator(bits=seeded(10)), 1, rows=len(first.frame))
        assert not first.frame.equals(other.frame)

    def test_rows_are_not_drawn_from_the_bits_of_a_private_curator(self, monkeypatch):
        """They need none of what is kept for work that goes on."""
        asked = curator()
        drawn = []
        words = type(asked.bits).words
        monkeypatch.setattr(
            asked,
            "_bits",
            type(
                "Counting",
                (),
                {"private": True, "words": lambda s, n: drawn.append(n) or words(s, n)},
            )(),
        )
        synthesize(asked, 1, rows=50_000)
        assert sum(drawn) < 50_000

    def test_a_duckdb_file(self, tmp_path):
        with duckdb.connect(tmp_path / "t.db") as connection:
            connection.register("given", BIG)
            connection.execute("CREATE TABLE people AS SELECT * FROM given")
        path = str(tmp_path / "t.db").lstrip("/")
        asked = Curator(f"duckdb:////{path}?table=people", SCHEMA, Budget(4))
        made = synthesize(asked, 4)
        assert asked.left == 0
        assert ("a", "b") in made.pairs

    def test_over_http(self, tmp_path):
        from tests.client.running import running

        BIG.to_csv(tmp_path / "t.csv", index=False)
        with running(tmp_path) as service:
            service.add("people", tmp_path / "t.csv", SCHEMA.declare(rows_per_person=2), Budget(8))
            remote = service.connect("people")
            made = synthesize(remote, 4, rows=25)
            assert service.tap.questions() == [
                "count",
                "choose-partition",
                "choose-partition",
                "count",
            ]
            assert remote.left == 0
        assert made.privacy.private
        assert made.privacy.promised.epsilon == 8
        assert ("a", "b") in made.pairs
        assert len(made.frame) == 25


def test_only_noisy_answers_leave_the_curator(monkeypatch):
    """Whatever the rows are, the same answers give the same table: nothing else was looked at."""
    answers = []
    asked = curator(BIG, budget=Budget(4), bits=seeded(2))
    kept = Curator.ask
    monkeypatch.setattr(
        Curator, "ask", lambda self, *a, **k: answers.append(kept(self, *a, **k)) or answers[-1]
    )
    first = synthesize(asked, 4, rows=200)
    assert len(answers) == 4

    class Replayed(Curator):
        """Answers from a list, whatever is asked."""

        def __init__(self):
            self._set_up(None, SCHEMA, MemoryLedger(), "none", "nobody", seeded(7))
            self._public, self._left = False, list(answers)
            self._open_account(Budget(4))

        def reserving(self, cost, what):
            return nullcontext(self)

        def snapshot(self):
            return nullcontext()

        def ask(self, *_, **__):
            return self._left.pop(0)

    again, third = (synthesize(Replayed(), 4, rows=200) for _ in range(2))
    pd.testing.assert_frame_equal(again.frame, third.frame)
    assert again.pairs == first.pairs


def test_the_noise_of_the_counts_is_as_stated(monkeypatch):
    """``deviation`` is what the card tells: that of the first counts, which cost two fifths of
    epsilon among three attributes.
    """
    made = synthesize(curator(BIG, budget=Budget(4)), 4, rows=10)
    scale = 3 / (4 * 0.4)
    p = math.exp(-1 / scale)
    assert made.deviation == pytest.approx(math.sqrt(2 * p) / (1 - p))
    # then no pair is a candidate, and all of epsilon is for these counts
    monkeypatch.setattr(structure, "CLEAR", 10**9)
    made = synthesize(curator(BIG, budget=Budget(4)), 4, rows=10)
    both = [math.sqrt(2 * p) / (1 - p) for p in (math.exp(-4 * share / 3) for share in (0.4, 0.6))]
    assert made.deviation == pytest.approx(1 / math.sqrt(sum(1 / one**2 for one in both)))


def test_counts_that_were_asked_twice_are_weighed_by_their_noise():
    """One attribute, so that all of epsilon goes to its counts: 2/5 first, 3/5 then. Each answer is
    set to a number of its own.
    """
    asked = curator(BIG, ONE)
    said = [100, 200]

    class Told:
        schema, bits, rules = asked.schema, asked.bits, asked.rules

        def ask(self, query, epsilon):
            answer = asked.ask(query, epsilon)
            number = said.pop(0)
            return replace(
                answer, tables=tuple(np.full_like(table, number) for table in answer.tables)
            )

    counted = _count(Told(), Spending(Told(), Cost.pure(1), left=F(1)))
    first, second = ((math.sqrt(2 * p) / (1 - p)) ** 2 for p in (math.exp(-0.4), math.exp(-0.6)))
    assert first > second
    assert counted.values[0] == pytest.approx(
        (100 / first + 200 / second) / (1 / first + 1 / second)
    )


def test_counts_of_groups_have_the_noise_of_all_their_values(monkeypatch):
    seen = []
    fit = synthesizing.fit_class_tree
    monkeypatch.setattr(
        synthesizing, "fit_class_tree", lambda *given: seen.append(given[1]) or fit(*given)
    )
    rare = Schema({"a": Categorical(["x", "y", "z", *range(7)])}, "c", ["no", "yes"])
    made = synthesize(curator(BIG, rare, Budget(10)), 10, rows=5)
    (measured,) = seen[0]
    # three frequent values, and one group of seven that never occur
    assert measured.alone.shape == (4, 2)
    assert measured.deviation[:, 0] == pytest.approx(
        made.deviation * np.array([1, 1, 1, math.sqrt(7)])
    )


def test_noise_that_hides_the_number_of_rows_is_refused_before_it_is_paid_for():
    schema = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["u", "v"])}, "c", ["n", "p"])
    rows = {"a": ["x"] * 20, "b": ["u"] * 20, "c": ["n"] * 20}
    curator = Curator(rows, schema, Budget(1), least_epsilon="1e-9")
    with pytest.raises(ParameterError, match="say how many to draw with rows"):
        synthesize(curator, "1e-7")
    assert curator.left == 1
    assert len(synthesize(curator, "1e-7", rows=50).frame) == 50
    assert len(synthesize(Curator(rows, schema.declare(n_rows=20), Budget(1)), "1e-4").frame) == 20


class TestFineGrids:
    """``bins="auto"``: a thousand codes, which are merged before anything is counted."""

    SCHEMA = Schema(
        {"a": Numeric(0, 100, bins="auto", missing="?"), "b": Categorical(["u", "v"])},
        "c",
        ["no", "yes"],
    )

    @staticmethod
    def rows(n_rows: int) -> pd.DataFrame:
        rng = np.random.default_rng(3)
        a = rng.normal(30, 5, n_rows).round(1)
        a[::10] = np.nan
        b = np.where(a > 30, "u", "v")
        return pd.DataFrame({"a": a, "b": b, "c": rng.choice(["no", "yes"], n_rows)})

    @pytest.mark.parametrize("declared", [True, False])
    def test_are_merged_and_drawn_within_their_bins(self, declared):
        frame = self.rows(6000)
        schema = self.SCHEMA.declare(n_rows=6000) if declared else self.SCHEMA
        asked = curator(frame, schema, Budget(2), bits=seeded(3))
        made = synthesize(asked, 2)
        assert asked.left == 0
        assert made.privacy.charged.epsilon == 2
        whats = [charge.what for charge in made.privacy.charges]
        assert ("how many rows there are" in whats) == (not declared)
        assert "edges of a" in whats
        found = made.frame["a"]
        assert abs(found.isna().mean() - 0.1) < 0.04
        assert abs(found.mean() - 30) < 2
        assert found.std() < 10  # evenly over the bounds it would be 29
        assert (made.frame["b"] == "u")[found > 35].mean() > 0.8

    def test_in_rho(self):
        asked = curator(self.rows(6000), self.SCHEMA, Budget(2, delta=1e-6))
        made = synthesize(asked, 2, delta=1e-6)
        assert asked.spent.rho <= rho_for(F(2), F(1, 10**6))
        assert made.privacy.epsilon <= 2


@pytest.mark.parametrize("bins", [24, 100, "auto"])
def test_numbers_that_follow_each_other_still_do(bins):
    """Tenure and total charges: .83 in 5 000 rows of twelve attributes and more.

    With 100 bins, a group holds a dozen of them: were they independent in it, .5 would be left.
    """
    from experiments.bench.publish.churn import churn_schema, make_churn

    rows = make_churn(5000)
    made = synthesize(Curator(rows, churn_schema(bins), Budget(1), bits=seeded(2)), 1).frame
    assert rows["tenure"].corr(rows["total"]) > 0.8
    assert made["tenure"].corr(made["total"]) >= 0.6
