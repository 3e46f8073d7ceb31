"""What a query is asked for: an epsilon or a rho, exact, or nothing at all of a public table."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privet.budget import Number, Unit, is_infinite, parse_epsilon, parse_exact
from privet.errors import ParameterError


@dataclass(frozen=True)
class Price:
    """An amount for one row added or removed. ``exactly``: no noise, for tables that are public."""

    amount: Fraction
    unit: Unit = "epsilon"
    exactly: bool = False

    @classmethod
    def of(
        cls, epsilon: Number | None = None, rho: Number | None = None, *, public: bool = False
    ) -> Price:
        """The price that a person gives; infinity is refused unless the table is public."""
        if (epsilon is None) == (rho is None):
            raise ParameterError("give either epsilon or rho")
        if rho is not None:
            return cls(parse_exact("rho", rho), "rho")
        assert epsilon is not None
        if public and is_infinite(epsilon):
            return cls(Fraction(1), exactly=True)
        return cls(parse_epsilon("epsilon", epsilon))

    def to_json(self) -> dict[str, str]:
        """As it stands in the body of a request."""
        return {self.unit: str(self.amount)}

    def in_epsilon(self) -> Fraction:
        """The amount, for what can be paid in epsilon only."""
        if self.unit != "epsilon":
            raise ParameterError("give epsilon: this query cannot be paid in rho")
        return self.amount
