"""The page with the figures, and the CSV file beside it that holds them."""

from __future__ import annotations

import csv
import io
import os
import platform
import sqlite3
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

from experiments.faults.tally import Tally
from privet._atomic import write_atomically

FIELDS = (
    "name",
    "fault",
    "rounds",
    "answers",
    "refused",
    "lost",
    "overspent",
    "half",
    "odd",
    "remark",
    "seconds",
    "load",
)
HEADS = (
    "fault",
    "rounds",
    "answers given",
    "refused",
    "charges lost",
    "overspent",
    "half-written files",
    "else",
    "verdict",
)

PAGE = Path(__file__).with_name("page.md")


@dataclass(frozen=True)
class Run:
    """A fault that was run."""

    name: str
    tally: Tally
    seconds: float
    load: float

    @property
    def verdict(self) -> str:
        return "holds" if self.tally.holds else "FAILS"

    @property
    def cells(self) -> list[str]:
        one = self.tally
        numbers = (
            one.rounds,
            one.answers,
            one.refused,
            one.lost,
            one.overspent,
            one.half,
            one.odd.total(),
        )
        return [one.fault, *(f"{number:,}" for number in numbers), self.verdict]


def table(runs: list[Run]) -> Table:
    """For a terminal."""
    made = Table(*HEADS)
    for one in runs:
        made.add_row(*one.cells)
    return made


def write(path: Path, runs: dict[str, Run]) -> None:
    """The page, and the figures beside it."""
    rows = [" | ".join(("", *one.cells, "")).strip() for one in runs.values()]
    head = " | ".join(("", *HEADS, "")).strip()
    lines = "\n".join((head, "| --- |" + " ---: |" * (len(HEADS) - 2) + " --- |", *rows))
    remarks = "\n".join(
        f"- {one.tally.fault}: {one.tally.remark}." for one in runs.values() if one.tally.remark
    )
    system = f"{platform.system()} {platform.machine()}"
    said = {
        "cores": os.cpu_count(),
        "system": system,
        "sqlite": sqlite3.sqlite_version,
        "table": lines,
    }
    loads = [one.load for one in runs.values()]
    said |= {
        "load": f"{min(loads):.0f} to {max(loads):.0f}",
        "minutes": f"{sum(one.seconds for one in runs.values()) / 60:.0f}",
    }
    said |= {
        name: f"{sum(getattr(one.tally, name) for one in runs.values()):,}"
        for name in ("rounds", "answers")
    }
    write_atomically(
        path,
        PAGE.read_text(encoding="utf-8")
        .format(**said, remarks=f"Seen besides:\n\n{remarks}" if remarks else "")
        .encode(),
    )
    _store(path.with_suffix(".csv"), list(runs.values()))


def _store(path: Path, runs: list[Run]) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    for one in runs:
        t = one.tally
        odd = "; ".join(f"{times} x {what}" for what, times in t.odd.items())
        numbers = (t.rounds, t.answers, t.refused, t.lost, t.overspent, t.half)
        writer.writerow(
            [one.name, t.fault, *numbers, odd, t.remark, f"{one.seconds:.0f}", f"{one.load:.1f}"]
        )
    write_atomically(path, text.getvalue().encode())


def read(path: Path) -> dict[str, Run]:
    """What was run before, by its name."""
    kept = path.with_suffix(".csv")
    if not kept.exists():
        return {}
    with kept.open(encoding="utf-8", newline="") as file:
        return {row["name"]: _run_of(row) for row in csv.DictReader(file)}


def _run_of(row: dict[str, str]) -> Run:
    numbers = {
        name: int(row[name])
        for name in ("rounds", "answers", "refused", "lost", "overspent", "half")
    }
    odd = Counter(
        {
            what: int(times)
            for part in row["odd"].split("; ")
            if part
            for times, _, what in [part.partition(" x ")]
        }
    )
    return Run(
        row["name"],
        Tally(row["fault"], **numbers, odd=odd, remark=row["remark"]),
        float(row["seconds"]),
        float(row["load"]),
    )
