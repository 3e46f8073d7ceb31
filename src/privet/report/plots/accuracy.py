"""Draw accuracy over epsilon: a dot per learner and epsilon, with whiskers over repeated runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from privet.errors import ParameterError
from privet.report.plots.curves import LINES
from privet.report.plots.style import INK, QUIET, need_matplotlib, text_width, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ACCURACY_COLUMNS = ("learner", "epsilon", "accuracy")
_MAJORITY = "always the majority class"
#: Margins around the axes in inches; the labels stand to the right of them.
_LEFT, _RIGHT, _BOTTOM, _TOP = 0.68, 0.15, 0.95, 0.2
#: The height of the axes, and the width of one epsilon without and with one more learner.
_HEIGHT, _COLUMN, _PER_LEARNER = 3.2, 0.6, 0.1
#: Letter sizes in points.
_LABEL, _CAPTION, _ACCURACY_TITLE_SIZE = 9.0, 8.0, 12.0
#: The height of a line of a label and of the title, the space between labels, how far labels stand
#: from the axes, how wide they may be, and the room for the marker before them, in inches.
_LINE, _TITLE_LINE, _LABEL_GAP, _LEADER, _WIDEST, _MARKER = 0.155, 0.22, 0.06, 0.3, 2.3, 0.3
#: How far learners stand apart in a column, so that whiskers do not hide each other, and the share
#: of the column that all of them may take.
_SHIFT_APART, _SPREAD = 0.12, 0.5
_DASH = (0, (5, 4))
#: The least length of the accuracy axis, and from how many lengths of the runs the majority's line
#: is too far away to be drawn.
_SHORTEST, _FAR = 0.1, 2


@dataclass(frozen=True)
class _Label:
    """The name of a line, and the point at which the line ends."""

    text: str
    x: float
    y: float
    style: dict[str, Any]

    @property
    def marked(self) -> bool:
        return "marker" in self.style

    @property
    def height(self) -> float:
        return _LINE * (self.text.count("\n") + 1)


def accuracy_over_epsilon(table: Any, *, majority: float | None = None, title: str = "") -> Figure:
    """Draw the mean accuracy of each learner over epsilon, with whiskers.

    Whiskers go from the lowest to the highest accuracy of the runs; they are no confidence
    interval. Learners are named at the right, where their lines end.

    Parameters
    ----------
    table
        A pandas data frame with the columns ``learner``, ``epsilon`` and ``accuracy``, one
        row per run. An infinite epsilon, which means no noise, stands at the right end.
    majority
        The accuracy of always answering the most frequent class; drawn as a dashed line.
    title
        Stands above.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    _check_accuracy_table(table)
    learners = list(dict.fromkeys(table["learner"]))
    epsilons = sorted(set(table["epsilon"].astype(float)))
    runs = {
        (learner, epsilon): group["accuracy"].to_numpy(dtype=float)
        for (learner, epsilon), group in table.groupby(["learner", "epsilon"], sort=False)
    }
    names = [_break_name(str(learner)) for learner in learners]
    limits, shown = _choose_axis_limits(table["accuracy"], majority)
    if majority is not None:
        names.append(_break_name(_MAJORITY if shown else _name_hidden_majority(majority, limits)))
    beside = _LEADER + _MARKER + max(_measure_widest_line(name) for name in names)
    column = _COLUMN + _PER_LEARNER * len(learners)
    across = max(3.6, column * len(epsilons))
    width = _LEFT + across + beside + _RIGHT
    heading = wrap_text(title, width - 2 * _RIGHT, _ACCURACY_TITLE_SIZE, bold=True) if title else []
    above = _TOP + _TITLE_LINE * len(heading)
    labels_need = sum(_LINE * (name.count("\n") + 1) + _LABEL_GAP for name in names)
    down = max(_HEIGHT, labels_need)
    height = above + down + _BOTTOM
    figure = Figure(figsize=(width, height))
    axes = figure.add_axes((_LEFT / width, _BOTTOM / height, across / width, down / height))

    labels = []
    for number, learner in enumerate(learners):
        mine = {
            place: runs[learner, epsilon]
            for place, epsilon in enumerate(epsilons)
            if (learner, epsilon) in runs
        }
        shift = (number - (len(learners) - 1) / 2) * min(_SHIFT_APART, _SPREAD / len(learners))
        labels.append(_draw_learner_line(axes, mine, shift, number, names[number]))
    if majority is not None:
        style: dict[str, Any] = {"color": INK, "linestyle": _DASH, "linewidth": 1.1}
        if shown:
            axes.axhline(majority, zorder=1, **style)
        level = min(max(majority, limits[0]), limits[1])
        labels.append(_Label(names[-1], len(epsilons) - 0.5, level, style if shown else {}))

    if math.inf in epsilons and len(epsilons) > 1:
        axes.axvline(len(epsilons) - 1.5, color="#9a9a9a", linewidth=0.8, zorder=0)
    axes.set_xticks(range(len(epsilons)), [_format_epsilon(epsilon) for epsilon in epsilons])
    axes.set_xlim(-0.5, len(epsilons) - 0.5)
    axes.set_ylim(*limits)
    axes.set_xlabel("epsilon (smaller is more private)")
    axes.set_ylabel("accuracy")
    axes.grid(axis="y", color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)

    _add_labels(axes, labels, across, down)
    _add_words(figure, heading, _make_accuracy_caption([len(run) for run in runs.values()]))
    return figure


