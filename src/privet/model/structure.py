"""Write and read one tree of a model file, and check what its kind promises.

``attribute``: the position of the attribute that each node tests, -1 for a leaf. ``branch``: for
each inner node in turn, the node that each code leads to. ``counts``: the class counts of each
node, or its class scores where the model adds up scores; they are left out where the counts of the
leaves stand elsewhere (:mod:`~privet.model.document`). Where a node's branches start and which cell
a leaf is follow from these, so they are not written; a tree that was read has one cell per leaf, in
the order of its leaves.

Whoever makes a tree states its kind (:data:`~privet.domain.tree.TreeKind`). A model checks the
statement, so that a card or a picture can rely on it; a file could state anything. Files of 0.1 do
not state kinds: they are guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet.domain import Schema
from privet.domain.cells import MAX_NODES, Cells
from privet.domain.tree import MAX_HEIGHT, Tree, TreeKind
from privet.errors import QuestionError


class Damaged(ValueError):
    """A document is not what it should be.

    Turned into a :class:`~privet.errors.ModelError` where the path is known.
    """


def require(holds: bool, reason: str) -> None:
    """Raise :class:`Damaged` with this reason unless it holds."""
    if not holds:
        raise Damaged(reason)


#: Counts and noise are at most this: integers up to here are exact in floating point.
LARGEST = 2**53
#: Scores are on a log scale: beyond this, one would drown all others.
LARGEST_SCORE = 10_000

_STRUCTURE_KEYS = {"attribute", "branch"}
_TREE_KEYS = _STRUCTURE_KEYS | {"counts"}


def tree_to(tree: Tree) -> dict[str, Any]:
    """Return one tree as JSON. Nodes that no value reaches are left out."""
    kept = _find_reachable_nodes(tree.cells)
    counts = [[short_number(count) for count in line] for line in tree.counts[kept].tolist()]
    return {**_structure_to(tree.cells, kept), "counts": counts}


def structure_to(cells: Cells) -> dict[str, Any]:
    """Return a structure whose leaves are counted elsewhere as JSON, in the order of its cells.

    Every node must be reached.
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
    """Return the tree of an entry, or raise :class:`Damaged`.

    No count, or score, may be larger than ``largest``.
    """
    try:
        return _tree_from(schema, data, largest, kind)
    except (Damaged, QuestionError) as problem:
        raise Damaged(f"tree {number}: {problem}") from None


def structure_from(schema: Schema, data: Any, number: int) -> Cells:
    """Return the structure of an entry without counts, or raise :class:`Damaged`."""
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
    """Return the integer class counts of so many leaves, or raise :class:`Damaged`."""
    counts = _check_counts(value, n_lines, n_classes, LARGEST)
    require(
        all(type(count) is int for line in value for count in line),
        "leaf counts must be integers",
    )
    return counts.astype(np.int64)


def short_number(value: float) -> int | float:
    """Return a whole float as an integer; any other float as it is.

    Both read back as the same float.
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
    """Return which nodes some row can reach."""
    reached = cells.parents >= 0
    reached[0] = True
    parents = np.where(reached, cells.parents, 0)
    parents[0] = 0
    while True:  # one round takes off the children of what the round before took off
        still = reached & reached[parents]
        if (still == reached).all():
            return reached
        reached = still


# -- what the kinds of trees promise about their numbers --


def check_kinds(trees: Sequence[Tree], *, scores: bool) -> None:
    """Raise unless every tree is what it states, in a model that adds up scores or does not."""
    for number, tree in enumerate(trees, 1):
        if scores and tree.kind == "counts":
            raise QuestionError(
                f"tree {number} holds counts, but the model adds up scores; state its kind: "
                f"{', '.join(map(repr, _PROMISES))}"
            )
        if not scores and tree.kind != "counts":
            raise QuestionError(
                f"tree {number} holds scores (its kind is {tree.kind!r}), but the model adds up "
                'counts; combine="scores" adds up scores'
            )
        if tree.kind != "counts":
            keeps, promise = _PROMISES[tree.kind]
            if not keeps(tree):
                raise QuestionError(f"tree {number} is no {tree.kind!r} tree: {promise}")


def infer_kinds_of_0_1(trees: Sequence[Tree]) -> tuple[TreeKind, ...]:
    """Guess the kinds of trees of scores from their numbers: files of 0.1 do not say.

    This is how 0.1 told the parts of a model apart. It can be wrong: a calibrated tree that never
    splits looks like a constant. Nothing else in Privet guesses.
    """
    return tuple(
        next(kind for kind, (keeps, _) in _PROMISES.items() if keeps(tree)) for tree in trees
    )


def _is_term(tree: Tree) -> bool:
    attribute = int(tree.cells.attribute[0])
    return bool(
        attribute >= 0
        and tree.n_nodes == 1 + tree.schema.sizes[attribute]
        and (tree.cells.attribute[1:] < 0).all()
        and not tree.counts[0].any()
    )


def _is_drawn(tree: Tree) -> bool:
    amount = tree.counts[0].max()
    one_class = (np.count_nonzero(tree.counts, axis=1) == 1).all()
    return bool(amount > 0 and one_class and (tree.counts.max(axis=1) == amount).all())


def _is_constant(tree: Tree) -> bool:
    return tree.n_nodes == 1


def _is_calibrated(tree: Tree) -> bool:
    largest = tree.counts.max(axis=1, keepdims=True)
    one_class = ((tree.counts == largest).sum(axis=1) == 1).all()
    classes = np.unique(tree.counts.argmax(axis=1))
    return bool(one_class and len(np.unique(tree.counts, axis=0)) == len(classes))


def _is_any(tree: Tree) -> bool:  # noqa: ARG001
    return True


#: What each kind of score tree promises, in the order in which 0.1 told them apart.
_PROMISES: dict[TreeKind, tuple[Callable[[Tree], bool], str]] = {
    "term": (
        _is_term,
        "a term has one split with a child for each value, and nothing at the root",
    ),
    "drawn": (_is_drawn, "each of its nodes must add the same positive amount to one class"),
    "constant": (_is_constant, "a constant has a single node"),
    "calibrated": (
        _is_calibrated,
        "each of its nodes must say one class, and the same scores wherever it says the same",
    ),
    "scores": (_is_any, "it may hold any scores"),
}
