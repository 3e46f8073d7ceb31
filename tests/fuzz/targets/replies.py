"""What comes back from a server that is not what it should be: a curator's answers, and those of
the server of an outsourced table.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import httpx2
import numpy as np

from privet.client.curator import RemoteCurator
from privet.client.session import Session
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace
from privet.errors import SealError
from privet.outsource.cipher import KeyRing
from privet.outsource.client import OutsourcedTable
from privet.outsource.client.leaves import read_leaves
from privet.outsource.client.subtrees import TrueRows, join_rows
from privet.outsource.client.updates import read_waiting_rows
from privet.outsource.files import write_halves
from privet.outsource.server.app import create_app
from privet.outsource.server.state import ServerState
from privet.outsource.split import split
from tests.client.fakes import SCHEMA, TOKEN, Service, linked
from tests.fuzz.asgi import Served, request
from tests.fuzz.mutate import mutated_bytes, mutated_json
from tests.fuzz.target import Target
from tests.outsource.people import SCHEMA as PEOPLE
from tests.outsource.people import people

BLANK = b"\n\n"


def mutated_reply(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Mostly another body; now and then another status, or the reply to another question."""
    head, _, body = data.partition(BLANK)
    chance = rng.random()
    if chance < 0.05:
        kind, _, _ = head.partition(b" ")
        head = (
            kind
            + b" "
            + rng.choice(
                (
                    b"200",
                    b"201",
                    b"204",
                    b"301",
                    b"400",
                    b"403",
                    b"404",
                    b"409",
                    b"422",
                    b"500",
                    b"503",
                    b"999",
                    b"100",
                )
            )
        )
    elif chance < 0.1:
        body = rng.choice(others).partition(BLANK)[2]
    elif chance < 0.15:
        body = mutated_bytes(rng, body)
    else:
        body = mutated_json(rng, body, [other.partition(BLANK)[2] for other in others])
    return head + BLANK + body


def _asked(curator: RemoteCurator) -> dict[str, Callable[[], Any]]:
    root = Cells.everything(SCHEMA)
    splits = [Split.multiway(SCHEMA, "form"), Split.threshold(SCHEMA, "age", code=2)]
    return {
        "count": lambda: curator.count(root.refine({0: splits[0]}), epsilon=1),
        "size": lambda: curator.size(epsilon=1),
        "choose": lambda: curator.choose(root, splits, "gini", 1),
        "choose-partition": lambda: curator.choose_partition(root, [np.array([[1, 2, 3]])], 1),
        "quantile": lambda: curator.quantile("age", "1/2", 1),
        "draw-tree": lambda: curator.draw_tree(TreeSpace(SCHEMA, 1), 1),
        "history": curator.history,
        "": lambda: (curator.left, curator.spent),
    }


class CuratorReplies(Target):
    """A learner never meets an answer to something else than it asked."""

    name = "curator-replies"
    what = "answers and problems of a curator, as its client reads them"
    mutate = staticmethod(mutated_reply)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._service = Service()
        self._service.curator.size(epsilon=1)
        self._reply: tuple[str, int, bytes] | None = None
        self._link = linked(self._answer, retry_for=0)
        self._curator = RemoteCurator(Session(self._link, "people"))

    def _answer(self, sent: httpx2.Request) -> httpx2.Response:
        operation = sent.url.path.removeprefix("/v1/datasets/people").removeprefix("/")
        if self._reply is None or self._reply[0] != operation:
            return self._service(sent)
        return httpx2.Response(self._reply[1], content=self._reply[2])

    def corpus(self) -> list[bytes]:
        made = []
        for kind, ask in _asked(self._curator).items():
            told: list[Any] = []
            self._service.spoil = lambda _, reply, told=told: told.append(reply) or reply
            ask()
            made.append(f"{kind} 200".encode() + BLANK + json.dumps(told[-1]).encode())
        self._service.spoil = lambda _, reply: reply
        return made

    def extra(self) -> list[bytes]:
        over = {
            "type": "urn:privet:problem:budget-exceeded",
            "title": "t",
            "status": 403,
            "detail": "d",
            "asked": "1",
            "left": "1/3",
        }
        return [
            b"size 403"
            + BLANK
            + json.dumps({**over, "unit": "epsilon", "account": "data set"}).encode()
        ]

    def run(self, data: bytes) -> None:
        head, _, body = data.partition(BLANK)
        kind, _, status = head.decode("latin-1").partition(" ")
        code = (
            int(status)
            if status.isascii() and status.isdigit() and 100 <= int(status[:4]) <= 999
            else 200
        )
        self._reply = (kind, code, body)
        asked = _asked(self._curator)
        try:
            asked[kind if kind in asked else "size"]()
            if kind == "":
                Session(self._link, "people")
        finally:
            self._reply = None
            self._curator._session._unanswered.clear()