def _draw_learner_line(
    axes: Axes, runs: dict[int, np.ndarray[Any, Any]], shift: float, number: int, name: str
) -> _Label:
    """Draw the line of one learner, and return its label."""
    places = [place + shift for place in runs]
    means = [float(run.mean()) for run in runs.values()]
    # Rounding can put the mean of equal accuracies outside of them.
    below = [
        max(0.0, mean - float(run.min())) for mean, run in zip(means, runs.values(), strict=True)
    ]
    beyond = [
        max(0.0, float(run.max()) - mean) for mean, run in zip(means, runs.values(), strict=True)
    ]
    colour, marker, dash = LINES[number % len(LINES)]
    style = {
        "color": colour,
        "marker": marker,
        "linestyle": dash,
        "linewidth": 1.3,
        "markersize": 6.5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.8,
    }
    axes.errorbar(places, means, yerr=[below, beyond], capsize=3, elinewidth=1.3, zorder=3, **style)
    return _Label(name, places[-1], means[-1], style)


def _add_labels(axes: Axes, labels: Sequence[_Label], across: float, down: float) -> None:
    """Write each label to the right of the axes, as near to the end of its line as the others let
    it, and join the two with a thin line.

    Parameters
    ----------
    across, down
        The size of the axes in inches.
    """
    low, high = axes.get_ylim()
    right = axes.get_xlim()[1]
    # The lines that end higher have their labels higher; of equal ones, the first.
    order = sorted(range(len(labels)), key=lambda number: -labels[number].y)
    wanted = [(high - labels[number].y) / (high - low) * down for number in order]
    centres = _spread_out(wanted, [labels[number].height + _LABEL_GAP for number in order], down)
    for number, centre in zip(order, centres, strict=True):
        label = labels[number]
        level = 1 - centre / down
        end = (label.y - low) / (high - low)
        start = (label.x - axes.get_xlim()[0]) / (right - axes.get_xlim()[0])
        at = 1 + _LEADER / across
        if not label.style:  # a line outside of the axis
            _write_label(axes, at, level, label.text)
            continue
        axes.plot(
            [start, 1.01, at],
            [end, end, level],
            transform=axes.transAxes,
            clip_on=False,
            color=label.style["color"],
            linewidth=0.6,
            alpha=0.7,
            zorder=1.5,
            label="_leader",
        )
        # The marker of a learner, or a dash of the majority's line.
        sides = (_MARKER / 2,) if label.marked else (0.04, _MARKER - 0.06)
        axes.plot(
            [at + side / across for side in sides],
            [level] * len(sides),
            transform=axes.transAxes,
            clip_on=False,
            label="_sample",
            **{**label.style, **({"linestyle": "none"} if label.marked else {})},
        )
        _write_label(axes, at + _MARKER / across, level, label.text)


def _write_label(axes: Axes, x: float, y: float, text: str) -> None:
    """Write a label from a point to the right, in shares of the axes."""
    axes.text(
        x,
        y,
        text,
        transform=axes.transAxes,
        va="center",
        ha="left",
        fontsize=_LABEL,
        color=INK,
        linespacing=1.1,
        parse_math=False,
    )


