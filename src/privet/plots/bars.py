"""The leaves of a drawn tree: a bar per class with a whisker for the noise of its count, and their legend."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from privet.plots.style import INK, QUIET, fill, text_width
from privet.release.labels import class_labels, shortened
from privet.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more classes, the rarest share one bar.
MAX_BARS = 5
SMALL = 7.5
THICKNESS, LENGTH = 0.12, 1.7
LEGEND_PITCH = 0.22

Group = tuple[str, list[int]]


def groups_of(tree: Tree) -> list[Group]:
    """Bars with their classes: one each; where there are too many, the rarest together."""
    labels = [shortened(label, 28) for label in class_labels(tree.schema)]
    if len(labels) <= MAX_BARS:
        return [(label, [position]) for position, label in enumerate(labels)]
    frequent = sorted(np.argsort(-tree.counts[0], kind="stable")[: MAX_BARS - 1].tolist())
    others = [position for position in range(len(labels)) if position not in frequent]
    return [*((labels[position], [position]) for position in frequent), (f"{len(others)} other classes", others)]


def shares(counts: npt.NDArray[np.float64], groups: Sequence[Group], noise: float) -> list[tuple[float, float, float]]:
    """For each bar its share, and the ends of its whisker. Shares are of what is above zero, as predictions take them."""
    total = float(np.maximum(counts, 0).sum())
    if total <= 0:
        return [(len(members) / len(counts), 0.0, 1.0) for _, members in groups]
    out = []
    for _, members in groups:
        share = float(np.maximum(counts[members], 0).sum()) / total
        reach = 2 * noise * math.sqrt(len(members)) / total
        out.append((share, max(0.0, share - reach), min(1.0, share + reach)))
    return out


def draw_bars(axes: Axes, parts: Sequence[tuple[float, float, float]], x: float, y: float, *, whiskers: bool) -> None:
    """The bars of one leaf, amid ``y``. The whisker has a white rim, so that it shows on a dark bar."""
    from matplotlib.patches import Rectangle

    for number, (share, low, high) in enumerate(parts):
        top = y + (number - len(parts) / 2) * THICKNESS
        axes.add_patch(Rectangle((x, top), share * LENGTH, THICKNESS * 0.86, **fill(number)))
        if whiskers:
            middle, ends = top + THICKNESS * 0.43, (x + low * LENGTH, x + high * LENGTH)
            axes.plot(ends, [middle, middle], color="white", lw=2.6, solid_capstyle="butt", zorder=3)
            axes.plot(ends, [middle, middle], color="black", lw=1.1, solid_capstyle="butt", zorder=4)
            axes.vlines(ends, middle - 0.035, middle + 0.035, color="black", lw=1.1, zorder=4)


def draw_scale(axes: Axes, x: float, top: float, bottom: float) -> None:
    """What the length of a bar means."""
    for share in (0.0, 0.5, 1.0):
        at = x + share * LENGTH
        axes.plot([at, at], [top, bottom], color="#b5b5b5", lw=0.6, zorder=0)
        write(axes, at, bottom + 0.1, f"{100 * share:.0f} %", 7, colour=QUIET, centred=True)


def legend_lines(names: Sequence[str], width: float) -> list[list[int]]:
    """Which bars stand on which line of the legend."""
    lines: list[list[int]] = [[]]
    used = 0.0
    for number, name in enumerate(names):
        needed = text_width(name, SMALL) + 0.55
        if lines[-1] and used + needed > width:
            lines.append([])
            used = 0.0
        lines[-1].append(number)
        used += needed
    return lines


def draw_legend(axes: Axes, lines: Sequence[Sequence[int]], names: Sequence[str], left: float, y: float) -> None:
    """A patch and a name for each bar."""
    from matplotlib.patches import Rectangle

    for line in lines:
        x = left
        for number in line:
            axes.add_patch(Rectangle((x, y - 0.06), 0.24, 0.12, **fill(number)))
            write(axes, x + 0.3, y, names[number], SMALL)
            x += text_width(names[number], SMALL) + 0.55
        y += LEGEND_PITCH


def write(axes: Axes, x: float, y: float, text: str, size: float, *, bold: bool = False, colour: str = INK, centred: bool = False) -> None:
    """Text as it is: a dollar sign starts no formula."""
    weight, side = "bold" if bold else "normal", "center" if centred else "left"
    axes.text(x, y, text, fontsize=size, fontweight=weight, color=colour, ha=side, va="center_baseline", parse_math=False)
