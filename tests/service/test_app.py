"""The service over HTTP: what is asked, charged, recorded and refused."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction as F

import duckdb
import numpy as np
import pytest
from starlette.testclient import TestClient

from privet.accounting.cost import Budget
from privet.accounting.ledger import Receipt, verify
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import LedgerError
from privet.service import requests
from privet.service.app import create_app
from privet.service.limits import Limits
from privet.tables.memory import MemorySource
from tests.service.conftest import FAST, Analyst

COUNT = {"epsilon": "1/10", "cells": [[{}]]}


def lines(state):
    return len(list(state.ledger.journal()))


def problem(response, status, kind):
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told = response.json()
    assert (told["type"], told["status"]) == (f"urn:privet:problem:{kind}", status)
    return told


def test_a_count_is_charged_noisy_and_carries_a_receipt(ada, state):
    response = ada.post("count", COUNT, key="k")
    assert response.status_code == 200
    told = response.json()
    answer = told["answer"]
    assert answer["cost"] == {"epsilon": "1/10", "rho": "1/200"}
    assert answer["private"] is True
    assert (answer["noise"], answer["spread"]) == ("discrete-laplace", "10")
    assert answer["tables"][0]["shape"] == [1, 2]
    entry = state.ledger.charged("ada", "k")
    assert (entry.number, entry.hash) == (answer["entry"]["number"], answer["entry"]["hash"])
    receipt = Receipt.read(told["receipt"])
    assert (receipt.ledger, receipt.number, receipt.hash) == (
        state.ledger.identity,
        entry.number,
        entry.hash,
    )
    raw = response.content[len(b'{"answer":') : response.content.index(b',"receipt"')]
    assert hashlib.sha256(raw).hexdigest() == receipt.answer
    assert state.ledger.answer(entry.number) == raw
    assert verify(state.ledger, state.witness, [receipt]) == []
    assert state.witness.seen().number == entry.number


def test_noise_is_fresh_for_every_key(ada):
    answers = {
        json.dumps(ada.post("size", {"epsilon": "1/50"}, key=f"k{i}").json()["answer"]["tables"])
        for i in range(12)
    }
    assert len(answers) > 6


def test_counts_are_about_right(ada, state, frame, schema):
    state.ledger.set_cap("people", Budget(1000))
    state.ledger.set_cap("people", Budget(1000), "ada")
    body = {
        "epsilon": 100,
        "cells": [[{"colour": ["red"]}, {"colour": ["green", 2]}]],
        "partitions": [{"cells": 0, "by": "age"}],
    }
    numbers = np.array(ada.post("count", body).json()["answer"]["tables"][0]["numbers"]).reshape(
        2, 4, 2
    )
    for cell, colours in enumerate((["red"], ["green", "blue"])):
        for bin_ in range(4):
            for label, ill in enumerate(["no", "yes"]):
                rows = frame[
                    frame.colour.isin(colours) & (frame.age // 20 == bin_) & (frame.ill == ill)
                ]
                assert abs(numbers[cell, bin_, label] - len(rows)) <= 2
    exact = MemorySource(schema, frame, None).count(Question.of(Cells.everything(schema)))[0]
    sums = ada.post("sums", {"epsilon": 100, "score": [1, -2]}).json()["answer"]["tables"][0][
        "numbers"
    ]
    assert abs(sums[0] - int(exact[0] @ [1, -2])) <= 2


def test_the_same_key_and_body_get_the_same_answer_for_one_charge(ada, state):
    first = ada.post("count", COUNT, key="k")
    before = lines(state)
    again = ada.post("count", COUNT, key="k")
    assert again.content == first.content
    assert "privet-replayed" not in first.headers
    assert again.headers["privet-replayed"] == "true"
    assert lines(state) == before


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("count", {**COUNT, "epsilon": "1/20"}),
        ("count", {**COUNT, "cells": [[{"colour": ["red"]}]]}),
        ("size", {"epsilon": "1/10"}),
    ],
)
def test_a_key_with_another_body_or_question_is_refused(ada, state, question, body):
    ada.post("count", COUNT, key="k")
    before = lines(state)
    problem(ada.post(question, body, key="k"), 409, "key-reused")
    assert lines(state) == before


def test_keys_are_each_analysts_own(ada, bob):
    first, second = ada.post("count", COUNT, key="k"), bob.post("count", COUNT, key="k")
    assert first.status_code == second.status_code == 200
    assert first.json()["answer"]["entry"]["number"] != second.json()["answer"]["entry"]["number"]


def test_without_a_key_every_request_is_its_own(ada, state):
    numbers = [ada.post("count", COUNT).json()["answer"]["entry"]["number"] for _ in range(3)]
    assert len(set(numbers)) == 3
    assert state.ledger.spent("people", "ada").epsilon == F(3, 10)


def test_a_charge_that_was_never_answered_is_answered_later_for_the_same_charge(
    ada, state, monkeypatch
):
    from privet.errors import TableError
    from privet.tables.duckdb.table import DuckDBSource

    def fails(self, question):
        raise TableError("the table went away")

    with monkeypatch.context() as patch:
        patch.setattr(DuckDBSource, "count", fails)
        told = problem(ada.post("count", COUNT, key="k"), 503, "table")
    assert told["charged"] is True
    assert told["number"] == state.ledger.charged("ada", "k").number
    assert "without another charge" in told["detail"]
    history = ada.get("datasets/people/history").json()["entries"]
    assert [(entry["key"], entry["answered"]) for entry in history] == [("k", False)]
    before = lines(state)
    answered = ada.post("count", COUNT, key="k")
    assert answered.status_code == 200
    assert "privet-replayed" not in answered.headers
    assert lines(state) == before
    assert ada.post("count", COUNT, key="k").content == answered.content
    assert ada.get("datasets/people/history").json()["entries"][0]["answered"] is True


def test_nothing_is_charged_for_a_table_that_is_gone(ada, state, tmp_path):
    (tmp_path / "people.db").rename(tmp_path / "elsewhere.db")
    before = lines(state)
    told = problem(ada.post("count", COUNT, key="k"), 503, "table")
    assert told["charged"] is False
    assert lines(state) == before
    (tmp_path / "elsewhere.db").rename(tmp_path / "people.db")
    assert ada.post("count", COUNT, key="k").status_code == 200


def test_colluding_analysts_together_cannot_pass_the_data_sets_cap(ada, bob, state):
    assert ada.post("size", {"epsilon": 2}).status_code == 200
    told = problem(bob.post("size", {"epsilon": "3/2"}), 403, "budget-exceeded")
    assert (told["asked"], told["left"], told["unit"], told["account"]) == (
        "3/2",
        "1",
        "epsilon",
        "data set 'people'",
    )
    assert bob.post("size", {"epsilon": 1}).status_code == 200
    problem(bob.post("size", {"epsilon": "1/1000000"}), 403, "budget-exceeded")
    assert state.ledger.spent("people").epsilon == 3


def test_an_analyst_cannot_pass_their_own_cap(ada, state):
    assert ada.post("size", {"epsilon": "2"}).status_code == 200
    before = lines(state)
    told = problem(ada.post("count", COUNT), 403, "budget-exceeded")
    assert told["account"] == "analyst 'ada' on data set 'people'"
    assert lines(state) == before


def test_nothing_is_planned_for_who_cannot_pay(ada, state, monkeypatch):
    """Planning a draw takes up to a fifth of a second, and reading a large request a while."""
    draw = {"epsilon": "1/2", "space": {"depth": 2}}
    assert ada.post("draw-tree", draw, key="paid").status_code == 200
    assert ada.post("size", {"epsilon": "3/2"}).status_code == 200
    planned = []
    read = requests.query_of
    monkeypatch.setattr(requests, "query_of", lambda *given: planned.append(given) or read(*given))
    for key in (None, "new"):
        problem(ada.post("draw-tree", draw, key=key), 403, "budget-exceeded")
    assert planned == []
    # what was paid for is answered, whatever is left
    assert ada.post("draw-tree", draw, key="paid").status_code == 200


def test_nothing_is_planned_for_a_reservation_that_is_used_up(ada, monkeypatch):
    assert ada.post("reservations", {"key": "fit", "what": "a fit", "epsilon": "1"}).is_success
    body = {"epsilon": "1", "reservation": "fit"}
    assert ada.post("size", body).status_code == 200
    monkeypatch.setattr(requests, "query_of", None)
    told = problem(ada.post("size", body), 403, "budget-exceeded")
    assert told["account"] == "reservation 'fit' of analyst 'ada'"


@pytest.mark.parametrize(
    ("epsilon", "status"),
    [
        *(
            (epsilon, 422)
            for epsilon in (
                0,
                -1,
                "0",
                "-1/2",
                "NaN",
                "1e999",
                "",
                "1/0",
                "x" * 10_000,
                True,
                None,
                [1],
                1e-300,
                "1e-30",
            )
        ),
        *((epsilon, 422) for epsilon in ("inf", "Infinity")),
        (10**400, 422),
    ],
)
def test_odd_amounts_are_refused_and_charge_nothing(standing, epsilon, status):
    state, ada = standing.state, standing.ada
    before = lines(state)
    assert ada.post("size", {"epsilon": epsilon}).status_code == status
    assert lines(state) == before


@pytest.mark.parametrize(
    "text",
    [
        '{"epsilon": NaN}',
        '{"epsilon": Infinity}',
        '{"epsilon": 1',
        "[" * 100_000,
        "",
        "null",
        '{"epsilon":1e400}',
    ],
)
def test_what_is_no_json_is_refused(standing, text):
    state, ada = standing.state, standing.ada
    before = lines(state)
    response = ada.client.post(
        "/v1/datasets/people/size",
        content=text,
        headers={**ada.headers, "content-type": "application/json"},
    )
    problem(response, 422, "parameter")
    assert lines(state) == before


@pytest.mark.parametrize(
    ("question", "body"),
    [
        ("count", {"epsilon": 1, "cells": [[{"colour": ["pink"]}]]}),
        ("count", {"epsilon": 1, "cells": [[{"colour": [3]}]]}),
        ("count", {"epsilon": 1, "cells": [[{"colour'; DROP TABLE people; --": ["red"]}]]}),
        ("count", {"epsilon": 1, "cells": [[{"colour": ["red"]}, {"colour": ["red", "blue"]}]]}),
        ("count", {"epsilon": 1, "cells": [[{}]], "partitions": [{"cells": 1}]}),
        (
            "count",
            {
                "epsilon": 1,
                "cells": [{"attribute": [0, -1], "branch": [1, 1], "cell": [-1, 0], "n_cells": 1}],
            },
        ),
        (
            "count",
            {
                "epsilon": 1,
                "cells": [
                    {"attribute": [0, -1], "branch": [0, 1, 1], "cell": [-1, 0], "n_cells": 1}
                ],
            },
        ),
        (
            "count",
            {"epsilon": 1, "cells": [{"attribute": [-1], "branch": [], "cell": [5], "n_cells": 1}]},
        ),
        (
            "count",
            {
                "epsilon": 1,
                "cells": [{"attribute": [-1], "branch": [], "cell": [0], "n_cells": 2_000_000_000}],
            },
        ),
        ("choose", {"epsilon": 1, "splits": [{"attribute": "colour", "branch": [0, 1]}]}),
        (
            "choose",
            {
                "epsilon": 1,
                "splits": [{"attribute": "colour", "branch": [0, 1, 1]}],
                "criterion": "mine",
            },
        ),
        (
            "choose",
            {
                "epsilon": 1,
                "splits": [{"attribute": "colour", "branch": [0, 1, 1]}],
                "candidates": [[1]],
            },
        ),
        ("draw-tree", {"epsilon": 1, "space": {"depth": 99}}),
        (
            "draw-tree",
            {
                "epsilon": 1,
                "space": {"depth": 1},
                "weighting": [{"attribute": [-1], "branch": [], "counts": [[1e300, 0]]}],
            },
        ),
        ("sums", {"epsilon": 1, "score": [0, 0]}),
        ("sums", {"epsilon": 1, "score": [1, 2, 3]}),
        ("sums", {"epsilon": 1, "score": [[1, 2], [3]], "by": "colour"}),
        ("confusion", {"epsilon": 1, "model": {}}),
        ("choose-model", {"epsilon": 1, "models": [{"privet": "model"}]}),
        ("choose-partition", {"epsilon": 1, "expected": [[1, 2, 3]]}),
        ("quantile", {"epsilon": 1, "attribute": "colour"}),
        ("divide", {"epsilon": 1, "n_parts": 0}),
        ("size", {"epsilon": 1, "rho": 1}),
        ("size", {}),
        ("size", {"epsilon": 1, "sql": "SELECT 1"}),
    ],
)
def test_questions_that_cannot_be_asked_are_refused_and_charge_nothing(standing, question, body):
    state, ada = standing.state, standing.ada
    before = lines(state)
    assert ada.post(question, body).status_code == 422
    assert lines(state) == before


def test_who_has_no_valid_token_gets_nothing(client, state):
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": "Basic abc"},
        {"Authorization": f"Bearer {state.tokens['owner']}"},
    ):
        response = client.get("/v1/datasets", headers=headers)
        assert problem(response, 401, "access")["title"] == "The token is not known"
        assert response.headers["www-authenticate"] == "Bearer"


def test_revoking_acts_at_once(ada, state):
    assert ada.post("count", COUNT).status_code == 200
    snapshot = ada.snapshot()
    state.accounts.revoke("ada", "people")
    problem(ada.post("count", COUNT), 404, "not-granted")
    problem(ada.post("size", {"epsilon": 1, "snapshot": snapshot}), 404, "not-granted")
    state.accounts.revoke("ada")
    problem(ada.get("datasets"), 401, "access")


def test_an_expired_grant_is_over(ada, state):
    state.accounts.grant("ada", "people", datetime.now(UTC) - timedelta(minutes=1))
    problem(ada.post("count", COUNT), 404, "not-granted")
    assert ada.get("datasets").json()["datasets"] == []


def test_a_data_set_that_is_not_granted_looks_like_one_that_is_not_there(ada, state, place, schema):
    state.accounts.add_dataset("secret", place, schema)
    state.ledger.open_cap("secret", Budget(1))
    there = ada.post("count", COUNT, dataset="secret").json()
    absent = ada.post("count", COUNT, dataset="absent").json()
    assert there == {**absent, "detail": absent["detail"].replace("absent", "secret")}


def test_money_and_schema_are_told(ada, schema):
    ada.post("size", {"epsilon": "1/3"})
    told = ada.get("datasets/people").json()
    assert told["schema"] == schema.to_json()
    assert told["fingerprint"] == schema.fingerprint
    assert (told["unit"], told["cap"], told["left"], told["expires"]) == (
        "epsilon",
        "2",
        "5/3",
        None,
    )
    assert told["spent"] == {"epsilon": "1/3", "rho": "1/18"}
    assert ada.get("datasets").json() == {
        "analyst": "ada",
        "datasets": [
            {"name": "people", "unit": "epsilon", "cap": "2", "left": "5/3", "expires": None}
        ],
    }


def test_a_plan_is_priced_and_not_charged(ada, state):
    before = lines(state)
    told = ada.post("preview", {"plan": [{"epsilon": "3/2"}, {"epsilon": "1/2"}]}).json()
    assert told == {"cost": {"epsilon": "2", "rho": "5/4"}, "left": "2", "fits": True}
    assert ada.post("preview", {"plan": [{"epsilon": "2.01"}]}).json()["fits"] is False
    problem(ada.post("preview", {"plan": [{}]}), 422, "parameter")
    assert lines(state) == before


def test_the_history_is_ones_own_in_pages(ada, bob):
    for i in range(3):
        ada.post("size", {"epsilon": "1/10"}, key=f"a{i}")
        bob.post("size", {"epsilon": "1/10"}, key=f"b{i}")
    first = ada.get("datasets/people/history", limit=2).json()
    assert [entry["key"] for entry in first["entries"]] == ["a0", "a1"]
    rest = ada.get("datasets/people/history", after=first["next"], limit=2).json()
    assert [entry["key"] for entry in rest["entries"]] == ["a2"]
    assert rest["next"] is None
    receipts = [Receipt.read(entry["receipt"]) for entry in first["entries"] + rest["entries"]]
    assert all(receipt.answer for receipt in receipts)
    for wrong in ({"limit": 0}, {"limit": 1001}, {"after": -1}, {"from": 2}):
        assert ada.get("datasets/people/history", **wrong).status_code == 422


def test_another_schema_is_noticed(ada, state, schema):
    assert ada.post("count", COUNT, **{"Privet-Schema": schema.fingerprint}).status_code == 200
    before = lines(state)
    problem(ada.post("count", COUNT, **{"Privet-Schema": "0" * 64}), 409, "schema")
    assert lines(state) == before


def test_a_data_set_that_was_replaced_does_not_replay_or_reuse_keys(ada, state, place, schema):
    ada.post("count", COUNT, key="k")
    state.accounts.remove_dataset("people")
    state.accounts.add_dataset("people", place, schema)
    # what was granted was another table
    problem(ada.post("count", COUNT, key="k"), 404, "not-granted")
    state.accounts.grant("ada", "people")
    problem(ada.post("count", COUNT, key="k"), 409, "key-reused")


def test_questions_of_a_snapshot_see_the_same_people_and_groups_are_paid_once(ada, state):
    state.ledger.set_cap("people", Budget(1000))
    state.ledger.set_cap("people", Budget(1000), "ada")
    snapshot = ada.snapshot()
    told = ada.post("divide", {"epsilon": 100, "n_parts": 2, "snapshot": snapshot}, key="d").json()[
        "answer"
    ]
    division = told["division"]
    before = lines(state)
    totals = []
    for number in range(2):
        body = {
            "epsilon": 50,
            "snapshot": snapshot,
            "part": {"division": division, "number": number},
        }
        totals.append(
            ada.post("size", body, key=f"p{number}").json()["answer"]["tables"][0]["numbers"][0]
        )
        problem(ada.post("size", {**body, "epsilon": 51}), 403, "budget-exceeded")
        again = ada.post("size", body, key=f"p{number}")
        assert again.headers["privet-replayed"] == "true"
        assert verify(state.ledger, receipts=[Receipt.read(again.json()["receipt"])]) == []
    assert abs(sum(totals) - 200) <= 4
    assert min(totals) > 50
    assert lines(state) == before, "the division was paid for"
    # One key, one request: neither another group's, nor one of the whole table.
    other = {"epsilon": 1, "snapshot": snapshot, "part": {"division": division, "number": 1}}
    problem(ada.post("size", other, key="p0"), 409, "key-reused")
    problem(ada.post("size", other, key="d"), 409, "key-reused")


def test_groups_end_with_their_snapshot(ada, state):
    snapshot = ada.snapshot()
    body = {"epsilon": 1, "n_parts": 2, "snapshot": snapshot}
    first = ada.post("divide", body, key="d")
    division = first.json()["answer"]["division"]
    assert (
        ada.client.delete(
            f"/v1/datasets/people/snapshots/{snapshot}", headers=ada.headers
        ).status_code
        == 204
    )
    problem(
        ada.post(
            "size",
            {"epsilon": 1, "snapshot": snapshot, "part": {"division": division, "number": 0}},
        ),
        410,
        "snapshot-gone",
    )
    # the answer is on record, its groups are gone
    assert ada.post("divide", body, key="d").content == first.content
    again = ada.snapshot()
    problem(
        ada.post(
            "size", {"epsilon": 1, "snapshot": again, "part": {"division": division, "number": 0}}
        ),
        410,
        "snapshot-gone",
    )
    problem(ada.post("divide", {"epsilon": 1, "n_parts": 2}), 410, "snapshot-gone")


def test_snapshots_are_each_analysts_own_and_few(ada, bob):
    snapshots = [ada.snapshot() for _ in range(4)]
    told = problem(ada.post("snapshots", {}), 429, "too-many-requests")
    assert "4 snapshots" in told["detail"]
    problem(bob.post("size", {"epsilon": 1, "snapshot": snapshots[0]}), 410, "snapshot-gone")
    assert (
        bob.client.delete(
            f"/v1/datasets/people/snapshots/{snapshots[0]}", headers=bob.headers
        ).status_code
        == 410
    )


def test_idle_snapshots_end(state):
    with TestClient(
        create_app(state, Limits(rate=1000, burst=1000, first_step=0, snapshot_idle=0))
    ) as client:
        ada = Analyst(client, state.tokens["ada"])
        problem(ada.post("size", {"epsilon": 1, "snapshot": ada.snapshot()}), 410, "snapshot-gone")


def test_who_is_too_fast_has_to_wait_and_others_do_not(state):
    with TestClient(
        create_app(state, Limits(rate=0.001, burst=3, first_step=0, strangers=0.001))
    ) as client:
        ada, bob = (Analyst(client, state.tokens[name]) for name in ("ada", "bob"))
        assert [ada.get("datasets").status_code for _ in range(4)] == [200, 200, 200, 429]
        assert int(ada.get("datasets").headers["retry-after"]) >= 1
        assert bob.get("datasets").status_code == 200
        strangers = [client.get("/v1/datasets").status_code for _ in range(30)]
        assert strangers[0] == 401
        assert strangers[-1] == 429


def test_large_bodies_are_refused_whatever_their_headers_say(state):
    with TestClient(
        create_app(state, Limits(rate=1000, burst=1000, first_step=0, body=1000))
    ) as client:
        ada = Analyst(client, state.tokens["ada"])
        large = {"epsilon": 1, "cells": [[{"colour": ["red"] * 500}]]}
        problem(ada.post("count", large), 413, "too-large")
        chunked = client.post(
            "/v1/datasets/people/count", content=iter([b" " * 600, b" " * 600]), headers=ada.headers
        )
        problem(chunked, 413, "too-large")
        assert ada.post("count", COUNT).status_code == 200


@pytest.mark.parametrize("content", [b'{"cells": [', b"[" * 3000, b"[" + b"[]," * 1000 + b"[]]"])
def test_large_bodies_count_as_several_requests_even_if_they_are_refused(state, content):
    limits = Limits(rate=0.001, burst=100, first_step=0, volume=100)
    with TestClient(create_app(state, limits)) as client:
        ada = Analyst(client, state.tokens["ada"])
        headers = ada.headers | {"Content-Type": "application/json"}
        body, statuses = content.ljust(4000), []
        for _ in range(4):
            reply = client.post("/v1/datasets/people/count", content=body, headers=headers)
            statuses.append(reply.status_code)
        assert statuses == [422, 422, 422, 429]  # 1 + 40 of 100 each, the last not in full


def test_a_ledger_that_was_changed_is_not_served(state):
    ada = Analyst(TestClient(create_app(state, FAST)), state.tokens["ada"])
    with ada.client:
        ada.post("count", COUNT)
    state.witness.path.write_text(str(Receipt(state.ledger.identity, 99, "0" * 64)))
    with pytest.raises(LedgerError, match="not what it was"):
        create_app(state, FAST)


def test_rows_written_later_are_not_in_a_snapshot_but_in_the_next_question(
    state, schema, frame, tmp_path
):
    frame.to_parquet(tmp_path / "people.parquet")
    state.accounts.add_dataset("file", str(tmp_path / "people.parquet"), schema)
    state.ledger.open_cap("file", Budget(10_000))
    state.accounts.grant("ada", "file")
    with TestClient(create_app(state, FAST)) as client:
        ada = Analyst(client, state.tokens["ada"])
        snapshot = ada.post("snapshots", {}, dataset="file").json()["snapshot"]

        def size(**more):
            return ada.post("size", {"epsilon": 100, **more}, dataset="file").json()["answer"][
                "tables"
            ][0]["numbers"][0]

        assert abs(size(snapshot=snapshot) - 200) <= 2
        frame.head(20).to_parquet(tmp_path / "people.parquet")
        assert abs(size(snapshot=snapshot) - 200) <= 2
        assert abs(size() - 20) <= 2


def test_the_openapi_description_has_examples_that_work(ada, state):
    state.ledger.set_cap("people", Budget(10_000))
    state.ledger.set_cap("people", Budget(10_000), "ada")
    described = ada.client.get("/v1/openapi.json").json()
    paths = {path: one for path, one in described["paths"].items() if "/owner/" not in path}
    questions = [path for path in paths if path.count("/") == 4]
    assert len(questions) == len(requests.BODIES) + len(("history", "preview")) + 2
    bodies = {
        path.rpartition("/")[2]: operation["post"]["requestBody"]["content"]
        for path, operation in paths.items()
        if "requestBody" in operation.get("post", {})
    }
    free = {
        "preview": requests.PLAN,
        "reservations": requests.RESERVE,
        "snapshots": requests.SNAPSHOT,
        "close": requests.CLOSE,
    }
    assert bodies.keys() == {*requests.BODIES, *free}
    for question, content in bodies.items():
        shape = {**requests.BODIES, **free}[question]
        examples = content["application/json"]["schema"].get("examples", [])
        assert examples or question in ("confusion", "choose-model", "scores")
        for example in examples:
            shape.check(example, "body")
    (count, *_) = bodies["count"]["application/json"]["schema"]["examples"]
    assert ada.post("count", count).status_code == 200


def test_duckdb_says_nothing_of_rows(ada, state, tmp_path):
    """A column that no longer is what it was: the error names no value."""
    with duckdb.connect(tmp_path / "other.db") as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT 'secret value' AS who, 'red' AS colour, 1.0 AS age, "
            "'no' AS ill"
        )
    ada.post("count", COUNT)
    (tmp_path / "other.db").replace(tmp_path / "people.db")
    before = lines(state)
    told = problem(ada.post("count", COUNT), 503, "table")  # not what the old rows were
    assert "secret" not in json.dumps(told)
    assert lines(state) == before


def test_a_stranger_is_turned_away_before_anything_they_send_is_read(state):
    app = create_app(state, FAST)
    read, answered = [], []

    async def receive():
        read.append(1)
        return {"type": "http.request", "body": b" " * 1000, "more_body": True}

    async def send(message):
        answered.append(message)

    for sent, unread in (
        (b"Bearer wrong", True),
        (f"Bearer {state.tokens['ada']}".encode(), False),
    ):
        scope = {
            "type": "http",
            "method": "POST",
            "path": "/v1/datasets/people/count",
            "headers": [(b"authorization", sent)],
        }
        asyncio.run(
            app(
                {
                    **scope,
                    "client": ("127.0.0.1", 1),
                    "query_string": b"",
                    "http_version": "1.1",
                    "scheme": "http",
                },
                receive,
                send,
            )
        )
        assert (not read) == unread
    assert [
        message["status"] for message in answered if message["type"] == "http.response.start"
    ] == [401, 413]


def test_an_analyst_has_few_requests_under_way(state, monkeypatch):
    """A slow question sent many times holds up whoever sent it, and nobody else."""
    from privet.tables.duckdb.table import DuckDBSource

    go, asked = threading.Event(), threading.Event()
    count = DuckDBSource.count

    def slowly(self, question):
        asked.set()
        assert go.wait(60)
        return count(self, question)

    monkeypatch.setattr(DuckDBSource, "count", slowly)
    with TestClient(create_app(state, FAST)) as client, ThreadPoolExecutor(8) as threads:
        ada, bob = (Analyst(client, state.tokens[name]) for name in ("ada", "bob"))
        first = threads.submit(ada.post, "count", COUNT, "k0")
        assert asked.wait(60)
        again = problem(ada.post("count", COUNT, key="k0"), 429, "too-many-requests")
        assert "being answered" in again["detail"]
        others = [threads.submit(ada.post, "count", COUNT, f"k{i}") for i in range(1, 4)]
        while len(state.ledger.entries()) < 4:
            time.sleep(0.01)
        assert "under way" in problem(ada.get("datasets"), 429, "too-many-requests")["detail"]
        assert bob.get("datasets").status_code == 200
        go.set()
        assert [future.result(60).status_code for future in [first, *others]] == [200] * 4
        assert ada.post("count", COUNT, key="k0").headers["privet-replayed"] == "true"


def test_recorded_answers_have_a_bound(state):
    with TestClient(
        create_app(state, Limits(rate=1000, burst=1000, first_step=0, recorded=100))
    ) as client:
        ada, bob = (Analyst(client, state.tokens[name]) for name in ("ada", "bob"))
        first = ada.post("count", COUNT, key="k")
        assert first.status_code == 200
        before = lines(state)
        assert (
            "room" in problem(ada.post("size", {"epsilon": 1}), 429, "too-many-requests")["detail"]
        )
        assert ada.post("count", COUNT, key="k").content == first.content
        assert bob.post("count", COUNT).status_code == 200
        assert lines(state) == before + 1


def test_large_requests_count_as_several(state):
    with TestClient(create_app(state, Limits(rate=0.001, burst=20, first_step=0))) as client:
        ada = Analyst(client, state.tokens["ada"])
        body = {"epsilon": "1/10", "cells": [[{"colour": ["red"] * 90_000}]]}
        statuses = [ada.post("count", body).status_code for _ in range(4)]
        assert statuses[0] == 200
        assert statuses[-1] == 429


@pytest.mark.parametrize("question", ["count", "preview", "reservations"])
def test_large_rubbish_counts_as_several(state, question):
    """It takes as long to read as what can be answered."""
    with TestClient(create_app(state, Limits(rate=0.001, burst=20, first_step=0))) as client:
        ada = Analyst(client, state.tokens["ada"])
        statuses = [ada.post(question, [[]] * 300_000).status_code for _ in range(3)]
        assert statuses[0] == 422
        assert statuses[-1] == 429


def test_lists_of_cells_share_one_bound(ada, state, monkeypatch):
    """One list after the other, each just small enough, must not add up."""
    monkeypatch.setattr("privet.queries.json_parts.MAX_COMPILED", 1 << 10)
    before = lines(state)
    one = [{"colour": [i % 3], "age": [i // 3]} for i in range(12)]
    told = problem(ada.post("count", {"epsilon": 1, "cells": [one] * 150}), 422, "question")
    assert "nodes" in told["detail"]
    assert lines(state) == before


def test_a_ledger_that_is_rolled_back_while_it_is_served_answers_no_more(ada, state, tmp_path):
    ada.post("count", COUNT, key="k1")
    backup = sqlite3.connect(tmp_path / "backup.sqlite")
    with sqlite3.connect(state.path / "ledger.sqlite") as live:
        live.backup(backup)
    for i in range(3):
        assert ada.post("count", COUNT, key=f"later-{i}").status_code == 200
    backup.backup(live)  # into the same file
    backup.close()
    live.close()
    for i in range(6):
        assert ada.post("count", COUNT, key=f"after-{i}").status_code == 503
    assert any("backup" in found for found in verify(state.ledger, state.witness))
    with pytest.raises(LedgerError, match="not what it was"):
        create_app(state, FAST)


def test_no_cache_keeps_an_answer(ada):
    for response in (
        ada.post("count", COUNT),
        ada.get("datasets"),
        ada.get("datasets/people/history"),
    ):
        assert response.headers["cache-control"] == "no-store"


def test_a_snapshot_counts_until_its_thread_has_left_it(state, monkeypatch):
    """Ending one while its question is still worked on makes no room for more work."""
    from privet.tables.duckdb.table import DuckDBSource

    go, asked, count = threading.Event(), threading.Semaphore(0), DuckDBSource.count

    def slowly(self, question):
        asked.release()
        assert go.wait(60)
        return count(self, question)

    monkeypatch.setattr(DuckDBSource, "count", slowly)
    with (
        TestClient(create_app(state, replace(FAST, at_once_each=20))) as client,
        ThreadPoolExecutor(4) as threads,
    ):
        ada = Analyst(client, state.tokens["ada"])
        snapshots = [ada.snapshot() for _ in range(4)]
        working = [
            threads.submit(ada.post, "count", {**COUNT, "snapshot": name}) for name in snapshots
        ]
        for _ in snapshots:
            assert asked.acquire(timeout=60)
        for name in snapshots:
            assert (
                client.delete(
                    f"/v1/datasets/people/snapshots/{name}", headers=ada.headers
                ).status_code
                == 204
            )
        assert (
            "4 snapshots" in problem(ada.post("snapshots", {}), 429, "too-many-requests")["detail"]
        )
        go.set()
        assert [future.result(60).status_code for future in working] == [200] * 4
        until = time.monotonic() + 60
        while ada.post("snapshots", {}).status_code == 429 and time.monotonic() < until:
            time.sleep(0.01)
        assert ada.post("snapshots", {}).status_code == 201


@pytest.mark.parametrize(
    "path", ["/v1/datasets/", "/v1/datasets/people/", "/v1/datasets/people/count/"]
)
def test_a_slash_too_many_is_not_found_rather_than_sent_elsewhere(client, state, path):
    headers = {"Authorization": f"Bearer {state.tokens['ada']}", "Host": "elsewhere.example"}
    answer = client.get(path, headers=headers, follow_redirects=False)
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")
