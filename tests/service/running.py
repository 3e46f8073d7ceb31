"""A curator's service as a process of its own, on loopback, and a plain client for it."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import time
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import pandas as pd

from privet.accounting.cost import Budget
from privet.domain import Categorical, Numeric, Schema
from privet.service.state import ServiceState
from tests.commands import PRIVET, Forked

#: No test waits for something that comes sooner or later for longer than this.
PATIENCE = 120
SCHEMA = Schema(
    attributes={
        "colour": Categorical(["red", "green", "blue"]),
        "age": Numeric(0, 80, bins=4),
        "smokes": Categorical(["no", "yes"]),
    },
    target="ill",
    classes=["no", "yes"],
    person="who",
    rows_per_person=1,
)


def people(path: Path, rows: int = 400) -> str:
    """A table of people in a DuckDB file; its place."""
    frame = pd.DataFrame(
        {
            "who": [f"p{i}" for i in range(rows)],
            "colour": [["red", "green", "blue"][i % 3] for i in range(rows)],
            "age": [float(i % 80) for i in range(rows)],
            "smokes": [["no", "yes"][i // 7 % 2] for i in range(rows)],
            "ill": ["yes" if i % 4 == 0 else "no" for i in range(rows)],
        }
    )
    with duckdb.connect(path) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return f"duckdb:////{str(path).lstrip('/')}?table=people"


@dataclass
class House:
    """A curator's home with one table, and the tokens of its analysts."""

    state: ServiceState
    table: Path
    tokens: dict[str, str] = field(default_factory=dict)
    service: Service | None = None
    flag: Path | None = None  # a file by which a test steers the service
    schema: Schema = SCHEMA

    @property
    def path(self) -> Path:
        return self.state.path

    def add(self, analyst: str, epsilon: str | int, dataset: str = "people") -> None:
        """An analyst who may spend this much."""
        if analyst not in self.tokens:
            self.tokens[analyst] = self.state.accounts.add_analyst(analyst)
        self.state.ledger.set_cap(dataset, Budget(epsilon), analyst)
        self.state.accounts.grant(analyst, dataset)


def house(folder: Path, epsilon: str | int = 1000, place: str | None = None) -> House:
    """A new home with the table "people" and nobody to ask about it yet."""
    state, _ = ServiceState.make(folder / "curator")
    table = folder / "people.db"
    state.accounts.add_dataset("people", place or people(table), SCHEMA)
    state.ledger.open_cap("people", Budget(epsilon))
    return House(state, table)


class Service:
    """``privet curator serve`` (or another server) as a process. ``before`` is Python that runs in
    it first, for faults.
    """

    def __init__(
        self,
        home: Path,
        log: Path,
        rate: float = 100_000,
        before: str = "",
        group: str = "curator",
        more: Sequence[str] = (),
        port: int = 0,
    ) -> None:
        serve = [group, "serve", "--home", str(home), "--port", str(port)]
        serve += ["--rate", str(rate), *more]
        self.log = log
        log.write_bytes(b"")
        self.process = Forked(f"{before}\n{PRIVET}", serve, log, log)
        self.port = self._listening()

    def _listening(self) -> int:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self.process.poll() is None:
            found = re.search(r"https?://127\.0\.0\.1:(\d+) ", self.told)
            if found:
                return int(found[1])
            time.sleep(0.02)
        self.kill()
        raise AssertionError(f"the service did not start: {self.told}")

    @property
    def told(self) -> str:
        """What it wrote."""
        return self.log.read_text(encoding="utf-8")

    @property
    def complaints(self) -> str:
        """What it wrote, beyond where it listens."""
        return re.sub(r"serving .*\n", "", self.told)

    def client(self, token: str = "") -> Client:
        return Client(self.port, token)

    def kill(self) -> None:
        """As a power cut would."""
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE)

    def stop(self) -> int:
        """Ask it to end; the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(PATIENCE)


@contextmanager
def serving(home: Path, rate: float = 100_000, before: str = "", group: str = "curator"):
    """A running service, which must not complain."""
    service = Service(home, home.parent / "serve.log", rate, before, group)
    try:
        yield service
    finally:
        service.kill()  # a graceful end takes longer, and has tests of its own


@dataclass(frozen=True)
class Answer:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self):
        return json.loads(self.body)

    @property
    def problem(self) -> dict:
        """The problem that this answer must be."""
        assert self.headers["content-type"] == "application/problem+json", (
            self.status,
            self.headers,
            self.body[:300],
        )
        told = self.json()
        assert told["status"] == self.status
        assert told["type"].startswith("urn:privet:problem:")
        assert told["title"]
        assert told["detail"]
        return told


class Lost(Exception):
    """The connection ended before the answer was complete."""


class Client:
    """One connection, kept open. Bytes go as they are given."""

    def __init__(self, port: int, token: str = "") -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> None:
        """Send a request, and do not wait."""
        try:
            self._send(method, path, body, headers)
        except (OSError, http.client.HTTPException):  # the service ended a connection that was idle
            self.close()
            try:
                self._send(method, path, body, headers)
            except (OSError, http.client.HTTPException) as error:
                raise Lost(repr(error)) from None

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> None:
        kind = {} if body is None else {"Content-Type": "application/json"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._http.request(method, f"/v1/{path}", body, {**self._headers, **kind, **named})

    def receive(self) -> Answer:
        try:
            response = self._http.getresponse()
            body = response.read()
            headers = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, headers, body)
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Lost(repr(error)) from None

    def request(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
        for last in (False, True):
            self.send(method, path, body, **headers)
            try:
                return self.receive()
            except Lost as lost:
                # Kept-alive connections are ended by the service after a while; that is no failure.
                if last or "RemoteDisconnected" not in str(lost):
                    raise
        raise AssertionError

    def get(self, path: str) -> Answer:
        return self.request("GET", path)

    def ask(
        self, question: str, body, key: str = "", dataset: str = "people", **headers: str
    ) -> Answer:
        """A question, waiting as long as the service asks to."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        keyed = {"Idempotency-Key": key} if key else {}
        while True:
            answer = self.request(
                "POST", f"datasets/{dataset}/{question}", sent, **keyed, **headers
            )
            if answer.status != 429:
                return answer
            time.sleep(float(answer.headers["retry-after"]))

    def hang_up(self) -> None:
        """End the connection at once, with a reset, while an answer is under way."""
        if self._http.sock is not None:
            self._http.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        self.close()
