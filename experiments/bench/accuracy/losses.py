"""Every cell that is lost against the best peer, with the reason where losses.toml has one."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

from experiments.bench.accuracy.contestants import delta_of
from experiments.bench.accuracy.markdown import show_figure, table_line
from experiments.bench.accuracy.measures import MEASURES
from experiments.bench.accuracy.standing import BATTLES, yardsticks
from experiments.bench.accuracy.summary import Duel, Summary

FILE = Path(__file__).with_name("losses.toml")
#: By data set and measure: a reason for every epsilon, or one by epsilon.
Reasons = dict[str, dict[str, str | dict[str, str]]]
HEAD = (
    *("data", "measure", "learner", "epsilon", "ours", "peer", "its delta", "theirs"),
    *("difference", "reason"),
)


def losses(
    summary: Summary, ours: Sequence[str], epsilons: Sequence[float], reasons: Reasons
) -> str:
    """The section of losses."""
    lost = [
        duel
        for learner in ours
        for measure in BATTLES
        # a pure peer that is also the best of all is listed once
        for duel in dict.fromkeys(
            duel
            for peers in yardsticks(learner).values()
            for duel in summary.duels(learner, measure, peers)
        )
        if duel.outcome < 0 and duel.epsilon in epsilons
    ]
    lines = [
        "## Losses",
        "",
        "Every cell that is lost against the best peer; for pure epsilon also every cell that is",
        "lost against the best pure peer. Reasons are written by hand after a check, in",
        "`experiments/bench/accuracy/losses.toml`; a cell without one was not looked into yet.",
        "",
    ]
    if not lost:
        return "\n".join([*lines, "There are none.", ""])
    lines += [table_line(HEAD), "|---|---|---|" + "---:|" * 6 + "---|"]
    lines += [_loss_line(duel, reason_for(duel, reasons)) for duel in lost]
    return "\n".join([*lines, ""])


def read_reasons(path: Path, data_sets: Iterable[str]) -> Reasons:
    """Read the reasons; data sets and measures must exist."""
    reasons: Reasons = tomllib.loads(path.read_text(encoding="utf-8"))
    measures = [measure.name for measure in MEASURES]
    known = set(data_sets)
    for data, by_measure in reasons.items():
        if data not in known:
            raise ValueError(f"{path.name}: there is no data set {data!r}")
        if unknown := set(by_measure) - set(measures):
            raise ValueError(
                f"{path.name}: [{data}] has {min(unknown)!r}, which is none of the measures "
                f"{', '.join(measures)}"
            )
    return reasons


def reason_for(duel: Duel, reasons: Reasons) -> str:
    """Return why a cell is lost, or nothing where that is not known."""
    reason = reasons.get(duel.data, {}).get(duel.measure.name, "")
    return reason if isinstance(reason, str) else reason.get(f"{duel.epsilon:g}", "")


def _loss_line(duel: Duel, reason: str) -> str:
    difference = f"{show_figure(duel.difference)} ± {show_figure(duel.margin)}"
    return table_line(
        [
            *(duel.data, duel.measure.title, duel.learner, f"{duel.epsilon:g}"),
            *(show_figure(duel.ours), duel.peer, f"{delta_of(duel.peer):g}"),
            *(show_figure(duel.theirs), difference, reason),
        ]
    )
