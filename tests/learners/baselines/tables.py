"""Small tables to grow trees from, and what every test asks of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.tree import Tree

Codes = list[npt.NDArray[Any]]
Table = tuple[Schema, Codes, npt.NDArray[Any]]

_WEATHER = """
sunny hot high false no; sunny hot high true no; overcast hot high false yes; rain mild high false yes;
rain cool normal false yes; rain cool normal true no; overcast cool normal true yes; sunny mild high false no;
sunny cool normal false yes; rain mild normal false yes; sunny mild normal true yes; overcast mild high true yes;
overcast hot normal false yes; rain mild high true no
"""  # noqa: E501


def weather() -> Table:
    """Saturday mornings (Quinlan 1986, table 1)."""
    domains = {
        "outlook": ["sunny", "overcast", "rain"],
        "temperature": ["hot", "mild", "cool"],
        "humidity": ["high", "normal"],
        "windy": ["false", "true"],
    }
    schema = Schema(
        {name: Categorical(values) for name, values in domains.items()}, "class", ["no", "yes"]
    )
    lines = [line.split() for line in _WEATHER.strip().replace("\n", " ").split(";")]
    columns = list(zip(*lines, strict=True))
    codes = [
        code_column(values.index(entry) for entry in column)
        for values, column in zip(domains.values(), columns[:4], strict=True)
    ]
    return schema, codes, code_column(("no", "yes").index(entry) for entry in columns[4])


def code_column(entries: Any) -> npt.NDArray[np.uint8]:
    return np.array(list(entries), dtype=np.uint8)


def categorical(*sizes: int, n_classes: int = 2) -> Schema:
    """Attributes a, b, c, ... of these sizes."""
    attributes = {
        "abcdefgh"[i]: Categorical([f"v{code}" for code in range(size)])
        for i, size in enumerate(sizes)
    }
    return Schema(attributes, "class", [f"c{t}" for t in range(n_classes)])


@st.composite
def attributes(draw: st.DrawFn) -> Attribute:
    size = draw(st.integers(1, 4))
    if draw(st.booleans()):
        return Categorical([f"v{code}" for code in range(size)])
    return Numeric(0, 1, bins=size, missing="?" if draw(st.booleans()) else None)


@st.composite
def tables(draw: st.DrawFn, max_rows: int = 24, consistent: bool = False) -> Table:
    """A schema and rows; no two equal rows of different classes if ``consistent``."""
    listed = draw(st.lists(attributes(), min_size=1, max_size=4))
    n_classes = draw(st.integers(2, 3))
    schema = Schema(
        {f"a{i}": attribute for i, attribute in enumerate(listed)},
        "class",
        [f"c{t}" for t in range(n_classes)],
    )
    codes, classes = draw(rows_of(schema, max_rows))
    if consistent and len(classes):
        _, first, inverse = np.unique(
            np.stack(codes), axis=1, return_index=True, return_inverse=True
        )
        classes = classes[first][inverse.reshape(-1)]
    return schema, codes, classes


@st.composite
def rows_of(
    draw: st.DrawFn, schema: Schema, max_rows: int = 24, unknown: bool = False
) -> tuple[Codes, npt.NDArray[Any]]:
    """Rows of a schema."""
    highest = [size - 1 + unknown for size in schema.sizes]
    line = st.tuples(*(st.integers(0, high) for high in (*highest, schema.n_classes - 1)))
    lines = np.array(draw(st.lists(line, max_size=max_rows)), dtype=np.uint8).reshape(
        -1, len(highest) + 1
    )
    return [lines[:, a] for a in range(len(highest))], lines[:, -1]


def predictions(tree: Tree, codes: Codes) -> npt.NDArray[Any]:
    return tree.counts[tree.reach(codes)].argmax(axis=1)


def accuracy(tree: Tree, codes: Codes, classes: npt.NDArray[Any]) -> float:
    return float((predictions(tree, codes) == classes).mean())


def members(tree: Tree, codes: Codes) -> dict[int, npt.NDArray[np.bool_]]:
    """By brute force along the paths: which rows are in which node."""
    inside = {0: np.ones(len(codes[0]), dtype=bool)}
    for node in range(tree.n_nodes):
        for child, values in tree.children(node):
            inside[child] = inside[node] & np.isin(codes[tree.cells.attribute[node]], values)
    return inside


def assert_counts_are_those_of_the_rows(
    tree: Tree, codes: Codes, classes: npt.NDArray[Any]
) -> None:
    """Every node counts the rows that reach it; a leaf that none reaches has the counts of its
    parent.
    """
    inside = members(tree, codes)
    assert set(inside) == set(range(tree.n_nodes))
    parent = {child: node for node in inside for child, _ in tree.children(node)}
    for node, rows in inside.items():
        if node and not rows.any():
            assert not tree.children(node), "a node without rows was split"
            rows = inside[parent[node]]
            assert rows.any()
        assert (
            tree.counts[node].tolist()
            == np.bincount(classes[rows], minlength=tree.schema.n_classes).tolist()
        )


def nested(tree: Tree, node: int = 0) -> Any:
    """A tree as nested tuples: class counts, and for an inner node the attribute and its children
    by their codes.
    """
    counts = tuple(tree.counts[node].tolist())
    children = {codes: nested(tree, child) for child, codes in tree.children(node)}
    return (counts, tree.schema.names[tree.cells.attribute[node]], children) if children else counts
