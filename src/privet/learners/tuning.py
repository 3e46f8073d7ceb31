"""Choose among settings privately, at a price: a grid search for free would leak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from sklearn.base import clone

from privet.accounting.conversion import epsilon_for, rho_for
from privet.accounting.cost import Number, parse_epsilon, parse_exact
from privet.curator import AnyCurator
from privet.curator.spending import Spending, root_below
from privet.errors import ParameterError
from privet.learners.base import PrivateClassifier
from privet.model import Model

#: The share of epsilon, or of rho, that pays for the choice; the candidates share the rest.
CHOICE_SHARE = Fraction(1, 5)


def tune(
    candidates: Sequence[PrivateClassifier],
    curator: AnyCurator,
    epsilon: Number,
    *,
    delta: Number = 0,
) -> Any:
    """Train every candidate and choose one by the number of rows it gets right, privately.

    Cost: ``epsilon`` and ``delta`` in all: a fifth for the choice (permute-and-flip, range 1), the
    rest evenly for the candidates, whose own ``epsilon`` is not used. All of them are charged,
    because the choice looks at all of them. Neighbours: one row added or removed. Few candidates
    are better than many.

    Parameters
    ----------
    candidates
        Classifiers of this package with different settings.
    curator
        Who answers their queries.
    epsilon
        What everything costs together, for one row added or removed.
    delta
        Above 0, everything together is (epsilon, delta)-differentially private: all of it composes
        in zCDP, and the curator needs a budget in rho. A candidate's own ``delta`` is 0 or this.

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
        candidate.check_parameters()
    amount, small = parse_epsilon("epsilon", epsilon), parse_exact("delta", delta, zero=True)
    if any(candidate.random_state is not None for candidate in candidates):
        raise ParameterError(
            "random_state goes with fit; a curator has a source of randomness of its own"
        )
    _refuse_other_deltas(candidates, small)
    share = (1 - CHOICE_SHARE) / len(candidates)
    what = f"tuning of {len(candidates)} candidates"
    with Spending.reserve(curator, amount, what, delta=small) as spending:
        asked = spending.curator
        fitted = [
            clone(candidate).set_params(**_price(candidate, amount, small, share)).fit_from(asked)
            for candidate in candidates
        ]
        models: list[Model] = [candidate.model_ for candidate in fitted]
        index, choice = asked.choose_model(models, _pure_epsilon(amount, small, CHOICE_SHARE))
        for number, candidate in enumerate(fitted, start=1):
            for charge in candidate.privacy_.charges:
                spending.record_charge(f"candidate {number}: {charge.what}", charge.cost)
        spending.record_charge(f"choice among {len(fitted)} candidates", choice.row_cost)
        best = fitted[index]
        statement = spending.statement(id=models[index].privacy.id)
        best._adopt(replace(models[index], privacy=statement))
    return best


def _refuse_other_deltas(candidates: Sequence[PrivateClassifier], delta: Fraction) -> None:
    """Raise where a candidate would promise another delta than everything together."""
    for number, candidate in enumerate(candidates, start=1):
        if parse_exact("delta", candidate.delta, zero=True) not in (0, delta):
            raise ParameterError(
                f"candidate {number} has delta={candidate.delta}, and tune delta={float(delta):g}: "
                "one delta is promised for all candidates and the choice together; say "
                f"tune(..., delta={candidate.delta})"
            )


def _price(
    candidate: PrivateClassifier, epsilon: Fraction, delta: Fraction, share: Fraction
) -> dict[str, Number]:
    """Return the parameters with which a candidate costs its share of everything.

    Shares are of epsilon, or of rho where there is a delta: shares of epsilon at the same delta
    would add up to another epsilon.
    """
    if delta and "delta" in candidate.get_params(deep=False):
        return {"epsilon": epsilon_for(rho_for(epsilon, delta) * share, delta), "delta": delta}
    return {"epsilon": _pure_epsilon(epsilon, delta, share)}


def _pure_epsilon(epsilon: Fraction, delta: Fraction, share: Fraction) -> Fraction:
    """Return the pure epsilon that costs this share of everything; it is epsilon**2/2 of rho."""
    return root_below(2 * share * rho_for(epsilon, delta)) if delta else epsilon * share
