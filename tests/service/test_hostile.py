"""Requests that nobody should send: refused with a problem that says why, nothing charged, and the
next one is answered.
"""

from __future__ import annotations

import errno
import json
import socket
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from privet.accounting.cost import Budget
from privet.domain import Categorical, Schema
from privet.service.limits import Limits
from tests.service.running import PATIENCE, SCHEMA, Answer, house, people, serving

LARGEST_BODY = Limits().body


@pytest.fixture(scope="module")
def there(tmp_path_factory):
    """Ada and Bob may ask about "people", Eve about "others"; some had tokens and grants that are
    no longer good.
    """
    folder = tmp_path_factory.mktemp("hostile")
    made = house(folder)
    made.state.accounts.add_dataset("others", people(folder / "others.db"), SCHEMA)
    made.state.ledger.open_cap("others", Budget(1000))
    for analyst in ("ada", "bob", "revoked", "replaced", "expired", "ungranted"):
        made.add(analyst, 100)
    made.add("eve", 100, "others")
    made.state.accounts.revoke("revoked")
    made.state.accounts.new_token("replaced")
    made.state.accounts.revoke("ungranted", "people")
    made.state.accounts.grant("expired", "people", datetime.now(UTC) - timedelta(seconds=1))
    with serving(made.path) as service:
        made.service = service
        yield made
        assert service.stop() == 0
        assert service.complaints.replace("warning: Invalid HTTP request received.\n", "") == ""


@pytest.fixture
def client(there):
    with there.service.client(there.tokens["ada"]) as client:
        yield client


@pytest.fixture
def refused(there, client):
    """Checks that an answer is a refusal, that nothing was charged, and that a good request is
    answered.
    """
    before = list(there.state.ledger.journal())
    good = client.get("datasets/people").body

    def check(answer: Answer, *statuses: int) -> dict:
        assert answer.status in (statuses or range(400, 500)), answer
        return answer.problem

    yield check
    assert list(there.state.ledger.journal()) == before
    assert client.get("datasets/people").body == good  # also what is left


# -- who -------------------------------------------------------------------------------------------

TOKENS = [
    "",
    "x",
    "privet_" + "A" * 43,
    "../../accounts.sqlite",
    "' OR 1=1 --",
    "\xe4\xf6",
    "a b",
    "A" * 501,
    "\t",
    "%00",
    "null",
]


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_that_nobody_has(there, refused, token):
    with there.service.client() as stranger:
        for method, path in (
            ("GET", "datasets"),
            ("GET", "datasets/people"),
            ("POST", "datasets/people/size"),
        ):
            answer = stranger.request(
                method, path, b'{"epsilon": 1}', Authorization=f"Bearer {token}"
            )
            refused(answer, 401, 429)
            assert answer.status == 429 or answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "header",
    [
        "Basic YWRhOmFkYQ==",
        "Bearer",
        "Token {token}",
        "{token}",
        "Bearer {token} {token}",
        "Bearer {token},x",
    ],
)
def test_a_token_in_another_dress(there, refused, header):
    with there.service.client() as stranger:
        refused(
            stranger.request(
                "GET", "datasets", Authorization=header.format(token=there.tokens["ada"])
            ),
            401,
            429,
        )


def test_nothing_of_a_stranger_is_read(there, refused):
    """The token is looked at before the body is understood."""
    with there.service.client() as stranger:
        assert refused(stranger.request("POST", "datasets/people/size", b"{not json"), 401, 429)


@pytest.mark.parametrize("who", ["revoked", "replaced"])
def test_tokens_that_have_ended(there, refused, who):
    with there.service.client(there.tokens[who]) as client:
        refused(client.ask("size", {"epsilon": 1}), 401, 429)


def test_what_is_not_granted_and_what_does_not_exist_look_the_same(there, refused):
    """Also an expired grant and one that was taken back: who may not ask learns nothing about what
    there is.
    """
    answers = {}
    for who, dataset in (
        ("eve", "people"),
        ("eve", "nothing"),
        ("expired", "people"),
        ("ungranted", "people"),
        ("ada", "others"),
    ):
        with there.service.client(there.tokens[who]) as client:
            for method, path in (
                ("GET", ""),
                ("GET", "/history"),
                ("POST", "/size"),
                ("POST", "/snapshots"),
                ("DELETE", "/snapshots/x"),
            ):
                answer = client.request(method, f"datasets/{dataset}{path}", b'{"epsilon": 1}')
                refused(answer, 404)
                told = answer.body.replace(dataset.encode(), b"*")
                answers.setdefault((method, path), set()).add(
                    (told, *sorted(set(answer.headers) - {"date"}))
                )
    assert all(len(told) == 1 for told in answers.values())


