"""Answers as bytes for the ledger, and digests of questions. Both may be large: a forest can have
millions of leaves.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

import numpy as np

from privet.curator import Numbers
from privet.curator.answers import Answer
from privet.errors import LedgerError
from privet.schema import Schema
from privet.wire.answers import answer_to

Json = Mapping[str, Any]
Answered = TypeVar("Answered", bound=Answer)


def packed(answer: Answer) -> bytes:
    """An answer as JSON, its tables compressed."""
    if not isinstance(answer, Numbers):
        return json.dumps(answer_to(answer), separators=(",", ":")).encode()
    told = answer_to(replace(answer, tables=()))
    told["packed"] = [
        {"shape": table.shape, "numbers": _compressed(table)} for table in answer.tables
    ]
    return json.dumps(told, separators=(",", ":")).encode()


def unpacked(data: bytes, read: Callable[[Json], Answered]) -> Answered:
    """The answer in these bytes, as a ledger kept them."""
    try:
        told = json.loads(data)
        answer = read(told)
        if not isinstance(answer, Numbers):
            return answer
        return replace(
            answer,
            tables=tuple(
                _expanded(table["numbers"]).reshape(table["shape"]) for table in told["packed"]
            ),
        )
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
            "an answer that the ledger recorded is damaged; give the fit up with --anew (what "
            "it "
            "has cost is spent)"
        ) from None


def _compressed(table: np.ndarray[Any, np.dtype[np.int64]]) -> str:
    return base64.b64encode(zlib.compress(table.astype("<i8").tobytes(), 1)).decode()


def _expanded(text: str) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype="<i8").astype(np.int64)


def digest_of(thing: object) -> str:
    """A digest of everything that a question says."""
    digest = hashlib.sha256()
    _feed(digest.update, thing)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        update(f"{thing.dtype.str}{thing.shape}:".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, Schema):
        update(thing.fingerprint.encode())
    elif is_dataclass(thing) and not isinstance(thing, type):
        update(f"{type(thing).__name__}(".encode())
        _feed(update, [getattr(thing, field.name) for field in fields(thing)])
    elif isinstance(thing, Mapping):
        _feed(update, sorted(thing.items()))
    elif isinstance(thing, list | tuple):
        update(f"{len(thing)}[".encode())
        for one in thing:
            _feed(update, one)
    else:
        assert (
            thing is None
            or isinstance(thing, str | int | float | complex)
            or hasattr(thing, "numerator")
        ), type(thing)
        update(f"{thing!r},".encode())
