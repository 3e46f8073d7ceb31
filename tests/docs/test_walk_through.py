"""The walk-through of the curator works as it is written: an owner and two analysts, each in a terminal of their own."""

from __future__ import annotations

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent.parent / "docs" / "tutorials" / "curator.md"
PRIVET = [sys.executable, "-c", "from privet.cli import main; main()"]


def blocks(text: str):
    """What is written for each terminal, in order."""
    for info, body in re.findall(r"^```((?:console|python) [\w ]+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        kind, who, *refused = info.split()
        yield kind, who, bool(refused), body


class Terminal:
    def __init__(self, folder: Path, name: str, tokens: dict[str, str]) -> None:
        self.folder, self.name, self.tokens = folder, name, tokens
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("PRIVET_")}
        self.serving: subprocess.Popen | None = None

    def run(self, line: str) -> subprocess.CompletedProcess:
        words = shlex.split(line)
        if words[0] == "export":
            assert words[1] == "PRIVET_TOKEN=privet_..."
            self.environment["PRIVET_TOKEN"] = self.tokens[self.name]
            return subprocess.CompletedProcess(words, 0, "", "")
        assert words[0] in ("privet", "python"), line
        call = [*(PRIVET if words[0] == "privet" else [sys.executable]), *words[1:]]
        if words[1:3] == ["curator", "serve"]:
            self.serving = subprocess.Popen(call, cwd=self.folder, env=self.environment, stderr=subprocess.PIPE, text=True)
            assert "serving" in self.serving.stderr.readline()
            return subprocess.CompletedProcess(words, 0, "", "")
        return subprocess.run(call, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.fixture
def port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_the_walk_through(tmp_path, port):
    text = PAGE.read_text(encoding="utf-8").replace("8000", str(port))
    tokens: dict[str, str] = {}
    terminals = {name: Terminal(tmp_path, name, tokens) for name in ("owner", "owner2", "ada", "bob")}
    said, refusals = "", []
    try:
        for kind, who, refused, body in blocks(text):
            if kind == "python":
                (tmp_path / f"{who}.py").write_text(body, encoding="utf-8")
                continue
            for line in [line[2:] for line in body.splitlines() if line.startswith("$ ")]:
                done = terminals[who].run(line)
                assert (done.returncode != 0) == refused, f"{who}: {line}\n{done.stdout}\n{done.stderr}"
                if refused:
                    refusals.append(done.stderr.strip())
                for analyst, token in re.findall(r"the token of '(\w+)', shown this once: (\S+)", done.stdout):
                    tokens[analyst] = token
                said += done.stdout
    finally:
        server = terminals["owner"].serving
        if server is not None:
            server.send_signal(signal.SIGINT)
            deadline = time.monotonic() + 60
            while server.poll() is None and time.monotonic() < deadline:
                time.sleep(0.1)
            server.kill()
            server.stderr.close()
            server.wait()
    assert refusals
    assert refusals[0] in " ".join(text.split()), "the page shows what is said"
    assert re.search(r"the ledger is whole: \d+ lines, \d+ receipts fit", said)
    assert "'bob' may no longer ask" in said
    assert not (tmp_path / "more.json").exists()
    assert {path.name for path in tmp_path.glob("*.json")} >= {"ada.json", "bob.json"}
    ledger = (tmp_path / "curator" / "ledger.sqlite").read_bytes()
    assert not any(token.encode() in ledger for token in tokens.values())
