"""A heat map of a result over two parameters, such as accuracy over depth and number of trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.plots.maps import draw_shades
from privet.plots.style import INK, need_matplotlib
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def heatmap(
    table: Any, rows: str, columns: str, values: str, *, title: str = "", digits: int = 3
) -> Figure:
    """The mean of ``values`` for each pair of ``rows`` and ``columns``: dark is large, and each
    number stands in its cell.

    Args:
        table: a pandas data frame, one line per run.
        rows, columns: the columns of ``table`` that span the map.
        values: the column that is averaged. A pair without a run is hatched.
        title: stands above.
        digits: how many decimals the numbers have.
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
            grey = shades.to_rgba(np.asarray(value))[0]
            ink = "white" if grey < 0.5 else "black"  # about where both have the same contrast
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
