"""Reduced-error pruning: subtrees that do not help on rows kept aside become leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from privet.tree import Tree
from privet.trees.exact.numbering import number_leaves
from privet.trees.exact.rows import EncodedRows
from privet.typed import Codes


def prune_reduced_error(tree: Tree, codes: Sequence[Codes], classes: Codes) -> Tree:
    """Prune a tree with rows that it was not grown from (Quinlan 1987, *Simplifying Decision
    Trees*).

    Bottom up, a subtree becomes a leaf if the leaf makes no more errors on these rows; so a subtree
    that none of them reaches becomes one. What remains is the smallest subtree of least error.
    Nodes keep the class counts that they have, and each predicts its first most frequent class.

    Args:
        tree: the tree.
        codes: the columns of the pruning rows. A row with an unknown code counts at the node where
            it gets stuck.
        classes: the class of each of these rows.
    """
    rows = EncodedRows.checked(tree.schema, codes, classes, unknown=True)
    return _cut(tree, _find_nodes_to_cut(tree, rows))


def cut_below(tree: Tree, depth: int) -> Tree:
    """The tree with at most so many tests on a path."""
    cut = (tree.depths == depth) & (tree.cells.attribute >= 0)
    return _cut(tree, cut) if cut.any() else tree


def _find_nodes_to_cut(tree: Tree, rows: EncodedRows) -> npt.NDArray[np.bool_]:
    """Which inner nodes become leaves."""
    n_classes = tree.schema.n_classes
    at = tree.reach(rows.codes) * n_classes + rows.classes
    stopped = np.bincount(at, minlength=tree.n_nodes * n_classes).reshape(tree.n_nodes, n_classes)
    majority = tree.counts.argmax(axis=1)
    # Before its children are added, a node answers only for the rows that stop there.
    below, errors = stopped.copy(), stopped.sum(axis=1) - stopped[np.arange(tree.n_nodes), majority]
    cut = np.zeros(tree.n_nodes, dtype=bool)
    parents = tree.cells.parents
    for node in range(tree.n_nodes - 1, -1, -1):
        as_leaf = below[node].sum() - below[node, majority[node]]
        if tree.cells.attribute[node] >= 0 and as_leaf <= errors[node]:
            cut[node], errors[node] = True, as_leaf
        if node:
            below[parents[node]] += below[node]
            errors[parents[node]] += errors[node]
    return cut


def _cut(tree: Tree, cut: npt.NDArray[np.bool_]) -> Tree:
    """The tree with these nodes as leaves, and without what was below them."""
    old, parents, sizes = tree.cells, tree.cells.parents, tree.schema.sizes
    kept = np.ones(tree.n_nodes, dtype=bool)
    for node in range(1, tree.n_nodes):  # parents come first
        kept[node] = kept[parents[node]] and not cut[parents[node]]
    number = np.cumsum(kept) - 1
    attribute = np.where(cut, -1, old.attribute)[kept]
    widths = np.array([sizes[a] if a >= 0 else 0 for a in attribute.tolist()])
    starts = old.offset[kept]
    pieces = [
        number[old.branch[at : at + width]]
        for at, width in zip(starts.tolist(), widths.tolist(), strict=True)
    ]
    is_cell = (attribute < 0) & ((old.cell >= 0) | cut)[kept]
    cells = number_leaves(
        tree.schema, attribute, np.cumsum(widths) - widths, np.concatenate(pieces), is_cell
    )
    return Tree(cells, tree.counts[kept])
