"""Flower on this machine: a SuperLink and SuperNodes as separate processes on loopback, all ended
together.
"""

from __future__ import annotations

import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

APP = Path(__file__).parent / "app"
_BIN = Path(sys.executable).parent


class Ended(NamedTuple):
    """How a run ended, and what the server app said."""

    completed: bool
    log: str


class Flower:
    """A SuperLink and one SuperNode per party. ``with Flower(folder) as flower: flower.join(...);
    flower.run(...)``.
    """

    def __init__(self, folder: Path, app: Path = APP, *, tls: bool = False) -> None:
        self.folder, self._app, self._tls = folder, app, tls
        self._home = folder / "flower"
        self._home.mkdir(parents=True)
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Flower:
        self._port = free_port()
        authority = self._home / "ca.pem"
        connection = (
            '[superlink]\ndefault = "loopback"\n\n[superlink.loopback]\naddress = '
            f'"127.0.0.1:{self._port}"\n'
            + (f'root-certificates = "{authority}"\n' if self._tls else "insecure = true\n")
        )
        (self._home / "config.toml").write_text(connection)
        security = ["--insecure"]
        self._trusted = ["--insecure"]
        if self._tls:
            write_certificates(self._home)
            named = {"ca-certfile": "ca.pem", "certfile": "link.pem", "keyfile": "link.key"}
            security = [
                word
                for name, file in named.items()
                for word in (f"--ssl-{name}", self._home / file)
            ]
            self._trusted = ["--root-certificates", str(authority)]
        # Apps run from what is installed here.
        self._start(
            "superlink",
            "flower-superlink",
            *map(str, security),
            "--port",
            str(self._port),
            "--disable-runtime-dependency-installation",
        )
        self._wait_until_listening(self._port)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for name in reversed(list(self.processes)):
            self.end(name)

    def join(self, name: str, config: Mapping[str, object]) -> None:
        """Start the SuperNode of a party."""
        settings = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        where = ("--superlink", f"127.0.0.1:{self._port}", "--port", str(free_port()))
        self._start(name, "flower-supernode", *self._trusted, *where, "--node-config", settings)

    def run(self, config: Mapping[str, object], timeout: float = 300.0) -> Ended:
        """Run the app to its end."""
        overrides = " ".join(f"{key}={json.dumps(value)}" for key, value in config.items())
        log = self._flwr(timeout, "run", str(self._app), "--run-config", overrides, "--stream")
        newest = max(
            json.loads(self._flwr(60, "ls", "--format", "json"))["runs"],
            key=lambda run: run["pending-at"],
        )
        return Ended(newest["status"] == "finished:completed", log)

    def log(self, name: str) -> str:
        return (self._home / f"{name}.log").read_text(errors="replace")

    def end(self, name: str, how: signal.Signals = signal.SIGTERM) -> None:
        """End a process and everything that it started: apps have sessions of their own, and
        outlive it for some seconds.
        """
        process = self.processes.pop(name)
        started = descendants(process.pid)
        process.send_signal(how)
        for child in started:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _start(self, name: str, *command: str) -> None:
        with (self._home / f"{name}.log").open("wb") as log:
            # A session of its own: Ctrl-C comes to this process alone, which ends the others.
            self.processes[name] = subprocess.Popen(
                [_BIN / command[0], *command[1:]],
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _flwr(self, timeout: float, *command: str) -> str:
        done = subprocess.run(
            [_BIN / "flwr", *command],
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"flwr {command[0]} failed: {done.stdout}{done.stderr}")
        return done.stdout

    @property
    def _environment(self) -> dict[str, str]:
        return {
            **os.environ,
            "PATH": f"{_BIN}{os.pathsep}{os.environ.get('PATH', '')}",
            "FLWR_HOME": str(self._home),
            "FLWR_TELEMETRY_ENABLED": "0",
            "FLWR_DISABLE_UPDATE_CHECK": "1",
        }

    def _wait_until_listening(self, port: int, timeout: float = 30.0) -> None:
        until = time.monotonic() + timeout
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.1)
        raise TimeoutError(f"no SuperLink within {timeout:g} seconds:\n{self.log('superlink')}")


def write_certificates(folder: Path) -> None:
    """Write an authority of this run's own, and its certificate for the SuperLink on loopback."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    keys = {name: ec.generate_private_key(ec.SECP256R1()) for name in ("ca", "link")}
    names = {name: x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in keys}
    now = datetime.now(UTC)
    for name, key in keys.items():
        built = (
            x509.CertificateBuilder()
            .subject_name(names[name])
            .issuer_name(names["ca"])
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(hours=1))
            .not_valid_after(now + timedelta(days=1))
            .add_extension(x509.BasicConstraints(ca=name == "ca", path_length=None), critical=True)
            .add_extension(
                x509.SubjectAlternativeName(
                    [
                        x509.DNSName("localhost"),
                        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
                    ]
                ),
                critical=False,
            )
            .sign(keys["ca"], hashes.SHA256())
        )
        (folder / f"{name}.pem").write_bytes(built.public_bytes(serialization.Encoding.PEM))
        private = key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        (folder / f"{name}.key").touch(0o600)
        (folder / f"{name}.key").write_bytes(private)


def descendants(ancestor: int) -> list[int]:
    """The processes below this one."""
    listed = subprocess.run(
        ["ps", "-eo", "pid=,ppid="], capture_output=True, text=True, check=True
    ).stdout
    parents = {
        int(child): int(parent) for child, parent in (line.split() for line in listed.splitlines())
    }
    found = [ancestor]
    for known in found:  # grows while it is read
        found += [child for child, parent in parents.items() if parent == known]
    return found[1:]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
