"""Functions of Python that SQL statements call: what SQLite alone would read differently.

Text comes as its bytes, because SQLite does not check that they are text. A function looks at its
arguments alone, and never raises an error.
"""

from __future__ import annotations

import hmac
import math
import sqlite3
from functools import lru_cache

import numpy as np

from privet.domain import text_of
from privet.domain.encode.encoding import DatePart
from privet.domain.encode.scalars import moment_of, number_of, parts_of

_REMEMBERED = 1 << 14  # entries whose reading takes long


def add_functions(connection: sqlite3.Connection, encoding: str) -> None:
    """Add the functions to a connection whose database stores text in this encoding."""

    def decode(data: bytes) -> str | None:
        try:
            return data.decode(encoding)
        except UnicodeDecodeError:
            return None  # matches nothing

    @lru_cache(_REMEMBERED)
    def number(data: bytes) -> float:
        return number_of(decode(data))  # NaN is null in SQLite

    @lru_cache(_REMEMBERED)
    def moment(data: bytes) -> int | None:
        found = moment_of(decode(data))
        return None if np.isnat(found) else int(found.astype("datetime64[s]").astype(np.int64))

    for name, arguments, function in (
        ("privet_number", 1, number),
        ("privet_moment", 1, moment),
        ("privet_field", 2, lru_cache(_REMEMBERED)(_field_of)),
        ("privet_text", 1, _text_of_real),
        ("privet_hash", 2, _keyed_hash),
    ):
        connection.create_function(name, arguments, function, deterministic=True)


def _field_of(seconds: int | None, name: str) -> int | None:
    """Return an integer of a moment, which comes as seconds from 1970-01-01."""
    if seconds is None:
        return None
    moment = np.array([seconds], dtype="datetime64[s]")
    if name == "day":
        return (
            int((moment.astype("datetime64[D]") - moment.astype("datetime64[M]"))[0].astype(int))
            + 1
        )
    return int(parts_of(moment.astype("datetime64[us]"), DatePart(name))[0])  # type: ignore[arg-type]


def _text_of_real(number: float) -> str | None:
    """Return the one text of a number; none for infinity, which no list holds."""
    return text_of(number) if math.isfinite(number) else None


def _keyed_hash(key: bytes, data: object) -> int:
    """Return 63 bits that follow from some bytes, and that nobody can tell without the key."""
    digest = hmac.digest(key, data if isinstance(data, bytes) else b"", "sha256")
    return int.from_bytes(digest[:8], "big") >> 1
