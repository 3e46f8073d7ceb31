"""Convert zCDP into (epsilon, delta)-differential privacy, and back.

A rho-zCDP mechanism is (epsilon, delta)-differentially private for every order ``alpha`` above 1
(Canonne, Kamath and Steinke 2020, section 2.3), with ``t = alpha - 1`` and::

    epsilon(t) = rho * (1 + t) + (log(1 / delta) - log(1 + t)) / t + log(t / (1 + t))

Every order gives a valid epsilon, so the search for the best one may use floats: a poor order costs
accuracy, never privacy. The value that is returned is evaluated in decimals of enough digits, and
every operation is rounded upwards. Setting the derivative to zero leaves one equation for the best
order, ``rho * t**2 + log(1 + t) = log(1 / delta)``, whose left side increases in t.
"""

from __future__ import annotations

import math
from decimal import (
    MAX_EMAX,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
)
from fractions import Fraction
from functools import lru_cache

from privet.errors import ParameterError

_DIGITS = 40  # of every result, after what cancels
_LARGEST = Fraction(10) ** 300  # an epsilon that a float still holds


@lru_cache(maxsize=256)
def epsilon_for(rho: Fraction, delta: Fraction) -> float:
    """Return the epsilon of the (epsilon, delta) guarantee that rho-zCDP implies.

    The value is never below the smallest epsilon of the tight conversion, and above it by one
    rounding of a float. It is zero where rho is, and infinite where no float is large enough.

    Parameters
    ----------
    rho
        The zCDP parameter, zero or more.
    delta
        The probability, above 0 and below 1.

    Raises:
        ParameterError: for a delta that is not above 0 and below 1, or a negative rho.

    >>> epsilon_for(Fraction(1, 10), Fraction(1, 10**6))
    2.141938928385474
    """
    _check_delta(delta)
    if rho < 0:
        raise ParameterError(f"rho must be zero or more, got {rho}")
    if rho == 0:
        return 0.0
    order = _best_order(rho, delta)
    context = _make_context(order, delta, ROUND_CEILING)
    scaled = context.multiply(_divide(context, rho), context.add(1, order))
    return max(0.0, _float_above(context.add(scaled, _bound_order_term(order, delta))))


@lru_cache(maxsize=256)
def rho_for(epsilon: Fraction, delta: Fraction) -> Fraction:
    """Return the largest rho whose (epsilon, delta) guarantee is at most this one, rounded down.

    Ten digits are kept, after four parts in 10**9 were left off: amounts are then never above those
    that version 0.1 computed and wrote into ledgers as caps, and still fit under them.
    ``epsilon_for(rho_for(epsilon, delta), delta) <= epsilon`` holds exactly.

    Parameters
    ----------
    epsilon
        The epsilon, above zero.
    delta
        The probability, above 0 and below 1.

    Raises:
        ParameterError: for a delta that is not above 0 and below 1, or an epsilon not above zero.

    >>> rho_for(Fraction(1), Fraction(1, 10**6))
    Fraction(1217798513, 50000000000)
    """
    _check_delta(delta)
    if epsilon <= 0:
        raise ParameterError(f"epsilon must be above zero, got {epsilon}")
    wanted = min(epsilon, _LARGEST)
    # The optimal epsilon is a minimum of straight lines in rho, hence concave: a tangent meets the
    # wanted epsilon below the solution, so that Newton's steps go up to it and never beyond. They
    # start below the rho of the looser bound rho + 2 * sqrt(rho * log(1 / delta)) = epsilon (Bun
    # and Steinke 2016), which is at least epsilon**2 / (4 * (log(1 / delta) + epsilon)).
    rho = wanted**2 / (5 * (Fraction(_log(1 / delta)) + wanted))
    while True:
        order = _best_order(rho, delta)
        context = _make_context(order, delta, ROUND_FLOOR)
        gap = context.subtract(_divide(context, wanted), _bound_order_term(order, delta))
        better = Fraction(context.divide(gap, context.add(1, order)))
        if better <= rho * Fraction(10**12 + 1, 10**12):
            break
        rho = better
    short = Context(prec=10, rounding=ROUND_FLOOR, Emax=MAX_EMAX, Emin=MIN_EMIN)
    candidate = _divide(short, rho * Fraction(10**9 - 4, 10**9))
    while epsilon_for(Fraction(candidate), delta) > wanted:
        candidate = short.next_minus(candidate)
    return Fraction(candidate)


def _check_delta(delta: Fraction) -> None:
    if not 0 < delta < 1:
        raise ParameterError(f"delta must be above 0 and below 1, got {float(delta)!r}")


def _bound_order_term(order: Decimal, delta: Fraction) -> Decimal:
    """Bound ``(log(1 / delta) - log(1 + t)) / t + log(t / (1 + t))`` from above."""
    up, down = (_make_context(order, delta, way) for way in (ROUND_CEILING, ROUND_FLOOR))
    # Decimal.ln rounds correctly to the nearest, whatever the context: the next number is a bound.
    loss = up.next_plus(up.ln(_divide(up, 1 / delta)))
    gain = down.next_minus(down.ln(down.add(1, order)))
    share = up.divide(up.subtract(loss, gain), order)
    return up.add(share, up.next_plus(up.ln(up.divide(order, down.add(1, order)))))


def _make_context(order: Decimal, delta: Fraction, rounding: str) -> Context:
    """Return a context that rounds this way, with digits for what cancels at extreme arguments."""
    digits = _DIGITS + 2 * max(abs(order.adjusted()), _magnitude(1 - delta))
    traps = [InvalidOperation, DivisionByZero, Overflow]
    return Context(prec=digits, rounding=rounding, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=traps)


def _best_order(rho: Fraction, delta: Fraction) -> Decimal:
    """Return nearly the best t, as a decimal of 17 digits; all in logarithms, which fit a float."""
    loss, log_rho = _log(1 / delta), _log(rho)
    log_loss = math.log(loss)

    def log_of_order_where_logarithm_is(value: float) -> float:  # log(1 + t) = value
        return value + math.log(-math.expm1(-value))

    # One of the two terms is at least half of their sum, and neither is more than the sum.
    low, high = (
        min((math.log(part) + log_loss - log_rho) / 2, log_of_order_where_logarithm_is(part * loss))
        for part in (0.5, 1.0)
    )
    low, high = low - 1e-9 * abs(low), high + 1e-9 * abs(high)
    while low < (middle := (low + high) / 2) < high:
        squared = math.exp(min(log_rho + 2 * middle, 700.0))
        logarithm = max(middle, 0.0) + math.log1p(math.exp(-abs(middle)))  # log(1 + t)
        if squared + logarithm < loss:
            low = middle
        else:
            high = middle
    return Context(prec=17, Emax=MAX_EMAX, Emin=MIN_EMIN).exp(Decimal(low))


def _log(value: Fraction) -> float:
    """Return the logarithm of a positive number, accurate even for a value close to 1."""
    context = Context(prec=_DIGITS + _magnitude(value - 1), Emax=MAX_EMAX, Emin=MIN_EMIN)
    return float(context.ln(_divide(context, value)))


def _magnitude(value: Fraction) -> int:
    """Return about how many zeros follow the decimal point, or zero."""
    return max(0, (value.denominator.bit_length() - value.numerator.bit_length()) * 31 // 100)


def _divide(context: Context, value: Fraction) -> Decimal:
    return context.divide(Decimal(value.numerator), Decimal(value.denominator))


def _float_above(value: Decimal) -> float:
    nearest = float(value)
    return nearest if Decimal(nearest) >= value else math.nextafter(nearest, math.inf)
