"""Refused questions and sign-ins of a service, as they stand in its audit log."""

from __future__ import annotations

import itertools

import pytest
from starlette.testclient import TestClient

from privet.service.accounts import FIRST_OWNER
from privet.service.app import create_app
from privet.service.audit_log.store import verify_stored
from privet.service.audit_log.words import describe_request
from privet.service.operations import Operations
from privet.service.owner.datasets import pause_dataset, resume_dataset
from privet.service.owner.desk import Desk
from tests.service.conftest import FAST, Analyst, people

RED = {"cells": [[{"colour": ["red"], "age": [0]}]]}


@pytest.fixture
def events(state):
    return lambda kind: [event for event in state.audit_log.events() if event.kind == kind]


def test_a_question_beyond_the_budget_is_kept_in_words(ada, events):
    assert ada.post("count", {"epsilon": 50, **RED}).status_code == 403
    (event,) = events("question refused")
    assert (event.who, event.role, event.dataset) == ("ada", "analyst", "people")
    asked = "count, epsilon 50: cells = [[colour = red, age = [0, 20)]]"
    assert event.particulars["asked"] == asked
    assert event.what.startswith(f"{asked}: the budget of ")


def test_what_is_no_question_is_kept_as_it_came_and_no_longer_than_that(ada, events):
    body = {"epsilon": 1, "cells": [[{"colour": ["red", "pur\nple"], "age": [3, 99]}]]}
    assert ada.post("count", body).status_code == 422
    assert ada.post("count", {"epsilon": 1, "cells": [[{}]] * 100_000}).status_code == 422
    bad, long = events("question refused")
    assert bad.particulars["asked"] == (
        "count, epsilon 1: cells = [[colour = red or pur\\nple, age = [60, 80] or 99]]"
    )
    assert len(long.what) < 2500
    assert ada.post("size", {"epsilon": "1/10"}, dataset="nobody knows").status_code == 404
    last = events("question refused")[-1]
    assert (last.dataset, "'nobody knows'" in last.what) == ("", True)


def test_what_is_empty_in_a_question_is_left_out(ada, events):
    assert ada.post("count-by", {"epsilon": 50, "by": [], "where": {}}).status_code == 403
    assert ada.post("count-by", {"epsilon": 50, "by": ["age"], "where": {}}).status_code == 403
    asked = [event.particulars["asked"] for event in events("question refused")]
    assert asked == ["count-by, epsilon 50", "count-by, epsilon 50: by = [age]"]


@pytest.mark.parametrize(
    "body",
    [None, 1, [], "text", {}, {"cells": None}, {"epsilon": [1] * 10_000}, {"a": {"a": [[[]]]}}],
)
def test_anything_is_put_into_bounded_words(body, schema):
    assert len(describe_request("count", body, schema)) < 1200
    assert len(describe_request("count", {"deep": body}, None)) < 1200


def test_only_as_much_is_read_as_is_kept(schema):
    class Endless(list):
        def __iter__(self):
            yield from (self.read(number) for number in itertools.count())

        read = staticmethod(lambda number: {"colour": [number % 3]})

    told = describe_request("count", {"cells": Endless()}, schema)
    assert told.startswith("count: cells = [colour = red; colour = green; colour = blue; ")


def test_a_reservation_beyond_the_budget_is_kept_too(ada, events):
    body = {"key": "fit-1", "what": "fit of privet", "epsilon": 9}
    assert ada.post("reservations", body).status_code == 403
    (event,) = events("question refused")
    assert event.particulars["asked"] == "reservation for 'fit of privet'"


def test_answers_are_in_the_ledger_alone(ada, events):
    assert ada.post("count", {"epsilon": "1/10", **RED}, key="k").status_code == 200
    assert ada.post("count", {"epsilon": "1/10", **RED}, key="k").status_code == 200
    assert events("question refused") == []


def test_tokens_that_are_not_known_are_counted(client, state, events):
    for _ in range(5):
        Analyst(client, "privet_wrong").get("datasets")
        own = {"Sec-Fetch-Site": "same-origin"}
        client.post("/sign-in", data={"token": "privet_wrong"}, headers=own)
    client.get("/v1/datasets")  # shows none
    client.app.state.handlers.refusals.flush(all_of_them=True)
    first, rest = events("sign-in refused")
    assert first.what == "a token that is not valid, from testclient"
    assert rest.what == "9 tokens that are not valid, from testclient (9)"
    assert verify_stored(state.audit_log, state.audit_witness) == []


def test_what_was_counted_is_recorded_when_the_service_stops(state, events):
    with TestClient(create_app(state, FAST), base_url="http://127.0.0.1") as client:
        for _ in range(3):
            Analyst(client, "privet_wrong").get("datasets")
        assert len(events("sign-in refused")) == 1
    assert [event.particulars["count"] for event in events("sign-in refused")] == [1, 2]


def test_a_paused_data_set_answers_nothing_and_goes_on_where_it_was(ada, state, events):
    desk = Desk(state, FIRST_OWNER)
    before = ada.post("size", {"epsilon": "1/10"}, key="k")
    pause_dataset(desk, "people", "the table is rebuilt")
    for body, key in (({"epsilon": "1/10"}, "k"), ({"epsilon": "1/9"}, "l")):
        refused = ada.post("size", body, key=key)
        assert (refused.status_code, refused.json()["type"]) == (409, "urn:privet:problem:paused")
        assert "the owner has paused data set 'people'; nothing was charged" in refused.text
    assert ada.post("snapshots", {}).status_code == 409
    assert ada.post("reservations", {"key": "f", "what": "x", "epsilon": 1}).status_code == 409
    assert ada.get("datasets/people/history").json()["entries"], "the past can be read"
    assert len(events("question refused")) == 4
    resume_dataset(desk, "people")
    assert ada.post("size", {"epsilon": "1/10"}, key="k").content == before.content


def test_a_data_set_that_moves_is_read_where_it_is_now(ada, state, tmp_path):
    import duckdb

    from privet.service.owner.datasets import update_dataset

    assert ada.post("size", {"epsilon": 1}).status_code == 200
    (tmp_path / "moved").mkdir()
    moved = tmp_path / "moved" / "people.db"
    with duckdb.connect(moved) as connection:
        connection.register("given", people().head(0).astype({"age": float}))
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    place = f"duckdb:////{str(moved).lstrip('/')}?table=people"
    update_dataset(Desk(state, FIRST_OWNER), "people", place=place)
    numbers = ada.post("size", {"epsilon": 1}).json()["answer"]["tables"][0]["numbers"]
    assert abs(numbers[0]) < 40, "200 rows are no longer there"


def test_an_analyst_who_tries_what_owners_may_is_recorded_and_bounded(ada, events):
    for number in range(30):
        assert (
            ada.client.get(f"/v1/owner/people?x={number}", headers=ada.headers).status_code == 403
        )
    refused = events("role refused")
    assert [(event.who, event.role) for event in refused] == [("ada", "analyst")] * 20
    assert all(event.is_refusal for event in refused)


def test_a_wrong_token_for_the_metrics_is_a_refused_sign_in(state, events):
    app = create_app(state, FAST, Operations(lambda: "m" * 32))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert client.get("/metrics").status_code == 401
        assert events("sign-in refused") == [], "nobody tried to sign in"
        wrong = {"Authorization": "Bearer guessed"}
        assert client.get("/metrics", headers=wrong).status_code == 401
        (event,) = events("sign-in refused")
        assert "guessed" not in event.what
