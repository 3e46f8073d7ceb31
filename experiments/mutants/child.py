"""What runs in a process of its own, on a mutated copy of the package: tests and audits."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import Any

SEED = 9  # of audits, so that a verdict is the same every time
_INTERRUPTED = 2  # how pytest ends after Ctrl-C


class Recorder:
    """A plugin of pytest that notes what became of each test."""

    def __init__(self) -> None:
        self.tests: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            told = crash.message if crash else str(report.longrepr)
            self.tests[report.nodeid] = told.strip().splitlines()[0]
        elif report.when == "call" and report.passed:
            self.tests.setdefault(report.nodeid, "")


def audited(subject: str, runs: int) -> str:
    """Return what an audit says against a claim, or an empty string where it is not refuted."""
    import privet as pv
    from privet.audit import audit_subject

    with pv.testing.unlock_test_seeds():
        found = audit_subject(subject, Fraction(1), runs, bits=pv.testing.SeededBits(SEED))
    if not found.refuted:
        return ""
    return f"{found.verdict}: at least {found.bound:.2f} where {found.claimed:g} is claimed"


def _interrupt_once(*_: object) -> None:
    """End as after Ctrl-C, and let a second one disturb the clean-up no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def work(
    root: str,
    source: str,
    report: str,
    scratch: str,
    tests: list[str],
    audits: list[tuple[str, int]],
) -> None:
    """Run tests of pytest and audits with the package in ``source``.

    What came of each goes to the file ``report`` as JSON. Temporary files go to the folder
    ``scratch``. The process has loaded nothing of the package yet.
    """
    signal.signal(signal.SIGINT, _interrupt_once)
    log = os.open(f"{report}.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(root)
    # for what tests start; most plugins of pytest are slow to load
    os.environ |= {"PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "TMPDIR": scratch}
    tempfile.tempdir = None  # it is remembered, perhaps from before
    sys.path.insert(0, source)
    import privet

    if not Path(privet.__file__).is_relative_to(source):
        raise SystemExit(f"the copy in {source} was to be tried, not {privet.__file__}")
    recorder, code = Recorder(), 0
    if tests:
        import pytest

        options = ["-q", "-p", "no:cacheprovider", "--no-header"]
        code = int(pytest.main([*options, *tests], plugins=[recorder]))
    if code == _INTERRUPTED:
        raise SystemExit(code)
    said = [audited(subject, runs) for subject, runs in audits]
    found = {"code": code, "tests": recorder.tests, "audits": said}
    Path(report).write_text(json.dumps(found), encoding="utf-8")
