"""What is refused: with a status, a reason, and no word of what was sent."""

from __future__ import annotations

import base64
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from privet.outsource.server.app import create_app
from privet.outsource.server.state import ServerState
from privet.outsource.store.base import StoreLimits
from tests.outsource.server.conftest import FAST, Asker, problem
from tests.outsource.server.test_routes import group, text
from tests.outsource.store import tables

SECRET = "s3cr3t"
TREE = "0" * 32

REFUSED = {
    "splits": ("POST", "trees", {"splits": SECRET}, 422),
    "leaf size 0": ("POST", "trees", {"leaf_size": 0}, 422),
    "leaf size text": ("POST", "trees", {"leaf_size": SECRET}, 422),
    "leaf size huge": ("POST", "trees", {"leaf_size": 10**9 + 1}, 422),
    "leaf size fraction": ("POST", "trees", {"leaf_size": 2.5}, 422),
    "leaf size true": ("POST", "trees", {"leaf_size": True}, 422),
    "depth negative": ("POST", "trees", {"max_depth": -1}, 422),
    "a word too many": ("POST", "trees", {SECRET: 1}, 422),
    "no object": ("POST", "trees", [SECRET], 422),
    "no tree": ("GET", f"trees/{TREE}", None, 404),
    "no tree to delete": ("DELETE", f"trees/{TREE}", None, 404),
    "no tree to predict": ("POST", f"trees/{TREE}/predictions", {"rows": []}, 404),
    "no tree with leaves": ("POST", f"trees/{TREE}/leaves", {"rows": []}, 404),
    "no tree with rows": ("GET", f"trees/{TREE}/leaves/1/rows", None, 404),
    "no tree with a subtree": ("GET", f"trees/{TREE}/leaves/1/subtree", None, 404),
    "no tree for a subtree": (
        "PUT",
        f"trees/{TREE}/leaves/1/subtree",
        {"sealed": "", "replaces": None},
        404,
    ),
    "a name that is no tree": ("GET", f"trees/{SECRET}%27%20OR%201", None, 404),
    "cells too few": ("POST", "trees/{tree}/predictions", {"rows": [["red", 1], [SECRET]]}, 422),
    "cells too many": ("POST", "trees/{tree}/leaves", {"rows": [["red", 1, SECRET]]}, 422),
    "a cell that is a list": ("POST", "trees/{tree}/leaves", {"rows": [["red", [SECRET]]]}, 422),
    "a cell that is true": ("POST", "trees/{tree}/leaves", {"rows": [["red", True]]}, 422),
    "rows that are none": ("POST", "trees/{tree}/leaves", {"rows": {SECRET: 1}}, 422),
    "no rows": ("POST", "trees/{tree}/leaves", {}, 422),
    "no leaf": ("GET", "trees/{tree}/leaves/99999/rows", None, 404),
    "leaf negative": ("GET", "trees/{tree}/leaves/-1/rows", None, 422),
    "leaf that is no number": ("GET", f"trees/{{tree}}/leaves/{SECRET}/rows", None, 422),
    "leaf huge": ("GET", f"trees/{{tree}}/leaves/{10**30}/rows", None, 422),
    "no such subtree": ("GET", "trees/{tree}/leaves/99999/subtree", None, 404),
    "a subtree for no leaf": (
        "PUT",
        "trees/{tree}/leaves/99999/subtree",
        {"sealed": "", "replaces": None},
        404,
    ),
    "a subtree for an inner node": (
        "PUT",
        "trees/{tree}/leaves/0/subtree",
        {"sealed": "", "replaces": None},
        404,
    ),
    "limit 0": ("GET", "rows?limit=0", None, 422),
    "limit large": ("GET", "rows?limit=10001", None, 422),
    "limit text": ("GET", f"rows?limit={SECRET}", None, 422),
    "after text": ("GET", f"rows?after={SECRET}", None, 422),
    "after huge": ("GET", f"rows?after={10**30}", None, 422),
    "after below": ("GET", "rows?after=-2", None, 422),
    "another parameter": ("GET", f"rows?{SECRET}=1", None, 422),
    "pending after below": ("GET", "pending?after=-1", None, 422),
    "pending limit": ("GET", "pending?limit=10001", None, 422),
    "no base64": ("PUT", "sealed/naive", {"sealed": f"{SECRET}!", "replaces": None}, 422),
    "base64 without its end": ("PUT", "sealed/naive", {"sealed": "AAA", "replaces": None}, 422),
    "base64 of another alphabet": (
        "PUT",
        "sealed/naive",
        {"sealed": "-_-_", "replaces": None},
        422,
    ),
    "base64 not of ASCII": ("PUT", "sealed/naive", {"sealed": "ЖЖЖЖ", "replaces": None}, 422),
    "no word about what it replaces": ("PUT", "sealed/naive", {"sealed": ""}, 422),
    "replaces text": ("PUT", "sealed/naive", {"sealed": "", "replaces": SECRET}, 422),
    "replaces negative": ("PUT", "sealed/naive", {"sealed": "", "replaces": -1}, 422),
    "replaces huge": ("PUT", "sealed/naive", {"sealed": "", "replaces": 10**30}, 422),
    "a name of capitals": ("PUT", "sealed/NAIVE", {"sealed": "", "replaces": None}, 422),
    "a long name": ("GET", f"sealed/{'a' * 65}", None, 422),
    "a name with a line's end": ("GET", "sealed/naive%0A", None, 422),
    "no version": ("POST", "changes", {}, 422),
    "version text": ("POST", "changes", {"version": SECRET}, 422),
    "version huge": ("POST", "changes", {"version": 10**30}, 422),
    "a gid huge": ("POST", "changes", {"version": 1, "remove_rows": [10**30]}, 422),
    "a row without cells": (
        "POST",
        "changes",
        {"version": 1, "rows": [{"pruning": True, "gid": 1, "eseq": "AAAA"}]},
        422,
    ),
    "a value of two": ("POST", "changes", {"version": 1, "values": [[1, 2]]}, 422),
    "a value that is no text": ("POST", "changes", {"version": 1, "values": [[1, 2, 3]]}, 422),
    "a pending that is no base64": (
        "POST",
        "changes",
        {"version": 1, "pending": ["AAAA", f"{SECRET}!"]},
        422,
    ),
    "no such route": ("GET", f"{SECRET}", None, 404),
    "no such method": ("DELETE", "rows", None, 405),
}


