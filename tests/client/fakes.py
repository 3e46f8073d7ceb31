"""Stand-ins: a network that answers from a script, a clock that nobody waits for, and a service
without HTTP in front.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2

from privet.accounting.cost import Budget
from privet.accounting.ledger.journal import cost_to, entry_to
from privet.client.curator import RemoteCurator
from privet.client.session import Session
from privet.client.transport import Link
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.errors import PrivetError
from privet.service import requests
from privet.service.problems import problem_of

URL = "http://127.0.0.1:8000"
TOKEN = "pvt_the-token-that-nobody-may-see"
SCHEMA = Schema(
    {
        "form": Categorical(["complete", "foster", "other"]),
        "age": Numeric(0, 100, bins=4),
        "health": Categorical(["good", "bad"]),
    },
    "class",
    ["no", "maybe", "yes"],
    n_rows=300,
)
ROWS = {
    "form": ["complete", "foster", "other"] * 100,
    "age": [(7 * i) % 100 for i in range(300)],
    "health": ["good", "bad"] * 150,
    "class": ["no", "no", "yes"] * 100,
}


class Clock:
    """A time that passes only by sleeping."""

    def __init__(self) -> None:
        self.now, self.slept = 1000.0, []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Script:
    """Answers in turn what it was given: responses, or errors to raise; the last one for ever."""

    def __init__(self, *outcomes: httpx2.Response | Exception) -> None:
        self.outcomes, self.seen = list(outcomes), []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        outcome = self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]
        if isinstance(outcome, Exception):
            raise outcome
        return httpx2.Response(
            outcome.status_code, headers=outcome.headers, content=outcome.content
        )


def linked(
    handler: Callable[[httpx2.Request], httpx2.Response], clock: Clock | None = None, **options: Any
) -> Link:
    """A connection over a stand-in for the network."""
    clock, token = clock or Clock(), options.pop("token", TOKEN)
    return Link(
        URL, token, over=httpx2.MockTransport(handler), sleep=clock.sleep, clock=clock, **options
    )


def problem(
    slug: str, status: int, detail: str = "why", headers: dict[str, str] | None = None, **more: Any
) -> httpx2.Response:
    """A problem as a curator reports it."""
    told = {
        "type": f"urn:privet:problem:{slug}",
        "title": "What",
        "status": status,
        "detail": detail,
        **more,
    }
    return httpx2.Response(status, headers=headers, content=json.dumps(told).encode())


class Service:
    """What the service does for an analyst, over a curator in this process."""

    def __init__(self, schema: Schema = SCHEMA, budget: Budget | None = None) -> None:
        self.curator = Curator(
            ROWS, schema, budget or Budget(1000), dataset="people", analyst="ada"
        )
        self.parts: list[Curator] = []
        self.seen: list[httpx2.Request] = []
        self.snapshots: list[str] = []
        #: Changes a reply before it leaves.
        self.spoil: Callable[[str, Any], Any] = lambda _, told: told

    def connect(self) -> RemoteCurator:
        return RemoteCurator(Session(linked(self), "people"))

    def asked(self, operation: str) -> list[dict[str, Any]]:
        """The bodies of all questions of one kind."""
        return [
            json.loads(one.content) for one in self.seen if one.url.path.endswith(f"/{operation}")
        ]

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.seen.append(request)
        operation = request.url.path.removeprefix("/v1/datasets/people").removeprefix("/")
        if request.method == "DELETE":
            there = operation.removeprefix("snapshots/") in self.snapshots
            self.snapshots = [one for one in self.snapshots if not operation.endswith(f"/{one}")]
            return httpx2.Response(204) if there else problem("snapshot-gone", 410)
        try:
            told = self.spoil(operation, self._told(operation, request))
        except PrivetError as error:
            response = problem_of(error)
            return httpx2.Response(
                response.status_code, headers=dict(response.headers), content=response.body
            )
        return httpx2.Response(
            200, content=told if isinstance(told, bytes) else json.dumps(told).encode()
        )

    def _told(self, operation: str, request: httpx2.Request) -> Any:
        curator = self.curator
        if operation == "":
            money = {
                "unit": curator.unit,
                "left": str(curator.left),
                "spent": cost_to(curator.spent),
            }
            told = {
                "name": "people",
                "schema": curator.schema.to_json(),
                "fingerprint": curator.schema.fingerprint,
            }
            told["account"] = curator.account
            return {**told, **money, "private": curator.private, "reason": curator.reason}
        if operation == "history":
            after = int(request.url.params["after"])
            entries = [entry for entry in curator.ledger.entries() if entry.number > after]
            lines = [
                {**entry_to(entry), "receipt": f"receipt {entry.number}", "answered": True}
                for entry in entries[:2]
            ]
            return {"entries": lines, "next": entries[1].number if len(entries) > 2 else None}
        if operation == "snapshots":
            self.snapshots.append(f"snapshot-{len(self.seen)}")
            return {"snapshot": self.snapshots[-1], "seconds": 300}
        body = json.loads(request.content)
        if operation == "preview":
            requests.PLAN.check(body, "body")
        else:
            requests.check_body(operation, body)
        part = requests.rows_of(body).part
        if part is not None:
            curator = self.parts[part[1]]
        if operation == "preview":
            return curator.preview([requests.parse_planned(body)]).to_json()
        if operation == "divide":
            self.parts = curator.split_people(body["n_parts"], body["epsilon"])
            nothing = {"cost": None, "row_cost": None, "private": True, "entry": None}
            return {
                "answer": {**nothing, "division": 0, "n_parts": body["n_parts"]},
                "receipt": "receipt",
            }
        query = requests.query_of(operation, curator.schema, body)
        answer = curator.ask(query, body.get("epsilon"), rho=body.get("rho"))
        return {"answer": answer.to_json(), "receipt": f"receipt of {operation}"}
