"""Compare recipes around every line of the default learner's rule on public tables, and write the
page and the picture.

python -m experiments.recipe [--minutes 60] [--jobs 2] [--tables "keel/balanced/ring"] [--report]
[--out docs/results]

Fits that were done before by the same sources are not done again, so a run can be stopped at any
time and goes on where it was. The packages that the tables come from, and the results, are kept in
--cache. An hour says which lines are wrong by a lot; a few hours, by how much.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rich.console import Console

from experiments.bench.accuracy.results import Results
from experiments.bench.accuracy.versions import code_version
from experiments.recipe.cells import list_cells, order_cells
from experiments.recipe.report import write
from experiments.recipe.running import KEY, run
from experiments.recipe.tables import NAMES, load


def main() -> None:
    options = parse()
    console = Console(stderr=True)
    results = Results(options.results, KEY)
    if not options.report:
        tables = (load(name, options.cache) for name in options.tables)
        run(
            order_cells(cell for data in tables for cell in list_cells(data, options.repeats)),
            results,
            options.cache,
            minutes=options.minutes,
            jobs=options.jobs,
            console=console,
        )
    if not results.rows():
        console.print(f"no fits in {options.results}; run without --report first")
        raise SystemExit(1)
    console.print("written:", *write(results.rows(), options.out))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.recipe",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--minutes", type=float, default=60.0, help="start no fit after these; default: 60")
    add("--jobs", type=int, default=1, help="fits at a time; default: 1")
    add("--repeats", type=int, default=3, help="splits of each table and size; default: 3")
    add("--tables", help="names, separated by semicolons; default: all")
    add("--report", action="store_true", help="run nothing, and write the page")
    add(
        "--out",
        type=Path,
        default=Path("docs/results"),
        help="where the page and the picture go; default: %(default)s",
    )
    add(
        "--cache",
        type=Path,
        default=Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench",
    )
    add("--results", type=Path, help="the fits; default: a file in --cache for these sources")
    options = parser.parse_args()
    options.tables = options.tables.split(";") if options.tables else list(NAMES)
    if unknown := set(options.tables) - set(NAMES):
        parser.error(f"there is no table {min(unknown)!r}; there are: {'; '.join(NAMES)}")
    for name in ("minutes", "jobs", "repeats"):
        if getattr(options, name) <= 0:
            parser.error(f"--{name} must be above 0, got {getattr(options, name):g}")
    options.results = options.results or options.cache / f"recipe-{code_version()}.jsonl"
    return options


if __name__ == "__main__":
    main()
