"""A first schema from a *public* sample.

Everything in a schema is public. Drafting reads domains off the rows it is given, so it must never see private rows:
a listed category or a bound would tell that somebody has it.
"""

from __future__ import annotations

import math
from typing import Any

from privet.errors import SchemaError
from privet.schema.attributes import Attribute, Categorical, Numeric
from privet.schema.schema import Schema

WARNING = (
    "Every category and every bound in this schema was read off the file, and a schema is public. "
    "That is fine for a public sample, and a privacy breach for private rows. "
    "Before you use it: check each list and each bound against the documentation of the data, add what the sample does "
    "not show, round the bounds, and declare n_rows only if the number of rows is public."
)

FEW = 20  # numbers with at most this many distinct values are drafted as categories
MANY = 1000  # text with more distinct values than this looks like an identifier


def draft(sample: Any, target: str | None = None) -> Schema:
    """A first schema from a public sample (a pandas DataFrame). The target is the last column unless named."""
    columns = [str(column) for column in sample.columns]
    if len(columns) < 2:
        raise SchemaError(f"a sample needs at least one attribute and a class column, got {len(columns)} columns")
    name = columns[-1] if target is None else target
    if name not in columns:
        raise SchemaError(f"no column {name!r} in the sample; there are {', '.join(columns)}")
    classes = sorted(_plain(value) for value in sample[name].dropna().unique())
    if len(classes) < 2 or len(classes) > MANY:
        raise SchemaError(f"the class column {name!r} must have 2 to {MANY} distinct values; name another with the target option")
    attributes = {column: _attribute(column, sample[column]) for column in columns if column != name}
    return Schema(attributes, name, classes)


def _attribute(name: str, column: Any) -> Attribute:
    import pandas as pd

    known = column.dropna()
    missing = "?" if len(known) < len(column) else None
    numbers = pd.to_numeric(known[known.astype(str) != "?"], errors="coerce")
    if len(numbers) and not numbers.isna().any() and numbers.nunique() > FEW and not pd.api.types.is_bool_dtype(column.dtype):
        marked = missing or ("?" if len(numbers) < len(known) else None)
        low, high = _rounded(float(numbers.min()), math.floor), _rounded(float(numbers.max()), math.ceil)
        heavy = low >= 0 and high > 100 * max(float(numbers.median()), 1.0)
        return Numeric(low, high, bins=16, spacing="log" if heavy else "linear", missing=marked)
    values = sorted({_plain(value) for value in known.unique()}, key=lambda value: (str(type(value)), value))
    if not 1 <= len(values) <= MANY:
        raise SchemaError(
            f"column {name!r} has {len(values)} distinct values: it is empty or looks like an identifier; "
            "drop it from the sample (an identifier of people belongs into 'person')"
        )
    return Categorical(values, missing=missing)


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def _rounded(bound: float, towards: Any) -> float:
    """Two significant digits, outwards: a bound should not be somebody's value."""
    if bound == 0:
        return 0.0
    unit = 10.0 ** (math.floor(math.log10(abs(bound))) - 1)
    return float(f"{towards(bound / unit) * unit:.10g}")
