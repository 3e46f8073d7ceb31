"""``privet`` in a process of its own, without the second or two that each would need to import what it works with.

A process that has imported everything waits, and is forked for each command. So memory, environment, folder and exit code are the
command's own, as in a terminal.
"""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

#: What commands import, sooner or later.
_IMPORTED = ["privet.cli.app", "duckdb", "numba", "pandas", "pyarrow.parquet", "sklearn.base", "privet.learners", "privet.curator"]
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(_IMPORTED)


def run(words: Sequence[object], folder: Path, environment: Mapping[str, str], patience: float = 300) -> subprocess.CompletedProcess[str]:
    """Run ``privet`` with these words, in this folder."""
    with tempfile.TemporaryDirectory() as temporary:
        out, err = Path(temporary, "out"), Path(temporary, "err")
        process = _forks.Process(target=_command, args=([str(word) for word in words], folder, dict(environment), out, err))
        process.start()
        process.join(patience)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(f"privet {words}", patience, out.read_text("utf-8"), err.read_text("utf-8"))
        return subprocess.CompletedProcess(["privet", *words], process.exitcode, out.read_text("utf-8"), err.read_text("utf-8"))


def _command(words: list[str], folder: Path, environment: dict[str, str], out: Path, err: Path) -> None:
    os.environ.clear()
    os.environ.update(environment)
    for file, descriptor in ((out, 1), (err, 2)):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT), descriptor)
    os.chdir(folder)
    sys.argv = ["privet", *words]
    from privet.cli import main

    main()