class OutsourceReplies(Target):
    """A client of an outsourced table opens only what was sealed, whatever a server sends."""

    name = "outsource-replies"
    what = (
        "answers of the server of an outsourced table, as its client reads them; the rows that a "
        "client joins are the true ones"
    )
    smoke = 60
    mutate = staticmethod(mutated_reply)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        ring = KeyRing.new()
        table = people(12, 1)
        write_halves(split(table, PEOPLE, "disease", 2, ring).halves, folder / "halves")
        state = ServerState.make(folder / "home", folder / "halves")
        self._served = Served(create_app(state), state.accounts.add_analyst("ada"))
        self._ring, self._reply = ring, None
        self._tree = json.loads(
            self._served.send(request("POST", "/v1/trees", {"leaf_size": 6})).body
        )["id"]
        self._table = self._connected()
        self._leaf = min(self._table.details(self._tree).sizes)
        self._true = self._seen()

    def close(self) -> None:
        self._served.close()

    def _connected(self) -> OutsourcedTable:
        table = OutsourcedTable.__new__(OutsourcedTable)
        usual = OutsourcedTable.__init__.__globals__["Link"]
        OutsourcedTable.__init__.__globals__["Link"] = lambda *_, **__: linked(
            self._answer, retry_for=0
        )
        try:
            table.__init__("http://127.0.0.1", TOKEN, self._ring)
        finally:
            OutsourcedTable.__init__.__globals__["Link"] = usual
        return table

    def _answer(self, sent: httpx2.Request) -> httpx2.Response:
        path = sent.url.raw_path.decode()
        if self._reply is not None and self._reply[0] == sent.url.path:
            return httpx2.Response(self._reply[1], content=self._reply[2])
        body = json.loads(sent.content) if sent.content else None
        reply = self._served.send(request(sent.method, path, body))
        return httpx2.Response(reply.status, content=reply.body)

    def _seen(self) -> set[tuple[int, ...]]:
        return self._tuples(join_rows(self._table, self._table.rows))

    @staticmethod
    def _tuples(rows: TrueRows) -> set[tuple[int, ...]]:
        return set(
            zip(
                rows.seqs.tolist(),
                *(column.tolist() for column in rows.codes),
                rows.classes.tolist(),
                strict=True,
            )
        )

    def _steps(self) -> dict[str, Callable[[], Any]]:
        return {
            "/v1/about": self._connected,
            "/v1/rows": self._check_rows,
            "/v1/pending": lambda: read_waiting_rows(self._table),
            f"/v1/trees/{self._tree}": lambda: self._table.details(self._tree),
            f"/v1/trees/{self._tree}/leaves": lambda: self._table.reach(
                self._tree, [["north", "20", "true"]], page=100
            ),
            f"/v1/trees/{self._tree}/contents": self._check_leaves,
            f"/v1/trees/{self._tree}/subtrees": lambda: self._table.store_subtrees(
                self._tree, [(self._leaf, b"sealed", 1)]
            ),
            f"/v1/trees/{self._tree}/predictions": lambda: self._table.classify(
                self._tree, [["north", "20", "true"]]
            ),
            "/v1/sealed/anatomy": self._connected,
        }

    def _check_rows(self) -> None:
        assert self._seen() <= self._true, "a row was joined that nobody sealed"

    def _check_leaves(self) -> None:
        for _, found in read_leaves(self._table, self._tree, [self._leaf]):
            assert isinstance(found, bytes) or self._tuples(found) <= self._true

    def corpus(self) -> list[bytes]:
        made = []
        rows = {"rows": [["north", "20", "true"]]}
        asked = {
            "leaves": {**rows, "page": 100},
            "predictions": rows,
            "contents": {"leaves": [self._leaf]},
            "subtrees": {"subtrees": [{"leaf": self._leaf, "sealed": "AAAA", "data": 0}]},
        }
        for path in self._steps():
            body = asked.get(path.rpartition("/")[2])
            more = "?grouped=true" if path == "/v1/rows" else ""
            reply = self._served.send(request("POST" if body else "GET", path + more, body))
            if reply.status == 200:
                made.append(f"{path} 200".encode() + BLANK + reply.body)
        return made

    def run(self, data: bytes) -> None:
        head, _, body = data.partition(BLANK)
        path, _, status = head.decode("latin-1").partition(" ")
        code = (
            int(status)
            if status.isascii() and status.isdigit() and 100 <= int(status[:4]) <= 999
            else 200
        )
        steps = self._steps()
        if path not in steps:
            raise SealError
        self._reply = (path, code, body)
        try:
            steps[path]()
        finally:
            self._reply = None
