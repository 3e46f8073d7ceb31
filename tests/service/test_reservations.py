"""Reservations over HTTP: what they hold, how they end, and what the page shows of them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction as F
from html import unescape

import pytest

from privet.accounting.cost import Budget
from privet.accounting.ledger import journal, verify
from privet.accounting.ledger.reservations import IDLE
from tests.service.test_page import Visitor

START = datetime(2030, 1, 1, tzinfo=UTC)


class Clock:
    """The ledger's clock, as a test sets it."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> str:
        return self.time.isoformat(timespec="milliseconds")

    def advance(self, **amount: float) -> None:
        self.time += timedelta(**amount)


@pytest.fixture
def clock(monkeypatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(journal, "now", made)
    return made


def reserve(analyst, key="fit-1", epsilon="1", what="fit of a tree"):
    return analyst.post("reservations", {"key": key, "what": what, "epsilon": epsilon})


def states(analyst) -> dict[str, str]:
    told = analyst.get("datasets/people/reservations").json()["reservations"]
    return {one["key"]: one["state"] for one in told}


def left(analyst) -> F:
    return F(analyst.get("datasets/people").json()["left"])


# -- expiry ------------------------------------------------------------------------------------


def test_a_reservation_expires_when_nobody_uses_it(clock, ada, state):
    assert reserve(ada).status_code == 201
    assert ada.post("size", {"epsilon": "1/4", "reservation": "fit-1"}, "k1").status_code == 200
    assert left(ada) == 1
    clock.advance(days=7, milliseconds=-1)
    assert states(ada) == {"fit-1": "open"}
    clock.advance(milliseconds=1)
    assert states(ada) == {"fit-1": "expired"}
    assert left(ada) == F(7, 4)  # what was charged stays charged
    assert verify(state.ledger) == []


def test_a_charge_keeps_a_reservation_alive(clock, ada):
    reserve(ada)
    for number in range(3):
        clock.advance(days=6)
        body = {"epsilon": "1/10", "reservation": "fit-1"}
        assert ada.post("size", body, f"k{number}").status_code == 200
    assert states(ada) == {"fit-1": "open"}


def test_an_expired_reservation_answers_nothing_new_and_charges_nothing(clock, ada, state):
    reserve(ada)
    first = ada.post("size", {"epsilon": "1/4", "reservation": "fit-1"}, "k1").json()
    clock.advance(days=7)
    refused = ada.post("size", {"epsilon": "1/4", "reservation": "fit-1"}, "k2")
    assert (refused.status_code, refused.json()["type"]) == (
        409,
        "urn:privet:problem:reservation-closed",
    )
    assert "expired" in refused.json()["detail"]
    assert len(state.ledger.entries()) == 1
    # what was paid for is given again
    again = ada.post("size", {"epsilon": "1/4", "reservation": "fit-1"}, "k1")
    assert (again.status_code, again.json()) == (200, first)
    closed = ada.post("reservations/fit-1/close", {"why": "done"})
    assert closed.status_code == 409
    assert "expired" in closed.json()["detail"]


def test_what_expired_can_be_reserved_by_somebody_else(clock, ada, bob):
    reserve(ada, epsilon="2")
    assert reserve(bob, epsilon="2").status_code == 403
    clock.advance(days=7)
    assert reserve(bob, epsilon="2").status_code == 201
    assert states(ada) == {"fit-1": "expired"}
    assert states(bob) == {"fit-1": "open"}


def test_a_clock_that_goes_back_expires_nothing(clock, ada):
    clock.advance(days=100)
    reserve(ada)
    clock.advance(days=-90)
    assert states(ada) == {"fit-1": "open"}
    clock.advance(days=96)  # six days after it was made
    assert states(ada) == {"fit-1": "open"}


# -- keys --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "key",
    ["a/b", "/", "a b", "..", ".", ".hidden", "a?b", "a#b", "ä", "a%2Fb", "a\n", "", "x" * 201],
)
def test_a_key_that_cannot_stand_in_an_address_is_refused(ada, state, key):
    refused = reserve(ada, key)
    assert refused.status_code == 422
    assert "body.key" in refused.json()["detail"]
    assert "letters, digits" in refused.json()["detail"]
    assert state.ledger.reservations() == []


@pytest.mark.parametrize("key", ["fit-1", "a.b_c~d", "-", "x" * 200, "0"])
def test_a_key_that_is_taken_can_be_closed(ada, key):
    assert reserve(ada, key).status_code == 201
    assert ada.post(f"reservations/{key}/close", {"why": "cancelled"}).status_code == 200
    assert states(ada) == {key: "cancelled"}


# -- a division is recorded once ---------------------------------------------------------------