def test_the_key_of_somebody_else_is_nobodys_key(there):
    """Keys belong to their analyst: the same key of another is another."""
    answers = []
    for who in ("ada", "bob"):
        with there.service.client(there.tokens[who]) as client:
            answers.append(client.ask("size", {"epsilon": "0.1"}, "shared-key"))
    assert [answer.status for answer in answers] == [200, 200]
    assert [answer.json()["answer"]["entry"]["analyst"] for answer in answers] == ["ada", "bob"]
    assert "privet-replayed" not in answers[1].headers


def test_a_key_with_another_body_question_or_data_set(there, client):
    body = b'{"epsilon": "0.1"}'
    assert client.ask("size", body, "used-key").status == 200
    before = len(there.state.ledger.entries())
    others = [
        ("size", b'{"epsilon": "0.2"}'),
        ("size", b'{"epsilon": 0.1}'),
        ("size", body + b" "),
        ("count", body),
    ]
    for question, other in others:
        assert (
            client.ask(question, other, "used-key").problem["type"]
            == "urn:privet:problem:key-reused"
        )
    there.add("ada", 100, "others")
    assert client.ask("size", body, "used-key", dataset="others").status == 409
    there.state.accounts.revoke("ada", "others")
    assert len(there.state.ledger.entries()) == before
    assert client.ask("size", body, "used-key").headers["privet-replayed"] == "true"


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 201, "k\xe9y", "\x7f", "a\tb"])
def test_keys_that_are_none(client, refused, key):
    refused(
        client.request("POST", "datasets/people/size", b'{"epsilon": 1}', Idempotency_Key=key), 422
    )


# -- snapshots and groups --------------------------------------------------------------------------


def test_snapshots_and_groups_of_others(there, client):
    with there.service.client(there.tokens["bob"]) as bob:
        snapshot = bob.ask("snapshots", b"").json()["snapshot"]
        second = bob.ask("snapshots", b"").json()["snapshot"]
        division = bob.ask("divide", {"epsilon": 1, "n_parts": 2, "snapshot": snapshot}).json()[
            "answer"
        ]["division"]
        before = len(there.state.ledger.entries())
        part = {"division": division, "number": 0}
        for body in (
            {"snapshot": snapshot},
            {"snapshot": snapshot, "part": part},
            {"part": part},
            {"snapshot": "x" * 24},
            {"snapshot": ""},
            {"snapshot": "../" + snapshot},
        ):
            for who in (client, bob) if body.get("snapshot") != snapshot else (client,):
                assert (
                    who.ask("size", {"epsilon": "0.1", **body}).problem["type"]
                    == "urn:privet:problem:snapshot-gone"
                ), body
        assert (
            client.ask("divide", {"epsilon": 1, "n_parts": 2, "snapshot": snapshot}).status == 410
        )
        assert client.ask("divide", {"epsilon": 1, "n_parts": 2}).status == 410
        assert client.ask("preview", {"plan": [], "snapshot": snapshot, "part": part}).status == 410
        assert client.request("DELETE", f"datasets/people/snapshots/{snapshot}").status == 410
        # Groups that are not there, or in another snapshot, or divided further.
        for where, group in (
            (snapshot, {"division": division, "number": 2}),
            (snapshot, {"division": 1, "number": 0}),
            (second, part),
        ):
            assert (
                bob.ask("size", {"epsilon": "0.1", "snapshot": where, "part": group}).status == 410
            )
        assert (
            bob.ask(
                "divide", {"epsilon": "0.1", "n_parts": 2, "snapshot": snapshot, "part": part}
            ).status
            == 422
        )
        # The groups have what was paid for them, and no more.
        asked = {"snapshot": snapshot, "part": part}
        assert bob.ask("size", {"epsilon": "0.75", **asked}).status == 200
        assert bob.ask("size", {"epsilon": "0.26", **asked}).problem["left"] == "1/4"
        # A division that the budget refuses leaves the one before as it is; one that it allows ends
        # it.
        assert (
            bob.ask("divide", {"epsilon": 1000, "n_parts": 2, "snapshot": snapshot}).status == 403
        )
        assert bob.ask("size", {"epsilon": "0.125", **asked}).status == 200
        assert len(there.state.ledger.entries()) == before
        assert bob.ask("divide", {"epsilon": 1, "n_parts": 2, "snapshot": snapshot}).status == 200
        assert bob.ask("size", {"epsilon": "0.1", **asked}).status == 410
        for one in (snapshot, second):
            assert bob.request("DELETE", f"datasets/people/snapshots/{one}").status == 204
            assert bob.ask("size", {"epsilon": "0.1", "snapshot": one}).status == 410


