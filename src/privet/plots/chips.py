"""Leaves as chips: the class that a leaf says, in the colour of that class. For drawn trees, whose
leaves hold no counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from privet.plots.bars import write_text
from privet.plots.layout import BOX_PADDING, SMALL, TEXT, Placed
from privet.plots.style import FILLS, INK, QUIET, ink_on, text_width
from privet.release.labels import class_labels, leaves_below
from privet.text import shorten
from privet.tree import Tree

if TYPE_CHECKING:
    from matplotlib.axes import Axes

HEIGHT = 0.22


class Chips:
    """How a leaf is drawn that says a class and nothing else. What is not drawn is an outline with
    its number of leaves.
    """

    pitch = 0.32
    aligned = False

    def __init__(self, tree: Tree, *, whole: bool, cut: bool) -> None:
        self._tree, self._below = tree, leaves_below(tree)
        self.names: list[str] = []  # a chip has its name in it, so there is no legend
        said = ["Each leaf says a class; it holds no count."]
        said += [] if whole else ["Branches that say the same are drawn as one."]
        said += ["Dashed: leaves that are not drawn."] if cut else []
        self.notes = [" ".join(said)]

    def width(self, placed: Placed) -> float:
        """Of the chip."""
        size = SMALL if placed.cut else TEXT
        return text_width(self._says(placed), size, bold=not placed.cut) + 2 * BOX_PADDING

    def draw(self, axes: Axes, placed: Placed, x: float, y: float) -> None:
        """One chip, from ``x`` on and amid ``y``."""
        from matplotlib.patches import FancyBboxPatch

        colour = FILLS[int(self._tree.counts[placed.node].argmax()) % len(FILLS)][0]
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
        ink, size = (QUIET, SMALL) if placed.cut else (ink_on(colour), TEXT)
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
        if placed.cut:
            return f"… {self._below[placed.node]} leaves"
        return shorten(
            class_labels(self._tree.schema)[int(self._tree.counts[placed.node].argmax())], 28
        )
