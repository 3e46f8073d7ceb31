"""Accuracy of our learners on public data, by rows and epsilon: the table behind the last part of
``privet epsilon``.

python -m experiments.bench.expected [--repeats 8] [--sets car,nursery] [-o
src/privet/explain/measured.csv] python -m experiments.bench.expected --check
    how far off it is for a data set that is left out, as a table for docs/how-to/choose-epsilon.md

One line per data set, number of rows, learner and epsilon: mean accuracy over the repeats, with its
standard error, and the share of the commonest class. Fetched data sets come from PRIVET_DATA or the
cache. The file is written after every repeat.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pandas as pd

from experiments.bench.expected.check import table
from experiments.bench.expected.measure import SETS, Run, runs
from privet import datasets

KEYS = ["data", "attributes", "classes", "rows", "learner", "epsilon"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=8)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "-o", "--output", type=Path, default=Path("src/privet/explain/measured.csv")
    )
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        print(table())
        return
    sets = [datasets.load(name) for name in options.sets.split(",")]
    found: list[Run] = []
    for repeat in range(options.repeats):
        for data in sets:
            found += runs(data, repeat)
            print(f"repeat {repeat}: {data.name}", flush=True)
        write(found, options.output)


def write(found: list[Run], path: Path) -> None:
    """Means over the repeats, in the order in which they were measured."""
    groups = pd.DataFrame(found).groupby(KEYS, sort=False)
    error = ("accuracy", "sem")
    table = groups.agg(
        repeats=("accuracy", "size"),
        accuracy=("accuracy", "mean"),
        error=error,
        majority=("majority", "mean"),
    )
    new = path.with_suffix(".new")
    table.reset_index().to_csv(new, index=False, float_format="%.6g", lineterminator="\n")
    new.replace(path)


if __name__ == "__main__":
    main()
