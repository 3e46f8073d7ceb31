"""Lay tables of numbers out as data frames, with the labels of what each number is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from privet.domain import Schema
from privet.domain.cells import Cells

if TYPE_CHECKING:
    import pandas as pd


class Axis(NamedTuple):
    """An axis of a table: what it is, and the label at each position."""

    name: str
    labels: Sequence[str]


Axes = Sequence[Axis]


def frame_of(axes: Axes, columns: Mapping[str, npt.NDArray[Any]]) -> pd.DataFrame:
    """Return one line per entry of some tables of one shape, with the labels along each axis."""
    import pandas as pd

    sizes = [len(axis.labels) for axis in axes]
    positions = np.unravel_index(np.arange(int(np.prod(sizes))), sizes)
    labels = [
        np.array(axis.labels, dtype=object)[at] for axis, at in zip(axes, positions, strict=True)
    ]
    values = [np.asarray(table).reshape(-1) for table in columns.values()]
    names = distinct_names([*(axis.name for axis in axes), *columns])
    return pd.DataFrame(dict(zip(names, [*labels, *values], strict=True)))


def distinct_names(names: Sequence[str]) -> list[str]:
    """Return the names, those that come again with a number: an attribute may be called cell."""
    taken: list[str] = []
    for name in names:
        number, candidate = 2, name
        while candidate in taken:
            number, candidate = number + 1, f"{name} ({number})"
        taken.append(candidate)
    return taken


def cells_axis(cells: Cells) -> Axis:
    """Return the axis of some cells, each with its path in labels."""
    leaves = cells.cell[cells.cell >= 0]
    numbers, times = np.unique(leaves, return_counts=True)
    # One path does not tell all of a cell of several leaves.
    several = set(numbers[times > 1].tolist())
    labels = [
        f"cell {number}" if number in several else cell.describe(cells.schema)
        for number, cell in enumerate(cells.listed)
    ]
    return Axis("cell", labels)


def attribute_axes(schema: Schema, name: str | None) -> Axes:
    """Return the axis of an attribute's values; none where there is no attribute."""
    return [] if name is None else [Axis(name, schema.attributes[name].labels)]


def class_axis(schema: Schema) -> Axis:
    """Return the axis of the classes."""
    return Axis(schema.target, schema.label.labels)


def number_axes(shape: Sequence[int]) -> Axes:
    """Return axes without labels, where nothing is known but the shape."""
    return [Axis(f"axis {axis}", list(map(str, range(n)))) for axis, n in enumerate(shape)]
