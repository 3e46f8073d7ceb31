"""Draw heat maps of a result over two parameters, such as accuracy over depth and number of trees.

:func:`heatmap` draws one map; :func:`draw_maps` draws several on one scale, such as one per
epsilon.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.report.plots.curves import add_caption
from privet.report.plots.style import INK, ink_on, need_matplotlib, text_width
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure


#: A run: its line, its column, and what was measured.
MapRun = tuple[str, str, float]
#: Inches of a cell, and what stands around the cells of a panel; letters of its title, and the
#: least width of the whole.
_CELL, _AROUND = (0.46, 0.3), (1.1, 0.9)
_MAP_TITLE_SIZE, _LEAST = 10.0, 7.0


def draw_maps(
    panels: Mapping[str, Sequence[MapRun]],
    *,
    rows: str,
    columns: str,
    title: str = "",
    caption: str = "",
    side_by_side: int = 2,
) -> Figure:
    """Draw a map for each group of runs, all on one scale.

    The mean of a cell's runs stands in it; dark is large.

    Parameters
    ----------
    panels
        What stands above each map, and its runs. Lines and columns are in the order in
        which they first come.
    rows, columns
        What the axes show.
    title
        Stands above.
    caption
        Stands below, in small letters.
    side_by_side
        How many maps stand side by side.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    if not panels or not all(panels.values()):
        raise ParameterError("draw_maps: every panel must have at least one run")
    across = min(side_by_side, len(panels))
    down = math.ceil(len(panels) / across)
    sizes = [
        (len({column for _, column, _ in runs}), len({row for row, _, _ in runs}))
        for runs in panels.values()
    ]
    titles = max(text_width(escape_invisible(name), _MAP_TITLE_SIZE) for name in panels) + 0.2
    width = max(
        _LEAST, across * (max(_CELL[0] * max(size[0] for size in sizes), titles) + _AROUND[0])
    )
    height = down * (_CELL[1] * max(size[1] for size in sizes) + _AROUND[1]) + 0.6
    figure = Figure(figsize=(width, height), layout="constrained")
    grid = list(figure.subplots(down, across, squeeze=False).flat)
    scale = scale_of(panels)
    for axes, (name, runs) in zip(grid, panels.items(), strict=False):
        draw_map(axes, runs, scale)
        axes.set_title(
            escape_invisible(name), loc="left", fontsize=_MAP_TITLE_SIZE, parse_math=False
        )
        axes.set_xlabel(escape_invisible(columns), parse_math=False)
        axes.set_ylabel(escape_invisible(rows), parse_math=False)
    for axes in grid[len(panels) :]:
        axes.remove()
    figure.suptitle(
        escape_invisible(title), x=0.01, ha="left", fontsize=12, fontweight="bold", parse_math=False
    )
    add_caption(figure, caption, width)
    return figure


def scale_of(panels: Mapping[str, Sequence[MapRun]]) -> tuple[float, float]:
    """Return the least and the largest mean of all panels."""
    means = np.concatenate([_mean_by_cell(runs)[2].ravel() for runs in panels.values()])
    means = means[np.isfinite(means)]
    if not len(means):
        raise ParameterError("draw_maps: there must be at least one finite number")
    return float(means.min()), float(means.max())


def draw_map(axes: Axes, runs: Sequence[MapRun], scale: tuple[float, float]) -> None:
    """Draw one map. A cell without a run is empty."""
    lines, columns, cells = _mean_by_cell(runs)
    shades = draw_shades(axes, cells, scale)
    for (i, j), value in np.ndenumerate(cells):
        if np.isfinite(value):
            ink = ink_on(_hex_of(shades.to_rgba(np.asarray(value))))
            axes.text(
                j, i, _format_cell(float(value)), ha="center", va="center", color=ink, fontsize=7.5
            )
    axes.set_xticks(
        range(len(columns)), [escape_invisible(name) for name in columns], parse_math=False
    )
    axes.set_yticks(range(len(lines)), [escape_invisible(name) for name in lines], parse_math=False)
    axes.tick_params(length=0, labelsize=8.5)


