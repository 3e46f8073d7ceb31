"""The page of the results, and whether all is as it should be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.bench.membership.attack import SHADOWS
from experiments.bench.membership.contestants import EPSILONS
from experiments.bench.membership.found import GRID, Found, advantage_bound, tpr_bound
from experiments.bench.membership.game import KINDS
from experiments.bench.membership.picture import draw
from experiments.bench.membership.results import Task
from experiments.bench.membership.words import AREAS, EVENTS, INTRODUCTION
from privet.report.plots import save_figure

#: For all private learners together.
CONFIDENCE = 0.999


@dataclass(frozen=True)
class Verdict:
    """What is not as it should be: promises that are refuted, and attacks that fail although
    nothing was promised.
    """

    refuted: tuple[Task, ...]
    failed: tuple[Task, ...]

    def describe(self) -> str:
        said = [
            f"{task.learner} on {task.data} is REFUTED at epsilon {task.epsilon:g}"
            for task in self.refuted
        ]
        said += [
            f"the attack on {task.learner} without noise on {task.data} does NOT exceed the bounds"
            for task in self.failed
        ]
        return "; ".join(said) or (
            "Every private learner stays within what its epsilon allows, and every one without a "
            "promise exceeds it."
        )


def verdict_of(found: Mapping[Task, Found]) -> Verdict:
    """Learners without a promise must exceed what the largest epsilon allows."""
    confidence, most = each(found), max(EPSILONS)
    refuted = (
        task
        for task, one in found.items()
        if task.private and not one.within(task.epsilon, confidence)
    )
    failed = (
        task for task, one in found.items() if not task.private and one.within(most, CONFIDENCE)
    )
    return Verdict(tuple(refuted), tuple(failed))


def each(found: Mapping[Task, Found]) -> float:
    """The confidence of each test of a promise, so that all of them together are as sure as they
    should be.
    """
    return 1 - (1 - CONFIDENCE) / max(1, sum(task.private for task in found))


def write(found: Mapping[Task, Found], out: Path) -> Verdict:
    """Write membership.md and membership.svg."""
    verdict = verdict_of(found)
    save_figure(draw(found), out / "membership.svg")
    attacked = {
        private: {
            one.members + one.others for task, one in found.items() if task.private == private
        }
        for private in (True, False)
    }
    models, open_models = (
        " or ".join(f"{number:,}" for number in sorted(attacked[private])) or "No"
        for private in (True, False)
    )
    data = ", ".join(dict.fromkeys(task.data for task in found))
    facts = {
        "data": data,
        "models": models,
        "open_models": open_models,
        "shadows": SHADOWS,
        "areas": _largest(found),
    }
    text = INTRODUCTION.format(verdict=verdict.describe(), **facts)
    (out / "membership.md").write_text(text + _areas(found) + _events(found), encoding="utf-8")
    return verdict


def _largest(found: Mapping[Task, Found]) -> str:
    """The largest area under a curve of a private learner, for each epsilon; means over data sets,
    as in the table.
    """
    told = []
    for epsilon in sorted({task.epsilon for task in found if task.private}):
        areas = (
            _mean_area(found, epsilon, learner, kind)
            for learner in dict.fromkeys(task.learner for task in found)
            for kind in KINDS
        )
        told.append(f"{_short(np.nanmax(list(areas)))} at epsilon {epsilon:g}")
    return ", ".join(told)


def _mean_area(found: Mapping[Task, Found], epsilon: float, learner: str, kind: str) -> float:
    areas = [
        one.auc[kind]
        for task, one in found.items()
        if (task.epsilon, task.learner) == (epsilon, learner)
    ]
    return float(np.mean(areas)) if areas else math.nan


def _areas(found: Mapping[Task, Found]) -> str:
    """Areas under the curve and true positive rates at a low false positive rate, over the data
    sets.
    """
    told = [
        "| learner | epsilon | "
        + " | ".join(f"AUC, {kind}" for kind in KINDS)
        + " | TPR at FPR 1% | allowed |"
    ]
    told.append("|---|---:|" + "---:|" * (len(KINDS) + 2))
    for epsilon, learner in dict.fromkeys((task.epsilon, task.learner) for task in found):
        here = [
            one for task, one in found.items() if (task.epsilon, task.learner) == (epsilon, learner)
        ]
        areas = " | ".join(_short(_mean_area(found, epsilon, learner, kind)) for kind in KINDS)
        low = float(np.mean([one.curve[0] for one in here]))
        most = _short(tpr_bound(epsilon, GRID[0])) if epsilon < math.inf else ""
        told.append(f"| {learner} | {_epsilon(epsilon)} | {areas} | {_short(low)} | {most} |")
    others = sum(one.others for task, one in found.items() if task.private) / max(
        1, len({task[1:] for task in found if task.private})
    )
    return AREAS.format(mistaken=round(others * 8 * GRID[0])) + "\n".join(told) + "\n"


def _events(found: Mapping[Task, Found]) -> str:
    """The chosen event of each attack."""
    told = [
        "| learner | epsilon | data | target | TPR | FPR | advantage | allowed | epsilon at least |",  # noqa: E501
        "|---|---:|---|---|---|---|---|---:|---:|",
    ]
    for task, one in found.items():
        confidence = each(found) if task.private else CONFIDENCE
        tpr, fpr = one.rates(confidence)
        cells = " | ".join(
            _interval(interval) for interval in (tpr, fpr, one.advantage(confidence))
        )
        bound = _short(advantage_bound(task.epsilon)) if task.private else ""
        shown = math.floor(100 * one.epsilon(confidence)) / 100
        told.append(
            f"| {task.learner} | {_epsilon(task.epsilon)} | {task.data} | {one.kind} | {cells} | "
            f"{bound} | {shown:.2f} |"
        )
    return (
        EVENTS.format(each=f"{each(found):.4%}", all=f"{CONFIDENCE:.1%}") + "\n".join(told) + "\n"
    )


def _interval(interval: tuple[float, float, float]) -> str:
    low, middle, high = interval
    return f"{_short(middle)} ({_short(low)} to {_short(high)})"


def _epsilon(epsilon: float) -> str:
    return f"{epsilon:g}" if epsilon < math.inf else "none"


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)
