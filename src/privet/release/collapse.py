"""A tree of scores as people read it: what says the same is one branch."""

from __future__ import annotations

import numpy as np

from privet.cells import Cells
from privet.tree import Tree, domain_shares


def collapse_tree(tree: Tree) -> Tree:
    """A shorter tree that answers every point of the domain alike.

    A subtree whose leaves all have the same scores becomes a leaf, siblings that are such leaves
    become one branch with the values of both, and branches that the tests above rule out are gone.
    Only a row with a value outside the schema, which stays at an inner node, may be answered
    differently; so this is for people, and predictions are made by the tree itself.
    """
    attribute, possible = tree.cells.attribute, domain_shares(tree.cells) > 0
    branches = {
        node: _list_children(tree, node)
        for node in np.flatnonzero((attribute >= 0) & possible).tolist()
    }
    shown = list(range(tree.n_nodes))  # the node that stands for each
    # equal for leaves with equal scores
    alike = np.unique(tree.counts, axis=0, return_inverse=True)[1].reshape(-1).tolist()
    for node in sorted(branches, reverse=True):  # children come after their parents
        below = [child for child in branches[node] if possible[child]]
        one = len({alike[child] for child in below}) == 1
        shown[node], alike[node] = (shown[below[0]], alike[below[0]]) if one else (node, -1 - node)

    kept, branch = [shown[0]], list[int]()
    offset = []
    for node in kept:  # which grows
        offset.append(len(branch))
        if attribute[node] < 0:
            continue
        groups: dict[int, int] = {}
        for child in branches[node]:
            if possible[child] and alike[child] not in groups:
                groups[alike[child]] = len(kept)
                kept.append(shown[child])
        # A value that is ruled out must lead somewhere, too.
        branch += [
            groups[alike[child]] if possible[child] else min(groups.values())
            for child in branches[node]
        ]
    leaf = attribute[kept] < 0
    cell = np.where(leaf, np.cumsum(leaf) - 1, -1)
    return Tree(
        Cells(
            tree.schema, attribute[kept], np.array(offset), np.array(branch), cell, int(leaf.sum())
        ),
        tree.counts[kept],
        tree.kind,
    )


def _list_children(tree: Tree, node: int) -> list[int]:
    """The child of each code."""
    start = int(tree.cells.offset[node])
    return tree.cells.branch[start : start + tree.schema.sizes[tree.cells.attribute[node]]].tolist()  # type: ignore[no-any-return]
