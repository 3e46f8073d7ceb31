"""A paper that nobody wrote, with cells that processes can find."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from experiments.papers.experiment import Cell, Comparison, Experiment, Paper, Row, Verdict
from privet.report.plots.boxes import draw_boxes


def squares(number: int, log: str, seconds: float = 0.0) -> list[Row]:
    """Two lines; and one byte more in a file, for every time that it is done. The first two wait
    while a file called hold is there.
    """
    time.sleep(seconds)
    while number < 2 and Path(log).with_name("hold").exists():
        time.sleep(0.05)
    with Path(log).open("a") as file:
        file.write("x")
    return [
        {"number": number, "square": number**2, "worker": os.getpid()},
        {"number": number, "square": float("inf"), "worker": 0},
    ]


def fails(log: str) -> list[Row]:
    raise RuntimeError("this cell cannot be done")


def compare(rows: Sequence[Row]) -> list[Comparison]:
    finite = [row["square"] for row in rows if row["square"] != float("inf")]
    return [
        Comparison("the largest", "9 <at most>", f"{max(finite)}", _verdict(max(finite) <= 9)),
        Comparison(
            "the least", "7", f"{min(finite)}", _verdict(min(finite) == 7), "squares begin at 0"
        ),
    ]


def _verdict(holds: bool) -> Verdict:
    return "agrees" if holds else "differs"


def draw(rows: Sequence[Row]) -> object:
    runs = [
        ("all", "squares", float(row["square"])) for row in rows if row["square"] != float("inf")
    ]
    return draw_boxes(runs, measure="square", title="Squares")


def paper(log: Path, *, seconds: float = 0.0, data: tuple[str, ...] = ()) -> Paper:
    def cells(quick: bool) -> list[Cell]:
        numbers = range(2 if quick else 4)
        return [
            Cell(squares, {"number": one, "log": str(log), "seconds": seconds}, weight=1 + one)
            for one in numbers
        ]

    def scarce(quick: bool) -> list[Cell]:
        return [
            Cell(squares, {"number": 3, "log": str(log), "seconds": seconds}, data=data, weight=4.0)
        ]

    one = Experiment(
        "1",
        "squares",
        "Squares are at most nine.",
        compare,
        draw,
        cells,
        choices=("Up to three.",),
        remarks=("Nothing more.",),
    )
    return Paper(
        "made-up",
        "Nobody 1999, <Squares>",
        "All of it is made up.",
        (one, Experiment("table 2", "three", "Nine.", compare, None, scarce)),
    )
