"""Make the owner's page: every budget, who spent it, and the ledger."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction

from privet.accounting.cost import Budget
from privet.accounting.ledger import Entry, Ledger
from privet.accounting.ledger.base import compute_remaining
from privet.accounting.ledger.reservations import held_by
from privet.service.accounts import Grant
from privet.service.amounts import Segment, format_down, stack_segments
from privet.service.health import Verification
from privet.service.page.listing import (
    Charges,
    Filter,
    Listing,
    OpenReservation,
    list_open_reservations,
    make_listing,
)
from privet.service.state import ServiceState

#: How many analysts get a tone of their own: the same for all data sets if there are no more, else
#: those who spent most on each.
TONES = 6


@dataclass(frozen=True)
class AnalystShare:
    """One analyst's part of a data set's budget.

    ``held`` is set aside for fits, and ``left`` is what both caps leave beside it.
    """

    analyst: str
    tone: str
    spent: Fraction
    held: Fraction
    cap: Budget | None
    left: Fraction
    bar: Sequence[Segment]
    grant: Grant | None


@dataclass(frozen=True)
class Account:
    """A data set's budget. Without a cap, nothing can be asked yet."""

    name: str
    served: bool
    cap: Budget | None
    spent: Fraction
    held: Fraction
    left: Fraction
    bar: Sequence[Segment]
    shares: Sequence[AnalystShare]
    chart: Chart | None
    charges: int
    #: For whom the charges promise something; empty where no charge has said yet.
    relation: str


@dataclass(frozen=True)
class OwnerView:
    """Everything that the owner's page shows."""

    accounts: Sequence[Account]
    asides: Sequence[OpenReservation]
    idle: Sequence[str]
    listing: Listing
    datasets: Sequence[str]
    analysts: Sequence[str]
    unanswered: int
    verification: Verification


def owner_view(
    state: ServiceState, charges: Charges, wanted: Filter, verification: Verification
) -> OwnerView:
    """Make the owner's page as of now."""
    ledger, entries, unanswered = state.ledger, charges.entries(), state.ledger.unanswered()
    asides = list_open_reservations(ledger)
    by_dataset: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_dataset[entry.dataset].append(entry)
    served = {dataset.name for dataset in state.accounts.datasets()}
    grants: dict[str, dict[str, Grant]] = defaultdict(dict)
    for grant in state.accounts.grants():
        grants[grant.dataset][grant.analyst] = grant
    names = sorted(served | set(ledger.datasets()))
    analysts = state.accounts.analysts()
    everybody = sorted({*analysts, *(entry.analyst for entry in entries)})
    tones = everybody if len(everybody) <= TONES else []
    return OwnerView(
        [
            _make_account(
                ledger, name, name in served, by_dataset[name], grants[name], tones, asides
            )
            for name in names
        ],
        asides,
        [
            analyst
            for analyst in analysts
            if not any(analyst in granted for granted in grants.values())
        ],
        make_listing(entries, unanswered, wanted, ledger.reservations(), charges.changes()),
        sorted({*names, *by_dataset}),
        everybody,
        len(unanswered),
        verification,
    )


def _make_account(
    ledger: Ledger,
    name: str,
    served: bool,
    entries: Sequence[Entry],
    grants: Mapping[str, Grant],
    tones: Sequence[str],
    asides: Sequence[OpenReservation],
) -> Account:
    cap = ledger.cap(name)
    if cap is None:
        nothing = Fraction(0)
        return Account(
            name, served, None, nothing, nothing, nothing, [], [], None, len(entries), ""
        )
    spent = ledger.spent(name).amount(cap.unit) or Fraction(0)
    open_ones = [aside.reservation for aside in asides if aside.reservation.dataset == name]
    held = held_by(open_ones)
    left = compute_remaining(cap, ledger.spent(name), held)
    who = {*ledger.analysts(name), *grants, *(entry.analyst for entry in entries)}
    by_analyst = {
        analyst: ledger.spent(name, analyst).amount(cap.unit) or Fraction(0) for analyst in who
    }
    ranked = sorted(who, key=lambda analyst: (-by_analyst[analyst], analyst))
    coloured = {
        analyst: f"tone{place + 1}" for place, analyst in enumerate((tones or ranked)[:TONES])
    }
    shares = [
        _make_share(
            analyst,
            coloured.get(analyst, "rest"),
            by_analyst[analyst],
            held_by(open_ones, analyst),
            ledger.cap(name, analyst),
            left,
            grants.get(analyst),
        )
        for analyst in ranked
    ]
    parts = [(share.tone, share.spent) for share in shares]
    bar = stack_segments(cap.amount, [*parts, ("aside", held)])
    drawn = make_chart(entries, cap)
    whom = str(ledger.relation(name) or "")
    return Account(name, served, cap, spent, held, left, bar, shares, drawn, len(entries), whom)


