"""What the owner sees: every budget, who spent it, and the ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from privet.budget import Budget
from privet.ledger import Entry, Ledger, verify
from privet.ledger.base import remaining
from privet.service.accounts import Grant
from privet.service.home import Home
from privet.service.page.bars import Segment, stacked
from privet.service.page.chart import Chart, chart
from privet.service.page.listing import Charges, Filter, Listing, listing

#: How many analysts of a data set get a tone of their own.
TONES = 6


@dataclass(frozen=True)
class Share:
    """One analyst's part of a data set's budget. ``left`` is what both caps leave; ``part`` is of all that was spent, in percent."""

    analyst: str
    tone: str
    spent: Fraction
    part: float
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
    left: Fraction
    bar: Sequence[Segment]
    shares: Sequence[Share]
    chart: Chart | None
    charges: int


@dataclass(frozen=True)
class Verification:
    """What the last look at the whole ledger found; nothing where it is what it was."""

    at: datetime
    found: Sequence[str] = ()
    by_hand: bool = False

    @classmethod
    def now(cls, home: Home) -> Verification:
        """Look at the whole ledger."""
        return cls(datetime.now(UTC), verify(home.ledger, home.witness), by_hand=True)


@dataclass(frozen=True)
class OwnerView:
    """All that the owner's page shows."""

    accounts: Sequence[Account]
    idle: Sequence[str]
    listing: Listing
    datasets: Sequence[str]
    analysts: Sequence[str]
    unanswered: int
    verification: Verification


def owner_view(home: Home, charges: Charges, wanted: Filter, verification: Verification) -> OwnerView:
    """The owner's page as of now."""
    ledger, entries, unanswered = home.ledger, charges.entries(), home.ledger.unanswered()
    by_dataset: dict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_dataset[entry.dataset].append(entry)
    served = {dataset.name for dataset in home.accounts.datasets()}
    grants = {(grant.dataset, grant.analyst): grant for grant in home.accounts.grants()}
    names = sorted(served | set(ledger.datasets()))
    analysts = home.accounts.analysts()
    return OwnerView(
        [_account(ledger, name, name in served, by_dataset[name], grants) for name in names],
        [name for name in analysts if name not in {grant.analyst for grant in grants.values()}],
        listing(entries, unanswered, wanted),
        sorted({*names, *by_dataset}),
        sorted({*analysts, *(entry.analyst for entry in entries)}),
        len(unanswered),
        verification,
    )


def _account(ledger: Ledger, name: str, served: bool, entries: Sequence[Entry], grants: Mapping[tuple[str, str], Grant]) -> Account:
    cap = ledger.cap(name)
    if cap is None:
        return Account(name, served, None, Fraction(0), Fraction(0), [], [], None, len(entries))
    spent = ledger.spent(name).amount(cap.unit) or Fraction(0)
    left = remaining(cap, ledger.spent(name))
    who = {*ledger.analysts(name), *(entry.analyst for entry in entries), *(analyst for dataset, analyst in grants if dataset == name)}
    shares = _shares(ledger, name, cap, left, who, grants)
    others = sum((share.spent for share in shares if share.tone == "rest"), Fraction(0))
    parts = [(share.tone, share.spent) for share in shares if share.tone != "rest"]
    return Account(
        name, served, cap, spent, left, stacked(cap.amount, [*parts, ("rest", others)]), shares, chart(entries, cap), len(entries)
    )


def _shares(
    ledger: Ledger, dataset: str, cap: Budget, left: Fraction, who: Collection[str], grants: Mapping[tuple[str, str], Grant]
) -> list[Share]:
    """Those who spent most come first."""
    spent = {analyst: ledger.spent(dataset, analyst).amount(cap.unit) or Fraction(0) for analyst in who}
    whole = sum(spent.values(), Fraction(0)) or Fraction(1)
    shares = []
    for place, analyst in enumerate(sorted(who, key=lambda analyst: (-spent[analyst], analyst))):
        own, tone = ledger.cap(dataset, analyst), f"tone{place + 1}" if place < TONES else "rest"
        bar = [] if own is None else stacked(own.amount, [(tone, spent[analyst])])
        free = left if own is None else min(left, max(own.amount - spent[analyst], Fraction(0)))
        part = float(spent[analyst] / whole) * 100
        shares.append(Share(analyst, tone, spent[analyst], part, own, free, bar, grants.get((dataset, analyst))))
    return shares
