"""Let an owner change something, and record it in the audit log before it takes effect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from privet.errors import AccessError, ParameterError, PrivetError
from privet.service.accounts import RegisteredDataset
from privet.service.audit_log.events import Event, Person, make_event
from privet.service.state import ServiceState

#: Characters of a reason that an owner gives.
_LONGEST_REASON = 500


class NotAllowed(AccessError):
    """Somebody is known, and their role does not allow this."""


@dataclass(frozen=True)
class Outcome:
    """What was done, in words.

    ``event`` is its line in the audit log, ``token`` one that is shown this once, and ``warnings``
    are what the owner should know.
    """

    said: str
    event: int = 0
    token: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Desk:
    """Where somebody changes what a curator grants.

    ``over_http`` says that they are not at the curator's machine, so that they may only name places
    that its administrator has allowed.
    """

    state: ServiceState
    person: Person
    over_http: bool = False

    @contextmanager
    def changing(
        self,
        kind: str,
        what: str,
        dataset: str = "",
        analyst: str = "",
        why: str = "",
        **more: Any,
    ) -> Iterator[Event]:
        """Record a change, then let the block make it.

        The record comes first, as a charge does: there is no change without one. Where the change
        fails, that is recorded, too.

        Args:
            kind: what kind of change, such as ``"grant"``.
            what: the change in words, without passwords and tokens.
            dataset, analyst: whom it is about.
            why: the reason that the owner gives.
            more: particulars for machines.
        """
        self.require_owner(kind, dataset, analyst)
        given = check_reason(why)
        told = f"{what} ({given})" if given else what
        particulars = {name: value for name, value in more.items() if value not in (None, "")}
        if given:
            particulars["why"] = given
        log = self.state.audit_log
        event = log.append(make_event(self.person, kind, told, dataset, analyst, particulars))
        self.state.audit_witness.note(log, event)
        try:
            yield event
        except BaseException as error:
            reason = str(error) if isinstance(error, PrivetError) else type(error).__name__
            failed = f"line {event.number} did not take effect, or not all of it: {reason}"
            log.append(make_event(self.person, "change failed", failed, dataset, analyst))
            raise

    def require_owner(self, kind: str, dataset: str = "", analyst: str = "") -> None:
        """Raise, and record it, if this person may not change anything."""
        if self.person.role in ("owner", "administrator"):
            return
        self.state.audit_log.append(
            make_event(self.person, "change refused", f"tried to: {kind}", dataset, analyst)
        )
        raise NotAllowed(
            f"an {self.person.role} reads everything and changes nothing; ask an owner to do this"
        )

    def dataset(self, name: str) -> RegisteredDataset:
        """Return the registered table of this name."""
        return self.state.accounts.dataset(name)

    def check_analyst(self, name: str) -> None:
        """Raise unless there is such an analyst."""
        analysts = self.state.accounts.analysts()
        if name not in analysts:
            names = ", ".join(map(repr, analysts)) or "none yet"
            raise ParameterError(f"no analyst {name!r}; there are {names}")


def check_reason(why: str) -> str:
    """Return the reason that an owner gives for a change, or raise."""
    why = why.strip()
    if len(why) > _LONGEST_REASON or not (why.isprintable() or not why):
        raise ParameterError(
            f"a reason must be one line of at most {_LONGEST_REASON} printable characters"
        )
    return why


_SPANS = {"d": "days", "h": "hours", "m": "minutes"}


def parse_span(name: str, text: str) -> timedelta:
    """Return a span such as 30d, 12h or 90m."""
    if len(text) > 1 and text[-1] in _SPANS and text.isascii() and text[:-1].isdigit():
        with suppress(OverflowError):
            return timedelta(**{_SPANS[text[-1]]: int(text[:-1])})
    raise ParameterError(f"{name} must be a span such as 30d, 12h or 90m, got {text!r}")


#: What is written in place of a time for what has no end.
NEVER = "never"


def parse_end(text: str) -> datetime | None:
    """Return a time to come that is written like an expiry, or None for "never"."""
    if text.strip().lower() == NEVER:
        return None
    ends = parse_expiry(text)
    if ends <= datetime.now(UTC):
        raise ParameterError(f"until must be a time to come, got {text!r}")
    return ends


def parse_expiry(text: str) -> datetime:
    """Return the time that is written as a date, an ISO time, or a span from now."""
    try:
        if text[-1] in _SPANS and text.isascii() and text[:-1].isdigit():
            return datetime.now(UTC) + parse_span("until", text)
        when = datetime.fromisoformat(text)
    except (ValueError, OverflowError, IndexError):
        raise ParameterError(
            f"until must be a date, an ISO time, or a span such as 30d, 12h or 90m, got {text!r}"
        ) from None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)
