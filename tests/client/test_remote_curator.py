"""A remote curator: money, snapshots, groups of people, keys, and what it tells of itself."""

from __future__ import annotations

import copy
import json
import math
import pickle
from fractions import Fraction

import httpx2
import pytest

import privet as pv
from privet.accounting.cost import NOTHING, Budget, Cost
from privet.client.curator import _find_only_dataset
from privet.client.transport import KEY
from privet.errors import (
    AccessError,
    BudgetExceeded,
    ParameterError,
    PrivacyError,
    QuestionError,
    Unavailable,
)
from tests.client.fakes import SCHEMA, TOKEN, URL, Script, Service, linked


@pytest.fixture
def service():
    return Service()


@pytest.fixture
def curator(service):
    with service.connect() as curator:
        yield curator


def test_public_facts_are_asked_for_once(service, curator):
    assert (curator.schema, curator.dataset, curator.unit, curator.private, curator.reason) == (
        SCHEMA,
        "people",
        "epsilon",
        True,
        "",
    )
    assert curator.schema.n_rows == 300
    assert curator.bits.private
    assert len(service.seen) == 1


def test_money_is_asked_for_each_time(service, curator):
    assert curator.left == 1000
    curator.size("1/3")
    assert curator.left == service.curator.left == Fraction(2999, 3)
    assert curator.spent == service.curator.spent == Cost.pure("1/3")


def test_a_question_carries_a_fresh_key_and_the_schema(service, curator):
    for _ in range(2):
        curator.size(0.1)
    asked = [one for one in service.seen if one.url.path.endswith("/size")]
    assert len({one.headers[KEY] for one in asked}) == 2
    assert all(
        len(one.headers[KEY]) == 32 and one.headers["Privet-Schema"] == SCHEMA.fingerprint
        for one in asked
    )
    assert [json.loads(one.content) for one in asked] == [{"epsilon": "1/10"}] * 2


def test_a_preview_charges_nothing(service, curator):
    plan = [Cost.pure("1/3"), Cost.bounded_range(2), Cost.concentrated("1/7"), NOTHING]
    assert curator.preview(plan) == service.curator.preview(plan)
    assert service.asked("preview")[0]["plan"] == [
        {"epsilon": "1/3"},
        {"epsilon": "2", "rho": "1/2"},
        {"rho": "1/7"},
        {"epsilon": "0"},
    ]
    assert curator.preview([]).fits
    curator.require([Cost.pure(1000)])
    with pytest.raises(
        BudgetExceeded,
        match="data set 'people' does not allow this: asked epsilon 1001, left epsilon 1000",
    ):
        curator.require([Cost.pure(1), Cost.pure(1000)])
    assert service.curator.spent == NOTHING


def test_what_the_curator_refuses_is_raised_here(curator):
    with pytest.raises(BudgetExceeded) as raised:
        curator.size(1001)
    assert (raised.value.asked, raised.value.left, raised.value.unit) == (1001, 1000, "epsilon")
    with pytest.raises(PrivacyError, match="pure epsilon budget"):
        curator.size(rho=0.1)


def test_a_history_has_pages_and_receipts(service, curator):
    for _ in range(5):
        curator.size("1/10")
    history = curator.history()
    assert [(line.number, line.hash, line.cost) for line in history] == [
        (entry.number, entry.hash, entry.cost) for entry in service.curator.ledger.entries()
    ]
    assert [line.receipt for line in history] == [f"receipt {line.number}" for line in history]
    assert all(line.answered for line in history)
    assert curator.receipts == ["receipt of size"]
    assert len([one for one in service.seen if one.url.path.endswith("/history")]) == 3


@pytest.mark.parametrize("following", [0, -1, "2", 2.5, True])
def test_a_history_without_end_is_not_followed(service, curator, following):
    service.spoil = lambda operation, told: (
        {"entries": [], "next": following} if operation == "history" else told
    )
    with pytest.raises(Unavailable, match="history is not what this version of Privet expects"):
        curator.history()


# -- snapshots and groups of people ----------------------------------------------------------------


