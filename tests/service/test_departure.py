"""An answer leaves at a time that follows from public sizes, not when its work ends."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from privet.domain import Categorical, Schema
from privet.queries import Size
from privet.queries.base import Load, check_query
from privet.service import departure
from privet.service.app import create_app
from privet.service.departure import Departure, deadline, round_up
from privet.service.limits import Limits
from tests.conformance.asked import EXAMPLES, FOR_ANALYSTS
from tests.conformance.asked import SCHEMA as PEOPLE
from tests.service.conftest import FAST
from tests.service.conftest import SCHEMA as PEOPLE_SCHEMA

SCHEMA = Schema({"a": Categorical(["x", "y"])}, "c", ["n", "p"])
LIMITS = Limits()


class Clock:
    """A clock that goes on only when it is told to."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        monkeypatch.setattr(departure.time, "monotonic", lambda: self.now)


@pytest.mark.parametrize("taken", [0.0, 0.001, 0.2, 0.4999, 0.5])
def test_an_answer_leaves_at_its_deadline_however_early_the_work_ended(monkeypatch, taken):
    clock = Clock(monkeypatch)
    leaving = Departure(0.01)
    leaving.due = 0.5
    clock.now = taken
    assert taken + leaving.wait() == pytest.approx(0.5)


@pytest.mark.parametrize(("taken", "leaves"), [(0.51, 1.0), (1.0, 1.0), (1.01, 1.5), (7.2, 7.5)])
def test_late_answers_leave_at_a_multiple_and_are_counted(monkeypatch, taken, leaves):
    clock = Clock(monkeypatch)
    monkeypatch.setattr(Departure, "late", 0)
    leaving = Departure(0.01)
    leaving.due = 0.5
    clock.now = taken
    assert taken + leaving.wait() == pytest.approx(leaves)
    assert Departure.late == 1


def test_an_answer_that_was_held_does_not_wait_again(monkeypatch):
    clock = Clock(monkeypatch)
    slept = []
    monkeypatch.setattr(departure.time, "sleep", slept.append)
    monkeypatch.setattr(Departure, "late", 0)
    leaving = Departure(0.01)
    leaving.due = 0.5
    clock.now = 0.7
    leaving.hold()
    assert slept == [pytest.approx(0.3)]
    clock.now = 1.02  # keeping it has taken a while
    leaving.hold()
    assert (leaving.wait(), len(slept), Departure.late) == (0.0, 1, 1)


def test_without_a_first_step_nothing_waits(monkeypatch):
    clock = Clock(monkeypatch)
    leaving = Departure(0)
    leaving.due = deadline(Load(numbers=100), SCHEMA, replace(LIMITS, first_step=0))
    clock.now = 3.0
    assert leaving.wait() == 0


def test_a_deadline_grows_with_public_sizes_and_is_one_of_few_steps():
    small = deadline(Load(), SCHEMA, LIMITS)
    for load in (Load(numbers=10**5), Load(nodes=10**5), Load(steps=10**8), Load(row_steps=1000)):
        assert deadline(load, SCHEMA, LIMITS) > small
    assert deadline(Load(), SCHEMA.declare(n_rows=10**8), LIMITS) > small
    assert deadline(Load(), SCHEMA.declare(n_rows=10), LIMITS) < small
    steps = {round(0.01 * 1.25**k, 9) for k in range(80)}
    assert {round(round_up(seconds / 7, 0.01), 9) for seconds in range(1, 500)} <= steps


@pytest.mark.parametrize(("name", "example"), FOR_ANALYSTS)
def test_every_query_says_how_much_work_its_rows_are(name, example):
    load = check_query(EXAMPLES[name][example](PEOPLE), PEOPLE).load
    assert load.row_steps > 0 or name == "size"


def test_the_deadline_of_a_question_is_set_before_its_rows_are_read(state, monkeypatch):
    """So an answer that fails on the rows leaves at the same time as one that does not."""
    due = []
    monkeypatch.setattr(Departure, "wait", lambda self: due.append(self.due) or 0.0)
    with TestClient(create_app(state, LIMITS), base_url="http://127.0.0.1:8000") as client:

        def ask() -> int:
            headers = {"Authorization": f"Bearer {state.tokens['ada']}"}
            url = "/v1/datasets/people/size"
            return client.post(url, json={"epsilon": "1/100"}, headers=headers).status_code

        assert ask() == 200

        def fail(*_):
            raise RuntimeError("a row that cannot be read")

        monkeypatch.setattr(Size, "exact", fail)
        assert ask() == 503
    expected = deadline(check_query(Size(), PEOPLE_SCHEMA).load, PEOPLE_SCHEMA, LIMITS)
    assert due == [expected, expected]


def test_nothing_tells_that_the_work_has_ended_before_it_leaves(state, monkeypatch):
    """Not the same request again, nor the history, nor an export, nor the metrics; and another
    question is worked on meanwhile.
    """
    waits, may_leave = threading.Event(), threading.Event()

    def hold(self):
        waits.set()
        assert may_leave.wait(60)
        self._over = True

    monkeypatch.setattr(Departure, "hold", hold)
    limits = replace(FAST, first_step=0.001, at_once=1)
    with TestClient(create_app(state, limits), base_url="http://127.0.0.1:8000") as client:

        def call(method: str, what: str, key: str = "", who: str = "ada"):
            headers = {
                "Authorization": f"Bearer {state.tokens[who]}",
                "Idempotency-Key": key or "-",
            }
            body = {"json": {"epsilon": "1/100"}} if method == "POST" else {}
            url = f"/v1/datasets/people/{what}"
            return client.request(method, url, headers=headers, **body)

        with ThreadPoolExecutor(2) as pool:
            try:
                first = pool.submit(call, "POST", "size", "same")
                assert waits.wait(60)
                assert call("GET", "history").json()["entries"][-1]["answered"] is False
                assert state.ledger.unanswered(), "as metrics and exports say"
                assert call("POST", "size", "same").status_code == 429
                waits.clear()
                other = pool.submit(call, "POST", "size", "other", "bob")
                assert waits.wait(60), "an answer that waits takes no place from those that work"
            finally:
                may_leave.set()
            assert first.result().status_code == other.result().status_code == 200
        assert call("GET", "history").json()["entries"][-1]["answered"] is True
        again = call("POST", "size", "same")
        assert (again.content, again.headers["privet-replayed"]) == (first.result().content, "true")
