"""Results: one line per experiment, fold and learner, and the file that they are in."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.papers.anatomy.equation import (
    LINES,
    PREDICTIONS,
    amortise,
    compare_lines,
    name_line,
)
from experiments.papers.anatomy.experiments import Experiment

Line = dict[str, Any]
LEARNERS = ("cdbsl", "cdtl", "cdtl-threshold", "cnl")
#: The same again in other ways: trees with their tuples, as in the paper, and 200 predictions in an
#: exchange.
VARIANTS = ("cdtl-tuples", "cnl-tuples", "cdtl-batches", "cnl-batches")
_COUNTED = ("requests", "waited", "sent", "received", "sealed", "opened")
#: Of a learner to cnl on the same fold; empty for cdbsl and cnl.
RATIOS = (
    "time_ratio",
    "cpu_ratio",
    "largest_leaf_ratio",
    "rows_held_ratio",
    "peak_ratio",
    *(name_line(*line) for line in LINES),
    *(f"equation_ratio_after_{n}" for n in PREDICTIONS),
)
COLUMNS = (
    *(
        "experiment",
        "data",
        "sensitive",
        "splits",
        "sample",
        "fold",
        "learner",
        "train_rows",
        "test_rows",
        "accuracy",
    ),
    *(
        "server_grow_seconds",
        "learn_seconds",
        "predict_seconds",
        "seconds",
        "cpu_seconds",
    ),
    *_COUNTED,
    *(f"{name}_each" for name in _COUNTED),
    *("refined", "leaves", "leaf_size", "largest_leaf", "rows_held", "peak_bytes"),
    *RATIOS,
)


def lines(
    experiment: Experiment, fold: int, train: int, test: int, answers: dict[str, dict[str, Any]]
) -> list[Line]:
    """The lines of one fold, from what its clients measured."""
    head = {name: getattr(experiment, name) for name in ("data", "sensitive", "splits", "sample")}
    head = {
        "experiment": experiment.number,
        **head,
        "fold": fold + 1,
        "train_rows": train,
        "test_rows": test,
    }
    asked = dict(zip(LEARNERS, ("cdbsl", "cdtl", "threshold", "cnl"), strict=True))
    asked |= {learner: learner for learner in VARIANTS}
    made = {
        learner: {**head, "learner": learner, **_costs(answers[client], test)}
        for learner, client in asked.items()
    }
    made["cdbsl"]["server_grow_seconds"] = answers["cdbsl"]["grow"]["seconds"]
    made["cdtl"]["server_grow_seconds"] = answers["cdbsl"]["grow"]["seconds"]  # the same tree
    made["cdtl"]["peak_bytes"], made["cnl"]["peak_bytes"] = (
        answers["traced"]["cdtl"],
        answers["traced"]["cnl"],
    )
    for learner, other in (
        ("cdtl", "cnl"),
        ("cdtl-threshold", "cnl"),
        ("cdtl-tuples", "cnl-tuples"),
        ("cdtl-batches", "cnl-batches"),
    ):
        made[learner] |= _ratios(made[learner], made[other], train)
        ours, naive = answers[asked[learner]], answers[other]
        steps = [ours[name] for name in ("learn", "predict") if name in ours]
        made[learner] |= compare_lines(steps, [naive["learn"], naive["predict"]])
        if "parts" in ours:
            made[learner] |= amortise(ours, naive, test)
    return [{name: made[learner].get(name) for name in COLUMNS} for learner in asked]


def _costs(answer: dict[str, Any], test: int) -> Line:
    steps = [answer[name] for name in ("learn", "predict") if name in answer]

    def total(name: str) -> float:
        return sum(step[name] for step in steps)  # type: ignore[no-any-return]

    tree = answer.get("tree", {})
    return {
        "accuracy": answer["right"] / test,
        "learn_seconds": answer["learn"]["seconds"] if "learn" in answer else None,
        "predict_seconds": answer["predict"]["seconds"],
        "seconds": total("seconds"),
        "cpu_seconds": total("cpu"),
        **{name: total(name) for name in _COUNTED},
        **{f"{name}_each": total(name) / test for name in _COUNTED},
        "refined": total("refined"),
        "rows_held": max(step["rows_held"] for step in steps),
        "leaves": tree.get("leaves"),
        "leaf_size": tree.get("leaf_size"),
        "largest_leaf": tree.get("largest"),
    }


def _ratios(ours: Line, naive: Line, train: int) -> Line:
    peak = ours.get("peak_bytes")
    return {
        "time_ratio": ours["seconds"] / naive["seconds"],
        "cpu_ratio": ours["cpu_seconds"] / naive["cpu_seconds"],
        "largest_leaf_ratio": ours["largest_leaf"] / train,
        "rows_held_ratio": ours["rows_held"] / naive["rows_held"],
        "peak_ratio": None if peak is None else peak / naive["peak_bytes"],
    }


def write_csv(rows: Sequence[Line], path: Path) -> None:
    """All lines as a CSV file; six digits are more than any of the numbers is worth."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    )
    path.write_text(text.getvalue(), encoding="utf-8")
