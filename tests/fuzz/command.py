"""``python -m tests.fuzz``: each target in a process of its own, so that one that dies takes
nothing with it.
"""

from __future__ import annotations

import argparse
import hashlib
import multiprocessing as mp
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from tests.fuzz import page
from tests.fuzz.fuzzing import Crash, Result, attempt, fuzz, scratch
from tests.fuzz.targets import NAMES, target_called

#: Where inputs of crashes are kept, from the current folder.
CRASHES = Path("fuzz-crashes")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is asked for; exit code 1 where something crashed."""
    parser = argparse.ArgumentParser("python -m tests.fuzz", description="Give Privet bad input.")
    parser.add_argument(
        "targets", nargs="*", metavar="TARGET", help=f"by default all: {', '.join(NAMES)}"
    )
    parser.add_argument("--inputs", type=int, default=100_000, help="of each target (100000)")
    parser.add_argument(
        "--seed", type=int, default=1, help="the same seed makes the same inputs (1)"
    )
    parser.add_argument("--jobs", type=int, default=1, help="targets at the same time (1)")
    parser.add_argument(
        "--page", action="store_true", help="write docs/results/fuzz.md and fuzz.csv"
    )
    parser.add_argument("--replay", type=Path, metavar="FILE", help="try one input of one target")
    given = parser.parse_args(arguments)
    names = given.targets or list(NAMES)
    if unknown := sorted(set(names) - set(NAMES)):
        parser.error(f"there is no target {unknown[0]!r}; there are {', '.join(NAMES)}")
    if given.replay is not None:
        if len(given.targets) != 1:
            parser.error("--replay goes with one target")
        replay(given.targets[0], given.replay)
        return
    # as Ctrl-C: what there is so far is shown
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    console = Console()
    console.print(f"seed {given.seed}, {given.inputs} inputs of each target")
    # also of a run that is interrupted
    results = _run_all(names, given.inputs, given.seed, given.jobs, console)
    rows = {name: page.row(name, result, given.seed) for name, result in results.items()}
    console.print(page.table_of(rows))
    crashed = [
        (name, crash) for name, result in results.items() for crash in result.crashes.values()
    ]
    for name, crash in crashed:
        kept = _kept(name, crash)
        console.print(
            f"\n{name}: {crash.where}, {crash.times} times\n{crash.told}",
            style="red",
            markup=False,
            highlight=False,
        )
        console.print(f"again: python -m tests.fuzz {name} --replay {kept}", markup=False)
    if given.page:
        page.keep({**page.kept(), **rows})
    sys.exit(1 if crashed else 0)


def replay(name: str, file: Path) -> None:
    """What becomes of one input."""
    with scratch() as folder:
        target = target_called(name)(folder)
        try:
            target.corpus()
            outcome = attempt(target, file.read_bytes(), limited=True)
        finally:
            target.close()
    Console().print(
        outcome.told if isinstance(outcome, Crash) else outcome, markup=False, highlight=False
    )
    sys.exit(1 if isinstance(outcome, Crash) else 0)


def _kept(name: str, crash: Crash) -> Path:
    CRASHES.mkdir(exist_ok=True)
    path = CRASHES / f"{name}-{hashlib.sha256(crash.data).hexdigest()[:12]}"
    path.write_bytes(crash.data)
    return path


def _run_all(
    names: Sequence[str], inputs: int, seed: int, jobs: int, console: Console
) -> dict[str, Result]:
    columns = (
        TextColumn("{task.description:16}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    waiting: list[str] = list(names)
    running: list[_Running] = []
    results: dict[str, Result] = {}
    with Progress(*columns, console=console) as bars:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    running.append(
                        _Running(
                            waiting[0], inputs, seed, bars.add_task(waiting.pop(0), total=inputs)
                        )
                    )
                for one in list(running):
                    ended = one.ended()
                    results[one.name] = one.result
                    bars.update(one.task, completed=one.result.inputs)
                    if ended:
                        running.remove(one)
                time.sleep(0.2)
        except KeyboardInterrupt:
            console.print("interrupted; so far:")
        finally:
            for one in running:
                one.stop()
    return {name: results[name] for name in names if name in results}


class _Running:
    """A target in its process."""

    def __init__(self, name: str, inputs: int, seed: int, task: Any) -> None:
        self.name, self.task, self.result = name, task, Result()
        self._scratch = scratch()
        self._folder = self._scratch.__enter__()
        self._ours, theirs = mp.Pipe()
        self._process = mp.get_context("spawn").Process(
            target=_work, args=(name, inputs, seed, str(self._folder), theirs)
        )
        self._process.start()
        theirs.close()

    def ended(self) -> bool:
        """Whether it has; ``result`` is what is known by now."""
        done = False
        try:
            while not done and self._ours.poll():
                self.result, done = self._ours.recv()
        except (EOFError, OSError):
            self._process.join()
            self._note_death()
            done = True
        if done:
            self.stop()
        return done

    def stop(self) -> None:
        """End the process, if it still runs, and forget its files."""
        self._process.terminate()
        self._process.join()
        self._scratch.__exit__(None, None, None)

    def _note_death(self) -> None:
        """A process that ended without a result: its last input did it."""
        last = self._folder / "target" / "current"
        data = last.read_bytes() if last.is_file() else b""
        told = (
            f"the process ended with exit code {self._process.exitcode} after about "
            f"{self.result.inputs} inputs: it crashed, or hung"
        )
        self.result.crashes["died"] = Crash("the process died", told, data)


def _work(name: str, inputs: int, seed: int, folder: str, pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    place = Path(folder) / "target"
    place.mkdir()
    target = target_called(name)(place)
    try:
        result = fuzz(
            target, inputs, seed, limited=True, tell=lambda so_far: pipe.send((so_far, False))
        )
    finally:
        target.close()
        shutil.rmtree(place / "out", ignore_errors=True)
    pipe.send((result, True))
    pipe.close()
