"""Clean up after the tests, however they end: also when they are interrupted or killed.

A process of its own waits until the pipe closes through which it is told what there is. The pipe
closes when the process that runs the tests is gone; what is still there then is ended and removed.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

_GUARD = """
import os, shutil, signal, sys, time

def send(kill, number, which):
    try:
        kill(number, which)
    except (ProcessLookupError, PermissionError):
        return False
    return True

folders = []
for line in sys.stdin.read().splitlines():
    kind, what = line.split(" ", 1)
    if kind == "group":
        send(os.killpg, int(what), signal.SIGKILL)
    else:
        folders.append(what)
for folder in folders:
    try:
        server = int(open(os.path.join(folder, "postmaster.pid")).readline())
    except (OSError, ValueError):
        continue
    send(os.kill, server, signal.SIGQUIT)  # PostgreSQL ends at once
    until = time.monotonic() + 10
    while send(os.kill, server, 0) and time.monotonic() < until:
        time.sleep(0.02)
for folder in folders:
    shutil.rmtree(folder, ignore_errors=True)
"""


class Guard:
    """The process that cleans up. It survives interrupts of the terminal that the tests run in."""

    def __init__(self) -> None:
        command = [sys.executable, "-I", "-S", "-c", _GUARD]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, start_new_session=True
        )

    def end_group(self, number: int) -> None:
        """Kill this group of processes at the end."""
        self._tell("group", number)

    def remove(self, folder: Path) -> None:
        """Remove this folder at the end. A PostgreSQL server whose data are there is ended
        first.
        """
        self._tell("folder", folder)

    def close(self) -> None:
        """Clean up now."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)

    def _tell(self, kind: str, what: object) -> None:
        print(kind, what, file=self._process.stdin, flush=True)


@cache
def guard() -> Guard:
    """The guard of this process. At a regular exit it has cleaned up when the process is gone."""
    started = Guard()
    # Last of all: after what ``atexit`` knows, and after the files of multiprocessing (-100).
    Finalize(None, started.close, exitpriority=-200)
    return started
