"""A tree as a picture: tests in boxes, and leaves as bars of their class shares, or as chips where
they only say a class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privet.checks import check_integer
from privet.plots.bars import LEGEND_PITCH, Bars, draw_legend, draw_scale, legend_lines, write_text
from privet.plots.canvas import (
    FOOTER_PITCH,
    MARGIN,
    TITLE_HEIGHT,
    TITLE_SIZE,
    make_canvas,
    wrap_text,
)
from privet.plots.chips import Chips
from privet.plots.layout import (
    BOX_HEIGHT,
    ELBOW,
    SMALL,
    TEXT,
    Layout,
    Placed,
    lay_out_columns,
    place_nodes,
)
from privet.plots.style import INK, QUIET, need_matplotlib, text_width
from privet.release.collapse import collapse_tree
from privet.release.parts import says_classes
from privet.text import escape_invisible
from privet.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: More leaves make a picture that no program shows.
MOST_LEAVES = 1000


def draw_tree(
    tree: Tree,
    *,
    noise: float = 0.0,
    title: str = "",
    footer: str = "",
    max_depth: int | None = None,
    max_leaves: int = 40,
    scores: bool = False,
    whole: bool = False,
) -> Figure:
    """Draw a tree.

    Args:
        tree: what to draw.
        noise: the standard deviation of each leaf count's noise. Whiskers show twice that: 19 times
            in 20 the noise is smaller.
        title: stands above.
        footer: stands below; the guarantee belongs here.
        max_depth: draw so many tests deep. What is below is summed up in one line.
        max_leaves: draw so many leaves at most, the top of the tree and there what more of the
            domain reaches; the rest is summed up.
        scores: whether the tree is of a model that adds up scores. A leaf of a drawn tree is then
            the class that it says.
        whole: draw a tree of scores with all its branches; otherwise those that say the same are
            drawn as one.
    """
    need_matplotlib()
    check_integer("max_leaves", max_leaves, 1, MOST_LEAVES, owner="draw_tree")
    if scores and not whole:
        tree = collapse_tree(tree)
    nodes, title = place_nodes(tree, max_depth, max_leaves), escape_invisible(title)
    cut = any(placed.cut for placed in nodes)
    leaves = (
        Chips(tree, whole=whole, cut=cut)
        if scores and says_classes(tree)
        else Bars(tree, noise=noise, scores=scores)
    )
    place = lay_out_columns(nodes, MARGIN)

    def start(placed: Placed) -> float:
        aligned = leaves.aligned and not placed.test
        return place.end if aligned else place.starts[placed.depth]

    ends = [start(placed) + leaves.width(placed) for placed in place.leaves]
    names = [text_width(name, SMALL) + 0.55 for name in leaves.names]
    width = max(*ends, *names, 5.0, MARGIN + text_width(title, TITLE_SIZE, bold=True)) + MARGIN
    legend = legend_lines(leaves.names, width - 2 * MARGIN)
    promise = wrap_text(footer, width - 2 * MARGIN, TEXT, bold=True)
    notes = [line for note in leaves.notes for line in wrap_text(note, width - 2 * MARGIN, SMALL)]
    top = MARGIN + (TITLE_HEIGHT if title else 0.0) + LEGEND_PITCH * len(legend) + 0.12
    end = top + leaves.pitch * len(place.leaves)
    foot = end + (0.4 if leaves.aligned else 0.2)
    axes = make_canvas(width, foot + FOOTER_PITCH * (len(promise) + len(notes)) + MARGIN)

    if title:
        write_text(axes, MARGIN, MARGIN + 0.1, title, TITLE_SIZE, bold=True)
    draw_legend(
        axes,
        legend,
        range(len(leaves.names)),
        leaves.names,
        MARGIN,
        top - 0.12 - LEGEND_PITCH * len(legend) + 0.1,
    )
    if isinstance(leaves, Bars):
        draw_scale(axes, place.end, top, end)
    for placed in place.nodes:
        if placed.test:
            _draw_test(
                axes, place, placed, top, leaves.pitch, [start(child) for child in placed.children]
            )
        else:
            leaves.draw(axes, placed, start(placed), top + (placed.line + 0.5) * leaves.pitch)
    for number, text in enumerate(promise):
        write_text(axes, MARGIN, foot + FOOTER_PITCH * number, text, TEXT, bold=True)
    for number, text in enumerate(notes, len(promise)):
        write_text(axes, MARGIN, foot + FOOTER_PITCH * number, text, SMALL, colour=QUIET)
    return axes.get_figure(root=True)  # type: ignore[return-value]


def _draw_test(
    axes: Axes, place: Layout, placed: Placed, top: float, pitch: float, stops: list[float]
) -> None:
    """The box of a test, the lines to where its children start, and the values that lead to
    each.
    """
    from matplotlib.patches import FancyBboxPatch

    start, end = place.box(placed)
    y = top + (placed.line + 0.5) * pitch
    ends = [top + (child.line + 0.5) * pitch for child in placed.children]
    elbow = end + ELBOW
    axes.plot([end, elbow], [y, y], color=INK, lw=0.8, zorder=1)
    axes.plot([elbow, elbow], [ends[0], ends[-1]], color=INK, lw=0.8, zorder=1)
    for child, at, stop in zip(placed.children, ends, stops, strict=True):
        axes.plot([elbow, stop], [at, at], color=INK, lw=0.8, zorder=1)
        write_text(axes, elbow + 0.05, at - 0.075, child.label, SMALL)
    shape = "round,pad=0,rounding_size=0.06"
    axes.add_patch(
        FancyBboxPatch(
            (start, y - BOX_HEIGHT / 2),
            end - start,
            BOX_HEIGHT,
            boxstyle=shape,
            fc="white",
            ec=INK,
            lw=0.9,
        )
    )
    write_text(axes, (start + end) / 2, y, placed.test, TEXT, bold=True, centred=True)
