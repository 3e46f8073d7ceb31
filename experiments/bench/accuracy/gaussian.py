"""How much Gaussian noise an (epsilon, delta) pays for.

A release of sums with L2 sensitivity s and noise of standard deviation s / mu is mu-Gaussian
differentially private, and adaptive releases add up in mu squared (Dong, Roth and Su 2022). So a
budget is one number, mu squared, and the conversion to (epsilon, delta) is exact.
"""

from __future__ import annotations

import math

from scipy.optimize import brentq
from scipy.stats import norm


def mu_for(epsilon: float, delta: float) -> float:
    """Return the largest mu that is (epsilon, delta)-differentially private."""
    return float(brentq(lambda mu: delta_of(mu, epsilon) - delta, 1e-6, 100.0, xtol=1e-12))


def delta_of(mu: float, epsilon: float) -> float:
    """Return the smallest delta of mu-Gaussian differential privacy at an epsilon."""
    # exp(epsilon) times a tail in logarithms: the factors alone overflow and underflow
    tail = math.exp(epsilon + float(norm.logcdf(-epsilon / mu - mu / 2)))
    return float(norm.cdf(-epsilon / mu + mu / 2)) - tail
