"""The page and the picture of the results."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from experiments.bench.publish.comparison import BEGIN
from experiments.bench.publish.contestants import CONTESTANTS
from privet.report.plots import draw_curves, save_figure

_TEXT = """# Trees from published data

Made by `python -m experiments.bench.publish`; the runs are in [publish.csv](publish.csv). Folds {folds} of a
stratified 5-fold split, the number of training rows declared public,
pure epsilon for one row added or removed (central, synthetic) or one record replaced (local).

- **central**: a curator answers the learner: the default learner, and random trees.
- **synthetic**: `pv.publish.synthesize` spends all of epsilon; then our default learner without noise, or scikit-learn's
  `HistGradientBoostingClassifier` with its own settings, is trained on the synthetic rows and answers for real ones.
- **local**: every person randomises their own record with all of epsilon; a greedy tree (two attributes each), additive terms
  (one attribute each) and ten random trees of height 1 (one leaf each) are learnt from the reports alone.

![Accuracy over epsilon](publish.svg)

A curator that answers one learner is the most accurate at every epsilon: it asks only what that learner needs. Synthetic rows come close
where the class follows single attributes and a few pairs (adult), and lose what three attributes say together (car, nursery). Randomised
records need an epsilon of 4 or more at these sizes; below 1 there is next to nothing to learn, and even the most frequent class may be
mistaken.
"""  # noqa: E501


def write(rows: list[dict], out: Path) -> list[str]:
    """Write publish.md and publish.svg."""
    panels = {}
    for data in dict.fromkeys(row["data"] for row in rows):
        runs = [
            (name, row["epsilon"], row["accuracy"])
            for name in CONTESTANTS
            for row in rows
            if (row["data"], row["contestant"]) == (data, name)
        ]
        panels[data] = runs
    majority = {
        data: np.mean([row["majority"] for row in rows if row["data"] == data]) for data in panels
    }
    titled = {
        f"{data} (most frequent class {majority[data]:.3f})": runs for data, runs in panels.items()
    }
    figure = draw_curves(
        titled,
        parameter="epsilon",
        measure="accuracy on held-out rows",
        title="Trees from published data",
        columns=3,
    )
    save_figure(figure, out / "publish.svg")
    folds = ", ".join(str(fold + 1) for fold in sorted({row["fold"] for row in rows}))
    text = (
        _TEXT.format(folds=folds) + "".join(_table(rows, data) for data in panels) + _seconds(rows)
    )
    page = out / "publish.md"
    if page.exists() and BEGIN in (before := page.read_text(encoding="utf-8")):
        text += "\n" + BEGIN + before.split(BEGIN)[1]  # the comparison has a command of its own
    page.write_text(text, encoding="utf-8")
    return [str(out / "publish.md"), str(out / "publish.svg")]


def _table(rows: list[dict], data: str) -> str:
    epsilons = sorted({row["epsilon"] for row in rows if row["data"] == data})
    lines = [
        f"\n## {data}\n",
        "| accuracy | " + " | ".join(f"{epsilon:g}" for epsilon in epsilons) + " |",
        "|---" + "|---:" * len(epsilons) + "|",
    ]
    two = all(np.isfinite(row["auc"]) for row in rows if row["data"] == data)
    for name in CONTESTANTS:
        cells = []
        for epsilon in epsilons:
            found = [
                row
                for row in rows
                if (row["data"], row["epsilon"], row["contestant"]) == (data, epsilon, name)
            ]
            if not found:
                cells.append("")
                continue
            accuracy, auc = (
                np.mean([row[field] for row in found]) for field in ("accuracy", "auc")
            )
            cells.append(_short(accuracy) + (f" ({_short(auc)})" if two else ""))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n" + ("\nIn brackets: area under the ROC curve.\n" if two else "")


def _seconds(rows: list[dict]) -> str:
    """Of the largest table, where time matters."""
    largest = "adult" if any(row["data"] == "adult" for row in rows) else rows[0]["data"]
    lines = [
        f"\n## Seconds of a run on {largest}\n",
        "| from rows to answers | seconds |",
        "|---|---:|",
    ]
    for name in CONTESTANTS:
        took = [
            row["seconds"] for row in rows if (row["data"], row["contestant"]) == (largest, name)
        ]
        lines += [f"| {name} | {np.median(took):.1f} |"] if took else []
    return "\n".join(lines) + "\n"


def _short(value: float) -> str:
    return f"{value:.3f}".replace("0.", ".", 1)
