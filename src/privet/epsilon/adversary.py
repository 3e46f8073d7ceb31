"""Bound what an adversary can learn about one person, and what taking part costs that person.

**Beliefs.** Under epsilon-differential privacy, whatever is released is at most e^epsilon times as
likely from one of two neighbours as from the other. By Bayes' rule the odds of "the person is in
the table" change by that factor at most, up or down, whatever else the adversary knows:

    posterior <= prior / (prior + (1 - prior) e^-epsilon)

Lee and Clifton (2011, "How much is enough? Choosing epsilon for differential privacy", ISC, pp.
325-340) bound the belief in the true one of m possible worlds that were equally likely, where
answers differ by at most dv between worlds and noise is Laplace of scale df/epsilon:

    posterior <= 1 / (1 + (m - 1) e^(-epsilon dv/df)),
    so    epsilon <= (df/dv) ln((m - 1) rho / (1 - rho))

keeps it below rho. With prior 1/m and dv = df the two bounds are the same; the bound for any prior
is Bayes' rule, not theirs.

Both are about what a person's own rows add for somebody who knows all other rows, or whose beliefs
about those do not depend on this person. What the other rows teach about people like them (that
smokers fall ill) is no part of it, and no epsilon limits it.

**Guessing a count.** He, Wang, Chen and Dong (2015, "Study on choosing the parameter epsilon in
differential privacy", Journal on Communications 36(12), pp. 124-130) let an adversary who knows all
other rows succeed if the noisy answer lies in a fault-tolerant interval around the true one. For
Laplace noise of scale df/epsilon and an interval of L to either side that has probability

    1 - e^(-L epsilon/df),    so    epsilon <= -(df/L) ln(1 - success)

(derived here from the distribution of the noise, as the paper is in Chinese). Our noise is on
integers, for which :func:`privet.epsilon.noise_on_counts.margin_probability` is the exact
probability, and :func:`~privet.epsilon.noise_on_counts.epsilon_for_margin` its inverse.

**Telling two tables apart.** Any test of "in the table" against "not in it" that is wrong about
people outside with probability a finds people inside with probability at most
min(e^epsilon a, 1 - e^-epsilon (1 - a)) (Wasserman and Zhou 2010, theorem 2.4; Kairouz, Oh and
Viswanath 2015, theorem 2.1). Where both are equally likely beforehand, a guess is right with
probability at most e^epsilon / (1 + e^epsilon). One noisy count, seen by somebody who knows all
other rows, reaches that bound: nothing worse can happen, but this can.

**Losses per person.** The epsilon of a query is for one row added or removed (docs/decisions/005).
A person of m rows who is in the table or not makes a difference of m rows: m epsilon. Somebody who
is known to be in it, and whose rows say one thing or another, is one person removed and another
added: 2 m epsilon. Where everybody knows how many rows there are, whoever is not in the table has
somebody else in their place, so that presence costs 2 m epsilon, too. This holds for every table;
what is charged is what the schema declares.

**The price of taking part.** Hsu, Gaboardi, Haeberlen, Khanna, Narayan, Pierce and Roth (2014,
"Differential privacy: an economic method for choosing epsilon", CSF, pp. 398-410): a person weighs
what may happen to them because of a release, such as a higher premium, by its cost. If E is the
cost that they must expect when they do not take part, then they must expect at most e^epsilon E
when they do: every event, good or bad, becomes at most e^epsilon times as likely. Taking part is
worth it for a compensation of

    (e^epsilon - 1) E,    and N people within a budget B if    (e^epsilon - 1) E N <= B,
    so    epsilon <= ln(1 + B / (E N))

Epsilon is for a person's presence: with m rows per person, m times that of one row. The model and
its formulas are theirs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from privet._validate import check_name
from privet.accounting.cost import Cost, Number, parse_exact
from privet.domain import Neighbours, Schema
from privet.epsilon.noise_on_counts import check_count, check_positive, check_probability
from privet.errors import ParameterError


def highest_posterior(prior: Number, epsilon: Number) -> float:
    """Return the highest belief afterwards of somebody with this prior.

    It is reached where the odds change by all of e^epsilon.
    """
    before = check_probability("prior", prior)
    return before / (before + (1 - before) * math.exp(-check_positive("epsilon", epsilon)))


def lowest_posterior(prior: Number, epsilon: Number) -> float:
    """Return the lowest belief afterwards of somebody with this prior.

    Being ruled out is bounded too.
    """
    before, shrunk = (
        check_probability("prior", prior),
        math.exp(-check_positive("epsilon", epsilon)),
    )
    return before * shrunk / (before * shrunk + (1 - before))


def epsilon_for_posterior(prior: Number, believed: Number) -> float:
    """Return the largest epsilon that keeps somebody with this prior from believing more.

    It is the logarithm of the ratio of the odds.
    """
    before, after = check_probability("prior", prior), check_probability("believed", believed)
    if after <= before:
        raise ParameterError(
            f"believed must be above the prior, {before:g}: no epsilon keeps a belief below where "
            f"it was; got {believed!r}"
        )
    return math.log(after / (1 - after)) - math.log(before / (1 - before))


def posterior_among_worlds(worlds: int, epsilon: Number, ratio: Number = 1) -> float:
    """Bound the belief in the true one of several equally likely worlds (Lee and Clifton).

    Parameters
    ----------
    worlds
        How many there are: how many people may be the one that is missing.
    epsilon
        Of the mechanism, for one row added or removed.
    ratio
        Dv/df, the largest difference of answers between worlds in units of the sensitivity.
        It is 1 for a single count. Worlds in which different people are missing differ by a row
        removed and another added, so it is 2 for anything else.
    """
    others = _count_other_worlds(worlds)
    return 1 / (
        1 + others * math.exp(-check_positive("epsilon", epsilon) * check_positive("ratio", ratio))
    )


def epsilon_among_worlds(worlds: int, believed: Number, ratio: Number = 1) -> float:
    """Return the largest epsilon that keeps the belief in the true world below this.

    This is Lee and Clifton's choice.
    """
    others, after = _count_other_worlds(worlds), check_probability("believed", believed)
    if after * worlds <= 1:
        raise ParameterError(
            f"believed must be above 1/worlds = {1 / worlds:g}, which is the belief beforehand; "
            f"got {believed!r}"
        )
    return math.log(others * after / (1 - after)) / check_positive("ratio", ratio)


def _count_other_worlds(worlds: int) -> int:
    return check_count("worlds", worlds, 2) - 1


# How often an attack on one person succeeds: guessing a count, telling two tables apart.


def laplace_success(epsilon: Number, half_length: Number, sensitivity: Number = 1) -> float:
    """Return the probability that continuous Laplace noise stays within a margin (He et al.)."""
    return -math.expm1(
        -check_positive("epsilon", epsilon)
        * check_positive("half_length", half_length)
        / check_positive("sensitivity", sensitivity)
    )


def epsilon_for_laplace_success(
    success: Number, half_length: Number, sensitivity: Number = 1
) -> float:
    """Return the largest epsilon at which Laplace noise stays within a margin no more often.

    The probability is that of :func:`laplace_success` (He et al.).
    """
    return (
        -math.log1p(-check_probability("success", success))
        * check_positive("sensitivity", sensitivity)
        / check_positive("half_length", half_length)
    )


def best_guess(epsilon: Number) -> float:
    """Return how often a guess of in or out is right at most, where both were equally likely.

    This is the highest posterior of prior 1/2, and
    :func:`~privet.epsilon.adversary.epsilon_for_posterior` its inverse.
    """
    return 1 / (1 + math.exp(-check_positive("epsilon", epsilon)))


def best_test(epsilon: Number, false_alarms: Number = 0.05) -> float:
    """Return the share of those inside that a test finds at most, at this false positive rate."""
    rate, level = (
        check_positive("epsilon", epsilon),
        check_probability("false_alarms", false_alarms),
    )
    # which might overflow otherwise
    few = level * math.exp(rate) if rate < -math.log(level) else 1.0
    return min(few, 1 - math.exp(-rate) * (1 - level))


# What a person loses, by what an adversary wants to know about them.


@dataclass(frozen=True)
class Losses:
    """Exact epsilons: of one row, a person's presence, what their rows say, and the charged one."""

    row: Fraction
    presence: Fraction
    record: Fraction
    charged: Fraction


