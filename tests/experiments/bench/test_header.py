"""The header of a KEEL file becomes the schema that it states."""

import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from experiments.bench.accuracy.data import BUNDLED, HEADERS, KEEL
from experiments.bench.accuracy.header import BINS, attribute_of, schema_of
from privet.domain import Categorical, Numeric

words = st.text(string.ascii_letters + string.digits + "_-.", min_size=1, max_size=8)
numbers = st.floats(-1e6, 1e6).map(lambda number: round(number, 4))
blanks = st.sampled_from(["", " ", "  "])


@given(words, st.lists(words, min_size=1, max_size=9, unique=True), blanks)
def test_listed_values_stay_in_order(name, values, blank):
    found, attribute = attribute_of(
        f"@attribute {name} {{{blank}{(blank + ',' + blank).join(values)}{blank}}}"
    )
    assert found == name
    assert attribute == Categorical(values)


@given(words, numbers, numbers, blanks)
def test_real_bounds_are_cut_into_equal_bins(name, low, high, blank):
    assume(high - low > 1e-3)
    found, attribute = attribute_of(f"@attribute {name} real{blank}[{low!r},{blank}{high!r}]")
    assert found == name
    assert attribute == Numeric(low, high, bins=BINS)


@given(st.integers(-1000, 1000), st.integers(0, 40))
def test_few_whole_numbers_have_a_bin_each(low, more):
    _, attribute = attribute_of(f"@attribute a integer [{low}, {low + more}]")
    assert attribute.bins == (more + 1 if more < BINS else BINS)
    if more < BINS:
        import numpy as np

        assert attribute.codes_of(np.arange(low, low + more + 1.0)).tolist() == list(
            range(more + 1)
        )


def test_the_output_is_the_class():
    schema = schema_of(
        "@relation r\n@attribute A1 real [0, 2]\n@attribute 'the class'{no,yes}\n@inputs "
        "A1\n@outputs the class\n@data\n"
    )
    assert schema.names == ("A1",)
    assert (schema.target, tuple(schema.classes)) == ("the class", ("no", "yes"))


@pytest.mark.parametrize(
    "header",
    [
        "@attribute A {x, y}",
        "@attribute A real [0, 1]\n@output A",
        "@attribute A real [0, 1, 2]\n@attribute c {x, y}\n@output c",
        "@attribute A [0, 1]\n@attribute c {x, y}\n@output c",
        "@attribute A real\n@attribute c {x, y}\n@output c",
        "@attribute A {p, q}\n@attribute A {p, q}\n@attribute c {x, y}\n@output c",
    ],
)
def test_what_is_no_header_is_refused(header):
    with pytest.raises(ValueError, match=r"@output|bounds|read|twice"):
        schema_of(header)


@pytest.mark.parametrize("name", [*BUNDLED, *KEEL])
def test_every_header_of_the_bench_is_a_schema(name):
    schema = schema_of((HEADERS / f"{name}.header").read_text())
    assert schema.n_classes >= 2
    assert not schema.from_data
