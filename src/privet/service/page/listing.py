"""List the history, filtered and paged, newest first, and what is set aside for fits.

A line of the history is a charge, a fit with its charges, or a change of caps and rights.
"""

from __future__ import annotations

import heapq
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
from privet.service.state import ServiceState

LINES = 50
STATES = {
    "": "all",
    "questions": "questions and fits",
    "answered": "answered",
    "unanswered": "without an answer",
    "changes": "caps and rights",
}
#: Events of the audit log that are part of the history; caps are lines of the ledger.
_RIGHTS = (
    "grant",
    "grant changed",
    "revoke",
    "analyst removed",
    "dataset updated",
    "dataset paused",
    "dataset resumed",
    "dataset removed",
)


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
            known = ", ".join(repr(state) for state in STATES if state)
            raise ParameterError(f"state must be one of {known}, or not be given")
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
            and (
                self.state in ("", "questions")
                or (
                    self.state != "changes"
                    and (entry.number in unanswered) == (self.state == "unanswered")
                )
            )
            and (not self.text or self.text.casefold() in f"{entry.what}\n{entry.asked}".casefold())
        )

    def fits_change(self, change: Change) -> bool:
        """Return whether a change of caps or rights is shown."""
        day = change.time[:10]
        return (
            self.state in ("", "changes")
            and self.dataset in ("", change.dataset)
            and self.analyst in ("", change.analyst)
            and (not self.since or day >= self.since)
            and (not self.until or day <= self.until)
            and (not self.text or self.text.casefold() in change.what.casefold())
        )


@dataclass(frozen=True)
class Fit:
    """A fit: a reservation and those of its charges that are shown, newest first."""

    reservation: Reservation
    charges: Sequence[Entry]
    cost: Cost

    @property
    def time(self) -> str:
        """When it was charged last."""
        return self.charges[0].time


@dataclass(frozen=True)
class Change:
    """A change of a cap or of rights, in words; ``number`` is the line of the ledger, if any."""

    time: str
    dataset: str
    analyst: str
    what: str
    who: str = ""
    number: int = 0


@dataclass(frozen=True)
class Listing:
    """One page of the history.

    ``total`` is what all charges that match cost, where they are about one data set; ``found`` and
    ``of`` count charges, and ``charges`` are those of this page.
    """

    filter: Filter
    rows: Sequence[Entry | Fit | Change]
    charges: Sequence[Entry]
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


def make_listing(
    entries: Sequence[Entry],
    unanswered: Collection[int],
    wanted: Filter,
    reservations: Sequence[Reservation] = (),
    changes: Sequence[Change] = (),
) -> Listing:
    """Make the page that a filter asks for; the last one where it asks for more.

    Args:
        entries, reservations, changes: the history, oldest first.
        unanswered: the numbers of charges without an answer.
        wanted: what is shown.
    """
    matching = (
        [entry for entry in reversed(entries) if wanted.fits(entry, unanswered)]
        if wanted.is_set
        else list(reversed(entries))
    )
    asked = _group_by_fit(matching, reservations)
    shown = [change for change in reversed(changes) if wanted.fits_change(change)]
    rows = list(heapq.merge(asked, shown, key=lambda row: row.time, reverse=True))
    pages = max(1, -(-len(rows) // LINES))
    page = min(wanted.page, pages)
    total = _sum_costs(matching) if wanted.dataset and matching else None
    part = rows[(page - 1) * LINES : page * LINES]
    charges = [
        entry
        for row in part
        if not isinstance(row, Change)
        for entry in (row.charges if isinstance(row, Fit) else [row])
    ]
    return Listing(
        wanted, part, charges, unanswered, len(matching), len(entries), page, pages, total
    )


def _group_by_fit(
    charges: Sequence[Entry], reservations: Sequence[Reservation]
) -> list[Entry | Fit | Change]:
    """Put the charges of each fit together, where the newest of them stands."""
    known = {reservation.number: reservation for reservation in reservations}
    fits: dict[int, list[Entry]] = {}
    order: list[Entry] = []
    for charge in charges:
        if charge.reservation not in known:
            order.append(charge)
        elif charge.reservation in fits:
            fits[charge.reservation].append(charge)
        else:
            fits[charge.reservation] = [charge]
            order.append(charge)
    return [
        Fit(
            known[charge.reservation],
            fits[charge.reservation],
            _sum_costs(fits[charge.reservation]),
        )
        if charge.reservation in fits
        else charge
        for charge in order
    ]


class Charges:
    """The history of a home, read again only when something was added.

    A long ledger takes a second to read.
    """

    def __init__(self, state: ServiceState) -> None:
        self._ledger, self._log = state.ledger, state.audit_log
        self._lock = threading.Lock()
        self._last = [0, 0]  # lines of the ledger and of the audit log that were read
        self._entries: list[Entry] = []
        self._caps: list[Change] = []
        self._rights: list[Change] = []

    def entries(self) -> Sequence[Entry]:
        """Return the charges, oldest first."""
        with self._lock:
            self._read_ledger()
            return self._entries

    def changes(self) -> Sequence[Change]:
        """Return the changes of caps, from the ledger, and of rights, from the audit log."""
        with self._lock:
            self._read_ledger()
            self._read_log()
            return list(heapq.merge(self._caps, self._rights, key=lambda change: change.time))

    def _read_ledger(self) -> None:
        if self._last[0] and self._ledger.line(self._last[0] + 1) is None:
            return
        entries, caps, number = [], [], 0
        for line in self._ledger.journal():
            number = line.number
            if line.kind == "charge":
                entries.append(line.entry)
            elif line.kind == "cap":
                what = f"cap of {line.analyst or 'all analysts'}: {line.budget}"
                caps.append(Change(line.time, line.dataset, line.analyst, what, number=number))
        self._entries, self._caps, self._last[0] = entries, caps, number

    def _read_log(self) -> None:
        if self._last[1] and self._log.line(self._last[1] + 1) is None:
            return
        events = self._log.events()
        self._rights = [
            Change(event.time, event.dataset, event.analyst, event.what, event.person)
            for event in events
            if event.kind in _RIGHTS
        ]
        self._last[1] = events[-1].number if events else 0


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
