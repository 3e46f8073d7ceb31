"""A server of a small outsourced table, asked without a network."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient

from privet.outsource.server.app import create_app
from privet.outsource.server.state import ServerLimits, ServerState
from tests.outsource.store import tables

#: Nobody is too fast: tests ask as quickly as they can.
FAST = ServerLimits(rate=100_000, burst=100_000)


class Asker:
    """What a client's program does."""

    def __init__(self, http: TestClient, token: str) -> None:
        self.http, self.headers = http, {"Authorization": f"Bearer {token}"}

    def get(self, path: str, **params):
        return self.http.get(f"/v1/{path}", params=params, headers=self.headers)

    def post(self, path: str, body):
        return self.http.post(f"/v1/{path}", json=body, headers=self.headers)

    def put(self, path: str, body):
        return self.http.put(f"/v1/{path}", json=body, headers=self.headers)

    def delete(self, path: str):
        return self.http.delete(f"/v1/{path}", headers=self.headers)


def problem(response, status: int, kind: str) -> dict:
    """The problem that an answer must be."""
    assert response.headers["content-type"] == "application/problem+json", response.text
    told = response.json()
    assert (response.status_code, told["status"]) == (status, status), told
    assert told["type"] == f"urn:privet:problem:{kind}"
    assert told["title"]
    assert told["detail"]
    return told


@pytest.fixture
def made():
    return tables.halves()


@pytest.fixture
def state(tmp_path, made) -> ServerState:
    return ServerState.make(tmp_path / "server", tables.folder(tmp_path / "folder", made))


@pytest.fixture
def token(state) -> str:
    return state.accounts.add_analyst("ada")


@pytest.fixture
def limits() -> ServerLimits:
    return FAST


@pytest.fixture
def http(state, limits):
    with TestClient(
        create_app(state, limits), base_url="http://127.0.0.1", raise_server_exceptions=False
    ) as client:
        yield client


@pytest.fixture
def ada(http, token) -> Asker:
    return Asker(http, token)


@pytest.fixture
def tree(ada) -> dict:
    return ada.post("trees", {}).json()


@pytest.fixture
def leaf(ada, tree) -> int:
    return ada.post(f"trees/{tree['id']}/leaves", {"rows": [["red", 20]]}).json()["leaves"][0]
