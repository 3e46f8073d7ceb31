"""A fit that was interrupted goes on, pays nothing twice, and never gets two answers for one
charge.
"""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import SQLiteLedger
from privet.curator.recorded import digest_of, facts_of, pack_answer, unpack_answer
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Question
from privet.domain.space import TreeSpace, all_splits
from privet.domain.tree import Tree
from privet.errors import BudgetExceeded, LedgerError, ModelError, ParameterError
from privet.model.document import to_document
from privet.queries import (
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    Confusion,
    Count,
    CountBy,
    CountValues,
    DrawTree,
    FindQuantile,
    FindQuantiles,
    Gradients,
    RowScore,
    Scores,
    ShareCounts,
    Size,
    Sums,
    check_query,
    queries,
)
from privet.queries.json_parts import cells_to
from privet.tables.duckdb.table import DuckDBSource
from tests.report.models import small_model

SCHEMA = Schema(
    {
        "a": Categorical(["x", "y", "z"]),
        "b": Categorical(list("pqrs")),
        "n": Numeric(0, 10, bins=5),
    },
    "c",
    ["no", "yes"],
    n_rows=400,
)


ROOT = Cells.everything(SCHEMA)


class Crash(BaseException):
    """The process ends here."""


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.choice(list("xyz"), 400), rng.choice(list("pqrs"), 400)
    label = np.where((a == "x") ^ (rng.random(400) < 0.1), "yes", "no")
    path = tmp_path / "t.parquet"
    pd.DataFrame(
        {"a": a, "b": b, "n": rng.random(400) * 10, "c": label, "who": np.arange(400) // 5}
    ).to_parquet(path)
    return path


@pytest.fixture
def fit(table, tmp_path):
    """Fit as the command line does, with a process that may have crashed before."""

    def fitted(learner, budget=1, paid=lambda _: None):
        with closing(SQLiteLedger(tmp_path / "ledger.sqlite")) as ledger:
            curator = pv.Curator(table, SCHEMA, Budget(budget), ledger=ledger)
            unfinished = Unfinished.begin(tmp_path / "m.unfinished", curator, repr(learner))
            learner.fit_from(ResumableCurator(curator, unfinished, paid))
            unfinished.finish()
        return learner

    return fitted


def entries(tmp_path):
    with closing(SQLiteLedger(tmp_path / "ledger.sqlite")) as ledger:
        return ledger.entries("t.parquet"), ledger.spent("t.parquet").epsilon


LEARNERS = {
    "random trees": lambda: pv.RandomTreesClassifier(1, n_trees=3),
    "boosted": lambda: pv.GibbsBoostClassifier(1, rounds=4),
    "greedy": lambda: pv.GreedyTreeClassifier(1, max_depth=2),
    "default": lambda: pv.PrivetClassifier(1),
}


def crash_at(monkeypatch, owner, name, turn, *, after=False):
    """The nth call of a method does not come back."""
    original, calls = getattr(owner, name), iter(range(1000))

    def method(self, *arguments, **named):
        mine = next(calls) == turn
        if mine and not after:
            raise Crash
        answer = original(self, *arguments, **named)
        if mine:
            raise Crash
        return answer

    monkeypatch.setattr(owner, name, method)


PLACES = {
    "before the charge": (SQLiteLedger, "charge", False),
    "after the charge": (SQLiteLedger, "charge", True),
    "before the answer is recorded": (SQLiteLedger, "record", False),
    "after the answer is recorded": (SQLiteLedger, "record", True),
}


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("turn", [0, 1])
def test_a_crash_costs_nothing(learner, place, turn, fit, tmp_path, monkeypatch):
    owner, name, after = PLACES[place]
    with monkeypatch.context() as patch:
        crash_at(patch, owner, name, turn, after=after)
        try:
            fit(LEARNERS[learner]())
        except Crash:
            assert (tmp_path / "m.unfinished").exists()
        else:
            assert turn == 1
            assert len(entries(tmp_path)[0]) == 1, "there was but one question"
            return
    before, _ = entries(tmp_path)
    model = fit(LEARNERS[learner]())
    after_all, spent = entries(tmp_path)
    assert after_all[: len(before)] == before
    assert spent == model.privacy_.epsilon - Fraction(
        sum((c.cost.epsilon for c in model.privacy_.charges if "set aside" in c.what), 0)
    )
    assert not (tmp_path / "m.unfinished").exists()


def released(learner):
    """All that a model says but the name of the release, which is drawn last."""
    return json.dumps(to_document(learner.model_)).replace(learner.privacy_.id, "...")


@pytest.mark.parametrize("learner", LEARNERS)
def test_answers_come_out_as_they_were(learner, fit, tmp_path, monkeypatch):
    """The model is made of what was recorded before the crash: the last moment before it is
    finished.
    """
    with monkeypatch.context() as patch:
        patch.setattr(Unfinished, "finish", lambda self: None)
        first = fit(LEARNERS[learner]())
        again = fit(LEARNERS[learner]())
    assert released(again) == released(first)
    lines, spent = entries(tmp_path)
    assert spent <= 1
    assert len({line.key for line in lines}) == len(lines)
    third = fit(LEARNERS[learner]())  # still the same work, as nobody finished it
    assert released(third) == released(first)


def test_another_fit_is_another_answer(fit, tmp_path):
    first, again = (fit(pv.RandomTreesClassifier(Fraction(1, 2), n_trees=3)) for _ in range(2))
    assert entries(tmp_path)[1] == 1
    assert first.privacy_.id != again.privacy_.id


def test_no_two_answers_for_one_charge(fit, tmp_path, monkeypatch):
    """Whatever was recorded is what counts, even if the process had gone on with something else in
    memory.
    """
    original, told = SQLiteLedger.record, []

    def raced(self, number, answer):
        told.append(original(self, number, answer))
        return told[-1]

    monkeypatch.setattr(SQLiteLedger, "record", raced)
    crash_at(monkeypatch, SQLiteLedger, "record", 0, after=True)
    with pytest.raises(Crash):
        fit(pv.RandomTreesClassifier(1, n_trees=3))
    with closing(SQLiteLedger(tmp_path / "ledger.sqlite")) as ledger:
        (entry,) = ledger.entries("t.parquet")
        assert ledger.answer(entry.number) == told[0]
    model = fit(pv.RandomTreesClassifier(1, n_trees=3))
    asked = check_query(Count(Question.forest([tree.cells for tree in model.model_.trees])), SCHEMA)
    counts = np.concatenate([np.ravel(table) for table in unpack_answer(told[0], asked).tables])
    (batch,) = model.model_.evidence.batches
    np.testing.assert_array_equal(
        np.concatenate([np.ravel(vector) for vector in batch.tables]), counts
    )


def test_a_budget_that_is_just_enough_is_enough_after_a_crash(fit, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 1, after=True)
        with pytest.raises(Crash):
            fit(pv.GibbsBoostClassifier(1, rounds=4), budget=1)
    _, spent = entries(tmp_path)
    assert 0 < spent < 1
    fit(pv.GibbsBoostClassifier(1, rounds=4), budget=1)
    with pytest.raises(BudgetExceeded):
        fit(pv.GibbsBoostClassifier(1, rounds=4), budget=1)


def test_other_work_is_refused_and_loses_nothing(fit, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        crash_at(patch, DuckDBSource, "count", 0)
        with pytest.raises(Crash):
            fit(pv.RandomTreesClassifier(1, n_trees=3))
    content = (tmp_path / "m.unfinished").read_bytes()
    with pytest.raises(
        ParameterError, match=r"m\.unfinished belongs to a fit that was interrupted.*--anew"
    ):
        fit(pv.RandomTreesClassifier(1, n_trees=4))
    assert (tmp_path / "m.unfinished").read_bytes() == content


FACTS = {
    "rows of a person": (
        replace(SCHEMA, person="who", rows_per_person=5),
        replace(SCHEMA, person="who", rows_per_person=1),
    ),
    "more rows of a person": (
        replace(SCHEMA, person="who", rows_per_person=1),
        replace(SCHEMA, person="who", rows_per_person=5),
    ),
    "neighbours": (replace(SCHEMA, neighbours="replace"), SCHEMA),
    "a schema that was read off the data": (replace(SCHEMA, from_data=True), SCHEMA),
}


@pytest.mark.parametrize("facts", FACTS)
@pytest.mark.parametrize("after", [False, True], ids=["before the answer is recorded", "after it"])
def test_other_promises_are_other_work(facts, after, table, tmp_path, monkeypatch):
    """The domain is the same, the cost of an answer is not: neither the file nor the key of a
    charge may be used for both.
    """
    before, since = FACTS[facts]
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.open_cap("t", Budget(100))

    def work(schema, file):
        curator = pv.Curator(table, schema, ledger=ledger, dataset="t")
        unfinished = Unfinished.begin(file, curator, "same")
        pv.GreedyTreeClassifier(1, max_depth=2).fit_from(ResumableCurator(curator, unfinished))

    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 0, after=after)
        with pytest.raises(Crash):
            work(before, tmp_path / "m.unfinished")
    with pytest.raises(ParameterError, match="another table, learner or setting"):
        work(since, tmp_path / "m.unfinished")
    monkeypatch.setattr(Unfinished, "_same", lambda self, work: True)  # somebody edits the file
    with pytest.raises(ParameterError, match="does not ask what it asked"):
        work(since, tmp_path / "m.unfinished")
    assert len(ledger.entries("t")) == 1
    ledger.close()


def test_a_charge_for_one_table_pays_for_no_other(table, tmp_path, monkeypatch):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.open_cap("toy", Budget(100))
    ledger.open_cap("secret", Budget(1))

    def work(dataset):
        curator = pv.Curator(table, SCHEMA, ledger=ledger, dataset=dataset)
        unfinished = Unfinished.begin(tmp_path / "m.unfinished", curator, "same")
        ResumableCurator(curator, unfinished).count(Cells.everything(SCHEMA), 50)

    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 0)
        with pytest.raises(Crash):
            work("toy")
    monkeypatch.setattr(Unfinished, "_same", lambda self, work: True)
    with pytest.raises(ParameterError, match="does not ask what it asked"):
        work("secret")
    assert ledger.spent("secret").epsilon == 0
    ledger.close()


