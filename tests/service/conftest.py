"""A curator's home with one table of 200 people and two analysts."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from starlette.testclient import TestClient

from privet.accounting.cost import Budget
from privet.domain import Categorical, Numeric, Schema
from privet.service.app import create_app
from privet.service.limits import Limits
from privet.service.state import ServiceState

#: Times as they are, and nobody too fast: tests ask as quickly as they can.
FAST = Limits(rate=100_000, burst=100_000, first_step=0)


SCHEMA = Schema(
    attributes={"colour": Categorical(["red", "green", "blue"]), "age": Numeric(0, 80, bins=4)},
    target="ill",
    classes=["no", "yes"],
    person="who",
    rows_per_person=1,
)


@pytest.fixture
def schema() -> Schema:
    return SCHEMA


def people() -> pd.DataFrame:
    rows = range(200)
    return pd.DataFrame(
        {
            "who": [f"p{i}" for i in rows],
            "colour": [["red", "green", "blue"][i % 3] for i in rows],
            "age": [float(i % 80) for i in rows],
            "ill": ["yes" if i % 4 == 0 else "no" for i in rows],
        }
    )


@pytest.fixture
def frame() -> pd.DataFrame:
    return people()


@pytest.fixture(scope="session")
def table_file(tmp_path_factory) -> Path:
    """Made once, and copied for each test."""
    path = tmp_path_factory.mktemp("people") / "people.db"
    frame = people()
    with duckdb.connect(path) as connection:
        connection.register("given", frame)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return path


def copy_table(table_file: Path, folder: Path) -> str:
    """Copy the table to a folder, and return its place."""
    path = shutil.copy(table_file, folder / "people.db")
    return f"duckdb:////{str(path).lstrip('/')}?table=people"


@pytest.fixture
def place(tmp_path, table_file) -> str:
    return copy_table(table_file, tmp_path)


def make_state(folder: Path, place: str) -> ServiceState:
    made, owner = ServiceState.make(folder / "curator")
    made.accounts.add_dataset("people", place, SCHEMA)
    made.ledger.open_cap("people", Budget(3))
    object.__setattr__(made, "tokens", {"owner": owner})
    for analyst, epsilon in (("ada", 2), ("bob", 2)):
        made.tokens[analyst] = made.accounts.add_analyst(analyst)
        made.ledger.set_cap("people", Budget(epsilon), analyst)
        made.accounts.grant(analyst, "people")
    return made


@pytest.fixture
def state(tmp_path, place) -> ServiceState:
    return make_state(tmp_path, place)


class Analyst:
    """What a program of an analyst does."""

    def __init__(self, client: TestClient, token: str) -> None:
        self.client, self.headers = client, {"Authorization": f"Bearer {token}"}

    def post(self, question, body, key=None, dataset="people", **headers):
        own = {**self.headers, **({} if key is None else {"Idempotency-Key": key}), **headers}
        return self.client.post(f"/v1/datasets/{dataset}/{question}", json=body, headers=own)

    def get(self, path, **params):
        return self.client.get(f"/v1/{path}", params=params, headers=self.headers)

    def snapshot(self):
        return self.post("snapshots", {}).json()["snapshot"]


@dataclass(frozen=True)
class Standing:
    """A service that stands for many tests, and an analyst of it."""

    state: ServiceState
    client: TestClient
    ada: Analyst


@pytest.fixture(scope="module")
def standing(tmp_path_factory, table_file) -> Iterator[Standing]:
    """For tests that are only refused, and check that: it takes longer to make a service than to be
    refused by it. A test that changes anything takes ``state`` and ``client``.
    """
    folder = tmp_path_factory.mktemp("standing")
    state = make_state(folder, copy_table(table_file, folder))
    with TestClient(create_app(state, FAST), base_url="http://127.0.0.1") as client:
        yield Standing(state, client, Analyst(client, state.tokens["ada"]))
    state.ledger.close()


@pytest.fixture
def client(state):
    with TestClient(create_app(state, FAST), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def ada(client, state) -> Analyst:
    return Analyst(client, state.tokens["ada"])


@pytest.fixture
def bob(client, state) -> Analyst:
    return Analyst(client, state.tokens["bob"])
