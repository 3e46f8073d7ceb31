"""What only an owner may do is not on the object that an analyst is handed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import privet as pv
from privet.accounting.ledger import MemoryLedger, SQLiteLedger
from privet.curator import Curator, Owner
from privet.domain.cells import Cells
from privet.errors import BudgetExceeded, LedgerError, ParameterError, PrivacyError
from privet.queries import ShareCounts

SCHEMA = pv.Schema({"a": pv.Categorical(["0", "1"])}, "c", ["x", "y"])
TABLE = {"a": ["0"] * 30 + ["1"] * 12, "c": ["x"] * 21 + ["y"] * 21}
EVERYTHING = Cells.everything(SCHEMA)


@pytest.fixture
def owner():
    return Owner(TABLE, SCHEMA, pv.Budget(1), dataset="people")


# -- attacks: each of these worked on the curator of 0.1 -------------------------------------------


def test_a_curator_gives_no_share_of_the_noise(owner):
    """A share out of 10 000 of epsilon 1/100 is exact counts for a hundredth."""
    ada = owner.curator("ada")
    with pytest.raises(AttributeError, match=r"pv\.Owner"):
        ada.share(EVERYTHING, "1/100", parties=10_000)
    for ask in (ada.ask, lambda *given: ada.ask_once("key", *given)):
        with pytest.raises((PrivacyError, ParameterError)):
            ask(ShareCounts(EVERYTHING, 10_000), "1/100")
    assert owner.ledger.entries() == []


@pytest.mark.parametrize("make", [MemoryLedger, None])
def test_a_curator_lifts_no_budget(make, tmp_path):
    ledger = make() if make else SQLiteLedger(tmp_path / "ledger.sqlite")
    ada = Curator(TABLE, SCHEMA, pv.Budget(1), ledger=ledger, dataset="people", analyst="ada")
    ada.size(1)
    for name in ("set_cap", "open_cap", "charge", "reserve", "close_reservation", "expire"):
        with pytest.raises(AttributeError, match="only to be read"):
            getattr(ada.ledger, name)
    with pytest.raises(AttributeError):
        ada.ledger = MemoryLedger()
    with pytest.raises(AttributeError):
        ada.analyst = "bob"
    with pytest.raises(AttributeError, match="owners"):
        ada.charging(MemoryLedger())
    with pytest.raises(BudgetExceeded):
        ada.size("1/100")
    assert ledger.cap("people") == pv.Budget(1)


def test_the_groups_of_a_division_have_no_budget_to_lift_either(owner):
    ada = owner.curator("ada")
    with ada.snapshot():
        for part in ada.split_people(2, 1):
            with pytest.raises(AttributeError, match="only to be read"):
                part.ledger.set_cap(part.dataset, pv.Budget(1000))


def test_no_public_method_takes_a_ledger_or_a_cap():
    """Whoever adds one has to say here why an analyst may have it."""
    public = {name for name in dir(Curator) if not name.startswith("_")}
    assert public == {
        *("account", "analyst", "bits", "dataset", "identity", "ledger", "left", "least_epsilon"),
        *("notes", "private", "reason", "rules", "schema", "spent", "unit"),  # to be read
        *("ask", "ask_once", "choose", "choose_model", "choose_partition", "confusion", "count"),
        *("draw_tree", "gradients", "median", "quantile", "size", "sums", "split_people"),
        *("preview", "require", "reserve", "reserving", "within", "claim", "charge_promised"),
        *("open_spending", "foresee_statement"),  # what reserves, and what would be stated
        *("cancel_reservation", "close_reservation", "reservation_state", "keyed_charges"),
        *("over", "snapshot", "check_learner"),
    }


# -- the owner's side ------------------------------------------------------------------------------


def test_an_owner_hands_out_curators_that_share_one_budget(owner):
    ada, bob = owner.curator("ada", pv.Budget("1/4")), owner.curator("bob")
    ada.size("1/4")
    with pytest.raises(BudgetExceeded, match="analyst 'ada'"):
        ada.size("1/4")
    bob.size("3/4")
    with pytest.raises(BudgetExceeded, match="data set 'people'"):
        bob.size("1/4")
    assert [entry.analyst for entry in owner.ledger.entries()] == ["ada", "bob"]
    owner.set_budget(pv.Budget(2))
    bob.size("1/4")


def test_an_owner_frees_what_is_set_aside(owner):
    ada = owner.curator("ada")
    ada.reserve(pv.Cost.pure(1), "a fit", key="fit")
    assert ada.left == 0
    assert owner.cancel("ada", "fit").state == "cancelled"
    assert ada.left == 1


def test_an_owner_takes_part_in_a_federation(owner):
    share = owner.share(EVERYTHING, "1/2", parties=3, honest=2)
    assert not share.private
    assert [entry.analyst for entry in owner.ledger.entries()] == ["federation"]
    assert owner.curator().left == pv.Budget("1/2").amount


def test_a_public_table_is_exact_for_those_whom_its_owner_lets(owner):
    public = Owner(TABLE, SCHEMA, pv.Budget(1), public=True).curator("ada")
    assert np.array_equal(public.count(EVERYTHING, math.inf).tables[0], [[21, 21]])
    with pytest.raises(PrivacyError):
        owner.curator("ada").count(EVERYTHING, math.inf)


@pytest.mark.parametrize("name", ["", None, "a\nb"])
def test_an_analyst_needs_a_name(owner, name):
    with pytest.raises((ParameterError, LedgerError)):
        owner.curator(name).size("1/4")