@pytest.fixture(scope="module")
def unchanged(tmp_path_factory):
    """One server for all that changes nothing."""
    folder = tmp_path_factory.mktemp("refusals")
    state = ServerState.make(folder / "server", tables.folder(folder / "folder"))
    app = create_app(state, replace(FAST, strangers=100_000))
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as http:
        ada = Asker(http, state.accounts.add_analyst("ada"))
        yield ada, ada.post("trees", {}).json()


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_without_repeating_what_came(name, unchanged):
    ada, tree = unchanged
    before = ada.get("about").json()
    method, path, body, status = REFUSED[name]
    sent = {} if body is None else {"json": body}
    response = ada.http.request(
        method, f"/v1/{path.replace('{tree}', tree['id'])}", headers=ada.headers, **sent
    )
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert SECRET not in response.text
    assert ada.get("about").json() == before


def test_changes_that_are_refused_name_the_position(ada):
    before = ada.get("about").json()
    bad = group(("flu", "plague"))
    told = problem(ada.post("changes", {"version": 1, **bad}), 422, "parameter")
    assert told["detail"].startswith("values.1: ")
    assert "plague" not in str(told)
    bad = group()
    bad["rows"][1]["cells"][0] = SECRET
    told = problem(ada.post("changes", {"version": 1, **bad}), 422, "parameter")
    assert told["detail"].startswith("rows.1.cells: ")
    assert SECRET not in str(told)
    bad = group()
    bad["rows"][0]["eseq"] = f"{SECRET}!"
    assert (
        problem(ada.post("changes", {"version": 1, **bad}), 422, "parameter")["detail"]
        == "rows.0.eseq: must be base64"
    )
    assert ada.get("about").json() == before


