"""Report on a data set and a period, for a data-protection officer to read and sign.

It holds what ledger and audit log say: who asked what at which epsilon, what changed, what was
refused, and whether both records are what they were. It holds no answer, no count and no row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from privet.accounting.cost import NOTHING, Budget, Cost
from privet.accounting.ledger import Entry
from privet.accounting.ledger.base import add
from privet.accounting.ledger.journal import JournalEntry
from privet.accounting.ledger.reservations import Reservation
from privet.errors import ParameterError
from privet.service.amounts import format_down, format_up
from privet.service.audit_log import Event
from privet.service.owner.desk import Desk
from privet.service.owner.history import check_days, read_ledger, read_log
from privet.service.owner.overview import Soundness, verify_all
from privet.text import escape_invisible

#: Endings of a report's file, and the template of each.
FORMS = {".html": "report.html", ".md": "report.md"}


@dataclass(frozen=True)
class Asked:
    """A question, or a fit with its questions; what it cost within the period."""

    time: str
    analyst: str
    what: str
    cost: Cost
    state: str
    questions: Sequence[Entry]
    number: int

    @property
    def is_fit(self) -> bool:
        """Whether it is a fit, whose questions are paid from one reservation."""
        return not (len(self.questions) == 1 and self.questions[0].number == self.number)


@dataclass(frozen=True)
class Spender:
    """What one analyst did within the period, and what they have now."""

    analyst: str
    questions: int
    cost: Cost
    in_all: Cost
    cap: Budget | None


@dataclass(frozen=True)
class Changed:
    """A change of rights, caps or the data set itself."""

    time: str
    who: str
    what: str


@dataclass(frozen=True)
class Report:
    """Everything that a report says."""

    dataset: str
    since: str
    until: str
    made: datetime
    made_by: str
    served: bool
    relation: str
    cap: Budget
    cost: Cost
    in_all: Cost
    spenders: Sequence[Spender]
    asked: Sequence[Asked]
    changes: Sequence[Changed]
    refusals: Sequence[Event]
    sign_ins: int
    soundness: Soundness
    ledger: tuple[str, int, str]
    audit_log: tuple[str, int, str]

    @property
    def questions(self) -> int:
        """How many questions were charged."""
        return sum(len(one.questions) for one in self.asked)

    @property
    def whole(self) -> bool:
        """Whether both records are what they were."""
        return not (self.soundness.ledger or self.soundness.audit_log)


def make_report(desk: Desk, dataset: str, since: str, until: str) -> Report:
    """Make the report of a data set, also of one that is no longer served.

    Args:
        desk: who makes it.
        dataset: its name.
        since, until: days of UTC, both included.
    """
    for name, day in (("from", since), ("to", until)):
        if not day:
            raise ParameterError(f"say which period: {name} is a day such as 2026-01-31")
    check_days(since, until)
    state, ledger = desk.state, desk.state.ledger
    cap = ledger.cap(dataset)
    if cap is None:
        known = ", ".join(map(repr, ledger.datasets())) or "none yet"
        raise ParameterError(f"no data set {dataset!r} has a budget; there are {known}")
    soundness = verify_all(desk)
    lines = read_ledger(desk, dataset, None, since, until)
    entries = [line.entry for line in lines if line.kind == "charge"]
    events = read_log(desk, None, None, since, until)
    sign_ins = [event for event in events if event.kind == "sign-in refused"]
    return Report(
        dataset,
        since,
        until,
        datetime.now(UTC),
        str(desk.person),
        dataset in {known.name for known in state.accounts.datasets()},
        str(ledger.relation(dataset) or ""),
        cap,
        _sum(entries),
        ledger.spent(dataset),
        _list_spenders(desk, dataset, entries),
        _group(entries, ledger.reservations(dataset)),
        _list_changes(dataset, lines, events),
        [event for event in events if event.is_refusal and event.dataset == dataset],
        sum(event.particulars.get("count", 1) for event in sign_ins),
        soundness,
        _find_end(ledger.identity, ledger.journal()),
        _find_end(state.audit_log.identity, state.audit_log.events()),
    )


def _sum(entries: Sequence[Entry]) -> Cost:
    total = NOTHING
    for entry in entries:
        total = add(total, entry.cost)
    return total


def _list_spenders(desk: Desk, dataset: str, entries: Sequence[Entry]) -> list[Spender]:
    ledger, by_analyst = desk.state.ledger, defaultdict(list)
    for entry in entries:
        by_analyst[entry.analyst].append(entry)
    return [
        Spender(
            analyst,
            len(asked),
            _sum(asked),
            ledger.spent(dataset, analyst),
            ledger.cap(dataset, analyst),
        )
        for analyst, asked in sorted(by_analyst.items())
    ]


def _group(entries: Sequence[Entry], reservations: Sequence[Reservation]) -> list[Asked]:
    """Put the questions of a fit together, in the order in which each began."""
    known = {reservation.number: reservation for reservation in reservations}
    groups: dict[int, list[Entry]] = {}
    for entry in entries:
        number = entry.reservation if entry.reservation in known else entry.number
        groups.setdefault(number, []).append(entry)
    asked = []
    for number, questions in groups.items():
        fit, first = known.get(number), questions[0]
        asked.append(
            Asked(
                first.time,
                first.analyst,
                first.what if fit is None else fit.what,
                _sum(questions),
                "" if fit is None else fit.state,
                questions,
                number,
            )
        )
    return asked


def _list_changes(
    dataset: str, lines: Sequence[JournalEntry], events: Sequence[Event]
) -> list[Changed]:
    """What the audit log says of the data set; caps that only the ledger knows, too."""
    about = [
        event
        for event in events
        if not event.is_refusal
        and (event.dataset == dataset or dataset in event.particulars.get("datasets", ()))
    ]
    told = [Changed(event.time, event.person, f"{event.kind}: {event.what}") for event in about]
    caps = Counter(
        (event.analyst, event.particulars.get("budget", ""))
        for event in about
        if event.kind in ("cap", "grant", "grant changed", "dataset added")
    )
    for line in lines:
        if line.kind != "cap":
            continue
        if caps[line.analyst, str(line.budget)]:
            caps[line.analyst, str(line.budget)] -= 1
        else:  # set by 0.1, or on the ledger itself
            whose = f"the cap of {line.analyst!r}" if line.analyst else "the cap of all analysts"
            what = f"ledger line {line.number}: {whose} is {line.budget}"
            told.append(Changed(line.time, "not recorded", what))
    return sorted(told, key=lambda one: one.time)


def _find_end(identity: str, lines: Any) -> tuple[str, int, str]:
    """The identity of a chain, and the number and hash of its last line."""
    last = None
    for line in lines:
        last = line
    return (identity, 0, "") if last is None else (identity, last.number, last.hash)


def render_report(report: Report, ending: str = ".html") -> str:
    """Return a report as HTML that can be printed, or as Markdown."""
    if ending not in FORMS:
        raise ParameterError(f"a report ends in {' or '.join(FORMS)}, got {ending!r}")
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(
        shown=escape_invisible if ending == ".html" else _escape_markdown,
        up=format_up,
        down=format_down,
        time=lambda text: str(text)[:19].replace("T", " "),
    )
    return environment.get_template(FORMS[ending]).render(report=report)


def _escape_markdown(text: str) -> str:
    """Analysts and owners write some of these texts."""
    return "".join(
        f"\\{char}" if char in "\\`*_{}[]<>()#+-.!|&~=$:" else char
        for char in escape_invisible(text)
    )


def last_month(today: date) -> tuple[str, str]:
    """Return the first and the last day of the month before."""
    end = date.fromordinal(today.replace(day=1).toordinal() - 1)
    return end.replace(day=1).isoformat(), end.isoformat()