def test_questions_within_a_snapshot_carry_it(service, curator):
    curator.size(1)
    with curator.snapshot():
        (snapshot,) = service.snapshots
        curator.size(1)
        with curator.snapshot():
            curator.require([Cost.pure(1)])
        curator.size(1)
        assert service.snapshots == [snapshot]
    curator.size(1)
    assert [body.get("snapshot") for body in service.asked("size")] == [
        None,
        snapshot,
        snapshot,
        None,
    ]
    assert service.asked("preview")[0]["snapshot"] == snapshot
    assert service.snapshots == []


def test_a_snapshot_ends_with_an_error_and_its_end_may_fail(service, curator):
    with pytest.raises(ZeroDivisionError), curator.snapshot():
        raise ZeroDivisionError
    assert service.snapshots == []
    with curator.snapshot():
        service.snapshots.clear()  # ending it will fail
        service.snapshots.append("another")
    with curator.snapshot():
        assert service.snapshots[1:]


def test_the_end_of_a_snapshot_is_asked_for_once():
    seen, service = [], Service()

    def handler(request):
        if request.method == "DELETE":
            seen.append(request)
            raise httpx2.ReadTimeout("slow")
        return service(request)

    from privet.client.curator import RemoteCurator
    from privet.client.session import Session

    with RemoteCurator(Session(linked(handler), "people")) as curator, curator.snapshot():
        pass
    assert len(seen) == 1
    assert seen[0].extensions["timeout"]["read"] == 5


def test_people_are_divided_within_a_snapshot(service, curator):
    with pytest.raises(QuestionError, match=r"inside 'with curator.snapshot\(\):'"):
        curator.split_people(3, 1)
    with curator.snapshot():
        parts = curator.split_people(3, "1/2")
        assert curator.spent == Cost.pure("1/2")
        assert [part.dataset for part in parts] == [
            f"people (part {number} of 3)" for number in (1, 2, 3)
        ]
        parts[1].size("1/3")
        with parts[2].snapshot():
            parts[2].count([pv.Cell()], "1/4")
        assert [part.left for part in parts] == [Fraction(1, 2), Fraction(1, 6), Fraction(1, 4)]
        assert {part.unit for part in parts} == {"epsilon"}
        with pytest.raises(BudgetExceeded, match="part 1 of 3"):
            parts[0].require([Cost.pure(1)])
        with pytest.raises(QuestionError, match="cannot be divided again"):
            parts[0].split_people(2, "1/4")
        (snapshot,) = service.snapshots
        assert curator.spent == Cost.pure("1/2")
    asked = {"snapshot": snapshot, "part": {"division": 0, "number": 1}}
    assert service.asked("size") == [{"epsilon": "1/3", **asked}]
    for _ in range(2):
        with pytest.raises(
            QuestionError, match="the snapshot in which the people were divided has ended"
        ):
            parts[0].size("1/10")
        curator.snapshot().__enter__()  # another one is not the same
    assert TOKEN not in repr(parts[0])


@pytest.mark.parametrize("n_parts", [0, -1, 10_001, 2.0, "2", True, None])
def test_people_are_divided_into_a_whole_number_of_parts(service, curator, n_parts):
    with (
        curator.snapshot(),
        pytest.raises(ParameterError, match="n_parts must be an integer from 1 to 10000"),
    ):
        curator.split_people(n_parts, 1)
    assert service.asked("divide") == []


# -- keys ------------------------------------------------------------------------------------------


def test_a_question_without_an_answer_keeps_its_key(service, curator):
    told = iter([b"<html>", b"{}", b'{"answer": {}, "receipt": ""}'])
    service.spoil = lambda operation, answer: next(told, answer) if operation == "size" else answer
    for _ in range(3):
        with pytest.raises(Unavailable):
            curator.size("1/10")
    curator.size("1/5")
    curator.size("1/10")
    curator.size("1/10")
    keys = [one.headers[KEY] for one in service.seen if one.url.path.endswith("/size")]
    assert keys[0] == keys[1] == keys[2] == keys[4]
    assert len(set(keys)) == 3


# -- connecting ------------------------------------------------------------------------------------