def test_a_damaged_file_is_refused(fit, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        crash_at(patch, DuckDBSource, "count", 0)
        with pytest.raises(Crash):
            fit(pv.RandomTreesClassifier(1, n_trees=3))
    data = bytearray((tmp_path / "m.unfinished").read_bytes())
    data[data.index(b'"drawn":"') + 12] ^= 1
    (tmp_path / "m.unfinished").write_bytes(bytes(data))
    with pytest.raises(ModelError, match="checksum"):
        fit(pv.RandomTreesClassifier(1, n_trees=3))


def test_work_that_asks_otherwise_is_refused(fit, tmp_path, monkeypatch):
    """Another version of a learner, say: its question would get the answer to another one."""
    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 0, after=True)
        with pytest.raises(Crash):
            fit(pv.RandomTreesClassifier(1, n_trees=3))
    with monkeypatch.context() as patch:
        patch.setattr("privet.learners.random_trees.classifier.height_for", lambda schema, rows: 2)
        patch.setattr(
            pv.RandomTreesClassifier,
            "__repr__",
            lambda self: "RandomTreesClassifier(epsilon=1, n_trees=3)",
            raising=False,
        )
        with pytest.raises(ParameterError, match="does not ask what it asked"):
            fit(pv.RandomTreesClassifier(1, n_trees=3))


