"""Who has signed in to the page. Sessions live in memory; each is looked at again with every
view.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
import time
from dataclasses import dataclass

from privet.service.accounts import Accounts, hash_token


@dataclass
class BrowserSession:
    """A visitor who showed a token: an analyst, or the owner (None). Holds the token's SHA-256, not
    the token.
    """

    analyst: str | None
    token: str
    begun: float
    used: float


class Sessions:
    """All sessions of the page.

    Args:
        accounts: they say whether a token is still valid.
        idle, life: seconds after which a session ends, unused or at all.
        each: how many one visitor may have; the oldest ends for the next.
    """

    def __init__(
        self, accounts: Accounts, idle: float = 3600, life: float = 12 * 3600, each: int = 20
    ) -> None:
        self._accounts, self._idle, self._life, self._each = accounts, idle, life, each
        self._open: dict[str, BrowserSession] = {}
        self._lock = threading.Lock()

    def begin(self, token: str, analyst: str | None) -> str:
        """A new session; its id, for the cookie."""
        name, now = secrets.token_urlsafe(32), time.monotonic()
        with self._lock:
            self._open = {
                key: session for key, session in self._open.items() if not self._over(session, now)
            }
            # oldest first
            own = [key for key, session in self._open.items() if session.analyst == analyst]
            for key in own[: max(0, len(own) + 1 - self._each)]:
                del self._open[key]
            self._open[_hash_session_id(name)] = BrowserSession(
                analyst, hash_token(token), now, now
            )
        return name

    def find(self, name: str) -> BrowserSession | None:
        """The session of this id, if its time is not over and its token is still valid."""
        now = time.monotonic()
        session = self._open.get(_hash_session_id(name))
        if session is None:
            return None
        if self._over(session, now) or not self._accounts.holds(session.token, session.analyst):
            self.end(name)
            return None
        session.used = now
        return session

    def end(self, name: str) -> None:
        """End a session, if there is one."""
        with self._lock:
            self._open.pop(_hash_session_id(name), None)

    def _over(self, session: BrowserSession, now: float) -> bool:
        return now - session.used > self._idle or now - session.begun > self._life


def _hash_session_id(name: str) -> str:
    """Ids are looked up by their hash, so that the time of a look-up tells nothing about an id."""
    return hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