def test_snapshots_are_few(there, refused):
    with there.service.client(there.tokens["bob"]) as bob:
        begun = [bob.request("POST", "datasets/people/snapshots") for _ in range(5)]
        assert [answer.status for answer in begun] == [201] * 4 + [429]
        for answer in begun[:4]:
            assert (
                bob.request(
                    "DELETE", f"datasets/people/snapshots/{answer.json()['snapshot']}"
                ).status
                == 204
            )
        refused(begun[4], 429)


def test_a_snapshot_of_a_data_set_that_was_replaced(there, client):
    """Another table may have the name by now, with another schema: the snapshot is of the one
    before.
    """
    accounts = there.state.accounts
    place = accounts.dataset("people").place
    snapshot = client.ask("snapshots", b"").json()["snapshot"]
    accounts.remove_dataset("people")
    accounts.add_dataset("people", place, SCHEMA)
    for analyst in ("ada", "bob"):
        accounts.grant(analyst, "people")
    assert client.ask("size", {"epsilon": "0.1", "snapshot": snapshot}).status == 410
    assert client.ask("size", {"epsilon": "0.1"}).status == 200


# -- bodies ----------------------------------------------------------------------------------------

AMOUNTS = [
    *(
        b"NaN",
        b"Infinity",
        b"-Infinity",
        b"1e999",
        b"-1e999",
        b"1e-999",
        b"0",
        b"0.0",
        b"-0.0",
        b"-1",
        b"1e308",
        b"1e-308",
    ),
    *(
        b"1" * 400,
        b"1" * 5000,
        b"-" + b"1" * 400,
        b"0." + b"0" * 400 + b"1",
        b"true",
        b"false",
        b"null",
        b"[]",
        b"{}",
        b"[1]",
    ),
    *(
        b'"NaN"',
        b'"nan"',
        b'"inf"',
        b'"Infinity"',
        b'"-inf"',
        b'"1/0"',
        b'"0/1"',
        b'"-1/3"',
        b'"1e999999999"',
        b'"1e-999999999"',
        b'""',
    ),
    *(
        b'" "',
        b'"1/3/5"',
        b'"one"',
        b'"1;DROP TABLE journal"',
        b'"0x10"',
        b'"' + b"1" * 400 + b'"',
        b'"1/' + b"3" * 400 + b'"',
        b'"\\u0000"',
    ),
    *(
        b'"1e-40"',
        b'"1/1000000000000000000000000000000000000000000000000000"',
        b'"sNaN"',
        b'"' + b"9" * 100_000 + b'"',
        b'"\\ud800"',
    ),
]


@pytest.mark.parametrize("unit", ["epsilon", "rho"])
@pytest.mark.parametrize("amount", AMOUNTS, ids=lambda amount: amount[:24].decode())
def test_amounts_that_are_none(client, refused, amount, unit):
    body = b'{"%b": %b}' % (unit.encode(), amount)
    refused(client.ask("size", body), 422, 403)
    # where nothing, or very little, may be planned
    told = client.ask("preview", b'{"plan": [%b]}' % body)
    assert told.status in (200, 422)


@pytest.mark.parametrize("amount", ["1e30", "99999999999999999999", 10**60, 1e30])
def test_amounts_beyond_every_budget(client, refused, amount):
    for question in ({"epsilon": amount}, {"rho": amount}):
        assert refused(client.ask("size", question), 403)["title"]
    assert client.ask("preview", {"plan": [{"epsilon": amount}] * 100}).json()["fits"] is False


def test_odd_fractions_do_not_choke_a_preview(client):
    plan = [
        {"epsilon": f"1/{10**50 + 2 * i + 1}", "rho": f"1/{10**40 + 2 * i + 1}"}
        for i in range(10_000)
    ]
    told = client.ask("preview", {"plan": plan}).json()
    assert len(json.dumps(told)) < 5000
    assert told["fits"] is True  # all of them together are next to nothing


