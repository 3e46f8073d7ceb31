"""List charges, filtered and paged, newest first, and what is set aside for fits."""

from __future__ import annotations

import shlex
import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from urllib.parse import urlencode

from privet.accounting.cost import Cost
from privet.accounting.ledger import Entry, Ledger
from privet.accounting.ledger.base import add
from privet.accounting.ledger.reservations import IDLE, Reservation
from privet.errors import ParameterError

LINES = 50
STATES = {"": "all", "answered": "answered", "unanswered": "without an answer"}


@dataclass(frozen=True)
class Filter:
    """Which charges to show. Empty texts mean all; days are of UTC, and both are included."""

    dataset: str = ""
    analyst: str = ""
    text: str = ""
    since: str = ""
    until: str = ""
    state: str = ""
    page: int = 1

    @classmethod
    def read(cls, query: Mapping[str, str]) -> Filter:
        """Read a filter from the query of an address."""
        given = {
            name: query.get(name, "").strip()
            for name in ("dataset", "analyst", "text", "since", "until", "state")
        }
        for name, label in (("since", "from"), ("until", "to")):
            if given[name]:
                _check_day(label, given[name])
        if given["state"] not in STATES:
            raise ParameterError("state must be 'answered' or 'unanswered', or not be given")
        page = query.get("page") or "1"
        if not (page.isascii() and page.isdigit() and 1 <= len(page) <= 9):
            raise ParameterError("page must be an integer of at least 1")
        return cls(**given, page=max(1, int(page)))

    @property
    def is_set(self) -> bool:
        """Whether it leaves anything out."""
        return replace(self, page=1) != Filter()

    def query(self, page: int) -> str:
        """Return the query of an address that shows this page."""
        given = {
            name: value
            for name, value in asdict(replace(self, page=page)).items()
            if value and (name, value) != ("page", 1)
        }
        return f"?{urlencode(given)}" if given else "?"

    def fits(self, entry: Entry, unanswered: Collection[int]) -> bool:
        """Return whether a charge is shown."""
        day = entry.time[:10]
        return (
            self.dataset in ("", entry.dataset)
            and self.analyst in ("", entry.analyst)
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
            and (not self.state or (entry.number in unanswered) == (self.state == "unanswered"))
            and (not self.text or self.text.casefold() in f"{entry.what}\n{entry.asked}".casefold())
        )


@dataclass(frozen=True)
class Listing:
    """One page of charges.

    ``total`` is what all that match cost, where they are about one data set.
    """

    filter: Filter
    lines: Sequence[Entry]
    unanswered: Collection[int]
    found: int
    of: int
    page: int
    pages: int
    total: Cost | None

    @property
    def newer(self) -> str | None:
        """The address of the page before."""
        return self.filter.query(self.page - 1) if self.page > 1 else None

    @property
    def older(self) -> str | None:
        """The address of the page after."""
        return self.filter.query(self.page + 1) if self.page < self.pages else None


def make_listing(entries: Sequence[Entry], unanswered: Collection[int], wanted: Filter) -> Listing:
    """Make the page that a filter asks for; the last one where it asks for more."""
    matching = (
        [entry for entry in reversed(entries) if wanted.fits(entry, unanswered)]
        if wanted.is_set
        else list(reversed(entries))
    )
    pages = max(1, -(-len(matching) // LINES))
    page = min(wanted.page, pages)
    total = _sum_costs(matching) if wanted.dataset and matching else None
    return Listing(
        wanted,
        matching[(page - 1) * LINES : page * LINES],
        unanswered,
        len(matching),
        len(entries),
        page,
        pages,
        total,
    )


class Charges:
    """All charges of a ledger, read again only when something was spent.

    A long ledger takes a second to read.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._spent: list[tuple[str, Cost]] | None = None
        self._entries: list[Entry] = []

    def entries(self) -> Sequence[Entry]:
        """Return the charges, oldest first."""
        with self._lock:
            spent = [(dataset, self._ledger.spent(dataset)) for dataset in self._ledger.datasets()]
            if spent != self._spent:
                self._entries, self._spent = self._ledger.entries(), spent
            return self._entries


def _sum_costs(entries: Sequence[Entry]) -> Cost:
    """Summed by halves, so that the fractions stay short for long; as the ledger does, up where
    they get too long.
    """
    if len(entries) == 1:
        return entries[0].cost
    middle = len(entries) // 2
    return add(_sum_costs(entries[:middle]), _sum_costs(entries[middle:]))


def _check_day(name: str, text: str) -> None:
    try:
        good = date.fromisoformat(text).isoformat() == text
    except ValueError:
        good = False
    if not good:
        raise ParameterError(f"{name} must be a day such as 2026-01-31")


# Reservations for fits: by whom, since when, until when, and how to cancel them.


@dataclass(frozen=True)
class OpenReservation:
    """An open reservation.

    ``expires`` is when it ends if nobody uses it, and ``cancel`` is what the reader of the page
    types to end it now.
    """

    reservation: Reservation
    expires: datetime
    cancel: str


def list_open_reservations(ledger: Ledger, analyst: str | None = None) -> list[OpenReservation]:
    """List what is set aside now, newest first: of one analyst, as they may see it, or of all."""
    ledger.expire()  # what is idle is free for the next charge, and is shown so
    listed: Sequence[Reservation] = ledger.reservations(analyst=analyst, open_only=True)
    return [
        OpenReservation(
            reservation,
            datetime.fromisoformat(reservation.touched) + IDLE,
            _owners_command(reservation)
            if analyst is None
            else f"curator.cancel_reservation({reservation.key!r})",
        )
        for reservation in reversed(listed)
    ]


def _owners_command(one: Reservation) -> str:
    words = ["privet", "curator", "cancel", one.analyst, one.key]
    if one.analyst.startswith("-") or one.key.startswith("-"):
        words.insert(3, "--")  # they are no options
    return shlex.join(words)
