"""The privacy statement of a model file: amounts are exact fractions of bounded size."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from privet.errors import PrivetError
from privet.model.problem import Damaged, require
from privet.privacy import MAX_DENOMINATOR_BITS, MAX_RELEASES, PrivacyStatement

MAX_CHARGES = 10_000
#: A model made from more tables is not read.
MAX_PARTS = 2 * MAX_RELEASES
MAX_ROWS_PER_PERSON = 10**9
#: What is promised must be a number that a reader can be shown.
MAX_EPSILON = 10**15
MAX_RHO_ALONE = 10**4
SMALLEST_DELTA = Fraction(1, 10**100)

_FRACTION = re.compile(r"[0-9]{1,600}(/[1-9][0-9]{0,599})?")


def privacy_from(data: Any, canonical: Callable[[Any], bytes]) -> PrivacyStatement:
    """The statement that stands in a document, or :class:`Damaged`."""
    common = 1
    for amount in _list_amounts(data):
        if amount is not None:
            require(
                isinstance(amount, str) and _FRACTION.fullmatch(amount) is not None,
                "an amount of privacy is no fraction",
            )
            common = math.lcm(common, Fraction(amount).denominator)
            require(
                common.bit_length() <= MAX_DENOMINATOR_BITS,
                "the amounts of privacy have too many digits",
            )
    try:
        statement = PrivacyStatement.from_json(data)
    except PrivetError as error:
        raise Damaged(str(error)) from None
    require(
        canonical(statement.to_json()) == canonical(data),
        "its privacy statement is not as Privet writes it",
    )
    for one in (statement, *statement.leaves):
        _check_range(one)
    return statement


def _list_amounts(data: Any) -> list[Any]:
    """All amounts of a statement and of its parts, checked for kind and number only."""
    amounts: list[Any] = []
    n_charges, n_parts, open_ = 0, 0, [data]
    while open_:
        one = open_.pop()
        require(
            isinstance(one, dict) and isinstance(one.get("charges"), list),
            "privacy must be an object with charges",
        )
        charges, parts = one["charges"], one.get("parts", [])
        n_parts += len(parts) if isinstance(parts, list) else MAX_PARTS + 1
        require(n_parts <= MAX_PARTS, f"privacy has more than {MAX_PARTS} parts")
        n_charges += len(charges)
        require(n_charges <= MAX_CHARGES, f"privacy lists more than {MAX_CHARGES} charges")
        require(all(isinstance(charge, dict) for charge in charges), "a charge must be an object")
        rows = one.get("rows_per_person")
        require(
            type(rows) is int and 1 <= rows <= MAX_ROWS_PER_PERSON,
            "rows_per_person is out of range",
        )
        amounts += [charge.get(unit) for charge in charges for unit in ("epsilon", "rho")] + [
            one.get("delta")
        ]
        open_ += parts
    return amounts


def _check_range(statement: PrivacyStatement) -> None:
    promised = statement.promised
    in_range = (
        promised.rho <= MAX_RHO_ALONE
        if promised.epsilon is None
        else promised.epsilon <= MAX_EPSILON
    )
    # The rho of a pure epsilon is at most its square; a file may say anything.
    require(
        in_range and promised.rho <= MAX_EPSILON**2,
        "what its privacy statement promises is out of range",
    )
    require(
        statement.delta is None or SMALLEST_DELTA <= statement.delta < 1, "delta is out of range"
    )
