"""One line per attack, in a CSV file: what is in it is not done again."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from experiments.bench.membership.found import Found


class Task(NamedTuple):
    """A data set, a learner, and the epsilon that it claims; infinite where it claims none."""

    data: str
    learner: str
    epsilon: float

    @property
    def private(self) -> bool:
        return self.epsilon < math.inf


@dataclass
class Results:
    """All attacks of a file."""

    path: Path
    found: dict[Task, Found]

    @classmethod
    def read(cls, path: Path) -> Results:
        if not path.exists():
            return cls(path, {})
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(csv.DictReader(file))
        return cls(
            path,
            {
                Task(line["data"], line["learner"], float(line["epsilon"])): Found.of(line)
                for line in lines
            },
        )

    def add(self, task: Task, found: Found) -> None:
        """Keep it, at once: the whole file anew, beside the old one until it is complete."""
        self.found[task] = found
        lines = [{**task._asdict(), **one.record()} for task, one in sorted(self.found.items())]
        self.path.parent.mkdir(parents=True, exist_ok=True)
        new = self.path.with_suffix(".new")
        with new.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)
        new.replace(self.path)
