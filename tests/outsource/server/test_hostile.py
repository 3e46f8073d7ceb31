"""Bodies that nobody means well with: every answer is a problem, none is an error of the server."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from privet.outsource.server.app import create_app
from privet.outsource.server.state import ServerState
from tests.outsource.server.conftest import FAST, Asker
from tests.outsource.store import tables

DEEP = 100_000
BODIES = {
    "nothing": b"",
    "no JSON": b"\x00\xff",
    "half": b'{"version": 1',
    "deep lists": b"[" * DEEP,
    "deep lists that end": b"[" * DEEP + b"]" * DEEP,
    "deep rows": b'{"rows": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "NaN": (
        b'{"rows": [["red", NaN]], "version": NaN, "leaf_size": NaN, "sealed": NaN, "replaces": '
        b"NaN}"
    ),
    "Infinity": (
        b'{"rows": [["red", Infinity]], "version": -Infinity, "leaf_size": Infinity, "sealed": "", '
        b'"replaces": Infinity}'
    ),
    "a number of a million digits": b'{"version": ' + b"9" * 1_000_000 + b"}",
    "a number of many digits": b'{"version": '
    + b"9" * 4000
    + b', "leaf_size": '
    + b"9" * 4000
    + b"}",
    "a large exponent": b'{"version": 1e999999, "leaf_size": 1e308, "rows": [["red", 1e999999]], "replaces": 1e999}',  # noqa: E501
    "a name twice": (
        b'{"version": 1, "version": 1, "rows": [], "rows": [], "sealed": "", "sealed": "", '
        b'"leaf_size": 1, "leaf_size": 2}'
    ),
    "a lone surrogate": (
        b'{"rows": [["\\ud800", 1]], "version": 1, "splits": "\\ud800", "sealed": "\\ud800", '
        b'"replaces": null}'
    ),
    "not UTF-8": b'{"rows": [["\xff\xfe", 1]]}',
    "a list": b"[]",
    "null": b"null",
    "a text": b'"rows"',
    "a number": b"1",
    "rows of everything": b'{"rows": [1, null, "x", {}, []], "version": []}',
    "UTF-16": '{"version": 1}'.encode("utf-16"),
}
ROUTES = [
    ("POST", "trees"),
    ("POST", "trees/{tree}/predictions"),
    ("POST", "trees/{tree}/leaves"),
    ("POST", "trees/{tree}/contents"),
    ("POST", "trees/{tree}/subtrees"),
    ("PUT", "trees/{tree}/leaves/{leaf}/subtree"),
    ("PUT", "sealed/naive"),
    ("POST", "changes"),
]


@pytest.fixture(scope="module")
def asked(tmp_path_factory):
    """One server for all that is hostile, and a fingerprint of what it holds."""
    folder = tmp_path_factory.mktemp("hostile")
    state = ServerState.make(folder / "server", tables.folder(folder / "folder"))
    with TestClient(
        create_app(state, FAST), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as http:
        ada = Asker(http, state.accounts.add_analyst("ada"))
        tree = ada.post("trees", {}).json()["id"]
        leaf = ada.post(f"trees/{tree}/leaves", {"rows": [["red", 20]]}).json()["leaves"][0]
        yield ada, tree, leaf


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize("body", BODIES)
def test_a_hostile_body_is_refused(body, method, path, asked):
    ada, tree, leaf = asked
    headers = {**ada.headers, "Content-Type": "application/json"}
    before = ada.get("about").json()
    response = ada.http.request(
        method, f"/v1/{path.format(tree=tree, leaf=leaf)}", content=BODIES[body], headers=headers
    )
    assert 400 <= response.status_code < 500, (response.status_code, response.text[:300])
    assert response.headers["content-type"] == "application/problem+json"
    assert len(response.content) < 10_000
    assert ada.get("about").json() == before


def test_numbers_that_no_column_holds_are_still_cells(asked):
    ada, tree, _ = asked
    rows = [
        ["red", 10**400],
        ["red", -(10**400)],
        ["red", 1e308],
        ["red", -0.0],
        [10**400, 5],
        ["x" * 100_000, 5],
        ["\x00", "\x00"],
    ]
    response = ada.post(f"trees/{tree}/predictions", {"rows": rows})
    assert response.status_code == 200
    assert len(response.json()["classes"]) == len(rows)


@pytest.mark.parametrize(
    "headers",
    [{"Content-Type": "text/plain"}, {"Content-Type": "application/x-www-form-urlencoded"}, {}],
)
def test_a_body_that_does_not_say_that_it_is_json(headers, asked):
    ada, *_ = asked
    response = ada.http.post(
        "/v1/changes", content=b'{"version": 99}', headers={**ada.headers, **headers}
    )
    assert 400 <= response.status_code < 500


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
_NAMES = ["version", "id", "rows", "values", "remove_rows", "pending", "remove_pending", "reseal"]
_ROW = st.fixed_dictionaries(
    {}, optional={"cells": _JSON, "pruning": _JSON, "gid": _JSON, "eseq": _JSON}
)
_BODY = st.dictionaries(
    st.sampled_from(_NAMES), _JSON | st.lists(_ROW, max_size=2), max_size=4
).map(lambda told: {"version": 1, **told})


@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(body=_BODY)
def test_changes_of_any_shape_are_refused_or_done(body, asked):
    ada, *_ = asked
    body["version"] = (
        ada.get("about").json()["version"] if body["version"] == 1 else body["version"]
    )
    response = ada.post("changes", json.loads(json.dumps(body)))
    assert response.status_code in (200, 409, 422), response.text


@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    rows=_JSON | st.lists(st.lists(_JSON, min_size=2, max_size=2), max_size=3),
    route=st.sampled_from(["predictions", "leaves"]),
)
def test_rows_of_any_shape_are_refused_or_placed(rows, route, asked):
    ada, tree, _ = asked
    response = ada.post(f"trees/{tree}/{route}", {"rows": rows})
    assert response.status_code in (200, 422), response.text
