"""What the owner sees: every budget, who spent it, and the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from privet.budget import Budget
from privet.ledger import Entry, Ledger, verify
from privet.ledger.base import compute_remaining
from privet.ledger.reservations import held_by
from privet.service.accounts import Grant
from privet.service.home import ServiceState
from privet.service.page.aside import OpenReservation, list_open_reservations
from privet.service.page.bars import Segment, stack_segments
from privet.service.page.chart import Chart, make_chart
from privet.service.page.listing import Charges, Filter, Listing, make_listing

#: How many analysts get a tone of their own: the same for all data sets if there are no more, else
#: those who spent most on each.
TONES = 6


@dataclass(frozen=True)
class AnalystShare:
    """One analyst's part of a data set's budget. ``held`` is set aside for fits, and ``left`` is
    what both caps leave beside it.
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
    """A data set's budget. No cap: nothing can be asked yet."""

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


@dataclass(frozen=True)
class Verification:
    """What the last look at the whole ledger found; nothing where it is what it was."""

    at: datetime
    found: Sequence[str] = ()
    by_hand: bool = False

    @classmethod
    def now(cls, home: ServiceState) -> Verification:
        """Look at the whole ledger."""
        return cls(datetime.now(UTC), verify(home.ledger, home.witness), by_hand=True)


@dataclass(frozen=True)
class OwnerView:
    """All that the owner's page shows."""

    accounts: Sequence[Account]
    asides: Sequence[OpenReservation]
    idle: Sequence[str]
    listing: Listing
    datasets: Sequence[str]
    analysts: Sequence[str]
    unanswered: int
    verification: Verification


def owner_view(
    home: ServiceState, charges: Charges, wanted: Filter, verification: Verification
) -> OwnerView:
    """The owner's page as of now."""
    ledger, entries, unanswered = home.ledger, charges.entries(), home.ledger.unanswered()
    asides = list_open_reservations(ledger)
    by_dataset: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_dataset[entry.dataset].append(entry)
    served = {dataset.name for dataset in home.accounts.datasets()}
    grants: dict[str, dict[str, Grant]] = defaultdict(dict)
    for grant in home.accounts.grants():
        grants[grant.dataset][grant.analyst] = grant
    names = sorted(served | set(ledger.datasets()))
    analysts = home.accounts.analysts()
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
        make_listing(entries, unanswered, wanted),
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
        return Account(name, served, None, nothing, nothing, nothing, [], [], None, len(entries))
    spent = ledger.spent(name).amount(cap.unit) or Fraction(0)
    open_ones = [one.reservation for one in asides if one.reservation.dataset == name]
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
    return Account(name, served, cap, spent, held, left, bar, shares, drawn, len(entries))


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