BROKEN = {
    "nothing": b"",
    "no JSON": b"{",
    "text after it": b'{"epsilon": 1} {}',
    "two prices": b'{"epsilon": 1, "rho": 1}',
    "no price": b"{}",
    "a list": b"[]",
    "a text": b'"epsilon"',
    "a number": b"1",
    "null": b"null",
    "the same name twice": b'{"epsilon": 1, "epsilon": 0.001}',
    "the same name twice, further in": b'{"epsilon": 1, "part": {"division": 1, "division": 2, "number": 0}}',  # noqa: E501
    "an unknown name": b'{"epsilon": 1, "epsilom": 1}',
    "an unknown name, further in": b'{"epsilon": 1, "part": {"division": 1, "number": 0, "x": 0}}',
    "a name of Python": b'{"epsilon": 1, "__class__": {}}',
    "not UTF-8": b'{"epsilon": "\xff"}',
    "UTF-16": '{"epsilon": 1}'.encode("utf-16"),
    "half a pair": b'{"epsilon": 1, "snapshot": "\\ud800"}',
    "deep lists": b'{"epsilon": 1, "cells": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    "deep objects": b'{"epsilon": 1, "cells": ' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
    "deep and broken": b"[" * 1_000_000,
    "a huge number": b'{"epsilon": 1, "part": {"division": ' + b"9" * 100_000 + b', "number": 0}}',
    "a part of a number": b'{"epsilon": 1, "part": {"division": 1.5, "number": 0}}',
    "a negative part": b'{"epsilon": 1, "part": {"division": 1, "number": -1}}',
    "form fields": b"epsilon=1",
    "a pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_broken_bodies(client, refused, body):
    refused(client.ask("size", body), 422)
    refused(client.ask("count", body), 422)
    refused(client.ask("preview", body), 422)


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "",
    ],
)
def test_other_kinds_of_content(client, refused, kind):
    refused(client.ask("size", b'{"epsilon": 1}', Content_Type=kind), 422)


@pytest.mark.parametrize(
    "method", ["PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "GET", "BREW", "CONNECT"]
)
def test_other_methods(client, refused, method):
    answer = client.request(method, "datasets/people/size", b'{"epsilon": 1}')
    assert answer.status == 405
    if method != "HEAD":  # which has no body
        refused(answer, 405)


INJECTIONS = [
    *(
        "'; DROP TABLE journal; --",
        '" OR "1"="1',
        "x') UNION SELECT * FROM people --",
        "../../../../etc/passwd",
        "..%2f..%2f",
        "%00",
        "\x00",
    ),
    *(
        "{{7*7}}",
        "${jndi:ldap://x}",
        "<script>alert(1)</script>",
        "a\r\nSet-Cookie: x=1",
        "\u202e",
        "\U0001f600" * 100,
        "a" * 100_000,
        "%s%n",
    ),
]


def bodies_with(text: str) -> dict[str, list[dict]]:
    """The text in every field that holds text."""
    return {
        "size": [
            {"epsilon": text},
            {"rho": text},
            {"epsilon": 1, "snapshot": text},
            {"epsilon": 1, text: 1},
        ],
        "count": [
            {"epsilon": 1, "cells": [[{text: [0]}]]},
            {"epsilon": 1, "cells": [[{"colour": [text]}]]},
            {"epsilon": 1, "partitions": [{"by": text}]},
        ],
        "sums": [
            {"epsilon": 1, "score": [text, text]},
            {"epsilon": 1, "score": [0, 1], "by": text},
        ],
        "choose": [
            {"epsilon": 1, "splits": [{"attribute": text, "branch": [0, 1]}]},
            {
                "epsilon": 1,
                "splits": [{"attribute": "colour", "branch": [0, 1, 2]}],
                "criterion": text,
            },
            {
                "epsilon": 1,
                "splits": [{"attribute": "colour", "branch": [0, 1, 2]}],
                "mechanism": text,
            },
        ],
        "choose-partition": [
            {"epsilon": 1, "expected": [[text, text]]},
            {"epsilon": 1, "expected": [[0, 0]], "handicaps": [text]},
            {"epsilon": 1, "expected": [[0, 0]], "mechanism": text},
            {"epsilon": 1, "expected": [[0, 0]], "partitions": [{"by": text}]},
        ],
        "quantile": [
            {"epsilon": 1, "attribute": text},
            {"epsilon": 1, "attribute": "age", "q": text},
            {"epsilon": 1, "attribute": "age", "mechanism": text},
        ],
        "draw-tree": [
            {"epsilon": 1, "space": {"depth": 1, "last": [{"attribute": text, "branch": [0, 1]}]}}
        ],
        "confusion": [
            {"epsilon": 1, "model": {"format": text}},
            {"epsilon": 1, "model": {text: text}},
        ],
        "choose-model": [{"epsilon": 1, "models": [{text: text}]}],
        "preview": [
            {"plan": [{"epsilon": text}]},
            {"plan": [{"epsilon": 1}], "part": {"division": 1, "number": 0}, "snapshot": text},
        ],
        "divide": [{"epsilon": 1, "n_parts": 2, "snapshot": text}],
    }


@pytest.mark.parametrize("text", INJECTIONS, ids=lambda text: ascii(text[:24]))
def test_injections_are_only_texts(client, refused, text):
    for question, bodies in bodies_with(text).items():
        for body in bodies:
            refused(client.ask(question, body), 410, 422)
    place = quote(text[:2000], safe="")
    refused(client.get(f"datasets/{place}"), 404)
    refused(client.request("DELETE", f"datasets/people/snapshots/{place}"), 404, 410)
    refused(client.get(f"datasets/people/history?after={place}"), 422)
    refused(client.ask("size", {"epsilon": 1}, Privet_Schema=quote(text[:2000])), 409)


# -- sizes -----------------------------------------------------------------------------------------


def raw(there, text: bytes, then_close: bool = False) -> bytes:
    """Bytes as they are; what comes back until the service ends the connection."""
    with socket.create_connection(
        ("127.0.0.1", there.service.port), timeout=PATIENCE
    ) as connection:
        back = b""
        try:
            connection.sendall(text)
            if then_close:
                connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65536):
                back += chunk
        except OSError as error:  # the service has heard enough, and may have gone before we say that we have ended  # noqa: E501
            if not isinstance(error, ConnectionError) and error.errno != errno.ENOTCONN:
                raise
        return back


