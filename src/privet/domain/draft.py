"""Draft a schema from a public sample, or read one off an array.

Everything in a schema is public. Both functions read domains off the rows that they are given, so
they must never see private rows: a listed category or a bound would tell that somebody has it.

- :func:`draft` writes a first schema for an owner to edit, from a *public* sample.
- :func:`schema_from_data` is for public data and non-private baselines. Using it on private rows
  gives up the privacy guarantee.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.attributes import Attribute, Categorical, Numeric, text_of
from privet.domain.drafting.sample import draft_sample
from privet.domain.schema import Schema
from privet.errors import SchemaError

WARNING = (
    "Every category and every bound in this schema was read off the file, and a schema is public. "
    "That is fine for a public sample, and a privacy breach for private rows. Before you use it: "
    "check each list and each bound against the documentation of the data, add what the sample "
    "does not show, round the bounds, and declare n_rows only if the number of rows is public."
)


def draft(sample: Any, target: str | None = None) -> Schema:
    """Return a first schema from a *public* sample (a pandas DataFrame).

    The target is the last column unless named. Identifiers and constants are left out;
    :func:`privet.domain.drafting.sample.draft_sample` says which, and why.
    """
    return draft_sample(sample, target).schema


# -- schemas read off an array: for public data and baselines only --

BINS = 16


def schema_from_data(columns: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Schema:
    """Return attributes x0, x1, ... from the columns of an array, and classes from its labels.

    A column of numbers gets bins of equal frequency; any other column lists its values.
    """
    classes = _list_distinct(labels)
    if len(classes) < 2:
        raise SchemaError(
            f"a classifier needs at least 2 classes; the data has {len(classes)} class"
        )
    attributes = {f"x{i}": _infer_attribute(columns[:, i]) for i in range(columns.shape[1])}
    return Schema(attributes, "y", classes, n_rows=len(labels), from_data=True)


def _infer_attribute(column: npt.NDArray[Any]) -> Attribute:
    try:
        numbers = column.astype(np.float64)
    except (TypeError, ValueError):
        return Categorical(_list_distinct(column), missing="?", other="other")
    known = numbers[np.isfinite(numbers)]
    if not len(known):
        known = np.zeros(1)
    edges = np.unique(np.quantile(known, np.linspace(0, 1, BINS + 1)))
    if len(edges) < 2:
        edges = np.array([edges[0], edges[0] + 1.0])
    return Numeric(edges=[float(edge) for edge in edges], missing="?")


def _list_distinct(values: npt.NDArray[Any]) -> list[Any]:
    """Return the distinct values, sorted where they can be.

    Text that stands for the same value is listed only once.
    """
    plain = {
        text_of(value): value
        for value in values.tolist()
        if isinstance(value, str | bool | int | float) and value == value
    }
    try:
        return sorted(plain.values())
    except TypeError:
        return [plain[text] for text in sorted(plain)]
