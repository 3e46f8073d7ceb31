"""Send HTTP requests to a curator or another server of ours, and retry those that fail.

The token goes to no other host. A request carries a key, and a curator answers and charges a key
once. So sending it again, byte for byte, is safe, whatever became of the first.

A problem that a curator reports (RFC 9457) becomes the error that a curator in this process raises.
"""

from __future__ import annotations

import json
import secrets
import time
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import privet
from privet._progress import tell_waiting
from privet._types import Json
from privet.accounting.cost import parse_fraction
from privet.client.address import check_address, check_seconds, check_token, make_tls_context
from privet.client.deadline import Connections, Deadline
from privet.errors import (
    AccessError,
    AnswerArchived,
    BudgetExceeded,
    Conflict,
    KeyReused,
    MissingDependency,
    NotThere,
    OutsourceError,
    ParameterError,
    PrivacyError,
    PrivetError,
    QuestionError,
    ReservationClosed,
    SchemaError,
    SnapshotEnded,
    TooManyReservations,
    Unavailable,
)
from privet.text import escape_invisible, shorten

if TYPE_CHECKING:
    import httpx2


KEY = "Idempotency-Key"
#: Of a request whose answer may be compressed; all others must not be.
PACKED = {"Accept-Encoding": "gzip"}
CONNECT_SECONDS = 5.0
_CODING = b"content-encoding"
_GZIP = 31  # what zlib calls gzip with the longest window
#: Statuses that may be others in a moment.
_PASSING = (429, 502, 503, 504)
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0
#: Bytes of the longest reply that is read: more than any server of ours sends.
MAX_REPLY = 1 << 27
_jitter = secrets.SystemRandom()


@dataclass(frozen=True)
class _Failure:
    """Why there is no response. ``arrived``: the request may have; ``passing``: the next one may
    get through.
    """

    why: str
    arrived: bool
    passing: bool = True


@dataclass
class Traffic:
    """The bytes that went over the wire, heads and bodies. What TLS and TCP add is not counted."""

    requests: int = 0
    sent: int = 0
    received: int = 0

    def count(self, response: httpx2.Response, received: int) -> None:
        """Add one exchange, with the bytes of the body that were received."""
        self.requests += 1
        self.sent += _head_size(response.request.headers.raw) + len(response.request.content)
        self.received += _head_size(response.headers.raw) + received


