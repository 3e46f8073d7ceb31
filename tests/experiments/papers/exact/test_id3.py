"""ID3 on tables whose tree is known, against a slow oracle, and what holds for any table."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.papers.exact import grow_id3
from privet.errors import ParameterError
from tests.learners.baselines import oracle
from tests.learners.baselines.tables import (
    Table,
    accuracy,
    assert_counts_are_those_of_the_rows,
    categorical,
    code_column,
    nested,
    predictions,
    tables,
    weather,
)

XOR = (
    categorical(2, 2),
    [code_column([0, 0, 1, 1]), code_column([0, 1, 0, 1])],
    code_column([0, 1, 1, 0]),
)


def test_the_weather_gives_the_tree_in_print() -> None:
    sunny = ((3, 2), "humidity", {(0,): (3, 0), (1,): (0, 2)})
    rain = ((2, 3), "windy", {(0,): (0, 3), (1,): (2, 0)})
    assert nested(grow_id3(*weather())) == (
        (5, 9),
        "outlook",
        {(0,): sunny, (1,): (0, 4), (2,): rain},
    )


def test_the_leaves_are_the_cells_in_order() -> None:
    tree = grow_id3(*weather())
    assert tree.cells.cell[tree.leaves].tolist() == [0, 1, 2, 3, 4]
    assert next(iter(tree.cells)).describe(tree.schema) == "outlook = overcast"


def test_exclusive_or_is_learnt_though_no_attribute_gains_at_first() -> None:
    tree = grow_id3(*XOR)
    assert nested(tree)[1] == "a"  # a tie goes to the first attribute
    assert (accuracy(tree, *XOR[1:]), tree.n_nodes) == (1, 7)


def test_ties_go_to_the_first_attribute_though_sums_round_differently() -> None:
    # b is a with its values renamed: the same gain, added up in another order.
    first = np.repeat([0, 1, 2], [7, 11, 13]).astype(np.uint8)
    classes = code_column([0] * 3 + [1] * 4 + [0] * 5 + [1] * 6 + [0] * 1 + [1] * 12)
    schema = categorical(3, 3)
    for renamed in ([1, 2, 0], [2, 0, 1], [2, 1, 0]):
        other = np.array(renamed, dtype=np.uint8)[first]
        assert nested(grow_id3(schema, [first, other], classes))[1] == "a"
        assert nested(grow_id3(schema, [other, first], classes))[1] == "a"


def test_an_absent_value_falls_back_on_the_parent() -> None:
    schema = categorical(3, 2)
    tree = grow_id3(
        schema, [code_column([0, 0, 1]), code_column([0, 1, 0])], code_column([1, 1, 0])
    )
    assert nested(tree) == ((1, 2), "a", {(0,): (0, 2), (1,): (1, 0), (2,): (1, 2)})
    assert predictions(tree, [code_column([2]), code_column([0])]).tolist() == [1]


def test_contradictions_end_in_a_leaf_with_both_classes() -> None:
    tree = grow_id3(
        categorical(2, 2), [code_column([1, 1, 1]), code_column([0, 0, 0])], code_column([0, 1, 1])
    )
    assert nested(tree) == (1, 2)


def test_no_rows_give_one_leaf() -> None:
    assert nested(grow_id3(categorical(2, 3), [code_column([])] * 2, code_column([]))) == (0, 0)


def test_depth_and_rows_are_limited() -> None:
    assert nested(grow_id3(*weather(), max_depth=0)) == (5, 9)
    assert nested(grow_id3(*weather(), max_depth=1)) == (
        (5, 9),
        "outlook",
        {(0,): (3, 2), (1,): (0, 4), (2,): (2, 3)},
    )
    assert nested(grow_id3(*weather(), min_rows=6)) == nested(grow_id3(*weather(), max_depth=1))
    assert grow_id3(*weather(), min_rows=5).n_nodes == grow_id3(*weather()).n_nodes
    assert nested(grow_id3(*weather(), min_rows=15)) == (5, 9)


def test_a_level_in_pieces_is_the_same_level(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    codes = [random.integers(0, 3, 400).astype(np.uint8) for _ in range(5)]
    classes = random.integers(0, 3, 400)
    whole = grow_id3(categorical(3, 3, 3, 3, 3, n_classes=3), codes, classes)
    monkeypatch.setattr("privet.learners.baselines.growing.MAX_TABLE", 30)
    assert nested(grow_id3(whole.schema, codes, classes)) == nested(whole)


@given(tables(), st.integers(1, 5))
def test_it_is_the_tree_of_the_slow_oracle(table: Table, min_rows: int) -> None:
    schema, codes, classes = table
    rows = list(zip(*(column.tolist() for column in (*codes, classes)), strict=True))
    assert nested(grow_id3(*table, min_rows=min_rows)) == oracle.grow(
        schema, rows, oracle.id3(min_rows)
    )


@given(tables(consistent=True).filter(lambda table: len(table[2]) > 0))
def test_a_full_tree_is_right_on_a_consistent_table(table: Table) -> None:
    assert accuracy(grow_id3(*table), *table[1:]) == 1


@given(tables(), st.none() | st.integers(0, 3))
def test_counts_are_those_of_the_rows(table: Table, max_depth: int | None) -> None:
    tree = grow_id3(*table, max_depth=max_depth)
    assert_counts_are_those_of_the_rows(tree, *table[1:])
    assert tree.depths.max() <= (len(table[1]) if max_depth is None else max_depth)


@given(tables())
def test_an_attribute_is_used_once_on_a_path(table: Table) -> None:
    for cell in grow_id3(*table).cells:
        names = [condition.attribute for condition in cell.path]
        assert len(names) == len(set(names))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint64, np.int64])
def test_any_whole_numbers_will_do(dtype: type) -> None:
    schema, codes, classes = weather()
    tree = grow_id3(schema, [column.astype(dtype) for column in codes], classes.astype(dtype))
    assert nested(tree) == nested(grow_id3(schema, codes, classes))


@pytest.mark.parametrize(
    ("codes", "classes", "message"),
    [
        ([[0, 1]], [0, 1], "codes must have one column per attribute, 2; got 1"),
        ([[0, 1], [0, 2]], [0, 1], "codes of 'b' must be 0 to 1"),
        ([[0, 1], [0, -1]], [0, 1], "codes of 'b' must be 0 to 1"),
        ([[0, 1], [0]], [0, 1], "codes of 'b' must be one integer per row"),
        ([[0, 1], [0.0, 1.0]], [0, 1], "codes of 'b' must be one integer per row"),
        ([[0, 1], [0, 1]], [0, 2], "classes must be 0 to 1"),
    ],
)
def test_bad_rows_are_refused(codes: list[list[int]], classes: list[int], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        grow_id3(categorical(2, 2), [np.array(column) for column in codes], np.array(classes))


@pytest.mark.parametrize(
    "limits", [{"max_depth": -1}, {"max_depth": 1.5}, {"min_rows": 0}, {"min_rows": True}]
)
def test_bad_limits_are_refused(limits: dict[str, int]) -> None:
    with pytest.raises(
        ParameterError, match=f"{next(iter(limits))} must be an integer of at least"
    ):
        grow_id3(*XOR, **limits)