def test_the_file_holds_no_noise_and_no_count(fit, tmp_path, monkeypatch):
    """Only words that structure was drawn with, and none where none was drawn."""
    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 1, after=True)
        with pytest.raises(Crash):
            fit(pv.GibbsBoostClassifier(1, rounds=4))
    document = json.loads((tmp_path / "m.unfinished").read_text())
    assert set(document) == {"privet", "version", "key", "work", "drawn", "rules", "checksum"}
    assert document["drawn"] == ""


def test_whoever_looks_is_told_what_is_paid_for(fit):
    shares = []
    fit(pv.GibbsBoostClassifier(1, rounds=4), paid=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] <= 1


def test_answers_are_packed_and_unpacked_whole(table):
    curator = pv.Curator(table, SCHEMA, Budget(10))
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
    count = check_query(Count(Question.forest([cells, Cells.everything(SCHEMA)])), SCHEMA)
    numbers = curator.ask(count, 1)
    again = unpack_answer(pack_answer(numbers), count)
    assert [one.tolist() for one in again.tables] == [one.tolist() for one in numbers.tables]
    assert (again.cost, again.row_cost, again.spread, again.noise, again.private) == (
        numbers.cost,
        numbers.row_cost,
        numbers.spread,
        numbers.noise,
        numbers.private,
    )
    candidates = [Split.multiway(SCHEMA, "b"), Split.threshold(SCHEMA, "n", code=2)]
    choose = check_query(ChooseSplits(cells, candidates, "gini"), SCHEMA)
    choices = curator.ask(choose, 1)
    assert unpack_answer(pack_answer(choices), choose).splits == choices.splits
    draw = check_query(
        DrawTree(TreeSpace(SCHEMA, 1, all_splits(SCHEMA), all_splits(SCHEMA))), SCHEMA
    )
    drawn = curator.ask(draw, 1)
    twin = unpack_answer(pack_answer(drawn), draw)
    assert cells_to(twin.cells) == cells_to(drawn.cells)
    np.testing.assert_array_equal(twin.labels, drawn.labels)


