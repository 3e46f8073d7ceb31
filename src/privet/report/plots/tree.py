"""Draw a tree as a picture: tests in boxes, leaves as bars of their class shares.

Trees that were drawn by the exponential mechanism hold no counts: their leaves only name a class,
and are drawn as chips in the colour of that class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet._validate import check_integer
from privet.domain.tree import Tree, domain_shares
from privet.model.population import Population
from privet.report.labels import class_labels, collapse_tree, leaves_below
from privet.report.model_parts import says_classes
from privet.report.plots.layout import (
    BOX_HEIGHT,
    BOX_PADDING,
    ELBOW,
    LEGEND_PITCH,
    SMALL,
    TEXT,
    Bars,
    Layout,
    Placed,
    apply_softmax,
    draw_legend,
    draw_scale,
    lay_out_columns,
    legend_lines,
    place_nodes,
    write_text,
)
from privet.report.plots.style import (
    FILLS,
    FOOTER_PITCH,
    INK,
    MARGIN,
    QUIET,
    TITLE_HEIGHT,
    TITLE_SIZE,
    ink_on,
    make_canvas,
    need_matplotlib,
    text_width,
    wrap_text,
)
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: How wide the branch of all people is, in points, and the colour of branches with a width.
WIDEST, BRANCH = 14.0, "#7b90a5"
#: More leaves make a picture that no program shows.
MOST_LEAVES = 1000


def draw_tree(
    tree: Tree,
    *,
    noise: float = 0.0,
    title: str = "",
    footer: str = "",
    max_depth: int | None = None,
    max_leaves: int = 24,
    scores: bool = False,
    whole: bool = False,
    people: Population | None = None,
) -> Figure:
    """Draw a tree, from the top left. Branches that more people take are wider.

    Parameters
    ----------
    tree
        What to draw.
    noise
        The standard deviation of each leaf count's noise. Whiskers show twice that: 19 times
        in 20 the noise is smaller.
    title
        Stands above.
    footer
        Stands below; the guarantee belongs here.
    max_depth
        Draw so many tests deep. What is below is summed up in one line.
    max_leaves
        Draw so many leaves at most, the top of the tree and there what more of the
        domain reaches; the rest is summed up.
    scores
        Whether the tree is of a model that adds up scores. A leaf of a drawn tree is then
        the class that it says.
    whole
        Draw a tree of scores with all its branches; otherwise those that say the same are
        drawn as one.
    people
        How values are spread over people, for the widths of a tree of scores; without it,
        all its branches are alike. A tree of counts has released how many take each.
    """
    need_matplotlib()
    check_integer("max_leaves", max_leaves, 1, MOST_LEAVES, owner="draw_tree")
    if scores and not whole:
        tree = collapse_tree(tree)
    nodes, title = place_nodes(tree, max_depth, max_leaves), escape_invisible(title)
    cut = any(placed.cut for placed in nodes)
    shares = find_shares(tree, people, scores=scores)
    leaves = (
        Chips(tree, shares, whole=whole, cut=cut)
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
    said = [*leaves.notes]
    said += [] if shares is None else ["The more people take a branch, by noisy counts, the wider."]
    notes = [line for note in said for line in wrap_text(note, width - 2 * MARGIN, SMALL)]
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
                axes,
                place,
                placed,
                top,
                leaves.pitch,
                [start(child) for child in placed.children],
                shares,
            )
        else:
            leaves.draw(axes, placed, start(placed), top + (placed.line + 0.5) * leaves.pitch)
    for number, text in enumerate(promise):
        write_text(axes, MARGIN, foot + FOOTER_PITCH * number, text, TEXT, bold=True)
    for number, text in enumerate(notes, len(promise)):
        write_text(axes, MARGIN, foot + FOOTER_PITCH * number, text, SMALL, colour=QUIET)
    return axes.get_figure(root=True)  # type: ignore[return-value]


def find_shares(tree: Tree, people: Population | None, *, scores: bool) -> Floats | None:
    """Return the share of people that reaches each node, as far as it was released."""
    if scores:
        return None if people is None else people.reach(tree.cells)
    sizes = np.maximum(tree.counts, 0.0).sum(axis=1)
    return np.clip(sizes / sizes[0], 0.0, 1.0) if sizes[0] > 0 else None


def _draw_test(
    axes: Axes,
    place: Layout,
    placed: Placed,
    top: float,
    pitch: float,
    stops: list[float],
    shares: Floats | None,
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
        share = 0.0 if shares is None else float(shares[child.node])
        width = 0.8 + WIDEST * share
        colour = INK if shares is None else BRANCH
        axes.plot(
            [elbow, stop], [at, at], lw=width, color=colour, solid_capstyle="butt", zorder=0.5
        )
        write_text(axes, elbow + 0.05, at - 0.07 - WIDEST * share / 144, child.label, SMALL)
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


# Leaves as chips, for drawn trees: a leaf names a class and holds no counts.

HEIGHT = 0.22


class Chips:
    """How to draw a leaf that names a class, and how likely it is where the tree says so.

    What is not drawn is an outline with the class that most people, or most of the domain, get
    there.
    """

    pitch = 0.34
    aligned = False

    def __init__(self, tree: Tree, shares: Floats | None, *, whole: bool, cut: bool) -> None:
        self._tree, self._leaves = tree, leaves_below(tree)
        self._below = sum_up_leaves(tree, domain_shares(tree.cells) if shares is None else shares)
        self.names: list[str] = []  # a chip has its name in it, so there is no legend
        likely = tree.kind == "calibrated"
        said = [
            "Each leaf says a class, and how likely it is by this tree."
            if likely
            else "Each leaf says a class; it holds no count."
        ]
        said += [] if whole else ["Branches that say the same are drawn as one."]
        people = "the domain" if shares is None else "people there"
        folded = (
            "Dashed: leaves that are not drawn, and what they say on average."
            if likely
            else f"Dashed: leaves that are not drawn; so much of {people} gets this class."
        )
        said += [folded] if cut else []
        self.notes = [" ".join(said)]

    def width(self, placed: Placed) -> float:
        """Return the width of the chip."""
        size = SMALL if placed.cut else TEXT
        return text_width(self._says(placed), size, bold=not placed.cut) + 2 * BOX_PADDING

    def draw(self, axes: Axes, placed: Placed, x: float, y: float) -> None:
        """Draw one chip, starting at ``x`` and centred at ``y``."""
        from matplotlib.patches import FancyBboxPatch

        leaf = int(self._below[placed.node].argmax())
        colour = FILLS[leaf % len(FILLS)][0]
        look = (
            {"fc": "white", "ec": QUIET, "ls": (0, (3, 2))}
            if placed.cut
            else {"fc": colour, "ec": INK}
        )
        shape = f"round,pad=0,rounding_size={HEIGHT / 2}"
        width = self.width(placed)
        axes.add_patch(
            FancyBboxPatch(
                (x, y - HEIGHT / 2), width, HEIGHT, boxstyle=shape, lw=0.7, zorder=2, **look
            )
        )
        ink, size = (INK, SMALL) if placed.cut else (ink_on(colour), TEXT)
        write_text(
            axes,
            x + width / 2,
            y,
            self._says(placed),
            size,
            bold=not placed.cut,
            colour=ink,
            centred=True,
        )

    def _says(self, placed: Placed) -> str:
        below = self._below[placed.node]
        label = shorten(class_labels(self._tree.schema)[int(below.argmax())], 28)
        part = f"{below.max() / below.sum():.0%}"
        if placed.cut:
            return f"… {self._leaves[placed.node]} leaves: {label} {part}"
        return f"{label} {part}" if self._tree.kind == "calibrated" else label


def sum_up_leaves(tree: Tree, shares: Floats) -> Floats:
    """Return, for each node and class, how much of it the leaves below say, over so many people.

    A leaf of a drawn tree says one class; a calibrated one has a probability of each.
    """
    says = np.eye(tree.schema.n_classes)[tree.counts.argmax(axis=1)]
    if tree.kind == "calibrated":
        says = apply_softmax(tree.counts)
    below = np.zeros_like(says)
    leaves = tree.leaves
    # at least a little of each leaf, so that one that nobody reaches says something, too
    below[leaves] = says[leaves] * np.maximum(shares[leaves], 1e-12)[:, None]
    for node in range(tree.n_nodes - 1, 0, -1):  # children come after their parents
        below[tree.cells.parents[node]] += below[node]
    return np.asarray(below)