class Link:
    """A connection to a curator that is kept open.

    Args:
        url: where it is: ``https://HOST[:PORT][/PATH]``; ``http://`` for this machine, or where
            ``insecure`` says so.
        token: who asks; a function is called again when the token is no longer known, as it may
            have been replaced meanwhile.
        timeout: seconds to wait for an answer to begin, and then for it to end. After twice as
            many, an exchange is ended in any case.
        retry_for: seconds after a first failure in which a request is sent again.
        ca: a file with the certificates to trust, in place of the usual ones.
        insecure: allow plain HTTP to another machine, where anybody in between can read the answers
            and use the token.
        who: what is at the address, for messages.
        over: stands in for the network, in tests; so do ``sleep`` and ``clock`` for time.
    """

    def __init__(
        self,
        url: str,
        token: str | Callable[[], str],
        *,
        timeout: float = 300.0,
        retry_for: float = 30.0,
        ca: str | PathLike[str] | None = None,
        insecure: bool = False,
        who: str = "curator",
        over: httpx2.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            import httpx2
        except ImportError:
            raise MissingDependency("httpx2", "client", f"asking a {who} over HTTP") from None

        self.url = check_address(url, insecure)
        self._find_token = token if callable(token) else None
        self._token, self._who = check_token(token() if callable(token) else token), who
        self._given_up = False  # nobody waits again for what was waited for in vain
        self.traffic = Traffic()
        self._timeout = check_seconds("timeout", timeout)
        self._retry_for = check_seconds("retry_for", retry_for)
        self._sleep, self._clock = sleep, clock
        self._connections = Connections()
        self._client = httpx2.Client(
            headers={
                "Authorization": f"Bearer {self._token}",
                "Accept": "application/json",
                # a little that unfolds to very much would fill the memory
                "Accept-Encoding": "identity",
                "User-Agent": f"privet/{privet.__version__}",
            },
            verify=True if ca is None else make_tls_context(ca),
            follow_redirects=False,
            # a proxy of the environment would read what is not encrypted
            trust_env=self.url.startswith("https:"),
            transport=over,
        )
        weakref.finalize(self, self._client.close)  # for those who never call close

    def __repr__(self) -> str:
        return f"Link({self.url!r})"

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "a connection holds a token, so it cannot be copied or pickled; connect again instead"
        )

    def close(self) -> None:
        """Close the connection."""
        self._client.close()

    def get(self, path: str, headers: Mapping[str, str] | None = None) -> Json:
        """Send a GET request and return the reply."""
        return self._ask("GET", path, headers=headers)

    def post(self, path: str, body: bytes, headers: Mapping[str, str] | None = None) -> Json:
        """Send a POST request and return the reply.

        With a key among the headers, it is a query that is paid for; with :data:`PACKED`, the
        server may compress its answer.
        """
        return self._ask(
            "POST", path, body, {"Content-Type": "application/json", **(headers or {})}
        )

    def put(self, path: str, body: bytes) -> Json:
        """Send a PUT request and return the reply."""
        return self._ask("PUT", path, body, {"Content-Type": "application/json"})

    def delete(self, path: str) -> None:
        """Send a DELETE request once.

        Whether anything was removed is not said, because nothing depends on it.
        """
        self._send("DELETE", path, b"", {}, CONNECT_SECONDS)

    def _ask(
        self, method: str, path: str, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Json:
        """Send until there is an answer, or no hope of one."""
        give_up: float | None = None
        arrived = False
        for attempt in count():
            outcome = self._send(method, path, body, headers or {})
            if not isinstance(outcome, _Failure) and outcome.status_code not in _PASSING:
                self._given_up = False
                if outcome.status_code == 401 and self._has_new_token():
                    continue
                return self._read(outcome)
            arrived = arrived or not isinstance(outcome, _Failure) or outcome.arrived
            now = self._clock()
            give_up = now + self._retry_for if give_up is None else give_up
            pause = max(_draw_pause(attempt), _requested_pause(outcome))
            passing = not isinstance(outcome, _Failure) or outcome.passing
            if self._given_up or not passing or now + pause > give_up:
                break
            if attempt > 0 or isinstance(outcome, _Failure):  # once may be chance
                tell_waiting(f"{self} {_describe_trouble(outcome)}", give_up - now)
            self._sleep(pause)
        self._given_up = True
        raise self._make_final_error(outcome, paid=KEY in (headers or {}), arrived=arrived)

    def _has_new_token(self) -> bool:
        """Find the token again, where it may have been replaced, and tell whether it was."""
        found = self._token if self._find_token is None else check_token(self._find_token())
        if found == self._token:
            return False
        self._token = found
        self._client.headers["Authorization"] = f"Bearer {found}"
        return True

    def _send(
        self,
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        timeout: float | None = None,
    ) -> httpx2.Response | _Failure:
        """Send once, and end the exchange at its deadline."""
        if self._client.is_closed:
            raise ParameterError("this connection is closed; connect again")
        seconds = self._timeout if timeout is None else timeout
        with self._connections.limit(2 * seconds) as deadline:
            outcome = self._exchange(method, path, body, headers, seconds, deadline)
        if deadline.passed:  # what came may be cut off
            return _Failure(f"its answer took longer than {2 * seconds:g} s", arrived=True)
        return outcome

    def _exchange(
        self,
        method: str,
        path: str,
        body: bytes,
        headers: Mapping[str, str],
        seconds: float,
        deadline: Deadline,
    ) -> httpx2.Response | _Failure:
        import httpx2

        try:
            with self._client.stream(
                method,
                f"{self.url}/v1{path}",
                content=body,
                headers=headers,
                timeout=httpx2.Timeout(seconds, connect=CONNECT_SECONDS),
                extensions={"trace": deadline.trace},
            ) as response:
                may = PACKED["Accept-Encoding"] if PACKED.items() <= headers.items() else None
                return self._receive(response, seconds, may)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            if _is_about_certificates(error):
                return _Failure(
                    "its certificate is not one to trust; ca (--ca, or SSL_CERT_FILE) names a file "
                    "with those that are",
                    arrived=False,
                    passing=False,
                )
            return _Failure(type(error).__name__, arrived=False)
        except (httpx2.InvalidURL, UnicodeError):
            return _Failure("there can be no host of this name", arrived=False, passing=False)
        except httpx2.RequestError as error:
            # Not its text: it may hold what was sent.
            return _Failure(type(error).__name__, arrived=True)

    def _receive(
        self, response: httpx2.Response, seconds: float, may: str | None
    ) -> httpx2.Response | _Failure:
        """Read the body of a response, which a server must not draw out, blow up or never end."""
        import httpx2

        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", may):
            why = "it compressed its answer, although it must not"
            return _Failure(why, arrived=True, passing=False)
        unpacking = None if encoding == "identity" else zlib.decompressobj(_GZIP)
        ends, content, received = self._clock() + seconds, bytearray(), 0
        for part in response.iter_bytes() if unpacking is None else response.iter_raw():
            received += len(part)
            try:
                room = MAX_REPLY + 1 - len(content)
                content += part if unpacking is None else unpacking.decompress(part, room)
            except zlib.error:
                why = "its compressed answer is damaged"
                return _Failure(why, arrived=True, passing=False)
            if max(received, len(content)) > MAX_REPLY:
                why = f"its answer is longer than {MAX_REPLY} bytes"
                return _Failure(why, arrived=True, passing=False)
            if self._clock() > ends:
                return _Failure(f"its answer took longer than {seconds:g} s", arrived=True)
        if unpacking is not None and not unpacking.eof:
            return _Failure("its compressed answer is cut off", arrived=True)
        whole = httpx2.Response(
            response.status_code,
            headers=[pair for pair in response.headers.raw if pair[0].lower() != _CODING],
            content=bytes(content),
            request=response.request,
        )
        self.traffic.count(response, received)
        return whole

    def _read(self, response: httpx2.Response) -> Json:
        """What a response holds; raises what it reports."""
        status = response.status_code
        if 300 <= status < 400:
            raise Unavailable(
                f"{self} sends elsewhere (status {status}), which is refused: the token is for "
                "this address only"
            )
        if status == 204:
            return {}
        content = _parse_json(response)
        if not response.is_success:
            raise self._hide_token(error_of(status, content, str(self)))
        if not isinstance(content, dict):
            raise Unavailable(
                f"{self} did not answer in JSON; is there a {self._who} at this address, and "
                "nothing in between?"
            )
        return content

    def _make_final_error(
        self, outcome: httpx2.Response | _Failure, *, paid: bool, arrived: bool
    ) -> PrivetError:
        if isinstance(outcome, _Failure):
            error: PrivetError = Unavailable(f"{self} cannot be reached ({outcome.why})")
        else:
            content = _parse_json(outcome)
            error = self._hide_token(error_of(outcome.status_code, content, str(self)))
            if isinstance(content, dict) and "detail" in content:
                return error  # it says itself whether a charge stands
        return Unavailable(f"{error}. {_explain_charge(arrived)}") if paid else error

    def _hide_token(self, error: PrivetError) -> PrivetError:
        """Whatever a server repeats."""
        error.args = tuple(
            part.replace(self._token, "[token]") if isinstance(part, str) else part
            for part in error.args
        )
        return error

    def __str__(self) -> str:
        return f"the {self._who} at {self.url}"


def _head_size(head: list[tuple[bytes, bytes]]) -> int:
    return sum(len(name) + len(value) + 4 for name, value in head)


def _explain_charge(arrived: bool) -> str:
    if not arrived:
        return "It was not sent, and charged nothing"
    return (
        "If the question arrived, its charge stands: history() lists it, and the same question "
        "asked again is not charged again"
    )


def _draw_pause(attempt: int) -> float:
    """Twice as long each time, and not the same for all clients."""
    return min(_FIRST_PAUSE * 2.0 ** min(attempt, 20), _LONGEST_PAUSE) * _jitter.uniform(0.5, 1.0)


def _requested_pause(outcome: httpx2.Response | _Failure) -> float:
    """The seconds that a curator asks to wait."""
    asked = "" if isinstance(outcome, _Failure) else outcome.headers.get("Retry-After", "")
    return float(asked) if asked.isascii() and asked.isdigit() else 0.0


def _describe_trouble(outcome: httpx2.Response | _Failure) -> str:
    """What keeps a request from its answer, for whoever waits."""
    if isinstance(outcome, _Failure):
        return f"cannot be reached ({outcome.why})"
    return {429: "asks to wait", 503: "is not ready"}.get(
        outcome.status_code, f"answers with status {outcome.status_code}"
    )


def _parse_json(response: httpx2.Response) -> Any:
    """What a response holds; None where that is no JSON."""
    try:
        return json.loads(response.content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)  # NaN and infinities are no JSON


def _is_about_certificates(error: BaseException) -> bool:
    import ssl

    seen: BaseException | None = error
    while seen is not None and not isinstance(seen, ssl.SSLCertVerificationError):
        seen = seen.__cause__ or seen.__context__
    return seen is not None


# From a reported problem (RFC 9457) to one of our errors.

_PREFIX = "urn:privet:problem:"
_ERRORS: dict[str, type[PrivetError]] = {
    "parameter": ParameterError,
    "question": QuestionError,
    "schema": SchemaError,
    "privacy": PrivacyError,
    "answer-archived": AnswerArchived,
    "key-reused": KeyReused,
    "reservation-closed": ReservationClosed,
    "too-many-reservations": TooManyReservations,
    "access": AccessError,
    "not-granted": AccessError,
    "paused": AccessError,
    "too-large": QuestionError,
    "conflict": Conflict,
    "full": OutsourceError,
    "not-found": NotThere,
    "store": Unavailable,
    "snapshot-gone": SnapshotEnded,
    "too-many-requests": Unavailable,
    "busy": Unavailable,
    "table": Unavailable,
    "ledger": Unavailable,
}


def error_of(status: int, told: Any, curator: str) -> PrivetError:
    """Return the error for a response that is no answer.

    ``told`` is its JSON, if it has any; ``curator`` says who answered.
    """
    if not isinstance(told, Mapping) or not str(told.get("type", "")).startswith(_PREFIX):
        kind = AccessError if status in (401, 403) else Unavailable
        return kind(
            f"{curator} answered with status {status} and without a reason; is this the right "
            "address?"
        )
    slug = str(told["type"]).removeprefix(_PREFIX)
    detail = shorten(escape_invisible(str(told.get("detail") or told.get("title") or slug)), 2000)
    if slug == "budget-exceeded":
        return _budget_error_from(told) or PrivetError(detail)
    if slug in _ERRORS:
        return _ERRORS[slug](detail)
    return (Unavailable if status >= 500 else PrivetError)(
        f"{curator} answered with status {status}: {detail}"
    )


def _budget_error_from(told: Mapping[str, Any]) -> BudgetExceeded | None:
    try:
        asked, left = (parse_fraction(told[name]) for name in ("asked", "left"))
        unit, account = (escape_invisible(str(told[name])) for name in ("unit", "account"))
        own = told.get("own")
        if own is not None:
            own = escape_invisible(str(own["account"])), parse_fraction(own["left"])
        note = shorten(escape_invisible(str(told.get("note", ""))), 500)
        return BudgetExceeded(asked, left, unit, account, own=own, note=note)
    except (KeyError, TypeError, ValueError):
        return None
