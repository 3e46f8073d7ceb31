"""A table that does not respond holds up the questions about it, and no others."""

from __future__ import annotations

import threading
import time
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace

import psycopg
import pytest
from starlette.testclient import TestClient

from privet.accounting.cost import Budget
from privet.service.app import create_app
from privet.service.handlers import RequestHandlers
from privet.service.limits import Busy, Limits
from privet.service.workers import Attempt, Workers
from tests.postgres import put_table
from tests.service.conftest import FAST, SCHEMA, Analyst, people
from tests.service.running import PATIENCE

SIZE = {"epsilon": "1/100"}


@pytest.fixture
def url(postgres):
    return postgres.database()


@pytest.fixture
def locked(state, url):
    """A second data set, in PostgreSQL, for ten analysts; the block in which it is locked."""
    state.accounts.add_dataset("locked", put_table(url, people(), "held"), SCHEMA)
    state.ledger.open_cap("locked", Budget(3))
    for number in range(10):
        name = f"analyst-{number}"
        state.tokens[name] = state.accounts.add_analyst(name)
        for dataset in ("people", "locked"):
            state.ledger.set_cap(dataset, Budget(2), name)
            state.accounts.grant(name, dataset)

    class Lock:
        def __enter__(self):
            self.connection = psycopg.connect(url)
            self.connection.execute("LOCK TABLE held IN ACCESS EXCLUSIVE MODE")

        def __exit__(self, *_):
            self.connection.close()

    return Lock()


def serve(state, **limits):
    app = create_app(state, replace(FAST, **limits))
    return TestClient(app, base_url="http://127.0.0.1")


def wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_a_locked_table_holds_up_nobody_else(state, locked):
    """More questions about it than there are threads for all data sets."""
    with (
        serve(state, lock=PATIENCE, work=PATIENCE, wait=PATIENCE) as client,
        ThreadPoolExecutor(50) as threads,
    ):
        everybody = [Analyst(client, state.tokens[f"analyst-{number}"]) for number in range(10)]
        assert everybody[0].post("size", SIZE, dataset="locked").status_code == 200
        with locked:
            stuck = [
                threads.submit(one.post, asked, body, None, "locked")
                for one in everybody
                for asked, body in [("size", SIZE)] * 2 + [("snapshots", {})]
            ]
            inside = client.app.state.handlers._workers
            wait_until(lambda: inside._running + len(inside._waiting) == 30)
            others = [one.post("size", SIZE) for one in everybody]
            assert Counter(answer.status_code for answer in others) == {200: 10}
            assert not any(answer.done() for answer in stuck)
        assert Counter(answer.result().status_code for answer in stuck) == {200: 20, 201: 10}


def test_a_locked_table_is_not_waited_for_for_ever(state, locked):
    """PostgreSQL ends the wait for the lock, before anything is charged."""
    with serve(state, lock=0.2) as client:
        ada = Analyst(client, state.tokens["analyst-0"])
        assert ada.post("size", SIZE, dataset="locked").status_code == 200
        with locked:
            for asked, body in (("size", SIZE), ("snapshots", {})):
                answer = ada.post(asked, body, "the-key", "locked")
                assert answer.status_code == 503
                assert answer.json()["charged"] is False
                assert int(answer.headers["retry-after"]) >= 1
        assert len(state.ledger.entries("locked")) == 1
        assert ada.post("size", SIZE, "the-key", "locked").status_code == 200


def test_statements_have_a_time_limit(url):
    from privet.errors import TableError
    from privet.tables.open import open_table

    table = open_table(put_table(url, people(), "held"))
    table.limit_time(0.2, 10)
    assert table.answer("SHOW lock_timeout") == [("10s",)]
    with pytest.raises(TableError, match="QueryCanceled"):
        table.answer("SELECT pg_sleep(60)")


def test_a_question_waits_for_a_place_for_a_while(state, locked):
    with serve(state, lock=PATIENCE, at_once_dataset=1, wait=0.1) as client:
        ada, bob = (Analyst(client, state.tokens[f"analyst-{number}"]) for number in (0, 1))
        assert ada.post("size", SIZE, dataset="locked").status_code == 200
        with ThreadPoolExecutor(1) as threads, locked:
            first = threads.submit(ada.post, "size", SIZE, None, "locked")
            wait_until(lambda: client.app.state.handlers._workers._running == 1)
            for _ in range(2):  # the same request may be sent again
                answer = bob.post("size", SIZE, "the-key", "locked")
                assert answer.status_code == 503
                assert answer.json()["type"] == "urn:privet:problem:busy"
                assert answer.json()["charged"] is False
            locked.connection.close()
            assert first.result().status_code == 200
        assert bob.post("size", SIZE, "the-key", "locked").status_code == 200
        assert len(state.ledger.entries("locked")) == 3


