"""What every ledger does, in memory, in SQLite and in PostgreSQL."""

from __future__ import annotations

import threading
from contextlib import suppress
from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.accounting.cost import NOTHING, Budget, Cost, compose_sequentially
from privet.accounting.ledger import (
    MemoryLedger,
    PostgresLedger,
    SQLiteLedger,
    Witness,
    left,
    verify,
)
from privet.errors import BudgetExceeded, KeyReused, LedgerError, ParameterError, PrivacyError


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def ledger(request, tmp_path):
    if request.param == "postgres":
        ledger = PostgresLedger(request.getfixturevalue("postgres").database())
        yield ledger
        ledger.close()
    else:
        yield (
            MemoryLedger()
            if request.param == "memory"
            else SQLiteLedger(tmp_path / "ledger.sqlite")
        )


def test_a_charge_says_who_asked_what_when_at_what_cost(ledger):
    ledger.set_cap("people", Budget(1))
    entry = ledger.charge("people", "ada", Cost.pure("1/3"), "class counts")
    assert ledger.entries() == [entry]
    assert (entry.number, entry.dataset, entry.analyst, entry.what) == (
        2,
        "people",
        "ada",
        "class counts",
    )
    assert entry.cost == Cost.pure(F(1, 3))
    assert entry.time.endswith("+00:00")
    assert ledger.spent("people") == ledger.spent("people", "ada") == Cost.pure("1/3")
    assert ledger.spent("people", "bob") == NOTHING
    assert ledger.datasets() == ["people"]


def test_the_last_exact_unit_can_be_spent_and_not_one_more(ledger):
    ledger.set_cap("people", Budget(1))
    for _ in range(10):
        ledger.charge("people", "ada", Cost.pure(0.1), "a tenth")
    assert left(ledger, "people", "ada") == 0
    with pytest.raises(BudgetExceeded):
        ledger.charge("people", "ada", Cost.pure(F(1, 10**30)), "next to nothing")
    assert len(ledger.entries()) == 10


def test_an_overdraft_carries_asked_and_left_and_records_nothing(ledger):
    ledger.set_cap("people", Budget("0.5"))
    ledger.charge("people", "ada", Cost.pure("0.3"), "first")
    with pytest.raises(BudgetExceeded) as caught:
        ledger.charge("people", "ada", Cost.pure("1/3"), "second")
    assert (caught.value.asked, caught.value.left, caught.value.unit) == (
        F(1, 3),
        F(1, 5),
        "epsilon",
    )
    assert "data set 'people'" in str(caught.value)
    assert "asked epsilon 0.333333 (exactly 1/3), left epsilon 0.2" in str(caught.value)
    assert [entry.what for entry in ledger.entries()] == ["first"]
    assert ledger.spent("people").epsilon == F(3, 10)


def test_colluding_analysts_cannot_pass_the_cap_of_the_data_set(ledger):
    ledger.set_cap("people", Budget(1))
    for analyst in ("ada", "bob"):
        ledger.set_cap("people", Budget("0.7"), analyst)
    ledger.charge("people", "ada", Cost.pure("0.6"), "ada's")
    with pytest.raises(BudgetExceeded, match="data set 'people'") as caught:
        ledger.charge("people", "bob", Cost.pure("0.5"), "bob's")
    assert caught.value.left == F(2, 5)
    assert left(ledger, "people", "bob") == F(2, 5)
    with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
        ledger.charge("people", "ada", Cost.pure("0.2"), "ada's second")
    assert ledger.spent("people") == ledger.spent("people", "ada")
    assert ledger.spent("people", "bob") == NOTHING


def test_data_sets_have_accounts_of_their_own(ledger):
    ledger.set_cap("people", Budget(1))
    ledger.set_cap("cars", Budget(rho="0.5"))
    ledger.charge("people", "ada", Cost.pure(1), "all of it")
    ledger.charge("cars", "ada", Cost.concentrated("0.5"), "all of it")
    assert left(ledger, "people", "ada") == left(ledger, "cars", "ada") == 0
    assert [entry.dataset for entry in ledger.entries("cars")] == ["cars"]
    assert ledger.entries(analyst="bob") == []


