"""Measure the accuracy of our learners on public tables, by rows and epsilon: the file behind the
last part of ``privet epsilon``.

python -m experiments.bench.expected [--minutes 6] [--repeats 1] [-o FILE]
    measure, and add to the file after each table; what is in it is not measured again, so delete it
    to measure anew. The packages that tables come from are kept in --cache, and fetched data sets
    come from PRIVET_DATA
python -m experiments.bench.expected --check
    how often the ranges hold, as a table for docs/results/expected.md; measures nothing
"""

from __future__ import annotations

import argparse
import time
import zlib
from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from experiments.bench.expected.check import table
from experiments.bench.expected.measure import Run, choose_rows, run
from experiments.bench.expected.tables import NAMES, load

KEYS = ["data", "use", "attributes", "classes", "rows", "tested", "majority", "epsilon"]


def main() -> None:
    options = parse()
    if options.check:
        print(table())
        return
    for repeat in range(options.repeats):
        # Any order will do but one that stops at a kind of tables.
        for name in sorted(NAMES, key=lambda name: zlib.crc32(name.encode())):
            if time.process_time() > 60 * options.minutes:
                print("stopped: out of time", flush=True)
                return
            started = time.process_time()
            data = load(name, options.cache)
            if not is_measured(options.output, name, choose_rows(data, repeat)):
                add(run(data, repeat), options.output)
            print(f"{name}: {time.process_time() - started:.1f} s", flush=True)


def is_measured(path: Path, name: str, rows: int) -> bool:
    """Return whether the file has a table with so many rows."""
    if not path.exists():
        return False
    known = pd.read_csv(path)
    return bool(((known.data == name) & (known.rows == rows)).any())


def add(found: Iterable[Run], path: Path) -> None:
    """Add a row for each table, number of rows and epsilon, with the learners as columns."""
    runs = pd.DataFrame(found)
    learners = list(dict.fromkeys(runs.learner))
    rows = runs.pivot_table("accuracy", KEYS, "learner", sort=False)[learners].reset_index()
    if path.exists():
        rows = pd.concat([pd.read_csv(path), rows])
    new = path.with_suffix(".new")
    rows.to_csv(new, index=False, float_format="%.5g", lineterminator="\n")
    new.replace(path)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.bench.expected",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=6.0, help="of processor time; start no table after these")
    add("--repeats", type=int, default=1, help="numbers of rows of each table; default: 1")
    add("--cache", type=Path, default=Path("build/expected"), help="where packages are kept")
    add("-o", "--output", type=Path, default=Path("src/privet/epsilon/measured.csv"))
    add("--check", action="store_true", help="measure nothing, and print how often ranges hold")
    return parser.parse_args()


if __name__ == "__main__":
    main()
