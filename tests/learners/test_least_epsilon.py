"""The least epsilon of a query: low enough for every learner, refused below, and stated."""

from __future__ import annotations

from fractions import Fraction as F

import pytest

from privet import datasets
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain.cells import Cells
from privet.errors import ParameterError
from privet.learners import ForestClassifier, GibbsBoostClassifier, RandomTreesClassifier
from privet.queries.release_kinds import LEAST_EPSILON, Price
from tests.conformance.test_learners import LEARNERS

#: The smallest epsilon that the documentation speaks of for a whole model.
LEAST_DOCUMENTED = F(1, 100)
#: Settings with the smallest shares that anybody would use.
LARGE = {
    "boost, 50 rounds": lambda epsilon, schema: GibbsBoostClassifier(
        epsilon, schema, rounds=50, max_depth=1
    ),
    "forest of 20, budget": lambda epsilon, schema: ForestClassifier(
        epsilon, schema, divide="budget", n_trees=20
    ),
    "100 random trees": lambda epsilon, schema: RandomTreesClassifier(epsilon, schema, n_trees=100),
}
TABLE = datasets.load("monks1")
EVERYONE = Cells.everything(TABLE.schema)


@pytest.mark.parametrize("learner", [*LEARNERS, *LARGE])
def test_no_learner_asks_for_less(learner, monkeypatch):
    asked = []
    check = Price.check_least
    monkeypatch.setattr(
        Price, "check_least", lambda self, least: asked.append(self) or check(self, least)
    )
    curator = Curator(TABLE.table, TABLE.schema, Budget(1))
    (LEARNERS | LARGE)[learner](LEAST_DOCUMENTED, TABLE.schema).fit_from(curator)
    smallest = min(price.amount for price in asked if price.unit == "epsilon")
    assert smallest >= LEAST_EPSILON


@pytest.mark.parametrize(
    ("price", "fine"),
    [
        ({"epsilon": LEAST_EPSILON}, True),
        ({"epsilon": LEAST_EPSILON * F(999, 1000)}, False),
        ({"rho": LEAST_EPSILON**2 / 2}, True),
        ({"rho": LEAST_EPSILON**2 / 3}, False),
    ],
)
def test_less_is_refused_before_a_charge(price, fine):
    unit = next(iter(price))
    curator = Curator(TABLE.table, TABLE.schema, Budget(**{unit: 1}))
    if fine:
        curator.count(EVERYONE, **price)
    else:
        with pytest.raises(ParameterError, match=f"{unit} must be at least .* for each query"):
            curator.count(EVERYONE, **price)
    assert len(curator.ledger.entries()) == fine


def test_an_owner_can_say_what_it_is():
    curator = Curator(TABLE.table, TABLE.schema, Budget(1), least_epsilon="1/10")
    with pytest.raises(ParameterError, match=r"at least 0\.1 for each query here, got 0\.05"):
        curator.size("1/20")
    assert curator.size("1/10").cost.epsilon == F(1, 10)
    with curator.snapshot():
        for part in curator.split_people(2, "1/2"):
            with pytest.raises(ParameterError, match=r"at least 0\.1"):
                part.size("1/20")
