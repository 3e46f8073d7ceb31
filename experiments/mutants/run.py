"""Puts a mutant into a copy of the package, and runs what must catch it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import signal
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import cache_from_source
from multiprocessing.context import BaseContext
from pathlib import Path

from experiments.mutants.child import work
from experiments.mutants.mutant import Audited, Mutant
from experiments.mutants.source import Package

ROOT = Path(__file__).parents[2]
#: Errors of a fault that does not even run: to notice these is no merit of a test.
BROKEN = (
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "AttributeError",
    "TypeError",
    "UnboundLocalError",
)
#: What takes long to load.
LIBRARIES = [
    "pytest",
    "hypothesis",
    "numpy",
    "pandas",
    "numba",
    "sklearn.base",
    "sklearn.utils.validation",
]


class Broken(Exception):
    """Nothing can be said: tests could not be run, or fail without any fault."""


@dataclass(frozen=True)
class Outcome:
    """What came of a mutant. ``missed`` names what should have noticed it and did not."""

    mutant: Mutant
    why: dict[str, str]
    missed: tuple[str, ...]

    @property
    def caught(self) -> bool:
        return not self.missed


def forks() -> BaseContext:
    """Return a context of forks of a process that has loaded libraries, and nothing of the package.

    A process can have one such server, for all its uses.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    return context


class Copy:
    """A copy of the package, in which one fault at a time can be put.

    Each is tried in a process of its own, and all that tests leave on the disk is removed.
    """

    def __init__(self, folder: Path, processes: BaseContext, root: Path = ROOT) -> None:
        self._root, self._source, self._processes = root, folder / "src", processes
        self._report, self._scratch = folder / "report.json", folder / "tmp"
        shutil.copytree(root / "src", self._source, ignore=shutil.ignore_patterns("__pycache__"))
        self.package = Package.read(self._source / "privet")
        self._running: int | None = None
        self._over = False

    def check(self, mutants: Iterable[Mutant]) -> None:
        """Raise unless all that the mutants name passes while there is no fault."""
        listed = list(mutants)
        tests = list(dict.fromkeys(test for mutant in listed for test in mutant.tests))
        audits = list(dict.fromkeys(audit for mutant in listed for audit in mutant.audits))
        failed = {name: why for name, why in self._run(tests, audits).items() if why}
        if failed:
            told = "; ".join(f"{name}: {why}" for name, why in failed.items())
            raise Broken(f"without any fault: {told}")

    def tried(self, mutant: Mutant) -> Outcome:
        """Return what notices a mutant."""
        file, mutated = self.package.mutate(mutant)
        path = self._source / "privet" / file
        honest = path.read_bytes()
        times = path.stat().st_mtime_ns
        path.write_bytes(mutated)
        try:
            why = self._run(mutant.tests, mutant.audits)
        finally:
            path.write_bytes(honest)
            os.utime(path, ns=(times, times))  # what is compiled is kept by the time of its source
            Path(cache_from_source(str(path))).unlink(missing_ok=True)
        broken = [f"{name}: {text}" for name, text in why.items() if text.startswith(BROKEN)]
        if broken:
            raise Broken(f"mutant {mutant.name!r} does not run, which proves nothing: {broken[0]}")
        return Outcome(mutant, why, tuple(name for name, text in why.items() if not text))

    def interrupt(self) -> None:
        """End what is running as Ctrl-C does, with its clean-up, and start nothing more."""
        self._over = True
        if self._running is not None:
            with suppress(ProcessLookupError):
                os.kill(self._running, signal.SIGINT)

    def _run(self, tests: Iterable[str], audits: Iterable[Audited]) -> dict[str, str]:
        """Return why each test and audit failed, in one line; empty where it did not."""
        named, audits = [f"tests/{test}" for test in tests], list(audits)
        self._report.unlink(missing_ok=True)
        self._scratch.mkdir(exist_ok=True)
        folders = (str(self._root), str(self._source), str(self._report), str(self._scratch))
        subjects = [(audit.subject, audit.runs) for audit in audits]
        process = self._processes.Process(target=work, args=(*folders, named, subjects))
        if self._over:
            raise Broken("interrupted")
        process.start()
        self._running = process.pid
        if self._over:  # perhaps just before its number was known
            self.interrupt()
        try:
            process.join()
        finally:
            self._running = None
            shutil.rmtree(self._scratch, ignore_errors=True)
        log = Path(f"{self._report}.log")
        said = log.read_text(encoding="utf-8", errors="replace").strip()[-2000:]
        if process.exitcode or not self._report.exists():
            raise Broken(f"nothing could be run: {said}")
        told = json.loads(self._report.read_text(encoding="utf-8"))
        if told["code"] not in (0, 1):  # 1: tests failed; others: not collected, or there are none
            raise Broken(f"pytest ended with {told['code']}: {said}")
        found = {test: _why(test, told["tests"]) for test in named}
        return found | {str(audit): why for audit, why in zip(audits, told["audits"], strict=True)}


def _why(named: str, seen: dict[str, str]) -> str:
    """Return why the first failing case of a named test failed."""
    cases = [
        why
        for test, why in seen.items()
        if test == named or test.startswith((f"{named}[", f"{named}::"))
    ]
    if not cases:
        raise Broken(f"{named} was not run: it was skipped, or is not there")
    return next((why for why in cases if why), "")
