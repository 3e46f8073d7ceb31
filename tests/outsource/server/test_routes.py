"""Every route, used as it is meant."""

from __future__ import annotations

import base64
import json
import os
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from privet.domain.encode.rows import encode
from privet.model.structure import tree_from
from privet.outsource.anatomy import STATEMENT, Anatomy
from privet.outsource.server.app import create_app
from privet.outsource.server.state import ServerState
from tests.outsource.server.conftest import FAST, Asker, problem
from tests.outsource.store import tables


def text(body: bytes) -> str:
    return base64.b64encode(body).decode()


def group(diseases=("flu", "gout")) -> dict:
    rows, values = tables.new_group(diseases)
    told = [
        {"cells": list(row.cells), "pruning": row.pruning, "gid": row.gid, "eseq": text(row.eseq)}
        for row in rows
    ]
    return {"rows": told, "values": [list(value) for value in values]}


def test_the_server_tells_about_its_table(ada, made):
    told = ada.get("about").json()
    assert Anatomy.from_json(told["anatomy"]) == made.anatomy
    assert (told["rows"], told["values"], told["version"], told["pending"]) == (
        len(made.identifiers),
        len(made.values),
        1,
        0,
    )
    assert told["groups"] == len(set(made.values.gid.tolist()))
    assert told["sealed_limit"] == 1 << 24
    assert told["statement"] == STATEMENT
    assert told["trees"] == []
    first, second = (
        ada.post("trees", {}).json(),
        ada.post("trees", {"splits": "binary", "leaf_size": 4, "max_depth": 3}).json(),
    )
    assert ada.get("about").json()["trees"] == [second, first]


def test_a_tree(ada, made):
    response = ada.post("trees", {"splits": "binary", "leaf_size": 3, "max_depth": None})
    assert response.status_code == 201
    summary = response.json()
    assert set(summary) == {
        "id",
        "made",
        "splits",
        "leaf_size",
        "max_depth",
        "leaves",
        "largest",
        "changed",
    }
    assert (summary["splits"], summary["leaf_size"], summary["max_depth"], summary["changed"]) == (
        "binary",
        3,
        None,
        0,
    )
    told = ada.get(f"trees/{summary['id']}").json()
    assert {key: told[key] for key in summary} == summary
    tree = tree_from(made.anatomy.identifying, told["structure"], 0)
    reached = tree.reach(
        encode(made.anatomy.identifying, made.identifiers.frame(made.anatomy)).codes
    ).tolist()
    assert told["sizes"] == [[leaf, reached.count(leaf)] for leaf in sorted(set(reached))]
    assert summary["largest"] == max(n for _, n in told["sizes"])
    assert summary["leaves"] == len(tree.leaves)
    assert told["refined"] == []
    assert ada.delete(f"trees/{summary['id']}").status_code == 204
    problem(ada.get(f"trees/{summary['id']}"), 404, "not-found")


def test_predictions_are_those_of_the_tree(ada, tree):
    rows = [["red", "10"], ["red", 79], ["blue", 10.5], ["mauve", 10], [None, None], ["red", None]]
    told = ada.post(f"trees/{tree['id']}/predictions", {"rows": rows}).json()
    assert told["classes"][:3] == ["yes", "no", "no"]
    reached = ada.post(f"trees/{tree['id']}/leaves", {"rows": rows}).json()
    assert reached["classes"] == told["classes"]
    assert reached["subtrees"] == {}
    attribute = ada.get(f"trees/{tree['id']}").json()["structure"]["attribute"]
    assert [attribute[leaf] for leaf in reached["leaves"][:3]] == [-1, -1, -1]
    assert attribute[reached["leaves"][4]] >= 0  # nothing is known: it stops where that matters
    assert ada.post(f"trees/{tree['id']}/predictions", {"rows": []}).json() == {"classes": []}
    assert ada.post(f"trees/{tree['id']}/leaves", {"rows": []}).json() == {
        "leaves": [],
        "classes": [],
        "subtrees": {},
    }