def head(there, *lines: str, path: str = "/v1/datasets/people/size", method: str = "POST") -> bytes:
    fixed = [
        f"{method} {path} HTTP/1.1",
        "Host: x",
        f"Authorization: Bearer {there.tokens['ada']}",
        "Content-Type: application/json",
    ]
    return "\r\n".join([*fixed, *lines, "", ""]).encode("latin-1")


def status_of(back: bytes) -> int:
    return int(back.split(b" ", 2)[1])


def test_bodies_that_are_too_large(there, client, refused):
    answer = client.ask("size", b" " * (LARGEST_BODY + 1))
    assert refused(answer, 413)["type"] == "urn:privet:problem:too-large"
    client.close()
    answer = client.ask("size", b'{"epsilon": 1, "x": "' + b"x" * (LARGEST_BODY - 100) + b'"}')
    refused(answer, 422)


def test_lengths_that_lie(there, client):
    before = len(there.state.ledger.entries())
    body = b'{"epsilon": 1}'
    declared = {
        "more than allowed": head(there, f"Content-Length: {1 << 40}", "Connection: close") + body,
        "absurd": head(there, f"Content-Length: {'9' * 5000}", "Connection: close") + body,
        "negative": head(there, "Content-Length: -1", "Connection: close") + body,
        "no number": head(there, "Content-Length: 0x10", "Connection: close") + body,
        "two": head(there, "Content-Length: 14", "Content-Length: 15") + body,
        "less than comes": head(there, "Content-Length: 5", "Connection: close") + body,
    }
    for name, text in declared.items():
        assert 400 <= status_of(raw(there, text)) < 500, name
    # The body never comes in full: nobody is answered, nothing is done.
    assert raw(there, head(there, "Content-Length: 500") + body, then_close=True) == b""
    assert len(there.state.ledger.entries()) == before
    assert client.get("datasets").status == 200


