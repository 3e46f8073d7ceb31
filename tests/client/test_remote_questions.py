"""What is asked over HTTP means the same as in process, and only what was asked for is taken as an
answer.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import privet as pv
from privet.accounting.cost import Cost
from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import OverlapError, ParameterError, PrivacyError, QuestionError, Unavailable
from privet.model import Model
from privet.queries import RowScore
from tests.amounts import NO_EPSILONS
from tests.client.fakes import ROWS, SCHEMA, Service

FORMS = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "form")})
STUMP = Tree(FORMS, np.eye(3)[[0, 1, 2, 0]] * 1.5)
SPACE = TreeSpace(SCHEMA, 1)
OTHER = Schema({"form": Categorical(["a", "b"])}, "class", ["no", "maybe", "yes"])
SURE = 100_000  # an epsilon with which noise is hardly ever more than zero
FAR = np.full((3, 3), -7)
SPLITS = [Split.multiway(SCHEMA, "form"), Split.multiway(SCHEMA, "health")]


@pytest.fixture(scope="module")
def model():
    return pv.GreedyTreeClassifier(1.0, SCHEMA, max_depth=1).fit(pv.open_table(ROWS)._table).model_


@pytest.fixture
def service():
    return Service(budget=pv.Budget(10**9))


@pytest.fixture
def curator(service):
    with service.connect() as curator:
        yield curator


def asking(curator, model: Model) -> dict:
    """Every kind of question, for an epsilon."""
    return {
        "count": lambda epsilon: curator.count(FORMS, epsilon),
        "size": curator.size,
        "sums": lambda epsilon: curator.sums(FORMS, RowScore(SCHEMA, np.array([0, 1, 5])), epsilon),
        "choose": lambda epsilon: curator.choose(FORMS, SPLITS, "gini", epsilon),
        "choose-partition": lambda epsilon: curator.choose_partition(FORMS, [FAR], epsilon),
        "quantile": lambda epsilon: curator.quantile("age", "0.9", epsilon),
        "confusion": lambda epsilon: curator.confusion(model, epsilon),
        "choose-model": lambda epsilon: curator.choose_model([model], epsilon),
        "draw-tree": lambda epsilon: curator.draw_tree(SPACE, epsilon),
        "gradients": lambda epsilon: curator.gradients(FORMS, [STUMP], epsilon),
    }


KINDS = (
    "count",
    "size",
    "sums",
    "choose",
    "choose-partition",
    "quantile",
    "confusion",
    "choose-model",
    "draw-tree",
    "gradients",
)


def test_counts_are_those_of_the_rows(service, curator):
    question = Question(
        (
            Partition(FORMS),
            Partition(FORMS, by="health"),
            Partition(Cells.everything(SCHEMA), by="age"),
        )
    )
    told, same = curator.count(question, SURE), service.curator.count(question, SURE)
    for one, other in zip(told.tables, same.tables, strict=True):
        np.testing.assert_array_equal(one, other)
    assert (told.spread, told.noise, told.cost, told.row_cost) == (
        same.spread,
        same.noise,
        same.cost,
        same.row_cost,
    )
    assert told.entry == service.curator.ledger.entries()[0].__class__(
        **{**vars(service.curator.ledger.entries()[0]), "request": ""}
    )
    listed = [
        Cell((Condition("form", (0,)),)),
        Cell((Condition("form", (1,)), Condition("health", (0,)))),
    ]
    np.testing.assert_array_equal(
        curator.count(listed, SURE).tables[0], service.curator.count(listed, SURE).tables[0]
    )


def test_a_level_is_one_request_and_its_cells_are_sent_once(service, curator):
    curator.count(Question.level(FORMS, SCHEMA.names), 1)
    (body,) = service.asked("count")
    assert len(body["cells"]) == 1
    assert body["partitions"] == [{"cells": 0, "by": name} for name in SCHEMA.names]


def test_size_and_sums(service, curator):
    assert curator.size(SURE).tables[0].tolist() == [300]
    by_class = RowScore(SCHEMA, np.array([0, 1, 5]))
    by_age = RowScore(SCHEMA, np.arange(12).reshape(4, 3), by="age")
    for score in (by_class, by_age):
        assert (
            curator.sums(FORMS, score, SURE).tables[0].tolist()
            == service.curator.sums(FORMS, score, SURE).tables[0].tolist()
        )


@pytest.mark.parametrize(
    "candidates", [SPLITS, [SPLITS, SPLITS[1:], SPLITS[:1]]], ids=["shared", "per cell"]
)
@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_splits_are_chosen_as_in_process(service, curator, candidates, mechanism):
    told = curator.choose(FORMS, candidates, "max", SURE, mechanism=mechanism)
    same = service.curator.choose(FORMS, candidates, "max", SURE, mechanism=mechanism)
    assert len(told.splits) == 3
    assert (told.cost, told.row_cost) == (same.cost, same.row_cost)
    assert curator.choose([Cell()], SPLITS, "gini", SURE).splits == (SPLITS[0],)


@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_a_partition_is_chosen_as_in_process(service, curator, mechanism):
    question = Question(
        (
            Partition(FORMS),
            Partition(FORMS, by="health"),
            Partition(Cells.everything(SCHEMA), by="age"),
        )
    )
    exact = service.curator.count(question, SURE).tables
    for farthest in range(3):
        expected = [table + 10 * (number == farthest) for number, table in enumerate(exact)]
        ask = {"question": question, "expected": expected, "epsilon": SURE, "mechanism": mechanism}
        told, same = (one.choose_partition(**ask) for one in (curator, service.curator))
        assert told.index == same.index == farthest
        assert (told.cost, told.row_cost) == (same.cost, same.row_cost)
        held_back = [10**6 * (number == farthest) for number in range(3)]
        assert curator.choose_partition(**ask, handicaps=held_back).index != farthest
    assert told.cost == (
        Cost.pure(SURE) if mechanism == "permute-and-flip" else Cost.bounded_range(SURE)
    )


@pytest.mark.parametrize("mechanism", ["permute-and-flip", "exponential"])
def test_a_quantile_is_the_bin_it_is_in_process(service, curator, mechanism):
    for q in (0.1, "3/10", Decimal("0.6"), Fraction(9, 10)):
        told, same = (
            one.quantile("age", q, SURE, mechanism=mechanism) for one in (curator, service.curator)
        )
        assert (told.index, told.attribute, told.q, told.low, told.high) == (
            same.index,
            "age",
            same.q,
            same.low,
            same.high,
        )
        assert (told.cost, told.row_cost) == (same.cost, same.row_cost)
    assert (told.low, told.high, told.middle) == (75, 100, 87.5)
    assert told.cost == (
        Cost.pure(SURE) if mechanism == "permute-and-flip" else Cost.bounded_range(SURE)
    )
    assert curator.median("age", SURE).index in (1, 2)
    assert service.asked("quantile")[-1] == {
        "epsilon": str(SURE),
        "attribute": "age",
        "q": "1/2",
        "mechanism": "permute-and-flip",
    }


def test_a_drawn_tree(service, curator):
    told, same = (
        one.draw_tree(SPACE, SURE, weighting=[STUMP]) for one in (curator, service.curator)
    )
    assert told.cost == same.cost == Cost.bounded_range(SURE)
    assert told.cells.schema.fingerprint == SCHEMA.fingerprint
    assert told.labels.shape == told.cells.attribute.shape
    plain = curator.draw_tree(SPACE, SURE).tree()
    codes = [np.array([0, 1, 2]), np.zeros(3, dtype=int), np.zeros(3, dtype=int)]
    assert plain.counts[plain.reach(codes)].argmax(axis=1).tolist() == [0, 0, 2]


def test_derivatives_are_those_of_the_rows(service, curator):
    told, same = (one.gradients(FORMS, [STUMP], SURE) for one in (curator, service.curator))
    np.testing.assert_allclose(told.tables[0], same.tables[0], atol=200)  # in units of 1/65536
    assert told.tables[0].shape == (3, 2, 3)


def test_models_are_evaluated_and_chosen(service, curator, model):
    np.testing.assert_array_equal(
        curator.confusion(model, SURE).tables[0], service.curator.confusion(model, SURE).tables[0]
    )
    worst = Model(
        "greedy-tree",
        SCHEMA,
        (Tree(Cells.everything(SCHEMA), np.array([[0.0, 9, 0]])),),
        "counts",
        model.privacy,
        {},
        1.0,
    )
    assert curator.choose_model([worst, model, worst], SURE)[0] == 1


# -- refused before it is sent ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_no_noise_is_refused_before_it_is_sent(service, curator, model, kind):
    for epsilon in (math.inf, Decimal("inf")):
        with pytest.raises(
            PrivacyError,
            match=(
                "epsilon = inf means no noise; it is refused unless the owner declares the table "
                "public"
            ),
        ):
            asking(curator, model)[kind](epsilon)
    with curator.snapshot(), pytest.raises(PrivacyError, match="epsilon = inf"):
        curator.split_people(2, math.inf)
    assert service.asked(kind) == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", NO_EPSILONS)
def test_what_is_no_amount_is_refused_in_the_same_words(service, curator, model, kind, epsilon):
    with pytest.raises(ParameterError) as here:
        asking(curator, model)[kind](epsilon)
    with pytest.raises(ParameterError) as there:
        asking(service.curator, model)[kind](epsilon)
    assert str(here.value) == str(there.value)
    assert service.asked(kind) == []


@pytest.mark.parametrize(
    "epsilon", [0.1, "1/3", Decimal("0.05"), Fraction(2, 7), np.float64(0.1), np.int64(2), 1e-5]
)
def test_amounts_arrive_exactly(service, curator, epsilon):
    answer = curator.size(epsilon)
    assert answer.row_cost == Cost.pure(epsilon) == service.curator.ledger.entries()[0].cost


@pytest.mark.parametrize("price", [{}, {"epsilon": 1, "rho": 1}])
def test_one_price(curator, model, price):
    for ask in (
        lambda: curator.size(**price),
        lambda: curator.count(FORMS, **price),
        lambda: curator.confusion(model, **price),
        lambda: curator.gradients(FORMS, [], **price),
    ):
        with pytest.raises(ParameterError, match="give either epsilon or rho"):
            ask()


def test_another_schema_is_refused_before_it_is_sent(service, curator, model):
    cells, sent = Cells.everything(OTHER), len(service.seen)
    tree = Tree(cells, np.ones((1, 3)))
    other = Model("greedy-tree", OTHER, (tree,), "counts", model.privacy, {}, 1.0)
    for ask in (
        lambda: curator.count(cells, 1),
        lambda: curator.count(Question.of(cells), 1),
        lambda: curator.sums(cells, RowScore(SCHEMA, np.ones(3, dtype=int)), 1),
        lambda: curator.sums(FORMS, RowScore(OTHER, np.ones(3, dtype=int)), 1),
        lambda: curator.choose(cells, SPLITS, "gini", 1),
        lambda: curator.choose_partition(cells, [np.zeros((1, 3), dtype=int)], 1),
        lambda: curator.draw_tree(TreeSpace(OTHER, 1), 1),
        lambda: curator.draw_tree(SPACE, 1, weighting=[tree]),
        lambda: curator.gradients(FORMS, [tree], 1),
        lambda: curator.confusion(other, 1),
        lambda: curator.choose_model([model, other], 1),
    ):
        with pytest.raises(QuestionError, match=r"(about|for) another schema"):
            ask()
    assert len(service.seen) == sent


def test_other_mistakes_are_refused_before_they_are_sent(service, curator, model):
    sent = len(service.seen)
    for error, ask in (
        (OverlapError, lambda: curator.count([Cell(), Cell()], 1)),
        (QuestionError, lambda: curator.count([Cell((Condition("form", (9,)),))], 1)),
        (
            QuestionError,
            lambda: curator.sums(Question.of(FORMS), RowScore(SCHEMA, np.ones(3, dtype=int)), 1),
        ),
        (ParameterError, lambda: curator.sums(FORMS, np.ones(3), 1)),
        (ParameterError, lambda: curator.choose(FORMS, SPLITS, "best", 1)),
        (ParameterError, lambda: curator.choose(FORMS, SPLITS, "gini", 1, mechanism="argmax")),
        (QuestionError, lambda: curator.choose(FORMS, [SPLITS], "gini", 1)),
        (QuestionError, lambda: curator.choose(FORMS, [], "gini", 1)),
        (QuestionError, lambda: curator.choose(FORMS, [SPLITS[0], SPLITS, SPLITS], "gini", 1)),
        (QuestionError, lambda: curator.choose_partition(FORMS, [], 1)),
        (QuestionError, lambda: curator.choose_partition(FORMS, [np.zeros((3, 3))], 1)),
        (QuestionError, lambda: curator.choose_partition(FORMS, [FAR << 40], 1)),
        (QuestionError, lambda: curator.choose_partition(FORMS, [FAR], 1, handicaps=[1, 2])),
        (ParameterError, lambda: curator.choose_partition(FORMS, [FAR], 1, mechanism="argmax")),
        (ParameterError, lambda: curator.quantile("form", 0.5, 1)),
        (QuestionError, lambda: curator.quantile("height", 0.5, 1)),
        (ParameterError, lambda: curator.quantile("age", 1.5, 1)),
        (ParameterError, lambda: curator.quantile("age", 0.5, 1, mechanism="argmax")),
        (ParameterError, lambda: curator.draw_tree("all", 1)),
        (ParameterError, lambda: curator.confusion(pv.GreedyTreeClassifier(), 1)),
        (ParameterError, lambda: curator.choose_model([], 1)),
        (ParameterError, lambda: curator.choose_model([None], 1)),
    ):
        with pytest.raises(error):
            ask()
    assert len(service.seen) == sent


# -- answers that are not taken --------------------------------------------------------------------


def spoilt(**change: object):
    """Replies with some fields of the answer changed."""
    return lambda operation, told: (
        {**told, "answer": {**told["answer"], **change}} if operation in KINDS else told
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "change",
    [
        {"cost": None},
        {"cost": {}},
        {"row_cost": {"epsilon": "x", "rho": "1"}},
        {"entry": {}},
        {"entry": 7},
    ],
)
def test_answers_without_their_cost_are_not_taken(service, curator, model, kind, change):
    service.spoil = spoilt(**change)
    with pytest.raises(
        Unavailable,
        match=r"answer is not what this version of Privet expects .* history\(\) lists it",
    ):
        asking(curator, model)[kind](1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"answer": {}},
        {"answer": None, "receipt": ""},
        {"answer": [], "receipt": ""},
        {"receipt": "x"},
    ],
)
def test_replies_that_lack_the_answer_are_not_taken(service, curator, model, kind, reply):
    service.spoil = lambda *_: reply
    with pytest.raises(Unavailable, match="answer is not what this version of Privet expects"):
        asking(curator, model)[kind](1)


def table(numbers: object, shape: object) -> dict:
    return {"tables": [{"numbers": numbers, "shape": shape}]}


@pytest.mark.parametrize(
    "change",
    [
        {"tables": []},
        {"tables": None},
        table([1] * 9, [9]),
        table([1] * 9, [3, 4]),
        table([1] * 12, [4, 3]),
        table([1.5] * 9, [3, 3]),
        table([True] * 9, [3, 3]),
        table(["1"] * 9, [3, 3]),
        table([2**63] * 9, [3, 3]),
        table([1] * 9, [3, -1, 3]),
        table([1] * 9, None),
        {"noise": "none of yours"},
        {"noise": []},
        {"noise": "none"},
        {"noise": "discrete-gaussian"},
        {"spread": "0"},
        {"spread": "1/2"},
        {"row_cost": {"epsilon": "1/1000", "rho": "1/2000000"}},
        {"cost": {"epsilon": "1/1000", "rho": "1/2000000"}},
        {"row_cost": {"epsilon": "2", "rho": "2"}, "cost": {"epsilon": "2", "rho": "2"}},
        {"row_cost": {"epsilon": None, "rho": "1/2"}, "cost": {"epsilon": None, "rho": "1/2"}},
        {"spread": "-1"},
        {"spread": "1/0"},
        {"spread": None},
    ],
    ids=str,
)
def test_other_tables_are_not_taken(service, curator, change):
    service.spoil = spoilt(**change)
    with pytest.raises(Unavailable, match="answer is not what"):
        curator.count(FORMS, 1)


def test_other_choices_are_not_taken(service, curator, model):
    offered = [{"attribute": "form", "branch": [0, 1, 2]}]
    for splits in (
        [],
        offered * 2,
        offered * 4,
        [{"attribute": "age", "branch": [0, 0, 1, 1]}] * 3,
        [{"attribute": "form"}] * 3,
        "abc",
        None,
    ):
        service.spoil = spoilt(splits=splits)
        with pytest.raises(Unavailable, match="answer is not what"):
            curator.choose(FORMS, SPLITS, "gini", 1)
    for index in (-1, 1, 0.0, True, None, "0"):
        service.spoil = spoilt(index=index)
        with pytest.raises(Unavailable, match="answer is not what"):
            curator.choose_model([model], 1)
        with pytest.raises(Unavailable, match="answer is not what"):
            curator.choose_partition(FORMS, [FAR], 1)


@pytest.mark.parametrize(
    "change",
    [
        {"index": -1},
        {"index": 4},
        {"index": 1.0},
        {"index": None},
        {"attribute": "form"},
        {"attribute": None},
        {"q": "1/3"},
        {"q": 0},
    ],
)
def test_other_quantiles_are_not_taken(service, curator, change):
    service.spoil = spoilt(**change)
    with pytest.raises(Unavailable, match="answer is not what"):
        curator.median("age", 1)


def test_edges_are_those_of_the_schema(service, curator):
    service.spoil = spoilt(low=0, high=10**9, index=1)
    told = curator.median("age", 1)
    assert (told.low, told.high) == (25, 50)


def test_other_trees_are_not_taken(service, curator):
    leaf = {"attribute": [-1], "branch": [], "cell": [0], "n_cells": 1}
    for change in (
        {"cells": leaf, "labels": [3]},
        {"cells": leaf, "labels": [-1]},
        {"cells": leaf, "labels": []},
        {"cells": leaf, "labels": [0, 0]},
        {"cells": leaf, "labels": ["x"]},
        {"cells": {**leaf, "attribute": [7]}, "labels": [0]},
        {"cells": {**leaf, "attribute": [0]}, "labels": [0]},
        {"cells": {**leaf, "cell": [5]}, "labels": [0]},
        {"cells": None, "labels": [0]},
    ):
        service.spoil = spoilt(**change)
        with pytest.raises(Unavailable, match="answer is not what"):
            curator.draw_tree(SPACE, 1)


@pytest.mark.parametrize(
    "change", [{"division": -1}, {"division": "0"}, {"division": None}, {"n_parts": 3}]
)
def test_other_divisions_are_not_taken(service, curator, change):
    service.spoil = lambda operation, told: (
        {**told, "answer": {**told["answer"], **change}} if operation == "divide" else told
    )
    with curator.snapshot(), pytest.raises(Unavailable, match="answer is not what"):
        curator.split_people(2, 1)


def test_other_previews_and_snapshots_are_not_taken(service, curator):
    service.spoil = lambda *_: {"said": 1}
    with pytest.raises(Unavailable, match="preview is not what"):
        curator.preview([])
    with pytest.raises(Unavailable, match="snapshot is not what"), curator.snapshot():
        pass
