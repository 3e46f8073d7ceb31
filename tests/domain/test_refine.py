"""Splitting cells: the children of a cell are a partition of it, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.errors import QuestionError
from tests.domain.domains import domain, members, partitions, refinements
from tests.routes import route

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(["u", "v"])}, "class", ["no", "yes"]
)


@given(partitions())
def test_every_point_reaches_exactly_one_cell(cells: Cells) -> None:
    inside = members(cells.schema, list(cells))
    assert (inside.sum(axis=0) == 1).all()
    assert (route(cells, domain(cells.schema)) == inside.argmax(axis=0)).all()


@given(partitions(), st.data())
def test_children_are_a_partition_of_their_parent(cells: Cells, data: st.DataObject) -> None:
    chosen = data.draw(refinements(cells))
    points = domain(cells.schema)
    before, after = route(cells, points), route(cells.refine(chosen), points)
    first = 0
    for cell in range(len(cells)):
        here = before == cell
        if cell in chosen:
            split = chosen[cell]
            children = np.array(split.branch)[points[cells.schema.index(split.attribute)][here]]
            assert (after[here] == first + children).all()
            first += split.n_children
        else:
            assert (after[here] == first).all()
            first += 1
    assert len(cells.refine(chosen)) == first


@given(partitions(), st.data())
def test_refining_keeps_what_no_cell_covers(cells: Cells, data: st.DataObject) -> None:
    some = Cells.of(cells.schema, list(cells)[: data.draw(st.integers(1, len(cells)))])
    refined = some.refine(data.draw(refinements(some)))
    points = domain(cells.schema)
    assert ((route(some, points) < 0) == (route(refined, points) < 0)).all()


def test_cells_are_numbered_by_parent_and_child() -> None:
    halves = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "b")})
    cells = halves.refine({0: Split.value(SCHEMA, "a", code=1)})
    assert list(cells) == [
        Cell((Condition("b", (0,)), Condition("a", (0, 2)))),
        Cell((Condition("b", (0,)), Condition("a", (1,)))),
        Cell((Condition("b", (1,)),)),
    ]


def test_the_original_does_not_change() -> None:
    whole = Cells.everything(SCHEMA)
    whole.refine({0: Split.multiway(SCHEMA, "a")})
    assert (len(whole), list(whole), whole.used) == (1, [Cell()], ())
    with pytest.raises(ValueError, match="read-only"):
        whole.cell[0] = 5


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({1: Split.multiway(SCHEMA, "a")}, "no cell 1; there are 1"),
        ({-1: Split.multiway(SCHEMA, "a")}, "no cell -1"),
        ({0: Split("c", (0, 1))}, "no attribute 'c'; there are a, b"),
        ({0: Split("a", (0, 1))}, "each of its 3 values"),
    ],
)
def test_a_bad_refinement_is_refused(chosen: dict, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        Cells.everything(SCHEMA).refine(chosen)
