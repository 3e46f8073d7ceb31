"""Every kind of column, read in blocks of any size and in any way, has the codes of its single
entries.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.encode import steps
from privet.domain.encode.rows import encode, find_problems
from tests.domain.oracle import code_of
from tests.domain.strategies import attributes, categoricals, numerics

LISTED = [
    Categorical(
        [0, 1, "2", 0.5, 2**40, -5, 2**63, 2**53 + 1, True, "x", 127, -128, 255], missing="?"
    ),
    Categorical(["a", "", "é", "1", "1.5", "true", 3], other="rest"),
    Categorical([*range(300), "a"], other=7, on_unknown="drop", missing=8),
    Categorical([2**63 - 1, -(2**63), 2**64 - 1, 0, 5e-324, 1.7976931348623157e308, 0.1]),
    Categorical(["none"]),
    Numeric(0, 10, bins=5),
    Numeric(0, 10, bins=1),
    Numeric(-3, 100, bins=7, missing="?", on_unknown="drop"),
    Numeric(1, 1e9, bins=40, spacing="log", on_unknown="drop"),
    Numeric(
        edges=[-1e308, 0, 1, 1.0000000000000002, 1.7976931348623157e308],
        on_unknown="drop",
        missing="none",
    ),
    Numeric(edges=[0, 5e-324, 1e-323]),
    Numeric(0, 2**60, bins=300),
]
attribute = st.sampled_from(LISTED) | attributes


def both_ways(schema: Schema, table: object, *, matrix: bool, turn: bool) -> Iterator[Any]:
    """The table encoded at once and in small blocks, one of them with preparation. Which one: it
    takes turns.
    """
    for block, many in ((7, 0), (1 << 16, 1 << 14)) if turn else ((7, 1 << 14), (1 << 16, 0)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(steps, "BLOCK", block)
            patch.setattr(steps, "MANY_ROWS", many)
            yield encode(schema, table, target=False, matrix=matrix)


def check(
    attribute: Attribute,
    column: Any,
    entries: list[Any],
    table: Callable[[Any], object] = lambda column: {"x": column},
) -> None:
    schema = Schema({"x": attribute, "wide": Categorical(range(300))}, "class", [0, 1])
    expected = [code_of(attribute, entry) for entry in entries]
    odd = len(entries) % 2 == 1
    for encoded in both_ways(
        schema, {"x": column, "wide": np.zeros(len(entries), dtype=np.uint8)}, matrix=True, turn=odd
    ):
        assert encoded.codes[0].tolist() == expected
    for encoded in both_ways(
        Schema({"x": attribute}, "class", [0, 1]), table(column), matrix=False, turn=not odd
    ):
        assert encoded.codes[0].tolist() == expected
        assert encoded.codes[0].dtype == attribute.dtype
    whole, parts = (problems_of(attribute, column, len(entries), block) for block in (1 << 16, 7))
    assert whole == parts


def problems_of(attribute: Attribute, column: Any, n_rows: int, block: int) -> list:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(steps, "BLOCK", block)
        return find_problems(
            Schema({"x": attribute}, "class", [0, 1]), {"x": column}, np.zeros(n_rows, dtype=int)
        )


def in_pieces(draw: Any, entries: list[Any], kind: pa.DataType) -> Any:
    """An Arrow column that is cut at random places, each piece a slice of a longer array."""
    cuts = sorted(draw(st.lists(st.integers(0, len(entries)), max_size=3)))
    pieces = []
    for low, high in zip([0, *cuts], [*cuts, len(entries)], strict=True):
        before, after = draw(st.integers(0, 2)), draw(st.integers(0, 2))
        long = pa.array([None] * before + entries[low:high] + [None] * after, type=kind)
        pieces.append(long.slice(before, high - low))
    return (
        pieces[0]
        if len(pieces) == 1 and draw(st.booleans())
        else pa.chunked_array(pieces, type=kind)
    )


def as_table(column: Any) -> pa.Table:
    return pa.table({"x": column})


WHOLE = {
    "int8": (-128, 127),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint8": (0, 255),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
}


#: Between the smallest and the largest, which have the limits that matter.
MIDDLE = ("int16", "uint16", "uint32")


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in MIDDLE)) for name in WHOLE],
)
@settings(max_examples=10, deadline=None)
@given(st.data(), attribute)
def test_whole_numbers(dtype: str, data: st.DataObject, attribute: Attribute) -> None:
    low, high = WHOLE[dtype]
    near = [
        n
        for n in (0, 1, 2, 3, 10, 11, 299, 2**40, 2**53, 2**53 + 1, -5, low, high, high - 1)
        if low <= n <= high
    ]
    whole = st.sampled_from(near) | st.integers(max(low, -5), 12) | st.integers(low, high)
    entries = data.draw(st.lists(whole, max_size=20))
    with_null = [None if data.draw(st.integers(0, 4)) == 0 else entry for entry in entries]
    array = np.array(entries, dtype=dtype)
    check(attribute, array, entries)
    check(attribute, np.repeat(array, 2)[::2], entries)
    check(attribute, array, entries, lambda column: column.reshape(-1, 1))
    check(
        attribute, np.ma.masked_array(array, mask=[entry is None for entry in with_null]), with_null
    )
    check(
        attribute,
        pd.Series(array, index=range(5, 5 + len(array))),
        entries,
        lambda column: pd.DataFrame({"x": column}),
    )
    check(
        attribute,
        pd.Series(
            with_null, dtype=pd.array([1], dtype=dtype.replace("i", "I").replace("uI", "UI")).dtype
        ),
        with_null,
    )
    check(
        attribute,
        pd.Series(with_null, dtype=f"{dtype}[pyarrow]"),
        with_null,
        lambda column: pd.DataFrame({"x": column}),
    )
    check(attribute, in_pieces(data.draw, with_null, pa.type_for_alias(dtype)), with_null, as_table)
    ours = getattr(pl, dtype.replace("i", "I").replace("uI", "UI"))
    check(
        attribute,
        pl.Series("x", with_null, dtype=ours),
        with_null,
        lambda column: pl.DataFrame([column]),
    )
    check(
        attribute,
        pl.concat(
            [pl.Series(entries[:3], dtype=ours), pl.Series(entries[3:], dtype=ours)], rechunk=False
        ),
        entries,
    )
    check(attribute, with_null, with_null)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@settings(max_examples=12, deadline=None)
@given(st.data(), attribute)
def test_blocks_of_floats_are_encoded_like_single_entries(
    dtype: str, data: st.DataObject, attribute: Attribute
) -> None:
    width = int(dtype[-2:])
    near = [
        0.0,
        -0.0,
        0.5,
        1.0,
        2.0,
        3.0,
        10.0,
        100.0,
        6e-8,
        math.inf,
        -math.inf,
        math.nan,
        127.0,
        7.0,
    ]
    if width == 64:
        near += [
            1.0000000000000002,
            5e-324,
            1e-323,
            1.7976931348623157e308,
            -1e308,
            2.0**53,
            2.0**60,
            9.999999999999998,
            0.1,
        ]
        near += list(attribute.cuts) if isinstance(attribute, Numeric) else []
    near = [float(np.dtype(dtype).type(number)) for number in near] if width < 64 else near
    entries = data.draw(
        st.lists(
            st.sampled_from(near) | st.floats(-5, 12, width=width) | st.floats(width=width),
            max_size=20,
        )
    )
    with_null = [None if data.draw(st.integers(0, 4)) == 0 else entry for entry in entries]
    array = np.array(entries, dtype=dtype)
    check(attribute, array, entries)
    check(attribute, pd.Series(array), entries, lambda column: pd.DataFrame({"x": column}))
    check(
        attribute, np.ma.masked_array(array, mask=[entry is None for entry in with_null]), with_null
    )
    halves = [None if entry is None else np.dtype(dtype).type(entry) for entry in with_null]
    check(
        attribute,
        in_pieces(data.draw, halves, {16: pa.float16(), 32: pa.float32(), 64: pa.float64()}[width]),
        with_null,
        as_table,
    )
    check(attribute, halves, with_null)
    if width > 16:
        masked = pd.arrays.FloatingArray(
            array, np.array([entry is None for entry in with_null], dtype=bool)
        )
        check(attribute, pd.Series(masked), with_null)
        ours = pl.Float64 if width == 64 else pl.Float32
        check(
            attribute,
            pl.Series("x", with_null, dtype=ours),
            with_null,
            lambda column: pl.DataFrame([column]),
        )


@settings(max_examples=12, deadline=None)
@given(st.data(), attribute, st.lists(st.booleans(), max_size=20))
def test_truth_values(data: st.DataObject, attribute: Attribute, entries: list) -> None:
    with_null = [None if data.draw(st.integers(0, 4)) == 0 else entry for entry in entries]
    array = np.array(entries, dtype=bool)
    check(attribute, array, entries)
    check(
        attribute, np.ma.masked_array(array, mask=[entry is None for entry in with_null]), with_null
    )
    check(attribute, pd.Series(array), entries)
    check(attribute, pd.Series(with_null, dtype="boolean"), with_null)
    check(attribute, pd.Series(with_null, dtype="bool[pyarrow]"), with_null)
    check(attribute, in_pieces(data.draw, with_null, pa.bool_()), with_null, as_table)
    check(
        attribute,
        pl.Series("x", with_null, dtype=pl.Boolean),
        with_null,
        lambda column: pl.DataFrame([column]),
    )


SPELLED = [
    "a",
    "b",
    "",
    "é",
    "1",
    "1.0",
    "01",
    "2",
    "1.5",
    "true",
    "True",
    "TRUE",
    "x",
    "none",
    "?",
    " 3",
    "3e0",
    "1_0",
    "nan",
    "inf",
    "-inf",
    "1e400",
    "127",
    "rest",
    "a longer text than fits into a view",
]
texts = st.sampled_from(SPELLED) | st.text(st.characters(exclude_categories=["Cs"]), max_size=4)


@settings(max_examples=12, deadline=None)
@given(st.data(), attribute, st.lists(st.none() | texts, max_size=20))
def test_blocks_of_texts_are_encoded_like_single_entries(
    data: st.DataObject, attribute: Attribute, entries: list
) -> None:
    known = [entry for entry in entries if entry is not None]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        check(attribute, in_pieces(data.draw, entries, kind), entries, as_table)
    for index in (pa.int8(), pa.uint32(), pa.int64()):
        for kind in (pa.string(), pa.large_string()):
            check(
                attribute,
                in_pieces(data.draw, entries, pa.dictionary(index, kind)),
                entries,
                as_table,
            )
    for dtype in (
        "str",
        "string",
        "string[python]",
        "object",
        pd.ArrowDtype(pa.string()),
        pd.ArrowDtype(pa.dictionary(pa.int32(), pa.string())),
    ):
        check(
            attribute,
            pd.Series(entries, dtype=dtype),
            entries,
            lambda column: pd.DataFrame({"x": column}),
        )
    listed = list(dict.fromkeys([*known, *data.draw(st.lists(texts, max_size=3))]))
    check(
        attribute,
        pd.Series(pd.Categorical(entries, categories=listed)),
        entries,
        lambda column: pd.DataFrame({"x": column}),
    )
    column = pl.Series("x", entries, dtype=pl.String)
    for ours in (
        column,
        column.cast(pl.Categorical),
        column.cast(pl.Enum(listed)),
        column.cast(pl.Enum(listed[::-1])),
    ):
        check(attribute, ours, entries, lambda column: pl.DataFrame([column]))
        check(attribute, pl.concat([ours[:3], ours[3:]], rechunk=False), entries)
    check(attribute, entries, entries)
    fixed = [entry for entry in known if not entry.endswith("\x00")]  # fixed width ends there
    check(attribute, np.array(fixed, dtype=str), fixed)


ODD = [1, "1", 2.5, "x", False, 2**70, -0.5, 0.25, "true", "", 10**30, 3, "a"]


@settings(max_examples=40, deadline=None)
@given(st.data(), attribute, st.lists(st.sampled_from([None, *ODD]), max_size=20))
def test_odd_categories_of_pandas(data: st.DataObject, attribute: Attribute, entries: list) -> None:
    categories = data.draw(st.permutations(ODD))
    position = {(type(value), value): number for number, value in enumerate(categories)}
    codes = [-1 if entry is None else position[type(entry), entry] for entry in entries]
    column = pd.Series(
        pd.Categorical.from_codes(codes, categories=pd.Index(categories, dtype=object))
    )
    check(attribute, column, entries, lambda column: pd.DataFrame({"x": column}))
    check(attribute, pd.Series(entries, dtype=object), entries)


@settings(max_examples=12, deadline=None)
@given(
    st.data(),
    attribute,
    st.sampled_from([pa.int64(), pa.float64(), pa.string(), pa.bool_(), pa.decimal128(20, 3)]),
)
def test_odd_dictionaries_of_arrow(
    data: st.DataObject, attribute: Attribute, kind: pa.DataType
) -> None:
    """With null in them, and with the same value twice."""
    values = {
        "int64": [1, 2, None, 2, 2**60],
        "double": [0.5, None, 1.0, math.nan, 0.5],
        "string": ["a", None, "a", "1"],
        "bool": [True, None, False, True],
        "decimal128(20, 3)": [Decimal("0.5"), None, Decimal(1)],
    }[str(kind)]
    pieces, entries = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        codes = data.draw(st.lists(st.none() | st.integers(0, len(values) - 1), max_size=9))
        some = values[::-1] if data.draw(st.booleans()) else values
        pieces.append(
            pa.DictionaryArray.from_arrays(pa.array(codes, pa.int8()), pa.array(some, kind))
        )
        entries += [None if code is None else some[code] for code in codes]
    check(attribute, pa.chunked_array(pieces), entries, as_table)


@settings(max_examples=12, deadline=None)
@given(attribute, st.lists(st.none() | st.decimals(-20, 20, places=3), max_size=20))
def test_decimals(attribute: Attribute, entries: list) -> None:
    check(attribute, pa.array(entries, pa.decimal128(20, 3)), entries, as_table)
    check(
        attribute,
        pl.Series("x", entries, dtype=pl.Decimal(20, 3)),
        entries,
        lambda column: pl.DataFrame([column]),
    )
    check(attribute, pd.Series(entries, dtype=pd.ArrowDtype(pa.decimal128(20, 3))), entries)
    check(attribute, pd.Series(entries, dtype=object), entries)


@settings(max_examples=12, deadline=None)
@given(categoricals() | numerics(), st.lists(st.integers(-(2**100), 2**100), max_size=10))
def test_whole_numbers_of_any_size(attribute: Attribute, entries: list) -> None:
    check(attribute, entries, entries)
    check(
        attribute,
        pl.Series("x", entries, dtype=pl.Int128),
        entries,
        lambda column: pl.DataFrame([column]),
    )


@pytest.mark.parametrize("attribute", LISTED, ids=repr)
def test_a_long_column_has_the_codes_of_its_distinct_entries(attribute: Attribute) -> None:
    """As many rows as are really prepared for."""
    draw = np.random.default_rng(1)
    for entries in (
        np.array([0, 1, 2, 3, -5, 127, 2**40, 299]),
        np.array([0, 255, 8], dtype=np.uint8),
        np.array(
            [
                0,
                1,
                0.5,
                math.nan,
                math.inf,
                -math.inf,
                1e300,
                9.99,
                1e-323,
                2.0**60,
                *getattr(attribute, "cuts", []),
            ]
        ),
        np.array([True, False]),
        np.array(["a", "", "1", "x", "nothing"], dtype=object),
    ):
        where = draw.integers(0, len(entries), 3 * steps.BLOCK + 5)
        schema = Schema({"x": attribute}, "class", [0, 1])
        expected = np.array([code_of(attribute, entry) for entry in entries.tolist()])[where]
        for column in (entries[where], pl.Series(entries[where]), pa.array(entries[where])):
            np.testing.assert_array_equal(
                encode(schema, {"x": column}, target=False).codes[0], expected
            )


@pytest.mark.parametrize("many", [0, 1 << 14])
def test_people_are_told_apart_across_blocks(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "BLOCK", 7)
    monkeypatch.setattr(steps, "MANY_ROWS", many)
    who = [None if number % 11 == 0 else f"p{number % 5}" for number in range(100)]
    schema = Schema({"x": Categorical(["a"])}, "class", [0, 1], person="who")
    for column in (
        who,
        pd.Series(who),
        pd.Series(who, dtype="category"),
        pl.Series(who),
        pa.array(who),
        pa.array(who).dictionary_encode(),
    ):
        person = encode(schema, {"x": ["a"] * 100, "class": [0] * 100, "who": column}).person
        same = np.array([[a == b for b in who] for a in who])
        np.testing.assert_array_equal(person[:, None] == person, same)
        assert ((person == -1) == [entry is None for entry in who]).all()


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
)
def test_text_that_is_no_text_matches_nothing_however_many_rows_there_are(kind, monkeypatch):
    """Were it decoded in long tables only, one row more would change the codes of others."""
    schema = Schema({"a": Categorical(["\ufffd", "x"])}, "y", ["no", "yes"])
    storage = pa.large_binary() if kind == pa.large_string() else pa.binary()
    odd = pa.array([b"\xff", b"x", b"\xef\xbf\xbd"], type=storage)
    if pa.types.is_dictionary(kind):
        column = pa.DictionaryArray.from_arrays(
            pa.array([0, 1, 2], type=pa.int8()), odd.view(pa.string())
        )
    elif kind == pa.string_view():
        column = odd.view(pa.string()).cast(kind, safe=False)
    else:
        column = odd.view(kind)
    for many in (1, 1000):
        monkeypatch.setattr(steps, "MANY_ROWS", many)
        (codes,) = encode(schema, pa.table({"a": column}), target=False).codes
        assert codes.tolist() == [2, 1, 0], many


def test_runs_of_equal_texts_are_texts():
    column = pc.run_end_encode(pa.array(["x", "x", "y", None, "z"]))
    schema = Schema({"a": Categorical(["x", "y"], missing="?")}, "y", ["no", "yes"])
    (codes,) = encode(schema, pa.table({"a": column}), target=False).codes
    assert codes.tolist() == [0, 0, 1, 2, 3]


def test_long_fractions_are_numbers():
    schema = Schema({"a": Numeric(0, 10, bins=5)}, "y", ["no", "yes"])
    (codes,) = encode(schema, {"a": np.array([1, 5, 9], dtype=np.longdouble)}, target=False).codes
    assert codes.tolist() == [0, 2, 4]