@pytest.mark.parametrize("limits", [replace(FAST, sealed=1000)])
def test_what_is_sealed_has_a_size(ada, tree, leaf):
    assert ada.get("about").json()["sealed_limit"] == 1000
    for path in ("sealed/naive", f"trees/{tree['id']}/leaves/{leaf}/subtree"):
        problem(ada.put(path, {"sealed": text(bytes(1001)), "replaces": None}), 413, "too-large")
        problem(ada.get(path), 404, "not-found")
        assert ada.put(path, {"sealed": text(bytes(1000)), "replaces": None}).status_code == 201


@pytest.mark.parametrize("limits", [replace(FAST, body=1000)])
def test_a_request_has_a_size(ada):
    problem(
        ada.put("sealed/naive", {"sealed": text(bytes(1000)), "replaces": None}), 413, "too-large"
    )


@pytest.mark.parametrize("limits", [replace(FAST, room=StoreLimits(trees=2))])
def test_there_is_room_for_so_many_trees(ada):
    first = ada.post("trees", {}).json()
    assert ada.post("trees", {}).status_code == 201
    assert "delete one first" in problem(ada.post("trees", {}), 409, "full")["detail"]
    ada.delete(f"trees/{first['id']}")
    assert ada.post("trees", {}).status_code == 201


@pytest.mark.parametrize("limits", [replace(FAST, room=StoreLimits(trees=3), at_once_each=16)])
def test_of_trees_that_grow_at_once_no_more_are_kept_than_there_is_room_for(ada):
    with ThreadPoolExecutor(8) as pool:
        found = sorted(pool.map(lambda _: ada.post("trees", {}).status_code, range(8)))
    assert found == [201] * 3 + [409] * 5


@pytest.mark.parametrize("limits", [replace(FAST, room=StoreLimits(pending=3, pending_bytes=10))])
def test_pending_objects_have_a_size_and_a_number(ada):
    told = problem(
        ada.post("changes", {"version": 1, "pending": [text(b"a"), text(bytes(11))]}),
        422,
        "parameter",
    )
    assert told["detail"].startswith("pending.1: ")
    assert ada.post("changes", {"version": 1, "pending": [text(bytes(10))] * 3}).status_code == 200
    told = problem(ada.post("changes", {"version": 2, "pending": [text(b"a")]}), 422, "parameter")
    assert "at most 3 can wait" in told["detail"]


@pytest.mark.parametrize("limits", [replace(FAST, at_once_each=16)])
def test_of_puts_at_once_exactly_one_wins(ada, tree, leaf):
    for path in (f"trees/{tree['id']}/leaves/{leaf}/subtree", "sealed/naive"):
        for version in (None, 1, 2):
            with ThreadPoolExecutor(8) as pool:
                bodies = {text(b"%d" % i): None for i in range(8)}

                def put(body: str, path: str = path, version: int | None = version):
                    return body, ada.put(path, {"sealed": body, "replaces": version})

                answers = list(pool.map(put, bodies))
            won = [(body, answer.json()) for body, answer in answers if answer.status_code == 201]
            assert len(won) == 1
            new = (version or 0) + 1
            assert won[0][1] == {"version": new}
            assert ada.get(path).json() == {"version": new, "sealed": won[0][0]}
            for _, answer in answers:
                if answer.status_code != 201:
                    assert problem(answer, 409, "conflict")["version"] == new


