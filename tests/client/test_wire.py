"""What is read back from JSON is what was written: the same partition, the same routing, the same
amounts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import Cost
from privet.accounting.ledger import Entry
from privet.accounting.ledger.journal import cost_from, cost_to
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Partition, Question
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import QuestionError
from privet.model import Model
from privet.model.document import to_document
from privet.queries import (
    Answer,
    ChooseModel,
    ChoosePartition,
    ChooseSplits,
    ChosenIndex,
    ChosenSplits,
    Confusion,
    Count,
    Drawn,
    DrawTree,
    FindQuantile,
    Gradients,
    Numbers,
    Preview,
    Price,
    Quantile,
    Query,
    RowScore,
    Size,
    Sums,
    check_query,
)
from privet.queries.choose_model import ModelChoice
from privet.queries.json_parts import CELL_TREE, cells_from, cells_to
from privet.service import requests
from tests.domain.domains import cell_lists, domain, partitions, schemas, splits
from tests.report.models import small_model
from tests.report.scored import scored_model

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=10**6)
costs = st.builds(Cost, st.none() | amounts, amounts)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
entries = st.builds(
    Entry, st.integers(0, 2**60), texts, texts, texts, texts, costs, texts, st.just(""), texts
)
SCHEMA = Schema(
    {"a": Categorical(["x"]), "n": Numeric(0, 1000, bins=7, spacing="log", missing="?")},
    "c",
    ["no", "yes"],
)
common = {"cost": costs, "row_cost": costs, "private": st.booleans(), "entry": st.none() | entries}


def travelled(told: Any) -> Any:
    """As the other side sees it."""
    return json.loads(json.dumps(told, ensure_ascii=False, allow_nan=False).encode())


def routed(cells: Cells) -> list[int]:
    """The cell of every point of the domain."""
    counts = np.ones((len(cells.attribute), cells.schema.n_classes))
    return cells.cell[Tree(cells, counts).reach(domain(cells.schema))].tolist()


@st.composite
def trees(draw: st.DrawFn, schema: Schema) -> Tree:
    cells = draw(partitions(schema))
    score = st.floats(-10_000, 10_000)
    size = len(cells.attribute) * schema.n_classes
    return Tree(
        cells,
        np.array(draw(st.lists(score, min_size=size, max_size=size))).reshape(-1, schema.n_classes),
    )


def sent(query: Query[Any], schema: Schema) -> tuple[Any, Any]:
    """The body of a checked query as the other side sees it, and the query that it reads there."""
    ready = check_query(query, schema)
    body = requests.check_body(ready.name, travelled({"epsilon": "1", **ready.to_json()}))
    return body, check_query(requests.query_of(ready.name, schema, body), schema)


def answered(query: Query[Any], answer: Answer) -> Any:
    """An answer to a checked query, as the other side reads it."""
    told = travelled(answer.to_json())
    back = query.read_answer(told, Answer.from_json(told))
    same_answer(back, answer)
    assert type(back) is type(answer)
    return back


def terms(data: st.DataObject) -> dict[str, Any]:
    return {name: data.draw(strategy) for name, strategy in common.items()}


def one_leaf(schema: Schema) -> Model:
    leaf = Tree(Cells.everything(schema), np.ones((1, schema.n_classes)))
    return small_model(schema, trees=(leaf,))


def same_answer(told: Any, answer: Any) -> None:
    assert (told.cost, told.row_cost, told.private, told.entry) == (
        answer.cost,
        answer.row_cost,
        answer.private,
        answer.entry,
    )


@given(partitions())
def test_cells_are_the_same_partition(cells):
    told = travelled(cells_to(cells))
    CELL_TREE.check(told, "cells")
    back = cells_from(cells.schema, told)
    assert (len(back), routed(back)) == (len(cells), routed(cells))
    assert cells_to(back) == cells_to(cells)


@given(
    schemas().flatmap(lambda schema: st.tuples(st.just(schema), cell_lists(schema))), st.booleans()
)
def test_lists_of_cells_are_read_in_codes_and_in_labels(drawn, in_labels):
    schema, listed = drawn
    merged = [merge(schema, cell) for cell in listed]
    told = [
        {
            name: [label(schema, name, code) if in_labels else code for code in codes]
            for name, codes in one.items()
        }
        for one in merged
    ]
    meant = [
        Cell(tuple(Condition(name, tuple(codes)) for name, codes in one.items())) for one in merged
    ]
    assert understood(lambda: cells_from(schema, travelled(told))) == understood(
        lambda: Cells.of(schema, meant)
    )


def understood(make: Callable[[], Cells]) -> list[int] | str:
    """How the cells divide the domain, or why they cannot be asked about."""
    try:
        return routed(make())
    except QuestionError as refused:
        return str(refused)


def merge(schema: Schema, cell: Cell) -> dict[str, list[int]]:
    """An object holds each attribute once."""
    codes: dict[str, set[int]] = {}
    for condition in cell.path:
        codes[condition.attribute] = codes.get(condition.attribute, set(condition.codes)) & set(
            condition.codes
        )
    return {name: sorted(allowed) for name, allowed in codes.items()}


def label(schema: Schema, name: str, code: int) -> str:
    return schema.attributes[name].labels[code]


@given(st.data())
def test_questions_are_the_same_partitions_and_share_their_cells(data):
    schema = data.draw(schemas())
    shared = data.draw(st.lists(partitions(schema), min_size=1, max_size=3))
    parts = st.builds(Partition, st.sampled_from(shared), st.none() | st.sampled_from(schema.names))
    question = Question(tuple(data.draw(st.lists(parts, min_size=1, max_size=4))))
    told, query = sent(Count(question), schema)
    back = query.question
    assert [(part.by, part.shape, routed(part.cells)) for part in back.partitions] == [
        (part.by, part.shape, routed(part.cells)) for part in question.partitions
    ]
    assert len(told["cells"]) == len({id(part.cells) for part in question.partitions})
    assert back.describe() == question.describe()


@given(st.data())
def test_candidates_are_the_same_splits_in_the_same_order(data):
    schema = data.draw(schemas())
    cells = data.draw(partitions(schema))
    some = st.lists(splits(schema), min_size=1, max_size=4)
    each = st.lists(some, min_size=len(cells), max_size=len(cells))
    for candidates in (data.draw(some), data.draw(each)):
        _, back = sent(ChooseSplits(cells, candidates, "max", "exponential"), schema)
        # what is offered twice has twice the chance
        listed = [one if isinstance(one, Split) else list(one) for one in back.candidates]
        assert listed == candidates
        assert (routed(back.cells), back.criterion, back.mechanism) == (
            routed(cells),
            "max",
            "exponential",
        )


@given(st.data())
def test_expectations_are_the_same_tables(data):
    question = Question(
        tuple(
            Partition(cells) for cells in [data.draw(partitions())] * data.draw(st.integers(1, 3))
        )
    )
    whole = st.integers(-(2**35), 2**35)
    tables = [
        data.draw(st.lists(whole, min_size=part.entries, max_size=part.entries))
        for part in question.partitions
    ]
    expected = [
        np.array(table, dtype=np.int64).reshape(part.shape)
        for table, part in zip(tables, question.partitions, strict=True)
    ]
    handicaps = list(range(len(expected)))
    query = ChoosePartition(question, expected, handicaps, "permute-and-flip")
    _, back = sent(query, question.schema)
    for one, other in zip(back.expected, expected, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.int64
    assert (back.handicaps, back.mechanism) == (handicaps, "permute-and-flip")


@given(st.data())
def test_spaces_are_the_same_trees_with_the_same_chances(data):
    schema = data.draw(schemas())
    some = st.none() | st.lists(
        splits(schema).filter(lambda one: one.n_children > 1 if isinstance(one, Split) else True),
        max_size=3,
    )
    if max(schema.sizes) == 1:
        some = st.none()
    chances = st.floats(0.1, 0.9)
    try:
        space = TreeSpace(
            schema,
            data.draw(st.integers(0, 3)),
            data.draw(some),
            data.draw(some),
            data.draw(chances),
            data.draw(chances),
        )
    except ValueError:
        return
    back = sent(DrawTree(space), schema)[1].space
    assert all(getattr(back, name) == getattr(space, name) for name in ("depth", "split", "keep"))
    assert (list(back.inner), list(back.last), back.size) == (
        list(space.inner),
        list(space.last),
        space.size,
    )


@given(st.data())
def test_scores_are_the_same_numbers(data):
    schema = data.draw(schemas())
    by = data.draw(st.none() | st.sampled_from(schema.names))
    shape = (
        (schema.n_classes,) if by is None else (schema.sizes[schema.index(by)], schema.n_classes)
    )
    size = int(np.prod(shape))
    numbers = data.draw(
        st.lists(st.integers(-(2**31), 2**31), min_size=size, max_size=size).filter(any)
    )
    score = RowScore(schema, np.array(numbers).reshape(shape), by)
    cells = data.draw(partitions(schema))
    _, query = sent(Sums(cells, score), schema)
    assert routed(query.cells) == routed(cells)
    back = query.score
    assert (back.by, back.bound, back.table.tolist()) == (
        score.by,
        score.bound,
        score.table.tolist(),
    )


@given(schemas().flatmap(lambda schema: st.lists(trees(schema), max_size=3)))
def test_trees_give_every_point_the_same_scores(listed):
    schema = listed[0].schema if listed else SCHEMA
    cells = Cells.everything(schema)
    points = domain(schema)
    by_gradients = sent(Gradients(cells, listed), schema)[1].trees
    by_weights = sent(DrawTree(TreeSpace(schema, 0), listed), schema)[1].weighting
    for read in (by_gradients, by_weights):
        for tree, back in zip(listed, read, strict=True):
            np.testing.assert_array_equal(
                back.counts[back.reach(points)], tree.counts[tree.reach(points)]
            )


@given(st.fractions(0, 1), st.sampled_from(["permute-and-flip", "exponential"]))
def test_shares_of_quantiles_are_exact(q, mechanism):
    _, back = sent(FindQuantile("n", q, mechanism), SCHEMA)
    assert (back.attribute, back.q, back.mechanism) == ("n", q, mechanism)


def test_models_are_the_same_documents():
    for model in (small_model(), scored_model()):
        assert to_document(sent(Confusion(model), model.schema)[1].model) == to_document(model)
    model = small_model()
    _, back = sent(ChooseModel([model, one_leaf(model.schema)]), model.schema)
    assert list(map(to_document, back.models)) == [
        to_document(model),
        to_document(one_leaf(model.schema)),
    ]


def test_a_service_of_0_1_can_read_a_model_of_scores():
    """It refuses keys and versions that it does not know."""
    told = Confusion(scored_model()).to_json()["model"]
    assert told["version"] == 1
    assert "kinds" not in told


@given(costs)
def test_costs_are_exact(cost):
    assert cost_from(travelled(cost_to(cost))) == cost


@given(st.data())
def test_choices_of_one(data):
    n = data.draw(st.integers(1, 1000))
    partition = Partition(Cells.everything(SCHEMA))
    query = check_query(
        ChoosePartition(Question((partition,) * n), [np.zeros((1, 2), dtype=np.int64)] * n), SCHEMA
    )
    choice = ChosenIndex(**terms(data), index=data.draw(st.integers(0, n - 1)))
    assert answered(query, choice).index == choice.index


@given(st.data())
def test_choices_of_a_model(data):
    query = check_query(ChooseModel([one_leaf(SCHEMA)] * data.draw(st.integers(1, 50))), SCHEMA)
    choice = ModelChoice(**terms(data), index=data.draw(st.integers(0, len(query.models) - 1)))
    assert answered(query, choice).index == choice.index


@given(st.data(), st.integers(0, 6), st.fractions(0, 1))
def test_quantiles(data, index, q):
    answer = Quantile.of(Answer(**terms(data)), index, "n", q, SCHEMA.attributes["n"])
    told = travelled(answer.to_json())
    assert told["low"] <= answer.middle <= told["high"]
    back = answered(check_query(FindQuantile("n", q), SCHEMA), answer)
    assert [
        vars(back)[name] == vars(answer)[name]
        for name in ("index", "attribute", "q", "low", "high")
    ] == [True] * 5


@given(st.builds(Preview, costs, amounts, st.booleans()))
def test_previews(preview):
    assert Preview.from_json(travelled(preview.to_json())) == preview


@given(st.data())
def test_numbers(data):
    schema = data.draw(schemas())
    cells = data.draw(partitions(schema))
    by = st.none() | st.sampled_from(schema.names)
    parts = data.draw(st.lists(st.builds(Partition, st.just(cells), by), min_size=1, max_size=3))
    score = RowScore(schema, np.array([1, 2]))
    query = check_query(
        data.draw(
            st.sampled_from(
                [
                    Count(Question(tuple(parts))),
                    Size(),
                    Sums(cells, score),
                    Gradients(cells, []),
                    Confusion(one_leaf(schema)),
                ]
            )
        ),
        schema,
    )
    whole = st.integers(-(2**63), 2**63 - 1)
    sizes = [int(np.prod(shape)) for shape in query.kind.shapes]
    tables = [data.draw(st.lists(whole, min_size=size, max_size=size)) for size in sizes]
    said = terms(data)
    said["row_cost"] = data.draw(costs.filter(lambda cost: cost.rho > 0 and cost.epsilon != 0))
    paid = said["row_cost"]
    pure = paid.epsilon is not None
    price = Price(paid.epsilon) if pure else Price(paid.rho, "rho")
    answer = Numbers(
        **said,
        tables=tuple(
            np.array(table, dtype=np.int64).reshape(shape)
            for table, shape in zip(tables, query.kind.shapes, strict=True)
        ),
        noise="discrete-laplace" if pure else "discrete-gaussian",
        spread=query.kind.spread(price),
    )
    told = answered(query, answer)
    assert (told.noise, told.spread, told.deviation) == (
        answer.noise,
        answer.spread,
        answer.deviation,
    )
    for one, other in zip(told.tables, answer.tables, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.int64


@given(st.data())
def test_choices(data):
    cells = data.draw(partitions())
    some = st.lists(splits(cells.schema), min_size=1, max_size=4)
    offered = data.draw(st.lists(some, min_size=len(cells), max_size=len(cells)))
    query = check_query(ChooseSplits(cells, offered), cells.schema)
    chosen = tuple(data.draw(st.sampled_from(splits)) for splits in offered)
    assert answered(query, ChosenSplits(**terms(data), splits=chosen)).splits == chosen


@given(st.data())
def test_drawn_trees(data):
    cells = data.draw(partitions())
    labels = data.draw(
        st.lists(st.integers(0, 1), min_size=len(cells.attribute), max_size=len(cells.attribute))
    )
    answer = Drawn(**terms(data), cells=cells, labels=np.array(labels))
    space = TreeSpace(cells.schema, int(cells.depths.max()))
    told = answered(check_query(DrawTree(space), cells.schema), answer)
    points = domain(cells.schema)
    one, other = told.tree(), answer.tree()
    np.testing.assert_array_equal(one.counts[one.reach(points)], other.counts[other.reach(points)])