def test_bodies_in_pieces_without_a_length(there, client):
    before = len(there.state.ledger.entries())
    piece = b"%x\r\n%b\r\n" % (1 << 20, b" " * (1 << 20))
    begin = head(there, "Transfer-Encoding: chunked", "Connection: close")
    back = raw(there, begin + piece * 4 + b"1\r\n \r\n0\r\n\r\n")
    assert not back or status_of(back) == 413  # the connection may end while there is more to come
    assert status_of(raw(there, begin + b"zz\r\n{}\r\n0\r\n\r\n")) == 400
    assert status_of(raw(there, begin + b"ffffffffffffffffffffffff\r\n{}\r\n0\r\n\r\n")) == 400
    both = head(there, "Transfer-Encoding: chunked", "Content-Length: 3", "Connection: close")
    assert 400 <= status_of(raw(there, both + b"0\r\n\r\n")) < 500
    assert len(there.state.ledger.entries()) == before
    good = raw(there, begin + b"e\r\n" + b'{"epsilon": 1}' + b"\r\n0\r\n\r\n")
    assert status_of(good) == 200
    assert client.get("datasets").status == 200


def test_headers_that_are_none(there, client):
    before = list(there.state.ledger.journal())
    broken = [
        head(there, "Idempotency-Key: a\rb"),
        head(there, "Idempotency-Key: a\nX: b"),
        head(there, "Idempotency-Key: a\0b"),
        head(there, "X" * 200_000 + ": 1"),
        head(there, *(f"X-{i}: {'x' * 100}" for i in range(2000))),
        head(there, " folded: 1"),
        head(there, path="/v1/data sets"),
        head(there, path="/v1/datasets/\xff"),
        head(there, path="http://["),
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"x" * 100 + b"\r\n\r\n",
        b"GET\r\n\r\n",
        b"\r\n" * 100_000 + b"GET / HTTP/9.9\r\n\r\n",
    ]
    for text in broken:
        back = raw(there, text, then_close=True)
        assert not back or 400 <= status_of(back) < 500, text[:200]
        assert b"Set-Cookie" not in back
    assert list(there.state.ledger.journal()) == before
    assert client.get("datasets").status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "//",
        "/v1",
        "/v2/datasets",
        "/v1/datasets/",
        "/v1/../v1/datasets",
        "/v1/datasets/people/unknown",
        "/docs",
        "/v1/datasets//size",
        "*",
    ],
)
def test_other_paths(there, client, path):
    back = raw(there, head(there, "Connection: close", path=path, method="GET"))
    assert status_of(back) < 500
    assert client.get("datasets").status == 200


# -- questions that are too much -------------------------------------------------------------------


def chain(length: int) -> dict:
    """A tree of so many tests one below the other, of an attribute with two values."""
    attribute, branch = [], []
    for i in range(length):
        attribute += [2, -1]
        branch += [2 * i + 1, 2 * i + 2]
    nodes = 2 * length + 1
    return {
        "attribute": [*attribute, -1],
        "branch": branch,
        "cell": [-1] * (nodes - 1) + [0],
        "n_cells": 1,
    }


def many_cells(number: int) -> dict:
    """A tree with so many leaves, each a cell; it tests the same attribute again and again, level
    by level.
    """
    attribute, branch, level = [2], [], [0]
    while len(level) < number:
        nodes = len(attribute)
        attribute += [-1] * (2 * len(level))
        for i, node in enumerate(level):
            attribute[node] = 2
            branch += [nodes + 2 * i, nodes + 2 * i + 1]
        level = list(range(nodes, nodes + 2 * len(level)))
    cell = [-1] * len(attribute)
    for number, node in enumerate(level):
        cell[node] = number
    return {"attribute": attribute, "branch": branch, "cell": cell, "n_cells": len(level)}


def trees(*shapes: dict) -> list[dict]:
    return [
        {
            "attribute": one["attribute"],
            "branch": one["branch"],
            "counts": [[1, 1]] * len(one["attribute"]),
        }
        for one in shapes
    ]


