"""``pair_of``: neighbouring worlds from rows that somebody made up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from privet.audit.worlds import Pair, World
from privet.errors import ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.attributes import Attribute


def pair_of(
    X: Any,  # noqa: N803
    y: Sequence[Any],
    row: Sequence[Any],
    label: Any,
    *,
    instead: tuple[Sequence[Any], Any] | None = None,
    name: str = "worlds of one's own",
) -> Pair:
    """Neighbouring worlds from made-up rows: ``X`` and ``y`` in both, and one more row in one of
    them.

    Args:
        X, y: the rows of both worlds, a table of numbers or words and its classes; not private
            ones, since their domain is read off here.
        row, label: the row that comes.
        instead: the row and class that are there in the other world, where people are replaced.
        name: for the result.
    """
    import numpy as np

    names = [
        str(column) for column in getattr(X, "columns", [f"x{place}" for place in range(len(row))])
    ]
    listed = np.asarray(X, dtype=object).reshape(-1, len(names))
    if (
        len(listed) != len(y)
        or len(row) != len(names)
        or (instead is not None and len(instead[0]) != len(names))
    ):
        raise ParameterError(
            "X must have a class in y for each of its rows, and row a value for each of its "
            f"columns ({len(names)})"
        )
    there = [
        dict(zip((*names, "class"), (*line, of), strict=True))
        for line, of in zip(listed, y, strict=True)
    ]
    comes, replaced = (
        dict(zip((*names, "class"), (*one[0], one[1]), strict=True))
        for one in ((row, label), instead or (row, label))
    )
    everyone = [*there, comes, replaced]
    classes = sorted(
        {one["class"] for one in everyone}, key=lambda value: (str(type(value)), value)
    )
    if len(classes) < 2:
        raise ParameterError(f"y and label must hold at least two classes, got {classes}")
    schema = Schema(
        {name: _infer_attribute([one[name] for one in everyone]) for name in names},
        "class",
        classes,
    )
    schema = schema.declare(
        neighbours="add-remove" if instead is None else "replace",
        n_rows=None if instead is None else len(there) + 1,
    )
    without = there if instead is None else [*there, replaced]
    return Pair(
        name,
        World(schema, tuple(without)),
        World(schema, (*there, comes)),
        (comes,) if instead is None else (comes, replaced),
    )


def _infer_attribute(values: Sequence[Any]) -> Attribute:
    """The domain of made-up values."""
    if any(isinstance(value, str) for value in values):
        return Categorical(sorted({str(value) for value in values}))
    low, high = float(min(values)), float(max(values))
    return Numeric(low, high if high > low else low + 1, bins=2)
