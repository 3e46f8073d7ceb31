"""Check the bodies of requests: the shape of each query, the price, and which rows are meant.

Conditions are structures; there is no text of a query language anywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet._types import Json
from privet.accounting.cost import NOTHING, Cost, Unit, parse_exact
from privet.accounting.ledger.base import add
from privet.domain import Schema
from privet.errors import ParameterError, QuestionError
from privet.queries import Load, Query, queries
from privet.queries.json_parts import MAX_NUMBERS, MAX_REQUEST_NODES, MAX_TREES, NUMBER, Amount
from privet.queries.release_kinds import Price
from privet.queries.shapes import Field, Fields, Integer, Items, OneOf, ShapeError, Text

#: Most exact counts that one request may keep meanwhile.
MAX_COUNTS = 1 << 23
#: Most tests on a path of a tree that rows walk down.
MAX_DEPTH = 64

_PART = Fields(
    {
        "division": Field(NUMBER, True, "As the answer to the division says."),
        "number": Field(NUMBER, True, "Which group; the first is 0."),
    },
    "One of the groups of people that a division made.",
)
_ROWS = {
    "snapshot": Field(
        Text(64),
        description="Ask about the rows of this snapshot, rather than those of the moment.",
        nullable=True,
    ),
    "part": Field(
        _PART,
        description="Ask about one group of people only, from the budget of the division.",
        nullable=True,
    ),
}
_KEY_TEXT = Text(200, 1)
_ROWS["reservation"] = Field(
    _KEY_TEXT, description="Pay from this reservation, which is still open."
)
_EPSILON = Field(Amount(), True, 'A number above zero, or text such as "1/3", which is exact.')
_EITHER = Field(
    Amount(), False, "Give either epsilon or rho; texts such as 1/3 are exact.", nullable=True
)

DIVIDE = Fields(
    {"epsilon": _EPSILON, "n_parts": Field(Integer(1, 10_000), True), **_ROWS},
    "Disjoint random groups of people, each with this budget, paid once.",
    ({"epsilon": "1", "n_parts": 4, "snapshot": "<id>"},),
)
PLAN = Fields(
    {
        "plan": Field(
            Items(
                Fields(
                    {unit: Field(Amount(), nullable=True) for unit in ("epsilon", "rho")},
                    "The cost of one planned query, for one row added or removed: an epsilon, a "
                    "rho, or a pair of both.",
                ),
                0,
                10_000,
            ),
            True,
        ),
        **_ROWS,
    },
    "What would be asked.",
    ({"plan": [{"epsilon": "0.1"}, {"epsilon": "0.1"}]},),
)


@dataclass(frozen=True)
class ReservationKey:
    """A key that can stand in an address, where a reservation is closed."""

    pattern: str = "^[A-Za-z0-9_~-][A-Za-z0-9._~-]*$"
    most: int = 200

    @property
    def schema(self) -> Json:
        return {"type": "string", "pattern": self.pattern, "maxLength": self.most}

    def check(self, value: Any, where: str) -> None:
        good = type(value) is str and len(value) <= self.most
        if not good or re.fullmatch(self.pattern.strip("^$"), value) is None:
            raise ShapeError(
                where,
                f"must be 1 to {self.most} letters, digits, '.', '_', '~' or '-', and not begin "
                "with a dot; for example 'fit-1'",
            )


RESERVE = Fields(
    {
        "key": Field(ReservationKey(), True, "Names the reservation among your requests."),
        "what": Field(Text(500, 1), True, "What it is for, in a line."),
        "epsilon": _EITHER,
        "rho": _EITHER,
    },
    "Set an amount aside, for one row added or removed, to be spent query by query.",
    ({"key": "fit-1", "what": "fit of privet", "epsilon": "1"},),
)
SNAPSHOT = Fields(
    {
        "reservation": Field(
            _KEY_TEXT,
            description="The fit that it is for. It takes the place of the one that the fit had.",
        )
    },
    "Begin a snapshot: questions that see the same rows.",
    ({"reservation": "fit-1"},),
)
CLOSE = Fields(
    {
        "why": Field(OneOf(("done", "cancelled")), True),
        "model": Field(Text(500), description="The release that it paid for, as you say."),
    },
    "End a reservation: what is left of it can be spent again. What was charged stays charged.",
    ({"why": "done"},),
)


def _body_shape_of(query: type[Query[Any]]) -> Fields:
    price = {"epsilon": _EITHER, "rho": _EITHER} if query.in_rho else {"epsilon": _EPSILON}
    return query.shape({**price, **_ROWS})


#: What can be asked, by the last part of its address.
OFFERED = {name: query for name, query in queries().items() if query.for_analysts}
#: The shape of each body.
BODIES = {name: _body_shape_of(query) for name, query in OFFERED.items()} | {"divide": DIVIDE}


@dataclass(frozen=True)
class RowSelection:
    """Which rows a request is about, and the reservation that it is paid from.

    The rows are those of the moment, of a snapshot, or of a group of people in it.
    """

    snapshot: str | None = None
    part: tuple[int, int] | None = None
    reservation: str = ""


def check_body(operation: str, body: Any) -> Json:
    """Return the body of a request, or raise unless it has the shape that it may have."""
    shape = BODIES[operation]
    shape.check(body, "body")
    if "rho" in shape.of and (body.get("epsilon") is None) == (body.get("rho") is None):
        raise ShapeError("body", "give either epsilon or rho")
    assert isinstance(body, dict)
    return body


def rows_of(body: Json) -> RowSelection:
    """Return which rows a request is about."""
    part = body.get("part")
    return RowSelection(
        body.get("snapshot"),
        None if part is None else (part["division"], part["number"]),
        body.get("reservation") or "",
    )


def query_of(operation: str, schema: Schema, body: Json) -> Query[Any]:
    """Return the query in a body."""
    return OFFERED[operation].from_json(schema, body)


def least_cost_of(body: Json) -> Cost:
    """Return what a query at the price in this body costs at least, whatever it asks.

    No kind of release costs less than its epsilon, and epsilon**2/8 of rho (bounded range).
    """
    price = Price.of(body.get("epsilon"), body.get("rho"))
    return (
        Cost.bounded_range(price.amount)
        if price.unit == "epsilon"
        else Cost.concentrated(price.amount)
    )


def check_load(load: Load, n_attributes: int) -> None:
    """Raise for a query that is larger than the service answers at once, by public sizes."""
    if load.numbers > MAX_NUMBERS or load.counts > MAX_COUNTS:
        most, asked = (
            (MAX_NUMBERS, load.numbers) if load.numbers > MAX_NUMBERS else (MAX_COUNTS, load.counts)
        )
        raise QuestionError(
            f"one request may ask for {most} numbers, this one asks for {asked}; ask in several "
            "requests"
        )
    if load.trees > MAX_TREES or load.nodes > MAX_REQUEST_NODES:
        raise QuestionError(
            f"the trees and cells of one request may be {MAX_TREES} with {MAX_REQUEST_NODES} "
            "nodes in all, "
            f"these are {load.trees} with {load.nodes}; ask in several requests"
        )
    # Rows walk down trees: a chain of thousands of tests would take all day.
    deepest = max(MAX_DEPTH, n_attributes)
    if load.depth > deepest:
        raise QuestionError(f"a tree may have {deepest} tests on a path, this one has {load.depth}")


def parse_reserved(body: Json) -> Cost:
    """Return the cost that a reservation sets aside, for one row added or removed."""
    return parse_planned({"plan": [{name: body.get(name) for name in ("epsilon", "rho")}]})


def parse_planned(body: Json) -> Cost:
    """Return the cost of a plan, summed as a ledger does.

    Thousands of odd fractions must not choke it.
    """
    total = NOTHING
    for number, item in enumerate(body["plan"]):
        epsilon, rho = (_parse_amount(item, unit) for unit in ("epsilon", "rho"))
        if epsilon is None and rho is None:
            raise ParameterError(f"plan: give epsilon or rho for question {number}")
        if rho is not None:
            total = add(total, Cost(epsilon, rho))
        elif epsilon is not None:
            total = add(total, Cost(epsilon, epsilon**2 / 2))
    return total


def _parse_amount(one: Json, unit: Unit) -> Fraction | None:
    return None if one.get(unit) is None else parse_exact(unit, one[unit], zero=True)