LEAF = {"attribute": [-1], "branch": [], "cell": [0], "n_cells": 1}
COLOUR = {"attribute": "colour", "branch": [0, 1, 2]}
TOO_MUCH = {
    "a deep chain": ("count", {"cells": [chain(100)]}),
    "a very deep chain": ("count", {"cells": [chain(60_000)]}),
    "sums over a deep chain": ("sums", {"cells": chain(5000), "score": [0, 1]}),
    "a choice over a deep chain": ("choose", {"cells": chain(5000), "splits": [COLOUR]}),
    "derivatives over a deep chain": ("gradients", {"cells": chain(5000), "trees": []}),
    "derivatives of a deep tree": ("gradients", {"trees": trees(chain(5000))}),
    "weights of a deep tree": (
        "draw-tree",
        {"space": {"depth": 1}, "weighting": trees(chain(5000))},
    ),
    "derivatives of too many nodes": ("gradients", {"trees": trees(*[many_cells(1 << 11)] * 70)}),
    "a billion cells that nobody is in": ("count", {"cells": [{**LEAF, "n_cells": (1 << 31) - 1}]}),
    "many cells that nobody is in": ("count", {"cells": [{**LEAF, "n_cells": 1 << 20}]}),
    "sums over a billion cells": (
        "sums",
        {"cells": {**LEAF, "n_cells": (1 << 31) - 1}, "score": [0, 1]},
    ),
    "a choice for a billion cells": (
        "choose",
        {"cells": {**LEAF, "n_cells": (1 << 31) - 1}, "splits": [COLOUR]},
    ),
    "derivatives for a billion cells": (
        "gradients",
        {"cells": {**LEAF, "n_cells": (1 << 31) - 1}, "trees": []},
    ),
    "the same cells a hundred thousand times": (
        "count",
        {"cells": [many_cells(1 << 10)], "partitions": [{"by": "age"}] * 10_000},
    ),
    "a choice of too many for too many": (
        "choose",
        {"cells": many_cells(1 << 11), "splits": [COLOUR] * 10_000},
    ),
    "a tree without an end": ("draw-tree", {"space": {"depth": (1 << 31) - 1}}),
    "a deep space of trees": ("draw-tree", {"space": {"depth": 30}}),
    "a space of very many splits": (
        "draw-tree",
        {"space": {"depth": 3, "inner": [COLOUR] * 20_000, "last": [COLOUR] * 20_000}},
    ),
    "a chance that is none": ("draw-tree", {"space": {"depth": 1, "split": 1.5}}),
    "a chance that is text": ("draw-tree", {"space": {"depth": 1, "split": "0.5"}}),
    "a chance that is a flag": ("draw-tree", {"space": {"depth": 1, "split": True}}),
    "a chance next to none": (
        "draw-tree",
        {"space": {"depth": 2, "split": 1e-300, "keep": 1e-300}},
    ),
    "a circle": (
        "count",
        {"cells": [{"attribute": [2, -1], "branch": [0, 1], "cell": [-1, 0], "n_cells": 1}]},
    ),
    "a node that is not there": (
        "count",
        {"cells": [{"attribute": [2, -1], "branch": [1, 7], "cell": [-1, 0], "n_cells": 1}]},
    ),
    "an attribute that is not there": (
        "count",
        {"cells": [{"attribute": [7], "branch": [], "cell": [0], "n_cells": 1}]},
    ),
    "arrays of different lengths": (
        "count",
        {"cells": [{"attribute": [-1], "branch": [], "cell": [0, 0], "n_cells": 1}]},
    ),
    "a cell that is not there": (
        "count",
        {"cells": [{"attribute": [-1], "branch": [], "cell": [5], "n_cells": 1}]},
    ),
    "no cells": ("count", {"cells": []}),
    "an empty list of cells": ("count", {"cells": [[]]}),
    "cells that overlap": ("count", {"cells": [[{"colour": [0]}, {"smokes": [0]}]]}),
    "codes that are not there": ("count", {"cells": [[{"colour": [-1]}]]}),
    "codes beyond 64 bits": ("count", {"cells": [[{"colour": [1 << 70]}]]}),
    "codes that are flags": ("count", {"cells": [[{"colour": [True]}]]}),
    "partitions of cells that are not there": ("count", {"partitions": [{"cells": 1}]}),
    "a score beyond 64 bits": ("sums", {"score": [0, 1 << 70]}),
    "a score that overflows": ("sums", {"score": [(1 << 63) - 1, -(1 << 63)]}),
    "a score of the wrong shape": ("sums", {"score": [[0, 1], [1]], "by": "colour"}),
    "an empty score": ("sums", {"score": []}),
    "scores that are no numbers": (
        "gradients",
        {"trees": [{"attribute": [-1], "branch": [], "counts": [[1e308, 1]]}]},
    ),
    "scores that are missing": (
        "gradients",
        {"trees": [{"attribute": [-1], "branch": [], "counts": []}]},
    ),
    "a candidate that is not there": ("choose", {"splits": [COLOUR], "candidates": [[1]]}),
    "no candidate": ("choose", {"splits": [COLOUR], "candidates": [[]]}),
    "candidates for no cell": ("choose", {"splits": [COLOUR], "candidates": []}),
    "expectations for a billion cells": (
        "choose-partition",
        {"cells": [{**LEAF, "n_cells": (1 << 31) - 1}], "expected": [[0, 0]]},
    ),
    "expectations over a deep chain": (
        "choose-partition",
        {"cells": [chain(5000)], "expected": [[0, 0]]},
    ),
    "expectations for other partitions": ("choose-partition", {"expected": [[0, 0]] * 10_000}),
    "no expectations": ("choose-partition", {}),
    "no expectation": ("choose-partition", {"expected": []}),
    "expectations with a point": ("choose-partition", {"expected": [[1, 2.0]]}),
    "handicaps for other partitions": (
        "choose-partition",
        {"expected": [[1, 2]], "handicaps": [1, 2]},
    ),
    "another way to choose": ("choose-partition", {"expected": [[1, 2]], "mechanism": "argmax"}),
    "too few expectations": ("choose-partition", {"expected": [[0]]}),
    "expectations beyond 64 bits": ("choose-partition", {"expected": [[0, 1 << 70]]}),
    "expectations that would overflow": ("choose-partition", {"expected": [[1 << 62, -(1 << 62)]]}),
    "handicaps beyond 64 bits": (
        "choose-partition",
        {"expected": [[0, 0]], "handicaps": [1 << 70]},
    ),
    "a quantile of colours": ("quantile", {"attribute": "colour"}),
    "a quantile of nothing": ("quantile", {}),
    "a quantile of the classes": ("quantile", {"attribute": "ill"}),
    "a quantile for rho": ("quantile", {"attribute": "age", "rho": 1}),
    "a quantile beyond numbers": ("quantile", {"attribute": "age", "q": "1e999999999"}),
    "a quantile that is a flag": ("quantile", {"attribute": "age", "q": True}),
    "a quantile that is null": ("quantile", {"attribute": "age", "q": None}),
    "a quantile beyond all rows": ("quantile", {"attribute": "age", "q": 2}),
    "a quantile of many digits": ("quantile", {"attribute": "age", "q": "0." + "3" * 100_000}),
    "a split with a gap": ("choose", {"splits": [{"attribute": "colour", "branch": [0, 2, 2]}]}),
    "a split of other values": ("choose", {"splits": [{"attribute": "colour", "branch": [0, 1]}]}),
    "a model that is none": ("confusion", {"model": {}}),
    "a model of nonsense": (
        "confusion",
        {"model": {"privet": "model", "version": 1, "trees": [[[[[[]]]]]]}},
    ),
    "no models": ("choose-model", {"models": []}),
    "models of nonsense": ("choose-model", {"models": [{"version": -1}] * 100}),
    "no groups": ("divide", {"n_parts": 0, "snapshot": "x"}),
    "a million groups": ("divide", {"n_parts": 1_000_000, "snapshot": "x"}),
}


