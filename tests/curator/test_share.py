"""A share of the counts: charged in full, noise that only the sum of all shares has, and no way to
ask for it from outside.
"""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger
from privet.client.curator import RemoteCurator
from privet.curator import AnyCurator, Curator, Owner
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.errors import BudgetExceeded, ParameterError, PrivacyError, TableError
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from tests.conformance.check_mechanism import ALPHA, fit, laplace_law
from tests.curator.spied import Spy

SCHEMA = Schema(
    attributes={"a": Categorical([str(i) for i in range(2000)])}, target="c", classes=["x", "y"]
)
TABLE = pd.DataFrame({"a": ["0", "0", "1"], "c": ["x", "y", "x"]})
CELLS = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a")})
TRUTH = np.zeros((2000, 2), dtype=np.int64)
TRUTH[0], TRUTH[1, 0] = 1, 1


@pytest.fixture
def bits():
    with unlock_test_seeds():
        return SeededBits(3)


@pytest.fixture
def spied(monkeypatch):
    ledger = MemoryLedger()
    spy = Spy(ledger, TABLE)
    monkeypatch.setattr("privet.curator.curator.open_table", lambda table: spy)
    return Owner("anything", SCHEMA, Budget(1), ledger=ledger), spy


def test_is_charged_in_full_before_the_data_is_touched(spied):
    owner, spy = spied
    share = owner.share(CELLS, "1/4", parties=4, honest=3)
    assert spy.entries_seen == [1]
    assert share.entry == owner.ledger.entries()[0]
    assert share.entry.what.startswith(
        "share of class counts for secure aggregation, noise of 3 honest parties together: "
    )
    assert share.cost.epsilon == share.row_cost.epsilon == owner.curator().spent.epsilon == F(1, 4)
    assert (share.parties, share.spread) == (3, 4)


def test_that_does_not_fit_never_touches_the_data(spied):
    owner, spy = spied
    with pytest.raises(BudgetExceeded):
        owner.share(CELLS, "1.25", parties=4, honest=3)
    assert spy.entries_seen == []


def test_stays_charged_when_the_source_fails(spied):
    owner, spy = spied
    spy.fail = ValueError("row 17 says Ada")
    with pytest.raises(TableError, match="the charge stands") as caught:
        owner.share(CELLS, "1/4", parties=4, honest=3)
    assert "Ada" not in str(caught.value)
    assert owner.curator().left == F(3, 4)


def test_costs_a_person_more_than_a_row():
    schema = SCHEMA.declare(rows_per_person=3, neighbours="replace")
    owner = Owner(TABLE, schema, Budget(6))
    share = owner.share(Cells.everything(schema), 1, parties=3, honest=2)
    assert (share.cost.epsilon, share.row_cost.epsilon, owner.curator().left) == (6, 1, 0)


def test_a_share_says_that_it_is_not_private_and_does_not_print_its_numbers():
    share = Owner(TABLE, SCHEMA, Budget(1)).share(Cells.everything(SCHEMA), 1, parties=3, honest=2)
    assert share.private is False
    assert "tables" not in repr(share)


def test_shares_of_all_parties_have_the_noise_of_one_curator(bits):
    """Two partitions at epsilon 1/5 share it: scale 10."""
    question = Question.forest([CELLS, CELLS])
    shares = [
        Owner(TABLE, SCHEMA, Budget(1), bits=bits).share(question, "1/5", parties=5, honest=4)
        for _ in range(4)
    ]
    total = [sum(share.tables[tree] for share in shares) - 4 * TRUTH for tree in range(2)]
    noise = np.concatenate([table.reshape(-1) for table in total])
    assert shares[0].spread == 10
    assert fit(noise, laplace_law(10)) > ALPHA
    for wrong in (7, 13):
        assert fit(noise, laplace_law(wrong)) < ALPHA


@pytest.mark.parametrize("parties", [0, 1, -3, 10_001, True, 2.5, None])
def test_refuses_what_is_no_number_of_parties_without_a_charge(parties):
    owner = Owner(TABLE, SCHEMA, Budget(1))
    with pytest.raises(ParameterError, match="parties must be an integer from 2 to 10000, got"):
        owner.share(CELLS, 1, parties=parties, honest=1)
    assert owner.ledger.entries() == []


@pytest.mark.parametrize("honest", [0, True, None, 3, 4])
def test_refuses_what_is_no_number_of_honest_parties_without_a_charge(honest):
    owner = Owner(TABLE, SCHEMA, Budget(1))
    with pytest.raises(ParameterError, match="honest must be"):
        owner.share(CELLS, 1, parties=3, honest=honest)
    assert owner.ledger.entries() == []


def test_a_share_has_noise_of_its_own():
    """With 10 000 parties, a share at epsilon 1 was the exact counts in 99.99% of all cells."""
    owner = Owner(TABLE, SCHEMA, Budget(100))
    with pytest.raises(ParameterError, match="at most 29 shares"):
        owner.share(CELLS, 1, parties=10_000, honest=9_999)
    with pytest.raises(ParameterError, match="a smaller epsilon"):
        owner.share(CELLS, 50, parties=2, honest=1)
    assert owner.ledger.entries() == []
    owner.share(CELLS, 1, parties=30, honest=29)


def test_a_public_table_gives_no_exact_share():
    owner = Owner(TABLE, SCHEMA, Budget(1), public=True)
    with pytest.raises(PrivacyError, match="no noise"):
        owner.share(CELLS, float("inf"), parties=3, honest=2)
    with pytest.raises(ParameterError, match="epsilon is so small"):
        owner.share(CELLS, F(1, 1 << 50), parties=3, honest=2)


def test_nobody_outside_can_ask_for_a_share():
    """Alone it promises nothing: neither the face that learners see nor the client of a service has
    it (and no service: tests/service).
    """
    for face in (AnyCurator, Curator, RemoteCurator):
        assert hasattr(face, "count")
        assert not hasattr(face, "share")
