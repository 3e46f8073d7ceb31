"""A curator of 0.1 whose ledger is in PostgreSQL: restored from a dump, and used further."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from tests.golden.exchange import ask, differences
from tests.golden.files import GOLDEN, expected, read_json, write_json
from tests.golden.reach import privet, serving

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

EXPECTED = expected("postgres")
AT = ("--home", "home")


def as_role(url, role):
    return url.replace(urlsplit(url).netloc, f"{role}:@")


@pytest.fixture
def restored(postgres, copied):
    """The folder of the home, and the URL of a database that holds the dump."""
    url = postgres.database()
    owner, reader, ada = EXPECTED["roles"]
    with psycopg.connect(url, autocommit=True) as connection:
        for role in EXPECTED["roles"]:
            there = connection.execute(
                "SELECT FROM pg_roles WHERE rolname = %s", (role,)
            ).fetchone()
            if there is None:
                connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"ALTER DATABASE {urlsplit(url).path[1:]} OWNER TO {owner}")
        connection.execute((GOLDEN / "postgres" / "dump.sql").read_bytes())
    folder = copied("postgres")
    config = read_json(folder / "home" / "curator.json")
    write_json(folder / "home" / "curator.json", config | {"ledger": as_role(url, owner)})
    with closing(sqlite3.connect(folder / "home" / "accounts.sqlite")) as accounts, accounts:
        place = as_role(url, reader) + "&table=people"
        accounts.execute("UPDATE datasets SET place = ?", (place,))
    return folder, as_role(url, ada)


def test_the_ledger_is_whole_and_lists_what_it_did(restored):
    folder, _ = restored
    receipts = (EXPECTED["sql"]["receipt"], EXPECTED["exchange"]["answer"]["receipt"])
    given = [word for receipt in receipts for word in ("--receipt", receipt)]
    ran = privet("curator", "verify", *AT, *given, folder=folder)
    assert ran.code == 0, ran
    ran = privet("curator", "ledger", *AT, "--json", folder=folder)
    kept = (GOLDEN / "postgres" / "ledger.jsonl").read_text("utf-8")
    assert [json.loads(line) for line in ran.out.splitlines()] == [
        json.loads(line) for line in kept.splitlines()
    ]


def test_an_edited_ledger_does_not_verify(restored, postgres):
    folder, url = restored
    superuser = url.replace(urlsplit(url).netloc, urlsplit(postgres.url).netloc)
    with psycopg.connect(superuser, autocommit=True) as connection:
        connection.execute("ALTER TABLE privet.journal DISABLE TRIGGER ALL")
        connection.execute("UPDATE privet.journal SET epsilon = '1' WHERE number = 3")
    assert privet("curator", "verify", *AT, folder=folder).code == 1


def test_sql_clients_go_on(restored):
    _, url = restored
    kept = EXPECTED["sql"]
    with psycopg.connect(url, autocommit=True) as connection:

        def one(sql, *values):
            return connection.execute(sql, values).fetchone()[0]

        assert int(one("SELECT privet.answer(%s)", kept["ticket"])) == kept["count"]
        assert one("SELECT privet.receipt(%s)", kept["ticket"]) == kept["receipt"]
        ticket = one("SELECT privet.ask('people', %s, 100000)", kept["condition"])
        assert int(one("SELECT privet.answer(%s)", ticket)) == kept["count"]
        query = "SELECT account, unit, exactly FROM privet.budget('people') ORDER BY account"
        budget = connection.execute(query).fetchall()
        left = [int(row[2]) for row in kept["budget"]]
        assert [int(row[2]) for row in budget] == [amount - 100_000 for amount in left]


def test_the_service_goes_on(restored):
    """It repeats its recorded answer, and charges a new question to the same account."""
    folder, _ = restored
    kept = EXPECTED["exchange"]
    headers = {"Authorization": f"Bearer {EXPECTED['tokens']['ada']}", **kept["headers"]}
    body = kept["body"].encode()
    with serving(folder / "home", folder / "log") as port:
        status, returned, content = ask(port, "POST", kept["path"], headers, body)
        assert (status, returned.get("privet-replayed")) == (200, "true")
        assert json.loads(content) == kept["answer"]
        headers["Idempotency-Key"] = "golden-2"
        status, _, content = ask(port, "POST", kept["path"], headers, body)
    assert status == 200
    answer = json.loads(content)["answer"]
    entry = answer.pop("entry")
    old = {name: value for name, value in kept["answer"]["answer"].items() if name != "entry"}
    assert not list(differences(old, answer, noisy=False))
    assert entry["number"] > kept["answer"]["answer"]["entry"]["number"]
    assert privet("curator", "verify", *AT, folder=folder).code == 0


def test_an_owner_goes_on(restored):
    folder, _ = restored
    for words in (("grant", "ada", "people", "--epsilon", 10**8), ("dataset", "list")):
        ran = privet("curator", *words, *AT, folder=folder)
        assert ran.code == 0, ran