def test_a_rho_cap_counts_pure_mechanisms_by_their_rho(ledger):
    ledger.set_cap("people", Budget(rho=1))
    ledger.charge("people", "ada", Cost.pure(1), "pure")
    ledger.charge("people", "ada", Cost.bounded_range(1), "selection")
    assert left(ledger, "people", "ada") == 1 - F(1, 2) - F(1, 8)


def test_a_pure_cap_refuses_a_mechanism_without_pure_epsilon(ledger):
    ledger.set_cap("people", Budget(1))
    with pytest.raises(PrivacyError, match="rho"):
        ledger.charge("people", "ada", Cost.concentrated("0.01"), "gaussian")
    assert ledger.entries() == []


def test_a_cap_can_be_raised_and_lowered_but_not_change_its_unit(ledger):
    ledger.set_cap("people", Budget(1))
    ledger.charge("people", "ada", Cost.pure(1), "all of it")
    ledger.set_cap("people", Budget(2))
    assert left(ledger, "people", "ada") == 1
    ledger.set_cap("people", Budget("0.5"))
    assert left(ledger, "people", "ada") == 0
    with pytest.raises(LedgerError, match="epsilon"):
        ledger.set_cap("people", Budget(rho=1))


def test_no_account_no_charge(ledger):
    with pytest.raises(LedgerError, match="no budget"):
        ledger.charge("people", "ada", Cost.pure(1), "x")
    with pytest.raises(LedgerError, match="before that of an analyst"):
        ledger.set_cap("people", Budget(1), "ada")
    ledger.set_cap("people", Budget(1))
    with pytest.raises(ParameterError, match="analyst"):
        ledger.charge("people", "", Cost.pure(1), "x")
    with pytest.raises(ParameterError, match="analyst"):
        ledger.set_cap("people", Budget(1), "")


@given(
    costs=st.lists(st.fractions(min_value=F(1, 97), max_value=1, max_denominator=97), max_size=30)
)
def test_what_is_accepted_never_passes_the_cap_and_adds_up(costs):
    ledger = MemoryLedger()
    ledger.set_cap("people", Budget(3))
    accepted = []
    for cost in costs:
        if sum(accepted, F(0)) + cost <= 3:
            ledger.charge("people", "ada", Cost.pure(cost), "x")
            accepted.append(cost)
        else:
            with pytest.raises(BudgetExceeded) as caught:
                ledger.charge("people", "ada", Cost.pure(cost), "x")
            assert caught.value.left == 3 - sum(accepted, F(0))
    assert ledger.spent("people") == compose_sequentially(Cost.pure(cost) for cost in accepted)


def test_a_key_pays_once_and_for_one_request_only(ledger):
    ledger.set_cap("people", Budget(1))
    first = ledger.charge("people", "ada", Cost.pure("0.6"), "counts", key="k1", request="digest 1")
    assert (
        ledger.charge("people", "ada", Cost.pure("0.6"), "counts", key="k1", request="digest 1")
        == first
    )
    assert ledger.charged("ada", "k1") == first
    with pytest.raises(KeyReused, match="k1"):
        ledger.charge("people", "ada", Cost.pure("0.1"), "counts", key="k1", request="digest 2")
    assert ledger.entries() == [first]
    # Keys belong to an analyst: another one's is another key.
    assert ledger.charged("bob", "k1") is None
    other = ledger.charge("people", "bob", Cost.pure("0.1"), "counts", key="k1", request="digest 2")
    assert other.number == first.number + 1
    assert ledger.spent("people").epsilon == F(7, 10)


def test_charges_without_a_key_are_all_their_own(ledger):
    ledger.set_cap("people", Budget(1))
    numbers = [ledger.charge("people", "ada", Cost.pure("0.1"), "counts").number for _ in range(3)]
    assert numbers == [2, 3, 4]
    assert ledger.charged("ada", "") is None
    assert ledger.unanswered() == set()


