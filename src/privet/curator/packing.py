"""Answers as bytes for the ledger. They may be large: a forest can have millions of leaves."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, TypeVar

import numpy as np

from privet.errors import LedgerError
from privet.queries import Answer, Numbers, Query
from privet.queries.base import read_answer

A = TypeVar("A", bound=Answer)


def pack_answer(answer: Answer) -> bytes:
    """An answer as JSON, its tables compressed."""
    told = answer.to_json()
    if isinstance(answer, Numbers):
        told["tables"] = []
        told["packed"] = [
            {"shape": table.shape, "numbers": _compress_table(table)} for table in answer.tables
        ]
    return json.dumps(told, separators=(",", ":")).encode()


def unpack_answer(data: bytes, query: Query[A]) -> A:
    """The answer in these bytes, as a ledger kept them for this query."""
    try:
        told = json.loads(data)
        if "packed" in told:
            told["tables"] = [
                {"shape": table["shape"], "numbers": _expand_table(table["numbers"]).tolist()}
                for table in told["packed"]
            ]
        return read_answer(query, told)
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
