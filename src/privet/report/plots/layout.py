"""Lay out a drawn tree, and draw its leaves as bars.

The root is at the left, each leaf has a line of its own, and columns are as wide as their texts.
All lengths are inches, so that texts are measured once and never overlap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet.domain import Attribute, Schema
from privet.domain.tree import Tree, domain_shares
from privet.model.explanations.page import NOISE
from privet.model.explanations.values import write_numbers
from privet.report.labels import attribute_at, class_labels, count_text, leaves_below
from privet.report.plots.style import INK, QUIET, fill_style, text_width
from privet.text import shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


TEXT, SMALL = 9.0, 7.5
BOX_PADDING, BOX_HEIGHT = 0.1, 0.27
ELBOW = 0.16


@dataclass
class Placed:
    """A node with its place.

    ``test`` is empty where it is drawn as a leaf; ``label`` is the branch that leads to it.
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
    """All nodes, parents first, with the start and width of each column and the end of the last."""

    nodes: list[Placed]
    starts: list[float]
    widths: list[float]
    end: float

    @property
    def leaves(self) -> list[Placed]:
        """The nodes that are drawn as leaves, from top to bottom."""
        return [placed for placed in self.nodes if not placed.test]

    def box(self, placed: Placed) -> tuple[float, float]:
        """Return the left and right end of the box of a test."""
        start = self.starts[placed.depth]
        return start, start + self.widths[placed.depth]


def place_nodes(tree: Tree, max_depth: int | None, max_leaves: int) -> list[Placed]:
    """Place the nodes to draw, parents first, each on its line.

    Leaves get integers; the others stand beside their first child.
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
            placed.line = placed.children[0].line  # the root is at the top left
    return nodes


def choose_opened_nodes(tree: Tree, max_depth: int | None, max_leaves: int) -> set[int]:
    """Choose the tests to draw, so that there are at most so many leaves.

    They are chosen level by level, and in a level first those that more of the domain reaches.
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
    """Lay out columns for these nodes, starting at ``left``."""
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
    """Write a branch as in a picture, where the attribute stands in its box.

    Examples: ``red, blue``, ``not grey``, ``< 35``; shortened where too long.
    """
    if attribute.holds_numbers and max(codes) < attribute.bins:
        return _span_label(attribute, codes)
    for limit, length in ((4, None), (3, None), (2, None), (1, None), (1, 16)):
        text = attribute.describe_branch(codes, among=among, limit=limit, length=length)
        sign, _, values = text.partition(" ")
        if sign in ("=", "!="):
            text = values if sign == "=" else f"not {values}"
        elif text.startswith("in {"):
            text = values[1:-1]  # without "in" and braces
        if len(text) <= 32:
            break
    return shorten(text, 32)


def _span_label(attribute: Attribute, codes: tuple[int, ...]) -> str:
    """Write bins that follow one another with few digits, such as ``1 230 to 2 500``."""
    first, last = min(codes), max(codes)
    low, high = write_numbers([attribute.cuts[first], attribute.cuts[last + 1]])
    if first == 0:
        return "any number" if last == attribute.bins - 1 else f"< {high}"
    return f">= {low}" if last == attribute.bins - 1 else f"{low} to {high}"


# Leaves as bars: one per class, with a whisker for the noise of its count, and their legend.

#: With more classes, the rarest share one bar.
MAX_BARS = 5
THICKNESS, LENGTH = 0.12, 1.7
LEGEND_PITCH = 0.22

BarGroup = tuple[str, list[int]]


class Bars:
    """How to draw a leaf that has a count, or a score, for each class.

    Scores are drawn as the probabilities that this tree would give by itself.
    """

    aligned = True

    def __init__(self, tree: Tree, *, noise: float, scores: bool) -> None:
        self._counts = apply_softmax(tree.counts) if scores else tree.counts
        self._tree, self._noise, self._scores, self._below = tree, noise, scores, leaves_below(tree)
        self._groups = groups_of(tree.schema, self._counts[0])
        self.names = [name for name, _ in self._groups]
        self.pitch = max(len(self._groups) * THICKNESS + 0.16, BOX_HEIGHT + 0.08)
        self.notes = ["Whiskers: how far noise moves a share, 19 times in 20."] if noise else []
        self.notes += [
            "Shares: what this tree would say by itself; a model adds up scores."
        ] * scores

    def width(self, placed: Placed) -> float:
        """Return the width of the bars and what stands beside them."""
        label, size = self._label_leaf(placed)
        return LENGTH + 0.3 + text_width(label, TEXT, bold=True) + text_width(size, SMALL)

    def draw(self, axes: Axes, placed: Placed, x: float, y: float) -> None:
        """Draw the bars of one leaf, its class and its size."""
        noise = self._noise * math.sqrt(self._below[placed.node])
        draw_bars(
            axes,
            compute_bar_shares(self._counts[placed.node], self._groups, noise),
            x,
            y,
            whiskers=self._noise > 0,
        )
        (label, size), x = self._label_leaf(placed), x + LENGTH + 0.12
        write_text(axes, x, y, label, TEXT, bold=True)
        write_text(axes, x + text_width(label, TEXT, bold=True) + 0.1, y, size, SMALL, colour=QUIET)

    def _label_leaf(self, placed: Placed) -> tuple[str, str]:
        """The class that a leaf predicts, how likely it is, and how many rows it has."""
        counts, leaves = self._counts[placed.node], int(self._below[placed.node])
        off = 2 * self._noise * math.sqrt(len(counts) * leaves)
        within = "" if not off else f" ± {off:.2g}" if off < 10 else f" ± {off:.0f}"
        said = [] if self._scores else [f"n = {count_text(float(counts.sum()))}{within}"]
        said += [f"{leaves} leaves below"] if placed.cut else []
        label = shorten(class_labels(self._tree.schema)[int(counts.argmax())], 28)
        positive = np.maximum(counts, 0.0)
        chance = f" {positive.max() / positive.sum():.0%}" if positive.sum() > 0 else ""
        if off and float(counts.sum()) <= off:  # nobody may be there: its shares are noise
            chance, said = "", [*said, NOISE]
        return f"{label}{chance}", ", ".join(said)


