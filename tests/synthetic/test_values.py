"""Codes become values of the schema, and the same codes again: in memory, in Parquet, in CSV."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget
from privet.accounting.statement import PrivacyStatement
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema, text_of
from privet.domain.encode.rows import encode
from privet.domain.questions import Cells, Question
from privet.errors import SchemaError
from privet.mechanisms.randomness import SystemBits
from privet.synthetic.files import write_table
from privet.synthetic.rows import frame_of
from privet.synthetic.synthesize import SyntheticTable
from privet.tables.open import open_table, read_public

PRINTABLE = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")),
    min_size=1,
    max_size=8,
)
HARD = st.sampled_from(
    [
        "NA",
        "nan",
        "null",
        "None",
        "true",
        "True",
        "1",
        "1.0",
        "01",
        " x ",
        '"',
        "a,b",
        "'",
        "",
        "0.1",
        "a;b",
        "\t",
    ]
)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
WHOLE = st.integers(-(2**70), 2**70)
LISTS = {
    "texts": st.one_of(PRINTABLE, HARD),
    "whole": WHOLE,
    "numbers": FLOATS,
    "truths": st.booleans(),
    "mixed": st.one_of(PRINTABLE, HARD, WHOLE, FLOATS, st.booleans()),
}


@st.composite
def categoricals(draw, least: int = 1):
    kind = draw(st.sampled_from(sorted(LISTS)))
    return draw(st.lists(LISTS[kind], min_size=least, max_size=6, unique_by=text_of))


@st.composite
def numerics(draw):
    missing = draw(st.sampled_from([None, "unknown", ""]))
    on_unknown = draw(st.sampled_from([None, "clip", "drop"]))
    if draw(st.booleans()):
        edges = sorted(draw(st.lists(FLOATS, min_size=2, max_size=6, unique=True)))
        options = {"edges": edges}
    else:
        scale = draw(st.sampled_from([1.0, 1e-300, 1e15, 1e300, 0.1]))
        low, width = draw(st.integers(-50, 50)), draw(st.integers(1, 100))
        spacing = draw(st.sampled_from(["linear", "log"]))
        low = abs(low) if spacing == "log" else low
        options = {
            "low": low * scale,
            "high": (low + width) * scale,
            "bins": draw(st.integers(1, 8)),
            "spacing": spacing,
        }
    try:
        return Numeric(**options, missing=missing, on_unknown=on_unknown)
    except SchemaError:
        assume(False)


@st.composite
def tables(draw):
    """A schema and codes of every kind."""
    attributes = {}
    for i in range(draw(st.integers(1, 3))):
        attribute = Categorical(draw(categoricals())) if draw(st.booleans()) else draw(numerics())
        attributes[f"a{i}"] = attribute
    schema = Schema(attributes, "c", draw(categoricals(2)))
    n_rows = draw(st.integers(1, 20))
    codes = [
        np.array(draw(st.lists(st.integers(0, size - 1), min_size=n_rows, max_size=n_rows)))
        for size in schema.sizes
    ]
    classes = np.array(
        draw(st.lists(st.integers(0, schema.n_classes - 1), min_size=n_rows, max_size=n_rows))
    )
    return schema, codes, classes


def check_codes(schema, frame, codes, classes):
    found = encode(schema, frame)
    assert [line.tolist() for line in found.codes] == [line.tolist() for line in codes]
    assert found.classes.tolist() == classes.tolist()


def one(attribute, *codes, classes=("no", "yes")):
    column = np.array(codes)
    return Schema({"a": attribute}, "c", classes), [column], np.arange(len(column)) % 2


@settings(
    max_examples=100, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(tables())
@example(one(Categorical([2**63, -1]), 0, 1, 0))
@example(one(Categorical([2**63 - 1, 2**63 + 1]), 0, 1, 0))
@example(one(Numeric(edges=[-1.7e308, 1.7e308]), 0, 0, 0))
@example(one(Numeric(edges=[0, 5e-324, 1e-323]), 0, 1, 0))
@example(one(Numeric(0, 2**60, bins=1), 0, 0))
def test_rows_have_their_codes_again(case):
    schema, codes, classes = case
    frame = frame_of(schema, codes, classes, SystemBits())
    assert list(frame.columns) == [*schema.names, "c"]
    check_codes(schema, frame, codes, classes)


def written(schema, codes, classes, path: Path) -> None:
    frame = frame_of(schema, codes, classes, SystemBits())
    write_table(
        SyntheticTable(
            frame, schema, PrivacyStatement.of(schema, (), private=False, reason="a test"), (), 1.0
        ),
        path,
    )


def odd() -> tuple[Schema, list[np.ndarray], np.ndarray]:
    """What files confuse most easily, each in a column of its own."""
    attributes = {
        "truth and text": Categorical([True, "True", "true "]),
        "empty": Categorical(["", "x", "NA"]),
        "empty and missing": Categorical(["", "x", 3], missing="x"),
        "truths": Categorical([True, False], missing="?"),
        "large": Categorical([2**63, -1, 2**64]),
        "numbers and texts": Categorical([1, "1.5", "01"]),
        "quotes": Categorical(['"', "'", '",'], on_unknown="drop"),
        "whole": Numeric(0, 10, bins=2, missing="?"),
        "missing": Numeric(0, 1, bins=2, missing="?"),
        "tiny": Numeric(edges=[0, 5e-324, 1e-323, 1.0]),
    }
    schema = Schema(attributes, "c", [False, True])
    rows = np.arange(9)
    return (
        schema,
        [rows % 3 if name != "missing" else np.full(9, 2) for name in attributes],
        rows % 2,
    )


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@settings(
    max_examples=12, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(tables())
@example(odd())
def test_files_have_the_codes_again(suffix, case):
    schema, codes, classes = case
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t.{suffix}")
        written(schema, codes, classes, path)
        check_codes(schema, read_public(str(path)), codes, classes)


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_curators_count_the_files_alike(suffix, tmp_path):
    schema, codes, classes = odd()
    written(schema, codes, classes, tmp_path / f"t.{suffix}")
    curator = Curator(open_table(str(tmp_path / f"t.{suffix}")), schema, Budget(1), public=True)
    answer = curator.count(Question.level(Cells.everything(schema), schema.names), math.inf)
    for table, line in zip(answer.tables, codes, strict=True):
        expected = np.zeros_like(table[0])
        np.add.at(expected, (line, classes), 1)
        assert table[0].tolist() == expected.tolist()


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
@pytest.mark.parametrize("name", ['quo"te', " semi;colon, comma ", "ünï|b|c|d"])
def test_files_have_the_names_of_the_schema(suffix, name, tmp_path):
    schema = Schema(
        {name: Categorical(["x", "y"]), "b": Numeric(0, 9)}, "the class, at last", ["no", "yes"]
    )
    codes, classes = [np.array([0, 1, 1]), np.array([3, 4, 5])], np.array([0, 1, 0])
    written(schema, codes, classes, tmp_path / f"t.{suffix}")
    found = read_public(str(tmp_path / f"t.{suffix}"))
    assert list(found.columns) == [name, "b", "the class, at last"]
    check_codes(schema, found, codes, classes)


def test_missing_numbers_are_null():
    schema, codes, classes = one(Numeric(0, 10, bins=5, missing="?"), 0, 5, 4, 5)
    frame = frame_of(schema, codes, classes, SystemBits())
    assert frame["a"].isna().tolist() == [False, True, False, True]
    with tempfile.TemporaryDirectory() as folder:
        written(schema, codes, classes, Path(folder, "t.parquet"))
        written(schema, codes, classes, Path(folder, "t.csv"))
        assert pd.read_parquet(Path(folder, "t.parquet"))["a"].isna().tolist() == [
            False,
            True,
            False,
            True,
        ]
        assert [line.split(",")[0] for line in Path(folder, "t.csv").read_text().splitlines()[1:]][
            1::2
        ] == ["", ""]


def test_numbers_fill_their_bin():
    schema, codes, classes = one(Numeric(0, 1, bins=4), *[1] * 4000)
    drawn = frame_of(schema, codes, classes, SystemBits())["a"]
    assert 0.25 <= drawn.min() < 0.252
    assert 0.498 < drawn.max() < 0.5
    assert drawn.mean() == pytest.approx(0.375, abs=6 * 0.25 / math.sqrt(12 * 4000))


def test_wide_bins_are_filled_too():
    schema, codes, classes = one(Numeric(edges=[-1.5e308, 1.5e308]), *[0] * 1000)
    drawn = frame_of(schema, codes, classes, SystemBits())["a"]
    assert drawn.min() < -1e308
    assert drawn.max() > 1e308


class TestWholeNumbers:
    def test_are_all_there(self):
        schema, codes, classes = one(Numeric(17, 90, bins=16), *np.repeat(np.arange(16), 300))
        drawn = frame_of(schema, codes, classes, SystemBits())["a"]
        assert drawn.dtype == np.int64
        # one of 5 numbers is missed in 300 draws with odds of 1e-29
        assert set(drawn) == set(range(17, 91))

    def test_bins_are_apart_and_end_where_they_should(self):
        assert Numeric(0, 10, bins=5).list_bin_integers() == ([0, 2, 4, 6, 8], [1, 3, 5, 7, 10])
        assert Numeric(-3, 3, bins=2).list_bin_integers() == ([-3, 0], [-1, 3])
        assert Numeric(edges=[0, 0.5, 7]).list_bin_integers() == ([0, 1], [0, 7])

    @pytest.mark.parametrize(
        "attribute",
        [
            Numeric(0, 1.5),
            Numeric(0.5, 3),
            Numeric(0, 3, bins=16),
            Numeric(0, 2**60),
            Numeric(edges=[0, 0.2, 0.4, 9]),
        ],
    )
    def test_are_not_assumed_otherwise(self, attribute):
        assert attribute.list_bin_integers() is None
