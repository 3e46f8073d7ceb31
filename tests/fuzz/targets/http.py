"""Requests to the curator's service, and to the server of an outsourced table."""

from __future__ import annotations

import base64
import json
import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import numpy as np

from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.model.document import to_document
from privet.outsource.server.app import create_app as create_outsource
from privet.outsource.server.state import ServerLimits as OutsourceLimits
from privet.outsource.server.state import ServerState as OutsourceState
from privet.service.app import create_app
from privet.service.limits import Limits
from tests.fuzz.asgi import Served, checked, request
from tests.fuzz.mutate import mutated_bytes, mutated_json
from tests.fuzz.target import Target
from tests.outsource.store import tables
from tests.report.models import small_model
from tests.service.running import SCHEMA, house

BLANK = b"\r\n\r\n"


def mutated_request(rng: Random, data: bytes, others: Sequence[bytes]) -> bytes:
    """Mostly another body; now and then another path, header or method."""
    head, _, body = data.partition(BLANK)
    chance = rng.random()
    if chance < 0.1:
        head = mutated_bytes(rng, head, [other.partition(BLANK)[0] for other in others])
    elif chance < 0.15:  # a body for another path
        body = rng.choice(others).partition(BLANK)[2]
    else:
        body = mutated_json(rng, body, [other.partition(BLANK)[2] for other in others])
    return head + BLANK + body


def silence() -> Callable[[], None]:
    """Log nothing of thousands of bad requests; return what makes the log loud again."""
    log = logging.getLogger("privet")
    level = log.level
    log.setLevel(logging.CRITICAL)
    return lambda: log.setLevel(level)


class CuratorRequests(Target):
    """Never a 5xx; what is not answered is not charged."""

    name = "curator-http"
    what = (
        "HTTP requests to the curator; a problem of the 400s or an answer, and a charge exactly "
        "where there is an answer"
    )
    mutate = staticmethod(mutated_request)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._loud = silence()
        made = house(folder, 10**15)
        made.add("ada", 10**15)
        self._ledger = made.state.ledger
        # Snapshots have a thread each, and end soon: there are thousands in a run.
        limits = Limits(
            rate=1e9,
            burst=1e9,
            first_step=0,
            recorded=1 << 50,
            snapshots=64,
            snapshots_each=64,
            snapshot_idle=2,
        )
        self._served = Served(create_app(made.state, limits), made.tokens["ada"])

    def close(self) -> None:
        self._served.close()
        self._ledger.close()
        self._loud()

    def corpus(self) -> list[bytes]:
        splits = [
            {"attribute": "colour", "branch": [0, 1, 2]},
            {"attribute": "age", "branch": [0, 0, 1, 1]},
        ]
        tree = {
            "attribute": [0, -1, -1, -1],
            "branch": [1, 2, 3],
            "cell": [-1, 0, 1, 2],
            "n_cells": 3,
        }
        scores = {
            "attribute": [0, -1, -1, -1],
            "branch": [1, 2, 3],
            "counts": [[0, 0], [1, 0.5], [0, -1], [2, 2]],
        }
        model = to_document(
            small_model(SCHEMA, trees=(Tree(Cells.everything(SCHEMA), np.array([[10.0, 20.0]])),))
        )
        asked = {
            "count": {
                "epsilon": "0.1",
                "cells": [[{"colour": ["red"]}, {"colour": ["green", 2], "age": [0, 1]}], tree],
            },
            "count?": {
                "epsilon": 0.5,
                "cells": [[{}]],
                "partitions": [{"cells": 0, "by": "age"}, {"cells": 0}],
            },
            "size": {"epsilon": "1/3"},
            "sums": {"epsilon": 0.5, "score": [0, 1], "cells": [{"colour": ["red"]}]},
            "sums?": {"epsilon": 0.5, "score": [[0, 1]] * 4, "by": "age"},
            "choose": {"epsilon": 1, "splits": splits, "candidates": [[0, 1]], "criterion": "gini"},
            "choose-partition": {
                "epsilon": "0.1",
                "cells": [[{}], tree],
                "expected": [[9, 9], [1, 2, 3, 4, 5, 6]],
                "handicaps": [3, -3],
            },
            "quantile": {
                "epsilon": "0.1",
                "attribute": "age",
                "q": "0.9",
                "mechanism": "exponential",
            },
            "draw-tree": {
                "epsilon": "0.5",
                "space": {"depth": 2, "inner": splits, "split": 0.5, "keep": 0.5},
                "weighting": [scores],
            },
            "gradients": {"epsilon": "0.1", "trees": [scores], "cells": tree},
            "confusion": {"epsilon": "0.1", "model": model},
            "choose-model": {"epsilon": "0.1", "models": [model, model]},
            "preview": {"plan": [{"epsilon": "0.1"}, {"rho": "0.1"}, {"epsilon": 1, "rho": "1/2"}]},
        }
        read = (
            "/v1/datasets",
            "/v1/datasets/people",
            "/v1/datasets/people/history?after=0&limit=2",
        )
        posted = [
            request("POST", f"/v1/datasets/people/{kind.rstrip('?')}", body)
            for kind, body in asked.items()
        ]
        return [*posted, *(request("GET", path) for path in read)]

    def extra(self) -> list[bytes]:
        fingerprint = SCHEMA.fingerprint
        return [
            request("POST", "/v1/datasets/people/size", {"rho": 0.5}),
            request(
                "POST",
                "/v1/datasets/people/size",
                {"epsilon": 1},
                Idempotency_Key="k",
                Privet_Schema=fingerprint,
            ),
            request(
                "POST",
                "/v1/datasets/people/size",
                {"epsilon": 1, "part": {"division": 1, "number": 0}, "snapshot": "s"},
            ),
            request(
                "POST",
                "/v1/datasets/people/divide",
                {"epsilon": "1", "n_parts": 4, "snapshot": "s"},
            ),
            request("POST", "/v1/datasets/people/snapshots", {}),
            request("DELETE", "/v1/datasets/people/snapshots/s"),
        ]

    def run(self, data: bytes) -> None:
        before = self._ledger.spent("people", "ada").rho
        reply = self._served.send(data)
        after = self._ledger.spent("people", "ada").rho
        answered = (
            reply.status == 200
            and b'"receipt"' in reply.body[-400:]
            and reply.body.startswith(b'{"answer"')
        )
        if not answered:
            assert after == before, f"charged {after - before}, status {reply.status}"
        elif "privet-replayed" not in reply.headers:
            assert after > before or b'"cost":{"epsilon":"0"' in reply.body, (
                "answered, and not charged"
            )
        checked(reply)


