"""What an adversary may come to believe about one person.

Under epsilon-differential privacy, whatever is released is at most e^epsilon times as likely from
one of two neighbours as from the other. By Bayes' rule the odds of "the person is in the table"
change by that factor at most, up or down, whatever else the adversary knows:

    posterior <= prior / (prior + (1 - prior) e^-epsilon)

Lee and Clifton (2011, "How much is enough? Choosing epsilon for differential privacy", ISC, pp.
325-340) bound the belief in the true one of m possible worlds that were equally likely, where
answers differ by at most dv between worlds and noise is Laplace of scale df/epsilon:

    posterior <= 1 / (1 + (m - 1) e^(-epsilon dv/df)),    so    epsilon <= (df/dv) ln((m - 1) rho / (1 - rho))

keeps it below rho. With prior 1/m and dv = df the two bounds are the same; that for any prior is
Bayes' rule, not theirs.

Both are about what a person's own rows add for somebody who knows all other rows, or whose beliefs
about those do not hang on this person. What the other rows teach about people like them (that
smokers fall ill) is no part of it, and no epsilon limits it.
"""  # noqa: E501

from __future__ import annotations

import math

from privet.budget import Number
from privet.errors import ParameterError
from privet.explain.inputs import check_count, check_positive, check_probability


def highest_posterior(prior: Number, epsilon: Number) -> float:
    """The most that somebody of this prior can believe afterwards. Reached where the odds change by
    all of e^epsilon.
    """
    before = check_probability("prior", prior)
    return before / (before + (1 - before) * math.exp(-check_positive("epsilon", epsilon)))


def lowest_posterior(prior: Number, epsilon: Number) -> float:
    """The least that somebody of this prior can believe afterwards: being ruled out is bounded
    too.
    """
    before, shrunk = (
        check_probability("prior", prior),
        math.exp(-check_positive("epsilon", epsilon)),
    )
    return before * shrunk / (before * shrunk + (1 - before))


def epsilon_for_posterior(prior: Number, believed: Number) -> float:
    """The largest epsilon at which somebody of this prior cannot believe more than this: the
    logarithm of the ratio of the odds.
    """
    before, after = check_probability("prior", prior), check_probability("believed", believed)
    if after <= before:
        raise ParameterError(
            f"believed must be above the prior, {before:g}: no epsilon keeps a belief below where "
            f"it was; got {believed!r}"
        )
    return math.log(after / (1 - after)) - math.log(before / (1 - before))


def posterior_among_worlds(worlds: int, epsilon: Number, ratio: Number = 1) -> float:
    """Lee and Clifton's bound on the belief in the true one of several worlds that were equally
    likely.

    Args:
        worlds: how many there are: how many people may be the one that is missing.
        epsilon: of the mechanism, for one row added or removed.
        ratio: dv/df, the largest difference of answers between worlds in units of the sensitivity.
            It is 1 for a single count. Worlds in which different people are missing differ by a row
            removed and another added, so it is 2 for anything else.
    """
    others = _count_other_worlds(worlds)
    return 1 / (
        1 + others * math.exp(-check_positive("epsilon", epsilon) * check_positive("ratio", ratio))
    )


def epsilon_among_worlds(worlds: int, believed: Number, ratio: Number = 1) -> float:
    """Lee and Clifton's choice: the largest epsilon that keeps the belief in the true world below
    this.
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
