"""What is set aside for fits: by whom, since when, until when, and how to cancel it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from privet.ledger import Ledger
from privet.ledger.reservations import IDLE, Reservation


@dataclass(frozen=True)
class OpenReservation:
    """An open reservation. ``expires`` is when it ends if nobody uses it, and ``cancel`` is what
    the reader of the page types to end it now.
    """

    reservation: Reservation
    expires: datetime
    cancel: str


def list_open_reservations(ledger: Ledger, analyst: str | None = None) -> list[OpenReservation]:
    """What is set aside now, newest first: of one analyst, as they may see it, or of all."""
    ledger.expire()  # what is idle is free for the next charge, and is shown so
    listed: Sequence[Reservation] = ledger.reservations(analyst=analyst, open_only=True)
    return [
        OpenReservation(
            one,
            datetime.fromisoformat(one.touched) + IDLE,
            _owners_command(one) if analyst is None else f"curator.cancel_reservation({one.key!r})",
        )
        for one in reversed(listed)
    ]


def _owners_command(one: Reservation) -> str:
    words = ["privet", "curator", "cancel", one.analyst, one.key]
    if one.analyst.startswith("-") or one.key.startswith("-"):
        words.insert(3, "--")  # they are no options
    return shlex.join(words)
