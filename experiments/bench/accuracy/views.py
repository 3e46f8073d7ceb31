"""What a peer gets to see of a table. Each peer is run on every view, and the best one counts.

Its own binning: numbers as they are with their public bounds (``raw``), beside ``one-hot``
categories, or ``nominal`` ones where the peer knows such attributes. Or ``our bins``: the codes of
our schema.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.datasets import Dataset
from privet.domain.encode.rows import encode


@dataclass(frozen=True)
class View:
    """Columns of numbers with their public bounds, and which of them are nominal.

    ``norm`` bounds the L2 norm of a row whose columns are scaled to [0, 1]: of the one-hot columns
    of an attribute, one is 1.
    """

    X: Floats
    low: Floats
    high: Floats
    nominal: npt.NDArray[np.bool_]
    norm: float


def classes_of(data: Dataset) -> npt.NDArray[np.int64]:
    """The class of each row as a number."""
    classes = encode(data.schema, data.X, data.y).classes
    assert classes is not None
    return classes.astype(np.int64)


def peer_views(data: Dataset, *, nominal: bool) -> dict[str, View]:
    """The views for a peer that knows nominal attributes, or for one that does not; those that are
    the same only once.
    """
    numbers = [attribute.holds_numbers for attribute in data.schema.attributes.values()]
    if all(numbers):
        return {"raw": _own(data, one_hot=False), "our bins": _ours(data)}
    one_hot = {"one-hot": _own(data, one_hot=True)}
    if not nominal:
        return one_hot | {"our bins": _ours(data)}
    return (
        one_hot
        | {"nominal": _own(data, one_hot=False)}
        | ({"our bins": _ours(data)} if any(numbers) else {})
    )


def _ours(data: Dataset) -> View:
    codes = encode(data.schema, data.X, target=False).codes
    top = np.array(data.schema.sizes, dtype=float) - 1
    nominal = [not attribute.ordered for attribute in data.schema.attributes.values()]
    return View(
        np.minimum(np.column_stack(codes), top),
        np.zeros(len(top)),
        top,
        np.array(nominal),
        math.sqrt(len(top)),
    )


def _own(data: Dataset, *, one_hot: bool) -> View:
    """Neither peer takes a missing number: it becomes the middle of the bounds, with a mark in a
    column beside it.
    """
    codes = _ours(data).X
    columns: list[tuple[Any, float, float, bool]] = []
    for position, (name, attribute) in enumerate(data.schema.attributes.items()):
        if attribute.holds_numbers:
            low, high = attribute.cuts[0], attribute.cuts[-1]
            numbers = data.X[name].to_numpy(dtype=float)
            missing = np.isnan(numbers)
            filled = np.where(missing, (low + high) / 2, np.clip(numbers, low, high))
            columns.append((filled, low, high, False))
            columns += [(missing, 0, 1, False)] if attribute.missing is not None else []
        elif one_hot:
            columns += [(codes[:, position] == code, 0, 1, False) for code in range(attribute.size)]
        else:
            columns.append((codes[:, position], 0, attribute.size - 1, True))
    values, lows, highs, nominal = zip(*columns, strict=True)
    attributes = data.schema.attributes.values()
    # a missing number is the middle of its bounds, .5, with a mark of 1
    marked = sum(each.holds_numbers and each.missing is not None for each in attributes)
    return View(
        np.column_stack(values).astype(float),
        np.array(lows, dtype=float),
        np.array(highs, dtype=float),
        np.array(nominal),
        math.sqrt(len(attributes) + marked / 4),
    )