def test_numbers_and_texts_of_them_are_the_same_cell(ada, tree):
    told = ada.post(
        f"trees/{tree['id']}/leaves", {"rows": [["red", 10], ["red", 10.0], ["red", "10"]]}
    ).json()
    assert len(set(told["leaves"])) == 1


def read(ada, path: str, limit: int) -> list[dict]:
    rows, after = [], -1
    while after is not None:
        page = ada.get(path, after=after, limit=limit).json()
        rows, after = rows + page["rows"], page["next"]
        assert len(page["rows"]) <= limit
    return rows


def test_rows_with_their_candidates(ada, tree, made):
    rows = read(ada, "rows", 50)
    assert [row["row"] for row in rows] == list(range(len(made.identifiers)))
    for i, row in enumerate(rows):
        assert row["cells"] == made.identifiers.row(i)
        assert base64.b64decode(row["eseq"]) == made.identifiers.eseq[i]
        assert (row["pruning"], row["gid"]) == (
            bool(made.identifiers.pruning[i]),
            int(made.identifiers.gid[i]),
        )
        assert [seq for seq, _ in row["candidates"]] == sorted(
            made.values.seq[made.values.gid == row["gid"]].tolist()
        )
    sizes = ada.get(f"trees/{tree['id']}").json()["sizes"]
    in_leaves = [
        row for leaf, _ in sizes for row in read(ada, f"trees/{tree['id']}/leaves/{leaf}/rows", 7)
    ]
    assert sorted(in_leaves, key=lambda row: row["row"]) == rows
    assert ada.get("rows", after=len(rows)).json() == {"rows": [], "next": None, "version": 1}


def test_a_sealed_subtree(ada, tree, leaf):
    path = f"trees/{tree['id']}/leaves/{leaf}/subtree"
    problem(ada.get(path), 404, "not-found")
    made = ada.put(path, {"sealed": text(b"\x00\xffone"), "replaces": None})
    assert (made.status_code, made.json()) == (201, {"version": 1})
    assert ada.get(path).json() == {"version": 1, "sealed": text(b"\x00\xffone")}
    assert (
        problem(ada.put(path, {"sealed": text(b"two"), "replaces": None}), 409, "conflict")[
            "version"
        ]
        == 1
    )
    assert (
        problem(ada.put(path, {"sealed": text(b"two"), "replaces": 7}), 409, "conflict")["version"]
        == 1
    )
    assert ada.put(path, {"sealed": text(b"two"), "replaces": 1}).json() == {"version": 2}
    assert ada.get(f"trees/{tree['id']}").json()["refined"] == [[leaf, 2]]
    told = ada.post(f"trees/{tree['id']}/leaves", {"rows": [["red", 20], ["blue", 10]]}).json()
    assert told["subtrees"] == {str(leaf): {"version": 2, "sealed": text(b"two")}}


def test_sealed_subtrees_come_along_as_long_as_they_are_small(ada, tree):
    leaves = [leaf for leaf, _ in ada.get(f"trees/{tree['id']}").json()["sizes"]][:3]
    for leaf in leaves:
        assert (
            ada.put(
                f"trees/{tree['id']}/leaves/{leaf}/subtree",
                {"sealed": text(bytes(400_000)), "replaces": None},
            ).status_code
            == 201
        )
    rows = [[colour, age] for colour in tables.COLOURS for age in (10, 30, 50, 70)]
    told = ada.post(f"trees/{tree['id']}/leaves", {"rows": rows}).json()["subtrees"]
    assert [told[str(leaf)]["version"] for leaf in leaves] == [1, 1, 1]
    assert [told[str(leaf)]["sealed"] is None for leaf in leaves] == [False, False, True]
    assert ada.get(f"trees/{tree['id']}/leaves/{leaves[2]}/subtree").json()["sealed"] == text(
        bytes(400_000)
    )


