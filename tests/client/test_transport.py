"""HTTP to a curator: what is sent again, what is refused, and what is never said."""

from __future__ import annotations

import copy
import gzip
import pickle

import httpx2
import pytest

from privet._progress import waited
from privet.client import transport
from privet.client.transport import KEY, Link
from privet.errors import AccessError, ParameterError, PrivacyError, PrivetError, Unavailable
from tests.client.fakes import TOKEN, URL, Clock, Script, linked, problem

OK = httpx2.Response(200, json={"said": 1})
BUSY = problem("busy", 503, "too busy; nothing was charged", {"Retry-After": "1"})
BODY, HEADERS = b'{"epsilon":"1/10"}', {KEY: "a-key"}


@pytest.mark.parametrize(
    "failure",
    [
        httpx2.ConnectError("refused"),
        httpx2.ConnectTimeout("slow"),
        httpx2.ReadTimeout("slow"),
        httpx2.ReadError("reset"),
        httpx2.RemoteProtocolError("cut off"),
        problem("too-many-requests", 429),
        httpx2.Response(502, text="<html>bad gateway</html>"),
        BUSY,
        httpx2.Response(504),
    ],
    ids=lambda failure: (
        type(failure).__name__ if isinstance(failure, Exception) else str(failure.status_code)
    ),
)
def test_what_fails_for_a_moment_is_sent_again_with_the_same_key_and_bytes(failure):
    script, clock = Script(failure, failure, failure, OK), Clock()
    assert linked(script, clock).post("/datasets/people/count", BODY, HEADERS) == {"said": 1}
    assert len(script.seen) == 4
    assert {(one.content, one.headers[KEY], str(one.url)) for one in script.seen} == {
        (BODY, "a-key", f"{URL}/v1/datasets/people/count")
    }
    assert all(one.headers["Authorization"] == f"Bearer {TOKEN}" for one in script.seen)
    assert len(clock.slept) == 3


def test_pauses_grow_and_differ():
    clock = Clock()
    with pytest.raises(Unavailable):
        linked(Script(httpx2.ConnectError("refused")), clock, retry_for=60).get("/datasets")
    low, high = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6], [0.1, 0.2, 0.4, 0.8, 1.6, 3.2]
    assert all(a <= slept <= b for a, slept, b in zip(low, clock.slept[:6], high, strict=True))
    assert max(clock.slept) <= 5
    assert 50 < sum(clock.slept) <= 60


def test_a_curator_says_how_long_to_wait():
    script, clock = (
        Script(problem("too-many-requests", 429, headers={"Retry-After": "7"}), OK),
        Clock(),
    )
    linked(script, clock).get("/datasets")
    assert clock.slept == [7.0]


@pytest.mark.parametrize("asked", ["3600", "99999999999999999999"])
def test_a_wait_beyond_the_time_given_is_not_waited(asked):
    clock = Clock()
    with pytest.raises(Unavailable, match="slow down"):
        linked(
            Script(problem("too-many-requests", 429, "slow down", {"Retry-After": asked})), clock
        ).get("/datasets")
    assert clock.slept == []


@pytest.mark.parametrize("asked", ["soon", "-1", "1e9", "Wed, 21 Oct 2015 07:28:00 GMT", "٣"])
def test_a_wait_that_is_no_number_of_seconds_is_passed_over(asked):
    script, clock = (
        Script(httpx2.Response(503, headers=[(b"Retry-After", asked.encode())]), OK),
        Clock(),
    )
    linked(script, clock).get("/datasets")
    assert clock.slept[0] < 1


def test_the_time_for_trying_again_begins_with_the_first_failure():
    clock = Clock()

    def slow(_: httpx2.Request) -> httpx2.Response:
        clock.now += 300
        raise httpx2.ReadTimeout("slow")

    seen = []
    with pytest.raises(Unavailable):
        linked(lambda request: seen.append(1) or slow(request), clock, retry_for=30).get(
            "/datasets"
        )
    assert len(seen) == 2  # the second one ends after the time


def test_without_time_nothing_is_sent_again():
    script = Script(httpx2.ReadError("reset"))
    with pytest.raises(Unavailable):
        linked(script, retry_for=0).get("/datasets")
    assert len(script.seen) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 410, 413, 422, 500, 501])
def test_what_will_not_change_is_not_sent_again(status):
    script = Script(httpx2.Response(status))
    with pytest.raises(PrivetError):
        linked(script).post("/datasets/people/count", BODY, HEADERS)
    assert len(script.seen) == 1


def test_what_never_arrived_was_not_charged():
    with pytest.raises(
        Unavailable,
        match=r"cannot be reached \(ConnectError\)\. It was not sent, and charged nothing$",
    ):
        linked(Script(httpx2.ConnectError("refused"))).post("/datasets/people/count", BODY, HEADERS)


@pytest.mark.parametrize(
    "first",
    [httpx2.ReadTimeout("slow"), httpx2.Response(502), httpx2.Response(504)],
    ids=["timeout", "502", "504"],
)
def test_what_may_have_arrived_may_be_charged(first):
    for script in (Script(first), Script(first, httpx2.ConnectError("refused"))):
        with pytest.raises(
            Unavailable, match=r"If the question arrived, its charge stands: history\(\) lists it"
        ):
            linked(script).post("/datasets/people/count", BODY, HEADERS)


