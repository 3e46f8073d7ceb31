"""Random schemas, and the values that are hard to encode."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from privet.domain import Attribute, Categorical, Numeric, Schema, text_of

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
names = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=8)
values = st.one_of(
    texts,
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
)


@st.composite
def categoricals(draw: st.DrawFn) -> Categorical:
    listed = draw(st.lists(values, min_size=1, max_size=6, unique_by=text_of))
    other, missing = draw(st.none() | values), draw(st.none() | values)
    on_unknown = draw(st.sampled_from([None, "drop"] if other is None else [None, "drop", "other"]))
    return Categorical(listed, other=other, missing=missing, on_unknown=on_unknown)


@st.composite
def numerics(draw: st.DrawFn) -> Numeric:
    rest: dict[str, Any] = {
        "missing": draw(st.none() | texts),
        "on_unknown": draw(st.sampled_from([None, "clip", "drop"])),
    }
    numbers = st.floats(-1e9, 1e9, allow_subnormal=False)
    if draw(st.booleans()):
        return Numeric(edges=sorted(draw(st.sets(numbers, min_size=2, max_size=6))), **rest)
    spacing = draw(st.sampled_from([None, "linear", "log"]))
    low = draw(st.just(0.0) | st.floats(1e-9, 1e9)) if spacing == "log" else draw(numbers)
    bins = draw(st.integers(1, 40) | st.just("auto"))
    return Numeric(low, low + draw(st.floats(1, 1e9)), bins=bins, spacing=spacing, **rest)


attributes: st.SearchStrategy[Attribute] = categoricals() | numerics()


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    listed = draw(st.lists(names, min_size=3, max_size=5, unique=True))
    target, person, *columns = listed
    return Schema(
        {name: draw(attributes) for name in columns},
        target,
        draw(st.lists(values, min_size=2, max_size=4, unique_by=text_of)),
        n_rows=draw(st.none() | st.integers(0, 10**12)),
        person=draw(st.sampled_from([None, person])),
        rows_per_person=draw(st.integers(1, 9)),
        neighbours=draw(st.sampled_from(["add-remove", "replace"])),
    )


#: Values that look alike, spell numbers in unusual ways, are null, or are no values at all.
TRICKY: list[Any] = [
    *[
        1,
        True,
        1.0,
        "1",
        np.int8(1),
        np.float32(1),
        np.bool_(True),
        np.str_("1"),
        "01",
        "1.0",
        "true",
        "True",
        "TRUE",
    ],
    *[
        None,
        float("nan"),
        pd.NA,
        pd.NaT,
        np.datetime64("NaT"),
        Decimal("NaN"),
        "nan",
        "NaN",
        "None",
        "",
    ],
    *[
        float("inf"),
        -float("inf"),
        "inf",
        "-Infinity",
        0,
        -0.0,
        0.5,
        "0.5",
        False,
        "1_000",
        " 5 ",
        "5\n",
        "5\x00",
        "٣",
        "\ud800",
    ],
    *[
        2**53 + 1,
        2**63,
        2**64,
        2**70,
        -(2**70),
        10**400,
        10**5000,
        1e300,
        Decimal("1"),
        Decimal("1e999999"),
        Fraction(1, 2),
    ],
    *[
        dt.date(2020, 1, 1),
        dt.datetime(2020, 1, 1),
        pd.Timestamp(0),
        np.datetime64(1, "D"),
        np.timedelta64(1, "D"),
    ],
    *[[1], [], (1, 2), {"a": 1}, frozenset(), b"1", 1j, object(), "\x00"],
]
