"""No answer of the service, no refusal, page or line of its log has an exact count, a row or a path
of the machine in it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Any

import httpx2
import numpy as np
import pytest

import privet as pv
from privet.accounting.cost import Budget
from privet.cli.options import learner_named
from privet.client.curator import RemoteCurator
from privet.queries import CountValues, FindQuantiles
from tests.client.running import Running, running
from tests.released.canaries import COUNTS, FOLDER, PERSON, SCHEMA, canaries, people
from tests.released.chains import SETTINGS
from tests.released.looking import found_in

#: Fewer rows, so that many questions take little time.
SMALL = {combination: number - 9000 for combination, number in COUNTS.items()}
CANARIES = canaries(SMALL)
TINY = "1/20000"


class Heard:
    """Stands behind the tap, and keeps what the service says, headers included."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.said: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def keep(message: Any) -> None:
            told = [
                b": ".join(pair)
                for pair in message.get("headers", [])
                if pair[0] != b"content-length"
            ]
            self.said.append(b"\n".join([message.get("body", b""), *told]))
            await send(message)

        await self._app(scope, receive, keep)


@pytest.fixture
def service(tmp_path) -> Iterator[Running]:
    (tmp_path / FOLDER).mkdir()
    for name in ("people", "gone"):
        people(SMALL).to_parquet(tmp_path / FOLDER / f"{name}.parquet")
    with running(tmp_path / FOLDER) as service:
        service.heard = service.tap._app = Heard(service.tap._app)
        service.bearer = {"Authorization": f"Bearer {service.token}"}
        for name in ("people", "gone"):
            service.add(
                name,
                tmp_path / FOLDER / f"{name}.parquet",
                SCHEMA.declare(person="who", rows_per_person=1),
                Budget(1),
            )
        yield service


def ask_everything(curator: RemoteCurator) -> None:
    """Every kind of question."""
    for name in ("random-trees", "forest", "gibbs-tree"):
        model = learner_named(name, TINY, list(SETTINGS[name])).fit_from(curator)
    model.score_from(curator, TINY)
    curator.confusion(model.model_, TINY)
    curator.ask(CountValues("colour"), TINY)
    everyone = pv.Cells.everything(curator.schema)
    curator.count(everyone, TINY)
    curator.count(by="colour", epsilon=TINY)
    curator.size(TINY)
    curator.sums(everyone, pv.RowScore(curator.schema, np.array([0, 3])), TINY)
    curator.quantile("age", "1/2", TINY)
    curator.ask(FindQuantiles("age", 2), TINY)
    question = pv.Question.level(everyone, ["colour", "age"])
    curator.choose_partition(
        question, [np.zeros(one.shape, dtype=np.int64) for one in question.partitions], TINY
    )
    curator.gradients(everyone, (), TINY)
    pv.tune(
        [pv.GibbsTreeClassifier(max_depth=0), pv.GibbsTreeClassifier(max_depth=1)], curator, TINY
    )
    curator.history()


def test_answers_of_the_service_show_no_canary(service):
    """Asked twice: what leaks is told both times."""
    told = []
    with service.connect("people") as curator:
        for _ in range(2):
            service.heard.said.clear()
            ask_everything(curator)
            told.append(found_in(b"\n".join(service.heard.said), CANARIES))
    assert told[0] & told[1] == set()
    assert not set(CANARIES.texts) & (told[0] | told[1])
    paths = httpx2.get(f"{service.url}/v1/openapi.json", headers=service.bearer).json()["paths"]
    asked = {one.partition(" ")[2].partition("/")[2].partition("/")[0] for one in service.tap.asked}
    missing = {
        path.removeprefix("/v1/datasets/{name}/").partition("/")[0]
        for path in paths
        if "{name}/" in path
    } - asked
    assert not missing, f"a kind of question that nobody looked at: {missing}"


def test_refusals_pages_and_the_log(service, caplog, tmp_path):
    """Whatever goes wrong, also where the engine's own message has a path or a value in it."""
    caplog.set_level(logging.DEBUG)
    (tmp_path / FOLDER / "gone.parquet").write_bytes(PERSON.encode() * 50)
    asked = {"epsilon": "1/10", "cells": [[{}]]}
    statuses = []
    with httpx2.Client(base_url=service.url, headers=service.bearer) as client:
        for name, body in (
            ("people/count", {**asked, "epsilon": 1000}),
            ("people/count", {**asked, "cells": [[{"attribute": "colour", "values": ["pink"]}]]}),
            ("people/count", {"epsilon": "many"}),
            ("nobody/count", asked),
            ("gone/count", asked),
            ("people/nothing", asked),
        ):
            statuses.append(client.post(f"/v1/datasets/{name}", json=body).status_code)
        for path in (
            "/v1/datasets",
            "/v1/datasets/people",
            "/v1/datasets/people/history",
            "/v1/openapi.json",
            "/",
        ):
            assert client.get(path).status_code == 200
        client.post(
            "/sign-in", data={"token": service.token}, headers={"Sec-Fetch-Site": "same-origin"}
        )
        assert "people" in client.get("/").text
    statuses.append(
        httpx2.get(
            f"{service.url}/v1/datasets", headers={"Authorization": "Bearer nobody"}
        ).status_code
    )
    assert statuses == [403, 422, 422, 404, 503, 404, 401]
    assert found_in(b"\n".join(service.heard.said), CANARIES) == set()
    # The log is the owner's, who knows where the tables are; but no row is in it.
    assert found_in(caplog.text.encode(), CANARIES) <= {FOLDER}
