"""The desk where analysts are served: who asks, whether they may, charge once, answer once, record.

A question is charged under the key of its request, and its answer is recorded before it leaves. So
a request that is sent again gets the recorded answer; where the service died between charge and
answer, it is answered then, for the charge that stands. In no order of events do two different
answers leave for one charge.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from fractions import Fraction

import privet
from privet.budget import Budget, Cost, exact_epsilon
from privet.counts.base import CountSource, Table
from privet.counts.open import open_table
from privet.curator import Curator
from privet.curator.accounting import preview_of
from privet.errors import (
    AccessError,
    KeyReused,
    ParameterError,
    PrivetError,
    QuestionError,
    SchemaError,
    TableError,
)
from privet.ledger import Entry, Ledger, Receipt, account_digest, left
from privet.ledger.base import same_request
from privet.ledger.keyed import KeyedLedger
from privet.service import requests
from privet.service.accounts import Dataset
from privet.service.admission import Admission
from privet.service.asking import QUESTIONS, planned
from privet.service.home import Home
from privet.service.limits import Limits, TooMany
from privet.service.problems import OtherSchema, Unanswered
from privet.service.snapshots import Snapshot, SnapshotGone, Snapshots
from privet.wire.answers import cost_to, entry_to, preview_to
from privet.wire.questions import Json

_BYTES_A_TOKEN = 1 << 16  # of requests and answers: large ones count as several
_LOG = logging.getLogger(__name__)  # for the owner


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
    dataset: Dataset
    operation: str
    asked: requests.Asked
    key: str
    digest: str


class Desk:
    """All that the service does, without HTTP."""

    def __init__(self, home: Home, limits: Limits | None = None) -> None:
        self.home, self.limits = home, limits or Limits()
        self.snapshots = Snapshots(self.limits)
        self._workers = ThreadPoolExecutor(self.limits.at_once, thread_name_prefix="desk")
        self._admission = Admission(home.accounts, self.limits)
        self._tables: dict[int, tuple[Table, CountSource]] = {}
        self._opening: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()
        self._under_way: set[tuple[str, str]] = set()
        self._recorded_bytes: dict[str, int] = {}

    def close(self) -> None:
        """End all snapshots, after what is under way."""
        self.snapshots.end_all()
        self._workers.shutdown(wait=True)

    # -- who ---------------------------------------------------------------------------------------

    def admit(self, token: str | None, address: str) -> str:
        """The analyst of a token. Strangers, and analysts in a hurry, have to wait."""
        return self._admission.admit(token, address)

    def granted(self, analyst: str, name: str) -> Dataset:
        """A data set that is granted to the analyst."""
        self.home.accounts.granted(analyst, name)
        try:
            return self.home.accounts.dataset(name)
        except ParameterError:
            raise AccessError(f"no data set {name!r} is granted to you") from None

    # -- what is free ------------------------------------------------------------------------------

    def list_datasets(self, analyst: str) -> Json:
        """The data sets of an analyst."""
        names = {dataset.name for dataset in self.home.accounts.datasets()}
        grants = [
            grant
            for grant in self.home.accounts.grants(analyst)
            if not grant.over and grant.dataset in names
        ]
        return {
            "analyst": analyst,
            "datasets": [
                {"name": g.dataset, **self._money(g.dataset, analyst, g.expires)} for g in grants
            ],
        }

    def describe(self, analyst: str, dataset: Dataset) -> Json:
        """What is public about a data set, and what is left."""
        grant = self.home.accounts.granted(analyst, dataset.name)
        schema = dataset.schema
        return {
            "name": dataset.name,
            "schema": schema.to_json(),
            "fingerprint": schema.fingerprint,
            "account": account_digest(self.home.ledger.identity, dataset.name),
            **self._money(dataset.name, analyst, grant.expires),
            "spent": cost_to(self.home.ledger.spent(dataset.name, analyst)),
            "private": not schema.from_data,
            "reason": "the schema was read off the data" if schema.from_data else "",
            "version": privet.__version__,
        }

    def _money(self, dataset: str, analyst: str, expires: str) -> Json:
        ledger = self.home.ledger
        cap = ledger.cap(dataset, analyst) or ledger.cap(dataset) or Budget(0)
        return {
            "unit": cap.unit,
            "cap": str(cap.amount),
            "left": str(self.left(dataset, analyst)),
            "expires": expires or None,
        }

    def left(self, dataset: str, analyst: str) -> Fraction:
        """What an analyst can still spend."""
        return left(self.home.ledger, dataset, analyst)

    def history(self, analyst: str, dataset: Dataset, after: int, limit: int) -> Json:
        """The analyst's own charges, oldest first."""
        ledger = self.home.ledger
        entries = [entry for entry in ledger.entries(dataset.name, analyst) if entry.number > after]
        unanswered = ledger.unanswered()
        told = []
        for entry in entries[:limit]:
            answer = ledger.answer(entry.number)
            told.append(
                {
                    **entry_to(entry),
                    "answered": entry.number not in unanswered,
                    "receipt": str(Receipt.of(ledger.identity, entry, answer)),
                }
            )
        return {"entries": told, "next": told[-1]["number"] if len(entries) > limit else None}

    def preview(self, analyst: str, dataset: Dataset, plan: requests.Plan) -> Json:
        """What a plan would cost. Charges nothing."""
        cost = planned(plan)
        if plan.part is None:
            return preview_to(
                preview_of(self.home.ledger, dataset.name, analyst, cost.promised(dataset.schema))
            )
        snapshot = self._snapshot_of(analyst, dataset, plan.snapshot)
        return preview_to(snapshot.part(plan.part.division, plan.part.number).preview([cost]))

    def begin_snapshot(self, analyst: str, dataset: Dataset) -> Json:
        """A snapshot for several questions."""
        table, _ = self._reached(dataset)
        try:
            snapshot = self.snapshots.begin(analyst, dataset.id, table.source(dataset.schema))
        except TableError as error:
            raise _unreachable(dataset, error) from None
        return {"snapshot": snapshot.name, "seconds": self.limits.snapshot_idle}

    # -- what is paid for --------------------------------------------------------------------------

    def request(
        self,
        analyst: str,
        dataset: Dataset,
        operation: str,
        asked: requests.Asked,
        body: bytes,
        key: str,
        schema: str | None,
    ) -> Request:
        """A question as it came. The digest holds everything that its cost and meaning depend
        on.
        """
        if schema is not None and schema != dataset.schema.fingerprint:
            raise OtherSchema(f"data set {dataset.name!r} has another schema by now; connect again")
        parts = [str(dataset.id).encode(), dataset.name.encode(), operation.encode(), body]
        digest = hashlib.sha256(
            b"".join(b"%d:%b," % (len(part), part) for part in parts)
        ).hexdigest()
        self._admission.pay(analyst, len(body) / _BYTES_A_TOKEN)
        return Request(analyst, dataset, operation, asked, key, digest)

    def ask(self, request: Request) -> Future[Reply]:
        """Answer a question, in a thread of its own or of its snapshot."""
        name = (request.analyst, request.key)
        with self._lock:
            if name in self._under_way:
                raise TooMany("this request is being answered; send it again in a moment")
            self._under_way.add(name)
        try:
            future = self._begin(request)
        except BaseException:
            self._under_way.discard(name)
            raise
        future.add_done_callback(lambda _: self._under_way.discard(name))
        return future

    def _begin(self, request: Request) -> Future[Reply]:
        asked = request.asked
        if request.operation == "divide" and asked.part is not None:
            raise QuestionError("a group of people cannot be divided further")
        if asked.snapshot is None:
            if asked.part is not None or request.operation == "divide":
                raise SnapshotGone(
                    "people are divided, and their groups asked, within a snapshot: begin one, "
                    "and "
                    "name it"
                )
            return self._workers.submit(self._answer, request, None)
        replay = self._recorded(self.home.ledger, request)  # also when the snapshot has ended since
        if replay is not None:
            return self._workers.submit(lambda: replay)
        snapshot = self._snapshot_of(request.analyst, request.dataset, asked.snapshot)
        return snapshot.run(lambda: self._answer(request, snapshot))

    def _answer(self, request: Request, snapshot: Snapshot | None) -> Reply:
        reply = self._answer_once(request, snapshot)
        self._admission.pay(request.analyst, len(reply.answer) / _BYTES_A_TOKEN)
        part = request.asked.part
        if snapshot is None or part is None:
            return reply
        # the division's line is what paid for its groups
        return replace(reply, receipt=snapshot.receipts[part.division])

    def _answer_once(self, request: Request, snapshot: Snapshot | None) -> Reply:
        asked, dataset = request.asked, request.dataset
        part = None
        book = self.home.ledger
        if snapshot is not None and asked.part is not None:
            if self.home.ledger.charged(request.analyst, request.key) is not None:
                raise KeyReused(
                    f"the key {request.key!r} belongs to another request; use a new key"
                )
            snapshot.claim(request.key, request.digest)
            part = snapshot.part(asked.part.division, asked.part.number)
            book = part.ledger
        replay = self._recorded(book, request)
        if replay is not None:
            return replay
        keyed = KeyedLedger(
            book,
            request.analyst,
            request.key,
            request.digest,
            self._seen if part is None else _unseen,
        )
        # its connection may be dead: charge nothing more for it
        if snapshot is not None and snapshot.failed and keyed.before is None:
            raise SnapshotGone(
                "a question in this snapshot could not be answered; send that one again, or "
                "begin "
                "a new snapshot"
            )
        self._check_room(request.analyst)
        try:
            _, source = (
                self._reached(dataset) if snapshot is None else self._reached_within(dataset)
            )
            rows = source if snapshot is None else snapshot.source
            curator = (part or self._curator(request.analyst, dataset, rows)).charging(keyed)
            if isinstance(asked, requests.Divide):
                assert snapshot is not None
                reply = self._divide(snapshot, curator, keyed, asked)
            else:
                reply = _record(book, keyed, QUESTIONS[request.operation][1](curator, asked))
            self._recorded_bytes[request.analyst] += len(reply.answer)
        except PrivetError as error:
            entry = keyed.entry or keyed.before  # now, or when the request was sent before
            if entry is None:
                raise
            _LOG.warning("line %d was charged and not answered: %s", entry.number, error)
            if snapshot is not None:
                snapshot.failed = True
            raise Unanswered(entry.number) from None
        if snapshot is not None:
            snapshot.failed = False
        return reply

    def _divide(
        self, snapshot: Snapshot, curator: Curator, keyed: KeyedLedger, asked: requests.Divide
    ) -> Reply:
        cost = Cost.pure(exact_epsilon("epsilon", asked.epsilon))
        if keyed.before is None:
            curator.require([cost])
        # a source knows one division; one that is refused must not end it
        snapshot.divisions.clear()
        parts = curator.split_people(asked.n_parts, asked.epsilon)
        assert keyed.entry is not None
        told = {
            "cost": cost_to(cost.promised(curator.schema)),
            "row_cost": cost_to(cost),
            "private": curator.private,
        }
        told |= {
            "entry": entry_to(keyed.entry),
            "division": keyed.entry.number,
            "n_parts": asked.n_parts,
        }
        reply = _record(self.home.ledger, keyed, told)
        if not reply.replayed:  # else these groups were not paid for
            snapshot.divisions[keyed.entry.number] = parts
            snapshot.receipts[keyed.entry.number] = reply.receipt
        return reply

    def _recorded(self, book: Ledger, request: Request) -> Reply | None:
        """The answer that this request got before."""
        entry = book.charged(request.analyst, request.key)
        if entry is None:
            return None
        answer = book.answer(same_request(entry, request.digest).number)
        return (
            None
            if answer is None
            else Reply(answer, Receipt.of(book.identity, entry, answer), replayed=True)
        )

    def _seen(self, entry: Entry) -> None:
        self.home.witness.note(self.home.ledger, entry)

    # -- tables ------------------------------------------------------------------------------------

    def _opened(self, dataset: Dataset) -> tuple[Table, CountSource]:
        with self._lock:
            opening = self._opening.setdefault(dataset.id, threading.Lock())
        with opening:  # a database that does not respond holds up those who ask it, and nobody else
            if dataset.id not in self._tables:
                try:
                    table = open_table(dataset.place)
                    table.check_structure(dataset.schema)
                except (TableError, SchemaError) as error:
                    raise _unreachable(dataset, error) from None
                self._tables[dataset.id] = (table, table.source(dataset.schema))
            return self._tables[dataset.id]

    def _reached(self, dataset: Dataset) -> tuple[Table, CountSource]:
        """A table that can be read now: nothing is charged for one that cannot."""
        table, source = self._opened(dataset)
        try:
            table.check_reachable()
        except TableError as error:
            raise _unreachable(dataset, error) from None
        return table, source

    def _reached_within(self, dataset: Dataset) -> tuple[Table, CountSource]:
        """The same in the thread of a snapshot, whose own connection is asked: it may be dead while
        the table can be read again.
        """
        try:
            return self._reached(dataset)
        except TableError:
            self._workers.submit(self._reached, dataset).result()
            raise SnapshotGone("the database has ended this snapshot; begin a new one") from None

    def _snapshot_of(self, analyst: str, dataset: Dataset, name: str | None) -> Snapshot:
        if name is None:
            raise SnapshotGone("name the snapshot in which the people were divided")
        return self.snapshots.get(name, analyst, dataset.id)

    def _curator(self, analyst: str, dataset: Dataset, source: CountSource) -> Curator:
        return Curator.over(
            source, dataset.schema, ledger=self.home.ledger, dataset=dataset.name, analyst=analyst
        )

    def _check_room(self, analyst: str) -> None:
        """Answers are kept for ever, so that they are kept is bounded."""
        if analyst not in self._recorded_bytes:
            self._recorded_bytes[analyst] = self.home.ledger.recorded(analyst)
        if self._recorded_bytes[analyst] > self.limits.recorded:
            raise TooMany(
                (
                    "your recorded answers take all the room that is allowed; the owner can tell "
                    "what "
                    "to do"
                ),
                3600,
            )


def _unreachable(dataset: Dataset, error: PrivetError) -> TableError:
    """Where a table is, is the owner's business: an analyst hears only that it cannot be
    reached.
    """
    _LOG.warning("data set %r: %s", dataset.name, error)
    return TableError(f"the table of data set {dataset.name!r} cannot be reached")


def _unseen(_: Entry) -> None:
    """The ledger of a group of people lives in memory, and ends with its snapshot."""


def _record(book: Ledger, keyed: KeyedLedger, answer: Json) -> Reply:
    """Keep an answer; what leaves is what is kept, even if somebody was faster."""
    assert keyed.entry is not None
    body = json.dumps(answer, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    kept = book.record(keyed.entry.number, body)
    return Reply(kept, Receipt.of(book.identity, keyed.entry, kept), replayed=kept != body)