ONCE = {
    "choose-partition": lambda c: c.choose_partition(
        Question.level(ROOT, ["a", "b"]),
        [np.zeros((1, 3, 2), int), np.zeros((1, 4, 2), int)],
        "0.01",
    ),
    "quantile": lambda c: c.quantile("n", "0.9", "0.01"),
    "median": lambda c: c.median("n", "0.01", mechanism="exponential"),
}


@pytest.mark.parametrize("kind", ONCE)
@pytest.mark.parametrize("after", [False, True], ids=["before the answer is recorded", "after it"])
def test_a_choice_is_made_once(kind, after, table, tmp_path, monkeypatch):
    """At this epsilon another draw would be another choice, one time in two at least: so many are
    never all the same by chance.
    """
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.open_cap("t", Budget(1))

    def work():
        curator = pv.Curator(table, SCHEMA, ledger=ledger, dataset="t")
        asked = ResumableCurator(
            curator, Unfinished.begin(tmp_path / "m.unfinished", curator, "same")
        )
        return [ONCE[kind](asked) for _ in range(24)]

    with monkeypatch.context() as patch:
        crash_at(patch, SQLiteLedger, "record", 23, after=after)
        with pytest.raises(Crash):
            work()
    told = [work() for _ in range(2)]
    assert [[answer.index for answer in answers] for answers in told] == [
        [answer.index for answer in told[0]]
    ] * 2
    assert len({answer.index for answer in told[0]}) > 1
    assert all(
        vars(one).keys() == vars(other).keys() and one.cost == other.cost
        for one, other in zip(*told, strict=True)
    )
    assert ledger.spent("t").epsilon == Fraction(24, 100)
    ledger.close()


