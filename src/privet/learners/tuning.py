"""Choose among settings privately, at a price: a grid search for free would leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sklearn.base import clone

from privet.accounting.cost import Number, parse_epsilon
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.errors import ParameterError
from privet.learners.base import PrivateClassifier
from privet.model import Model

#: The share of epsilon that pays for the choice; the candidates share the rest.
CHOICE_SHARE = Fraction(1, 5)


def tune(candidates: Sequence[PrivateClassifier], curator: AnyCurator, epsilon: Number) -> Any:
    """Train every candidate and choose one by the number of rows it gets right, privately.

    Cost: pure ``epsilon`` in all: a fifth for the choice (permute-and-flip, range 1), the rest
    evenly for the candidates, whose own ``epsilon`` is not used. All of them are charged, because
    the choice looks at all of them. Neighbours: one row added or removed. Few candidates are better
    than many.

    Parameters
    ----------
    candidates
        Classifiers of this package with different settings.
    curator
        Who answers their queries.
    epsilon
        What everything costs together, for one row added or removed.

    Returns
    -------
    PrivateClassifier
        The chosen classifier, trained. Its statement has all charges.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
    >>> candidates = [pv.GreedyTreeClassifier(max_depth=depth) for depth in (1, 3)]
    >>> best = pv.tune(candidates, curator, epsilon=1)
    >>> best in candidates, best.max_depth in (1, 3)
    (False, True)
    >>> curator.left
    Fraction(0, 1)
    """
    if not candidates or not all(
        isinstance(candidate, PrivateClassifier) for candidate in candidates
    ):
        raise ParameterError("tune needs a list of at least one of this package's classifiers")
    for candidate in candidates:  # before any of them is paid for
        candidate._check_parameters()
    amount = parse_epsilon("epsilon", epsilon)
    each = amount * (1 - CHOICE_SHARE) / len(candidates)
    if any(candidate.random_state is not None for candidate in candidates):
        raise ParameterError(
            "random_state goes with fit; a curator has a source of randomness of its own"
        )
    with Spending.reserve(curator, amount, f"tuning of {len(candidates)} candidates") as spending:
        asked = spending.curator
        fitted = [
            clone(candidate).set_params(epsilon=each).fit_from(asked) for candidate in candidates
        ]
        models: list[Model] = [candidate.model_ for candidate in fitted]
        index, choice = asked.choose_model(models, amount * CHOICE_SHARE)
        for number, candidate in enumerate(fitted, start=1):
            for charge in candidate.privacy_.charges:
                spending.record_charge(f"candidate {number}: {charge.what}", charge.cost)
        spending.record_charge(f"choice among {len(fitted)} candidates", choice.row_cost)
        best = fitted[index]
        statement = spending.statement(id=models[index].privacy.id)
        best._adopt(replace(models[index], privacy=statement))
    return best
