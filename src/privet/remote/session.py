"""One data set at a curator: its public facts, the snapshot that is open, and the keys of its
questions.
"""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TypeVar, get_args
from urllib.parse import quote

from privet.budget import Cost, Unit, parse_fraction
from privet.ledger.as_json import cost_from
from privet.remote.replies import Charged, parse_charge, understood
from privet.remote.transport import KEY, Link
from privet.schema import Schema
from privet.typed import Json

Answered = TypeVar("Answered")


class Session:
    """What a curator and the groups of its people share."""

    def __init__(self, link: Link, dataset: str) -> None:
        self.link, self.dataset = link, dataset
        # in order, each once: groups of people share the receipt of their division
        self.receipts: dict[str, None] = {}
        self.snapshot_id: str | None = None
        self._path = f"/datasets/{quote(dataset, safe='')}"
        self._depth, self._lock = 0, threading.Lock()
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
        """What the analyst can still spend, as of now."""
        facts = self.link.get(self._path)
        with understood("description of the data set"):
            return parse_fraction(facts["left"])

    @property
    def spent(self) -> Cost:
        """What the analyst has spent, as of now."""
        facts = self.link.get(self._path)
        with understood("description of the data set"):
            return cost_from(facts["spent"])

    def history(self) -> Iterator[Charged]:
        """The analyst's charges, oldest first, page by page."""
        after: int | None = 0
        while after is not None:
            page = self.link.get(f"{self._path}/history?after={after}&limit=100")
            with understood("history"):
                entries = [parse_charge(line) for line in page["entries"]]
                before, after = after, page["next"]
                if after is not None and not (type(after) is int and after > before):
                    raise ValueError  # the same page for ever
            yield from entries

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside this block all questions see the same rows. Blocks inside share the outermost
        one's.
        """
        with self._lock:
            if self._depth == 0:
                self.snapshot_id = self._begin()
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

    def _begin(self) -> str:
        begun = self.link.post(f"{self._path}/snapshots", b"{}")
        with understood("snapshot"):
            return str(begun["snapshot"])

    def reserve(self, body: Json) -> Json:
        """Set an amount aside."""
        return self.link.post(f"{self._path}/reservations", _encode_body(body))

    def close_reservation(self, key: str, why: str, model: str) -> None:
        """End a reservation."""
        body = {"why": why, "model": model}
        self.link.post(f"{self._path}/reservations/{quote(key, safe='')}/close", _encode_body(body))

    def reservation(self, key: str) -> Json:
        """A reservation; empty where there is none."""
        told = self.link.get(f"{self._path}/reservations")
        with understood("list of reservations"):
            return next((one for one in told["reservations"] if one["key"] == key), {})

    def preview(self, body: Json) -> Json:
        """What would be charged."""
        return self.link.post(f"{self._path}/preview", _encode_body(body))

    def ask(
        self, kind: str, body: Json, read: Callable[[Json], Answered], key: str = ""
    ) -> Answered:
        """The answer to a question that is paid for.

        A question that got no answer keeps its key: asked again, it is the same request to the
        curator, and not charged again.
        """
        written = _encode_body(body)
        key = key or self._unanswered.pop((kind, written), "") or secrets.token_urlsafe(24)
        try:
            reply = self.link.post(
                f"{self._path}/{kind}",
                written,
                {KEY: key, "Privet-Schema": self.schema.fingerprint},
            )
            with understood("answer"):
                answer, receipt = read(reply["answer"]), reply["receipt"]
        except BaseException:
            self._unanswered[kind, written] = key
            raise
        if receipt:
            self.receipts[str(receipt)] = None
        return answer


def _encode_body(body: Json) -> bytes:
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