def _make_share(
    analyst: str,
    tone: str,
    spent: Fraction,
    held: Fraction,
    own: Budget | None,
    left: Fraction,
    grant: Grant | None,
) -> AnalystShare:
    if own is None:
        return AnalystShare(analyst, tone, spent, held, None, left, [], grant)
    free = min(left, max(own.amount - spent - held, Fraction(0)))
    bar = stack_segments(own.amount, [(tone, spent), ("aside", held)])
    return AnalystShare(analyst, tone, spent, held, own, free, bar, grant)


# The chart of what was spent over time: steps up to now, below the cap.

#: The picture's inner size; the page stretches it to its own.
WIDTH, HEIGHT = 1000, 150


@dataclass(frozen=True)
class Tick:
    """A mark on an axis: where, and what it says."""

    at: float
    text: str


@dataclass(frozen=True)
class Chart:
    """A step chart, ready to be drawn.

    ``ticks`` go up the amounts, ``dates`` along the time, in percent.
    """

    line: str
    area: str
    cap: Tick
    ticks: tuple[Tick, ...]
    dates: tuple[Tick, ...]
    first: str
    last: str


def make_chart(entries: Sequence[Entry], cap: Budget, now: datetime | None = None) -> Chart | None:
    """Make the chart of one data set's charges, oldest first; None where there are none."""
    if not entries:
        return None
    times = [datetime.fromisoformat(entry.time) for entry in entries]
    begin = times[0]
    span = max(now or datetime.now(UTC), *times, begin + timedelta(minutes=1)) - begin
    columns: dict[int, float] = {}  # at most one step for each column of the picture
    total, x = 0.0, 0
    for time, entry in zip(times, entries, strict=True):
        total += float(entry.cost.amount(cap.unit) or 0)
        # a clock that was set back does not turn the line
        x = max(x, round((time - begin) / span * WIDTH))
        columns[x] = total
    top = max(float(cap.amount), total) * 1.02 or 1.0

    def height(amount: float) -> float:
        return round(HEIGHT - amount / top * HEIGHT, 1)

    line = (
        f"M0 {HEIGHT}"
        + "".join(f"H{x}V{height(amount)}" for x, amount in columns.items())
        + f"H{WIDTH}"
    )
    # An amount beside the cap would run into the cap's own text.
    amounts = [
        amount
        for amount in _list_round_amounts(top)
        if abs(amount - float(cap.amount)) > 0.12 * top
    ]
    return Chart(
        line,
        f"{line}V{HEIGHT}Z",
        Tick(height(float(cap.amount)), format_down(cap.amount)),
        tuple(Tick(height(amount), f"{amount:.4g}") for amount in amounts),
        _make_date_ticks(begin, span),
        f"{begin:%d %B %Y}".lstrip("0"),
        f"{begin + span:%d %B %Y}".lstrip("0"),
    )


def _list_round_amounts(top: float) -> list[float]:
    """Round amounts from 0 up, three or four of them."""
    power = 10.0 ** math.floor(math.log10(top / 3))
    step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if top / (power * factor) <= 4.2)
    return [step * number for number in range(int(top / step) + 1)]


def _make_date_ticks(begin: datetime, span: timedelta) -> tuple[Tick, ...]:
    form = (
        "%d %b %H:%M"
        if span < timedelta(days=4)
        else "%d %b"
        if span < timedelta(days=300)
        else "%b %Y"
    )
    parts = 2 if span < timedelta(days=4) else 3  # longer texts, fewer of them
    return tuple(
        Tick(round(part / parts * 100, 2), f"{begin + span * part / parts:{form}}".lstrip("0"))
        for part in range(parts + 1)
    )
