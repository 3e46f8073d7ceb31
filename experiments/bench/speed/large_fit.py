"""``privet fit`` on a large Parquet file, as a person would run it: wall time, peak memory, and
whether a killed fit goes on.

python -m experiments.bench.speed.large_fit FILE.parquet [--out docs/results]        (FILE from experiments.bench.speed.out_of_core)

Results go into the same CSV file and page as those of experiments.bench.speed.
"""  # noqa: E501

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console

from experiments.bench.speed import results
from experiments.bench.speed.pictures import draw_all
from experiments.bench.speed.report import page
from experiments.bench.speed.results import OUT_OF_CORE, Measurement
from experiments.bench.speed.summary import Summary

#: What is fitted: how it is called, and the options of the command.
FITS = {
    "random-trees, 10 of height 4": ["--learner", "random-trees", "--set", "height=4"],
    "greedy-tree of depth 5": ["--learner", "greedy-tree", "--set", "max_depth=5"],
    "privet, the default": [],
}
KILLED = "greedy-tree of depth 5"


def command(path: Path, folder: Path, options: list[str]) -> list[str]:
    place = [
        str(path),
        "--schema",
        f"{path}.schema.json",
        "--ledger",
        str(folder / "ledger.sqlite"),
        "--budget",
        "100",
    ]
    return [
        str(Path(sys.executable).parent / "privet"),
        "fit",
        *place,
        "--epsilon",
        "1",
        "-o",
        str(folder / "m.json"),
        "--force",
        *options,
    ]


def run(arguments: list[str], kill_after: float | None = None) -> tuple[float, int, str]:
    """Seconds, peak memory in bytes, and what was said; killed after so many seconds, if asked."""
    start = time.perf_counter()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(arguments, stdout=said, stderr=subprocess.STDOUT)
        if kill_after is not None:
            time.sleep(kill_after)
            process.send_signal(signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        said.seek(0)
        text = said.read().decode()
    if kill_after is None and status:
        raise SystemExit(text)
    return seconds, usage.ru_maxrss * 1024, text


def measured(path: Path, console: Console) -> list[Measurement]:
    rows, attributes = (
        pq.ParquetFile(path).metadata.num_rows,
        pq.ParquetFile(path).metadata.num_columns - 1,
    )

    def measurement(name: str, seconds: float, peak: int, note: str = "") -> Measurement:
        console.print(f"{name}: {seconds:.0f} s, {peak / 1e6:.0f} MB {note}", markup=False)
        return Measurement(
            OUT_OF_CORE, name, "", rows, attributes, 0, seconds, seconds, 1, peak, note
        )

    found = []
    for name, options in FITS.items():
        with tempfile.TemporaryDirectory() as folder:
            seconds, peak, _ = run(command(path, Path(folder), options))
        found.append(measurement(name, seconds, peak))
    with tempfile.TemporaryDirectory() as folder:
        arguments = command(path, Path(folder), FITS[KILLED])
        whole = next(one.best for one in found if one.contestant == KILLED)
        run(arguments, kill_after=0.8 * (whole or 0))
        seconds, peak, said = run(arguments)
    paid = next(line for line in said.splitlines() if "going on" in line).rpartition("; ")[2]
    note = f"killed after {0.8 * (whole or 0):.0f} s, then the same command again: {paid}"
    return [*found, measurement(f"{KILLED}, gone on with", seconds, peak, note)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="a file of experiments.bench.speed.out_of_core")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).parents[3] / "docs" / "results",
        help="default: docs/results",
    )
    options = parser.parse_args()
    console = Console()
    new = measured(options.file.resolve(), console)
    found = [
        *(one for one in results.read(options.out / "speed.csv") if one.section != OUT_OF_CORE),
        *new,
    ]
    results.write(options.out / "speed.csv", found)
    summary = Summary(found)
    (options.out / "speed.md").write_text(
        page(summary, draw_all(summary, options.out)), encoding="utf-8"
    )
    console.print(f"written: {options.out / 'speed.md'}")


if __name__ == "__main__":
    main()
