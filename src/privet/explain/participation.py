"""The price of taking part.

Hsu, Gaboardi, Haeberlen, Khanna, Narayan, Pierce and Roth (2014, "Differential privacy: an economic
method for choosing epsilon", CSF, pp. 398-410): a person weighs what may happen to them because of
a release, such as a higher premium, by its cost. If E is the cost that they must expect when they
do not take part, then they must expect at most e^epsilon E when they do: every event, good or bad,
becomes at most e^epsilon times as likely. Taking part is worth it for a compensation of

    (e^epsilon - 1) E,    and N people within a budget B if    (e^epsilon - 1) E N <= B,    so    epsilon <= ln(1 + B / (E N))

Epsilon is for a person's presence: with m rows per person, m times that of one row. The model and
its formulas are theirs.
"""  # noqa: E501

from __future__ import annotations

import math
from dataclasses import dataclass

from privet.budget import Number
from privet.explain.inputs import check_count, check_positive


@dataclass(frozen=True)
class ParticipationCost:
    """What taking part costs at most: for each of the people, and in all. Infinite where no bound
    says anything any more.
    """

    each: float
    people: int
    total: float


def cost_rise(epsilon: Number) -> float:
    """By which part of itself any expected cost rises at most: e^epsilon - 1."""
    try:
        return math.expm1(check_positive("epsilon", epsilon))
    except OverflowError:
        return math.inf


def compute_price(epsilon: Number, cost: Number, people: int = 1) -> ParticipationCost:
    """The compensation for so many people who expect this cost when they do not take part."""
    check_count("people", people)
    each = cost_rise(epsilon) * check_positive("cost", cost)
    return ParticipationCost(each, people, each * people)


def epsilon_for_price(budget: Number, cost: Number, people: int = 1) -> float:
    """The largest epsilon at which the budget compensates all of them."""
    check_count("people", people)
    return math.log1p(check_positive("budget", budget) / (check_positive("cost", cost) * people))