def test_other_sealed_objects(ada):
    problem(ada.get("sealed/naive"), 404, "not-found")
    assert ada.put("sealed/naive", {"sealed": text(b"one"), "replaces": None}).json() == {
        "version": 1
    }
    assert ada.get("sealed/naive").json() == {"version": 1, "sealed": text(b"one")}
    assert (
        problem(ada.put("sealed/naive", {"sealed": "", "replaces": None}), 409, "conflict")[
            "version"
        ]
        == 1
    )
    for i in range(15):
        assert ada.put(f"sealed/another-{i}", {"sealed": "", "replaces": None}).status_code == 201
    problem(ada.put("sealed/one-too-many", {"sealed": "", "replaces": None}), 409, "full")
    assert ada.put("sealed/naive", {"sealed": "", "replaces": 1}).json() == {"version": 2}


def test_a_change_makes_a_new_version_of_the_table(ada, tree, leaf):
    path = f"trees/{tree['id']}/leaves/{leaf}/subtree"
    ada.put(path, {"sealed": "", "replaces": None})
    n = ada.get("about").json()["rows"]
    change = {
        "version": 1,
        **group(),
        "remove_rows": [0],
        "pending": [text(b"a"), text(b"b")],
        "reseal": [[1, text(b"anew")]],
    }
    assert ada.post("changes", change).json() == {"version": 2, "pending_ids": [1, 2]}
    told = ada.get("about").json()
    assert (told["version"], told["rows"], told["values"], told["pending"]) == (2, n + 1, n + 2, 2)
    assert told["trees"][0]["changed"] == 3
    assert problem(ada.post("changes", change), 409, "conflict")["version"] == 2
    rows = ada.get("rows", limit=10_000).json()
    assert rows["version"] == 2
    assert [row["row"] for row in rows["rows"]] == list(range(1, n + 2))
    assert rows["rows"][0]["eseq"] == text(b"anew")
    problem(ada.get(path), 404, "not-found")  # red and 20 is where the new rows are
    assert ada.get("pending").json() == {
        "pending": [[1, text(b"a")], [2, text(b"b")]],
        "next": None,
    }
    assert ada.get("pending", limit=1).json() == {"pending": [[1, text(b"a")]], "next": 1}
    assert ada.get("pending", after=1).json() == {"pending": [[2, text(b"b")]], "next": None}
    assert ada.post("changes", {"version": 2, "remove_pending": [1, 2]}).json() == {
        "version": 3,
        "pending_ids": [],
    }
    assert ada.get("pending").json() == {"pending": [], "next": None}


def test_a_change_with_a_name_is_done_once(ada):
    change = {"version": 1, "id": "0123456789abcdef" * 2, **group(), "pending": [text(b"a")]}
    assert ada.post("changes", change).json() == {"version": 2, "pending_ids": [1]}
    about = ada.get("about").json()
    assert ada.post("changes", change).json() == {"version": 2, "pending_ids": [1]}
    assert ada.get("about").json() == about
    problem(ada.post("changes", {**change, "id": "f" * 32}), 409, "conflict")
    problem(ada.post("changes", {**change, "id": "F" * 32}), 422, "parameter")


def test_what_was_sealed_of_older_rows_is_refused_where_it_says_so(ada, tree, leaf):
    assert ada.post("changes", {"version": 1}).json()["version"] == 2
    for path in (f"trees/{tree['id']}/leaves/{leaf}/subtree", "sealed/naive"):
        told = problem(ada.put(path, {"sealed": "", "replaces": None, "data": 1}), 409, "conflict")
        assert told["data"] == 2
        assert ada.put(path, {"sealed": "", "replaces": None, "data": 2}).status_code == 201


def test_all_clients_see_the_same(http, state, ada, tree):
    bob = Asker(http, state.accounts.add_analyst("bob"))
    assert bob.get("about").json() == ada.get("about").json()


def test_answers_are_not_to_be_kept(ada, http, tree):
    for response in (
        ada.get("about"),
        ada.get("rows"),
        ada.get(f"trees/{tree['id']}"),
        ada.get("sealed/none"),
    ):
        assert response.headers["cache-control"] == "no-store"
    assert "no-store" in http.get("/").headers["cache-control"]


