"""The command, run in this process or in one of its own, and a table to ask about."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from privet.cli import compiling, main
from tests import commands
from tests.warm import app


@dataclass(frozen=True)
class Ran:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str


Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def own_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Relative paths lead to a fresh folder, tables are printed wide, no test sees the user's
    data, and none leaves a process behind.
    """
    monkeypatch.setattr(compiling, "compile_ahead", lambda: None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("PRIVET_DATA", "PRIVET_DATA_URL", "FORCE_COLOR", "CLICOLOR_FORCE", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("PRIVET_CACHE", str(tmp_path / "cache"))


@pytest.fixture(name="privet")
def in_this_process(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run ``privet`` with these arguments, errors and exit code included."""

    def run(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["privet", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main()
        captured = capsys.readouterr()
        return Ran(int(left.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def process() -> Run:
    """Run ``privet`` in a process of its own."""

    def run(*arguments: object) -> Ran:
        done = commands.run(arguments, Path.cwd(), os.environ)
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="session")
def nursery(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with nursery.csv and nursery.schema.json."""
    folder = tmp_path_factory.mktemp("nursery")
    done = CliRunner().invoke(app, ["datasets", "get", "nursery", "--output", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.fixture
def count(privet: Run, nursery: Path) -> Run:
    """Run ``privet count`` on the nursery table, with a ledger in the current folder."""
    given = (
        "count",
        nursery / "nursery.csv",
        "--schema",
        nursery / "nursery.schema.json",
        "--ledger",
        "book.sqlite",
    )
    return lambda *arguments: privet(*given, *arguments)
