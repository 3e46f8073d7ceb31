"""What a plan would cost: so many questions, each at a price. Charges nothing, and looks at no
table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from privet.budget import Cost, Unit, parse_exact
from privet.errors import ParameterError
from privet.schema import Schema

_MOST = 1_000_000


@dataclass(frozen=True)
class PlanForm:
    """As the form says it: texts, so that what was typed can be shown again. ``price`` is in
    ``unit``, each, for one row.
    """

    dataset: str = ""
    questions: str = "10"
    price: str = "0.05"
    unit: str = "epsilon"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PlanForm | None:
        """From the query of an address, if it has one."""
        if not query.get("plan"):
            return None
        unit = query.get("unit", "epsilon")
        return cls(
            query["plan"],
            query.get("questions", "").strip(),
            query.get("price", "").strip(),
            "rho" if unit == "rho" else "epsilon",
        )


@dataclass(frozen=True)
class PlanCost:
    """What a plan would cost for the declared neighbours, in both currencies, beside what is left
    in the cap's.
    """

    plan: PlanForm
    cost: Cost
    unit: Unit
    amount: Fraction | None
    left: Fraction
    most: int | None

    @property
    def fits(self) -> bool:
        """Whether all of it could be asked."""
        return self.amount is not None and self.amount <= self.left


def estimate(plan: PlanForm, schema: Schema, unit: Unit, left: Fraction) -> PlanCost:
    """The cost of a plan. ``most`` is how many such questions could be asked."""
    count = (
        int(plan.questions)
        if plan.questions.isascii() and plan.questions.isdigit() and len(plan.questions) < 8
        else 0
    )
    if not 1 <= count <= _MOST:
        raise ParameterError(f"the number of questions must be an integer from 1 to {_MOST}")
    each = parse_exact("price", plan.price)
    one = (Cost.concentrated(each) if plan.unit == "rho" else Cost.pure(each)).promised(schema)
    cost = Cost(None if one.epsilon is None else one.epsilon * count, one.rho * count)
    price = one.amount(unit)
    return PlanCost(
        plan, cost, unit, cost.amount(unit), left, None if price is None else int(left / price)
    )
