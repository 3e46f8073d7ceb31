"""Print class counts and ledger entries as tables, for several commands."""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from rich import box
from rich.markup import escape
from rich.table import Table

from privet.accounting.cost import compose_sequentially
from privet.accounting.ledger import Entry, LedgerReader, left
from privet.accounting.ledger.relation import Relation, stated_by
from privet.accounting.ledger.reservations import Reservation
from privet.queries import LabelledCounts
from privet.text import escape_invisible

if TYPE_CHECKING:
    from privet.service.accounts import Grant
    from privet.service.audit_log import Event


def format_number(value: Any) -> str:
    """Format a short decimal."""
    return f"{float(value):.6g}"


def format_rounded_down(value: Fraction) -> str:
    """Format a short decimal that is not more than the value.

    What is said to be left can be spent.
    """
    short = format_number(value)
    if Fraction(short) <= value:
        return short
    return format_number(
        Context(prec=6, rounding=ROUND_FLOOR).divide(
            Decimal(value.numerator), Decimal(value.denominator)
        )
    )


def finite_or_none(epsilon: float) -> float | None:
    """Return a finite number for JSON, which has no infinity: None where nothing is promised."""
    return epsilon if math.isfinite(epsilon) else None


def ledger_table(
    entries: list[Entry],
    unanswered: Collection[int] = (),
    reserved: Collection[Reservation] = (),
) -> Table:
    """Make a table of the charges, oldest first.

    Those that never got an answer are marked. What was paid from one of these reservations is one
    line.
    """
    table = Table(
        title="Ledger: what was asked, and what it cost",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in ("#", "when (UTC)", "data set", "analyst", "question"):
        table.add_column(column)
    table.add_column("epsilon", justify="right")
    table.add_column("rho", justify="right")
    works = {reservation.number: reservation.what for reservation in reserved}
    charges: dict[int, list[Entry]] = {}  # by reservation; others by their own number
    for entry in entries:
        paid_from = entry.reservation if entry.reservation in works else -entry.number
        charges.setdefault(paid_from, []).append(entry)
    for paid_from, paid in charges.items():
        entry, cost = paid[0], compose_sequentially(one.cost for one in paid)
        what = f"{entry.what}\n  {entry.asked}" if entry.asked else entry.what
        if len(paid) > 1:
            what = f"{works[paid_from]}: {len(paid)} questions"
        if lost := [one.number for one in paid if one.number in unanswered]:
            first, *rest = what.split("\n")
            marked = "UNANSWERED" if len(paid) == 1 else f"{len(lost)} UNANSWERED"
            what = "\n".join([f"{first} ({marked})", *rest])
        table.add_row(
            str(entry.number),
            entry.time[:19].replace("T", " "),
            entry.dataset,
            entry.analyst,
            escape(what),
            "-" if cost.epsilon is None else format_number(cost.epsilon),
            format_number(cost.rho),
        )
    return table


def budget_table(ledger: LedgerReader, datasets: list[str], title: str = "Budgets") -> Table:
    """Make a table of what is spent and left of each data set."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("data set")
    for column in ("budget", "spent", "left"):
        table.add_column(column, justify="right")
    table.add_column("for")
    stated = stated_by(ledger.journal())
    for dataset in datasets:
        cap = ledger.cap(dataset)
        if cap is not None:
            spent = ledger.spent(dataset).amount(cap.unit)
            if spent is not None:
                left_over = max(cap.amount - ledger.committed(dataset), Fraction(0))
                table.add_row(
                    dataset,
                    str(cap),
                    format_number(spent),
                    format_rounded_down(left_over),
                    escape(format_relations(stated.get(dataset, []))),
                )
    return table


def format_relations(stated: Sequence[Relation]) -> str:
    """Format for whom an account promises something, as its lines state it.

    Older versions charged under several; what they add up to is marked.
    """
    if len(stated) > 1:
        return f"MIXED, its total promises nothing: {'; '.join(map(str, stated))}"
    return str(stated[0]) if stated else "not stated yet"


def events_table(events: Sequence[Event]) -> Table:
    """Make a table of the audit log, oldest first."""
    table = Table(title="Audit log", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("#", "when (UTC)", "who", "kind", "what"):
        table.add_column(column)
    for event in events:
        when = event.time[:19].replace("T", " ")
        cells = (str(event.number), when, event.person, event.kind, escape_invisible(event.what))
        table.add_row(*map(escape, cells))
    return table


def reservations_table(open_ones: Sequence[Reservation]) -> Table:
    """Make a table of what is set aside for fits that are under way, or were interrupted."""
    table = Table(
        title="Set aside for fits that are under way or were interrupted",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in ("analyst", "data set", "for", "key", "last used (UTC)"):
        table.add_column(column)
    table.add_column("left", justify="right")
    for reservation in open_ones:
        when = reservation.touched[:16].replace("T", " ")
        left_over = f"{reservation.unit} {format_rounded_down(reservation.left)}"
        cells = (
            reservation.analyst,
            reservation.dataset,
            reservation.what,
            reservation.key,
            when,
            left_over,
        )
        table.add_row(*map(escape, cells))  # an analyst wrote some of it
    return table


def grants_table(ledger: LedgerReader, analysts: list[str], grants: Sequence[Grant]) -> Table:
    """Make a table of what analysts may ask about, and what they have left."""
    table = Table(title="Analysts", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("analyst")
    table.add_column("data set")
    for column in ("budget", "spent", "left"):
        table.add_column(column, justify="right")
    table.add_column("until (UTC)")
    for grant in grants:
        cap = ledger.cap(grant.dataset, grant.analyst)
        spent = (
            ledger.spent(grant.dataset, grant.analyst).amount(cap.unit) if cap is not None else None
        )
        money = (
            ("-", "-")
            if spent is None
            else (format_number(spent), format_number(left(ledger, grant.dataset, grant.analyst)))
        )
        until = (
            ""
            if not grant.expires
            else grant.expires[:16].replace("T", " ") + (" (over)" if grant.over else "")
        )
        table.add_row(grant.analyst, grant.dataset, str(cap), *money, until)
    for analyst in analysts:
        if analyst not in {grant.analyst for grant in grants}:
            table.add_row(analyst, "-", "-", "-", "-", "")
    return table


def counts_table(answer: LabelledCounts) -> Table:
    """Make a table of noisy class counts, a row for each combination of values."""
    table = Table(
        title=(
            "Noisy rows per class (each number is right to within about "
            f"{2 * answer.deviation:.0f}, 19 times in 20)"
        ),
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for name in answer.names[:-1] or ("",):
        table.add_column(name)
    for label in answer.labels[-1]:
        table.add_column(label, justify="right")
    counts = answer.tables[0].reshape(-1, len(answer.labels[-1])).tolist()
    for labels, row in zip(itertools.product(*answer.labels[:-1]), counts, strict=True):
        table.add_row(*(labels or ("all rows",)), *map(str, row))
    return table
