"""Leaves as bars: one per class with a whisker for the noise of its count, and their legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from privet.plots.layout import BOX_HEIGHT, SMALL, TEXT, Placed
from privet.plots.style import INK, QUIET, fill_style, text_width
from privet.release.labels import class_labels, count_text, leaves_below
from privet.schema import Schema
from privet.text import shorten
from privet.tree import Tree
from privet.typed import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more classes, the rarest share one bar.
MAX_BARS = 5
THICKNESS, LENGTH = 0.12, 1.7
LEGEND_PITCH = 0.22

BarGroup = tuple[str, list[int]]


class Bars:
    """How a leaf is drawn that has a count, or a score, for each class.

    Scores are drawn as the probabilities that this tree would give by itself.
    """

    aligned = True

    def __init__(self, tree: Tree, *, noise: float, scores: bool) -> None:
        self._counts = _softmax(tree.counts) if scores else tree.counts
        self._tree, self._noise, self._scores, self._below = tree, noise, scores, leaves_below(tree)
        self._groups = groups_of(tree.schema, self._counts[0])
        self.names = [name for name, _ in self._groups]
        self.pitch = max(len(self._groups) * THICKNESS + 0.16, BOX_HEIGHT + 0.08)
        self.notes = ["Whiskers: how far noise moves a share, 19 times in 20."] if noise else []

    def width(self, placed: Placed) -> float:
        """Of the bars and what stands beside them."""
        label, size = self._label_leaf(placed)
        return LENGTH + 0.3 + text_width(label, TEXT, bold=True) + text_width(size, SMALL)

    def draw(self, axes: Axes, placed: Placed, x: float, y: float) -> None:
        """The bars of one leaf, its class and its size."""
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
        """The class that a leaf predicts, and how many rows it has."""
        counts, leaves = self._counts[placed.node], int(self._below[placed.node])
        off = 2 * self._noise * math.sqrt(len(counts) * leaves)
        within = "" if not off else f" ± {off:.2g}" if off < 10 else f" ± {off:.0f}"
        said = [] if self._scores else [f"n = {count_text(float(counts.sum()))}{within}"]
        said += [f"{leaves} leaves below"] if placed.cut else []
        return shorten(class_labels(self._tree.schema)[int(counts.argmax())], 28), ", ".join(said)


def groups_of(schema: Schema, counts: Floats) -> list[BarGroup]:
    """Bars with their classes: one each; where there are too many, the rarest by these counts
    together.
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
    """For each bar its share, and the ends of its whisker. Shares are of what is above zero, as
    predictions take them.
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
    """The bars of one leaf, amid ``y``. The whisker has a white rim, so that it shows on a dark
    bar.
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
    """What the length of a bar means."""
    for share in (0.0, 0.5, 1.0):
        at = x + share * LENGTH
        axes.plot([at, at], [top, bottom], color="#b5b5b5", lw=0.6, zorder=0)
        write_text(axes, at, bottom + 0.1, f"{100 * share:.0f} %", 7, colour=QUIET, centred=True)


def legend_lines(names: Sequence[str], width: float) -> list[list[int]]:
    """Which bars stand on which line of the legend."""
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
    """A patch with its fill and a name for each bar."""
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
    """Text as it is: a dollar sign starts no formula."""
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


def _softmax(scores: Floats) -> Floats:
    odds = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))
