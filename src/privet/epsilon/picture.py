"""Draw what changes with epsilon, with the epsilons that were asked about marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from privet.accounting.cost import Number
from privet.domain import Schema
from privet.epsilon.expected import Expected, Range
from privet.epsilon.explanation import Explanation, Setting, explain
from privet.epsilon.noise_on_counts import check_probability
from privet.epsilon.wording import format_epsilon, format_percent
from privet.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_STEPS, _WIDTH, _SMALL = 80, 9.6, 8.5


def draw_epsilon(
    epsilons: Sequence[Number], schema: Schema | None = None, setting: Setting | None = None
) -> Figure:
    """Draw four panels over epsilon: beliefs, attacks, rows needed, and expected accuracy.

    Without a number of rows, the last is the noise on a count.

    Parameters
    ----------
    epsilons
        Those to mark, for one row; the axis reaches from 0.01 to 10, and as far as these.
    schema, setting
        See :func:`~privet.epsilon.explain`.
    """
    from privet.report.plots.style import QUIET, need_matplotlib, wrap_text

    need_matplotlib()
    from matplotlib.figure import Figure

    if not epsilons:
        raise ParameterError("draw_epsilon: epsilons must hold at least one epsilon")
    setting = setting or Setting()
    marked = [float(explain(epsilon, schema, setting).losses.row) for epsilon in epsilons]
    low, high = min(0.01, *marked), max(10.0, *marked)
    over = [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]
    explanations = [explain(epsilon, schema, setting) for epsilon in over]
    figure = Figure(figsize=(_WIDTH, 7.4), layout="constrained")
    panels = list(figure.subplots(2, 2).flat)
    _plot_beliefs(panels[0], explanations)
    _plot_attacks(panels[1], explanations, setting)
    _plot_rows_needed(panels[2], explanations)
    (_plot_expected if explanations[0].expected else _plot_noise)(panels[3], explanations, setting)
    for axes in panels:
        _finish(axes, low, high, marked)
    rows = explanations[0].rows
    figure.suptitle(
        f"What epsilon means{'' if rows is None else f' for a table of {rows:,} rows'}",
        x=0.01,
        ha="left",
        fontweight="bold",
    )
    text = (
        "Dashed: the epsilons asked about, for one row added or removed. "
        f"{_describe_people(schema)}"
    )
    figure.supxlabel(
        "\n".join(wrap_text(text, _WIDTH, _SMALL)), x=0.01, ha="left", fontsize=_SMALL, color=QUIET
    )
    return figure


def _plot_beliefs(axes: Axes, found: Sequence[Explanation]) -> None:
    for place, belief in enumerate(found[0].beliefs):
        _plot(
            axes,
            found,
            lambda one, place=place: one.beliefs[place].in_table,
            place,
            f"from {format_percent(belief.prior)} before",
        )
    _format_share_axis(axes)
    axes.set_title(
        "What somebody can believe at most: that you are in\nthe table (Lee and Clifton)",
        loc="left",
        fontsize=10,
    )


def _plot_attacks(axes: Axes, found: Sequence[Explanation], setting: Setting) -> None:
    level = format_percent(check_probability("false_alarms", setting.false_alarms))
    _plot(
        axes, found, lambda one: one.attack.guess, 0, "a guess whether you are in it (a coin: 50%)"
    )
    _plot(
        axes,
        found,
        lambda one: one.attack.test,
        1,
        f"a test that wrongly flags {level} of those outside",
    )
    near = (
        "is exactly right" if setting.tolerance == 0 else f"is off by at most {setting.tolerance:,}"
    )
    _plot(axes, found, lambda one: one.attack.exact_count, 2, f"a noisy count {near}")
    _format_share_axis(axes)
    axes.set_title(
        "How often an attack succeeds, at most\n(He et al.; Wasserman and Zhou)",
        loc="left",
        fontsize=10,
    )


def _plot_rows_needed(axes: Axes, found: Sequence[Explanation]) -> None:
    from matplotlib.ticker import LogLocator

    _plot(
        axes,
        found,
        lambda one: one.trial.ratio,
        0,
        f"a test that needs {found[0].trial.without:,} rows without noise",
    )
    if found[0].share is not None:
        _plot(
            axes,
            found,
            lambda one: one.share.ratio if one.share else None,
            1,
            f"a share as precise as from {found[0].rows:,} rows",
        )
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda times, _: f"{times:g}x")
    axes.yaxis.set_minor_formatter(lambda *_: "")
    axes.set_title(
        "Times the rows for the same accuracy\n(Vu and Slavkovic)", loc="left", fontsize=10
    )


def _plot_expected(axes: Axes, found: Sequence[Explanation], setting: Setting) -> None:
    for place, learner in enumerate(found[0].expected):
        _plot(
            axes,
            found,
            lambda one, place=place: _range_of(one.expected[place]).middle,
            place,
            f"{learner.learner}, median" + (" (range: grey)" if place == 0 else ""),
        )
    ranges = [_range_of(one.expected[0]) for one in found]
    axes.fill_between(
        [float(one.losses.row) for one in found],
        [one.low for one in ranges],
        [one.high for one in ranges],
        color="#c9d3df",
        alpha=0.5,
        linewidth=0,
    )
    _format_share_axis(axes)
    axes.set_ylim(bottom=min(-0.02, *(one.low - 0.02 for one in ranges)))
    title = (
        "Share of what can be learnt that a model keeps,"
        if setting.majority is None
        else "Accuracy, with "
        f"{format_percent(check_probability('majority', setting.majority))} in the largest class,"
    )
    axes.set_title(f"{title}\nin 9 of 10 public tables", loc="left", fontsize=10)


def _range_of(expected: Expected) -> Range:
    """Return the range of the accuracy where there is one, and else that of the share kept."""
    return expected.accuracy or Range(expected.low, expected.middle, expected.high)


def _plot_noise(axes: Axes, found: Sequence[Explanation], setting: Setting) -> None:
    often = format_percent(check_probability("confidence", setting.confidence))
    _plot(
        axes,
        found,
        lambda one: one.noise.margin + 1,
        0,
        f"{often} of noisy counts are off by less than this",
    )
    _plot(axes, found, lambda one: one.noise.deviation, 1, "standard deviation")
    axes.set_yscale("log")
    axes.set_ylim(bottom=0.3)
    axes.yaxis.set_major_formatter(lambda rows, _: f"{rows:,.3g}")
    axes.set_title("The noise on a count, in rows\n", loc="left", fontsize=10)


def _plot(
    axes: Axes, found: Sequence[Explanation], value: Callable[..., Any], number: int, label: str
) -> None:
    from privet.report.plots.curves import LINES

    colour, _, dash = LINES[number % len(LINES)]
    axes.plot(
        [float(one.losses.row) for one in found],
        [value(one) for one in found],
        color=colour,
        linestyle=dash,
        linewidth=1.8,
        label=label,
    )


def _format_share_axis(axes: Axes) -> None:
    axes.set_ylim(-0.02, 1.02)
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")


def _finish(axes: Axes, low: float, high: float, marked: Sequence[float]) -> None:
    from privet.report.plots.style import INK

    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.xaxis.set_major_formatter(lambda epsilon, _: format_epsilon(epsilon))
    axes.set_xlabel("epsilon")
    axes.grid(color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    for epsilon in marked:
        axes.axvline(epsilon, color=INK, linestyle=(0, (5, 4)), linewidth=1.0, zorder=1)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(
        frameon=False,
        fontsize=_SMALL,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.18),
        ncols=1,
        handlelength=3,
    )


def _describe_people(schema: Schema | None) -> str:
    if schema is None or (schema.rows_per_person == 1 and schema.neighbours == "add-remove"):
        return "One row per person."
    replaced = ", and a person may be replaced by another" if schema.neighbours == "replace" else ""
    return (
        f"The schema declares {schema.rows_per_person:,} rows per person at most{replaced}; "
        "beliefs and guesses are about one person."
    )
