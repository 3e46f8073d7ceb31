"""Hold what is known about one data set at a curator: public facts, the open snapshot, query keys.

Replies are checked before they are used: a learner never meets a table of another shape, or a
split that nobody offered.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar, get_args
from urllib.parse import quote

from privet._types import Json
from privet.accounting.cost import Cost, Unit, parse_fraction
from privet.accounting.ledger import Entry
from privet.accounting.ledger.journal import cost_from, entry_from
from privet.client.transport import KEY, Link
from privet.domain import Schema
from privet.errors import PrivetError, SnapshotEnded, Unavailable
from privet.queries.base import NotTheAnswer, expect

Answered = TypeVar("Answered")
#: How often one question of a fit is asked in another snapshot, where its own has ended.
_MOVES = 5


class Session:
    """What a curator and the groups of its people share."""

    def __init__(self, link: Link, dataset: str) -> None:
        self.link, self.dataset = link, dataset
        # in order, each once: groups of people share the receipt of their division
        self.receipts: dict[str, None] = {}
        self.snapshot_id: str | None = None
        self._path = f"/datasets/{quote(dataset, safe='')}"
        self._depth, self._lock, self._moved = 0, threading.Lock(), 0
        self._unanswered: dict[tuple[str, bytes], str] = {}
        facts = link.get(self._path)
        with understood("description of the data set"):
            self.schema = Schema.from_json(facts["schema"])
            self.unit: Unit = facts["unit"]
            self.private, self.reason = facts["private"] is True, str(facts["reason"])
            self.account = str(facts["account"])
            self.reserves = facts.get("reservations") is True  # a service of 0.1 does not
            if self.schema.fingerprint != facts["fingerprint"] or self.unit not in get_args(Unit):
                raise ValueError

    @property
    def left(self) -> Fraction:
        """Return what the analyst can still spend, as of now."""
        facts = self.link.get(self._path)
        with understood("description of the data set"):
            return parse_fraction(facts["left"])

    @property
    def spent(self) -> Cost:
        """Return what the analyst has spent, as of now."""
        facts = self.link.get(self._path)
        with understood("description of the data set"):
            return cost_from(facts["spent"])

    def history(self) -> Iterator[Charged]:
        """Return the analyst's charges, oldest first, page by page."""
        after: int | None = 0
        while after is not None:
            page = self.link.get(f"{self._path}/history?after={after}&limit=100")
            with understood("history"):
                entries = [parse_charge(line) for line in page["entries"]]
                before, after = after, page["next"]
                if after is not None and not (type(after) is int and after > before):
                    raise ValueError  # the same page for ever
            yield from entries

    @property
    def moved(self) -> int:
        """How often a fit went on in another snapshot, as the one that it had begun was gone."""
        return self._moved

    @contextmanager
    def snapshot(self, reservation: str = "") -> Iterator[None]:
        """Let all queries inside this block see the same rows.

        Blocks inside share the outermost one's. That of a ``reservation`` takes the place of the
        one that the same fit had before it was interrupted.
        """
        with self._lock:
            if self._depth == 0:
                self.snapshot_id, self._moved = self._begin(reservation), 0
            self._depth += 1
        try:
            yield
        finally:
            with self._lock:
                self._depth -= 1
                ended, self.snapshot_id = (
                    (self.snapshot_id, None) if self._depth == 0 else (None, self.snapshot_id)
                )
            if ended is not None:
                self.link.delete(f"{self._path}/snapshots/{quote(ended, safe='')}")

    def _begin(self, reservation: str = "") -> str:
        body = {"reservation": reservation} if reservation else {}
        begun = self.link.post(f"{self._path}/snapshots", _encode_body(body))
        with understood("snapshot"):
            return str(begun["snapshot"])

    def _move(self, ended: str, reservation: str) -> str:
        """Go on in another snapshot than one that has ended, if nobody else in the block did."""
        with self._lock:
            if self.snapshot_id == ended:
                self.snapshot_id = self._begin(reservation)
                self._moved += 1
            if self.snapshot_id is None:
                raise SnapshotEnded("this snapshot has ended")
            return self.snapshot_id

    def reserve(self, body: Json) -> Json:
        """Set an amount aside."""
        return self.link.post(f"{self._path}/reservations", _encode_body(body))

    def close_reservation(self, key: str, why: str, model: str) -> None:
        """End a reservation."""
        body = {"why": why, "model": model}
        self.link.post(f"{self._path}/reservations/{quote(key, safe='')}/close", _encode_body(body))

    def reservation(self, key: str) -> Json:
        """Return a reservation; empty where there is none."""
        reply = self.link.get(f"{self._path}/reservations")
        with understood("list of reservations"):
            return next((entry for entry in reply["reservations"] if entry["key"] == key), {})

    def preview(self, body: Json) -> Json:
        """Return what would be charged."""
        return self.link.post(f"{self._path}/preview", _encode_body(body))

    def ask(
        self, kind: str, body: Json, read: Callable[[Json], Answered], key: str = ""
    ) -> Answered:
        """Ask a query that is paid for, and return the answer.

        A question that got no answer keeps its key: asked again, it is the same request to the
        curator, and not charged again. A question of a fit is the same in any snapshot.
        """
        movable = "reservation" in body and "snapshot" in body and kind != "divide"
        same = {name: value for name, value in body.items() if name != "snapshot" or not movable}
        written = _encode_body(same)
        key = key or self._unanswered.pop((kind, written), "") or secrets.token_urlsafe(24)
        try:
            reply = self._post(kind, body, key, _MOVES if movable else 0)
            with understood("answer"):
                answer, receipt = read(reply["answer"]), reply["receipt"]
        except BaseException:
            self._unanswered[kind, written] = key
            raise
        if receipt:
            self.receipts[str(receipt)] = None
        return answer

    def _post(self, kind: str, body: Json, key: str, moves: int) -> Json:
        headers = {KEY: key, "Privet-Schema": self.schema.fingerprint}
        for left in range(moves, -1, -1):
            try:
                return self.link.post(f"{self._path}/{kind}", _encode_body(body), headers)
            except SnapshotEnded:  # with the service, or with the database
                if not left:
                    raise
                moved = self._move(body["snapshot"], body["reservation"])
                body = {**body, "snapshot": moved}
        raise AssertionError


def _encode_body(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


# Replies, checked before they are used.


@dataclass(frozen=True)
class Charged(Entry):
    """A charge, with the receipt that proves it and whether it was answered."""

    receipt: str = ""
    answered: bool = True


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Turn whatever goes wrong while a reply is read into one error.

    It says that the reply is not what it should be.
    """
    try:
        yield
    except (
        PrivetError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
    ) as error:
        cause = str(error) if isinstance(error, NotTheAnswer) else type(error).__name__
        raise Unavailable(
            f"the curator's {what} is not what this version of Privet expects ({cause}); if it was "
            "charged, history() lists it"
        ) from None


def parse_division(data: Json, n_parts: int) -> int:
    """Parse the number of a division into so many groups."""
    division = data["division"]
    expect(
        type(division) is int and division >= 0 and data["n_parts"] == n_parts,
        "it is another division",
    )
    return int(division)


def parse_charge(data: Json) -> Charged:
    """Parse an entry of the history."""
    entry = entry_from(data)
    return Charged(
        **{**vars(entry), "receipt": str(data["receipt"] or ""), "answered": bool(data["answered"])}
    )
