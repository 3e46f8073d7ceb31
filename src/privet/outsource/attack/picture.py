"""Draw what an attack on an outsourced table learns: how often it is right, and how sure it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from privet.report.plots.style import INK, QUIET, fill_style, need_matplotlib
from privet.text import escape_invisible

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DASHES = (0, (5, 4))
_TICKS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
#: Over the axes, at a place of its horizontal scale.
_ABOVE: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points"}


class _Population(Protocol):
    """What could be told without groups; see :class:`privet.outsource.attack.Population`."""

    @property
    def accuracy(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def in_group(self) -> float: ...


class _Score(Protocol):
    """How an attack did; see :class:`privet.outsource.attack.Score`. Pictures stand below what they
    show.
    """

    @property
    def n_rows(self) -> int: ...
    @property
    def n_groups(self) -> int: ...
    @property
    def l(self) -> int: ...  # noqa: E743 - its name everywhere
    @property
    def bound(self) -> float: ...
    @property
    def known(self) -> int: ...
    @property
    def accuracy(self) -> float: ...
    @property
    def interval(self) -> tuple[float, float]: ...
    @property
    def random_guess(self) -> float: ...
    @property
    def renamed(self) -> float: ...
    @property
    def names_open(self) -> bool: ...
    @property
    def at_least_confident(self) -> float: ...
    @property
    def histogram(self) -> Sequence[int]: ...
    @property
    def population(self) -> _Population | None: ...


def draw_attack(score: _Score, title: str = "") -> Figure:
    """Draw accuracies beside what l-diversity suggests, and the probability that true values got.

    Args:
        score: of :func:`privet.outsource.attack.score`.
        title: stands above.
    """
    need_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    _draw_accuracies(left, score)
    _draw_certainties(right, score)
    if title:
        text = figure.suptitle(escape_invisible(title), x=0.01, ha="left", fontweight="bold")
        text.set_parse_math(False)
    figure.supxlabel(_make_caption(score), x=0.01, ha="left", fontsize=8.5, color="#4a4a4a")
    return figure


def _draw_accuracies(axes: Axes, score: _Score) -> None:
    bars: list[tuple[str, float, tuple[float, float] | None, int]] = [
        ("a random guess\nin the group", score.random_guess, None, 3)
    ]
    if score.population is not None:
        bars.append(
            (
                "learnt from other people,\nwithout the group",
                score.population.accuracy,
                score.population.interval,
                5,
            )
        )
        bars.append(
            ("learnt from other people,\nwith the group", score.population.in_group, None, 1)
        )
    bars.append(("the attack:\nlearnt from groups alone", score.accuracy, score.interval, 0))
    if score.names_open:
        bars.append(("the attack, once it is\nknown which value is which", score.renamed, None, 2))
    for place, (_, length, interval, number) in enumerate(bars):
        axes.barh(place, length, height=0.62, **fill_style(number))
        end = length
        if interval is not None:
            low, end = interval
            axes.plot(
                [low, end],
                [place, place],
                color="white",
                linewidth=3.6,
                solid_capstyle="butt",
                zorder=3,
            )
            axes.plot(
                [low, end],
                [place, place],
                color=INK,
                linewidth=1.4,
                marker="|",
                markersize=8,
                zorder=4,
            )
        axes.text(
            end + 0.025,
            place,
            f"{length:.1%}",
            ha="left",
            va="center",
            fontsize=9.5,
            zorder=5,
            bbox=_label_background(),
        )
    # so that the dashes stand out from a dark bar
    axes.axvline(score.bound, color="white", linewidth=2.6, alpha=0.7, zorder=2.4)
    axes.axvline(score.bound, color=INK, linestyle=_DASHES, linewidth=1.2, zorder=2.5)
    axes.set_yticks(range(len(bars)), [label for label, *_ in bars], fontsize=9)
    axes.set_ylim(len(bars) - 0.45, -0.55)
    axes.set_xlim(0, 1.17)
    axes.set_xticks(_TICKS, [f"{share:.0%}" for share in _TICKS])
    axes.set_xlabel("share of people whose value is guessed right")
    _draw_bound_and_grid(axes, score, "x")


def _draw_certainties(axes: Axes, score: _Score) -> None:
    edges = np.linspace(0, 1, len(score.histogram) + 1)
    shares = np.array(score.histogram) / score.n_rows
    sure = edges[:-1] >= 0.9 - 1e-9
    for chosen, number in ((~sure, 5), (sure, 0)):
        axes.bar(
            edges[:-1][chosen],
            shares[chosen],
            width=np.diff(edges)[chosen],
            align="edge",
            **fill_style(number),
        )
    axes.axvline(score.bound, color=INK, linestyle=_DASHES, linewidth=1.2)
    exposed = (
        f"{score.at_least_confident:.1%} of people\nare exposed: their\ntrue value got\n0.9 or more"
    )
    if score.names_open:
        exposed += "\n(which value\nis which was\nguessed)"
    axes.text(0.88, 0.97, exposed, ha="right", va="top", fontsize=9.5, bbox=_label_background())
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.set_yticks(_TICKS, [f"{share:.0%}" for share in _TICKS])
    axes.set_xlabel("probability that the attack gives to the true value")
    axes.set_ylabel("share of people")
    _draw_bound_and_grid(axes, score, "y")


def _draw_bound_and_grid(axes: Axes, score: _Score, along: Literal["x", "y"]) -> None:
    axes.annotate(
        f"1/l = {score.bound:.3g}",
        (score.bound, 1),
        (0, 3),
        **_ABOVE,
        ha="center",
        va="bottom",
        fontsize=9,
    )
    axes.grid(axis=along, color="#dcdcdc", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(QUIET)


def _label_background() -> dict[str, Any]:
    return {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.2}


def _make_caption(score: _Score) -> str:
    told = f"{score.n_rows:,} people in {score.n_groups:,} groups, l = {score.l}; "
    knows = (
        "the adversary knew nobody beforehand"
        if not score.known
        else f"the adversary knew {score.known} people beforehand"
    )
    return f"{told}{knows}; whiskers: 19 in 20. This is anatomization, not differential privacy."
