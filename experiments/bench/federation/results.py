"""One line per measured accuracy, in a CSV file that is only ever added to, so that an interrupted
run goes on where it was.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

COLUMNS = (
    "experiment",
    "data",
    "repeat",
    "fold",
    "case",
    "recipe",
    "way",
    "parties",
    "epsilon",
    "accuracy",
    "auroc",
    "warns",
)
Row = dict[str, Any]
#: What is run at a time: experiment, data set, repeat, fold.
Task = tuple[str, str, int, int]


class Results:
    """The lines of one file. What one task found is written at once; a part of it, which an
    interruption left, is dropped.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rows: dict[Task, list[Row]] = {}
        if path.exists():
            with path.open(newline="") as file:
                for row in csv.DictReader(file):
                    self._rows.setdefault(_task(row), []).append(row)

    def done(self, task: Task) -> bool:
        return task in self._rows

    def add(self, task: Task, rows: Iterable[Row]) -> None:
        keys = dict(zip(COLUMNS[:4], task, strict=True))
        self._rows[task] = [dict.fromkeys(COLUMNS, "") | keys | row for row in rows]
        self._write()

    def table(self, tasks: Sequence[Task]) -> pd.DataFrame:
        """What these tasks found."""
        found = pd.DataFrame(
            [row for task in tasks for row in self._rows[task]], columns=list(COLUMNS)
        )
        for name in ("repeat", "fold", "parties", "epsilon", "accuracy", "auroc", "warns"):
            found[name] = pd.to_numeric(found[name].replace("nan", ""))  # as a file has it
        return found

    def _write(self) -> None:
        """The whole file anew, beside the old one until it is complete."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(row for task in sorted(self._rows) for row in self._rows[task])
        new.replace(self.path)


def _task(row: Row) -> Task:
    return row["experiment"], row["data"], int(row["repeat"]), int(row["fold"])
