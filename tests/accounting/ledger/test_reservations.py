"""Reservations, in memory, in SQLite and in PostgreSQL alike."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import threading
from dataclasses import astuple, replace
from datetime import timedelta
from fractions import Fraction as F

import pytest

from privet.accounting.cost import NOTHING, Budget, Cost
from privet.accounting.ledger import PostgresLedger, Receipt, SQLiteLedger, left, verify
from privet.accounting.ledger.base import add
from privet.accounting.ledger.journal import entry_from, entry_to
from privet.accounting.ledger.reservations import IDLE, MOST_OPEN, Wanted
from privet.errors import (
    BudgetExceeded,
    KeyReused,
    LedgerError,
    ParameterError,
    PrivacyError,
    ReservationClosed,
    TooManyReservations,
)
from tests.accounting.ledger.clocks import KINDS, START, Clocked

FACTS = {"schema": "f" * 64, "neighbours": "add-remove", "rows_per_person": 1, "person": ""}


@pytest.fixture(params=KINDS)
def clocked(request, tmp_path, monkeypatch):
    url = request.getfixturevalue("postgres").database() if request.param == "postgres" else None
    made = Clocked(request.param, tmp_path, url, monkeypatch)
    made.ledger.set_cap("people", Budget(1))
    yield made
    made.close()


@pytest.fixture
def ledger(clocked):
    return clocked.ledger


def reserve(ledger, amount="1/2", key="fit", analyst="ada", dataset="people", **changed):
    given = {"key": key, "request": "a digest", **FACTS, **changed}
    budget = amount if isinstance(amount, Budget) else Budget(amount)
    return ledger.reserve(dataset, analyst, budget, "a fit", **given)


def charge(ledger, amount, analyst="ada", dataset="people", **given):
    return ledger.charge(dataset, analyst, Cost.pure(amount), "counts", **given)


def untouched(ledger, refused, match=None, error=BudgetExceeded):
    """A refusal writes nothing."""
    before = list(ledger.journal())
    with pytest.raises(error, match=match) as caught:
        refused()
    assert list(ledger.journal()) == before
    return caught.value


# -- a fit, from its reservation to its end --------------------------------------------------------


def test_a_fit_reserves_charges_and_closes(clocked, ledger):
    made = reserve(ledger, "1/2")
    assert (made.number, made.dataset, made.analyst, made.key) == (2, "people", "ada", "fit")
    assert (made.request, made.what, made.unit) == ("a digest", "a fit", "epsilon")
    assert (made.reserved, made.charged, made.left) == (F(1, 2), 0, F(1, 2))
    assert made.is_open
    assert made.facts == FACTS
    assert made.time == made.touched == clocked.written
    assert ledger.spent("people") == NOTHING
    assert ledger.committed("people") == ledger.committed("people", "ada") == F(1, 2)
    assert ledger.committed("people", "bob") == 0

    clocked.pass_time(hours=1)
    entry = charge(ledger, "1/3", reservation="fit", asked="How many are ill?")
    assert (entry.reservation, entry.asked) == (made.number, "How many are ill?")
    assert ledger.entries() == [entry]
    there = ledger.reservation("ada", "fit")
    assert (there.charged, there.left, there.touched) == (F(1, 3), F(1, 6), clocked.written)
    assert ledger.committed("people") == F(1, 2)
    assert ledger.spent("people") == Cost.pure("1/3")

    closed = ledger.close_reservation("ada", "fit", model="a digest of a model")
    assert (closed.state, closed.left, closed.is_open) == ("done", 0, False)
    assert closed.facts == {**FACTS, "claimed_model": "a digest of a model"}
    assert closed == ledger.reservation("ada", "fit")
    assert ledger.committed("people") == F(1, 3)
    assert [line.kind for line in ledger.journal()] == ["cap", "reserve", "charge", "close"]
    assert verify(ledger) == []
    clocked.reopen()
    assert clocked.ledger.entries() == [entry]
    assert clocked.ledger.reservation("ada", "fit") == closed
    assert verify(clocked.ledger) == []


def test_nobody_spends_what_is_reserved(ledger):
    ledger.set_cap("people", Budget("3/4"), "ada")
    reserve(ledger, "1/2")
    assert left(ledger, "people", "ada") == F(1, 4)
    assert left(ledger, "people", "bob") == F(1, 2)
    refused = untouched(ledger, lambda: charge(ledger, "2/3", "bob"), "data set 'people'")
    assert (refused.asked, refused.left) == (F(2, 3), F(1, 2))
    refused = untouched(ledger, lambda: charge(ledger, "1/3"), "analyst 'ada'")
    assert refused.left == F(1, 4)
    untouched(ledger, lambda: reserve(ledger, "2/3", "other", "bob"), "data set 'people'")
    untouched(ledger, lambda: reserve(ledger, "1/3", "other"), "analyst 'ada'")
    charge(ledger, "1/2", "bob")
    assert left(ledger, "people", "ada") == left(ledger, "people", "bob") == 0
    charge(ledger, "1/2", reservation="fit")
    assert ledger.committed("people") == 1
    assert verify(ledger) == []


def test_the_last_unit_of_a_reservation_can_be_charged_and_not_one_more(ledger):
    reserve(ledger, "3/10")
    for _ in range(3):
        charge(ledger, 0.1, reservation="fit")
    refused = untouched(
        ledger,
        lambda: charge(ledger, F(1, 10**30), reservation="fit"),
        "reservation 'fit' of analyst 'ada'",
    )
    assert (refused.left, refused.unit) == (0, "epsilon")
    assert ledger.reservation("ada", "fit").is_open


def test_what_was_charged_is_never_given_back(ledger):
    reserve(ledger, "1/2")
    charge(ledger, "1/3", reservation="fit")
    cancelled = ledger.close_reservation("ada", "fit", why="cancelled")
    assert cancelled.state == "cancelled"
    assert ledger.spent("people") == ledger.spent("people", "ada") == Cost.pure("1/3")
    assert left(ledger, "people", "bob") == F(2, 3)


def test_rho_is_reserved_where_the_cap_is_in_rho(ledger):
    ledger.set_cap("cars", Budget(rho=1))
    made = reserve(ledger, Budget(rho="1/2"), dataset="cars")
    assert (made.unit, made.reserved) == ("rho", F(1, 2))
    charge(ledger, 1, dataset="cars", reservation="fit")  # rho 1/2
    assert ledger.reservation("ada", "fit").left == 0
    assert ledger.committed("cars") == F(1, 2)


def test_the_unit_is_that_of_the_cap(ledger):
    untouched(ledger, lambda: reserve(ledger, Budget(rho="1/2")), "is in epsilon", LedgerError)
    untouched(ledger, lambda: reserve(ledger, dataset="cars"), "no budget", LedgerError)
    with pytest.raises(LedgerError, match="no budget"):
        ledger.committed("cars")
    reserve(ledger)
    untouched(
        ledger,
        lambda: ledger.charge("people", "ada", Cost.concentrated("1/9"), "x", reservation="fit"),
        "pure epsilon budget",
        PrivacyError,
    )


# -- keys ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["open", "done", "cancelled", "expired"])
def test_the_same_key_and_request_give_the_same_reservation(clocked, ledger, state):
    reserve(ledger)
    charge(ledger, "1/3", reservation="fit")
    if state == "expired":
        clocked.pass_time(days=8)
        ledger.expire()
    elif state != "open":
        ledger.close_reservation("ada", "fit", why=state)
    there = ledger.reservation("ada", "fit")
    lines = list(ledger.journal())
    assert there.state == state
    assert reserve(ledger) == there
    assert list(ledger.journal()) == lines


@pytest.mark.parametrize(
    "other",
    [
        {"request": "another digest"},
        {"schema": "e" * 64},
        {"neighbours": "replace"},
        {"rows_per_person": 2},
        {"person": "who"},
        {"dataset": "children"},
        {"dataset": "cars", "amount": Budget(rho="1/2")},
    ],
)
def test_a_key_belongs_to_one_reservation(ledger, other):
    ledger.set_cap("children", Budget(1))
    ledger.set_cap("cars", Budget(rho=1))
    reserve(ledger)
    untouched(ledger, lambda: reserve(ledger, **other), "'fit' belongs to another", KeyReused)
    ledger.close_reservation("ada", "fit")
    untouched(ledger, lambda: reserve(ledger, **other), "'fit' belongs to another", KeyReused)


def test_charges_and_reservations_share_the_keys_of_an_analyst(ledger):
    reserve(ledger, "1/9")
    untouched(
        ledger, lambda: charge(ledger, "1/9", key="fit", request="a digest"), "line 2", KeyReused
    )
    charge(ledger, "1/9", key="count", request="a digest")
    untouched(ledger, lambda: reserve(ledger, "1/9", "count"), "line 3", KeyReused)
    assert ledger.charged("ada", "fit") is None
    assert ledger.reservation("ada", "count") is None
    assert ledger.unanswered() == {3}
    assert reserve(ledger, "1/9", analyst="bob").analyst == "bob"  # keys are an analyst's own
    assert len(ledger.reservations()) == 2


def test_a_closed_reservation_replays_what_it_answered(ledger):
    reserve(ledger)
    given = {"key": "question 1", "request": "its digest", "reservation": "fit"}
    entry = charge(ledger, "1/3", **given)
    ledger.record(entry.number, b"an answer")
    ledger.close_reservation("ada", "fit")
    assert charge(ledger, "1/3", **given) == entry
    assert ledger.charged("ada", "question 1") == entry
    assert ledger.answer(entry.number) == b"an answer"
    assert ledger.spent("people") == Cost.pure("1/3")
    untouched(
        ledger,
        lambda: charge(ledger, "1/9", key="question 2", request="x", reservation="fit"),
        "is closed",
        ReservationClosed,
    )


# -- who may charge a reservation ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"reservation": "no such key"}, "has no reservation"),
        ({"reservation": "fit", "analyst": "bob"}, "'bob' has no reservation 'fit'"),
        ({"reservation": "fit", "dataset": "children"}, "on data set 'children'"),
        ({"reservation": "count"}, "has no reservation 'count'"),
        ({"reservation": "done"}, r"closed \(done\).*new key"),
        ({"reservation": "cancelled"}, r"closed \(cancelled\)"),
        ({"reservation": "fit", "schema": "e" * 64}, "is for schema ffff"),
        (
            {"reservation": "fit", "neighbours": "replace", "rows_per_person": 1},
            "is for neighbours add-remove, not replace",
        ),
        (
            {"reservation": "fit", "neighbours": "add-remove", "rows_per_person": 3},
            "is for rows per person 1, not 3",
        ),
        ({"reservation": "fit", **FACTS, "person": "who"}, "is for person , not who"),
    ],
)
def test_nothing_is_charged_without_an_open_reservation_of_ones_own(ledger, given, match):
    ledger.set_cap("children", Budget(1))
    charge(ledger, "1/9", key="count", request="x")
    for why in ("done", "cancelled"):
        reserve(ledger, "1/9", why)
        ledger.close_reservation("ada", why, why=why)
    reserve(ledger, "1/9")
    untouched(ledger, lambda: charge(ledger, "1/99", **given), match, ReservationClosed)
    assert charge(ledger, "1/99", reservation="fit", **FACTS).number


def test_an_old_key_is_no_way_into_a_reservation(ledger):
    """The reason is the same whichever ledger says it, whatever the cost would be."""
    untouched(
        ledger, lambda: charge(ledger, 99, reservation="fit"), "no reservation", ReservationClosed
    )


@pytest.mark.parametrize("who", [None, "ada"])
def test_a_charge_obeys_the_caps_of_today(ledger, who):
    reserve(ledger, "3/4")
    charge(ledger, "1/4", reservation="fit")
    ledger.set_cap("people", Budget("1/2"), who)
    refused = untouched(ledger, lambda: charge(ledger, "1/3", reservation="fit"))
    assert refused.left == F(1, 4)
    charge(ledger, "1/4", reservation="fit")
    assert left(ledger, "people", "ada") == 0
    assert ledger.reservation("ada", "fit").left == F(1, 4)
    ledger.set_cap("people", Budget(1), who)
    charge(ledger, "1/4", reservation="fit")
    assert verify(ledger) == []


def test_charges_without_a_reservation_are_what_they_were(ledger):
    """Callers of version 0.1 know nothing of reservations, and their lines look the same."""
    charge(ledger, "1/9", key="k", request="r")
    charge(ledger, "1/9")
    assert [line.more for line in ledger.journal()] == ["", "", ""]
    before = ledger.identity
    for line in ledger.journal():
        texts = [str(value) for value in astuple(line)[:10]]
        written = "".join(f"{len(text.encode())}:{text}," for text in texts)
        assert line.hash == hashlib.sha256((before + written).encode()).hexdigest()
        before = line.hash


# -- ends ------------------------------------------------------------------------------------------


def test_closing_again_for_the_same_reason_changes_nothing(ledger):
    reserve(ledger)
    first = ledger.close_reservation("ada", "fit", model="m")
    lines = list(ledger.journal())
    assert ledger.close_reservation("ada", "fit") == first
    assert ledger.close_reservation("ada", "fit", model="another") == first
    assert list(ledger.journal()) == lines
    untouched(
        ledger,
        lambda: ledger.close_reservation("ada", "fit", why="cancelled"),
        r"closed already \(done\)",
        ReservationClosed,
    )
    for analyst, key in (("bob", "fit"), ("ada", "other")):
        with pytest.raises(ReservationClosed, match="no reservation"):
            ledger.close_reservation(analyst, key)


def test_a_digest_of_a_model_is_recorded_as_a_claim(ledger):
    reserve(ledger)
    ledger.close_reservation("ada", "fit", model='ab"c')
    *_, line = ledger.journal()
    assert line.more == '{"claimed_model":"ab\\"c","reservation":2,"why":"done"}'
    assert (line.key, line.epsilon, line.rho) == ("", "", "")


def test_idle_reservations_expire(clocked, ledger):
    reserve(ledger, "1/4", "idle")
    clocked.pass_time(days=3)
    reserve(ledger, "1/4", "used")
    clocked.pass_time(days=3)
    charge(ledger, "1/9", reservation="used")
    clocked.pass_time(days=1, milliseconds=-1)
    assert ledger.expire() == []
    clocked.pass_time(milliseconds=1)
    (expired,) = ledger.expire()
    assert (expired.key, expired.state) == ("idle", "expired")
    assert expired == ledger.reservation("ada", "idle")
    assert ledger.expire() == []
    assert [one.key for one in ledger.reservations(open_only=True)] == ["used"]
    assert ledger.committed("people") == F(1, 4)
    untouched(
        ledger, lambda: charge(ledger, "1/9", reservation="idle"), "expired", ReservationClosed
    )
    untouched(
        ledger,
        lambda: ledger.close_reservation("ada", "idle"),
        r"closed already \(expired\)",
        ReservationClosed,
    )
    assert verify(ledger) == []


@pytest.mark.parametrize("how", ["charge", "reserve", "refused charge", "refused reservation"])
def test_charging_and_reserving_expire_idle_ones_first(clocked, ledger, how):
    reserve(ledger, "1/2", "one")
    reserve(ledger, "1/2", "two", "bob")
    clocked.pass_time(days=7)
    if how == "charge":
        charge(ledger, 1)
    elif how == "reserve":
        reserve(ledger, 1, "three")
    else:
        with pytest.raises(BudgetExceeded) as caught:
            charge(ledger, 2) if how == "refused charge" else reserve(ledger, 2, "three")
        assert caught.value.left == 1
    assert [one.state for one in ledger.reservations()][:2] == ["expired", "expired"]
    kinds = [line.kind for line in ledger.journal()]
    last = [] if how.startswith("refused") else [how]
    assert kinds == ["cap", "reserve", "reserve", "close", "close", *last]
    assert verify(ledger) == []


def test_a_clock_that_goes_back_expires_nothing_early_and_revives_nothing(clocked, ledger):
    clocked.pass_time(days=100)
    charge(ledger, "1/100")  # the ledger has seen this time
    clocked.set_clock(START)
    made = reserve(ledger)
    assert made.time == START.isoformat(timespec="milliseconds")
    assert made.touched == (START + timedelta(days=100)).isoformat(timespec="milliseconds")
    assert ledger.expire() == []  # by its own line, it would be idle for 100 days
    charge(ledger, "1/100", reservation="fit")
    clocked.set_clock(START + timedelta(days=106))
    assert ledger.expire() == []
    clocked.set_clock(START + timedelta(days=107))
    assert [one.key for one in ledger.expire()] == ["fit"]
    clocked.set_clock(START)
    assert ledger.reservation("ada", "fit").state == "expired"
    with pytest.raises(ReservationClosed):
        charge(ledger, "1/100", reservation="fit")
    assert verify(ledger) == []


def test_time_that_the_ledger_has_seen_has_passed(clocked, ledger):
    """A clock that was set back does not keep a reservation open."""
    reserve(ledger)
    clocked.pass_time(days=7)
    ledger.set_cap("people", Budget(2))  # a line, but nothing that expires
    assert ledger.reservation("ada", "fit").is_open
    clocked.set_clock(START)
    assert [one.key for one in ledger.expire()] == ["fit"]
    assert verify(ledger) == []


def test_a_clock_that_jumps_ahead_and_back_expires_once(clocked, ledger):
    reserve(ledger, "1/9", "before")
    clocked.pass_time(days=1000)
    assert [one.key for one in ledger.expire()] == ["before"]
    clocked.set_clock(START)
    reserve(ledger, "1/9", "after")
    clocked.pass_time(days=6)
    charge(ledger, "1/99", reservation="after")
    clocked.pass_time(days=900)
    assert ledger.expire() == []  # the ledger's time stands still until the clock has caught up
    clocked.set_clock(START + timedelta(days=1007))
    assert [one.key for one in ledger.expire()] == ["after"]
    assert verify(ledger) == []


def test_postgres_has_the_same_limit(postgres):
    ledger = PostgresLedger(postgres.database())
    with ledger.transaction() as connection:
        (written,) = connection.execute("SELECT privet.idle_since()").fetchone()
        (then,) = connection.execute(
            "SELECT extract(epoch FROM clock_timestamp() - $1::timestamptz)", (written,)
        ).fetchone()
    assert 0 <= float(then) - IDLE.total_seconds() < 60
    ledger.close()


# -- limits, lists and facts -----------------------------------------------------------------------


def test_open_ones_of_an_analyst_on_a_data_set_are_limited(ledger):
    ledger.set_cap("children", Budget(1))
    for number in range(MOST_OPEN):
        reserve(ledger, "1/100", f"fit {number}")
    refused = untouched(
        ledger, lambda: reserve(ledger, "1/100", "one more"), error=TooManyReservations
    )
    assert "privet curator cancel" in str(refused)
    assert "finish an interrupted fit" in str(refused)
    assert reserve(ledger, "1/100", "fit 3").number == 6  # is there already
    reserve(ledger, "1/100", "one more", "bob")
    reserve(ledger, "1/100", "one more", dataset="children")
    ledger.close_reservation("ada", "fit 3")
    reserve(ledger, "1/100", "yet another")


def test_reservations_are_listed_oldest_first(ledger):
    ledger.set_cap("children", Budget(1))
    reserve(ledger, "1/9", "a")
    reserve(ledger, "1/9", "b", "bob")
    reserve(ledger, "1/9", "c", dataset="children")
    ledger.close_reservation("ada", "a")

    def keys(*given, **named):
        return [one.key for one in ledger.reservations(*given, **named)]

    assert keys() == ["a", "b", "c"]
    assert keys("people") == ["a", "b"]
    assert keys(analyst="ada") == ["a", "c"]
    assert keys("people", "ada") == ["a"]
    assert keys("people", "ada", open_only=True) == []
    assert keys(open_only=True) == ["b", "c"]
    assert ledger.reservation("cleo", "a") is None


ODD = ["", "in words", 'quoted "labels" \\ / \b\f\n\r\t', "\x01\x1f\x7f\x85\u2028", "ä \U0001f333"]


@pytest.mark.parametrize("asked", ODD)
def test_what_was_asked_reads_back(ledger, asked):
    entry = charge(ledger, "1/9", asked=asked)
    assert entry.asked == asked
    assert ledger.entries() == [entry]
    assert replace(entry_from(entry_to(entry)), request=entry.request) == entry
    assert verify(ledger) == []


def test_lines_are_the_same_in_all_ledgers(tmp_path, monkeypatch, postgres):
    written = []
    for kind in KINDS:
        clocked = Clocked(kind, tmp_path, postgres.database(), monkeypatch)
        ledger = clocked.ledger
        ledger.set_cap("people", Budget(1))
        reserve(ledger, "1/2", "fit ä")
        for number, asked in enumerate(ODD):
            ledger.set_cap(f"{number}", Budget(1))
            given = {"asked": asked, "neighbours": "replace", "rows_per_person": 7}
            charge(ledger, "1/100", dataset=f"{number}", **given, person=asked)
            charge(ledger, "1/100", asked=asked)
            charge(ledger, "1/100", reservation="fit ä", asked=asked, key=f"k{asked}")
        ledger.close_reservation("ada", "fit ä", model="ü")
        reserve(ledger, "1/2", "idle")
        clocked.pass_time(days=9)
        charge(ledger, "1/100", "bob")
        written.append([replace(line, hash="") for line in ledger.journal()])
        assert verify(ledger) == []
        clocked.close()
    assert written[0] == written[1] == written[2]
    assert len(written[0]) == 26


def test_refusals_are_the_same_in_all_ledgers(tmp_path, monkeypatch, postgres):
    said = []
    for kind in KINDS:
        clocked = Clocked(kind, tmp_path, postgres.database(), monkeypatch)
        ledger = clocked.ledger
        ledger.set_cap("people", Budget(1))
        reserve(ledger, "1/2")
        reserve(ledger, "1/7", "closed")
        ledger.close_reservation("ada", "closed", why="cancelled")
        heard = []
        for given in (
            {"amount": "2/3", "reservation": "fit"},
            {"amount": "2/3"},
            {"amount": "1/9", "reservation": "closed"},
            {"amount": "1/9", "reservation": "unknown"},
            {"amount": "1/9", "reservation": "fit", "schema": "another"},
            {"amount": "1/9", "key": "fit"},
        ):
            with pytest.raises((BudgetExceeded, LedgerError)) as caught:
                charge(ledger, **given)
            heard.append((type(caught.value), str(caught.value)))
        said.append(heard)
        clocked.close()
    assert said[0] == said[1] == said[2]


def test_odd_fractions_of_one_analyst_do_not_choke_the_account(ledger):
    made = reserve(ledger, F(1, 3))
    total = NOTHING
    for i in range(60):
        odd = Cost.pure(F(10**25 + 2 * i + 1, 10**29 + 7919 * i + 1))
        ledger.charge("people", "ada", odd, "x", reservation="fit")
        total = add(total, odd)
    charged = ledger.reservation("ada", "fit").charged
    assert charged == total.epsilon
    assert charged.denominator <= 10**300
    assert 0 <= ledger.committed("people") - made.reserved <= F(1, 10**290)
    assert left(ledger, "people", "bob") <= F(2, 3)
    assert verify(ledger) == []


# -- what cannot be reserved -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "match"),
    [
        *(
            ({name: bad}, name)
            for name in ("dataset", "analyst", "key", "schema")
            for bad in ("", "a\nb", "a\x00b", "x" * 501, None, 7)
        ),
        ({"amount": Budget(0)}, "above zero"),
        ({"request": "\ud800"}, "request"),
        ({"request": "a\x00b"}, "request"),
        ({"request": None}, "request"),
        ({"neighbours": "friends"}, "neighbours"),
        ({"neighbours": ""}, "neighbours"),
        ({"rows_per_person": 0}, "rows_per_person"),
        ({"rows_per_person": -1}, "rows_per_person"),
        ({"rows_per_person": True}, "rows_per_person"),
        ({"rows_per_person": 1.5}, "rows_per_person"),
        ({"person": 7}, "person"),
        ({"person": "a\x00b"}, "person"),
    ],
)
def test_what_cannot_be_reserved_is_said(ledger, given, match):
    untouched(ledger, lambda: reserve(ledger, **given), match, ParameterError)


def test_an_amount_is_a_budget():
    given = {**FACTS, "key": "k", "request": "r", "what": "w", "dataset": "d", "analyst": "a"}
    for bad in (1, "1", None, F(1)):
        with pytest.raises(ParameterError, match="Budget above zero"):
            Wanted(budget=bad, **given)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"asked": "x" * 2001}, "2000"),
        ({"asked": "a\x00b"}, "asked"),
        ({"asked": "\udcff"}, "asked"),
        ({"neighbours": "replace"}, "rows_per_person"),
        ({"rows_per_person": 2}, "neighbours"),
        ({"person": "who"}, "neighbours"),
        ({"neighbours": "friends", "rows_per_person": 2}, "neighbours"),
    ],
)
def test_what_cannot_be_said_of_a_charge(ledger, given, match):
    untouched(ledger, lambda: charge(ledger, "1/9", **given), match, ParameterError)


@pytest.mark.parametrize("given", [{"why": "expired"}, {"why": "open"}, {"model": "a\nb"}])
def test_how_a_reservation_cannot_be_closed(ledger, given):
    reserve(ledger)
    untouched(
        ledger,
        lambda: ledger.close_reservation("ada", "fit", **given),
        next(iter(given)),
        ParameterError,
    )


@pytest.mark.parametrize("cost", [Cost(F(-1, 10), F(0)), Cost(F(0), F(-1, 10))])
def test_a_negative_cost_is_no_way_to_reserve_more(ledger, cost):
    reserve(ledger)
    untouched(
        ledger,
        lambda: ledger.charge("people", "ada", cost, "x", reservation="fit"),
        error=(ParameterError, LedgerError),
    )


# -- at once ---------------------------------------------------------------------------------------


def test_threads_never_reserve_more_than_there_is(ledger):
    made, refused = [], []

    def work(analyst):
        for number in range(12):
            try:
                made.append(reserve(ledger, "1/10", f"fit {number}", analyst))
            except BudgetExceeded:
                refused.append(number)

    threads = [threading.Thread(target=work, args=(f"analyst {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert (len(made), len(refused)) == (10, 38)
    assert ledger.committed("people") == 1
    assert verify(ledger) == []


def test_one_key_reserves_once_however_many_ask_at_once(ledger):
    made = []
    threads = [threading.Thread(target=lambda: made.append(reserve(ledger))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert len(made) == 8
    assert {one.number for one in made} == {2}
    assert len(ledger.reservations()) == 1


SPENDER = """
import sys
from privet.accounting.cost import Budget, Cost
from privet.errors import BudgetExceeded
from privet.accounting.ledger import PostgresLedger, SQLiteLedger
place, analyst, facts = sys.argv[1], sys.argv[2], dict(
    request="r", schema="s", neighbours="replace", rows_per_person=1)
