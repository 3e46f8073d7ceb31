"""A tree as a picture: tests in boxes, and for each leaf a bar per class with a whisker for the noise of its count."""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING

from privet.errors import ParameterError
from privet.plots.bars import (
    LEGEND_PITCH,
    LENGTH,
    SMALL,
    THICKNESS,
    draw_bars,
    draw_legend,
    draw_scale,
    groups_of,
    legend_lines,
    shares,
    write,
)
from privet.plots.layout import BOX_HEIGHT, ELBOW, TEXT, Layout, Placed, columns, fitting_depth, placed_nodes
from privet.plots.style import INK, QUIET, need_matplotlib, text_width
from privet.release.labels import class_labels, count_text, leaves_below, shortened, visible
from privet.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAX_LEAVES = 60

_MARGIN, _TITLE_SIZE, _TITLE_HEIGHT, _FOOTER_PITCH = 0.2, 12, 0.36, 0.17


def draw_tree(tree: Tree, *, noise: float = 0.0, title: str = "", footer: str = "", max_depth: int | None = None) -> Figure:
    """Draw a tree.

    Args:
        tree: what to draw.
        noise: the standard deviation of each leaf count's noise. Whiskers show twice that: 19 times in 20 the noise is smaller.
        title: stands above.
        footer: stands below; the guarantee belongs here.
        max_depth: draw so many tests deep. What is below is summed up in one line.
    """
    need_matplotlib()
    nodes = placed_nodes(tree, max_depth)
    n_leaves = sum(not placed.test for placed in nodes)
    if n_leaves > MAX_LEAVES:
        raise ParameterError(
            f"draw_tree: a picture may have {MAX_LEAVES} leaves at most, this one has {n_leaves}; "
            f"draw its top with max_depth={fitting_depth(tree, MAX_LEAVES)}, or print all of it with privet.release.tree_text"
        )
    groups, place, title = groups_of(tree), columns(nodes, _MARGIN), visible(title)
    names, below = [name for name, _ in groups], leaves_below(tree)
    notes = [_note(tree, placed, noise, int(below[placed.node])) for placed in place.leaves]
    width = _width(place, notes, names, title)
    legend = legend_lines(names, width - 2 * _MARGIN)
    footers = _footer_lines(footer, width, whiskers=noise > 0)
    pitch = max(len(groups) * THICKNESS + 0.16, BOX_HEIGHT + 0.08)
    top = _MARGIN + (_TITLE_HEIGHT if title else 0.0) + LEGEND_PITCH * len(legend) + 0.12
    end = top + pitch * n_leaves
    axes = _canvas(width, end + 0.3 + _FOOTER_PITCH * len(footers) + _MARGIN)

    if title:
        write(axes, _MARGIN, _MARGIN + 0.1, title, _TITLE_SIZE, bold=True)
    draw_legend(axes, legend, names, _MARGIN, top - 0.12 - LEGEND_PITCH * len(legend) + 0.1)
    draw_scale(axes, place.bars, top, end)
    for placed in nodes:
        _draw_test(axes, place, placed, top, pitch)
    for placed, (label, size) in zip(place.leaves, notes, strict=True):
        y = top + (placed.line + 0.5) * pitch
        parts = shares(tree.counts[placed.node], groups, noise * math.sqrt(below[placed.node]))
        draw_bars(axes, parts, place.bars, y, whiskers=noise > 0)
        x = place.bars + LENGTH + 0.12
        write(axes, x, y, label, TEXT, bold=True)
        write(axes, x + text_width(label, TEXT, bold=True) + 0.1, y, size, SMALL, colour=QUIET)
    for number, text in enumerate(footers):
        write(axes, _MARGIN, end + 0.4 + _FOOTER_PITCH * number, text, SMALL)
    return axes.get_figure(root=True)  # type: ignore[return-value]


def _canvas(width: float, height: float) -> Axes:
    """Axes over the whole figure, in inches from the top left."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def _note(tree: Tree, placed: Placed, noise: float, leaves: int) -> tuple[str, str]:
    """The class that a leaf predicts, and how many rows it has."""
    counts = tree.counts[placed.node]
    off = 2 * noise * math.sqrt(len(counts) * leaves)
    within = "" if not off else f" ± {off:.2g}" if off < 10 else f" ± {off:.0f}"
    more = f", {leaves} leaves below" if placed.cut else ""
    label = shortened(class_labels(tree.schema)[int(counts.argmax())], 28)
    return label, f"n = {count_text(float(counts.sum()))}{within}{more}"


def _width(place: Layout, notes: list[tuple[str, str]], names: list[str], title: str) -> float:
    """As wide as the widest of its parts."""
    note = max(text_width(label, TEXT, bold=True) + text_width(size, SMALL) for label, size in notes)
    inside = [place.bars - _MARGIN + LENGTH + note + 0.3, 5.0, text_width(title, _TITLE_SIZE, bold=True)]
    return max(*inside, *(text_width(name, SMALL) + 0.55 for name in names)) + 2 * _MARGIN


def _footer_lines(footer: str, width: float, *, whiskers: bool) -> list[str]:
    """The footer, broken into lines that fit."""
    per_character = text_width("abcdefghij klmnopqrstu", SMALL) / 22
    lines = textwrap.wrap(visible(footer), max(20, int((width - 2 * _MARGIN) / per_character * 0.92)))
    return ["Whiskers: how far noise moves a share, 19 times in 20.", *lines] if whiskers else lines


def _draw_test(axes: Axes, place: Layout, placed: Placed, top: float, pitch: float) -> None:
    """The box of a test, the lines to its children, and the values that lead to each."""
    from matplotlib.patches import FancyBboxPatch

    if not placed.test:
        return
    start, end = place.box(placed)
    y = top + (placed.line + 0.5) * pitch
    ends = [top + (child.line + 0.5) * pitch for child in placed.children]
    elbow = end + ELBOW
    axes.plot([end, elbow], [y, y], color=INK, lw=0.8, zorder=1)
    axes.plot([elbow, elbow], [ends[0], ends[-1]], color=INK, lw=0.8, zorder=1)
    for child, at in zip(placed.children, ends, strict=True):
        axes.plot([elbow, place.box(child)[0]], [at, at], color=INK, lw=0.8, zorder=1)
        write(axes, elbow + 0.05, at - 0.075, child.label, SMALL)
    shape = "round,pad=0,rounding_size=0.06"
    axes.add_patch(FancyBboxPatch((start, y - BOX_HEIGHT / 2), end - start, BOX_HEIGHT, boxstyle=shape, fc="white", ec=INK, lw=0.9))
    write(axes, (start + end) / 2, y, placed.test, TEXT, bold=True, centred=True)
