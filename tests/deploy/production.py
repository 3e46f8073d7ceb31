"""Follow the page about production: its blocks, in folders of a test's own, and what it starts."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
PAGE = ROOT / "docs" / "how-to" / "run-in-production.md"
PATIENCE = 120


def nginx() -> str | None:
    """Where nginx is; it is not on everybody's path."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def blocks() -> Iterator[tuple[str, str, str]]:
    """Yield the blocks to follow: how, what, and the text that is shown after it."""
    text = PAGE.read_text(encoding="utf-8")
    shown = r"(?:\n+```text\n(?P<shown>.*?)^```)?"
    for found in re.finditer(
        rf"^```sh ?(?P<how>\w*)\n(?P<what>.*?)^```\n{shown}", text, flags=re.M | re.S
    ):
        yield found["how"] or "run", found["what"], found["shown"] or ""


def put_elsewhere(text: str, names: dict[str, str]) -> str:
    """Replace folders and ports by those of a test."""
    for name, other in names.items():
        text = text.replace(name, other)
    return text


@dataclass
class Proxy:
    """nginx with the configuration of the project, as a process of its own."""

    folder: Path
    configuration: Path
    process: subprocess.Popen[bytes] | None = None

    def write(self) -> Path:
        main = self.folder / "nginx-main.conf"
        temporary = "".join(
            f"  {name}_temp_path {self.folder}/{name};\n"
            for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        user = "user root;\n" if os.geteuid() == 0 else ""
        main.write_text(
            f"{user}daemon off;\npid {self.folder}/nginx.pid;\nerror_log {self.folder}/nginx.log;\n"
            f"events {{}}\nhttp {{\n{temporary}  include {self.configuration};\n}}\n"
        )
        return main

    def check(self) -> subprocess.CompletedProcess[str]:
        """``nginx -t``."""
        call = [str(nginx()), "-t", "-c", str(self.write())]
        return subprocess.run(call, capture_output=True, text=True, timeout=60, check=False)

    def start(self) -> None:
        done = self.check()
        assert done.returncode == 0, done.stderr
        self.process = subprocess.Popen([str(nginx()), "-c", str(self.write())])
        until = time.monotonic() + PATIENCE
        listening = self.folder / "nginx.pid"  # the check makes it, empty; written once it listens
        while not (listening.exists() and listening.read_text().strip()):
            assert self.process.poll() is None, (self.folder / "nginx.log").read_text()
            assert time.monotonic() < until
            time.sleep(0.02)

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)


@dataclass
class Machine:
    """Where a page is followed: its variables, its folder, and what it serves."""

    folder: Path
    names: dict[str, str]
    port: int
    variables: dict[str, str] = field(default_factory=dict)
    serving: subprocess.Popen[bytes] | None = None

    def __post_init__(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIVET_")}
        path = f"{Path(sys.executable).parent}:{kept['PATH']}"
        self.variables = {**kept, "PATH": path, "PWD": str(self.folder), **self.variables}

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run lines in a shell that goes on where the last one ended."""
        after = self.folder / "variables"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", f"{script}\nenv -0 > {after}"],
            cwd=self.variables["PWD"],
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=10 * PATIENCE,
            check=False,
        )
        if done.returncode == 0:
            pairs = after.read_text().rstrip("\0").split("\0")
            self.variables = dict(pair.partition("=")[::2] for pair in pairs)
        return done

    def serve(self, command: str) -> None:
        """Run a command that serves, until it answers."""
        with (self.folder / "serve.log").open("ab") as log:
            self.serving = subprocess.Popen(
                ["bash", "-c", f"exec {command}"],
                cwd=self.variables["PWD"],
                env=self.variables,
                stdout=log,
                stderr=log,
            )
        until = time.monotonic() + PATIENCE
        while True:
            assert self.serving.poll() is None, self.log
            assert time.monotonic() < until, self.log
            try:
                address = f"http://127.0.0.1:{self.port}/healthz"
                with urllib.request.urlopen(address, timeout=5):
                    return
            except OSError:
                time.sleep(0.1)

    def stop(self) -> int:
        assert self.serving is not None
        self.serving.send_signal(signal.SIGTERM)
        return self.serving.wait(PATIENCE)

    @property
    def log(self) -> str:
        return (self.folder / "serve.log").read_text(encoding="utf-8")