@pytest.mark.parametrize(("question", "body"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_questions_that_cannot_be_asked(client, refused, question, body):
    refused(client.ask(question, {"epsilon": "0.1", **body}), 413, 422)


def test_a_list_of_cells_that_grows_without_end(there, tmp_path):
    """Every two of these cells differ in an attribute of their own, so a tree must look at all
    pairs: it is refused while it is made.
    """
    n_cells = 18
    pairs = [(i, j) for i in range(n_cells) for j in range(i + 1, n_cells)]
    wide = Schema({f"{i} or {j}": Categorical(["no", "yes"]) for i, j in pairs}, "y", ["no", "yes"])
    path = tmp_path / "wide.csv"
    path.write_text(
        ",".join([*wide.names, "y"]) + "\n" + ",".join(["no"] * (len(pairs) + 1)) + "\n"
    )
    there.state.accounts.add_dataset("wide", str(path), wide)
    there.state.ledger.open_cap("wide", Budget(1))
    there.add("eve", 1, "wide")
    cells = [
        {f"{i} or {j}": [int(cell == j)] for i, j in pairs if cell in (i, j)}
        for cell in range(n_cells)
    ]
    with there.service.client(there.tokens["eve"]) as client:
        answer = client.ask("count", {"epsilon": "0.1", "cells": [cells]}, dataset="wide")
        assert answer.status == 422
        assert "more than 65536 nodes" in answer.problem["detail"]
        assert client.get("datasets/wide").status == 200
    assert there.state.ledger.entries("wide") == []