def test_a_curator_says_itself_whether_a_charge_stands():
    with pytest.raises(Unavailable, match=r"^line 7 charged it$"):
        linked(Script(problem("table", 503, "line 7 charged it"))).post(
            "/datasets/people/count", BODY, HEADERS
        )


def test_nothing_is_said_of_charges_where_nothing_is_paid():
    with pytest.raises(
        Unavailable, match=r"^the curator at http://127.0.0.1:8000 cannot be reached \(ReadError\)$"
    ):
        linked(Script(httpx2.ReadError("reset"))).get("/datasets")


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
def test_a_redirect_is_refused(status):
    script = Script(
        httpx2.Response(status, headers={"Location": "https://elsewhere.example/v1/datasets"})
    )
    with pytest.raises(Unavailable, match=r"sends elsewhere .* refused"):
        linked(script).get("/datasets")
    assert len(script.seen) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"<html>Welcome to the hotel network</html>",
        b"",
        b"[]",
        b"null",
        b'"text"',
        b'{"a":NaN}',
        b"[" * 100_000,
        b"1" * 5000,
        b"\xff\xfe{",
    ],
    ids=["html", "empty", "list", "null", "text", "nan", "deep", "long", "binary"],
)
def test_what_is_no_json_object_is_no_answer(content):
    with pytest.raises(Unavailable, match="did not answer in JSON"):
        linked(Script(httpx2.Response(200, content=content))).get("/datasets")
    with pytest.raises(AccessError, match="status 401 and without a reason"):
        linked(Script(httpx2.Response(401, content=content))).get("/datasets")


@pytest.mark.parametrize(
    "outcome",
    [
        httpx2.ConnectError(f"with {TOKEN}"),
        httpx2.LocalProtocolError(f"bad header {TOKEN}"),
        httpx2.Response(301, headers={"Location": f"http://elsewhere/?{TOKEN}"}),
        httpx2.Response(200, text=TOKEN),
        httpx2.Response(500, text=TOKEN),
        problem("access", 401, f"no such token: {TOKEN}"),
        problem("parameter", 422, f"header: Bearer {TOKEN}"),
        problem(
            "budget-exceeded", 403, asked="1", left="0", unit="epsilon", account=f"analyst {TOKEN}"
        ),
        problem("internal", 500, f"header: Bearer {TOKEN}"),
        problem("busy", 503, TOKEN),
    ],
    ids=lambda outcome: (
        type(outcome).__name__ if isinstance(outcome, Exception) else str(outcome.status_code)
    ),
)
def test_no_message_holds_the_token(outcome):
    with pytest.raises(PrivetError) as raised:
        linked(Script(outcome)).post("/datasets/people/count", BODY, HEADERS)
    assert TOKEN not in f"{raised.value!s} {raised.value!r} {raised.value.args}"
    assert raised.value.__cause__ is None
    assert raised.value.__context__ is None  # a failed request would hold its headers


def test_a_link_shows_no_token_and_is_not_copied():
    link = linked(Script(OK))
    assert TOKEN not in f"{link!r} {link!s}"
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(PrivacyError, match="holds a token"):
            copied(link)


def test_a_closed_link_says_so():
    link = linked(Script(OK))
    link.close()
    with pytest.raises(ParameterError, match="closed; connect again"):
        link.get("/datasets")


@pytest.mark.parametrize(
    "url",
    [
        "http://curator.example",
        "http://10.0.0.1:8000",
        "http://[2001:db8::1]:8000",
        "http://127.0.0.1.example",
        "http://0.0.0.0:8000",
    ],
)
def test_plain_http_to_another_machine_is_refused(url):
    with pytest.raises(PrivacyError, match=r"plain HTTP to .* would show the token"):
        Link(url, TOKEN)
    Link(url, TOKEN, insecure=True).close()


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8000",
        "http://LOCALHOST",
        "http://127.3.2.1",
        "http://[::1]:8000/",
        "https://curator.example/privet/",
    ],
)
def test_this_machine_and_tls_are_fine(url):
    link = Link(url, TOKEN)
    assert link.url == url.rstrip("/")
    link.close()


@pytest.mark.parametrize(
    "url",
    [
        *[
            "",
            "curator.example",
            "ftp://curator.example",
            "https://",
            "https://host:port",
            "https://host/?token=1",
            "https://host/#x",
            7,
        ],
        *[
            "http://[::1",
            "http://localhost\\x",
            "http://local host",
            "https://h\x00st",
            "https://host/\x01",
            "https://ü.example",
            "https://*",
        ],
    ],
)
def test_what_is_no_address_is_refused(url):
    with pytest.raises(ParameterError, match="url must be the address of a curator"):
        Link(url, TOKEN)


