"""Share one style among all pictures: fills that differ in grey, text widths, canvases, saving.

Files are saved by the suffix of their name. A canvas is measured in inches, for pictures that are
laid out by hand, with a title above and the privacy guarantee below.
"""

from __future__ import annotations

import textwrap
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet._atomic import atomic_file
from privet.errors import MissingDependency, ParameterError, PrivetError
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Fill and hatch by class or learner. Neighbours differ in lightness, and all differ in hatch.
FILLS = (
    ("#33475b", ""),
    ("#e9b44c", "///"),
    ("#6b9a88", "..."),
    ("#f6f1e7", "\\\\\\"),
    ("#9c5c6e", "xxx"),
    ("#c9d3df", "+++"),
)
#: What a file of each kind would say about when or by what it was made.
_DATED = {".svg": "Date", ".png": "Software", ".pdf": "CreationDate"}
INK = "#1c1c1c"
QUIET = "#767676"


def need_matplotlib() -> None:
    """Raise with the install command where matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError:
        raise MissingDependency("matplotlib", "plots", "plotting") from None


def fill_style(position: int) -> dict[str, Any]:
    """Return the options of a filled patch."""
    colour, hatch = FILLS[position % len(FILLS)]
    return {"facecolor": colour, "hatch": hatch, "edgecolor": INK, "linewidth": 0.6}


def ink_on(colour: str) -> str:
    """Return black or white, whichever stands out more from a colour.

    Contrast is as WCAG 2 defines it.
    """
    from matplotlib.colors import to_rgb

    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in to_rgb(colour)
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return "#ffffff" if 1.05 / (luminance + 0.05) > (luminance + 0.05) / 0.05 else "#000000"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the width of a text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=size, weight="bold" if bold else "normal")
    return float(text_to_path.get_text_width_height_descent(text, font, False)[0]) / 72


def check_suffix(path: str | PathLike[str]) -> None:
    """Raise unless the file name has the suffix of a picture."""
    if Path(path).suffix.lower() not in _DATED:
        raise ParameterError(
            f"the file of a picture must end in .svg, .png or .pdf, got {Path(path).name!r}"
        )


def save_figure(figure: Figure, path: str | PathLike[str], *, dpi: int = 150) -> None:
    """Save as SVG, PNG or PDF, by the suffix of the file name.

    The same figure gives the same file.
    """
    import matplotlib as mpl

    check_suffix(path)
    suffix = Path(path).suffix.lower()
    with mpl.rc_context({"svg.hashsalt": "privet"}):
        try:
            with atomic_file(path) as partial:
                figure.savefig(
                    partial,
                    format=suffix[1:],
                    dpi=dpi,
                    metadata={_DATED[suffix]: None},
                    facecolor="white",
                )
        except OSError as error:
            raise PrivetError(f"cannot write {path}: {error.strerror}") from None


# A canvas in inches, for pictures that are laid out by hand.

MARGIN, TITLE_SIZE, TITLE_HEIGHT, FOOTER_PITCH = 0.2, 12, 0.36, 0.19


def make_canvas(width: float, height: float) -> Axes:
    """Make axes over the whole figure, in inches from the top left."""
    from matplotlib.figure import Figure

    axes = Figure(figsize=(width, height)).add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.axis("off")
    return axes


def wrap_text(text: str, width: float, size: float, *, bold: bool = False) -> list[str]:
    """Break a text into lines that fit."""
    per_character = text_width("abcdefghij klmnopqrstu", size, bold=bold) / 22
    return textwrap.wrap(escape_invisible(text), max(20, int(width / per_character * 0.92)))
