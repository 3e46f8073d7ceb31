"""Account exactly for what privacy costs.

A :class:`Cost` is held in exact rationals and in two currencies at once: pure epsilon, and zCDP rho
(Bun and Steinke 2016). It is stated for adding or removing **one row**:

- sequential composition adds: ``a + b``, or :func:`compose_sequentially`;
- parallel composition over disjoint cells or disjoint people takes the maximum:
  :func:`compose_in_parallel`;
- m rows per person multiply epsilon by m and rho by m**2 (group privacy), and replacing one row is
  removing one and adding one: epsilon times 2, rho times 4. :meth:`Cost.promised` does both.

A :class:`Budget` is a cap in one of the two currencies.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational, Real
from typing import Any, Literal

from privet._notebook import html_box, one_line
from privet._plain import copy_ratio, copy_scalar, is_plain_scalar
from privet.accounting.conversion import epsilon_for as epsilon_for
from privet.accounting.conversion import rho_for as rho_for
from privet.domain import Schema
from privet.errors import ParameterError, PrivacyError

Number = int | float | str | Decimal | Fraction
Unit = Literal["epsilon", "rho"]


def parse_exact(name: str, value: Number, *, zero: bool = False) -> Fraction:
    """Return the positive rational that a person means.

    ``0.1`` is one tenth, not the nearest binary fraction.

    Parameters
    ----------
    name
        The parameter's name, for the message.
    value
        An integer, a fraction, a decimal, text such as ``"1/3"``, or a float, which is
        read as the shortest decimal that denotes it.
    zero
        Whether zero is allowed.
    """
    value = copy_amount(value)
    try:
        if isinstance(value, str) and (not value.isascii() or "_" in value):
            raise ValueError  # digits of other scripts would be read, and tell people little
        if isinstance(value, str | Decimal):
            # as a Fraction is written
            fraction = isinstance(value, str) and re.fullmatch(r"[0-9]{1,130}/[0-9]{1,130}", value)
            size = (
                0
                if fraction
                else Decimal(
                    value.partition("/")[0] if isinstance(value, str) else value
                ).adjusted()
            )
            if abs(size) > 60 or (len(str(value)) > 60 and not fraction):
                raise ValueError  # "1e999999999" would be computed in full
            number = Fraction(value)
        elif isinstance(value, bool) or not isinstance(value, int | float | Fraction):
            raise ValueError
        else:
            number = Fraction(repr(value) if isinstance(value, float) else value)
    except (ValueError, OverflowError, ZeroDivisionError, InvalidOperation):
        number = Fraction(-1)
    if max(abs(number.numerator), number.denominator).bit_length() > 400:
        raise ParameterError(f"{name} must be a number of at most 120 digits")
    if number < 0 or (number == 0 and not zero):
        bound = "zero or more" if zero else "above zero"
        raise ParameterError(f"{name} must be a finite number {bound}, got {value!r}")
    return number


def copy_amount(value: Any) -> Any:
    """Return an amount as a plain text or number, which is the same at each look.

    What is no amount comes back as what it is called.
    """
    kind = type(value)
    with suppress(Exception):  # whatever an object raises that is no number after all
        plain = copy_scalar(value)
        if is_plain_scalar(plain):
            return plain
        if issubclass(kind, Rational):
            return copy_ratio(value)
        if issubclass(kind, Real):
            return float(value)
    return f"a {kind.__name__}"


_WRITTEN = re.compile(r"([0-9]{1,1000})(?:/([0-9]{1,1000}))?")


def parse_fraction(text: object) -> Fraction:
    """Return the fraction that was written as text, of up to 1000 digits.

    Raises ValueError for anything else, such as "1e999999999".
    """
    match = _WRITTEN.fullmatch(text) if isinstance(text, str) else None
    denominator = 0 if match is None else int(match[2] or 1)
    if match is None or denominator == 0:
        raise ValueError("this is no written fraction")
    return Fraction(int(match[1]), denominator)


def is_infinite(epsilon: object) -> bool:
    """Return whether this epsilon means "no noise"."""
    epsilon = copy_scalar(epsilon)
    return isinstance(epsilon, float | Decimal) and epsilon == math.inf


def parse_epsilon(name: str, value: Number) -> Fraction:
    """Return an exact epsilon, as :func:`parse_exact` does; infinity has a message of its own."""
    if is_infinite(value):
        raise PrivacyError(
            f"{name} = inf means no noise; it is refused unless the owner declares the table public"
        )
    return parse_exact(name, value)


@dataclass(frozen=True)
class Cost:
    """A privacy loss under adding or removing one row.

    Parameters
    ----------
    epsilon
        The loss in pure epsilon; None where only rho is guaranteed.
    rho
        The loss in zCDP.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Cost.pure("1/2") + pv.Cost.pure("1/4")
    <Cost: epsilon 0.75 (rho 0.15625)>
    """

    epsilon: Fraction | None
    rho: Fraction

    @classmethod
    def pure(cls, epsilon: Number) -> Cost:
        """Return the cost of a pure epsilon guarantee.

        It is also (epsilon**2 / 2)-zCDP (Bun and Steinke 2016, proposition 1.4).

        Parameters
        ----------
        epsilon
            The epsilon, such as ``0.1`` or ``"1/3"``.

        Examples
        --------
        >>> import privet as pv
        >>> pv.Cost.pure("1/3").epsilon
        Fraction(1, 3)
        """
        value = parse_epsilon("epsilon", epsilon)
        return cls(value, value**2 / 2)

    @classmethod
    def bounded_range(cls, epsilon: Number) -> Cost:
        """Return the cost of the exponential mechanism.

        Its log-ratios span at most epsilon, so it is (epsilon**2 / 8)-zCDP (Cesar and Rogers 2021).
        """
        value = parse_epsilon("epsilon", epsilon)
        return cls(value, value**2 / 8)

    @classmethod
    def concentrated(cls, rho: Number) -> Cost:
        """Return the cost of a zCDP guarantee without a pure one, as Gaussian noise has it.

        Parameters
        ----------
        rho
            The rho.

        Examples
        --------
        >>> import privet as pv
        >>> pv.Cost.concentrated("1/8")
        <Cost: rho 0.125>
        """
        return cls(None, parse_exact("rho", rho))

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Cost", self.epsilon, self.rho)

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both, by sequential composition."""
        epsilon = (
            None if self.epsilon is None or other.epsilon is None else self.epsilon + other.epsilon
        )
        return Cost(epsilon, self.rho + other.rho)

    def promised(self, schema: Schema) -> Cost:
        """Return the same loss, for the neighbours that the schema declares.

        That is, for a person of several rows, added or replaced.

        Parameters
        ----------
        schema
            Says how many rows a person has, and who the neighbours are.

        Examples
        --------
        >>> import privet as pv
        >>> schema = pv.datasets.load("car").schema.declare(rows_per_person=3)
        >>> pv.Cost.pure(1).promised(schema)
        <Cost: epsilon 3 (rho 4.5)>
        """
        return self.for_neighbours(schema.rows_per_person, schema.neighbours)

    def for_neighbours(self, rows_per_person: int, neighbours: str) -> Cost:
        """Return the same loss for a person of so many rows, added or removed, or replaced."""
        factor = rows_per_person * (2 if neighbours == "replace" else 1)
        return Cost(None if self.epsilon is None else self.epsilon * factor, self.rho * factor**2)

    def amount(self, unit: Unit) -> Fraction | None:
        """Return the loss in one currency; None where it has no finite amount."""
        return self.epsilon if unit == "epsilon" else self.rho

    def __repr__(self) -> str:
        return one_line("Cost", str(self))

    def _repr_html_(self) -> str:
        epsilon = "none, only rho" if self.epsilon is None else self.epsilon
        facts = {"epsilon": epsilon, "rho": self.rho, "for": "one row added or removed"}
        return html_box("Cost", facts)

    def __str__(self) -> str:
        rho = f"rho {float(self.rho):.6g}"
        return rho if self.epsilon is None else f"epsilon {float(self.epsilon):.6g} ({rho})"