def compute_losses(
    epsilon: Number,
    rows_per_person: int = 1,
    neighbours: Neighbours = "add-remove",
    *,
    public_size: bool = False,
) -> Losses:
    """Return what a query of this epsilon costs a person.

    Parameters
    ----------
    epsilon
        As it is passed to a question or a learner: for one row added or removed.
    rows_per_person, neighbours
        As the schema declares them.
    public_size
        Whether everybody knows how many rows there are. With ``"replace"`` they do.
    """
    check_count("rows_per_person", rows_per_person)
    check_name("neighbours", neighbours, get_args(Neighbours))
    row = parse_exact("epsilon", epsilon)
    added, replaced = (
        _person_epsilon(row, rows_per_person, "add-remove"),
        _person_epsilon(row, rows_per_person, "replace"),
    )
    presence = replaced if public_size or neighbours == "replace" else added
    return Losses(row, presence, replaced, replaced if neighbours == "replace" else added)


def compute_losses_under(epsilon: Number, schema: Schema | None) -> Losses:
    """Return what a query costs a person under what a schema declares.

    Without a schema: for one row per person and a number of rows that is not public.
    """
    if schema is None:
        return compute_losses(epsilon)
    return compute_losses(
        epsilon, schema.rows_per_person, schema.neighbours, public_size=schema.n_rows is not None
    )


def _person_epsilon(row: Fraction, rows_per_person: int, neighbours: Neighbours) -> Fraction:
    found = Cost.pure(row).for_neighbours(rows_per_person, neighbours).epsilon
    assert found is not None
    return found


# The price of taking part.


@dataclass(frozen=True)
class ParticipationCost:
    """What taking part costs at most, for each person and in all.

    Infinite where no bound says anything any more.
    """

    each: float
    people: int
    total: float


def cost_rise(epsilon: Number) -> float:
    """Return the share by which any expected cost rises at most: e^epsilon - 1."""
    try:
        return math.expm1(check_positive("epsilon", epsilon))
    except OverflowError:
        return math.inf


def compute_price(epsilon: Number, cost: Number, people: int = 1) -> ParticipationCost:
    """Return the compensation for people who expect this cost when they do not take part."""
    check_count("people", people)
    each = cost_rise(epsilon) * check_positive("cost", cost)
    return ParticipationCost(each, people, each * people)


def epsilon_for_price(budget: Number, cost: Number, people: int = 1) -> float:
    """Return the largest epsilon at which the budget compensates all of them."""
    check_count("people", people)
    return math.log1p(check_positive("budget", budget) / (check_positive("cost", cost) * people))
