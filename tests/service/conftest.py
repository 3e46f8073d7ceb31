"""A curator's home with one table of 200 people and two analysts."""

from __future__ import annotations

import shutil
from pathlib import Path

import duckdb
import pandas as pd
import pytest
from starlette.testclient import TestClient

from privet.budget import Budget
from privet.schema import Categorical, Numeric, Schema
from privet.service.app import create_app
from privet.service.home import Home
from privet.service.limits import Limits

#: Times as they are, and nobody too fast: tests ask as quickly as they can.
FAST = Limits(rate=100_000, burst=100_000, first_step=0)


@pytest.fixture
def schema() -> Schema:
    attributes = {"colour": Categorical(["red", "green", "blue"]), "age": Numeric(0, 80, bins=4)}
    return Schema(
        attributes=attributes, target="ill", classes=["no", "yes"], person="who", rows_per_person=1
    )


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


@pytest.fixture
def place(tmp_path, table_file) -> str:
    path = shutil.copy(table_file, tmp_path / "people.db")
    return f"duckdb:////{str(path).lstrip('/')}?table=people"


@pytest.fixture
def home(tmp_path, place, schema) -> Home:
    made, owner = Home.make(tmp_path / "curator")
    made.accounts.add_dataset("people", place, schema)
    made.ledger.open_cap("people", Budget(3))
    object.__setattr__(made, "tokens", {"owner": owner})
    for analyst, epsilon in (("ada", 2), ("bob", 2)):
        made.tokens[analyst] = made.accounts.add_analyst(analyst)
        made.ledger.set_cap("people", Budget(epsilon), analyst)
        made.accounts.grant(analyst, "people")
    return made


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


@pytest.fixture
def client(home):
    with TestClient(create_app(home, FAST), base_url="http://127.0.0.1") as client:
        yield client


@pytest.fixture
def ada(client, home) -> Analyst:
    return Analyst(client, home.tokens["ada"])


@pytest.fixture
def bob(client, home) -> Analyst:
    return Analyst(client, home.tokens["bob"])
