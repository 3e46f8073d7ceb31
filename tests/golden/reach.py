"""The only place where these tests touch anything but ``import privet``, the command and HTTP.

Whoever moves the code changes this file, and no other file in this folder.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Python that runs the command, as the script of the package does.
MAIN = "from privet.cli import main; main()"
PATIENCE = 120


@dataclass(frozen=True)
class Ran:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def privet(*words: object, folder: Path, environment: Mapping[str, str] | None = None) -> Ran:
    """Run the command in this process, with ``folder`` as the current folder."""
    from privet.cli import main

    kept, argv, here = dict(os.environ), sys.argv, Path.cwd()
    out, err = io.StringIO(), io.StringIO()
    own = {"COLUMNS": "1000", "NO_COLOR": "1", "TERM": "dumb"}
    for name in [name for name in os.environ if name.startswith("PRIVET_")]:
        if name != "PRIVET_TEST_SEED":
            del os.environ[name]
    try:
        os.environ.update(own | dict(environment or {}))
        os.chdir(folder)
        sys.argv = ["privet", *map(str, words)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main()
                code = 0
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else int(left.code is not None)
    finally:
        os.chdir(here)
        sys.argv = argv
        os.environ.clear()
        os.environ.update(kept)
    return Ran(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def serving(home: Path, log: Path, group: str = "curator") -> Iterator[int]:
    """Run ``privet curator serve`` (or ``outsource serve``) on a home, and yield its port."""
    words = [group, "serve", "--home", str(home), "--port", "0", "--rate", "10000"]
    with log.open("wb") as out:
        command = [sys.executable, "-c", MAIN, *words]
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield _port(process, log)
    finally:
        process.terminate()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _port(process: subprocess.Popen[bytes], log: Path) -> int:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        found = re.search(r"https?://127\.0\.0\.1:(\d+)\b", log.read_text("utf-8"))
        if found:
            return int(found[1])
        time.sleep(0.02)
    raise AssertionError(f"the service did not start: {log.read_text('utf-8')}")


def commands() -> dict[str, dict[str, Any]]:
    """Every command with its options and arguments, by name."""
    import typer

    from privet.cli.app import app

    return dict(_walk(typer.main.get_command(app), ()))


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    options, arguments = {}, []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            arguments.append([parameter.name, bool(parameter.required), parameter.nargs])
        else:
            variable = parameter.envvar
            facts = {
                "flag": bool(parameter.is_flag),
                "required": bool(parameter.required),
                "repeated": bool(parameter.multiple),
                "variable": variable
                if variable is None or isinstance(variable, str)
                else list(variable),
            }
            for name in (*parameter.opts, *parameter.secondary_opts):
                options[name] = facts
    yield " ".join(path), {"options": options, "arguments": arguments}
    for name, inner in getattr(command, "commands", {}).items():
        yield from _walk(inner, (*path, name))