def test_what_is_given_up_before_the_charge_is_never_charged(state, monkeypatch):
    go, reached = threading.Event(), RequestHandlers._reached

    def reach_later(handlers, dataset):
        assert go.wait(PATIENCE)
        return reached(handlers, dataset)

    monkeypatch.setattr(RequestHandlers, "_reached", reach_later)
    with serve(state, work=0.1) as client:
        ada = Analyst(client, state.tokens["ada"])
        answer = ada.post("count", {"epsilon": "1/10"}, "the-key")
        assert answer.status_code == 503
        assert answer.json()["charged"] is False
        assert "nothing was charged" in answer.json()["detail"]
        go.set()
        inside = client.app.state.handlers
        wait_until(lambda: not inside._under_way)
        assert state.ledger.entries() == []
    with serve(state) as client:
        ada = Analyst(client, state.tokens["ada"])
        assert ada.post("count", {"epsilon": "1/10"}, "the-key").status_code == 200


def test_a_charge_stands_when_time_is_over_and_the_answer_comes_later(state, monkeypatch):
    go, record = threading.Event(), state.ledger.record

    def record_later(*args):
        assert go.wait(PATIENCE)
        return record(*args)

    monkeypatch.setattr(state.ledger, "record", record_later)
    with serve(state, work=2) as client:
        ada = Analyst(client, state.tokens["ada"])
        answer = ada.post("size", SIZE, "the-key")
        assert answer.status_code == 503
        assert answer.json()["charged"] is True
        assert answer.json()["number"] == state.ledger.entries()[0].number
        assert "without another charge" in answer.json()["detail"]
        assert ada.post("size", SIZE, "the-key").status_code == 429  # it is being answered
        go.set()
        wait_until(lambda: not client.app.state.handlers._under_way)
        answer = ada.post("size", SIZE, "the-key")
        assert answer.status_code == 200
        assert answer.headers["privet-replayed"] == "true"
        assert len(state.ledger.entries()) == 1


# -- shares and queues, without a service ------------------------------------------------------


class Held:
    """Work that goes on until it is let go."""

    def __init__(self) -> None:
        self.go: Future = Future()
        self.attempt = Attempt(lambda _: self.go.result(PATIENCE))


def submit(workers, dataset, analyst, times):
    held = [Held() for _ in range(times)]
    for one in held:
        workers.submit(dataset, analyst, one.attempt)
    return held


def begun(held):
    return [one.attempt.begun.done() for one in held]


@pytest.fixture
def workers():
    made = Workers(Limits(at_once=4, at_once_dataset=3, at_once_each=2, waiting=3))
    yield made
    made.close()


def let_go(*held):
    for one in held:
        one.go.set_result(None)
        one.attempt.outcome.result(PATIENCE)


def test_shares_of_data_sets_and_analysts(workers):
    ada, bob = submit(workers, 1, "ada", 3), submit(workers, 1, "bob", 2)
    other = submit(workers, 2, "cyd", 2)
    wait_until(lambda: sum(begun(ada) + begun(bob) + begun(other)) == 4)
    assert begun(ada) == [True, True, False]  # her share
    assert begun(bob) == [True, False]  # that of the data set
    assert begun(other) == [True, False]  # all threads
    let_go(bob[0])
    wait_until(lambda: begun(bob) == [True, True])
    assert begun(ada) == [True, True, False]
    let_go(ada[0], ada[1])
    wait_until(lambda: all(begun(ada) + begun(other)))
    let_go(ada[2], bob[1], *other)
    assert not workers._of_dataset
    assert not workers._of_analyst


def test_queues_are_bounded_for_each_data_set(workers):
    held = submit(workers, 1, "ada", 5)
    with pytest.raises(Busy, match="3 questions about this data set wait"):
        submit(workers, 1, "bob", 1)
    other = submit(workers, 2, "bob", 1)
    held[4].attempt.give_up()  # those that nobody wants any more do not count
    held += submit(workers, 1, "bob", 1)
    wait_until(lambda: all(begun(other)))
    let_go(*other, *held[:4], held[5])
    assert not held[4].attempt.begun.done()
