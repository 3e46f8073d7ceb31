"""Measurements, and the CSV file that keeps them."""

from __future__ import annotations

import csv
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

#: The section of ``privet fit`` on a large file; it is measured apart, and kept when the rest is
#: measured anew.
OUT_OF_CORE = "out of core"


@dataclass(frozen=True)
class Task:
    """What is measured: a contestant on a table. ``shape``: trees with a child for each value, or
    with two children.
    """

    section: str
    contestant: str
    shape: str = ""
    rows: int = 0
    attributes: int = 0
    trees: int = 0


@dataclass(frozen=True)
class Measurement(Task):
    """A task with its times in seconds, how many they were, its peak of memory in bytes above what
    was there before, and the least CPU seconds of its process.

    Without a time, ``note`` says why; for facts about the machine it is the fact.
    """

    best: float | None = None
    median: float | None = None
    runs: int = 0
    bytes: int | None = None
    note: str = ""
    cpu: float | None = None


@dataclass(frozen=True)
class Run:
    """What one process found: seconds and bytes, or what went wrong."""

    task: Task
    seconds: tuple[float, ...] = ()
    bytes: int | None = None
    note: str = ""
    cpu: float | None = None


def pooled(runs: Iterable[Run]) -> list[Measurement]:
    """One measurement for each task, of all processes that did it: their times together, and the
    larger peak.
    """
    by_task: dict[Task, list[Run]] = {}
    for run in runs:
        by_task.setdefault(run.task, []).append(run)
    found = []
    for task, mine in by_task.items():
        seconds = [second for run in mine for second in run.seconds]
        peaks = [run.bytes for run in mine if run.bytes is not None]
        found.append(
            Measurement(
                **asdict(task),
                best=min(seconds) if seconds else None,
                median=statistics.median(seconds) if seconds else None,
                runs=len(seconds),
                bytes=max(peaks) if peaks else None,
                note="; ".join(dict.fromkeys(run.note for run in mine if run.note)),
                cpu=min((run.cpu for run in mine if run.cpu is not None), default=None),
            )
        )
    return found


def write(path: Path, measurements: Sequence[Measurement]) -> None:
    """All measurements into a CSV file, times to six digits."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(
            file, [field.name for field in fields(Measurement)], lineterminator="\n"
        )
        writer.writeheader()
        for measurement in measurements:
            writer.writerow({name: _text(value) for name, value in asdict(measurement).items()})


def read(path: Path) -> list[Measurement]:
    """All measurements of a CSV file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [_measurement(line) for line in csv.DictReader(file)]


def replaced(old: Sequence[Measurement], new: Sequence[Measurement]) -> list[Measurement]:
    """The new measurements, and the old ones of sections that the new ones do not have."""
    sections = {measurement.section for measurement in new}
    return [*new, *(measurement for measurement in old if measurement.section not in sections)]


def _text(value: Any) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _measurement(line: dict[str, str]) -> Measurement:
    numbers = {name: int(line[name] or 0) for name in ("rows", "attributes", "trees", "runs")}
    times = {
        name: float(line[name]) if line.get(name) else None for name in ("best", "median", "cpu")
    }
    texts = {name: line[name] for name in ("section", "contestant", "shape", "note")}
    return Measurement(
        **texts, **numbers, **times, bytes=int(line["bytes"]) if line["bytes"] else None
    )
