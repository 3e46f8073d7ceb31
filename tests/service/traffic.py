"""Analysts who ask all kinds of questions, hang up, send again, and remember what they sent and
got.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction

from privet.accounting.ledger import Receipt
from tests.service.running import Answer, Client, Lost

COSTS = ("1/7", "0.1", "1/3", "0.05", "1/8")
SPLITS = [
    {"attribute": "colour", "branch": [0, 1, 2]},
    {"attribute": "age", "branch": [0, 0, 1, 1]},
]
QUESTIONS = {
    "size": {},
    "count": {
        "cells": [[{"colour": ["red"]}, {"colour": ["green", "blue"], "smokes": ["yes"]}]],
        "partitions": [{"by": "age"}, {}],
    },
    "sums": {"score": [0, 3], "cells": [{"age": [0, 1]}, {"age": [2, 3]}]},
    "choose": {"splits": SPLITS, "cells": [{"smokes": ["no"]}, {"smokes": ["yes"]}]},
    "choose-partition": {
        "cells": [[{"colour": ["red"]}], [{}]],
        "expected": [[9, 9], [50, 50]],
        "handicaps": [1, 2],
    },
    "quantile": {"attribute": "age", "q": "0.9"},
    "draw-tree": {"space": {"depth": 1}},
}


@dataclass(frozen=True)
class Sent:
    """A request, byte for byte."""

    question: str
    body: bytes
    cost: Fraction


@dataclass
class Analyst:
    """One analyst with connections of their own. What is said here is later held against the
    ledger.
    """

    name: str
    token: str
    port: int
    seed: str
    questions: tuple[str, ...] = tuple(QUESTIONS)
    sent: dict[str, Sent] = field(default_factory=dict)
    answers: dict[str, list[bytes]] = field(default_factory=dict)
    group_answers: dict[str, list[bytes]] = field(default_factory=dict)
    statuses: Counter = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)
    open_keys: set[str] = field(default_factory=set)  # sent, and nothing is known of an answer

    def __post_init__(self) -> None:
        self.rng = random.Random(f"{self.name} {self.seed}")

    def work(self, steps: int | None, begun: list[float] | None = None) -> None:
        """Take steps until they are done, or (None) until the service is gone."""
        kinds = {
            self.new: 52,
            self.replay: 14,
            self.hang_up: 12,
            self.twins: 6,
            self.free: 8,
            self.other_body: 3,
            self.divide: 5,
        }
        with Client(self.port, self.token) as client:
            try:
                while steps is None or steps > 0:
                    self.rng.choices(list(kinds), list(kinds.values()))[0](client)
                    steps = None if steps is None else steps - 1
                    if begun is not None:
                        begun.append(time.monotonic())
            except Lost:
                if steps is not None:
                    self.odd.append("the connection was lost")
            except AssertionError as error:
                self.odd.append(str(error)[:500])

    # -- steps -------------------------------------------------------------------------------------

    def question(self, **more) -> tuple[str, Sent]:
        question = self.rng.choice(self.questions)
        cost = self.rng.choice(COSTS)
        body = json.dumps({**QUESTIONS[question], "epsilon": cost, **more}).encode()
        return f"{self.name}-{self.seed}-{len(self.sent)}", Sent(question, body, Fraction(cost))

    def new(self, client: Client) -> None:
        self.send(client, *self.question())

    def replay(self, client: Client) -> None:
        if self.answers:
            key = self.rng.choice(list(self.answers))
            answer = self.send(client, key, self.sent[key])
            if answer.status != 200 or answer.headers.get("privet-replayed") != "true":
                self.odd.append(f"a replay of {key} got {answer.status}, {answer.headers}")

    def hang_up(self, client: Client) -> None:
        """Hang up while the answer is under way, and send the same again."""
        key, sent = self.question()
        self.sent[key] = sent
        self.open_keys.add(key)
        with Client(self.port, self.token) as other:
            other.send("POST", f"datasets/people/{sent.question}", sent.body, Idempotency_Key=key)
            time.sleep(self.rng.choice((0, 0.001, 0.005, 0.02)))
            other.hang_up()
        self.send(client, key, sent)

    def twins(self, client: Client) -> None:
        """The same request on two connections at once."""
        key, sent = self.question()
        self.sent[key] = sent
        self.open_keys.add(key)
        with Client(self.port, self.token) as other:
            other.send("POST", f"datasets/people/{sent.question}", sent.body, Idempotency_Key=key)
            self.send(client, key, sent)
            self.took(key, other.receive())

    def free(self, client: Client) -> None:
        """What charges nothing."""
        history = f"datasets/people/history?after={self.rng.randrange(50)}&limit={self.rng.randrange(1, 20)}"  # noqa: E501
        path = self.rng.choice(("datasets", "datasets/people", history, "preview"))
        answer = (
            client.ask("preview", {"plan": [{"epsilon": "1/3"}] * 3})
            if path == "preview"
            else self.patiently(client, path)
        )
        self.statuses[answer.status] += 1
        if answer.status != 200:
            self.odd.append(f"{path} got {answer.status}: {answer.body[:200]!r}")

    def other_body(self, client: Client) -> None:
        """The key of another request."""
        if self.answers:
            key = self.rng.choice(list(self.answers))
            answer = client.ask("size", {"epsilon": "1/1000"}, key)
            self.statuses[answer.status] += 1
            if answer.status != 409:
                self.odd.append(f"another body under {key} got {answer.status}")

    def divide(self, client: Client) -> None:
        """Groups of people within a snapshot, each asked until its budget is spent."""
        begun = client.ask("snapshots", b"")
        self.statuses[begun.status] += 1
        if begun.status != 201:
            self.odd.append(f"a snapshot got {begun.status}: {begun.body[:200]!r}")
            return
        snapshot = begun.json()["snapshot"]
        key, inside = self.question(snapshot=snapshot)
        self.send(client, key, inside)
        key = f"{self.name}-{self.seed}-{len(self.sent)}"
        body = {"epsilon": "1/4", "n_parts": 3, "snapshot": snapshot}
        divided = self.send(client, key, Sent("divide", json.dumps(body).encode(), Fraction(1, 4)))
        if divided.status == 200:
            for number in range(3):
                self.group(client, snapshot, divided.json()["answer"]["division"], number)
        ended = client.request("DELETE", f"datasets/people/snapshots/{snapshot}")
        self.statuses[ended.status] += 1
        if divided.status == 200:  # also when the snapshot has ended
            self.send(client, key, self.sent[key])

    def group(self, client: Client, snapshot: str, division: int, number: int) -> None:
        body = json.dumps(
            {
                "epsilon": "1/8",
                "snapshot": snapshot,
                "part": {"division": division, "number": number},
            }
        ).encode()
        for turn in range(3):
            key = f"{self.name}-{self.seed}-{division}-{number}-{turn}"
            for _ in range(2):
                answer = client.ask("size", body, key)
                self.statuses[answer.status] += 1
                if answer.status != (200 if turn < 2 else 403):
                    self.odd.append(
                        f"question {turn} of a group got {answer.status}: {answer.body[:200]!r}"
                    )
                elif turn < 2:
                    self.group_answers.setdefault(key, []).append(answer.body)

    # -- sending -----------------------------------------------------------------------------------

    @staticmethod
    def patiently(client: Client, path: str) -> Answer:
        while True:
            answer = client.get(path)
            if answer.status != 429:
                return answer
            time.sleep(float(answer.headers["retry-after"]))

    def send(self, client: Client, key: str, sent: Sent) -> Answer:
        self.sent[key] = sent
        self.open_keys.add(key)
        answer = client.ask(sent.question, sent.body, key)
        self.took(key, answer)
        return answer

    def took(self, key: str, answer: Answer) -> None:
        self.statuses[answer.status] += 1
        if answer.status == 200:
            self.answers.setdefault(key, []).append(answer.body)
        elif answer.status != 429:
            told = answer.problem
            refused = answer.status == 403 and Fraction(told["asked"]) > Fraction(told["left"])
            if not refused:
                self.odd.append(f"{key} got {answer.status}: {told['detail']}")
        if answer.status != 429:
            self.open_keys.discard(key)

    # -- afterwards --------------------------------------------------------------------------------

    @property
    def receipts(self) -> list[Receipt]:
        """Of answers from the ledger on disk; groups have one in memory."""
        return [Receipt.read(json.loads(bodies[0])["receipt"]) for bodies in self.answers.values()]

    @property
    def changed(self) -> list[str]:
        """The keys whose answer was not the same each time."""
        return [
            key
            for kept in (self.answers, self.group_answers)
            for key, bodies in kept.items()
            if len(set(bodies)) > 1
        ]
