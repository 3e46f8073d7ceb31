"""Puts a mutant into a copy of the package, and runs what must catch it."""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import cache_from_source
from multiprocessing.context import BaseContext
from pathlib import Path

from bench.mutants.child import work
from bench.mutants.mutant import Audited, Mutant

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
    """Forks of a process that has loaded libraries, and nothing of the package. A process can have
    one such server, for all its uses.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(LIBRARIES)
    return context


class Copy:
    """A copy of the package in a folder, in which one fault at a time can be put, and tried in a
    process of its own.
    """

    def __init__(self, folder: Path, processes: BaseContext, root: Path = ROOT) -> None:
        self._root, self._source, self._report, self._processes = (
            root,
            folder / "src",
            folder / "report.json",
            processes,
        )
        shutil.copytree(root / "src", self._source, ignore=shutil.ignore_patterns("__pycache__"))

    def check(self, mutants: Iterable[Mutant]) -> None:
        """Raise unless all that the mutants name passes while there is no fault."""
        listed = list(mutants)
        tests = list(dict.fromkeys(test for mutant in listed for test in mutant.tests))
        audits = list(dict.fromkeys(audit for mutant in listed for audit in mutant.audits))
        failed = {name: why for name, why in self._run(tests, audits).items() if why}
        if failed:
            raise Broken(
                "without any fault: " + "; ".join(f"{name}: {why}" for name, why in failed.items())
            )

    def tried(self, mutant: Mutant) -> Outcome:
        """What notices a mutant."""
        path = self._source / "privet" / mutant.file
        honest = path.read_text(encoding="utf-8")
        times = path.stat().st_mtime_ns
        path.write_text(mutant.applied(honest), encoding="utf-8")
        try:
            why = self._run(mutant.tests, mutant.audits)
        finally:
            path.write_text(honest, encoding="utf-8")
            os.utime(path, ns=(times, times))  # what is compiled is kept by the time of its source
            Path(cache_from_source(str(path))).unlink(missing_ok=True)
        broken = [f"{name}: {text}" for name, text in why.items() if text.startswith(BROKEN)]
        if broken:
            raise Broken(f"mutant {mutant.name!r} does not run, which proves nothing: {broken[0]}")
        return Outcome(mutant, why, tuple(name for name, text in why.items() if not text))

    def _run(self, tests: Iterable[str], audits: Iterable[Audited]) -> dict[str, str]:
        """For each test and audit that is named: the first line of why it failed, empty where it
        did not.
        """
        named, audits = [f"tests/{test}" for test in tests], list(audits)
        self._report.unlink(missing_ok=True)
        jobs = (
            str(self._root),
            str(self._source),
            str(self._report),
            named,
            [(audit.subject, audit.runs) for audit in audits],
        )
        process = self._processes.Process(target=work, args=jobs)
        process.start()
        process.join()
        said = (
            Path(f"{self._report}.log")
            .read_text(encoding="utf-8", errors="replace")
            .strip()[-2000:]
        )
        if process.exitcode or not self._report.exists():
            raise Broken(f"nothing could be run: {said}")
        told = json.loads(self._report.read_text(encoding="utf-8"))
        # 1: tests failed; others: they could not be collected, or there are none
        if told["code"] not in (0, 1):
            raise Broken(f"pytest ended with {told['code']}: {said}")
        found = {test: _why(test, told["tests"]) for test in named}
        return found | {str(audit): why for audit, why in zip(audits, told["audits"], strict=True)}


def _why(named: str, seen: dict[str, str]) -> str:
    """Of the cases of one named test: why the first of them failed."""
    cases = [
        why
        for test, why in seen.items()
        if test == named or test.startswith((f"{named}[", f"{named}::"))
    ]
    if not cases:
        raise Broken(f"{named} was not run: it was skipped, or is not there")
    return next((why for why in cases if why), "")