def test_what_is_expected_is_part_of_the_question(table, tmp_path):
    ledger = SQLiteLedger(tmp_path / "ledger.sqlite")
    ledger.open_cap("t", Budget(1))

    def work(expected, handicap=0):
        curator = pv.Curator(table, SCHEMA, ledger=ledger, dataset="t")
        asked = ResumableCurator(
            curator, Unfinished.begin(tmp_path / "m.unfinished", curator, "same")
        )
        return asked.choose_partition(ROOT, [expected], "0.1", handicaps=[handicap])

    first = work([[1, 2]])
    assert work(np.array([[1, 2]])).entry == first.entry  # written otherwise, and the same
    for other in ({"expected": [[1, 3]]}, {"expected": [[1, 2]], "handicap": 1}):
        with pytest.raises(ParameterError, match="does not ask what it asked"):
            work(**other)
    ledger.close()


def test_every_word_of_a_question_is_in_its_digest():
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
    other = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "b")})
    space, deeper = (
        TreeSpace(SCHEMA, depth, all_splits(SCHEMA), all_splits(SCHEMA)) for depth in (1, 2)
    )
    one, two = (Tree(cells, factor * np.ones((4, 2))) for factor in (1, 2))
    zeros = np.zeros((3, 2), dtype=np.int64)
    model = small_model(SCHEMA, trees=(one,))
    asked = [
        (Count(cells), 1, None),
        (Count(other), 1, None),
        (Count(Question.level(cells, ["b"])), 1, None),
        (Count(Question.level(cells, ["n"])), 1, None),
        (Count(cells), "1/2", None),
        (Count(cells), None, 1),
        (Size(), 1, None),
        (Size(), None, 1),
        (Sums(cells, RowScore(SCHEMA, np.array([0, 1]))), 1, None),
        (Sums(cells, RowScore(SCHEMA, np.array([0, 2]))), 1, None),
        (Sums(cells, RowScore(SCHEMA, np.ones((3, 2), dtype=int), "a")), 1, None),
        (DrawTree(space), 1, None),
        (DrawTree(deeper), 1, None),
        (DrawTree(space, [one]), 1, None),
        (DrawTree(space, [two]), 1, None),
        (CountBy(), 1, None),
        (CountBy(["b"]), 1, None),
        (CountBy((), {"b": [0]}), 1, None),
        (Gradients(cells), 1, None),
        (Gradients(cells, [one]), 1, None),
        (Gradients(cells, [two]), 1, None),
        (Gradients(cells, [two], "even"), 1, None),
        (ChooseSplits(cells, [Split.value(SCHEMA, "b", code=0)]), 1, None),
        (ChooseSplits(cells, [Split.value(SCHEMA, "b", code=1)]), 1, None),
        (ChooseSplits(cells, [[Split.value(SCHEMA, "b", code=1)]] * 3), 1, None),
        (ChooseSplits(cells, [Split.value(SCHEMA, "b", code=1)], "max"), 1, None),
        (ChooseSplits(cells, [Split.value(SCHEMA, "b", code=1)], "gini", "exponential"), 1, None),
        (ChoosePartition(cells, [zeros]), 1, None),
        (ChoosePartition(cells, [zeros + 1]), 1, None),
        (ChoosePartition(cells, [zeros], [1]), 1, None),
        (ChoosePartition(cells, [zeros], None, "permute-and-flip"), 1, None),
        (FindQuantile("n"), 1, None),
        (FindQuantiles("n", 1), 1, None),
        (FindQuantiles("n", 2), 1, None),
        (FindQuantile("n", "1/3"), 1, None),
        (FindQuantile("n", "1/2", "exponential"), 1, None),
        (Confusion(model), 1, None),
        (Confusion(replace(model, combine="vote")), 1, None),
        (ChooseModel([model]), 1, None),
        (ChooseModel([model, model]), 1, None),
        (CountValues("b"), 1, None),
        (CountValues("n"), 1, None),
        (Scores(model, [[0.5]] * 2), 1, None),
        (Scores(model, [[0.4]] * 2), 1, None),
        (Scores(replace(model, combine="vote"), [[0.5]] * 2), 1, None),
    ]
    assert {type(query) for query, *_ in asked} == set(queries().values()) - {ShareCounts}
    assert len({digest(*question) for question in asked}) == len(asked)
    for question in asked:
        assert digest(*question) == digest(*question)
    assert digest(*asked[0]) == digest(Count(Question.of(cells)), 1)


