"""Measure whether effects that an explanation shows as real keep their sign, and write the page.

python -m experiments.explanations [--tables adult=20 mushroom=10] [--epsilon 1] [--repeats 8]
[--out docs/results] [--report]

Each fit is explained as its user would see it, with bands, and compared with the other fits of the
same rows. PRIVET_DATA names the folder with the public tables.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from pathlib import Path

import privet as pv
from experiments.explanations.report import write_page
from experiments.explanations.signs import Shown, measure_signs

COLUMNS = ("table", "fit", "attribute", "value", "effect", "deviation", "kept")


def main() -> None:
    options = parse()
    measured = options.out / "explanations.csv"
    if not options.report:
        with measured.open("w", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(COLUMNS)
            for entry in options.tables:
                name, _, fits = entry.partition("=")
                for line in measure(name, options.epsilon, int(fits), options.repeats):
                    lines.writerow((name, *line))
    write_page(measured, options.out / "explanations.md", options.epsilon, options.repeats)


def measure(name: str, epsilon: float, fits: int, repeats: int) -> list[tuple[object, ...]]:
    """Return what all fits of a table show."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            _line(shown)
            for _, found in measure_signs(pv.datasets.load(name), epsilon, fits, repeats)
            for shown in found
        ]


def _line(shown: Shown) -> tuple[object, ...]:
    numbers = (f"{shown.effect:.4g}", f"{shown.deviation:.4g}", f"{shown.kept:.3f}")
    return (shown.fit, shown.attribute, shown.value, *numbers)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.explanations",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    tables = ["adult=20", "mushroom=10", "nursery=10"]
    add("--tables", nargs="+", default=tables, help=f"NAME=FITS; default: {' '.join(tables)}")
    add("--epsilon", type=float, default=1.0, help="of each fit; default: 1")
    add("--repeats", type=int, default=8, help="fits that measure the noise; default: 8")
    add("--out", type=Path, default=Path("docs/results"), help="default: docs/results")
    add("--report", action="store_true", help="measure nothing, and write the page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