@pytest.mark.parametrize("host", ["a" * 300, "a..b", "xn--zzzzzzzz-", "-"])
def test_a_host_that_cannot_be_is_one_message(host):
    link = Link(f"https://{host}", TOKEN, retry_for=0)
    with pytest.raises(Unavailable, match="cannot be reached"):
        link.get("/datasets")
    link.close()


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(ParameterError, match="must not hold a name or password") as raised:
        Link("https://ada:secret@curator.example", TOKEN)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "token", ["", " ", "two words", "line\nbreak", "tab\there", "schlüssel", "\x00", 7, None]
)
def test_a_token_that_fits_no_header_is_refused_and_not_repeated(token):
    with pytest.raises(ParameterError, match="token must be") as raised:
        Link(URL, token)
    assert "words" not in str(raised.value)


def test_the_end_of_a_line_is_no_part_of_a_token():
    script = Script(OK)
    link = Link(URL, f"{TOKEN}\n", over=httpx2.MockTransport(script))
    link.get("/datasets")
    assert script.seen[0].headers["Authorization"] == f"Bearer {TOKEN}"


@pytest.mark.parametrize(
    "options",
    [
        {"timeout": -1},
        {"timeout": "long"},
        {"retry_for": float("nan")},
        {"retry_for": float("inf")},
        {"timeout": True},
    ],
)
def test_times_are_numbers_of_seconds(options):
    with pytest.raises(ParameterError, match="must be a number of seconds"):
        Link(URL, TOKEN, **options)


def test_certificates_come_from_a_file(tmp_path):
    (tmp_path / "no.pem").write_text("no certificate")
    for place in (tmp_path / "absent.pem", tmp_path / "no.pem", tmp_path):
        with pytest.raises(ParameterError, match="ca must be a file with certificates"):
            Link("https://curator.example", TOKEN, ca=place)


def test_without_httpx_the_message_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "httpx2", None)
    with pytest.raises(PrivetError, match=r"pip install 'privet\[client\]'"):
        Link(URL, TOKEN)


class Dripping(httpx2.SyncByteStream):
    """A body that comes in parts, with time in between, and never ends."""

    def __init__(self, part: bytes, clock: Clock, seconds: float) -> None:
        self._part, self._clock, self._seconds = part, clock, seconds
        self.parts = 0

    def __iter__(self):
        while True:
            self.parts += 1
            self._clock.now += self._seconds
            yield self._part


def test_an_answer_that_is_drawn_out_is_given_up():
    clock = Clock()
    body = Dripping(b" ", clock, 1.0)
    link = linked(lambda _: httpx2.Response(200, stream=body), clock, timeout=60, retry_for=0)
    with pytest.raises(Unavailable, match=r"its answer took longer than 60 s.*charge stands"):
        link.post("/datasets/people/count", BODY, HEADERS)
    assert body.parts == 61


def test_an_answer_that_never_ends_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr(transport, "MAX_REPLY", 1000)
    clock = Clock()
    body = Dripping(b"x" * 100, clock, 0.0)
    link = linked(lambda _: httpx2.Response(200, stream=body), clock)
    with pytest.raises(Unavailable, match="its answer is longer than 1000 bytes"):
        link.get("/datasets")
    assert body.parts == 11
    assert clock.slept == []  # it would be as long again


@pytest.mark.parametrize("status", [200, 503])
def test_an_answer_that_unfolds_is_not_unfolded(status):
    packed = httpx2.ByteStream(gzip.compress(b'{"said":1}'))
    seen = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(status, headers={"Content-Encoding": "gzip"}, stream=packed)

    with pytest.raises(Unavailable, match="compressed its answer"):
        linked(answer).get("/datasets")
    assert len(seen) == 1


def test_what_is_waited_for_is_told_at_once_and_not_twice_in_vain():
    told: list[tuple[str, float]] = []
    script, clock = Script(*[httpx2.ConnectError("refused")] * 60), Clock()
    link = linked(script, clock, retry_for=20)
    with waited(lambda what, seconds: told.append((what, seconds))):
        with pytest.raises(Unavailable):
            link.get("/datasets")
        assert told[0] == (f"the curator at {URL} cannot be reached (ConnectError)", 20)
        tries, told[:] = len(script.seen), []
        with pytest.raises(Unavailable):
            link.get("/datasets")
        assert (len(script.seen), told) == (tries + 1, [])


def test_a_busy_curator_is_told_when_it_is_busy_again():
    told: list[str] = []
    link = linked(Script(BUSY, BUSY, OK), Clock())
    with waited(lambda what, _: told.append(what)):
        link.get("/datasets")
    assert told == [f"the curator at {URL} is not ready"]


def test_a_token_that_was_replaced_is_found_again():
    tokens = iter(["privet_old", "privet_new", "privet_new"])
    unknown = problem("access", 401, "this token is not known")
    script = Script(unknown, OK, unknown)
    link = linked(script, Clock(), token=lambda: next(tokens))
    assert link.get("/datasets") == {"said": 1}
    sent = [one.headers["Authorization"] for one in script.seen]
    assert sent == ["Bearer privet_old", "Bearer privet_new"]
    with pytest.raises(AccessError):  # the same again is not tried again
        link.get("/datasets")
    assert len(script.seen) == 3
