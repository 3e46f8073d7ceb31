"""The server and the clients of one fold, each a process. None of them, and nothing that they keep,
outlives the run.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from experiments.papers.anatomy.client import READY
from privet.errors import OutsourceError

_PATIENCE = 120.0
#: The command, with a thread beside it: when the end of the run closes its input, even by a kill,
#: the folder and the server go.
_SERVE = """
import os, shutil, sys, threading
def watch(folder):
    sys.stdin.buffer.read()
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
threading.Thread(target=watch, args=(sys.argv.pop(1),), daemon=True).start()
from privet.cli import main
sys.argv[0] = "privet"
main()
"""


class Server:
    """``privet outsource serve`` on a free port of loopback.

    Args:
        home: of the server.
        work: the folder to remove should this process be killed.
    """

    def __init__(self, home: Path, work: Path) -> None:
        self._log = work / "serve.log"
        # No rate: the experiments are about the cost of clients, and one client asks as fast as it
        # can.
        serve = ["outsource", "serve", "--home", str(home), "--port", "0", "--rate", "1e9"]
        with self._log.open("wb") as log:
            command = [sys.executable, "-c", _SERVE, str(work), *serve]
            # - ours
            self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log)  # noqa: S603

    def __enter__(self) -> Self:
        try:
            self.url = self._listening()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """End it, by force where it does not end by itself."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdin is not None
        self._process.stdin.close()

    def _listening(self) -> str:
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._process.poll() is None:
            if found := re.search(
                r"http://127\.0\.0\.1:\d+", self._log.read_text(encoding="utf-8")
            ):
                return found[0]
            time.sleep(0.02)
        raise OutsourceError(
            f"the server did not start: {self._log.read_text(encoding='utf-8').strip()[-500:]}"
        )


class Client:
    """A process for one request, which is started ahead so that no interpreter starts while
    something is measured.
    """

    def __init__(self) -> None:
        command = [sys.executable, "-m", "experiments.papers.anatomy.client"]
        pipe = subprocess.PIPE
        # - ours
        self._process = subprocess.Popen(  # noqa: S603
            command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, encoding="utf-8"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._process as process:
            process.kill()

    def ready(self) -> None:
        """Wait until it has begun."""
        assert self._process.stdout is not None
        if self._process.stdout.readline().strip() != READY:
            raise OutsourceError(
                f"a client did not start: {self._process.communicate()[1].strip()[-500:]}"
            )

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Its answer. The request goes through a pipe, because it holds a token."""
        told, complaint = self._process.communicate(json.dumps(request))
        if self._process.returncode:
            raise OutsourceError(
                f"the client of {request['learner']} failed: {complaint.strip()[-500:]}"
            )
        answer: dict[str, Any] = json.loads(told)
        return answer
