"""Compiling a list of cells: refused exactly if two overlap, otherwise routed as the conditions
say.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition
from privet.errors import OverlapError, QuestionError
from tests.domain.domains import cell_lists, domain, members, partitions, schemas
from tests.routes import route

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(["u", "v"])}, "class", ["no", "yes"]
)


@settings(max_examples=300)
@given(schemas().flatmap(lambda schema: st.tuples(st.just(schema), cell_lists(schema))))
def test_a_list_is_refused_exactly_if_two_cells_share_a_point(
    asked: tuple[Schema, list[Cell]],
) -> None:
    schema, listed = asked
    inside = members(schema, listed)
    if (inside.sum(axis=0) > 1).any():
        with pytest.raises(OverlapError) as caught:
            Cells.of(schema, listed)
        assert members(schema, [caught.value.first, caught.value.second]).all(axis=0).any()
    else:
        expected = np.where(inside.any(axis=0), inside.argmax(axis=0), -1)
        assert (route(Cells.of(schema, listed), domain(schema)) == expected).all()


@given(partitions(), st.randoms(use_true_random=False))
def test_the_cells_of_a_partition_compile_to_the_same_routes(cells: Cells, random: object) -> None:
    points = domain(cells.schema)
    assert (route(Cells.of(cells.schema, cells), points) == route(cells, points)).all()
    order = list(range(len(cells)))
    random.shuffle(order)
    shuffled = Cells.of(cells.schema, [cells.listed[i] for i in order])
    assert (np.array(order)[route(shuffled, points)] == route(cells, points)).all()


def test_an_overlap_carries_and_names_both_cells() -> None:
    first, second = (
        Cell((Condition("a", (0, 1)),)),
        Cell((Condition("a", (1, 2)), Condition("b", (0,)))),
    )
    with pytest.raises(
        OverlapError, match=r"\[a = x \| y\] and \[a = y \| z and b = u\] overlap"
    ) as caught:
        Cells.of(SCHEMA, [first, second])
    assert (caught.value.first, caught.value.second) == (first, second)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ([], "at least one cell"),
        ([Cell((Condition("c", (0,)),))], "no attribute 'c'; there are a, b"),
        ([Cell((Condition("a", (3,)),))], "'a' has codes 0 to 2, got 3"),
        ([Cell((Condition("a", (-1,)),))], "'a' has codes 0 to 2, got -1"),
        ([Cell((Condition("a", (True,)),))], "'a' has the values .*, got 'true'"),
        ([Cell((Condition("a", ("w",)),))], "'a' has the values .*, got 'w'"),
    ],
)
def test_a_cell_that_does_not_exist_is_refused(cells: list, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        Cells.of(SCHEMA, cells)


def test_a_list_that_would_need_too_many_nodes_is_refused() -> None:
    cells = [Cell((Condition("a", (i,)), Condition("b", (0,)))) for i in range(3)]
    with pytest.raises(QuestionError, match="more than 6 nodes"):
        Cells.of(SCHEMA, cells, max_nodes=6)


def test_descriptions_are_in_the_words_of_the_schema() -> None:
    cell = Cell((Condition("a", (0, 2)), Condition("b", (1,))))
    assert cell.describe(SCHEMA) == "a = x | z and b = v"
    assert str(cell) == "a in {0, 2} and b in {1}"
    assert Cell().describe(SCHEMA) == str(Cell()) == "everything"


@pytest.mark.parametrize(
    ("cell", "raises"),
    [
        (Cell((Condition("a", (9,)),)), IndexError),
        (Cell((Condition("a", (-1,)),)), pytest.fail.Exception),
        (Cell((Condition("c", (0,)),)), KeyError),
    ],
    ids=["code", "negative", "attribute"],
)
def test_a_cell_of_another_schema_is_not_described(
    cell: Cell, raises: type, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(QuestionError):
        cell.describe(SCHEMA)