def test_the_page_says_what_this_is_and_nothing_about_the_table(http, made):
    response = http.get("/")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "This is anatomization, not differential privacy" in response.text
    assert "<script" not in response.text
    assert "default-src 'none'" in response.headers["content-security-policy"]
    for secret in (
        "colour",
        made.anatomy.sensitive,
        made.anatomy.id,
        "flu",
        str(len(made.identifiers)),
        "l = ",
    ):
        assert secret not in response.text


def test_the_description_needs_no_token_and_names_every_route(http):
    told = http.get("/v1/openapi.json").json()
    assert {path: sorted(found) for path, found in told["paths"].items()} == {
        "/v1/about": ["get"],
        "/v1/trees": ["post"],
        "/v1/trees/{tree}": ["delete", "get"],
        "/v1/trees/{tree}/predictions": ["post"],
        "/v1/trees/{tree}/leaves": ["post"],
        "/v1/trees/{tree}/contents": ["post"],
        "/v1/trees/{tree}/subtrees": ["post"],
        "/v1/trees/{tree}/leaves/{leaf}/rows": ["get"],
        "/v1/rows": ["get"],
        "/v1/trees/{tree}/leaves/{leaf}/subtree": ["get", "put"],
        "/v1/sealed/{name}": ["get", "put"],
        "/v1/pending": ["get"],
        "/v1/changes": ["post"],
    }
    assert STATEMENT in told["info"]["description"]


def test_the_same_in_postgres(postgres, tmp_path, made):
    """One way through, with the store elsewhere."""
    place = f"{postgres.database()}&schema=of_a_server"
    state = ServerState.make(tmp_path / "server", tables.folder(tmp_path / "folder", made), place)
    token = state.accounts.add_analyst("ada")
    for turn in (1, 2):  # and again after it was stopped
        with TestClient(
            create_app(ServerState.open(state.path), FAST), base_url="http://127.0.0.1"
        ) as http:
            ada = Asker(http, token)
            assert ada.get("about").json()["version"] == turn
            tree = ada.post("trees", {}).json()["id"]
            leaf = ada.post(f"trees/{tree}/leaves", {"rows": [["red", 20]]}).json()["leaves"][0]
            assert (
                ada.put(
                    f"trees/{tree}/leaves/{leaf}/subtree", {"sealed": text(b"x"), "replaces": None}
                ).status_code
                == 201
            )
            assert ada.post("changes", {"version": turn, **group()}).json() == {
                "version": turn + 1,
                "pending_ids": [],
            }
            problem(ada.get(f"trees/{tree}/leaves/{leaf}/subtree"), 404, "not-found")
            assert len(read(ada, "rows", 100)) == len(made.identifiers) + 2 * turn


@pytest.mark.parametrize("limits", [replace(FAST, page_values=20)])
def test_a_page_has_no_more_candidates_than_allowed(ada, made):
    assert len(ada.get("rows", limit=10_000).json()["rows"]) <= 10
    assert len(read(ada, "rows", 10_000)) == len(made.identifiers)


def test_text_of_any_alphabet_comes_back_as_it_was(ada):
    change = {"version": 1, **group()}
    names = ['Ж "quoted" \\ \n\t', "🌿\u2028</script>"]
    for row, name in zip(change["rows"], names, strict=True):
        row["cells"][3] = name
    assert ada.post("changes", json.loads(json.dumps(change))).status_code == 200
    assert {row["cells"][3] for row in read(ada, "rows", 10_000)} >= set(names)


def test_many_rows_at_once(ada, tree):
    rows = [["red", i % 80] for i in range(10_000)]
    assert (
        len(ada.post(f"trees/{tree['id']}/predictions", {"rows": rows}).json()["classes"]) == 10_000
    )
    told = problem(
        ada.post(f"trees/{tree['id']}/predictions", {"rows": [*rows, ["red", 1]]}), 422, "parameter"
    )
    assert "at most 10000" in told["detail"]


def test_random_bytes_come_back(ada):
    body = os.urandom(1000)
    ada.put("sealed/naive", {"sealed": text(body), "replaces": None})
    assert base64.b64decode(ada.get("sealed/naive").json()["sealed"]) == body
