"""Write branches, classes and counts as text, in the schema's own values.

Also collapse a tree of scores (:func:`collapse_tree`), so that branches with the same answer are
shown as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from privet.domain import Attribute, Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.tree import Tree, domain_shares
from privet.text import escape_invisible, shorten


def attribute_at(schema: Schema, position: int) -> tuple[str, Attribute]:
    """Return the name, fit to be shown, and the attribute at a position."""
    name = schema.names[position]
    return escape_invisible(name), schema.attributes[name]


def list_branches(tree: Tree, node: int, *, limit: int | None = None) -> list[tuple[int, str]]:
    """List the children of a node, each with the condition of its branch.

    Conditions are written among the values that the tests above leave possible.
    """
    children = tree.children(node, possible_only=True)
    attribute = attribute_at(tree.schema, int(tree.cells.attribute[node]))[1]
    among = sorted(code for _, codes in children for code in codes)
    return [
        (child, branch_text(attribute, codes, among=among, limit=limit))
        for child, codes in children
    ]


def branch_text(
    attribute: Attribute,
    codes: Sequence[int],
    *,
    among: Sequence[int] = (),
    limit: int | None = None,
    length: int | None = None,
) -> str:
    """Write the condition of a branch.

    Examples: ``= red``, ``in {red, blue}``, ``!= grey``, ``< 35``, ``>= 50``, ``in [35, 50)``, or
    several of them.

    Parameters
    ----------
    attribute
        What is tested.
    codes
        The codes that take the branch.
    among
        The codes that are possible here. Where three or more take the branch and one does
        not, that one is named.
    limit
        Show so many values at most, and how many more there are.
    length
        Shorten each value to so many characters.
    """
    if isinstance(attribute, Categorical):
        others = [code for code in among if code not in codes]
        but_one = len(others) == 1 and len(codes) > 2
        labels = [
            escape_invisible(attribute.labels[code]) for code in (others if but_one else codes)
        ]
        text = _join_some(
            [label if length is None else shorten(label, length) for label in labels], ", ", limit
        )
        return f"!= {text}" if but_one else f"= {text}" if len(labels) == 1 else f"in {{{text}}}"
    spans = [
        _describe_span(attribute, first, last)
        for first, last in _find_code_runs([code for code in codes if code < attribute.bins])
    ]
    if attribute.missing is not None and attribute.bins in codes:
        spans.append(f"= {escape_invisible(attribute.missing)}")
    return _join_some(spans, " or ", limit)


def class_labels(schema: Schema) -> list[str]:
    """Return the classes, fit to be shown."""
    return [escape_invisible(label) for label in schema.label.labels]


def count_text(count: float) -> str:
    """Write a count as it was released: as an integer, or with two decimals.

    A count that is an integer but for rounding is shown as one.
    """
    rounded = round(count, 2)
    if rounded.is_integer() and abs(rounded) < 1e15:
        return str(int(rounded))
    return f"{rounded:.2f}" if abs(count) < 1e9 else f"{count:.6g}"


def score_texts(tree: Tree, node: int) -> list[str]:
    """Write the score of each class at a node, such as ``yes +0.31``."""
    return [
        f"{label} {score:+.2f}"
        for label, score in zip(class_labels(tree.schema), tree.counts[node].tolist(), strict=True)
    ]


def leaves_below(tree: Tree) -> npt.NDArray[np.int64]:
    """Count the leaves under each node; a leaf counts itself."""
    below = (tree.cells.attribute < 0).astype(np.int64)
    parents = tree.cells.parents
    for node in range(tree.n_nodes - 1, 0, -1):
        below[parents[node]] += below[node]
    return below


def _join_some(items: list[str], separator: str, limit: int | None) -> str:
    if limit is None or len(items) <= limit:
        return separator.join(items)
    return f"{separator.join(items[:limit])}{separator}… ({len(items) - limit} more)"


def _find_code_runs(codes: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbouring codes."""
    first = last = None
    for code in sorted(codes):
        if first is None or last is None:
            first = last = code
        elif code == last + 1:
            last = code
        else:
            yield first, last
            first = last = code
    if first is not None and last is not None:
        yield first, last


def _describe_span(attribute: Numeric, first: int, last: int) -> str:
    """Numbers beyond the bounds are counted in the outermost bins, so these are open."""
    low, high = f"{attribute.cuts[first]:.6g}", f"{attribute.cuts[last + 1]:.6g}"
    if first == 0 and last == attribute.bins - 1:
        return "is any number"
    if first == 0:
        return f"< {high}"
    return f">= {low}" if last == attribute.bins - 1 else f"in [{low}, {high})"


# A tree of scores as people read it: branches with the same answer become one.


def collapse_tree(tree: Tree) -> Tree:
    """Return a shorter tree that gives the same answer at every point of the domain.

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
