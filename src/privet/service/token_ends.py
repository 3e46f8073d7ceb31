"""Let tokens end by themselves.

A token that nobody takes back is good for whoever finds it, however long ago its person left. So an
owner may say when a token ends. The end is kept beside the token, by its hash: a token that is
replaced and overlaps the next one keeps its own end, and one without an end has no row here.
"""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime

from privet.errors import AccessError, ParameterError

# made when it is first needed, since accounts of 0.1 do not have it
_ENDS = "CREATE TABLE IF NOT EXISTS token_ends (token TEXT PRIMARY KEY, ends TEXT NOT NULL)"
_THERE = "SELECT 1 FROM sqlite_master WHERE name = 'token_ends'"


class TokenEnded(AccessError):
    """A token is known, and its time is over."""

    def __init__(self, ends: str) -> None:
        super().__init__(f"this token ended on {_show_time(ends)}; ask the owner for another one")


def let_end(connection: sqlite3.Connection, digest: str, ends: datetime | None) -> None:
    """Let the token with this SHA-256 end then; without a time, it does not end by itself."""
    if ends is None:
        return
    if ends.tzinfo is None:
        raise ParameterError("ends must be a time with its zone")
    connection.execute(_ENDS)
    written = ends.astimezone(UTC).isoformat(timespec="seconds")
    connection.execute("INSERT INTO token_ends VALUES (?, ?)", (digest, written))


def find_end(connection: sqlite3.Connection, digest: str) -> str:
    """Return when the token with this SHA-256 ends (ISO time in UTC); empty if it does not."""
    if connection.execute(_THERE).fetchone() is None:
        return ""
    row = connection.execute("SELECT ends FROM token_ends WHERE token = ?", (digest,)).fetchone()
    if row is None:
        return ""
    datetime.fromisoformat(row[0])  # one that is no time is damage, and not "no end"
    return str(row[0])


def is_over(ends: str, now: datetime) -> bool:
    """Return whether this end of a token has come."""
    try:
        return ends != "" and datetime.fromisoformat(ends) <= now
    except (ValueError, TypeError):  # a time that is none is over
        return True


def describe_end(ends: str, now: datetime) -> str:
    """Return what to say of a token that ends then."""
    return f"{'ended' if is_over(ends, now) else 'ends'} on {_show_time(ends)}"


def _show_time(ends: str) -> str:
    return f"{ends[:16].replace('T', ' ')} UTC"