def draw_shades(axes: Axes, cells: npt.NDArray[np.float64], scale: tuple[float, float]) -> QuadMesh:
    """Draw cells, darker where larger, the first line at the top, as shapes.

    Steps of equal size look alike, to colour-blind readers and in grey, too (cividis).

    An embedded picture would not be shown by a page that loads nothing.
    """
    low, high = scale
    down, across = cells.shape
    edges = np.arange(across + 1) - 0.5, np.arange(down + 1) - 0.5
    # A quarter above the largest keeps the darkest cells readable.
    most = high + (high - low) * 0.25 + 1e-12
    shades = axes.pcolormesh(
        *edges,
        np.ma.masked_invalid(cells),
        cmap="cividis_r",
        vmin=low,
        vmax=most,
        edgecolors="face",
        linewidth=0.2,
    )
    axes.invert_yaxis()
    return shades


def _hex_of(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return str(to_hex(colour))


def _mean_by_cell(runs: Sequence[MapRun]) -> tuple[list[str], list[str], npt.NDArray[np.float64]]:
    lines, columns = (
        list(dict.fromkeys(row for row, _, _ in runs)),
        list(dict.fromkeys(column for _, column, _ in runs)),
    )
    by_cell: dict[tuple[str, str], list[float]] = {}
    for row, column, value in runs:
        by_cell.setdefault((row, column), []).append(value)
    cells = [
        [
            float(np.mean(by_cell[row, column])) if (row, column) in by_cell else math.nan
            for column in columns
        ]
        for row in lines
    ]
    return lines, columns, np.array(cells)


def _format_cell(value: float) -> str:
    """Three digits, without the zero before them."""
    return f"{value:.3f}".replace("0.", ".", 1) if abs(value) < 0.9995 else f"{value:.2f}"


# A single map.


def heatmap(
    table: Any, rows: str, columns: str, values: str, *, title: str = "", digits: int = 3
) -> Figure:
    """Draw the mean of ``values`` for each pair of ``rows`` and ``columns``.

    Dark is large, and each number stands in its cell.

    Parameters
    ----------
    table
        A pandas data frame, one line per run.
    rows, columns
        The columns of ``table`` that span the map.
    values
        The column that is averaged. A pair without a run is hatched.
    title
        Stands above.
    digits
        How many decimals the numbers have.
    """
    need_matplotlib()
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    if missing := [name for name in (rows, columns, values) if name not in table.columns]:
        raise ParameterError(f"heatmap: table has no column {missing[0]!r}")
    means = table.pivot_table(index=rows, columns=columns, values=values, aggfunc="mean")
    cells = means.to_numpy(dtype=float)
    if not np.isfinite(cells).any():
        raise ParameterError(f"heatmap: {values!r} must hold at least one finite number")
    down, across = cells.shape
    longest = max(digits + 3, *(len(f"{name}") for name in means.columns))
    figure = Figure(
        figsize=(2.2 + across * max(0.62, 0.1 * longest), 1.5 + 0.42 * down), layout="constrained"
    )
    axes = figure.add_subplot()
    shades = draw_shades(axes, cells, (float(np.nanmin(cells)), float(np.nanmax(cells))))
    for (i, j), value in np.ndenumerate(cells):
        if np.isfinite(value):
            ink = ink_on(_hex_of(shades.to_rgba(np.asarray(value))))
            axes.text(
                j, i, f"{value:.{digits}f}", ha="center", va="center", color=ink, fontsize=8.5
            )
        else:
            axes.add_patch(
                Rectangle(
                    (j - 0.5, i - 0.5),
                    1,
                    1,
                    facecolor="white",
                    edgecolor="#9a9a9a",
                    hatch="///",
                    linewidth=0,
                )
            )
    best = np.unravel_index(int(np.nanargmax(cells)), cells.shape)
    # a white line in a dark one shows on every grey
    for colour, thickness in ((INK, 4.5), ("white", 1.8)):
        frame = (best[1] - 0.46, best[0] - 0.45)
        axes.add_patch(
            Rectangle(frame, 0.92, 0.9, fill=False, edgecolor=colour, linewidth=thickness)
        )
    axes.set_xticks(
        range(across), [escape_invisible(str(name)) for name in means.columns], parse_math=False
    )
    axes.set_yticks(
        range(down), [escape_invisible(str(name)) for name in means.index], parse_math=False
    )
    axes.set_xlabel(escape_invisible(columns), parse_math=False)
    axes.set_ylabel(escape_invisible(rows), parse_math=False)
    gaps = "" if np.isfinite(cells).all() else "; hatched: no run"
    axes.set_title(
        escape_invisible(title or f"mean {values}; framed: the largest{gaps}"),
        loc="left",
        fontsize=10,
        parse_math=False,
    )
    axes.tick_params(length=0)
    return figure