NOTHING = Cost(Fraction(0), Fraction(0))


def compose_sequentially(costs: Iterable[Cost]) -> Cost:
    """Return the cost of all of them on the same people."""
    return sum(costs, NOTHING)


def compose_in_parallel(costs: Iterable[Cost]) -> Cost:
    """Return the cost of all of them on disjoint people or disjoint cells."""
    listed = list(costs)
    epsilons = [cost.epsilon for cost in listed]
    known = [epsilon for epsilon in epsilons if epsilon is not None]
    return Cost(
        max(known, default=Fraction(0)) if len(known) == len(epsilons) else None,
        max((cost.rho for cost in listed), default=Fraction(0)),
    )


@dataclass(frozen=True, init=False)
class Budget:
    """A cap on what may be spent: pure epsilon, or zCDP rho.

    Parameters
    ----------
    epsilon
        The cap in epsilon. ``"1/3"`` is exactly a third, and ``0.1`` exactly a tenth.
    rho
        The cap in rho, instead.
    delta
        With ``epsilon``: the largest rho (to eight digits) that implies (epsilon,
        delta)-differential privacy.

    Examples
    --------
    >>> import privet as pv
    >>> pv.Budget("1/3")
    Budget('1/3')
    >>> pv.Budget(rho=0.05).unit
    'rho'
    >>> print(pv.Budget(1, delta=1e-6))
    rho 0.024356
    """

    amount: Fraction
    unit: Unit

    def __init__(
        self,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
        delta: Number | None = None,
    ) -> None:
        if (epsilon is None) == (rho is None):
            raise ParameterError("Budget: give either epsilon or rho")
        if rho is not None:
            if delta is not None:
                raise ParameterError("Budget: delta goes with epsilon, not with rho")
            amount, unit = parse_exact("rho", rho, zero=True), "rho"
        else:
            assert epsilon is not None  # as rho is None
            if delta is None:
                amount, unit = parse_exact("epsilon", epsilon, zero=True), "epsilon"
            else:
                amount, unit = (
                    rho_for(parse_exact("epsilon", epsilon), parse_exact("delta", delta)),
                    "rho",
                )
        object.__setattr__(self, "amount", amount)
        object.__setattr__(self, "unit", unit)

    def matches(self, other: Budget) -> bool:
        """Return whether both mean the same cap: exactly, or in rho to eight digits.

        A budget of (epsilon, delta) is kept as rho, whose last digits differ between versions.
        """
        if self.unit != other.unit or self.unit == "epsilon":
            return self == other
        return abs(self.amount - other.amount) <= max(self.amount, other.amount) / 10**8

    def __repr__(self) -> str:
        whole = self.amount.denominator == 1
        amount = str(self.amount) if whole else repr(str(self.amount))
        return f"Budget({'rho=' if self.unit == 'rho' else ''}{amount})"

    def _repr_html_(self) -> str:
        return html_box("Budget", {self.unit: self.amount})

    def __str__(self) -> str:
        return f"{self.unit} {float(self.amount):.6g}"


def explain_factor(schema: Schema, asked: Fraction, unit: str) -> str:
    """Say why more is charged than the price of one row; empty where it is not more."""
    rows, replaced = schema.rows_per_person, schema.neighbours == "replace"
    factor = rows * (2 if replaced else 1)
    if factor == 1:
        return ""
    reasons = [f"one person may have {rows} rows (rows_per_person)"] if rows > 1 else []
    reasons += ["neighbours are 'replace', which counts as 2"] if replaced else []
    times, squared = (factor, "") if unit == "epsilon" else (factor**2, ", squared for rho")
    return (
        f"That is {unit} {float(asked / times):.6g} for one row, times {times} in the schema of "
        f"the data set: {' and '.join(reasons)}{squared}"
    )