ledger = (PostgresLedger if place.startswith("postgres") else SQLiteLedger)(place)
refused = number = 0
while refused < 3:
    number += 1
    try:
        ledger.reserve("people", analyst, Budget("1/20"), "a fit", key=str(number), **facts)
        for _ in range(3):
            ledger.charge("people", analyst, Cost.pure("1/80"), "x", reservation=str(number))
        print(number, flush=True)
        ledger.close_reservation(analyst, str(number), why="done")
        ledger.charge("people", analyst, Cost.pure("1/160"), "x")
    except BudgetExceeded:
        refused += 1
ledger.close()
"""


def spend(place, analyst):
    return subprocess.Popen(
        [sys.executable, "-c", SPENDER, str(place), analyst], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_processes_never_spend_more_than_there_is(kind, tmp_path, request):
    if kind == "sqlite":
        place = tmp_path / "ledger.sqlite"
        ledger = SQLiteLedger(place)
    else:
        place = request.getfixturevalue("postgres").database()
        ledger = PostgresLedger(place)
    ledger.set_cap("people", Budget(1))
    processes = [spend(place, f"analyst {i}") for i in range(3)]
    for process in processes:
        process.communicate(timeout=120)
        assert process.returncode == 0
    spent = ledger.spent("people").epsilon
    assert F(9, 10) <= spent <= 1
    assert ledger.committed("people") <= 1
    assert all(one.charged == F(3, 80) for one in ledger.reservations() if not one.is_open)
    assert verify(ledger) == []
    ledger.close()


def test_kill_9_leaves_a_ledger_that_goes_on(tmp_path):
    place = tmp_path / "ledger.sqlite"
    ledger = SQLiteLedger(place)
    ledger.set_cap("people", Budget(1_000_000))
    for heard in range(1, 9):
        process = spend(place, f"analyst {heard}")
        for _ in range(heard):
            process.stdout.readline()
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        again = SQLiteLedger(place)
        assert verify(again) == []
        done = again.reservations(analyst=f"analyst {heard}")
        assert len(done) >= heard
        assert all(one.charged == F(3, 80) for one in done[:heard])
        committed = again.spent("people").epsilon + sum(one.left for one in again.reservations())
        assert again.committed("people") == committed
        again.close()


# -- receipts --------------------------------------------------------------------------------------


def test_receipts_prove_charges_to_reservations(ledger):
    reserve(ledger)
    entry = charge(ledger, "1/9", key="k", request="r", reservation="fit")
    ledger.record(entry.number, b"42")
    receipt = Receipt.of(ledger.identity, entry, b"42")
    assert verify(ledger, receipts=[receipt]) == []
    assert verify(ledger, receipts=[replace(receipt, hash="0" * 64)]) != []
