"""What every ledger does, in memory and in SQLite."""

from __future__ import annotations

from fractions import Fraction as F

import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.budget import NOTHING, Budget, Cost, sequential
from privet.errors import BudgetExceeded, LedgerError, ParameterError, PrivacyError
from privet.ledger import MemoryLedger, SQLiteLedger, left


@pytest.fixture(params=["memory", "sqlite"])
def ledger(request, tmp_path):
    return MemoryLedger() if request.param == "memory" else SQLiteLedger(tmp_path / "ledger.sqlite")


def test_a_charge_says_who_asked_what_when_at_what_cost(ledger):
    ledger.set_cap("people", Budget(1))
    entry = ledger.charge("people", "ada", Cost.pure("1/3"), "class counts")
    assert ledger.entries() == [entry]
    assert (entry.number, entry.dataset, entry.analyst, entry.what) == (1, "people", "ada", "class counts")
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
    assert (caught.value.asked, caught.value.left, caught.value.unit) == (F(1, 3), F(1, 5), "epsilon")
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


@given(costs=st.lists(st.fractions(min_value=F(1, 97), max_value=1, max_denominator=97), max_size=30))
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
    assert ledger.spent("people") == sequential(Cost.pure(cost) for cost in accepted)
