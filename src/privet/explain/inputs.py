"""What the formulas take: numbers above zero, probabilities, integers."""

from __future__ import annotations

from privet.budget import Number, parse_exact
from privet.checks import check_integer
from privet.errors import ParameterError

#: No table has more rows, and floating-point numbers count exactly up to there.
MOST = 10**15


def check_count(name: str, value: int, low: int = 1) -> int:
    """Return an integer of at least ``low`` that is no more than there can be rows."""
    count = check_integer(name, value, low)
    if count > MOST:
        raise ParameterError(f"{name} must be at most {MOST:,}, got {count}")
    return count


def check_positive(name: str, value: Number) -> float:
    """A finite number above zero."""
    return float(parse_exact(name, value))


def check_probability(name: str, value: Number) -> float:
    """A number above 0 and below 1."""
    try:
        found = float(parse_exact(name, value))
    except ParameterError:
        found = 0.0  # one message for all that is no probability
    if not 0 < found < 1:
        raise ParameterError(f"{name} must be above 0 and below 1, got {value!r}")
    return found
