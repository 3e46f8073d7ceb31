"""Draw additive terms as small multiples: how far each value of an attribute speaks for a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet.domain import Attribute
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.model import Model
from privet.report.labels import attribute_at, class_labels
from privet.report.model_parts import Parts
from privet.report.plots.layout import (
    LEGEND_PITCH,
    SMALL,
    TEXT,
    branch_label,
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
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: Panels beside each other; half the length of a scale; height of a panel's head; distance of
#: panels; of rows; thickness of a bar.
COLUMNS, REACH, HEAD, PANEL_GAP, ROW, BAR = 3, 0.9, 0.38, 0.26, 0.19, 0.075


@dataclass(frozen=True)
class _Panel:
    """One attribute: a row of bars per value."""

    name: str
    labels: list[str]
    #: The bars of each row, with their lengths in points of score.
    rows: Floats
    left_out: int
    #: Whether neighbouring bins share a bar.
    merged: bool
    #: How wide the scores are, those that are left out included.
    spread: float

    @property
    def pitch(self) -> float:
        return float(max(ROW, BAR * self.rows.shape[1] + 0.07))

    @property
    def lines(self) -> list[str]:
        return (
            [*self.labels, f"… {self.left_out} more, nearer to 0"] if self.left_out else self.labels
        )

    @property
    def height(self) -> float:
        return float(HEAD + self.pitch * len(self.labels) + (ROW if self.left_out else 0.0))


def draw_terms(
    model: Model, *, title: str = "", max_terms: int = 24, max_values: int = 16
) -> Figure:
    """Draw the additive terms of a model of scores, with the guarantee beneath.

    The score that every row gets is drawn too.

    With two classes a bar is the difference of their scores, and points to the class that it speaks
    for. With more, each class has a bar: its score less the mean over the classes, to the right if
    that speaks for it.

    Parameters
    ----------
    model
        A model with additive terms or constants.
    title
        Stands above.
    max_terms
        Draw so many attributes, those with the widest scores.
    max_values
        Draw so many values of an attribute, those with the largest scores. Of more bins of a
        number or a date, neighbours with like scores share a bar.
    """
    need_matplotlib()
    parts = Parts.of(model)
    if not parts.terms and not parts.constants:
        raise ParameterError("draw_terms: model must have additive terms, this one has trees only")
    classes = [shorten(label, 28) for label in class_labels(model.schema)]
    shown = _choose_classes([*parts.terms, *parts.constants])
    panels = sorted(
        (_make_panel(tree, shown, max_values) for tree in parts.terms),
        key=lambda panel: -panel.spread,
    )
    drawn = [
        *(
            _Panel("every row", [""], _bar_scores(tree.counts, shown), 0, False, 0.0)
            for tree in parts.constants
        ),
        *panels[:max_terms],
    ]
    gutter = max(text_width(line, SMALL) for panel in drawn for line in panel.lines) + 0.1
    wide = max(gutter + 2 * REACH, *(text_width(panel.name, TEXT, bold=True) for panel in drawn))
    columns = min(COLUMNS, len(drawn))
    title = escape_invisible(title)
    width = (
        max(
            columns * wide + (columns - 1) * PANEL_GAP,
            4.6,
            text_width(title, TITLE_SIZE, bold=True),
        )
        + 2 * MARGIN
    )
    names = [classes[label] for label in shown]
    legend = legend_lines(names, width - 2 * MARGIN)
    top = MARGIN + (TITLE_HEIGHT if title else 0.0) + LEGEND_PITCH * len(legend) + 0.14
    places, end = stack_panels([panel.height for panel in drawn], columns, top, PANEL_GAP)
    promise = wrap_text(model.privacy.describe(), width - 2 * MARGIN, TEXT, bold=True)
    notes = [
        line
        for note in _make_notes(len(classes), len(shown), len(panels) - max_terms, drawn)
        for line in wrap_text(note, width - 2 * MARGIN, SMALL)
    ]
    axes = make_canvas(width, end + FOOTER_PITCH * (len(promise) + len(notes)) + MARGIN)

    if title:
        write_text(axes, MARGIN, MARGIN + 0.1, title, TITLE_SIZE, bold=True)
    draw_legend(axes, legend, shown, names, MARGIN, top - 0.14 - LEGEND_PITCH * len(legend) + 0.1)
    limit = round_scale_limit(max(float(np.abs(panel.rows).max()) for panel in drawn))
    for panel, (column, y) in zip(drawn, places, strict=True):
        _draw_panel(axes, panel, shown, MARGIN + column * (wide + PANEL_GAP), y, gutter, limit)
    for number, text in enumerate(promise):
        write_text(axes, MARGIN, end + FOOTER_PITCH * number, text, TEXT, bold=True)
    for number, text in enumerate(notes, len(promise)):
        write_text(axes, MARGIN, end + FOOTER_PITCH * number, text, SMALL, colour=QUIET)
    return axes.get_figure(root=True)  # type: ignore[return-value]


def _choose_classes(trees: Sequence[Tree]) -> list[int]:
    """The classes to draw: those with the widest scores, as many as there are fills."""
    spread = np.max(
        [
            np.abs(tree.counts - tree.counts.mean(axis=1, keepdims=True)).max(axis=0)
            for tree in trees
        ],
        axis=0,
    )
    return sorted(np.argsort(-spread, kind="stable")[: len(FILLS)].tolist())


def _bar_scores(scores: Floats, shown: Sequence[int]) -> Floats:
    """One bar per class, or one for both of two."""
    if scores.shape[1] == 2:
        return np.asarray(scores[:, 1:] - scores[:, :1])
    return np.asarray((scores - scores.mean(axis=1, keepdims=True))[:, shown])


def _make_panel(tree: Tree, shown: Sequence[int], max_values: int) -> _Panel:
    name, attribute = attribute_at(tree.schema, int(tree.cells.attribute[0]))
    children = tree.children(0)
    rows = _bar_scores(tree.counts[[child for child, _ in children]], shown)
    spread, merged = float(np.ptp(rows)), attribute.ordered and len(rows) > max_values
    if merged:
        children, rows = _merge_neighbours(attribute, children, rows, max_values)
    kept = sorted(np.argsort(-np.abs(rows).max(axis=1), kind="stable")[:max_values].tolist())
    labels = [_label_bar(attribute, children[row][1]) for row in kept]
    left_out = len(rows) - len(kept)
    return _Panel(shorten(name, 28), labels, rows[kept], left_out, merged, spread)


_Child = tuple[int, tuple[int, ...]]


def _merge_neighbours(
    attribute: Attribute, children: list[_Child], rows: Floats, most: int
) -> tuple[list[_Child], Floats]:
    """Let neighbouring bins with like scores share a row, which has their mean, until there are so
    few: the most extreme of hundreds of bins lie side by side, and say nothing of the others.

    What is missing stays by itself. Those with the smallest change between them go first (Ward).
    """
    apart = [at for at, (_, codes) in enumerate(children) if attribute.missing_code in codes]
    order = sorted(set(range(len(children))) - set(apart), key=lambda at: children[at][1])
    runs = [children[at] for at in order]
    means, sizes = rows[order], np.array([float(len(codes)) for _, codes in runs])
    while len(runs) > max(most - len(apart), 1):
        change = ((means[1:] - means[:-1]) ** 2).sum(axis=1)
        first = int(np.argmin(change * sizes[1:] * sizes[:-1] / (sizes[1:] + sizes[:-1])))
        both = sizes[first : first + 2]
        means[first] = both @ means[first : first + 2] / both.sum()
        sizes[first] = both.sum()
        runs[first] = (runs[first][0], runs[first][1] + runs[first + 1][1])
        del runs[first + 1]
        means, sizes = np.delete(means, first + 1, axis=0), np.delete(sizes, first + 1)
    return [*runs, *(children[at] for at in apart)], np.concatenate([means, rows[apart]])


def _label_bar(attribute: Attribute, codes: tuple[int, ...]) -> str:
    """Write a branch in short; two dates have room."""
    text = branch_label(attribute, codes)
    return shorten(text.removeprefix("in ").removeprefix("from "), 24)


def _make_notes(n_classes: int, n_shown: int, left_out: int, drawn: Sequence[_Panel]) -> list[str]:
    towards = (
        "to the class that it speaks for"
        if n_classes == 2
        else "to the right where a value speaks for a class, to the left against it"
    )
    notes = [
        (
            f"A bar points {towards}; one point of score multiplies the odds by 2.72. Scores of "
            "all parts of the model are added up."
        )
    ]
    if any(panel.merged for panel in drawn):
        notes.append("Neighbouring bins with like scores share a bar, which shows their mean.")
    if n_shown < n_classes:
        notes.append(f"{n_classes - n_shown} classes with smaller scores are not drawn.")
    if left_out > 0:
        notes.append(f"{left_out} more attribute{'s' if left_out > 1 else ''} with smaller scores.")
    return notes


def _draw_panel(
    axes: Axes, panel: _Panel, shown: Sequence[int], x: float, y: float, gutter: float, limit: float
) -> None:
    """The name of an attribute, a row for each value, and the scale."""
    from matplotlib.patches import Rectangle

    zero, top = x + gutter + REACH, y + HEAD
    bottom = top + panel.pitch * len(panel.labels)
    write_text(axes, x, y + 0.1, panel.name, TEXT, bold=True)
    for end in (-1, 0, 1):
        at = zero + end * REACH
        axes.plot(
            [at, at],
            [top, bottom],
            color=INK if end == 0 else "#cfcfcf",
            lw=0.8 if end == 0 else 0.6,
            zorder=3 if end == 0 else 0,
        )
        write_text(
            axes,
            at,
            y + 0.3,
            f"{end * limit:+.6g}" if end else "0",
            6.5,
            colour=QUIET,
            centred=True,
        )
    for number, (label, bars) in enumerate(zip(panel.labels, panel.rows.tolist(), strict=True)):
        middle = top + (number + 0.5) * panel.pitch
        write_text(axes, x, middle, label, SMALL)
        thickness = BAR if len(bars) > 1 else 0.12
        for position, length in enumerate(bars):
            # One bar for two classes has the fill of the class that it points to.
            label_of = shown[position] if len(bars) > 1 else int(length > 0)
            at = middle + (position - len(bars) / 2) * thickness
            axes.add_patch(
                Rectangle(
                    (zero, at), length / limit * REACH, thickness * 0.9, **fill_style(label_of)
                )
            )
    if panel.left_out:
        write_text(axes, x, bottom + ROW / 2, panel.lines[-1], SMALL, colour=QUIET)
