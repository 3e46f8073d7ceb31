"""Small random schemas with their whole domain, random partitions, and membership by brute
force.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cell, Cells, Condition, Split

Points = list[npt.NDArray[np.int64]]


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    kinds = draw(st.lists(st.booleans(), min_size=len(sizes), max_size=len(sizes)))
    attributes = {
        f"a{i}": Numeric(0, 1, bins=size)
        if numeric
        else Categorical([f"v{code}" for code in range(size)])
        for i, (size, numeric) in enumerate(zip(sizes, kinds, strict=True))
    }
    return Schema(attributes, "class", ["no", "yes"])


def domain(schema: Schema) -> Points:
    """Every point of the domain, as code columns."""
    return [axis.reshape(-1) for axis in np.indices(schema.sizes)]


@st.composite
def splits(draw: st.DrawFn, schema: Schema) -> Split:
    name = draw(st.sampled_from(schema.names))
    branch = draw(
        st.lists(
            st.integers(0, 2),
            min_size=schema.attributes[name].size,
            max_size=schema.attributes[name].size,
        )
    )
    numbers = {child: number for number, child in enumerate(sorted(set(branch)))}
    return Split(name, tuple(numbers[child] for child in branch))


@st.composite
def refinements(draw: st.DrawFn, cells: Cells) -> dict[int, Split]:
    chosen = draw(st.sets(st.integers(0, len(cells) - 1), max_size=4))
    return {cell: draw(splits(cells.schema)) for cell in sorted(chosen)}


@st.composite
def partitions(draw: st.DrawFn, schema: Schema | None = None) -> Cells:
    """What splitting the whole domain a few times gives; an attribute may be tested twice."""
    cells = Cells.everything(draw(schemas()) if schema is None else schema)
    for _ in range(draw(st.integers(0, 3))):
        cells = cells.refine(draw(refinements(cells)))
    return cells


@st.composite
def cell_lists(draw: st.DrawFn, schema: Schema) -> list[Cell]:
    """Any cells: they may overlap, be empty, or test an attribute twice."""
    name = st.sampled_from(schema.names)
    codes = {
        a: st.sets(st.integers(0, size - 1), max_size=size)
        for a, size in zip(schema.names, schema.sizes, strict=True)
    }
    condition = name.flatmap(
        lambda a: codes[a].map(lambda allowed: Condition(a, tuple(sorted(allowed))))
    )
    cell = st.lists(condition, max_size=3).map(lambda path: Cell(tuple(path)))
    return draw(st.lists(cell, min_size=1, max_size=4))


def members(schema: Schema, cells: list[Cell]) -> npt.NDArray[np.bool_]:
    """By brute force: which point (column) is in which cell (line)."""
    points = domain(schema)
    inside = np.ones((len(cells), math.prod(schema.sizes)), dtype=bool)
    for line, cell in zip(inside, cells, strict=True):
        for condition in cell.path:
            line &= np.isin(points[schema.index(condition.attribute)], list(condition.codes))
    return inside
