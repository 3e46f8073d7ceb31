"""Draw what a whole model has learnt as small multiples: what matters, and what each value does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Bools, Floats
from privet._validate import check_integer
from privet.model.explanations.explanation import Effect, Explanation, Importance
from privet.model.explanations.page import BAND, NOISE, explain_reading, explain_silence
from privet.model.explanations.values import choose_shown, name_class
from privet.report.plots.layout import (
    LEGEND_PITCH,
    SMALL,
    TEXT,
    draw_legend,
    legend_lines,
    round_scale_limit,
    stack_panels,
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
    fill_style,
    make_canvas,
    need_matplotlib,
    text_width,
    wrap_text,
)
from privet.report.plots.terms import BAR, COLUMNS, HEAD, PANEL_GAP, REACH, ROW
from privet.text import escape_invisible, join_some, shorten_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: Bars that speak for no class, and bars that cannot be told from noise.
_RANK = {"facecolor": "#c9d3df", "edgecolor": INK, "linewidth": 0.6}
_UNSURE = {"facecolor": "white", "edgecolor": QUIET, "ls": (0, (2, 1.5)), "linewidth": 0.7}


@dataclass(frozen=True)
class _Panel:
    """A row of bars for each label, and what they mean."""

    name: str
    labels: list[str]
    #: (labels, bars), in what the scale shows.
    rows: Floats
    deviation: Floats | None
    sure: Bools | None
    limit: float
    note: str = ""

    @property
    def pitch(self) -> float:
        return float(max(ROW, BAR * self.rows.shape[1] + 0.07))

    @property
    def height(self) -> float:
        return HEAD + self.pitch * len(self.labels) + (ROW if self.note else 0.0)


def draw_effects(
    said: Explanation, *, title: str = "", max_attributes: int = 11, max_values: int = 12
) -> Figure:
    """Draw an explanation, with the guarantee beneath.

    The first panel shows how much each attribute matters. Each other one is about an attribute: how
    much more, or less, the whole model says when everybody has a value. Lines are the noise; what
    cannot be told from it is a dashed outline. An attribute of which no value can be told from it
    has no panel: it is named below.

    Parameters
    ----------
    said
        What :meth:`privet.Model.explain` or ``explain`` of a classifier returns.
    title
        Stands above.
    max_attributes
        Draw so many attributes, those that matter most.
    max_values
        Draw so many values of an attribute, those that move most people's score.
    """
    need_matplotlib()
    check_integer("max_attributes", max_attributes, 1, 1000, owner="draw_effects")
    check_integer("max_values", max_values, 1, 1000, owner="draw_effects")
    shown = _choose_classes(said)
    by_name = {effect.name: effect for effect in said.effects.values()}
    names = dict(zip(by_name, shorten_apart(list(by_name), 28), strict=True))
    heard = [one for one in said.importances if one.name not in said.silent]
    ranked = heard[:max_attributes]
    quiet = [names[one.name] for one in ranked if one.sure is False]
    panels = [
        _rank_panel(said, names, ranked),
        *(
            _effect_panel(said, by_name[one.name], names[one.name], shown, max_values)
            for one in ranked
            if one.sure is not False
        ),
    ]
    lines = [*(line for panel in panels for line in (*panel.labels, panel.note))]
    gutter = max(text_width(line, SMALL) for line in lines) + 0.1
    wide = max(gutter + 2 * REACH, *(text_width(panel.name, TEXT, bold=True) for panel in panels))
    columns = min(COLUMNS, len(panels))
    title = escape_invisible(title)
    width = 2 * MARGIN + max(
        columns * wide + (columns - 1) * PANEL_GAP, text_width(title, TITLE_SIZE, bold=True)
    )
    room = width - 2 * MARGIN
    two = len(said.scale.classes) == 1
    texts = [escape_invisible(text) for text in said.model.schema.label.labels]
    labels = shorten_apart(texts, 28)
    spoken = [f"speaks for {name_class(labels[code])}" for code in shown]
    legend = legend_lines(spoken, room)
    top = MARGIN + (TITLE_HEIGHT if title else 0.0) + LEGEND_PITCH * len(legend) + 0.14
    places, end = stack_panels([panel.height for panel in panels], columns, top, PANEL_GAP)
    promise = wrap_text(said.model.privacy.describe(), room, TEXT, bold=True)
    told = [
        *explain_reading(said),
        *([f"{join_some(quiet, ', ', max_attributes)}: {NOISE}, in all values."] if quiet else []),
        *([explain_silence(said)] if said.silent else []),
    ]
    notes = [line for note in told for line in wrap_text(note, room, SMALL)]
    left_out = len(heard) - len(ranked)
    if left_out > 0:
        several = "attributes matter" if left_out > 1 else "attribute matters"
        notes.append(f"{left_out} more {several} less.")
    axes = make_canvas(width, end + FOOTER_PITCH * (len(promise) + len(notes)) + MARGIN)
    if title:
        write_text(axes, MARGIN, MARGIN + 0.1, title, TITLE_SIZE, bold=True)
    draw_legend(axes, legend, shown, spoken, MARGIN, top - 0.14 - LEGEND_PITCH * len(legend) + 0.1)
    for panel, (column, y) in zip(panels, places, strict=True):
        x = MARGIN + column * (wide + PANEL_GAP)
        _draw_panel(axes, panel, x, y, gutter, shown if not two else [], rank=panel is panels[0])
    for number, text in enumerate(promise):
        write_text(axes, MARGIN, end + FOOTER_PITCH * number, text, TEXT, bold=True)
    for number, text in enumerate(notes, len(promise)):
        write_text(axes, MARGIN, end + FOOTER_PITCH * number, text, SMALL, colour=QUIET)
    return axes.get_figure(root=True)  # type: ignore[return-value]


def _choose_classes(said: Explanation) -> list[int]:
    """The classes to draw: both of two, or those about which most is said."""
    if len(said.scale.classes) == 1:
        return [0, 1]
    spread = np.max([np.abs(effect.values).max(axis=0) for effect in said.effects.values()], axis=0)
    return sorted(np.argsort(-spread, kind="stable")[: len(FILLS)].tolist())


def _rank_panel(
    said: Explanation, names: Mapping[str, str], ranked: Sequence[Importance]
) -> _Panel:
    rows = np.array([[one.value] for one in ranked]).reshape(-1, 1)
    measured = bool(said.repeats)
    return _Panel(
        "what matters",
        [names[one.name] for one in ranked],
        rows,
        np.array([[one.deviation] for one in ranked]) if measured else None,
        np.array([[bool(one.sure)] for one in ranked]) if measured else None,
        round_scale_limit(float(rows.max(initial=0.0))),
    )


def _effect_panel(
    said: Explanation, effect: Effect, name: str, shown: list[int], most: int
) -> _Panel:
    weight = said.scale.measure(effect.values) * effect.shares
    kept, left_out = choose_shown(weight, effect.sure, most)
    columns = [0] if len(said.scale.classes) == 1 else shown
    return _Panel(
        name,
        [effect.labels[row] for row in kept],
        effect.values[kept][:, columns],
        None if effect.deviation is None else effect.deviation[kept][:, columns],
        None if effect.sure is None else effect.sure[kept][:, columns],
        round_scale_limit(float(np.abs(effect.values[kept][:, columns]).max())),
        _say_left_out(len(left_out)),
    )


def _say_left_out(values: int) -> str:
    return f"… {values} more value{'s' if values > 1 else ''}" if values else ""


def _draw_panel(
    axes: Axes, panel: _Panel, x: float, y: float, gutter: float, shown: list[int], *, rank: bool
) -> None:
    """Draw the name, a row for each label, and the scale."""
    from matplotlib.patches import Rectangle

    start, reach = (x + gutter, 2 * REACH) if rank else (x + gutter + REACH, REACH)
    top = y + HEAD
    bottom = top + panel.pitch * len(panel.labels)
    write_text(axes, x, y + 0.1, panel.name, TEXT, bold=True)
    for end in (0, 1) if rank else (-1, 0, 1):
        at = start + end * reach
        colour, thick, above = ("#cfcfcf", 0.6, 0) if end else (INK, 0.8, 3)
        axes.plot([at, at], [top, bottom], color=colour, lw=thick, zorder=above)
        text = f"{end * panel.limit:{'' if rank else '+'}.6g}" if end else "0"
        write_text(axes, at, y + 0.3, text, 6.5, colour=QUIET, centred=True)
    for number, label in enumerate(panel.labels):
        middle = top + (number + 0.5) * panel.pitch
        write_text(axes, x, middle, label, SMALL)
        bars = panel.rows[number].tolist()
        thickness = BAR if len(bars) > 1 else 0.12
        for position, length in enumerate(bars):
            fill = shown[position] if len(bars) > 1 else int(length > 0)
            sure = panel.sure is None or bool(panel.sure[number, position])
            look = _RANK if rank else fill_style(fill)
            at = middle + (position - len(bars) / 2) * thickness
            size = (length / panel.limit * reach, thickness * 0.9)
            axes.add_patch(Rectangle((start, at), *size, **(look if sure else _UNSURE)))
            if panel.deviation is None:
                continue
            band = BAND * float(panel.deviation[number, position])
            ends = np.clip(
                [length - band, length + band], 0.0 if rank else -panel.limit, panel.limit
            )
            reached = start + ends / panel.limit * reach
            for colour, thick in (("white", 2.4), (INK, 0.9)):  # seen on dark bars, too
                axes.plot(reached, [at + thickness * 0.45] * 2, color=colour, lw=thick, zorder=4)
    if panel.note:
        write_text(axes, x, bottom + ROW / 2, panel.note, SMALL, colour=QUIET)
