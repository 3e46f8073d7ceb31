"""Make an analyst's page: what they have left, what they asked, and what is public.

It shows nothing of others. It also prices a plan of so many queries, without charging anything or
reading a table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from privet.accounting.cost import Budget, Cost, Unit, parse_exact
from privet.accounting.ledger import Ledger, left
from privet.accounting.ledger.archive import make_receipt
from privet.accounting.ledger.base import compute_remaining
from privet.accounting.ledger.reservations import held_by
from privet.domain import Attribute, Schema
from privet.errors import ParameterError, PrivetError
from privet.service.accounts import Grant, RegisteredDataset
from privet.service.amounts import Segment, stack_segments
from privet.service.page.listing import (
    Filter,
    Listing,
    OpenReservation,
    list_open_reservations,
    make_listing,
)
from privet.service.state import ServiceState
from privet.text import escape_invisible

#: How many values of an attribute are listed.
_VALUES = 24


@dataclass(frozen=True)
class ColumnSummary:
    """What is public about one column."""

    name: str
    kind: str
    values: str
    others: str
    missing: str


@dataclass(frozen=True)
class AnalystBudget:
    """What is left for an analyst on a data set.

    It is left of their own cap, of the data set's, and of both.
    """

    dataset: str
    schema: Schema
    grant: Grant
    cap: Budget
    own: bool
    spent: Fraction
    held: Fraction
    own_left: Fraction
    shared_left: Fraction
    left: Fraction
    bar: Sequence[Segment]
    columns: Sequence[ColumnSummary]
    snippet: str
    #: Since when its owner has paused it; empty where questions are answered.
    paused: str = ""


@dataclass(frozen=True)
class AnalystView:
    """Everything that an analyst's page shows."""

    name: str
    purses: Sequence[AnalystBudget]
    asides: Sequence[OpenReservation]
    ended: Sequence[Grant]
    listing: Listing
    datasets: Sequence[str]
    receipts: Mapping[int, str]
    plan: PlanForm
    estimate: PlanCost | None
    trouble: str


def analyst_view(
    state: ServiceState, analyst: str, wanted: Filter, plan: PlanForm | None, address: str
) -> AnalystView:
    """Make an analyst's page as of now.

    ``address`` is where programs connect to.
    """
    ledger = state.ledger
    served = {dataset.name: dataset for dataset in state.accounts.datasets()}
    grants = [grant for grant in state.accounts.grants(analyst) if grant.dataset in served]
    asides = list_open_reservations(ledger, analyst)
    purses = [
        _make_analyst_budget(ledger, served[grant.dataset], grant, address)
        for grant in grants
        if not grant.over and ledger.cap(grant.dataset)
    ]
    entries = ledger.entries(analyst=analyst)
    shown = make_listing(
        entries,
        ledger.unanswered() & {entry.number for entry in entries},
        replace(wanted, analyst=""),
        ledger.reservations(analyst=analyst),
    )
    result, trouble = None, ""
    if plan is not None:
        try:
            result = _estimate_plan(plan, purses)
        except PrivetError as error:
            trouble = str(error)
    return AnalystView(
        analyst,
        purses,
        asides,
        [grant for grant in grants if grant.over],
        shown,
        sorted({entry.dataset for entry in entries}),
        {entry.number: str(make_receipt(ledger, entry)) for entry in shown.charges},
        plan
        or (
            PlanForm(price="0.001", unit="rho")
            if purses and purses[0].cap.unit == "rho"
            else PlanForm()
        ),
        result,
        trouble,
    )


def _make_analyst_budget(
    ledger: Ledger, dataset: RegisteredDataset, grant: Grant, address: str
) -> AnalystBudget:
    name, analyst = dataset.name, grant.analyst
    shared, own = ledger.cap(name), ledger.cap(name, analyst)
    assert shared is not None
    cap, cost = own or shared, ledger.spent(name, analyst)
    spent = cost.amount(cap.unit) or Fraction(0)
    free = left(ledger, name, analyst)
    held = held_by(ledger.reservations(name, analyst, open_only=True))
    held_by_all = held_by(ledger.reservations(name, open_only=True))
    own_left = compute_remaining(cap, cost, held)
    bar = [("spent", spent), ("aside", held), ("left", free), ("blocked", own_left - free)]
    return AnalystBudget(
        name,
        dataset.schema,
        grant,
        cap,
        own is not None,
        spent,
        held,
        own_left,
        compute_remaining(shared, ledger.spent(name), held_by_all),
        free,
        stack_segments(cap.amount, bar),
        [
            _describe_column(column, attribute)
            for column, attribute in dataset.schema.attributes.items()
        ],
        _make_snippet(address, name),
        "" if dataset.paused is None else dataset.paused[0],
    )


def _describe_column(name: str, attribute: Attribute) -> ColumnSummary:
    listed = attribute.labels
    more = f", … and {len(listed) - _VALUES} more" if len(listed) > _VALUES else ""
    return ColumnSummary(
        name,
        attribute.summary,
        ", ".join(escape_invisible(label) for label in listed[:_VALUES]) + more,
        attribute.describe_unknown(),
        attribute.describe_missing(),
    )


def _make_snippet(address: str, dataset: str) -> str:
    return (
        "import privet as pv\n\n"
        "# the token is read from the environment variable PRIVET_TOKEN\n"
        f"curator = pv.connect({address!r}, dataset={dataset!r})\n"
        "print(curator.left)\n"
        "model = pv.PrivetClassifier(epsilon=0.1, schema=curator.schema).fit_from(curator)"
    )


def _estimate_plan(plan: PlanForm, purses: Sequence[AnalystBudget]) -> PlanCost:
    for purse in purses:
        if purse.dataset == plan.dataset:
            return estimate(plan, purse.schema, purse.cap.unit, purse.left)
    raise ParameterError("choose one of the data sets that are granted to you")


# The price of a plan: so many queries, each at a price. Charges nothing and reads no table.

_MOST = 1_000_000


@dataclass(frozen=True)
class PlanForm:
    """A plan as the form says it: texts, so that what was typed can be shown again.

    ``price`` is in ``unit``, each, for one row.
    """

    dataset: str = ""
    questions: str = "10"
    price: str = "0.05"
    unit: str = "epsilon"

    @classmethod
    def read(cls, query: Mapping[str, str]) -> PlanForm | None:
        """Read a plan from the query of an address, if it has one."""
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
    """What a plan would cost for the declared neighbours.

    It is in both currencies, beside what is left in the cap's.
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
    """Estimate the cost of a plan.

    ``most`` is how many such queries could be asked.
    """
    count = (
        int(plan.questions)
        if plan.questions.isascii() and plan.questions.isdigit() and len(plan.questions) < 8
        else 0
    )
    if not 1 <= count <= _MOST:
        raise ParameterError(f"the number of questions must be an integer from 1 to {_MOST}")
    each = parse_exact("price", plan.price)
    single_cost = (Cost.concentrated(each) if plan.unit == "rho" else Cost.pure(each)).promised(
        schema
    )
    cost = Cost(
        None if single_cost.epsilon is None else single_cost.epsilon * count,
        single_cost.rho * count,
    )
    price = single_cost.amount(unit)
    return PlanCost(
        plan, cost, unit, cost.amount(unit), left, None if price is None else int(left / price)
    )