def test_the_first_recorded_answer_stays(ledger):
    ledger.set_cap("people", Budget(1))
    entry = ledger.charge("people", "ada", Cost.pure("0.1"), "counts", key="k", request="r")
    assert ledger.answer(entry.number) is None
    assert ledger.unanswered() == {entry.number}
    assert ledger.record(entry.number, b"first") == b"first"
    assert ledger.record(entry.number, b"second") == b"first"
    assert ledger.answer(entry.number) == b"first"
    assert ledger.unanswered() == set()


def test_the_journal_holds_every_cap_and_charge_and_verifies(ledger):
    ledger.open_cap("people", Budget(1))
    ledger.open_cap("people", Budget(5))  # there is one
    ledger.set_cap("people", Budget("1/2"), "ada")
    ledger.charge("people", "ada", Cost.bounded_range("1/3"), "split", key="k", request="r")
    ledger.set_cap("cars", Budget(rho=2))
    ledger.charge("cars", "bob", Cost.concentrated("1/7"), "zählen")
    lines = list(ledger.journal())
    assert [(line.number, line.kind, line.dataset, line.analyst) for line in lines] == [
        (1, "cap", "people", ""),
        (2, "cap", "people", "ada"),
        (3, "charge", "people", "ada"),
        (4, "cap", "cars", ""),
        (5, "charge", "cars", "bob"),
    ]
    assert (lines[2].epsilon, lines[2].rho, lines[2].key, lines[2].request) == (
        "1/3",
        "1/72",
        "k",
        "r",
    )
    assert (lines[4].epsilon, lines[4].rho) == ("", "1/7")
    assert lines[1].budget == Budget("1/2")
    assert lines[3].budget == Budget(rho=2)
    assert ledger.analysts("people") == ["ada"]
    assert ledger.analysts("cars") == []
    before = ledger.identity
    for line in lines:
        assert line.hash == line.hashed(before)
        before = line.hash
    assert verify(ledger) == []


@pytest.mark.parametrize("name", ["", "a\nb", "a\x00b", "x" * 501])
def test_names_are_printable(ledger, name):
    with pytest.raises(ParameterError, match="dataset"):
        ledger.set_cap(name, Budget(1))
    ledger.set_cap("people", Budget(1))
    with pytest.raises(ParameterError, match="analyst"):
        ledger.charge("people", name, Cost.pure(1), "x")
    assert ledger.entries() == []


def test_a_name_that_no_ledger_can_hold_is_not_there_and_the_ledger_works(ledger):
    """PostgreSQL holds no NUL: that is the fault of who asks, and no reason to ask again later."""
    ledger.set_cap("people", Budget(1))
    for look in (
        lambda: ledger.charged("ada", "k\0"),
        lambda: ledger.cap("people", "ada\0"),
        lambda: ledger.entries("people\0", "ada"),
    ):
        with suppress(ParameterError):
            assert not look()
    ledger.charge("people", "ada", Cost.pure(1), "x")


@pytest.mark.parametrize("cost", [Cost(F(-1, 10), F(0)), Cost(F(0), F(-1, 10)), Cost(None, F(-1))])
def test_a_negative_cost_is_no_refund(ledger, cost):
    ledger.set_cap("people", Budget(rho=1))
    ledger.charge("people", "ada", Cost.pure(1), "x")
    with pytest.raises((ParameterError, LedgerError)):
        ledger.charge("people", "ada", cost, "give it back")
    assert len(ledger.entries()) == 1


def test_a_ledger_in_use_verifies(ledger, tmp_path):
    """Charges that come while it is verified are no tampering."""
    ledger.set_cap("people", Budget(1000))
    witness = Witness(tmp_path / "witness")
    stop = threading.Event()

    def charge() -> None:
        while not stop.is_set():
            witness.note(ledger, ledger.charge("people", "ada", Cost.pure("1/7"), "x"))
        getattr(ledger, "close", lambda: None)()

    threads = [threading.Thread(target=charge) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        while len(ledger.books().lines) < 60:
            assert verify(ledger, witness) == []
    finally:
        stop.set()
        for thread in threads:
            thread.join()
