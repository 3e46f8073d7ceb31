"""One tree as it stands in a model file.

``attribute``: the position of the attribute that each node tests, -1 for a leaf. ``branch``: for
each inner node in turn, the node that each code leads to. ``counts``: the class counts of each
node, or its class scores where the model adds up scores; they are left out where the counts of the
leaves stand elsewhere (:mod:`~privet.model.evidence`). Where a node's branches start and which cell
a leaf is follow from these, so they are not written; a tree that was read has one cell per leaf, in
the order of its leaves.
"""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import MAX_NODES, Cells
from privet.errors import QuestionError
from privet.model.problem import Damaged, require
from privet.schema import Schema
from privet.tree import MAX_HEIGHT, Tree, TreeKind
from privet.typed import Ints

#: Counts and noise are at most this: whole numbers up to here are exact in floating point.
LARGEST = 2**53
#: Scores are on a log scale: beyond this, one would drown all others.
LARGEST_SCORE = 10_000

_STRUCTURE_KEYS = {"attribute", "branch"}
_TREE_KEYS = _STRUCTURE_KEYS | {"counts"}


def tree_to(tree: Tree) -> dict[str, Any]:
    """The entry of one tree. Nodes that no value reaches are left out."""
    kept = _find_reachable_nodes(tree.cells)
    counts = [[short_number(count) for count in line] for line in tree.counts[kept].tolist()]
    return {**_structure_to(tree.cells, kept), "counts": counts}


def structure_to(cells: Cells) -> dict[str, Any]:
    """The entry of a structure whose leaves are counted elsewhere, in the order of its cells. Every
    node must be reached.
    """
    leaves = cells.cell[cells.attribute < 0]
    kept = _find_reachable_nodes(cells)
    require(
        bool(kept.all()) and leaves.tolist() == list(range(cells.n_cells)),
        "its leaves are not numbered in order",
    )
    return _structure_to(cells, kept)


def _structure_to(cells: Cells, kept: npt.NDArray[np.bool_]) -> dict[str, Any]:
    number = np.cumsum(kept) - 1
    inner = np.flatnonzero(kept & (cells.attribute >= 0))
    widths = np.array(cells.schema.sizes, dtype=np.int64)[cells.attribute[inner]]
    # of a node's branches, less those written before
    first = cells.offset[inner] - (np.cumsum(widths) - widths)
    branch = number[cells.branch[np.repeat(first, widths) + np.arange(int(widths.sum()))]]
    return {"attribute": cells.attribute[kept].tolist(), "branch": branch.tolist()}


def tree_from(
    schema: Schema, data: Any, number: int, largest: int = LARGEST, kind: TreeKind = "counts"
) -> Tree:
    """The tree of an entry, or :class:`Damaged`. No count, or score, may be larger than
    ``largest``.
    """
    try:
        return _tree_from(schema, data, largest, kind)
    except (Damaged, QuestionError) as problem:
        raise Damaged(f"tree {number}: {problem}") from None


def structure_from(schema: Schema, data: Any, number: int) -> Cells:
    """The structure of an entry without counts, or :class:`Damaged`."""
    try:
        require(
            isinstance(data, dict) and set(data) == _STRUCTURE_KEYS,
            f"a structure must have exactly {', '.join(sorted(_STRUCTURE_KEYS))}",
        )
        cells = _cells_from(schema, data)
        require(
            int(cells.depths.max()) <= MAX_HEIGHT,
            f"a structure may have {MAX_HEIGHT} levels at most",
        )
        return cells
    except (Damaged, QuestionError) as problem:
        raise Damaged(f"tree {number}: {problem}") from None


def counts_from(value: Any, n_lines: int, n_classes: int) -> Ints:
    """The whole class counts of so many leaves, or :class:`Damaged`."""
    counts = _check_counts(value, n_lines, n_classes, LARGEST)
    require(
        all(type(count) is int for line in value for count in line),
        "leaf counts must be integers",
    )
    return counts.astype(np.int64)


def short_number(value: float) -> int | float:
    """A whole number without its point; any other float as it is. Both read back as the same
    float.
    """
    return int(value) if value.is_integer() else value


def _tree_from(schema: Schema, data: Any, largest: int, kind: TreeKind) -> Tree:
    require(
        isinstance(data, dict) and set(data) == _TREE_KEYS,
        f"a tree must have exactly {', '.join(sorted(_TREE_KEYS))}",
    )
    cells = _cells_from(schema, data)
    counts = _check_counts(data["counts"], len(cells.attribute), schema.n_classes, largest)
    return Tree(cells, counts, kind)


def _cells_from(schema: Schema, data: dict[str, Any]) -> Cells:
    attribute = _check_integer_list("attribute", data["attribute"], -1, len(schema.attributes) - 1)
    require(1 <= len(attribute) <= MAX_NODES, f"a tree must have 1 to {MAX_NODES} nodes")
    branch = _check_integer_list("branch", data["branch"], 1, len(attribute) - 1)
    leaf = attribute < 0
    # The size that stands last belongs to -1: a leaf has no branches.
    widths = np.array([*schema.sizes, 0], dtype=np.int64)[attribute]
    require(int(widths.sum()) == len(branch), "its nodes do not have one branch per value")
    offset = np.where(leaf, 0, np.cumsum(widths) - widths)
    cell = np.where(leaf, np.cumsum(leaf) - 1, -1)
    cells = Cells(
        schema,
        attribute.astype(np.int32),
        offset,
        branch.astype(np.int32),
        cell.astype(np.int32),
        int(leaf.sum()),
    )
    require(bool((cells.parents[1:] >= 0).all()), "a node hangs in the air")
    return cells


def _check_integer_list(name: str, value: Any, low: int, high: int) -> Ints:
    require(
        isinstance(value, list) and set(map(type, value)) <= {int},
        f"{name} must be a list of integers",
    )
    require(
        not value or (min(value) >= low and max(value) <= high),
        f"{name} must lie between {low} and {high}",
    )
    return np.array(value, dtype=np.int64)


def _check_counts(
    value: Any, n_nodes: int, n_classes: int, largest: int
) -> npt.NDArray[np.float64]:
    shaped = (
        isinstance(value, list)
        and len(value) == n_nodes
        and all(type(x) is list and len(x) == n_classes for x in value)
    )
    require(shaped, f"counts must be a list of {n_nodes} lists of {n_classes} numbers")
    numbers = list(chain.from_iterable(value))
    require(set(map(type, numbers)) <= {int, float}, "counts must be numbers")
    require(
        all(-largest <= number <= largest for number in numbers),
        f"counts must lie between -{largest} and {largest}",
    )
    return np.array(numbers, dtype=np.float64).reshape(n_nodes, n_classes)


def _find_reachable_nodes(cells: Cells) -> npt.NDArray[np.bool_]:
    """Which nodes some row can reach."""
    reached = cells.parents >= 0
    reached[0] = True
    parents = np.where(reached, cells.parents, 0)
    parents[0] = 0
    while True:  # one round takes off the children of what the round before took off
        still = reached & reached[parents]
        if (still == reached).all():
            return reached
        reached = still
