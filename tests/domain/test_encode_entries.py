"""Plain columns get the codes that a data frame with the same entries gets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric, Schema
from privet.domain.encode.rows import encode, encode_entries

ATTRIBUTES = [
    Categorical(["a", "1", "0.5", "true", "x y"]),
    Categorical([1, 2, 0.5, True], other="rest", missing="none"),
    Categorical(["a", "b"], other="b", on_unknown="drop", missing="?"),
    Numeric(0, 10, bins=5),
    Numeric(0, 10, bins=5, missing="none", on_unknown="drop"),
    Numeric(edges=[-1.0, 0.0, 2.5]),
]
ENTRIES = st.one_of(
    st.none(),
    st.sampled_from(
        [
            "a",
            "b",
            "1",
            "1.0",
            "true",
            "True",
            "",
            " 3",
            "3",
            "0.5",
            "none",
            "?",
            "nan",
            "inf",
            "-inf",
            "1e400",
            "1_0",
            "x y",
        ]
    ),
    st.integers(-3, 12),
    st.integers(10**400, 10**400 + 2),
    st.floats(-3, 12),
    st.sampled_from([float("nan"), float("inf"), True, False]),
    st.text(max_size=3),
)


@pytest.mark.parametrize("attribute", ATTRIBUTES, ids=repr)
@given(st.lists(ENTRIES, max_size=12))
def test_the_same_codes_as_a_data_frame(attribute, entries):
    schema = Schema({"x": attribute}, "c", [0, 1])
    column = np.empty(len(entries), dtype=object)
    column[:] = entries
    (ours,) = encode_entries([attribute], [entries])
    assert ours.tolist() == encode(schema, {"x": column}, target=False).codes[0].tolist()
    assert ours.dtype == attribute.dtype


def test_as_many_columns_as_attributes():
    with pytest.raises(ValueError, match="zip"):
        encode_entries(ATTRIBUTES[:2], [["a"]])
