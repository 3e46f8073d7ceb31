"""A client whose token is not for those who have the key can ask base trees, and do no harm."""

from __future__ import annotations

import pytest

from privet.errors import OutsourceError, ParameterError
from tests.outsource.server.conftest import Asker, problem
from tests.outsource.server.test_refusals import ROUTES, TREE

ALLOWED = {("GET", "about"), ("GET", f"trees/{TREE}"), ("POST", f"trees/{TREE}/predictions")}


@pytest.fixture
def bob(http, state) -> Asker:
    return Asker(http, state.add_client("bob", "ask"))


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_it_reads_base_trees_and_nothing_else(bob, ada, tree, method, path):
    path = path.replace(TREE, tree["id"])
    before = ada.get("about").json()
    answer = bob.http.request(
        method, f"/v1/{path}", headers=bob.headers, json={} if method == "POST" else None
    )
    if (method, path.replace(tree["id"], TREE)) in ALLOWED:
        assert answer.status_code in (200, 422)
    else:
        problem(answer, 403, "access")
    assert ada.get("about").json() == before


def test_it_classifies(bob, tree):
    answer = bob.post(f"trees/{tree['id']}/predictions", {"rows": [["red", 20]]})
    assert len(answer.json()["classes"]) == 1


def test_a_role_counts_from_the_next_request_on(bob, ada, state):
    problem(bob.get("rows"), 403, "access")
    state.set_role("bob", "key")
    assert bob.get("rows").status_code == 200
    state.set_role("bob", "ask")
    problem(bob.get("rows"), 403, "access")
    assert ada.get("rows").status_code == 200


def test_tokens_of_0_1_are_good_for_everything(ada, state):
    """Nobody had a role then, and nothing was written about it."""
    assert not (state.path / "roles.sqlite").exists()
    assert ada.get("rows").status_code == 200


def test_somebody_who_comes_back_has_the_role_that_is_given_then(http, state):
    state.add_client("eve", "ask")
    state.accounts.remove_analyst("eve")
    assert Asker(http, state.add_client("eve")).get("rows").status_code == 200


def test_roles_that_do_not_exist_and_clients_who_do_not(state):
    with pytest.raises(ParameterError, match="role"):
        state.add_client("eve", "owner")
    assert "eve" not in state.accounts.analysts()
    with pytest.raises(ParameterError, match="no client"):
        state.set_role("nobody", "ask")


def test_roles_that_cannot_be_read_let_nobody_do_more(bob, state):
    (state.path / "roles.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(OutsourceError):
        state.roles.of("bob")
    problem(bob.get("rows"), 503, "store")