def groups_of(schema: Schema, counts: Floats) -> list[BarGroup]:
    """Assign classes to bars: one each, or the rarest together where there are too many.

    Rare is by these counts.
    """
    labels = [shorten(label, 28) for label in class_labels(schema)]
    if len(labels) <= MAX_BARS:
        return [(label, [position]) for position, label in enumerate(labels)]
    frequent = sorted(np.argsort(-counts, kind="stable")[: MAX_BARS - 1].tolist())
    others = [position for position in range(len(labels)) if position not in frequent]
    return [
        *((labels[position], [position]) for position in frequent),
        (f"{len(others)} other classes", others),
    ]


def compute_bar_shares(
    counts: Floats, groups: Sequence[BarGroup], noise: float
) -> list[tuple[float, float, float]]:
    """Return the share of each bar, and the ends of its whisker.

    Shares are of what is above zero, as predictions take them.
    """
    total = float(np.maximum(counts, 0).sum())
    if total <= 0:
        return [(len(members) / len(counts), 0.0, 1.0) for _, members in groups]
    out = []
    for _, members in groups:
        share = float(np.maximum(counts[members], 0).sum()) / total
        reach = 2 * noise * math.sqrt(len(members)) / total
        out.append((share, max(0.0, share - reach), min(1.0, share + reach)))
    return out


def draw_bars(
    axes: Axes, parts: Sequence[tuple[float, float, float]], x: float, y: float, *, whiskers: bool
) -> None:
    """Draw the bars of one leaf, centred at ``y``.

    The whisker has a white rim, so that it shows on a dark bar.
    """
    from matplotlib.patches import Rectangle

    for number, (share, low, high) in enumerate(parts):
        top = y + (number - len(parts) / 2) * THICKNESS
        axes.add_patch(Rectangle((x, top), share * LENGTH, THICKNESS * 0.86, **fill_style(number)))
        if whiskers:
            middle, ends = top + THICKNESS * 0.43, (x + low * LENGTH, x + high * LENGTH)
            axes.plot(
                ends, [middle, middle], color="white", lw=2.6, solid_capstyle="butt", zorder=3
            )
            axes.plot(
                ends, [middle, middle], color="black", lw=1.1, solid_capstyle="butt", zorder=4
            )
            axes.vlines(ends, middle - 0.035, middle + 0.035, color="black", lw=1.1, zorder=4)


def draw_scale(axes: Axes, x: float, top: float, bottom: float) -> None:
    """Draw the scale that says what the length of a bar means."""
    for share in (0.0, 0.5, 1.0):
        at = x + share * LENGTH
        axes.plot([at, at], [top, bottom], color="#b5b5b5", lw=0.6, zorder=0)
        write_text(axes, at, bottom + 0.1, f"{100 * share:.0f} %", 7, colour=QUIET, centred=True)


def legend_lines(names: Sequence[str], width: float) -> list[list[int]]:
    """Arrange the bars on the lines of the legend."""
    lines: list[list[int]] = [[]] if names else []
    used = 0.0
    for number, name in enumerate(names):
        needed = text_width(name, SMALL) + 0.55
        if lines[-1] and used + needed > width:
            lines.append([])
            used = 0.0
        lines[-1].append(number)
        used += needed
    return lines


def draw_legend(
    axes: Axes,
    lines: Sequence[Sequence[int]],
    fills: Sequence[int],
    names: Sequence[str],
    left: float,
    y: float,
) -> None:
    """Draw a patch with its fill and a name for each bar."""
    from matplotlib.patches import Rectangle

    for line in lines:
        x = left
        for number in line:
            axes.add_patch(Rectangle((x, y - 0.06), 0.24, 0.12, **fill_style(fills[number])))
            write_text(axes, x + 0.3, y, names[number], SMALL)
            x += text_width(names[number], SMALL) + 0.55
        y += LEGEND_PITCH


def write_text(
    axes: Axes,
    x: float,
    y: float,
    text: str,
    size: float,
    *,
    bold: bool = False,
    colour: str = INK,
    centred: bool = False,
) -> None:
    """Write text as it is: a dollar sign starts no formula."""
    weight, side = "bold" if bold else "normal", "center" if centred else "left"
    axes.text(
        x,
        y,
        text,
        fontsize=size,
        fontweight=weight,
        color=colour,
        ha=side,
        va="center_baseline",
        parse_math=False,
    )


def stack_panels(
    heights: Sequence[float], columns: int, top: float, gap: float
) -> tuple[list[tuple[int, float]], float]:
    """Return column and top of each panel, each where the room is highest up; and where all end."""
    ends = [top] * columns
    places = []
    for height in heights:
        column = int(np.argmin(ends))
        places.append((column, ends[column]))
        ends[column] += height + gap
    return places, max(ends)


def round_scale_limit(largest: float) -> float:
    """Return the end of a scale: the next round number."""
    if largest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(largest))
    return next(
        step * power for step in (1, 1.5, 2, 3, 4, 5, 6, 8, 10) if step * power >= largest * 0.999
    )


def apply_softmax(scores: Floats) -> Floats:
    """Return the probabilities that scores stand for."""
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