def _spread_out(wanted: Sequence[float], sizes: Sequence[float], room: float) -> list[float]:
    """Return the centres of blocks in a row that do not overlap, each as near as can be to where it
    is wanted.

    Parameters
    ----------
    wanted
        The centres wanted, in ascending order.
    sizes
        The length of each block.
    room
        The length of the row; blocks stay in it if they fit at all.
    """
    # Blocks that touch form a group, which stands where the mean of its blocks' wishes is.
    groups: list[tuple[list[int], float, float]] = []  # blocks, start, size
    for number, (centre, size) in enumerate(zip(wanted, sizes, strict=True)):
        group, start, total = [number], _clamp_start(centre - size / 2, size, room), size
        while groups and groups[-1][1] + groups[-1][2] > start:
            before, _, more = groups.pop()
            group, total = before + group, more + total
            offset, wishes = 0.0, []
            for block in group:
                wishes.append(wanted[block] - offset - sizes[block] / 2)
                offset += sizes[block]
            start = _clamp_start(sum(wishes) / len(wishes), total, room)
        groups.append((group, start, total))
    centres: list[float] = []
    for group, start, _ in groups:
        ends = start + np.cumsum([sizes[block] for block in group])
        centres += [float(end) - sizes[block] / 2 for block, end in zip(group, ends, strict=True)]
    return centres


def _clamp_start(start: float, size: float, room: float) -> float:
    return max(0.0, min(start, room - size))


def _add_words(figure: Figure, heading: Sequence[str], caption: str) -> None:
    """Write the title above and the caption below."""
    width, height = figure.get_size_inches()
    words: dict[str, Any] = {"ha": "left", "parse_math": False}
    if heading:
        figure.text(
            _RIGHT / width,
            1 - 0.12 / height,
            "\n".join(heading),
            va="top",
            fontsize=_ACCURACY_TITLE_SIZE,
            fontweight="bold",
            **words,
        )
    text = "\n".join(wrap_text(caption, width - 2 * _RIGHT, _CAPTION))
    figure.text(
        _RIGHT / width, 0.1 / height, text, va="bottom", fontsize=_CAPTION, color=QUIET, **words
    )


def _make_accuracy_caption(numbers: Sequence[int]) -> str:
    """Say what dots and whiskers are, for so many runs at each of the dots."""
    most = max(numbers)
    if most == 1:
        return "Each dot is one run."
    several = f"{most} runs" if min(numbers) == most else f"up to {most} runs"
    return f"Dots: mean of {several}. Whiskers: lowest to highest run."


def _choose_axis_limits(
    accuracies: Any, majority: float | None
) -> tuple[tuple[float, float], bool]:
    """Return the ends of the axis, and whether the majority's line is between them.

    The line is left out where it is so far from all runs that their whiskers would vanish.
    """
    low, high = float(accuracies.min()), float(accuracies.max())
    shown = False
    if majority is not None:
        shown = max(low - majority, majority - high) <= _FAR * max(high - low, _SHORTEST)
    if majority is not None and shown:
        low, high = min(low, majority), max(high, majority)
    margin = max(0.06 * (high - low), (_SHORTEST - (high - low)) / 2)
    return (low - margin, high + margin), shown


def _name_hidden_majority(majority: float, limits: tuple[float, float]) -> str:
    """Name the majority's accuracy where its line is outside of the axis."""
    return f"{'↓' if majority < limits[0] else '↑'} majority class: {majority:.3f}"


def _break_name(name: str) -> str:
    """Break a name into at most three lines that fit beside the axes."""
    lines = wrap_text(name, _WIDEST, _LABEL) or [""]
    return "\n".join(lines if len(lines) <= 3 else [*lines[:2], f"{lines[2]} …"])


def _measure_widest_line(name: str) -> float:
    return max(text_width(line, _LABEL) for line in name.split("\n"))


def _format_epsilon(epsilon: float) -> str:
    return "∞\n(no noise)" if math.isinf(epsilon) else f"{epsilon:.6g}"


def _check_accuracy_table(table: Any) -> None:
    if missing := [name for name in _ACCURACY_COLUMNS if name not in table.columns]:
        raise ParameterError(
            f"accuracy_over_epsilon: table must have the columns {', '.join(_ACCURACY_COLUMNS)}; "
            f"{missing[0]!r} is missing"
        )
    if not len(table):
        raise ParameterError("accuracy_over_epsilon: table must have at least one line")
    epsilon, accuracy = (table[name].to_numpy(dtype=float) for name in _ACCURACY_COLUMNS[1:])
    if not (epsilon > 0).all():
        raise ParameterError("accuracy_over_epsilon: epsilon must be above zero in every line")
    if not np.isfinite(accuracy).all():
        raise ParameterError(
            "accuracy_over_epsilon: accuracy must be a finite number in every line"
        )