class OutsourceRequests(Target):
    """Never a 5xx; the store keeps its trees."""

    name = "outsource-http"
    what = "HTTP requests to the server of an outsourced table; a problem of the 400s or an answer"
    mutate = staticmethod(mutated_request)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._loud = silence()
        state = OutsourceState.make(folder / "server", tables.folder(folder / "halves"))
        limits = OutsourceLimits(rate=1e9, burst=1e9)
        self._served = Served(create_outsource(state, limits), state.accounts.add_analyst("ada"))
        grown = json.loads(self._served.send(request("POST", "/v1/trees", {})).body)
        self._tree = grown["id"]

    def close(self) -> None:
        self._served.close()
        self._loud()

    def corpus(self) -> list[bytes]:
        tree = f"/v1/trees/{self._tree}"
        rows = {"rows": [["red", "20"], ["blue", 30.5], [None, None]]}
        return [
            request("GET", "/v1/about"),
            request("GET", tree),
            request("POST", f"{tree}/predictions", rows),
            request("POST", f"{tree}/leaves", rows),
            request("POST", f"{tree}/leaves", {**rows, "page": 3, "waiting": [1]}),
            request("GET", "/v1/rows?after=-1&limit=3&grouped=true"),
            request("GET", f"{tree}/leaves/1/rows?after=-1&limit=3"),
            request("GET", "/v1/rows?after=-1&limit=3"),
            request("GET", "/v1/pending?after=0&limit=3"),
        ]

    def extra(self) -> list[bytes]:
        tree, sealed = f"/v1/trees/{self._tree}", base64.b64encode(b"x" * 40).decode()
        row = {
            "cells": ["red", "20", "no", "p"],
            "pruning": False,
            "gid": 1 << 61,
            "eseq": base64.b64encode(b"y" * 41).decode(),
        }
        changes = {
            "version": 1,
            "id": "0" * 32,
            "rows": [row],
            "values": [[1 << 61, 1 << 61, "flu"]],
            "remove_rows": [5],
        }
        changes |= {"pending": [sealed], "remove_pending": [1], "reseal": [[1, sealed]]}
        return [
            request("POST", "/v1/trees", {"splits": "binary", "leaf_size": 100, "max_depth": 1}),
            request(
                "PUT", f"{tree}/leaves/1/subtree", {"sealed": sealed, "replaces": None, "data": 1}
            ),
            request("PUT", "/v1/sealed/naive", {"sealed": sealed, "replaces": None}),
            request("POST", "/v1/changes", changes),
            request("GET", f"{tree}/leaves/1/subtree"),
            request("GET", "/v1/sealed/naive"),
            request(
                "POST", f"{tree}/subtrees", {"subtrees": [{"leaf": 1, "sealed": "AAAA", "data": 1}]}
            ),
            request(
                "POST",
                f"{tree}/contents",
                {"leaves": [1, 2], "after": [1, 0], "page": 2, "refined": False},
            ),
        ]

    def run(self, data: bytes) -> None:
        checked(self._served.send(data))
