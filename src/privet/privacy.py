"""The privacy statement of a model: what is promised, to whom, and what was charged for it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.budget import Cost, epsilon_for, sequential
from privet.errors import PrivetError
from privet.schema import Schema


@dataclass(frozen=True)
class Charge:
    """One thing that was paid for, under one row added or removed."""

    what: str
    cost: Cost


@dataclass(frozen=True)
class PrivacyStatement:
    """What a model gives away.

    ``charges`` are for one row added or removed; :attr:`promised` is for the declared neighbours. ``private`` is false
    where no promise is made: no noise, a schema learnt from the data, or a test seed; ``reason`` then says why.
    """

    charges: tuple[Charge, ...]
    neighbours: str
    rows_per_person: int
    person: bool
    private: bool
    reason: str = ""
    delta: Fraction | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        schema: Schema,
        charges: Iterable[Charge],
        *,
        private: bool,
        reason: str = "",
        delta: Fraction | None = None,
        notes: Iterable[str] = (),
    ) -> PrivacyStatement:
        """The statement for a table with this schema."""
        facts = (schema.neighbours, schema.rows_per_person, schema.person is not None)
        return cls(tuple(charges), *facts, private=private, reason=reason, delta=delta, notes=tuple(notes))

    @property
    def charged(self) -> Cost:
        """What all charges cost together, for one row added or removed."""
        return sequential(charge.cost for charge in self.charges)

    @property
    def promised(self) -> Cost:
        """The same for the declared neighbours."""
        return self.charged.for_neighbours(self.rows_per_person, self.neighbours)

    @property
    def epsilon(self) -> float:
        """The promised epsilon: pure, or for ``delta`` where only rho is promised. Infinite where nothing is promised."""
        if not self.private:
            return float("inf")
        if self.promised.epsilon is not None:
            return float(self.promised.epsilon)
        return epsilon_for(self.promised.rho, self.delta or Fraction(1, 10**6))

    def describe(self) -> str:
        """One sentence."""
        if not self.private:
            return f"NOT PRIVATE: {self.reason}"
        whom = "one person" if self.rows_per_person > 1 or self.person else "one row"
        change = "replaced by another" if self.neighbours == "replace" else "added or removed"
        if self.promised.epsilon is not None:
            return f"{rounded_up(self.epsilon)}-differentially private with {whom} {change}"
        pair = f"({rounded_up(self.epsilon)}, {float(self.delta or Fraction(1, 10**6)):.1g})"
        rho = rounded_up(float(self.promised.rho))
        return f"{pair}-differentially private with {whom} {change} (rho {rho})"

    def __str__(self) -> str:
        return self.describe()

    def to_json(self) -> dict[str, Any]:
        """As it stands in a model file. Amounts are exact fractions."""
        return {
            "private": self.private,
            "reason": self.reason,
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
            "person": self.person,
            "delta": None if self.delta is None else str(self.delta),
            "charges": [
                {"what": c.what, "epsilon": None if c.cost.epsilon is None else str(c.cost.epsilon), "rho": str(c.cost.rho)}
                for c in self.charges
            ],
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> PrivacyStatement:
        """From a model file. Raises a PrivetError for anything else."""
        try:
            charges = tuple(
                Charge(str(c["what"]), Cost(None if c["epsilon"] is None else _amount(c["epsilon"]), _amount(c["rho"])))
                for c in data["charges"]
            )
            if data["neighbours"] not in ("add-remove", "replace") or int(data["rows_per_person"]) < 1:
                raise ValueError
            return cls(
                charges,
                data["neighbours"],
                int(data["rows_per_person"]),
                bool(data["person"]),
                bool(data["private"]),
                str(data["reason"]),
                None if data["delta"] is None else _amount(data["delta"]),
                tuple(str(note) for note in data["notes"]),
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise PrivetError("the privacy statement is damaged") from None


def rounded_up(value: float) -> str:
    """Six significant digits, never less than the value: a promise is not rounded in its own favour."""
    text = f"{value:.6g}"
    if float(text) < value:
        digit = 10.0 ** (math.floor(math.log10(value)) - 5)
        text = f"{float(text) + digit:.6g}"
    return text


def _amount(text: object) -> Fraction:
    """A written fraction of any length, but no power that would be computed in full."""
    if not isinstance(text, str) or not re.fullmatch(r"\d{1,1000}(/\d{1,1000})?", text) or re.search(r"/0*$", text):
        raise ValueError
    return Fraction(text)