def test_the_only_data_set_is_found():
    listed = [{"name": "people", "unit": "epsilon", "cap": "1", "left": "1", "expires": None}]
    assert (
        _find_only_dataset(
            linked(Script(httpx2.Response(200, json={"analyst": "ada", "datasets": listed})))
        )
        == "people"
    )
    with pytest.raises(AccessError, match="grants this token no data set"):
        _find_only_dataset(
            linked(Script(httpx2.Response(200, json={"analyst": "ada", "datasets": []})))
        )
    with pytest.raises(ParameterError, match="those that the token is granted: people, places"):
        _find_only_dataset(
            linked(
                Script(
                    httpx2.Response(
                        200,
                        json={
                            "analyst": "ada",
                            "datasets": [{"name": "people"}, {"name": "places"}],
                        },
                    )
                )
            )
        )


@pytest.mark.parametrize(
    "told",
    [{}, {"datasets": None}, {"datasets": [1]}, {"datasets": [{}]}, {"datasets": {"name": 1}}],
)
def test_a_list_of_data_sets_that_is_none_is_refused(told):
    with pytest.raises(Unavailable, match="list of data sets is not what"):
        _find_only_dataset(linked(Script(httpx2.Response(200, json=told))))


def test_a_token_is_given_or_in_the_environment(monkeypatch):
    monkeypatch.delenv("PRIVET_TOKEN", raising=False)
    with pytest.raises(ParameterError, match="set PRIVET_TOKEN"):
        pv.connect(URL)
    monkeypatch.setenv("PRIVET_TOKEN", "two words")
    with pytest.raises(ParameterError, match="token must be"):
        pv.connect(URL)


@pytest.mark.parametrize(
    "change",
    [
        {"schema": None},
        {"schema": {}},
        {"fingerprint": "0" * 64},
        {"fingerprint": None},
        {"unit": "dollars"},
        {"unit": []},
        {"schema": {**SCHEMA.to_json(), "target": "form"}},
        {"schema": {**SCHEMA.to_json(), "version": 2}},
    ],
)
def test_facts_that_do_not_fit_are_refused(service, change):
    service.spoil = lambda _, told: {**told, **change}
    with pytest.raises(
        Unavailable, match="description of the data set is not what this version of Privet expects"
    ):
        service.connect()


def test_facts_that_lack_something_are_refused(service):
    for name in ("schema", "fingerprint", "unit", "private", "reason"):
        service.spoil = lambda _, told, name=name: {
            key: value for key, value in told.items() if key != name
        }
        with pytest.raises(Unavailable, match="description of the data set"):
            service.connect()


@pytest.mark.parametrize("said", ["x", None, [], "1/0", {}, "1e999999999", 0.5])
def test_money_that_is_no_number_is_refused(service, curator, said):
    service.spoil = lambda _, told: {**told, "left": said, "spent": said}
    for name in ("left", "spent"):
        with pytest.raises(Unavailable, match="description of the data set"):
            getattr(curator, name)


@pytest.mark.parametrize("said", ["true", 1, None, False])
def test_only_true_is_private(service, said):
    service.spoil = lambda _, told: {**told, "private": said}
    assert service.connect().private is False


def test_names_of_data_sets_cannot_change_the_address():
    from privet.client.session import Session

    script = Script(httpx2.Response(404))
    with pytest.raises(Unavailable):
        Session(linked(script), "../x?y#z/ü")
    assert script.seen[0].url.raw_path == b"/v1/datasets/..%2Fx%3Fy%23z%2F%C3%BC"


@pytest.mark.parametrize("dataset", ["", "\ud800", "two\nlines", 7])
def test_what_is_no_name_of_a_data_set_is_refused(dataset):
    with pytest.raises(ParameterError, match="dataset must be a name"):
        pv.connect(URL, TOKEN, dataset)


def test_it_shows_no_token_and_is_not_copied(curator):
    assert repr(curator) == "RemoteCurator('people' at http://127.0.0.1:8000)"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(PrivacyError, match="holds a token"):
            copied(curator)


def test_it_can_be_closed(service):
    with service.connect() as curator:
        curator.size(1)
    with pytest.raises(ParameterError, match="closed; connect again"):
        curator.size(1)


def test_a_budget_in_rho():
    curator = Service(budget=Budget(rho=1)).connect()
    assert curator.unit == "rho"
    answer = curator.count([pv.Cell()], rho="1/2")
    assert (answer.cost, answer.noise) == (Cost.concentrated("1/2"), "discrete-gaussian")
    assert curator.left == Fraction(1, 2)
    assert math.isclose(answer.deviation, 1)