def digest(query, epsilon=None, rho=None):
    return digest_of(facts_of(check_query(query, SCHEMA), epsilon, rho))


def test_a_fit_that_0_1_began_goes_on():
    """Its queries are recognised by the digests that 0.1 wrote into the ledger."""
    cells = ROOT.refine({0: Split.multiway(SCHEMA, "a")})
    offered = [Split.value(SCHEMA, "b", code=0), Split.value(SCHEMA, "b", code=1)]
    each = [[offered[0]], [offered[1]], [offered[1]]]
    tree = Tree(cells, np.arange(8).reshape(4, 2) / 4)
    written = {
        "fdc24dcfcf1e48e6": (Count(cells), 1),
        "a5bded203c36bbb8": (Count([Cell((Condition("a", (0,)),))]), "1/3"),
        "ed5759918c66f4cd": (Count(Question.level(cells, ["b"])), None, Fraction(1, 3)),
        "c5771fa3ead8a1c0": (Size(), 0.5),
        "917646a326d04480": (Sums(cells, RowScore(SCHEMA, np.array([0, 3]))), 1),
        "f5e45f907ce4b082": (
            Sums(cells, RowScore(SCHEMA, np.arange(6).reshape(3, 2), "a")),
            1,
        ),
        "ae1f70d1cf566e73": (ChooseSplits(cells, offered), 1),
        "a6f29608a080f352": (ChooseSplits(cells, each, "max", "exponential"), 1),
        "a8e5df3d76090636": (ChoosePartition(cells, [[[1, 2], [3, 4], [5, 6]]], [3]), 1),
        "46b4d3b8c3c94099": (FindQuantile("n", 0.25), 1),
        "b14a554686cd80ec": (FindQuantile("n", "1/2", "exponential"), 1),
        "083890d9c661c12f": (DrawTree(TreeSpace(SCHEMA, 1)), 1),
        "efd0860b35d3667e": (DrawTree(TreeSpace(SCHEMA, 1), [tree]), 1),
        "b182e8ec530c24e5": (Gradients(cells, [tree]), 1),
        "62adb81717ec0ada": (Gradients(cells, []), None, 1),
    }
    read = {}
    for query, *price in written.values():
        facts = facts_of(check_query(query, SCHEMA), *price, *[None] * (2 - len(price)))
        read[digest_of((["who"], facts))[:16]] = (query, *price)
    assert read == written


@pytest.mark.parametrize(
    "damage",
    [b"{", b"[]", b"{}", b'{"cost": {"epsilon": "1e999999999", "rho": "0"}}', b"[" * 100_000],
)
def test_a_recorded_answer_that_is_damaged_is_an_error_of_the_ledger(damage):
    with pytest.raises(LedgerError, match="recorded is damaged"):
        unpack_answer(damage, check_query(Size(), SCHEMA))


def test_a_fit_that_0_1_began_does_not_divide_people_twice(table, tmp_path):
    """0.1 neither reserved nor gave a division a key: what it did is not known."""
    with closing(SQLiteLedger(tmp_path / "ledger.sqlite")) as ledger:
        curator = pv.Curator(table, SCHEMA, Budget(2), ledger=ledger)
        begun = Unfinished.begin(tmp_path / "m.unfinished", curator, "a forest")
        begun.save()
        curator.ask_once(f"{begun.key}.1", Size(), "1/10")
        with curator.snapshot():
            curator.split_people(2, "1/2")
        again = Unfinished.begin(tmp_path / "m.unfinished", curator, "a forest")
        resumed = ResumableCurator(curator, again)
        with resumed.reserving(Cost.pure("3/5"), "a forest") as asked, asked.snapshot():
            assert asked.ask(Size(), "1/10").cost == Cost.pure("1/10")
            with pytest.raises(ParameterError, match=r"had divided its people.*--anew"):
                asked.split_people(2, "1/2")
    assert entries(tmp_path)[1] == Fraction(3, 5)
