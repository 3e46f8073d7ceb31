"""Where the nodes of a drawn tree stand: the root at the left, a line for each leaf, columns as wide as their texts.

All lengths are inches, so that texts are measured once and never overlap.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from privet.plots.style import text_width
from privet.release.labels import attribute_at, branch_text, shortened
from privet.schema import Attribute
from privet.tree import Tree

TEXT, SMALL = 9.0, 7.5
BOX_PADDING, BOX_HEIGHT = 0.1, 0.27
ELBOW = 0.16


@dataclass
class Placed:
    """A node with its place. ``test`` is empty where it is drawn as a leaf; ``label`` is the branch that leads to it."""

    node: int
    depth: int
    label: str
    test: str
    children: list[Placed] = field(default_factory=list)
    line: float = 0.0
    cut: bool = False


@dataclass(frozen=True)
class Layout:
    """All nodes, parents first; where each column of boxes starts and how wide it is; where the bars start."""

    nodes: list[Placed]
    starts: list[float]
    widths: list[float]
    bars: float

    @property
    def leaves(self) -> list[Placed]:
        """What is drawn with bars, from top to bottom."""
        return [placed for placed in self.nodes if not placed.test]

    def box(self, placed: Placed) -> tuple[float, float]:
        """Left and right end of a node: its box, or where its bars start."""
        if not placed.test:
            return self.bars, self.bars
        start = self.starts[placed.depth]
        return start, start + self.widths[placed.depth]


def placed_nodes(tree: Tree, max_depth: int | None) -> list[Placed]:
    """The nodes to draw, parents first, each with its line: leaves get whole numbers, the others stand amid their children."""
    nodes: list[Placed] = []
    stack = [Placed(0, 0, "", "")]
    lines = 0
    while stack:
        placed = stack.pop()
        nodes.append(placed)
        children = tree.children(placed.node, possible_only=True)
        placed.cut = bool(children) and max_depth is not None and placed.depth >= max_depth
        if not children or placed.cut:
            placed.line = float(lines)
            lines += 1
            continue
        name, attribute = attribute_at(tree.schema, int(tree.cells.attribute[placed.node]))
        placed.test = shortened(name, 24)
        for child, codes in children:
            placed.children.append(Placed(child, placed.depth + 1, branch_label(attribute, codes), ""))
        stack += reversed(placed.children)
    for placed in reversed(nodes):
        if placed.children:
            placed.line = (placed.children[0].line + placed.children[-1].line) / 2
    return nodes


def columns(nodes: list[Placed], left: float) -> Layout:
    """Columns for these nodes, starting at ``left``."""
    deepest = max((placed.depth for placed in nodes if placed.test), default=-1)
    starts, widths, x = [], [], left
    for depth in range(deepest + 1):
        column = [placed for placed in nodes if placed.depth == depth and placed.test]
        boxes = max(text_width(placed.test, TEXT, bold=True) for placed in column) + 2 * BOX_PADDING
        labels = max(text_width(child.label, SMALL) for placed in column for child in placed.children)
        starts.append(x)
        widths.append(boxes)
        x += boxes + ELBOW + labels + 0.16
    return Layout(nodes, starts, widths, x)


def branch_label(attribute: Attribute, codes: tuple[int, ...]) -> str:
    """The branch without its equals sign, shortened."""
    for limit, length in ((4, None), (3, None), (2, None), (1, None), (1, 16)):
        text = branch_text(attribute, codes, limit=limit, length=length).removeprefix("= ")
        if len(text) <= 32:
            break
    return shortened(text, 32)


def fitting_depth(tree: Tree, max_leaves: int) -> int:
    """The deepest cut with so many leaves at most."""
    depth = 0
    while sum(not placed.test for placed in placed_nodes(tree, depth + 1)) <= max_leaves:
        depth += 1
    return depth
