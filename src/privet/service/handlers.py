"""Handle analysts' requests: admit, check the grant, charge once, answer once, record.

A question is charged under the key of its request, and its answer is recorded before it leaves. So
a request that is sent again gets the recorded answer; where the service died between charge and
answer, it is answered then, for the charge that stands. In no order of events do two different
answers leave for one charge.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import privet
from privet._types import Json
from privet.accounting.cost import Budget, Cost, parse_epsilon
from privet.accounting.ledger import Entry, Ledger, Receipt, account_digest, left
from privet.accounting.ledger.archive import make_receipt
from privet.accounting.ledger.base import KeyedLedger
from privet.accounting.ledger.journal import cost_to, entry_to
from privet.accounting.ledger.reservations import Reservation
from privet.curator import Curator
from privet.curator.account import charging, ledger_of, preview_cost, require_at_least
from privet.curator.recorded import Recorded, answer_and_record, replay_answer
from privet.errors import (
    AccessError,
    KeyReused,
    ParameterError,
    PrivetError,
    QuestionError,
    ReservationClosed,
    SchemaError,
    TableError,
)
from privet.queries import Answer, check_query
from privet.service import requests
from privet.service.accounts import RegisteredDataset
from privet.service.admission import Admission
from privet.service.audit_log import Person, Refusals
from privet.service.audit_log.words import describe_request
from privet.service.departure import Departure, deadline
from privet.service.forward import is_passed_on
from privet.service.health import Health
from privet.service.limits import Limits, MemoryGate, OutOfTime, TooMany
from privet.service.oidc.directory import Directory
from privet.service.owner.desk import NotAllowed
from privet.service.problems import (
    DatasetPaused,
    OtherSchema,
    Unanswered,
    Unauthorised,
    Unfinished,
    status_of,
)
from privet.service.shared import Shared
from privet.service.snapshots import Snapshot, SnapshotGone, Snapshots
from privet.service.state import ServiceState
from privet.service.workers import Attempt, TimedLedger, Workers
from privet.tables.base import CountSource, Table, TimeLimited
from privet.tables.open import open_table

if TYPE_CHECKING:
    from starlette.types import Scope

    from privet.service.oidc.provider import Provider

_LOG = logging.getLogger(__name__)  # for the owner
_MEMORY = MemoryGate(2 << 30)  # bytes that all large queries under way may need together


@dataclass(frozen=True)
class Reply:
    """A recorded answer (JSON) with its receipt, and whether it had been recorded before."""

    answer: bytes
    receipt: Receipt
    replayed: bool


@dataclass(frozen=True)
class Request:
    """A question as it came: who asks about what, under which key, and the digest of all that."""

    analyst: str
    dataset: RegisteredDataset
    operation: str
    body: Json
    key: str
    digest: str
    departure: Departure


Work = Callable[[Attempt[Reply]], Reply]


class RequestHandlers:
    """Handle every request of an analyst, without HTTP."""

    def __init__(
        self,
        state: ServiceState,
        limits: Limits | None = None,
        provider: Provider | None = None,
    ) -> None:
        self.state, self.limits = state, limits or Limits()
        self.directory = Directory(state.accounts, provider)
        self.shared = Shared(state.path)
        self.snapshots = Snapshots(self.limits, self.shared)
        self._workers = Workers(self.limits)
        self._admission = Admission(self.directory, self.limits, self.shared)
        self._tables: dict[int, tuple[str, Table, CountSource]] = {}
        self._opening: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        self._recorded_bytes: dict[str, int] = {}
        self.refusals = Refusals(state.audit_log)
        self.health = Health(state, self._reached)
        state.accounts.note_time(max((line.time for line in state.ledger.journal()), default=""))

    def close(self) -> None:
        """End all snapshots, after the requests that are under way."""
        self.health.close()
        self.snapshots.end_all()
        self._workers.close()
        self.shared.close()
        self.refusals.flush(all_of_them=True)

    # -- who ---------------------------------------------------------------------------------------

    def admit(self, token: str | None, address: str, path: str = "") -> Hashable:
        """Return the analyst of a token.

        Strangers, and analysts who ask too often, have to wait.
        """
        if path.startswith("/v1/owner/"):
            person = self.admit_visitor(token, address)
            if person.role == "analyst":
                self.refusals.refuse_role(person.name)
                raise NotAllowed("this is for owners and auditors; an analyst asks at /v1/datasets")
            return person
        with self._noting_strangers(token, address):
            return self._admission.admit(token, address)

    def admit_passed_on(self, token: str | None, scope: Scope) -> str | None:
        """Return the analyst of a request that another process passed on; None of all others."""
        if not is_passed_on(scope, self.shared.secret):
            return None
        return self._admission.admit_passed_on(token)

    def admit_visitor(self, token: str | None, address: str) -> Person:
        """Return whose token it is: an owner's, an auditor's or an analyst's."""
        with self._noting_strangers(token, address):
            return self._admission.admit_visitor(token, address)

    @contextmanager
    def _noting_strangers(self, token: str | None, address: str) -> Iterator[None]:
        """Record where a token came from that is not known."""
        try:
            yield
        except Unauthorised:
            if token:
                self.refusals.refuse_sign_in(address)
            raise

    @contextmanager
    def noting_refusals(
        self, analyst: str, dataset: str, operation: str, body: Json | None = None
    ) -> Iterator[None]:
        """Record that a question of an analyst is refused in this block.

        One that has to wait, or that could not be answered now, is not refused.
        """
        try:
            yield
        except PrivetError as error:
            self.note_refusal(analyst, dataset, operation, body, error)
            raise

    def note_refusal(
        self, analyst: str, dataset: str, operation: str, body: Json | None, error: PrivetError
    ) -> None:
        """Record a refused question, unless it may only have to wait."""
        if status_of(error) >= 500 or isinstance(error, TooMany):
            return
        registered = {known.name: known for known in self.state.accounts.datasets()}
        schema = registered[dataset].schema if dataset in registered else None
        asked = describe_request(operation, body, schema)
        if schema is None:  # a name that means nothing is no account of the log
            asked, dataset = f"{asked} of data set {dataset[:200]!r}", ""
        self.refusals.refuse_question(analyst, dataset, asked, str(error))

    def pay_for_size(self, analyst: str, size: int) -> None:
        """Count a request or an answer of so many bytes as several, if it is large."""
        self._admission.pay(analyst, size / self.limits.volume)

    def granted(self, analyst: str, name: str) -> RegisteredDataset:
        """Return a data set that is granted to the analyst, paused or not."""
        with self.noting_refusals(analyst, name, ""):
            self.state.accounts.granted(analyst, name)
            try:
                return self.state.accounts.dataset(name)
            except ParameterError:
                raise AccessError(f"no data set {name!r} is granted to you") from None

    def served(self, analyst: str, dataset: RegisteredDataset) -> RegisteredDataset:
        """Return a data set that is granted, unless its owner has paused it."""
        if dataset.paused is not None:
            with self.noting_refusals(analyst, dataset.name, ""):
                raise DatasetPaused(
                    f"the owner has paused data set {dataset.name!r}; nothing was charged, and "
                    "what you asked before is in your history: ask again when it is resumed"
                )
        return dataset

    # -- what is free ------------------------------------------------------------------------------

    def list_datasets(self, analyst: str) -> Json:
        """List the data sets of an analyst."""
        names = {dataset.name for dataset in self.state.accounts.datasets()}
        grants = [
            grant
            for grant in self.state.accounts.grants(analyst)
            if not grant.over and grant.dataset in names
        ]
        return {
            "analyst": analyst,
            "datasets": [
                {"name": g.dataset, **self._describe_budget(g.dataset, analyst, g.expires)}
                for g in grants
            ],
        }

    def describe(self, analyst: str, dataset: RegisteredDataset) -> Json:
        """Describe what is public about a data set, and what is left."""
        grant = self.state.accounts.granted(analyst, dataset.name)
        schema = dataset.schema
        return {
            "name": dataset.name,
            "schema": schema.to_json(),
            "fingerprint": schema.fingerprint,
            "account": account_digest(self.state.ledger.identity, dataset.name),
            **self._describe_budget(dataset.name, analyst, grant.expires),
            "spent": cost_to(self.state.ledger.spent(dataset.name, analyst)),
            "private": not schema.from_data,
            "reason": "the schema was read off the data" if schema.from_data else "",
            "reservations": True,
            "least_epsilon": str(self.state.least_epsilon),
            "version": privet.__version__,
        }

    def _describe_budget(self, dataset: str, analyst: str, expires: str) -> Json:
        ledger = self.state.ledger
        cap = ledger.cap(dataset, analyst) or ledger.cap(dataset) or Budget(0)
        return {
            "unit": cap.unit,
            "cap": str(cap.amount),
            "left": str(self.left(dataset, analyst)),
            "expires": expires or None,
        }

    def left(self, dataset: str, analyst: str) -> Fraction:
        """Return what an analyst can still spend."""
        return left(self.state.ledger, dataset, analyst)

    def history(self, analyst: str, dataset: RegisteredDataset, after: int, limit: int) -> Json:
        """Return the analyst's own charges, oldest first."""
        ledger = self.state.ledger
        entries = [entry for entry in ledger.entries(dataset.name, analyst) if entry.number > after]
        unanswered = ledger.unanswered()
        charges = [
            {
                **entry_to(entry),
                "answered": entry.number not in unanswered,
                "receipt": str(make_receipt(ledger, entry)),
            }
            for entry in entries[:limit]
        ]
        return {"entries": charges, "next": charges[-1]["number"] if len(entries) > limit else None}

    def preview(self, analyst: str, dataset: RegisteredDataset, plan: Json) -> Json:
        """Return what a plan would cost, without charging anything."""
        cost, rows = requests.parse_planned(plan), requests.rows_of(plan)
        if rows.part is None:
            promised = cost.promised(dataset.schema)
            if rows.reservation:
                there = self._reservation(analyst, dataset, rows.reservation)
                return preview_cost(there.left, there.unit, promised).to_json()
            cap = self.state.ledger.cap(dataset.name) or Budget(0)
            remaining = self.left(dataset.name, analyst)
            return preview_cost(remaining, cap.unit, promised).to_json()
        snapshot = self._snapshot_of(analyst, dataset, rows.snapshot)
        return snapshot.part(*rows.part).preview([cost]).to_json()

    def reserve(self, analyst: str, dataset: RegisteredDataset, body: Json) -> Json:
        """Set an amount aside for several queries."""
        cost = requests.parse_reserved(body)
        if not cost.rho:
            raise ParameterError("a reservation must be above zero")
        what = "".join(char if char.isprintable() else "?" for char in body["what"])
        _, source = self._opened(dataset)
        self._curator(analyst, dataset, source).reserve(cost, what, body["key"])
        return _reservation_to(self._reservation(analyst, dataset, body["key"]))

    def close_reservation(
        self, analyst: str, dataset: RegisteredDataset, key: str, body: Json
    ) -> Json:
        """End a reservation of the analyst."""
        self._reservation(analyst, dataset, key)
        model = body.get("model") or ""
        return _reservation_to(
            self.state.ledger.close_reservation(analyst, key, why=body["why"], model=model)
        )

    def list_reservations(self, analyst: str, dataset: RegisteredDataset) -> Json:
        """List the reservations of the analyst, newest last."""
        self.state.ledger.expire()  # those that nobody used are told as what they are
        listed = self.state.ledger.reservations(dataset.name, analyst)
        return {"reservations": [_reservation_to(reservation) for reservation in listed[-1000:]]}

    def _reservation(self, analyst: str, dataset: RegisteredDataset, key: str) -> Reservation:
        there = self.state.ledger.reservation(analyst, key)
        if there is None or there.dataset != dataset.name:
            raise ReservationClosed(f"you have no reservation {key!r} on this data set")
        return there

    def reach(self, analyst: str, dataset: RegisteredDataset) -> Attempt[None]:
        """Open a table, among the questions about its data set: it may not respond."""
        return self._workers.submit(
            dataset.id, analyst, Attempt(lambda _: self._opened(dataset) and None)
        )

    def begin_snapshot(
        self, analyst: str, dataset: RegisteredDataset, reservation: str = ""
    ) -> Attempt[Json]:
        """Begin a snapshot for several queries, among the questions about its data set."""
        return self._workers.submit(
            dataset.id,
            analyst,
            Attempt(lambda _: self._begin_snapshot(analyst, dataset, reservation)),
        )

    def _begin_snapshot(self, analyst: str, dataset: RegisteredDataset, reservation: str) -> Json:
        table, _ = self._reached(dataset)
        source = table.source(dataset.schema)
        try:
            snapshot = self.snapshots.begin(analyst, dataset.id, source, reservation)
        except TableError as error:
            raise _unreachable_error(dataset, error) from None
        return {"snapshot": snapshot.name, "seconds": self.limits.snapshot_idle}

    # -- what is paid for --------------------------------------------------------------------------

    def request(
        self,
        analyst: str,
        dataset: RegisteredDataset,
        operation: str,
        body: Json,
        written: bytes,
        key: str,
        schema: str | None,
        departure: Departure | None = None,
    ) -> Request:
        """Make a request of a query as it came.

        The digest holds everything that its cost and meaning depend on.
        """
        if schema is not None and schema != dataset.schema.fingerprint:
            raise OtherSchema(f"data set {dataset.name!r} has another schema by now; connect again")
        if body.get("reservation"):
            # A fit that goes on asks the same in another snapshot.
            same = {name: value for name, value in body.items() if name != "snapshot"}
            written = json.dumps(same, sort_keys=True).encode()
        parts = [str(dataset.id).encode(), dataset.name.encode(), operation.encode(), written]
        digest = hashlib.sha256(
            b"".join(b"%d:%b," % (len(part), part) for part in parts)
        ).hexdigest()
        departure = departure or Departure(self.limits.first_step)
        return Request(analyst, dataset, operation, body, key, digest, departure)

    def ask(self, request: Request) -> Attempt[Reply]:
        """Answer a question, in a thread of its own or of its snapshot."""
        name = (request.analyst, request.key)
        with self._lock:
            if name in self._under_way:
                raise TooMany("this request is being answered; send it again in a moment")
            self._under_way.add(name)
        try:
            attempt = self._begin(request)
        except BaseException:
            self._under_way.discard(name)
            raise
        return attempt

    async def answer(self, attempt: Attempt[Reply], request: Request) -> Reply:
        """Return the answer of an attempt, or raise what became of it when its time is over."""
        try:
            return await attempt.wait(self.limits)
        except OutOfTime:
            if not attempt.begun.done():  # nobody will work on it, so it may be sent again
                self._under_way.discard((request.analyst, request.key))
            charged = self.state.ledger.charged  # also when the request was sent before
            entry = attempt.entry or await asyncio.to_thread(charged, request.analyst, request.key)
            if entry is None:
                raise
            raise Unfinished(entry.number) from None

    def _begin(self, request: Request) -> Attempt[Reply]:
        rows = requests.rows_of(request.body)
        if request.operation == "divide" and rows.part is not None:
            raise QuestionError("a group of people cannot be divided further")
        if rows.snapshot is None:
            if rows.part is not None or request.operation == "divide":
                raise SnapshotGone(
                    "people are divided, and their groups asked, within a snapshot: begin one, and "
                    "name it"
                )
            return self._submit(request, lambda attempt: self._answer(request, None, attempt))
        # also when the snapshot has ended since
        replay = replay_answer(self._keyed(self.state.ledger, request))
        if replay is not None:
            return self._submit(request, lambda _: self._reply(self.state.ledger, replay))
        snapshot = self._snapshot_of(request.analyst, request.dataset, rows.snapshot)
        attempt = self._attempt(request, lambda one: self._answer(request, snapshot, one))
        snapshot.run(attempt.run)
        return attempt

    def _submit(self, request: Request, work: Work) -> Attempt[Reply]:
        attempt = self._attempt(request, work)
        return self._workers.submit(request.dataset.id, request.analyst, attempt)

    def _attempt(self, request: Request, work: Work) -> Attempt[Reply]:
        """An attempt after which the request may be sent again."""
        attempt = Attempt(work)
        name = (request.analyst, request.key)
        attempt.outcome.add_done_callback(lambda _: self._under_way.discard(name))
        return attempt

    def _answer(
        self, request: Request, snapshot: Snapshot | None, attempt: Attempt[Reply]
    ) -> Reply:
        reply = self._answer_once(request, snapshot, attempt)
        self.pay_for_size(request.analyst, len(reply.answer))
        part = requests.rows_of(request.body).part
        if snapshot is None or part is None:
            return reply
        # the division's entry is what paid for its groups
        return replace(reply, receipt=snapshot.receipts[part[0]])

    def _answer_once(
        self, request: Request, snapshot: Snapshot | None, attempt: Attempt[Reply]
    ) -> Reply:
        """Answer a query for its charge, now or when it was sent before."""
        rows, part = requests.rows_of(request.body), None
        book: Ledger = self.state.ledger
        if snapshot is not None and rows.part is not None:
            if self.state.ledger.charged(request.analyst, request.key) is not None:
                raise KeyReused(
                    f"the key {request.key!r} belongs to another request; use a new key"
                )
            snapshot.claim(request.key, request.digest)
            part = snapshot.part(*rows.part)
            book = ledger_of(part)
        keyed = self._keyed(book, request, attempt)
        replay = replay_answer(keyed)
        if replay is not None:
            return self._reply(book, replay)
        # its connection may be dead: charge nothing more for it
        if snapshot is not None and snapshot.failed and keyed.before is None:
            raise SnapshotGone(
                "a question in this snapshot could not be answered; send that one again, or begin "
                "a new snapshot"
            )
        self._check_room(request.analyst)
        groups: list[Curator] = []
        try:
            kept = answer_and_record(
                keyed, lambda: self._charge_and_answer(request, keyed, snapshot, part, groups)
            )
            assert kept is not None  # the service has no public tables, so everything is charged
        except PrivetError as error:
            entry = keyed.entry or keyed.before  # now, or when the request was sent before
            if entry is None:
                raise
            keyed.hold()
            _LOG.warning("line %d was charged and not answered: %s", entry.number, error)
            if snapshot is not None:
                snapshot.failed = True
            if isinstance(error, SnapshotGone):
                raise SnapshotGone(
                    f"{error}; line {entry.number} of the ledger has charged the question, and a "
                    "fit gets its answer for that charge in another snapshot"
                ) from None
            raise Unanswered(entry.number) from None
        self._recorded_bytes[request.analyst] += len(kept.answer)
        reply = self._reply(book, kept)
        if snapshot is not None:
            snapshot.failed = False
            # Else the groups that were paid for are those of another snapshot, which was faster.
            if groups and not kept.replayed:
                snapshot.divisions[kept.entry.number] = groups
                snapshot.receipts[kept.entry.number] = reply.receipt
        return reply

    def _charge_and_answer(
        self,
        request: Request,
        keyed: KeyedLedger,
        snapshot: Snapshot | None,
        part: Curator | None,
        groups: list[Curator],
    ) -> bytes:
        """Charge a query and work out its answer. ``groups`` gets those of a division."""
        dataset = request.dataset
        _, source = (
            self._reached(dataset) if snapshot is None else self._reach_within_snapshot(dataset)
        )
        rows = source if snapshot is None else snapshot.source
        curator = part or self._curator(request.analyst, dataset, rows)
        curator = charging(curator, keyed)
        if part is None:
            curator = curator.within(requests.rows_of(request.body).reservation)
        if keyed.before is None:  # who has no budget left is refused before any work is planned
            self.state.check_witnesses()  # nothing is charged that could not be noted
            require_at_least(curator, requests.least_cost_of(request.body))
        if request.operation == "divide":
            assert snapshot is not None
            answer = self._divide(snapshot, curator, keyed, request.body, groups)
        else:
            answer = self._ask(curator, request)
        return _encode_json(answer)

    def _ask(self, curator: Curator, request: Request) -> Json:
        body = request.body
        asked = check_query(
            requests.query_of(request.operation, curator.schema, body), curator.schema
        )
        requests.check_load(asked.load, len(curator.schema.names))
        request.departure.due = deadline(asked.load, curator.schema, self.limits)
        with _MEMORY.taken(asked.load.memory):
            answer: Answer = curator.ask(asked, body.get("epsilon"), rho=body.get("rho"))
            return answer.to_json()

    @staticmethod
    def _divide(
        snapshot: Snapshot,
        curator: Curator,
        keyed: KeyedLedger,
        body: Json,
        groups: list[Curator],
    ) -> Json:
        n_parts, cost = body["n_parts"], Cost.pure(parse_epsilon("epsilon", body["epsilon"]))
        if keyed.before is None:  # in rho, it costs more than the least
            curator.require([cost])
        # a source knows one division; one that is refused must not end it
        snapshot.divisions.clear()
        groups.extend(curator.split_people(n_parts, body["epsilon"]))
        entry = keyed.entry
        assert entry is not None
        return {
            "cost": cost_to(cost.promised(curator.schema)),
            "row_cost": cost_to(cost),
            "private": curator.private,
            "entry": entry_to(entry),
            "division": entry.number,
            "n_parts": n_parts,
            # Two processes may have divided for one charge. The answer that is kept names the
            # snapshot whose groups were paid for; without it, both answers would be the same.
            "snapshot": snapshot.name,
        }

    def _keyed(
        self, book: Ledger, request: Request, attempt: Attempt[Reply] | None = None
    ) -> TimedLedger:
        """The ledger as this request sees it. That of a group of people lives in memory, and ends
        with its snapshot: no witness needs to know.
        """
        seen = self._seen if book is self.state.ledger else _ignore_entry
        names = request.analyst, request.key, request.digest
        return TimedLedger(book, *names, seen, attempt, request.departure)

    @staticmethod
    def _reply(book: Ledger, kept: Recorded) -> Reply:
        receipt = Receipt.of(book.identity, kept.entry, kept.answer)
        return Reply(kept.answer, receipt, kept.replayed)

    def _seen(self, entry: Entry) -> None:
        self.state.accounts.note_time(entry.time)
        self.state.note(entry)

    # -- tables ------------------------------------------------------------------------------------

    def _opened(self, dataset: RegisteredDataset) -> tuple[Table, CountSource]:
        with self._lock:
            opening = self._opening.setdefault(dataset.id, threading.Lock())
        with opening:  # a database that does not respond holds up those who ask it, and nobody else
            known = self._tables.get(dataset.id)
            if known is None or known[0] != dataset.place:  # its owner may give it another place
                try:
                    table = open_table(dataset.place)
                    if isinstance(table, TimeLimited):
                        table.limit_time(self.limits.work, self.limits.lock)
                    table.check_structure(dataset.schema)
                except (TableError, SchemaError) as error:
                    raise _unreachable_error(dataset, error) from None
                known = (dataset.place, table, table.source(dataset.schema))
                self._tables[dataset.id] = known
            return known[1:]

    def _reached(self, dataset: RegisteredDataset) -> tuple[Table, CountSource]:
        """A table that can be read now, and has the columns of its schema: nothing is charged for
        one that cannot, or has not.
        """
        table, source = self._opened(dataset)
        try:
            table.check_reachable()
            table.check_structure(dataset.schema)
        except (TableError, SchemaError) as error:
            raise _unreachable_error(dataset, error) from None
        return table, source

    def _reach_within_snapshot(self, dataset: RegisteredDataset) -> tuple[Table, CountSource]:
        """The same in the thread of a snapshot, whose own connection is asked: it may be dead while
        the table can be read again.
        """
        try:
            return self._reached(dataset)
        except TableError:
            reaching = self._workers.submit(
                dataset.id, "", Attempt(lambda _: self._reached(dataset))
            )
            try:
                reaching.outcome.result(self.limits.wait)
            except TimeoutError:
                reaching.give_up()
                raise OutOfTime from None
            raise SnapshotGone("the database has ended this snapshot; begin a new one") from None

    def _snapshot_of(self, analyst: str, dataset: RegisteredDataset, name: str | None) -> Snapshot:
        if name is None:
            raise SnapshotGone("name the snapshot in which the people were divided")
        return self.snapshots.get(name, analyst, dataset.id)

    def _curator(self, analyst: str, dataset: RegisteredDataset, source: CountSource) -> Curator:
        return Curator.over(
            source,
            dataset.schema,
            ledger=self.state.ledger,
            dataset=dataset.name,
            analyst=analyst,
            least_epsilon=self.state.least_epsilon,
        )

    def _check_room(self, analyst: str) -> None:
        """Answers are kept for ever, so that they are kept is bounded."""
        if analyst not in self._recorded_bytes:
            self._recorded_bytes[analyst] = self.state.ledger.recorded(analyst)
        if self._recorded_bytes[analyst] > self.limits.recorded:
            raise TooMany(
                (
                    "your recorded answers take all the room that is allowed; the owner can tell "
                    "what to do"
                ),
                3600,
            )


def _unreachable_error(dataset: RegisteredDataset, error: PrivetError) -> TableError:
    """Where a table is, is the owner's business: an analyst hears only that it cannot be
    reached.
    """
    _LOG.warning("data set %r: %s", dataset.name, error)
    return TableError(f"the table of data set {dataset.name!r} cannot be reached")


def _ignore_entry(_: Entry) -> None:
    """Nobody needs to know."""


def _reservation_to(there: Reservation) -> Json:
    """A reservation, as its analyst may see it."""
    names = ("number", "time", "key", "what", "unit", "state", "touched")
    amounts = {name: str(getattr(there, name)) for name in ("reserved", "charged", "left")}
    return {**{name: getattr(there, name) for name in names}, **amounts}


def _encode_json(answer: Json) -> bytes:
    return json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
