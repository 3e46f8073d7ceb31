"""What operators ask: health, readiness, metrics, and the ids of requests."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from privet.accounting.ledger import Receipt
from privet.service import health
from privet.service.app import create_app
from privet.service.health import Health
from privet.service.operations import Operations
from tests.service.conftest import FAST, SCHEMA, Analyst, copy_table

TOKEN = "a token for the metrics, long enough"
COUNT = {"epsilon": "1/4", "by": ["colour"]}


@pytest.fixture(autouse=True)
def looked_at_each_time(monkeypatch):
    monkeypatch.setattr(health, "KEPT", 0.0)


@pytest.fixture
def watched(state):
    operations = Operations(lambda: TOKEN)
    with TestClient(create_app(state, FAST, operations), base_url="http://127.0.0.1") as client:
        yield client


def scrape(client, token=TOKEN):
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }


def value(metrics, name, **labels):
    return metrics[name, tuple(sorted(labels.items()))]


def test_a_service_that_can_answer_is_ready_and_tells_nothing_else(watched):
    assert watched.get("/healthz").json() == {"status": "ok"}
    answer = watched.get("/readyz")
    assert (answer.status_code, answer.json()) == (
        200,
        {"status": "ready", "checks": {"ledger": "ok", "witness": "ok", "tables": "ok"}},
    )


def test_a_witness_that_is_ahead_is_not_ready(watched, state):
    head = Receipt(state.ledger.identity, 999, "0" * 64)
    state.witness.path.write_text(f"{head}\n")
    answer = watched.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"ledger": "ok", "witness": "failed", "tables": "ok"}
    assert watched.get("/healthz").status_code == 200, "it lives: to restart it would not help"


def test_a_ledger_that_was_replaced_is_not_ready(watched, state):
    state.ledger.path.rename(state.ledger.path.with_suffix(".away"))
    answer = watched.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"]["ledger"] == "failed"


def test_one_table_of_two_does_not_turn_the_service_off(watched, state, table_file, tmp_path):
    (tmp_path / "more").mkdir()
    state.accounts.add_dataset("more", copy_table(table_file, tmp_path / "more"), SCHEMA)
    (tmp_path / "more" / "people.db").unlink()
    assert watched.get("/readyz").status_code == 200
    metrics = scrape(watched)
    assert value(metrics, "privet_table_reachable", dataset="people") == 1
    assert value(metrics, "privet_table_reachable", dataset="more") == 0
    (tmp_path / "people.db").unlink()
    answer = watched.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == {"ledger": "ok", "witness": "ok", "tables": "failed"}


def test_a_check_that_does_not_come_back_has_failed_and_is_not_begun_again(state, monkeypatch):
    import asyncio
    import threading

    monkeypatch.setattr(health, "PATIENCE", 0.05)
    free, begun = threading.Event(), []

    def reach(dataset):
        begun.append(dataset.name)
        free.wait(60)

    there = Health(state, reach)

    async def look_twice():
        first = await there.look()
        return first, await there.look()

    first, second = asyncio.run(look_twice())
    free.set()
    there.close()
    assert first["tables"] is second["tables"] is False
    assert begun == ["people"]


def test_metrics_need_their_own_token(state, watched, client):
    assert client.get("/metrics").status_code == 404, "nobody may read them"
    for token in ("", "wrong", state.tokens["owner"], state.tokens["ada"]):
        answer = watched.get("/metrics", headers={"Authorization": f"Bearer {token}"})
        assert answer.status_code == 401
    scrape(watched)
    refused = watched.get("/v1/datasets", headers={"Authorization": f"Bearer {TOKEN}"})
    assert refused.status_code == 401, "and it is good for nothing else"


def test_metrics_follow_what_is_asked(watched, state):
    before = scrape(watched)
    assert value(before, "privet_budget_left", dataset="people", unit="epsilon") == 3
    ends = datetime(2999, 1, 31, tzinfo=UTC)
    state.accounts.add_analyst("eve", ends)
    ada = Analyst(watched, state.tokens["ada"])
    assert ada.post("count-by", COUNT).status_code == 200
    ada.post("reservations", {"key": "fit-1", "what": "a fit", "epsilon": "1/2"})
    watched.get("/v1/datasets/secret-name", headers={"Authorization": "Bearer stranger"})
    metrics = scrape(watched)
    assert value(metrics, "privet_budget_left", dataset="people", unit="epsilon") == 2.25
    own = {"dataset": "people", "unit": "epsilon"}
    assert value(metrics, "privet_analyst_budget_left", analyst="ada", **own) == 1.25
    assert value(metrics, "privet_analyst_budget_left", analyst="bob", **own) == 2
    assert value(metrics, "privet_budget_reserved", **own) == 0.5
    assert value(metrics, "privet_reservations_open", **own) == 1
    assert value(metrics, "privet_unanswered_questions") == 0
    eve = {"person": "eve", "role": "analyst"}
    assert value(metrics, "privet_token_ends_timestamp_seconds", **eve) == ends.timestamp()
    assert value(metrics, "privet_last_verify_problems") == 0
    route = "/v1/datasets/{name}/count-by"
    asked = {"route": route, "method": "POST", "status": "200"}
    assert value(metrics, "privet_requests_total", **asked) == 1
    refused = {"route": "-", "method": "GET", "status": "401"}
    assert value(metrics, "privet_requests_total", **refused) >= 1
    text = repr(metrics)
    for secret in ("secret-name", "stranger", "colour", TOKEN, *state.tokens.values()):
        assert secret not in text
    names = {name for name, _ in metrics}
    assert not any(name.startswith("process_") for name in names), "work's own time and memory"


def test_latencies_are_those_of_answers_as_they_are_sent(state):
    from dataclasses import replace

    slow = replace(FAST, first_step=0.3)
    app = create_app(state, slow, Operations(lambda: TOKEN))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert Analyst(client, state.tokens["ada"]).post("count-by", COUNT).status_code == 200
        metrics = scrape(client)
    route = "/v1/datasets/{name}/count-by"
    assert value(metrics, "privet_request_seconds_count", route=route) == 1
    assert value(metrics, "privet_request_seconds_sum", route=route) >= 0.3


def test_a_verification_that_finds_damage_is_told(watched, state):
    import sqlite3

    with sqlite3.connect(state.ledger.path) as connection:
        connection.execute("DELETE FROM caps WHERE analyst = 'bob'")
    connection.close()
    watched.app.state.handlers.health.verify()
    assert value(scrape(watched), "privet_last_verify_problems") > 0
    assert watched.get("/readyz").json()["checks"]["witness"] == "failed"


def test_a_damaged_audit_log_is_told_and_questions_are_answered(state):
    import sqlite3

    from privet.service.accounts import FIRST_OWNER
    from privet.service.owner.desk import Desk

    for why in ("study 17", "study 18"):
        with Desk(state, FIRST_OWNER).changing("cap", "the cap is what it was", why=why):
            pass

    def problems(client):
        return value(scrape(client), "privet_audit_log_problems")

    app = create_app(state, FAST, Operations(lambda: TOKEN))
    with TestClient(app, base_url="http://127.0.0.1") as client:
        assert problems(client) == 0
        with sqlite3.connect(state.audit_log.path) as connection:
            guards = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (guard,) in guards.fetchall():
                connection.execute(f"DROP TRIGGER {guard}")
            connection.execute("DELETE FROM events WHERE number = 1")
        connection.close()
        client.app.state.handlers.health.verify()
        assert problems(client) > 0
        assert client.get("/readyz").status_code == 200
        assert Analyst(client, state.tokens["ada"]).post("count-by", COUNT).status_code == 200
    again = create_app(state, FAST, Operations(lambda: TOKEN))
    with TestClient(again, base_url="http://127.0.0.1") as client:
        assert problems(client) > 0, "it is verified when the service begins, too"


def test_ids_of_requests_come_back_and_those_of_clients_are_not_believed(state, watched):
    first, second = (watched.get("/healthz").headers["x-request-id"] for _ in range(2))
    assert first != second
    named = {"X-Request-Id": "mine"}
    assert watched.get("/healthz", headers=named).headers["x-request-id"] != "mine"
    behind = create_app(state, FAST, Operations(ids_from_proxy=True))
    with TestClient(behind, base_url="http://127.0.0.1") as client:
        assert client.get("/healthz", headers=named).headers["x-request-id"] == "mine"
        forged = client.get("/healthz", headers={"X-Request-Id": '"}'})
        assert forged.headers["x-request-id"] != '"}'
