"""Parties that take turns: whose turn it is, what each pays, and who may leave or come late."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import privet as pv
from privet.domain import Categorical, Numeric, Schema
from privet.errors import (
    BudgetExceeded,
    ParameterError,
    PartyWarning,
    PrivetError,
    QuestionError,
    Unavailable,
)
from privet.learners.default_recipe import measure_evidence, recipe_for
from privet.learners.relay import Party, Relay, choose_recipe, plan_steps, pool_parties
from tests.federation.parties import SCHEMA, curator_of, rows

#: About as wide as a census table: too many points for one deep tree.
WIDE = Schema(
    {
        **{f"kind {number}": Categorical(list("abcdefgh")) for number in range(8)},
        **{f"size {number}": Numeric(0, 100, bins=16) for number in range(4)},
    },
    target="income",
    classes=["low", "high"],
)

parties_of = st.lists(
    st.builds(
        Party,
        name=st.just("p"),
        rows=st.integers(50, 50_000),
        amount=st.fractions(F(1, 100), 10, max_denominator=100),
    ),
    min_size=2,
    max_size=8,
)


def three(budget=10, n=600, **more):
    tables = [rows(n, turn) for turn in (0, 31, 7)]
    return [curator_of(table, SCHEMA.declare(n_rows=n), budget, **more) for table in tables]


class TestWhoseTurn:
    @given(parties_of)
    @settings(max_examples=30, deadline=None)
    def test_every_party_spends_what_it_said_and_nothing_else(self, parties):
        relay = Relay(WIDE, "epsilon", tuple(parties))
        if relay.rest[0].kind == "classes":
            start = relay.rest[0]
            assert start.amount <= parties[start.party].amount / 4
            relay = replace(relay, taken=(start,))
        spent = [F(0)] * len(parties)
        for turn in (*relay.taken, *relay.rest):
            spent[turn.party] += turn.amount
        taking = {turn.party for turn in (*relay.taken, *relay.rest)}
        for number, party in enumerate(parties):
            assert spent[number] == (party.amount if number in taking else 0)

    @given(parties_of, st.data())
    @settings(max_examples=20, deadline=None)
    def test_what_is_left_stays_the_same_while_turns_are_taken(self, parties, data):
        relay = Relay(WIDE, "epsilon", tuple(parties))
        if relay.rest[0].kind == "classes":
            relay = replace(relay, taken=(relay.rest[0],))
        plan = list(relay.rest)
        # in any order within a kind, which is how files travel
        taken = data.draw(st.integers(0, len(plan)))
        now = replace(relay, taken=(*relay.taken, *plan[:taken]))
        assert list(now.rest) == plan[taken:]

    def test_evidence_decides_how_many_turns(self):
        parties = [Party("a", 20_000, F(1)), Party("b", 10_000, F(1)), Party("c", 10_000, F(2))]
        steps = plan_steps(WIDE, parties, choose_recipe(WIDE, parties, "epsilon"), "epsilon")
        trees = [party for kind, party, *_ in steps if kind == "tree"]
        assert trees.count(0) == pytest.approx(2 * trees.count(1), abs=1)
        assert trees.count(0) == pytest.approx(trees.count(2), abs=1)

    def test_more_parties_than_trees_draw_more_trees(self):
        parties = [Party(str(number), 300, F(1, 10)) for number in range(7)]
        recipe = choose_recipe(WIDE, parties, "epsilon")
        steps = plan_steps(WIDE, parties, recipe, "epsilon")
        assert {party for kind, party, *_ in steps if kind == "tree"} == set(range(7))

    @pytest.mark.parametrize(
        ("parties", "rows", "rounds"), [(3, 13_000, 33), (16, 2000, 33), (20, 2000, 41)]
    )
    @pytest.mark.parametrize("rare", [False, True])
    def test_with_ample_evidence_each_party_draws_several_small_trees(
        self, parties, rows, rounds, rare
    ):
        """The leaves of one would follow the sample of whoever drew it."""
        pooled = [Party(str(number), rows, F(1)) for number in range(parties)]
        recipe = choose_recipe(WIDE, pooled, "epsilon", rare=rare)
        assert (recipe.rounds, recipe.space.depth, recipe.leaves) == (rounds, 2, 0)
        less = [replace(party, amount=F(1, 4)) for party in pooled]
        assert choose_recipe(WIDE, less, "epsilon", rare=rare).rounds < 33
        several = replace(WIDE, classes=["low", "middle", "high"])
        assert choose_recipe(several, pooled, "epsilon").leaves > 0

    @pytest.mark.parametrize("unit", ["epsilon", "rho"])
    def test_pooled_evidence_is_the_sum(self, unit):
        parties = [Party("a", 1000, F(1, 2)), Party("b", 500, F(2))]
        rows_, amount = pool_parties(parties, unit)
        each = [measure_evidence(one.rows, one.amount, unit) for one in parties]
        assert measure_evidence(rows_, amount, unit) == pytest.approx(sum(each))

    def test_terms_wait_for_all_trees(self):
        parties = tuple(Party(str(number), 13_000, F(1)) for number in range(3))
        relay = Relay(WIDE, "epsilon", parties)
        relay = replace(relay, taken=relay.rest)  # class shares
        assert {turn.kind for turn in relay.rest} == {"tree", "term"}
        assert all(turn.kind == "tree" for party in range(3) for turn in relay.turns_of(party))
        trees = tuple(turn for turn in relay.rest if turn.kind == "tree")
        done = replace(relay, taken=(*relay.taken, *trees))
        assert all(turn.kind == "term" for party in range(3) for turn in done.turns_of(party))

    def test_who_comes_late_takes_turns_and_nobody_pays_more(self):
        parties = [Party("a", 13_000, F(1)), Party("b", 13_000, F(1))]
        relay = Relay(WIDE, "epsilon", tuple(parties))
        relay = replace(relay, taken=relay.rest)
        relay = replace(relay, taken=(*relay.taken, *relay.turns_of(0)))
        late = replace(relay, parties=(*relay.parties, Party("c", 13_000, F(2))))
        assert late.turns_of(2)
        for number, party in enumerate(late.parties):
            whole = (*late.taken, *late.rest)
            assert sum(turn.amount for turn in whole if turn.party == number) <= party.amount

    def test_who_leaves_leaves_its_turns_out(self):
        parties = tuple(Party(str(number), 13_000, F(1)) for number in range(3))
        relay = replace(Relay(WIDE, "epsilon", parties), gone=frozenset({1}))
        assert {turn.party for turn in relay.rest} <= {0, 2}


class TestOneDeepTree:
    """Where all evidence is worth one deep tree, whoever has half of it draws alone."""

    DEEP = Schema(
        {f"kind {number}": Categorical(list("abc")) for number in range(6)},
        target="taken",
        classes=["no", "perhaps", "yes"],
    )

    def choose(self, *rows_, amount=F(1, 10)):
        parties = [Party(str(number), size, amount) for number, size in enumerate(rows_)]
        relay = Relay(self.DEEP, "epsilon", tuple(parties))
        return relay.recipe, Counter(turn.party for turn in relay.rest)

    @pytest.mark.parametrize("sizes", [(6000, 3000), (5000, 5000), (8000, 1000, 1000, 1000)])
    def test_it_draws_as_deep_as_its_own_evidence_allows(self, sizes):
        recipe, turns = self.choose(*sizes)
        assert turns == {0: 1}
        own = recipe_for(self.DEEP, sum(sizes), F(1, 10) * F(sizes[0], sum(sizes)), rounds=1)
        pooled = recipe_for(self.DEEP, sum(sizes), F(1, 10), rounds=1)
        assert recipe.space.depth == own.space.depth <= pooled.space.depth

    @pytest.mark.parametrize(
        ("sizes", "amount"), [((4000, 4000, 4000), F(1, 10)), ((6000, 3000), F(1))]
    )
    def test_otherwise_all_draw(self, sizes, amount):
        _, turns = self.choose(*sizes, amount=amount)
        assert set(turns) == set(range(len(sizes)))

    def test_the_others_pay_nothing(self):
        car = pv.datasets.load("car")
        tables = car.table.iloc[::3], car.table.drop(car.table.index[::3])
        curators = [
            pv.Curator(table, car.schema.declare(n_rows=len(table)), pv.Budget(1))
            for table in tables
        ]
        model = pv.PrivetClassifier("1/2", people="disjoint").fit_from(curators)
        assert [curator.left for curator in curators] == [1, F(1, 2)]
        assert model.privacy_.promised.epsilon == F(1, 2)
        assert model.model_.settings["turns"] == [0, 1]

    def test_its_answers_have_probabilities(self):
        """A twentieth of the turn tells them; what the card says was done was done."""
        nursery = pv.datasets.load("nursery")
        curators = [
            pv.Curator(table, nursery.schema.declare(n_rows=6480), pv.Budget(1))
            for table in (nursery.table[::2], nursery.table[1::2])
        ]
        model = pv.PrivetClassifier("1/10", people="disjoint").fit_from(curators)
        assert model.model_.settings["calibration_share"] == 0.05
        assert [tree.kind for tree in model.model_.trees] == ["calibrated"]
        costs = [charge.cost.epsilon for charge in model.privacy_.leaves[0].charges]
        assert sum(costs) == F(1, 10)
        assert F(1, 200) in costs
        assert sorted(curator.left for curator in curators) == [F(9, 10), 1]
        assert len(set(model.predict_proba(nursery.X.head(3000)).max(axis=1).round(6))) > 1

    def test_of_two_classes_it_still_says_something(self):
        schema = replace(self.DEEP, classes=["no", "yes"])
        parties = (Party("a", 3000, F(1, 10)), Party("b", 3000, F(1, 10)))
        assert Relay(schema, "epsilon", parties).recipe.strength > 0


class TestFit:
    def test_each_curator_is_charged_its_epsilon_once(self):
        curators = three()
        model = pv.PrivetClassifier(1, people="disjoint").fit_from(curators)
        assert [curator.left for curator in curators] == [9, 9, 9]
        assert model.privacy_.promised.epsilon == 1
        assert len(model.privacy_.parts) == 3
        for part in model.privacy_.parts:
            assert part.charged.epsilon == 1
        assert sum(model.model_.settings["turns"]) >= 3

    def test_people_who_may_be_in_all_tables_pay_the_sum(self):
        model = pv.PrivetClassifier(1, people="may-overlap").fit_from(three())
        assert model.privacy_.promised.epsilon == 3

    def test_parties_may_pay_differently(self):
        curators = three()
        epsilons = [1, "3/2", "2/3"]
        model = pv.PrivetClassifier(people="disjoint").fit_from(curators, epsilons)
        assert [10 - curator.left for curator in curators] == [1, F(3, 2), F(2, 3)]
        assert model.privacy_.promised.epsilon == 1.5
        said = {part.name: part.charged.epsilon for part in model.privacy_.parts}
        assert sorted(said.items()) == [
            ("party 1 (table in memory)", 1),
            ("party 2 (table in memory)", F(3, 2)),
            ("party 3 (table in memory)", F(2, 3)),
        ]
        turns = model.model_.settings["turns"]
        assert turns[1] > turns[0]

    def test_five_parties_learn_what_one_cannot(self):
        # Alone, .84 are right, give or take .03; together .99, give or take .02.
        right = []
        for _ in range(3):
            tables = [rows(120, 13 * number) for number in range(5)]
            curators = [curator_of(table, SCHEMA.declare(n_rows=120)) for table in tables]
            model = pv.PrivetClassifier("1/2", people="disjoint").fit_from(curators)
            right.append((model.predict(rows(600)) == rows(600)["advice"]).mean())
        assert sum(right) / 3 > 0.94

    def test_rho_adds_up(self):
        tables = [rows(600, turn) for turn in (0, 31)]
        curators = [
            pv.Curator(table, SCHEMA.declare(n_rows=600), pv.Budget(rho=1)) for table in tables
        ]
        model = pv.PrivetClassifier(1, delta="1e-6", people="disjoint").fit_from(curators)
        spent = [1 - curator.left for curator in curators]
        for part, rho in zip(model.privacy_.parts, spent, strict=True):
            assert part.charged.epsilon is None
            assert part.charged.rho >= rho > 0

    def test_a_delta_is_not_used_where_budgets_count_epsilon(self):
        model = pv.PrivetClassifier(1, delta="1e-6", people="disjoint").fit_from(three())
        assert model.privacy_.promised.epsilon == 1
        for part in model.privacy_.parts:
            assert "The delta of 1e-06 was not used: the budgets count epsilon." in part.notes

    def test_the_number_of_rows_is_paid_for_where_it_is_not_declared(self):
        curators = [curator_of(rows(600, turn), SCHEMA, 10) for turn in (0, 31)]
        model = pv.PrivetClassifier(1, people="disjoint").fit_from(curators)
        assert [curator.left for curator in curators] == [9, 9]
        for part in model.privacy_.parts:
            assert part.charges[0].what == "number of rows"

    def test_the_file_says_who_took_turns(self, tmp_path):
        model = pv.PrivetClassifier(1, people="disjoint").fit_from(three())
        pv.save(model, tmp_path / "m.json")
        assert pv.load(tmp_path / "m.json").model_.settings["parties"] == 3


class TestRefusals:
    def refused(self, curators, match, epsilon=1, error=ParameterError, epsilons=None, **more):
        left = [curator.left for curator in curators]
        with pytest.raises(error, match=match):
            pv.PrivetClassifier(epsilon, **more).fit_from(curators, epsilons)
        assert [curator.left for curator in curators] == left

    def test_one_curator_in_a_list(self):
        self.refused(three()[:1], "two curators or more")

    def test_another_schema(self):
        other = replace(SCHEMA, classes=["no", "maybe"])
        table = rows(100).replace({"advice": {"yes": "maybe"}})
        self.refused(
            [three()[0], curator_of(table, other)], "different schemas", error=QuestionError
        )

    def test_the_same_table_twice(self):
        one = three()[0]
        self.refused([one, one], "one table|same table|twice", error=PrivetError, people="disjoint")

    def test_different_units(self):
        other = pv.Curator(rows(600), SCHEMA.declare(n_rows=600), pv.Budget(rho=1))
        self.refused([three()[0], other], "same unit")

    def test_balanced_weights(self):
        self.refused(three(), "class shares of all tables", class_weight="balanced")

    def test_no_noise(self):
        self.refused(three(), "finite epsilon", epsilon=float("inf"))

    @pytest.mark.parametrize(
        ("epsilons", "match"),
        [
            ([1, 1], "as many as curators, 3, got 2"),
            ([1, 1, 0], "above zero"),
            ([1, 1, float("inf")], "finite epsilon"),
            ([1, 1, 11], "left"),
        ],
    )
    def test_epsilons_that_are_none_of_theirs(self, epsilons, match):
        self.refused(three(), match, epsilons=epsilons, error=PrivetError, people="disjoint")

    def test_epsilons_for_one_curator(self):
        with pytest.raises(ParameterError, match="epsilons are for several"):
            pv.PrivetClassifier().fit_from(three()[0], [1])

    def test_too_little_left_in_one_of_them(self):
        curators = [*three()[:2], curator_of(rows(600), SCHEMA.declare(n_rows=600), F(1, 2))]
        self.refused(curators, "left", error=BudgetExceeded, people="disjoint")


class TestGone:
    def test_the_others_go_on_without_a_party_that_is_gone(self, monkeypatch):
        curators = three()
        asked = []

        def refuse(self, *arguments, **more):
            asked.append(self)
            raise Unavailable("nobody answers")

        gone = type("Gone", (type(curators[2]),), {"draw_tree": refuse})
        monkeypatch.setattr(curators[2], "__class__", gone)
        with pytest.warns(PartyWarning, match="party 3"):
            model = pv.PrivetClassifier(1, people="disjoint").fit_from(curators)
        assert asked
        assert model.model_.settings["turns"][2] == 0
        assert (model.predict(rows(600)) == rows(600)["advice"]).mean() > 0.7

    def test_nobody_left_is_an_error(self, monkeypatch):
        curators = three()

        def refuse(self, *arguments, **more):
            raise Unavailable("nobody answers")

        gone = type("Gone", (type(curators[0]),), {"draw_tree": refuse})
        for curator in curators:
            monkeypatch.setattr(curator, "__class__", gone)
        with pytest.warns(PartyWarning), pytest.raises(Unavailable):
            pv.PrivetClassifier(1, people="disjoint").fit_from(curators)