@pytest.mark.parametrize("limits", [replace(FAST, at_once_each=16)])
def test_of_changes_at_once_exactly_one_wins(ada):
    changes = [{"version": 1, **group()} for _ in range(6)]
    n = ada.get("about").json()["rows"]
    with ThreadPoolExecutor(6) as pool:
        found = sorted(
            answer.status_code
            for answer in pool.map(lambda change: ada.post("changes", change), changes)
        )
    assert found == [200] + [409] * 5
    assert ada.get("about").json()["rows"] == n + 2


ROUTES = [
    ("GET", "about"),
    ("POST", "trees"),
    ("GET", f"trees/{TREE}"),
    ("DELETE", f"trees/{TREE}"),
    ("POST", f"trees/{TREE}/predictions"),
    ("POST", f"trees/{TREE}/leaves"),
    ("POST", f"trees/{TREE}/contents"),
    ("POST", f"trees/{TREE}/subtrees"),
    ("GET", f"trees/{TREE}/leaves/1/rows"),
    ("GET", "rows"),
    ("GET", f"trees/{TREE}/leaves/1/subtree"),
    ("PUT", f"trees/{TREE}/leaves/1/subtree"),
    ("GET", "sealed/naive"),
    ("PUT", "sealed/naive"),
    ("GET", "pending"),
    ("POST", "changes"),
]


@pytest.mark.parametrize(("method", "path"), ROUTES)
@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic YTpi"}]
)
def test_nobody_comes_in_without_a_token(method, path, headers, unchanged):
    response = unchanged[0].http.request(method, f"/v1/{path}", headers=headers, content=b"{}")
    problem(response, 401, "access")
    assert response.headers["www-authenticate"] == "Bearer"


def test_the_routes_without_a_token_are_all_routes(http):
    told = http.get("/v1/openapi.json").json()["paths"]
    named = {
        (
            method.upper(),
            path.replace("{tree}", TREE).replace("{leaf}", "1").replace("{name}", "naive"),
        )
        for path in told
        for method in told[path]
    }
    assert named == {(method, f"/v1/{path}") for method, path in ROUTES}


def test_a_token_that_was_revoked_or_replaced_ends_at_once(state, ada, http):
    assert ada.get("about").status_code == 200
    again = Asker(http, state.accounts.new_token("ada"))
    problem(ada.get("about"), 401, "access")
    assert again.get("about").status_code == 200
    state.accounts.revoke("ada")
    problem(again.get("about"), 401, "access")


@pytest.mark.parametrize("limits", [replace(FAST, rate=0.001, burst=3)])
def test_a_client_in_a_hurry_has_to_wait(ada):
    for _ in range(3):
        assert ada.get("about").status_code == 200
    response = ada.get("about")
    problem(response, 429, "too-many-requests")
    assert int(response.headers["retry-after"]) > 0


@pytest.mark.parametrize("limits", [replace(FAST, strangers=0.001)])
def test_a_stranger_has_to_wait(http):
    found = [http.get("/v1/about").status_code for _ in range(25)]
    assert found[:20] == [401] * 20
    assert found[20:] == [429] * 5


def test_an_unexpected_error_tells_no_row(ada, http, monkeypatch):
    def page(*_):
        raise RuntimeError("who: p7, disease: flu")

    monkeypatch.setattr(http.app.state.handlers.store, "page", page)
    told = problem(ada.get("rows"), 500, "internal")
    assert "flu" not in str(told)


def test_a_store_that_fails_is_said_to_and_where_it_is_is_not(ada, http, state):
    http.app.state.handlers.store.close()
    response = ada.get("about")
    told = problem(response, 503, "store")
    assert str(state.path) not in str(told)
    assert response.headers["retry-after"] == "1"


def test_base64_with_line_ends_is_refused(ada):
    body = base64.encodebytes(bytes(100)).decode()
    problem(ada.put("sealed/naive", {"sealed": body, "replaces": None}), 422, "parameter")
