"""A server as a process of its own, on loopback."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from tests.commands import Forked
from tests.service.running import PATIENCE, Client, Lost

__all__ = ["Asking", "Lost", "Server", "serving"]

_CODE = """
import json, sys
from pathlib import Path
from privet.outsource.server.state import ServerState
from privet.outsource.server.state import ServerLimits
from privet.outsource.server.serve import run
home, modules = sys.argv[1:]
run(ServerState.open(home), ServerLimits(rate=100_000, burst=100_000), "127.0.0.1", 0)
Path(modules).write_text(json.dumps(sorted(sys.modules)))
"""


class Server:
    """A process that serves a home. When it is asked to end, it says which modules it had loaded:
    what it needs, if it begins with none.
    """

    def __init__(self, home: Path, with_none: bool = False) -> None:
        self.log, self._modules = home.parent / "serve.log", home.parent / "modules.json"
        words = [str(home), str(self._modules)]
        with self.log.open("wb") as file:
            if with_none:
                self.process = subprocess.Popen(
                    [sys.executable, "-c", _CODE, *words], stdout=file, stderr=file
                )
            else:
                self.process = Forked(_CODE, words, self.log, self.log)
        self.port = self._listening()

    def _listening(self) -> int:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"http://127\.0\.0\.1:(\d+) ", self.told)
            if found:
                return int(found[1])
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the server did not start: {self.told}")

    @property
    def told(self) -> str:
        """What it wrote."""
        return self.log.read_text(encoding="utf-8")

    def asking(self, token: str) -> Asking:
        return Asking(self.port, token)

    def kill(self) -> None:
        """As a power cut would."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> list[str]:
        """Ask it to end; the modules it had loaded."""
        self.process.terminate()
        assert self.process.wait(PATIENCE) == 0, self.told
        return json.loads(self._modules.read_text())


class Asking(Client):
    """One connection of a client."""

    def call(self, method: str, path: str, body=None):
        """The answer, as status and JSON. A request whose connection ends is not sent again: nobody
        knows what became of it.
        """
        self.send(method, path, None if body is None else json.dumps(body).encode())
        answer = self.receive()
        return answer.status, json.loads(answer.body) if answer.body else None


@contextmanager
def serving(home: Path, with_none: bool = False):
    server = Server(home, with_none)
    try:
        yield server
    finally:
        server.kill()
