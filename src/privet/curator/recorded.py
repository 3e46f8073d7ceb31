"""Charge a query once, keep its answer, and give it again.

A query is charged under a key, and its answer is recorded in the ledger before anybody sees it. So
whoever asks again under the same key gets the recorded answer. Where the process died between
charge and answer, nothing had been told to anybody: the query is answered then, for the charge that
stands. In no order of events do two different answers leave for one charge, and none is paid for
twice.

A query of an interrupted fit is recognised by a digest of everything that it says. Queries and
their parts declare their facts, each part under a name of its own, so that a digest does not depend
on how a class or a field is called. The digests are those of 0.1, so that a fit that 0.1 began goes
on.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from privet.accounting.cost import Number
from privet.accounting.ledger import Entry
from privet.accounting.ledger.base import KeyedLedger, key_reused_error
from privet.domain import Schema
from privet.errors import LedgerError
from privet.queries import Answer, Numbers, Query
from privet.queries.base import read_answer


@dataclass(frozen=True)
class Recorded:
    """An answer as the ledger keeps it, the entry that paid for it, and whether it had been
    recorded before.
    """

    entry: Entry
    answer: bytes
    replayed: bool


def replay_answer(keyed: KeyedLedger) -> Recorded | None:
    """Return the answer that was recorded under this key before, if there is one.

    Raises :class:`~privet.errors.KeyReused` where the key paid for another request.
    """
    entry = keyed.before
    if entry is None:
        return None
    if entry.request != keyed.request:
        raise key_reused_error(entry)
    answer = keyed.answer(entry.number)
    return None if answer is None else Recorded(entry, answer, replayed=True)


def answer_and_record(keyed: KeyedLedger, work: Callable[[], bytes]) -> Recorded | None:
    """Answer a query, and record the answer before it is returned.

    What leaves is what is kept, even if somebody else was faster.

    ``work`` asks a curator that charges ``keyed``. None where it charged nothing: then there is
    nothing to keep.
    """
    answer = work()
    if keyed.entry is None:
        return None
    kept = keyed.record(keyed.entry.number, answer)
    return Recorded(keyed.entry, kept, replayed=kept != answer)


# -- answers as bytes for the ledger; they may be large: a forest can have millions of leaves --

A = TypeVar("A", bound=Answer)


def pack_answer(answer: Answer) -> bytes:
    """Return an answer as JSON, its tables compressed."""
    document = answer.to_json()
    if isinstance(answer, Numbers):
        document["tables"] = []
        document["packed"] = [
            {"shape": table.shape, "numbers": _compress_table(table)} for table in answer.tables
        ]
    return json.dumps(document, separators=(",", ":")).encode()


def unpack_answer(data: bytes, query: Query[A]) -> A:
    """Return the answer in these bytes, as a ledger kept them for this query."""
    try:
        document = json.loads(data)
        if "packed" in document:
            document["tables"] = [
                {"shape": table["shape"], "numbers": _expand_table(table["numbers"]).tolist()}
                for table in document["packed"]
            ]
        return read_answer(query, document)
    except (
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        OverflowError,
        RecursionError,
        zlib.error,
    ):
        raise LedgerError(
            "an answer that the ledger recorded is damaged; give the fit up with --anew (what it "
            "has cost is spent)"
        ) from None


def _compress_table(table: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    return base64.b64encode(zlib.compress(table.astype("<i8").tobytes(), 1)).decode()


def _expand_table(text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i8").astype(np.int64)


# -- digests of queries, by which an interrupted fit recognises them --


@runtime_checkable
class Identified(Protocol):
    """A part of a query that declares what it is recognised by."""

    def identity(self) -> tuple[Any, ...]:
        """Return its name in digests, and its facts in order."""


def facts_of(query: Query[Any], epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
    """Return everything that a checked query says, with its price."""
    return (query.name, *query.identify(epsilon, rho))


def digest_of(thing: object) -> str:
    """Return a digest of nested facts. They may be large: a forest can have millions of leaves."""
    digest = hashlib.sha256()
    _feed(digest.update, thing)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        update(f"{thing.dtype.str}{thing.shape}:".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif thing is None or isinstance(thing, str | int | float | Decimal):
        update(f"{thing!r},".encode())
    elif isinstance(thing, list | tuple):
        update(f"{len(thing)}[".encode())
        for item in thing:
            _feed(update, item)
    elif isinstance(thing, Mapping):
        _feed(update, sorted(thing.items()))
    elif isinstance(thing, Schema):
        update(thing.fingerprint.encode())
    elif isinstance(thing, Identified):
        name, *facts = thing.identity()
        update(f"{name}(".encode())
        _feed(update, facts)
    else:
        assert hasattr(thing, "numerator"), type(thing)
        update(f"{thing!r},".encode())
