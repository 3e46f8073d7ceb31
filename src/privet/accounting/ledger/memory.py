"""Keep a ledger in memory, for as long as the process lives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from fractions import Fraction

from privet.accounting.cost import NOTHING, Budget, Cost
from privet.accounting.ledger.archive import (
    Keep,
    choose_answers,
    make_note,
    require_answer,
)
from privet.accounting.ledger.base import check_cap, check_cost, fit_charge, require_same_charge
from privet.accounting.ledger.journal import (
    Books,
    Entry,
    JournalEntry,
    cap_line,
    charge_line,
    close_line,
    current_or_latest_time,
    format_cost,
    new_identity,
    reserve_line,
)
from privet.accounting.ledger.relation import Relation, check_relation, check_stated, settle
from privet.accounting.ledger.reservations import (
    Reservation,
    State,
    Wanted,
    check_asked,
    check_charge,
    check_close,
    check_why,
    committed_by,
    describe_closing,
    format_charge_particulars,
    held_by,
    is_idle,
)


class MemoryLedger:
    """A ledger that lives as long as the process.

    Examples
    --------
    >>> import privet as pv
    >>> ledger = pv.MemoryLedger()
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1), ledger=ledger, dataset="car")
    >>> answer = curator.size(epsilon=0.25)
    >>> ledger.spent("car")
    <Cost: epsilon 0.25 (rho 0.03125)>
    """

    def __init__(self) -> None:
        self.identity = new_identity()
        self._lock = threading.Lock()
        self._lines: list[JournalEntry] = []
        self._latest = ""
        self._caps: dict[tuple[str, str | None], Budget] = {}
        self._spent: dict[tuple[str, str | None], Cost] = {}
        self._keys: dict[tuple[str, str], JournalEntry] = {}
        self._answers: dict[int, bytes] = {}
        self._reservations: dict[int, Reservation] = {}
        self._relations: dict[str, Relation] = {}

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._lock:
            check_cap(self._caps.get((dataset, None)), dataset, budget, analyst)
            self._set_cap(dataset, budget, analyst)

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._lock:
            check_cap(None, dataset, budget, None)
            if (dataset, None) not in self._caps:
                self._set_cap(dataset, budget, None)
            return self._caps[dataset, None]

    def _set_cap(self, dataset: str, budget: Budget, analyst: str | None) -> None:
        self._append(cap_line(*self._head(), dataset, analyst, budget))
        self._caps[dataset, analyst] = budget

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        return self._caps.get((dataset, analyst))

    def charge(
        self,
        dataset: str,
        analyst: str,
        cost: Cost,
        what: str,
        *,
        key: str = "",
        request: str = "",
        reservation: str = "",
        asked: str = "",
        schema: str = "",
        neighbours: str = "",
        rows_per_person: int = 0,
        person: str = "",
    ) -> Entry:
        check_cost(cost)
        check_asked(asked)
        stated = check_stated(neighbours, rows_per_person, person)
        self.expire()
        with self._lock:
            if key and (analyst, key) in self._keys:
                return require_same_charge(self._keys[analyst, key], request)
            within = None
            if reservation:
                there = self.reservation(analyst, reservation)
                within = check_charge(there, reservation, dataset, analyst, cost, schema, stated)
            known = self._relations.get(dataset)
            check_relation(dataset, known, stated)
            totals = {}
            for who in (None, analyst):
                held = (
                    Fraction(0) if within else held_by(self._list_open_reservations(dataset), who)
                )
                cap, spent = self._caps.get((dataset, who)), self.spent(dataset, who)
                totals[who] = fit_charge(cap, spent, cost, dataset, who, held)
            news = None if settle(known, stated) == known else stated
            more = format_charge_particulars(asked, news, within)
            line = charge_line(*self._head(), dataset, analyst, what, cost, key, request, more=more)
            self._append(line)
            self._spent.update({(dataset, who): total for who, total in totals.items()})
            if within:
                self._reservations[within.number] = within.after_charge(cost, self._latest)
        return line.entry

    def charged(self, analyst: str, key: str) -> Entry | None:
        line = self._keys.get((analyst, key))
        return None if line is None or line.kind != "charge" else line.entry

    def reserve(
        self,
        dataset: str,
        analyst: str,
        budget: Budget,
        what: str,
        *,
        key: str,
        request: str,
        schema: str,
        neighbours: str,
        rows_per_person: int,
        person: str = "",
    ) -> Reservation:
        wanted = Wanted(
            dataset,
            analyst,
            budget,
            what,
            key,
            request,
            schema,
            neighbours,
            rows_per_person,
            person,
        )
        self.expire()
        with self._lock:
            if (analyst, key) in self._keys:
                wanted.check_same(self._keys[analyst, key])
                return self._reservations[self._keys[analyst, key].number]
            check_relation(dataset, self._relations.get(dataset), wanted.relation)
            who = (None, analyst)
            wanted.check_room(
                {account: self._caps.get((dataset, account)) for account in who},
                {account: self.spent(dataset, account) for account in who},
                self._list_open_reservations(dataset),
            )
            line = reserve_line(
                *self._head(), dataset, analyst, what, budget, key, request, wanted.more
            )
            self._append(line)
            made = self._reservations[line.number] = Reservation.opened(line, self._latest)
            return made

    def reservation(self, analyst: str, key: str) -> Reservation | None:
        line = self._keys.get((analyst, key))
        return None if line is None else self._reservations.get(line.number)

    def reservations(
        self, dataset: str | None = None, analyst: str | None = None, *, open_only: bool = False
    ) -> list[Reservation]:
        return [
            reservation
            for reservation in list(self._reservations.values())
            if dataset in (None, reservation.dataset)
            and analyst in (None, reservation.analyst)
            and (reservation.is_open or not open_only)
        ]

    def close_reservation(
        self, analyst: str, key: str, *, why: str = "done", model: str = ""
    ) -> Reservation:
        reason = check_why(why, model)
        with self._lock:
            reservation = check_close(self.reservation(analyst, key), analyst, key, reason)
            return self._close(reservation, reason, model) if reservation.is_open else reservation

    def check_writable(self) -> None:
        pass

    def expire(self) -> list[Reservation]:
        with self._lock:
            latest = current_or_latest_time(self._latest)
            idle = [
                reservation
                for reservation in self._reservations.values()
                if is_idle(reservation, latest)
            ]
            return [self._close(reservation, "expired") for reservation in idle]

    def _close(self, reservation: Reservation, why: State, model: str = "") -> Reservation:
        line = close_line(*self._head(), *describe_closing(reservation, why, model))
        self._append(line)
        closed = self._reservations[reservation.number] = reservation.after_closing(line)
        return closed

    def committed(self, dataset: str, analyst: str | None = None) -> Fraction:
        with self._lock:
            held = held_by(self._list_open_reservations(dataset), analyst)
            cap, spent = self._caps.get((dataset, None)), self.spent(dataset, analyst)
            return committed_by(cap, spent, held, dataset)

    def relation(self, dataset: str) -> Relation | None:
        return self._relations.get(dataset)

    def record(self, number: int, answer: bytes) -> bytes:
        return require_answer(number, self._answers.setdefault(number, answer)) or answer

    def answer(self, number: int) -> bytes | None:
        return require_answer(number, self._answers.get(number))

    def archive(self, before: str, name: str, keep: Keep) -> int:
        with self._lock:
            stored = [
                (self._lines[number - 1], answer)
                for number, answer in sorted(self._answers.items())
            ]
            taken = list(choose_answers(stored, self.reservations(open_only=True), before))
            if taken:
                keep(taken)
            for one in taken:
                self._answers[one.line.number] = make_note(name, one.answer)
        return len(taken)

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        return self._spent.get((dataset, analyst), NOTHING)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        charges = [line.entry for line in self._lines if line.kind == "charge"]
        return [e for e in charges if dataset in (None, e.dataset) and analyst in (None, e.analyst)]

    def unanswered(self) -> set[int]:
        charges = {line.number for line in self._keys.values() if line.kind == "charge"}
        return charges - set(self._answers)

    def datasets(self) -> list[str]:
        return sorted(dataset for dataset, analyst in self._caps if analyst is None)

    def analysts(self, dataset: str) -> list[str]:
        return sorted(
            analyst for known, analyst in self._caps if known == dataset and analyst is not None
        )

    def journal(self) -> Iterator[JournalEntry]:
        yield from list(self._lines)

    def line(self, number: int) -> JournalEntry | None:
        return self._lines[number - 1] if 1 <= number <= len(self._lines) else None

    def recorded(self, analyst: str) -> int:
        return sum(
            len(self._answers.get(entry.number, b"")) for entry in self.entries(analyst=analyst)
        )

    def books(self) -> Books:
        with self._lock:
            caps = {
                (dataset, analyst or ""): f"{cap.unit} {cap.amount}"
                for (dataset, analyst), cap in self._caps.items()
            }
            spent = {
                (dataset, analyst or ""): format_cost(cost)
                for (dataset, analyst), cost in self._spent.items()
            }
            rows = {number: reservation.row for number, reservation in self._reservations.items()}
            return Books(list(self._lines), caps, spent, rows, dict(self._relations))

    def _list_open_reservations(self, dataset: str) -> list[Reservation]:
        return self.reservations(dataset, open_only=True)

    def _append(self, line: JournalEntry) -> None:
        """Add a line, and what follows from it at once: key, latest time, and relation."""
        self._lines.append(line)
        self._latest = max(self._latest, line.time)
        if line.key:
            self._keys[line.analyst, line.key] = line
        stated = Relation.read(line.particulars)
        settled = settle(self._relations.get(line.dataset), stated)
        if settled is not None:
            self._relations[line.dataset] = settled

    def _head(self) -> tuple[str, int]:
        """Return the hash of the last line, and the number of the next."""
        return (self._lines[-1].hash if self._lines else self.identity), len(self._lines) + 1
