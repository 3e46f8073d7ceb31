"""Where the nodes of a drawn tree stand: the root at the left, a line for each leaf, columns as
wide as their texts.

All lengths are inches, so that texts are measured once and never overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from privet.plots.style import text_width
from privet.release.labels import attribute_at, branch_text
from privet.schema import Attribute, Categorical
from privet.text import shorten
from privet.tree import Tree, domain_shares

TEXT, SMALL = 9.0, 7.5
BOX_PADDING, BOX_HEIGHT = 0.1, 0.27
ELBOW = 0.16


@dataclass
class Placed:
    """A node with its place. ``test`` is empty where it is drawn as a leaf; ``label`` is the branch
    that leads to it.
    """

    node: int
    depth: int
    label: str
    test: str
    children: list[Placed] = field(default_factory=list)
    line: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Layout:
    """All nodes, parents first; where each column of boxes starts and how wide it is; where the
    last column ends.
    """

    nodes: list[Placed]
    starts: list[float]
    widths: list[float]
    end: float

    @property
    def leaves(self) -> list[Placed]:
        """What is drawn as a leaf, from top to bottom."""
        return [placed for placed in self.nodes if not placed.test]

    def box(self, placed: Placed) -> tuple[float, float]:
        """Left and right end of the box of a test."""
        start = self.starts[placed.depth]
        return start, start + self.widths[placed.depth]


def place_nodes(tree: Tree, max_depth: int | None, max_leaves: int) -> list[Placed]:
    """The nodes to draw, parents first, each with its line: leaves get whole numbers, the others
    stand amid their children.
    """
    nodes: list[Placed] = []
    stack = [Placed(0, 0, "", "")]
    lines, opened = 0, choose_opened_nodes(tree, max_depth, max_leaves)
    while stack:
        placed = stack.pop()
        nodes.append(placed)
        if placed.node not in opened:
            placed.cut = bool(tree.cells.attribute[placed.node] >= 0)
            placed.line = float(lines)
            lines += 1
            continue
        name, attribute = attribute_at(tree.schema, int(tree.cells.attribute[placed.node]))
        placed.test = shorten(name, 24)
        children = tree.children(placed.node, possible_only=True)
        among = sorted(code for _, codes in children for code in codes)
        placed.children = [
            Placed(child, placed.depth + 1, branch_label(attribute, codes, among), "")
            for child, codes in children
        ]
        stack += reversed(placed.children)
    for placed in reversed(nodes):
        if placed.children:
            placed.line = (placed.children[0].line + placed.children[-1].line) / 2
    return nodes


def choose_opened_nodes(tree: Tree, max_depth: int | None, max_leaves: int) -> set[int]:
    """The tests to draw: level by level, and in a level first what more of the domain reaches,
    while the leaves are so many at most.
    """
    depths, shares, parents = tree.depths, domain_shares(tree.cells), tree.cells.parents
    opened: set[int] = set()
    leaves = 1
    for node in np.lexsort((-shares, depths)).tolist():
        if max_depth is not None and depths[node] >= max_depth:
            break
        more = len(tree.children(node)) - 1 if node == 0 or parents[node] in opened else -1
        if more >= 0 and leaves + more <= max_leaves:
            opened.add(node)
            leaves += more
    return opened


def lay_out_columns(nodes: list[Placed], left: float) -> Layout:
    """Columns for these nodes, starting at ``left``."""
    deepest = max((placed.depth for placed in nodes if placed.test), default=-1)
    starts, widths, x = [], [], left
    for depth in range(deepest + 1):
        column = [placed for placed in nodes if placed.depth == depth and placed.test]
        boxes = max(text_width(placed.test, TEXT, bold=True) for placed in column) + 2 * BOX_PADDING
        labels = max(
            text_width(child.label, SMALL) for placed in column for child in placed.children
        )
        starts.append(x)
        widths.append(boxes)
        x += boxes + ELBOW + labels + 0.16
    return Layout(nodes, [*starts, x], widths, x)


def branch_label(attribute: Attribute, codes: tuple[int, ...], among: Sequence[int] = ()) -> str:
    """The branch as in a picture, where the attribute stands in its box: ``red, blue``, ``not
    grey``, ``< 35``; shortened.
    """
    for limit, length in ((4, None), (3, None), (2, None), (1, None), (1, 16)):
        text = branch_text(attribute, codes, among=among, limit=limit, length=length)
        sign, _, values = text.partition(" ")
        if sign in ("=", "!="):
            text = values if sign == "=" else f"not {values}"
        elif isinstance(attribute, Categorical):
            text = values[1:-1]  # without "in" and braces
        if len(text) <= 32:
            break
    return shorten(text, 32)
