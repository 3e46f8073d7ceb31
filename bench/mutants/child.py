"""What runs in a process of its own, on a mutated copy of the package: some tests and some
audits.
"""

from __future__ import annotations

import json
import os
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

SEED = 9  # of audits, so that a verdict is the same every time


class Recorder:
    """A plugin of pytest that notes what became of each test."""

    def __init__(self) -> None:
        self.tests: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            self.tests[report.nodeid] = (
                (crash.message if crash else str(report.longrepr)).strip().splitlines()[0]
            )
        elif report.when == "call" and report.passed:
            self.tests.setdefault(report.nodeid, "")


def audited(subject: str, runs: int) -> str:
    """What an audit says against a claim; nothing where it holds."""
    import privet as pv
    from privet.audit import audit_subject

    with pv.unlock_test_seeds():
        found = audit_subject(subject, Fraction(1), runs, bits=pv.SeededBits(SEED))
    return (
        ""
        if found.verdict == "holds"
        else f"{found.verdict}: at least {found.bound:.2f} where {found.claimed:g} is claimed"
    )


def work(
    root: str, source: str, report: str, tests: list[str], audits: list[tuple[str, int]]
) -> None:
    """Run tests of pytest and audits with the package in ``source``. What came of each goes to the
    file ``report`` as JSON.

    The process has loaded nothing of the package yet.
    """
    log = os.open(f"{report}.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.chdir(root)
    # for what tests start; most plugins are slow to load
    os.environ |= {"PYTHONPATH": source, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.path.insert(0, source)
    import privet

    if not Path(privet.__file__).is_relative_to(source):
        raise SystemExit(
            f"the copy in {source} was to be tried, and {privet.__file__} was imported"
        )
    recorder, code = Recorder(), 0
    if tests:
        import pytest

        code = int(
            pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", *tests], plugins=[recorder])
        )
    found = {
        "code": code,
        "tests": recorder.tests,
        "audits": [audited(subject, runs) for subject, runs in audits],
    }
    Path(report).write_text(json.dumps(found), encoding="utf-8")