def test_a_division_is_recorded_once(ada, state, monkeypatch):
    kept = []
    record = type(state.ledger).record

    def counted(self, number, answer):
        kept.append(number)
        return record(self, number, answer)

    monkeypatch.setattr(type(state.ledger), "record", counted)
    snapshot = ada.snapshot()
    body = {"epsilon": "1", "n_parts": 2, "snapshot": snapshot}
    told = ada.post("divide", body, "d1").json()["answer"]
    assert kept == [told["division"]]
    part = {"division": told["division"], "number": 1}
    asked = ada.post("size", {"epsilon": "1/2", "snapshot": snapshot, "part": part}, "p1")
    assert asked.status_code == 200
    assert ada.post("divide", body, "d1").json()["answer"] == told
    assert kept == [told["division"]]


# -- the page ----------------------------------------------------------------------------------


def rows_of(html: str) -> list[str]:
    """The text of each row of open reservations."""
    found = re.search(r'<table class="asides".*?<tbody[^>]*>(.*?)</tbody>', html, re.DOTALL)
    if found is None:
        return []
    rows = re.findall(r"<tr.*?</tr>", found[1], re.DOTALL)
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]


@pytest.fixture
def owner(client, state) -> Visitor:
    return Visitor(client, state.tokens["owner"])


def test_the_owner_sees_what_is_set_aside_and_how_to_cancel_it(clock, client, ada, bob, owner):
    assert 'id="aside"' not in owner.see()
    reserve(ada, "fit-a", "1", "fit of a tree")
    clock.advance(days=1)
    reserve(bob, "fit-b", "1/2", "fit of a forest")
    clock.advance(hours=2)
    ada.post("size", {"epsilon": "1/4", "reservation": "fit-a"}, "k1")
    html = owner.see()
    assert rows_of(html) == [
        "fit of a forest Cancel it Cancel it now privet curator cancel bob fit-b bob people "
        "epsilon 0.5 0.5 2030-01-02 00:00 2030-01-02 00:00 2030-01-09 00:00",
        "fit of a tree Cancel it Cancel it now privet curator cancel ada fit-a ada people "
        "epsilon 1 0.75 2030-01-01 00:00 2030-01-02 02:00 2030-01-09 02:00",
    ]
    assert timedelta(days=7) == IDLE  # as the page says
    # of 3, a quarter is spent, and 3/4 and 1/2 are held
    assert re.search(
        r"0\.25</span></b> spent.*1\.25</span></b> set aside.*1\.5</span></b> left", html
    )


def test_an_analyst_sees_only_their_own(clock, client, state, ada, bob):
    seen = Visitor(client, state.tokens["ada"])
    reserve(bob, "fit-b", "1/2", "fit of a forest")
    assert 'id="aside"' not in seen.see()
    reserve(ada, "fit-a", "1", "fit of a tree")
    html = seen.see()
    assert rows_of(html) == [
        "fit of a tree Cancel it curator.cancel_reservation('fit-a') people epsilon 1 1 "
        "2030-01-01 00:00 2030-01-01 00:00 2030-01-08 00:00"
    ]
    assert "fit-b" not in html
    assert "forest" not in html
    text = " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())
    assert "Set aside for your fits 1 You can spend 1 " in text
    assert "The data set's cap leaves 1.5 " in text


def test_what_expired_or_was_cancelled_is_not_shown(clock, ada, bob, owner):
    reserve(ada)
    reserve(bob)
    ada.post("reservations/fit-1/close", {"why": "cancelled"})
    (row,) = rows_of(owner.see())
    assert "privet curator cancel bob fit-1" in row
    clock.advance(days=7)
    assert rows_of(owner.see()) == []
    assert "set aside" not in owner.see()


def test_names_in_a_command_are_quoted(client, state, clock, owner):
    """Names of analysts are the owner's, and keys in the ledger may be of other programs."""
    facts = {"schema": "s", "neighbours": "add-remove", "rows_per_person": 1}
    key = "-f; rm 'x' <b>"
    state.ledger.reserve("people", "ada", Budget(1), "<i>fit</i>", key=key, request="r", **facts)
    html = owner.see()
    (row,) = rows_of(html)
    assert "privet curator cancel -- ada '-f; rm '\"'\"'x'\"'\"' <b>'" in row
    assert "<i>fit</i>" not in html


def test_the_page_finds_questions_by_their_words(ada, owner):
    ada.post("count", {"epsilon": "1/4", "cells": [[{"colour": ["red"]}]]}, "k1")
    ada.post("size", {"epsilon": "1/4"}, "k2")
    assert "class counts of colour = red" in owner.see()
    assert len(owner.lines()) == 2
    assert len(owner.lines(text="colour = RED")) == 1
