"""Record refused sign-ins and questions, so that no attack can fill the log.

The first refusals of a span are recorded at once, one event each. Those after them are counted, and
recorded together at the span's end. So the log grows by a bounded number of events for each span,
and analyst, whatever anybody sends.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from privet.errors import PrivetError
from privet.service.audit_log.events import Event, Person, make_event
from privet.service.audit_log.store import AuditLog

_LOG = logging.getLogger(__name__)
#: Seconds for which refusals are counted together.
SPAN = 600.0
#: Refused questions of one analyst that are recorded one by one in a span.
IN_FULL = 20
_ADDRESSES = 10  # that are named when a span ends
_COUNTED = 1000  # addresses that are told apart within a span


@dataclass
class _Span:
    """What was refused of one analyst, or of all strangers, since it began."""

    begun: float
    in_full: int = 0
    counted: Counter[str] = field(default_factory=Counter)


class Refusals:
    """Refused attempts, recorded in a log.

    A log that cannot be written does not turn a refusal into an answer: it is told to the owner's
    own log of the service instead.
    """

    def __init__(
        self, log: AuditLog, span: float = SPAN, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log, self._span, self._clock = log, span, clock
        self._strangers: _Span | None = None
        self._analysts: dict[str, _Span] = {}
        self._lock = threading.Lock()

    def refuse_sign_in(self, address: str) -> None:
        """Record that a token was shown from this address that is not valid."""
        address = address or "an unknown address"
        with self._lock:
            if self._strangers is not None:
                seen = self._strangers.counted
                named = address in seen or len(seen) < _COUNTED
                seen[address if named else "further addresses"] += 1
                return
            self._strangers = _Span(self._clock())
        self._record(_describe_sign_ins(Counter({address: 1})))

    def refuse_question(self, analyst: str, dataset: str, asked: str, why: str) -> None:
        """Record that a question was refused: which, in words, and why."""
        if self._is_recorded(analyst, dataset):
            person = Person(analyst, "analyst")
            what, more = f"{asked}: {why}", {"asked": asked, "why": why}
            self._record(make_event(person, "question refused", what, dataset, analyst, more))

    def refuse_role(self, analyst: str) -> None:
        """Record that an analyst tried what only owners and auditors may."""
        if self._is_recorded(analyst, ""):
            person, what = Person(analyst, "analyst"), "tried what only owners and auditors may"
            self._record(make_event(person, "role refused", what, analyst=analyst))

    def _is_recorded(self, analyst: str, dataset: str) -> bool:
        """Return whether a refusal is recorded by itself; further ones of a span are counted."""
        with self._lock:
            span = self._analysts.setdefault(analyst, _Span(self._clock()))
            span.in_full += 1
            if span.in_full > IN_FULL:
                span.counted[dataset] += 1
                return False
        return True

    def flush(self, *, all_of_them: bool = False) -> None:
        """Record what was counted in spans that are over, or in all of them."""
        for event in self._end_spans(all_of_them):
            self._record(event)

    def _end_spans(self, everything: bool) -> list[Event]:
        now, events = self._clock(), []
        with self._lock:

            def is_over(span: _Span) -> bool:
                return everything or now - span.begun >= self._span

            if self._strangers is not None and is_over(self._strangers):
                if self._strangers.counted:
                    events.append(_describe_sign_ins(self._strangers.counted))
                self._strangers = None
            for analyst, span in list(self._analysts.items()):
                if is_over(span):
                    events += _describe_questions(analyst, span.counted)
                    del self._analysts[analyst]
        return events

    def _record(self, event: Event) -> None:
        try:
            self._log.append(event)
        except PrivetError as error:
            _LOG.error("cannot record in the audit log: %s; %s", error, event.what)


def _describe_sign_ins(counted: Counter[str]) -> Event:
    count, most = counted.total(), counted.most_common(_ADDRESSES)
    named = ", ".join(f"{address} ({times})" if count > 1 else address for address, times in most)
    others = len(counted) - len(most)
    more = f" and {others} other addresses" if others else ""
    tokens = "a token that is not valid" if count == 1 else f"{count} tokens that are not valid"
    what = f"{tokens}, from {named}{more}"
    particulars = {"count": count, "addresses": dict(most)}
    return make_event(Person("somebody", "stranger"), "sign-in refused", what, more=particulars)


def _describe_questions(analyst: str, counted: Counter[str]) -> list[Event]:
    """One event for each data set; there are no more of them than are granted, and one name for
    all others.
    """
    return [
        make_event(
            Person(analyst, "analyst"),
            "question refused",
            f"{count} more {'questions' if dataset else 'attempts'} were refused in the same span; "
            "they are only counted",
            dataset,
            analyst,
            {"count": count},
        )
        for dataset, count in sorted(counted.items())
    ]
