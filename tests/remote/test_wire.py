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
from privet.queries.json_answers import (
    answer_to,
    choice_from,
    choices_from,
    cost_from,
    cost_to,
    drawn_from,
    numbers_from,
    preview_from,
    preview_to,
    quantile_from,
)

from privet.budget import Cost
from privet.cells import Cell, Cells, Condition, Split
from privet.errors import QuestionError
from privet.ledger import Entry
from privet.queries import Choice, Choices, Drawn, Numbers, Preview, Quantile, RowScore
from privet.queries.json_parts import (
    candidates_from,
    candidates_to,
    cells_from,
    cells_to,
    expected_from,
    expected_to,
    question_from,
    question_to,
    score_from,
    score_to,
    space_from,
    space_to,
    trees_from,
    trees_to,
)
from privet.question import Partition, Question
from privet.schema import Categorical, Numeric, Schema
from privet.service import requests
from privet.space import TreeSpace
from privet.tree import Tree
from tests.cells.domains import cell_lists, domain, partitions, schemas, splits

amounts = st.fractions(min_value=Fraction(1, 10**9), max_value=10**6)
costs = st.builds(Cost, st.none() | amounts, amounts)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
entries = st.builds(
    Entry, st.integers(0, 2**60), texts, texts, texts, texts, costs, texts, st.just(""), texts
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
    requests.CellTree.model_validate(told)
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
    told = travelled(question_to(question))
    requests.Count.model_validate({"epsilon": "1", **told})
    back = question_from(schema, **told)
    assert [(part.by, part.shape, routed(part.cells)) for part in back.partitions] == [
        (part.by, part.shape, routed(part.cells)) for part in question.partitions
    ]
    assert len(told["cells"]) == len({id(part.cells) for part in question.partitions})
    assert back.describe() == question.describe()


@given(st.data())
def test_candidates_are_the_same_splits_in_the_same_order(data):
    schema = data.draw(schemas())
    some = st.lists(splits(schema), min_size=1, max_size=4)
    for candidates in (data.draw(some), data.draw(st.lists(some, min_size=1, max_size=3))):
        told = travelled(candidates_to(candidates))
        requests.Choose.model_validate({"epsilon": "1", **told})
        back = candidates_from(**told)
        assert back == candidates  # what is offered twice has twice the chance


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
    told = travelled(expected_to(expected, list(range(len(expected)))))
    asked = requests.ChoosePartition.model_validate({"epsilon": "1", **told})
    for one, other in zip(expected_from(question, asked.expected), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    assert asked.handicaps == list(range(len(expected)))


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
    told = travelled(space_to(space))
    requests.Space.model_validate(told)
    back = space_from(schema, told)
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
    told = travelled(score_to(score))
    requests.Sums.model_validate({"epsilon": "1", **told})
    back = score_from(schema, told["by"], told["score"])
    assert (back.by, back.bound, back.table.tolist()) == (
        score.by,
        score.bound,
        score.table.tolist(),
    )


@given(schemas().flatmap(lambda schema: st.lists(trees(schema), max_size=3)))
def test_trees_give_every_point_the_same_scores(listed):
    if not listed:
        assert trees_to(listed) == []
        return
    told = travelled(trees_to(listed))
    requests.Gradients.model_validate({"epsilon": "1", "trees": told})
    points = domain(listed[0].schema)
    for tree, back in zip(listed, trees_from(listed[0].schema, told), strict=True):
        np.testing.assert_array_equal(
            back.counts[back.reach(points)], tree.counts[tree.reach(points)]
        )


@given(costs)
def test_costs_are_exact(cost):
    assert cost_from(travelled(cost_to(cost))) == cost


@given(st.builds(Choice, **common, index=st.integers(0, 10**6)))
def test_choices_of_one(choice):
    back = choice_from(travelled(answer_to(choice)))
    same_answer(back, choice)
    assert back.index == choice.index


@given(st.builds(Choice, **common, index=st.integers(0, 6)), st.fractions(0, 1))
def test_quantiles(choice, q):
    schema = Schema(
        {"a": Categorical(["x"]), "n": Numeric(0, 1000, bins=7, spacing="log", missing="?")},
        "c",
        ["no", "yes"],
    )
    answer = Quantile.of(choice, "n", q, schema.attributes["n"].cuts)
    told = travelled(answer_to(answer))
    assert told["low"] <= answer.middle <= told["high"]
    back = quantile_from(schema, told)
    same_answer(back, answer)
    assert [
        vars(back)[name] == vars(answer)[name]
        for name in ("index", "attribute", "q", "low", "high")
    ] == [True] * 5


@given(st.builds(Preview, costs, amounts, st.booleans()))
def test_previews(preview):
    assert preview_from(travelled(preview_to(preview))) == preview


@given(st.data())
def test_noisy_numbers_survive_the_wire(data):
    whole = st.integers(-(2**63), 2**63 - 1)
    shapes = data.draw(st.lists(st.lists(st.integers(1, 3), min_size=1, max_size=3), max_size=3))
    tables = [
        data.draw(st.lists(whole, min_size=int(np.prod(shape)), max_size=int(np.prod(shape))))
        for shape in shapes
    ]
    answer = Numbers(
        **{name: data.draw(strategy) for name, strategy in common.items()},
        tables=tuple(
            np.array(table, dtype=np.int64).reshape(shape)
            for table, shape in zip(tables, shapes, strict=True)
        ),
        noise=data.draw(st.sampled_from(["discrete-laplace", "discrete-gaussian"])),
        spread=data.draw(st.fractions(min_value=Fraction(1, 100), max_value=10**6)),
    )
    told = numbers_from(travelled(answer_to(answer)))
    same_answer(told, answer)
    assert (told.noise, told.spread, told.deviation) == (
        answer.noise,
        answer.spread,
        answer.deviation,
    )
    for one, other in zip(told.tables, answer.tables, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == np.int64


@given(st.data())
def test_choices_survive_the_wire(data):
    chosen = data.draw(schemas().flatmap(lambda schema: st.lists(splits(schema), max_size=4)))
    answer = Choices(
        **{name: data.draw(strategy) for name, strategy in common.items()}, splits=tuple(chosen)
    )
    told = choices_from(travelled(answer_to(answer)))
    same_answer(told, answer)
    assert told.splits == answer.splits


@given(st.data())
def test_drawn_trees(data):
    cells = data.draw(partitions())
    labels = data.draw(
        st.lists(st.integers(0, 1), min_size=len(cells.attribute), max_size=len(cells.attribute))
    )
    answer = Drawn(
        **{name: data.draw(strategy) for name, strategy in common.items()},
        cells=cells,
        labels=np.array(labels),
    )
    told = drawn_from(cells.schema, travelled(answer_to(answer)))
    same_answer(told, answer)
    points = domain(cells.schema)
    one, other = told.tree(), answer.tree()
    np.testing.assert_array_equal(one.counts[one.reach(points)], other.counts[other.reach(points)])
