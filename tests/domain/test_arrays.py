"""Flat arrays from elsewhere are taken only if every walk ends in exactly one leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.cells import MAX_RECALLED, Cells
from privet.errors import QuestionError
from tests.domain.domains import domain
from tests.routes import route

SCHEMA = Schema(
    {"a": Categorical(["x", "y", "z"]), "b": Categorical(["u", "v"])}, "class", ["no", "yes"]
)
# b at the root; its second child tests a
GOOD: dict[str, Any] = {
    "attribute": [1, -1, 0, -1, -1],
    "offset": [0, 0, 2, 0, 0],
    "branch": [1, 2, 3, 3, 4],
    "cell": [-1, 0, -1, 1, -1],
    "n_cells": 2,
}


def build(**changes: Any) -> Cells:
    arrays = {**GOOD, **changes}
    types = {"attribute": np.int32, "offset": np.int64, "branch": np.int32, "cell": np.int32}
    return Cells(
        SCHEMA,
        *(np.array(arrays[name], dtype=dtype) for name, dtype in types.items()),
        arrays["n_cells"],
    )


def test_the_good_example_routes() -> None:
    cells = build()
    assert route(cells, domain(SCHEMA)).tolist() == [0, 1, 0, 1, 0, -1]
    assert [cell.describe(SCHEMA) for cell in cells] == ["b = u", "b = v and a = x | y"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"attribute": [], "offset": [], "cell": []}, "one attribute, offset and cell per node"),
        ({"offset": [0]}, "one attribute, offset and cell per node"),
        ({"cell": [-1, 0]}, "one attribute, offset and cell per node"),
        ({"attribute": [2, -1, 0, -1, -1]}, "attribute that the schema does not have"),
        ({"attribute": [-2, -1, 0, -1, -1]}, "attribute that the schema does not have"),
        ({"offset": [-1, 0, 2, 0, 0]}, "no branch for some value"),
        ({"offset": [0, 0, 3, 0, 0]}, "no branch for some value"),
        ({"branch": [1, 2, 3, 3]}, "no branch for some value"),
        ({"branch": [0, 2, 3, 3, 4]}, "does not point forward"),
        ({"branch": [1, 2, 3, 0, 4]}, "does not point forward"),
        ({"branch": [1, 2, 2, 3, 4]}, "does not point forward"),
        ({"branch": [1, 5, 3, 3, 4]}, "does not point forward"),
        ({"branch": [1, -1, 3, 3, 4]}, "does not point forward"),
        ({"cell": [0, 0, -1, 1, -1]}, "cell at an inner node"),
        ({"cell": [-1, 2, -1, 1, -1]}, "cell that does not exist"),
        ({"cell": [-1, -2, -1, 1, -1]}, "cell that does not exist"),
        ({"n_cells": 1}, "cell that does not exist"),
        ({"n_cells": -1}, "n_cells must be an integer of at least 0"),
        pytest.param(
            {"offset": [2**63 - 1, 0, 2, 0, 0]},
            "no branch for some value",
        ),
    ],
)
def test_malformed_arrays_are_refused(changes: dict, said: str) -> None:
    with pytest.raises(QuestionError, match=said):
        build(**changes)


changes_of_arrays = st.lists(
    st.tuples(
        st.sampled_from(["attribute", "offset", "branch", "cell"]),
        st.integers(0, 4),
        st.integers(-1, 4),
    ),
    max_size=4,
)


@settings(max_examples=500)
@given(changes_of_arrays)
def test_changed_arrays_are_refused_or_route_every_point(
    changes: list[tuple[str, int, int]],
) -> None:
    arrays = {name: list(GOOD[name]) for name in ("attribute", "offset", "branch", "cell")}
    for name, position, value in changes:
        arrays[name][position] = value
    try:
        cells = build(**arrays)
    except QuestionError:
        return
    reached = route(cells, domain(SCHEMA))
    expected = [walk(arrays, point) for point in zip(*domain(SCHEMA), strict=True)]
    assert reached.tolist() == expected
    assert len(cells.listed) == GOOD["n_cells"]


def walk(arrays: dict[str, list[int]], point: tuple[int, ...]) -> int:
    """The cell that a point reaches, one step at a time."""
    node, steps = 0, 0
    while arrays["attribute"][node] >= 0:
        node = arrays["branch"][arrays["offset"][node] + point[arrays["attribute"][node]]]
        steps += 1
        assert steps < len(arrays["attribute"])
    assert -1 <= arrays["cell"][node] < GOOD["n_cells"]
    return arrays["cell"][node]


def test_what_was_proved_once_is_proved_for_that_content_only() -> None:
    arrays = [GOOD[name] for name in ("attribute", "offset", "branch", "cell", "n_cells")]
    first, second = Cells(SCHEMA, *arrays), Cells(SCHEMA, *arrays)
    assert not np.shares_memory(first.parents, second.parents)
    first.parents[...] = 7
    assert Cells(SCHEMA, *arrays).parents.tolist() == [-1, 0, 0, 2, 2]
    wider = Schema(
        {"a": Categorical(["x", "y", "z", "w"]), "b": Categorical(["u", "v"])}, "class", ["0", "1"]
    )
    with pytest.raises(QuestionError, match="no branch for some value"):
        Cells(wider, *arrays)
    with pytest.raises(QuestionError, match="a cell that does not exist"):
        Cells(SCHEMA, *arrays[:-1], 1)


def test_a_large_tree_is_proved_like_a_small_one() -> None:
    rest = MAX_RECALLED // 4
    spare = {"branch": [*GOOD["branch"], *[0] * rest]}
    assert build(**spare).parents.tolist() == build().parents.tolist()
    with pytest.raises(QuestionError, match="does not point forward"):
        build(branch=[0, *spare["branch"][1:]])
