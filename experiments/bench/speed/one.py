"""Measurements in a process of their own: python -m experiments.bench.speed.one TASKS FOLDER TIMES
SECONDS

Tasks are a list in JSON, and a line of JSON answers each: its seconds and bytes, or what went
wrong.
"""

from __future__ import annotations

import gc
import json
import sys
import time
import warnings
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from experiments.bench.speed.contestants import CONTESTANTS
from experiments.bench.speed.memory import mark, risen
from experiments.bench.speed.processes import cpu_seconds
from experiments.bench.speed.results import Task
from experiments.bench.speed.rows import Store

#: Rows of the run before the clock starts, which loads and compiles: enough for all code that many
#: rows take.
WARM = 100_000
#: Seconds that short runs fill.
SHORT = 0.5


def measure(task: Task, store: Store, times: int, seconds: float) -> dict[str, Any]:
    """The times of so many runs, of which none begins after so many seconds; and the peak of memory
    above what is prepared.

    Short runs are repeated for half a second, for the best of a few milliseconds says little.
    """
    module, function = CONTESTANTS[task.contestant].code.split(":")
    prepare = getattr(import_module(f"experiments.bench.speed.{module}"), function)
    first = replace(task, rows=min(task.rows, WARM))
    run = prepare(first, store)
    run()
    run = run if first == task else prepare(task, store)
    gc.collect()
    before, found, used = mark(), list[float](), list[float]()
    while not found or (
        sum(found) < seconds
        and (len(found) < times or (sum(found) < SHORT and len(found) < 10 * times))
    ):
        start, cpu = time.perf_counter(), cpu_seconds()
        run()
        found.append(time.perf_counter() - start)
        used.append(cpu_seconds() - cpu)
    return {"seconds": found, "bytes": risen(before), "cpu": min(used)}


def main() -> None:
    warnings.simplefilter("ignore")
    tasks, folder, times, seconds = sys.argv[1:]
    for task in json.loads(tasks):
        try:
            answer = measure(Task(**task), Store(Path(folder)), int(times), float(seconds))
        except Exception as error:  # noqa: BLE001 - whatever it is, it belongs into the table
            answer = {"note": f"failed: {type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
