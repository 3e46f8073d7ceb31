"""A database with a ledger, the SQL functions, a table, and roles of analysts. Its owner is no
superuser.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest

from privet import Categorical, Numeric, Schema
from privet.accounting.cost import Budget
from privet.accounting.ledger import PostgresLedger
from privet.service.sql import SQLFunctions

SCHEMA = Schema(
    {"color": Categorical(["red", "green", "blue"]), "age": Numeric(0, 100, bins=10)},
    target="class",
    classes=["no", "yes"],
)


@dataclass
class Place:
    """A database that belongs to a role of its own."""

    url: str  # of a superuser
    ledger: PostgresLedger
    functions: SQLFunctions

    def connect(self, role=None, **options):
        import psycopg

        return psycopg.connect(
            as_role(self.url, role) if role else self.url, autocommit=True, **options
        )

    def sql(self, *statement):
        """As a superuser."""
        with self.connect() as connection:
            cursor = connection.execute(*statement)
            return cursor.fetchall() if cursor.description else None

    def role(self, analyst=None):
        """A new role that can log in, and may be an analyst's."""
        name = f"role_{secrets.token_hex(6)}"
        self.sql(f"CREATE ROLE {name} LOGIN")
        if analyst is not None:
            self.functions.grant_role(name, analyst)
        return name


def as_role(url, role):
    return url.replace(urlsplit(url).netloc, f"{role}:@")


def place_on(server):
    import psycopg

    url = server.database()
    owner, name = f"owner_{secrets.token_hex(6)}", urlsplit(url).path[1:]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {owner} LOGIN")
        connection.execute(f"ALTER DATABASE {name} OWNER TO {owner}")
    ledger = PostgresLedger(as_role(url, owner))
    with psycopg.connect(as_role(url, owner), autocommit=True) as connection:
        connection.execute("CREATE TABLE people (color text, age integer, class text)")
        connection.execute(
            "INSERT INTO people SELECT (ARRAY['red', 'green', 'blue'])[1 + i % 3], i % 100, "
            "(ARRAY['no', 'yes'])[1 + i % 2] FROM generate_series(1, 3000) AS i"
        )
    return Place(url, ledger, SQLFunctions(ledger))


@pytest.fixture(scope="module")
def place(postgres):
    place = place_on(postgres)
    yield place
    place.ledger.close()


@pytest.fixture
def dataset(place):
    """A new data set with a budget of 10."""
    return new_dataset(place)


def new_dataset(place, budget=Budget(10), table="people", schema=SCHEMA, **more):  # noqa: B008
    name = f"people {secrets.token_hex(4)}"
    place.ledger.set_cap(name, budget)
    place.functions.add_dataset(name, table, schema, **more)
    return name


@pytest.fixture
def analyst(dataset):
    return f"ada of {dataset}"


@pytest.fixture
def role(place, dataset, analyst):
    """A role that may ask the data set."""
    place.functions.allow(dataset, analyst)
    return place.role(analyst)


@pytest.fixture
def session(place, role):
    with place.connect(role) as connection:
        yield connection


def ask(connection, dataset, condition=None, epsilon="0.5"):
    return connection.execute(
        "SELECT privet.ask(%s, %s, %s)", (dataset, json.dumps(condition or {}), epsilon)
    ).fetchone()[0]


def answer(connection, ticket):
    return connection.execute("SELECT privet.answer(%s)", (ticket,)).fetchone()[0]
