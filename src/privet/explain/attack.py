"""How often an attack on one person succeeds.

**Guessing a count.** He, Wang, Chen and Dong (2015, "Study on choosing the parameter epsilon in
differential privacy", Journal on Communications 36(12), pp. 124-130) let an adversary who knows all
other rows succeed if the noisy answer lies in a fault-tolerant interval around the true one. For
Laplace noise of scale df/epsilon and an interval of L to either side that has probability

    1 - e^(-L epsilon/df),    so    epsilon <= -(df/L) ln(1 - success)

(derived here from the law of the noise, as the paper is in Chinese). Our noise is on whole numbers,
for which :func:`privet.explain.noise.within` is the exact probability, and
:func:`~privet.explain.noise.epsilon_for_margin` its inverse.

**Telling two tables apart.** Any test of "in the table" against "not in it" that is wrong about
people outside with probability a finds people inside with probability at most min(e^epsilon a, 1 -
e^-epsilon (1 - a)) (Wasserman and Zhou 2010, theorem 2.4; Kairouz, Oh and Viswanath 2015, theorem
2.1). Where both are equally likely beforehand, a guess is right with probability at most e^epsilon
/ (1 + e^epsilon). One noisy count, seen by somebody who knows all other rows, reaches that bound:
nothing worse can happen, but this can.
"""

from __future__ import annotations

import math

from privet.budget import Number
from privet.explain.inputs import check_positive, check_probability


def laplace_success(epsilon: Number, half_length: Number, sensitivity: Number = 1) -> float:
    """He et al.: the probability that continuous Laplace noise stays within so much of the true
    answer.
    """
    return -math.expm1(
        -check_positive("epsilon", epsilon)
        * check_positive("half_length", half_length)
        / check_positive("sensitivity", sensitivity)
    )


def epsilon_for_laplace_success(
    success: Number, half_length: Number, sensitivity: Number = 1
) -> float:
    """He et al.: the largest epsilon at which that probability is no more than this."""
    return (
        -math.log1p(-check_probability("success", success))
        * check_positive("sensitivity", sensitivity)
        / check_positive("half_length", half_length)
    )


def best_guess(epsilon: Number) -> float:
    """How often a guess of in or out can be right at most, where both were equally likely.

    This is the highest posterior of prior 1/2, and
    :func:`~privet.explain.posterior.epsilon_for_posterior` its inverse.
    """
    return 1 / (1 + math.exp(-check_positive("epsilon", epsilon)))


def best_test(epsilon: Number, false_alarms: Number = 0.05) -> float:
    """How many of those inside a test finds at most, if it accuses this share of those outside."""
    rate, level = (
        check_positive("epsilon", epsilon),
        check_probability("false_alarms", false_alarms),
    )
    # which might overflow otherwise
    few = level * math.exp(rate) if rate < -math.log(level) else 1.0
    return min(few, 1 - math.exp(-rate) * (1 - level))
