"""A schema read off an array: for public data and non-private baselines. Whoever uses it gives up
the promise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import SchemaError
from privet.schema.attributes import Attribute, Categorical, Numeric, text_of
from privet.schema.schema import Schema

BINS = 16


def schema_from_data(columns: npt.NDArray[Any], labels: npt.NDArray[Any]) -> Schema:
    """Attributes x0, x1, ... from the columns of an array, and the classes from its labels.

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
    """The values, sorted where they can be; text that stands for the same value only once."""
    plain = {
        text_of(value): value
        for value in values.tolist()
        if isinstance(value, str | bool | int | float) and value == value
    }
    try:
        return sorted(plain.values())
    except TypeError:
        return [plain[text] for text in sorted(plain)]
