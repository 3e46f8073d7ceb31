"""A canvas in inches for pictures that are laid out by hand, with a title above and the guarantee
below.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from privet.plots.style import text_width
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARGIN, TITLE_SIZE, TITLE_HEIGHT, FOOTER_PITCH = 0.2, 12, 0.36, 0.19


def make_canvas(width: float, height: float) -> Axes:
    """Axes over the whole figure, in inches from the top left."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def wrap_text(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """A text, broken into lines that fit."""
    per_character = text_width("abcdefghij klmnopqrstu", size, bold=bold) / 22
    return textwrap.wrap(escape_invisible(text), max(20, int(width / per_character * 0.92)))
