"""The walk-throughs work as they are written, with everybody in a terminal of their own."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests import commands
from tests.commands import Forked, run
from tests.ports import free_port

PAGES = Path(__file__).parent.parent.parent / "docs" / "tutorials"


def blocks(text: str):
    """What is written for each terminal, in order."""
    for info, body in re.findall(
        r"^```((?:console|python) [\w ]+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL
    ):
        kind, who, *refused = info.split()
        yield kind, who, bool(refused), body


class Terminal:
    def __init__(self, folder: Path, name: str, tokens: dict[str, str]) -> None:
        self.folder, self.name, self.tokens = folder, name, tokens
        self.environment = {
            name: value for name, value in os.environ.items() if not name.startswith("PRIVET_")
        }
        self.serving: Forked | None = None

    def run(self, line: str) -> subprocess.CompletedProcess:
        words = shlex.split(line)
        if words[0] == "export":
            assert words[1] == "PRIVET_TOKEN=privet_..."
            self.environment["PRIVET_TOKEN"] = self.tokens[self.name]
            return subprocess.CompletedProcess(words, 0, "", "")
        assert words[0] in ("privet", "python"), line
        if words[0] == "privet" and words[2:3] != ["serve"]:
            return run(words[1:], self.folder, self.environment)
        if words[2:3] == ["serve"]:
            log = self.folder / f"{self.name}.log"
            self.serving = Forked(
                commands.PRIVET, words[1:], log, log, self.folder, self.environment
            )
            while "serving" not in (log.read_text() if log.exists() else ""):
                assert self.serving.poll() is None, log.read_text()
                time.sleep(0.02)
            return subprocess.CompletedProcess(words, 0, "", "")
        call = [sys.executable, *words[1:]]
        return subprocess.run(
            call,
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )


@pytest.fixture
def port():
    return free_port()


def walk(
    page: str, folder: Path, port: int, written: str
) -> tuple[str, str, list[str], dict[str, str]]:
    """Do what a page says, with another port than it says: the page, what was said, what was
    refused, and everybody's token.
    """
    text = (PAGES / page).read_text(encoding="utf-8").replace(written, str(port))
    tokens: dict[str, str] = {}
    terminals: dict[str, Terminal] = {}
    said, refusals = "", []
    try:
        for kind, who, refused, body in blocks(text):
            if kind == "python":
                (folder / f"{who}.py").write_text(body, encoding="utf-8")
                continue
            terminal = terminals.setdefault(who, Terminal(folder, who, tokens))
            lines = [line[2:] for line in body.splitlines() if line.startswith("$ ")]
            for line in lines:
                done = terminal.run(line)
                expected = refused and line == lines[-1]
                assert (done.returncode != 0) == expected, (
                    f"{who}: {line}\n{done.stdout}\n{done.stderr}"
                )
                if expected:
                    refusals.append(done.stderr.strip())
                for name, token in re.findall(
                    r"the token of '(\w+)', shown this once: (\S+)", done.stdout
                ):
                    tokens[name] = token
                said += done.stdout + done.stderr
    finally:
        for terminal in terminals.values():
            if terminal.serving is not None:
                _stop(terminal.serving)
    assert refusals
    assert refusals[0] in " ".join(text.split()), "the page shows what is said"
    return text, said, refusals, tokens


def _stop(server: Forked) -> None:
    os.kill(server.pid, signal.SIGINT)
    try:
        server.wait(60)
    finally:
        server.kill()


def test_the_page_about_the_curator_walks_through(tmp_path, port):
    _, said, _, tokens = walk("curator.md", tmp_path, port, "8000")
    assert re.search(r"the ledger is whole: \d+ lines, \d+ receipts fit", said)
    assert "'bob' may no longer ask" in said
    assert not (tmp_path / "more.json").exists()
    assert {path.name for path in tmp_path.glob("*.json")} >= {"ada.json", "bob.json"}
    ledger = (tmp_path / "curator" / "ledger.sqlite").read_bytes()
    assert not any(token.encode() in ledger for token in tokens.values())


@pytest.mark.slow
def test_the_outsourced_table(tmp_path, port):
    _, said, _, _ = walk("outsource.md", tmp_path, port, "8100")
    rows = {
        name: (tmp_path / f"{name}.csv").read_text().splitlines()
        for name in ("said", "again", "alone", "naive", "stored", "back")
    }
    assert rows["said"] == rows["again"]
    assert len(rows["said"]) == len(rows["naive"]) == len(rows["alone"]) == 501
    assert len(rows["back"]) == len(rows["stored"]), "what was inserted was deleted"
    assert not (tmp_path / "wrong.csv").exists()
    assert "not differential privacy" in (tmp_path / "card.md").read_text()
    assert (tmp_path / "attack.svg").exists()
    right = [int(n) for n in re.findall(r"right for (\d+) of 500 rows", said)]
    assert len(right) == 4
    # How the groups were drawn moves these by a few rows.
    assert right[2] < right[0] == right[1] <= right[3] + 20, "refining shows a gain"
