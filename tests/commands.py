"""Processes of ``privet``, without the second or two that each would need to import what it works
with.

A process that has imported everything waits, and is forked for each command. So memory,
environment, folder and exit code are the command's own, as in a terminal.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

#: What commands import, sooner or later.
_IMPORTED = [
    "duckdb",
    "matplotlib.backends.backend_svg",
    "matplotlib.figure",
    "numba",
    "onnx",
    "pandas",
    "pyarrow.parquet",
    "rich.console",
    "sklearn.base",
    "uvicorn",
]
_IMPORTED += [
    "privet.cli.app",
    "privet.tables.duckdb.table",
    "privet.tables.counting.kernels",
    "privet.curator",
    "privet.learners",
    "privet.report.plots",
    "privet.service.app",
    "privet.outsource.server.app",
]
_IMPORTED += ["tests.warm", "tests.frozen"]  # the last one last
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(_IMPORTED)


class Forked:
    """A process that runs ``code``, with these words as its arguments. It has the names of
    :class:`subprocess.Popen`.
    """

    def __init__(
        self,
        code: str,
        words: Sequence[object],
        out: Path,
        err: Path,
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.args = [str(word) for word in words]
        given = (
            code,
            self.args,
            out,
            err,
            folder or Path.cwd(),
            dict(os.environ if environment is None else environment),
        )
        # none outlives the tests
        self._process = _forks.Process(target=_run, args=given, daemon=True)
        self._process.start()
        assert self._process.pid is not None
        self.pid: int = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


PRIVET = "from privet.cli import main; main()"


def run(
    words: Sequence[object], folder: Path, environment: Mapping[str, str], patience: float = 300
) -> subprocess.CompletedProcess[str]:
    """Run ``privet`` with these words, in this folder."""
    with tempfile.TemporaryDirectory() as temporary:
        out, err = Path(temporary, "out"), Path(temporary, "err")
        process = Forked(PRIVET, words, out, err, folder, environment)
        try:
            code = process.wait(patience)
        finally:
            process.kill()
        return subprocess.CompletedProcess(
            process.args, code, out.read_text("utf-8"), err.read_text("utf-8")
        )


def _end_with_tests() -> None:
    """Kill this process when the one that runs the tests is gone. Else it would stay, as no
    terminal is in charge of it.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def _run(
    code: str, words: list[str], out: Path, err: Path, folder: Path, environment: dict[str, str]
) -> None:
    _end_with_tests()
    os.environ.clear()
    os.environ.update(environment)
    for file, descriptor in ((out, 1), (err, 2)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND), descriptor)
    os.chdir(folder)
    sys.argv = ["privet", *words]
    exec(code, {"__name__": "__main__"})
