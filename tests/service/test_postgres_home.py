"""Table, ledger and SQL functions in one real PostgreSQL: the service and SQL clients share one
account and one chain.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import subprocess
from urllib.parse import urlsplit

import pandas as pd
import psycopg
import pytest

import privet as pv
from privet.accounting.ledger import Receipt, verify
from privet.errors import BudgetExceeded
from privet.service.state import ServiceState
from tests import commands
from tests.postgres import put_table
from tests.service.running import serving


def as_role(url: str, role: str) -> str:
    return url.replace(urlsplit(url).netloc, f"{role}:@")


@pytest.fixture
def privet(tmp_path):
    """The command, in a folder of its own."""

    def run(*words: str) -> subprocess.CompletedProcess:
        return commands.run(words, tmp_path, os.environ)

    return run


@pytest.fixture
def place(postgres, tmp_path):
    """A table of 600 people, an owner of the database, a role that reads the table, and an
    analyst's login.
    """
    url = postgres.database()
    schema = pv.Schema(
        {"colour": pv.Categorical(["red", "green", "blue"]), "age": pv.Numeric(0, 80, bins=4)},
        target="ill",
        classes=["no", "yes"],
    )
    schema.write(tmp_path / "people.schema.json")
    rows = range(600)
    frame = pd.DataFrame(
        {
            "colour": [schema.attributes["colour"].values[i % 3] for i in rows],
            "age": [float(i % 80) for i in rows],
        }
    )
    put_table(url, frame.assign(ill=["yes" if i % 3 == 0 else "no" for i in rows]))
    owner, reader, login = (f"{name}_{secrets.token_hex(4)}" for name in ("owner", "reader", "ada"))
    with psycopg.connect(url, autocommit=True) as connection:
        for role in (owner, reader, login):
            connection.execute(f"CREATE ROLE {role} LOGIN")
        connection.execute(f"ALTER DATABASE {urlsplit(url).path[1:]} OWNER TO {owner}")
        connection.execute(f"GRANT SELECT ON people TO {owner}, {reader}")
    return as_role(url, owner), as_role(url, reader) + "&table=people", as_role(url, login), login


def test_the_service_and_sql_clients_share_one_account(privet, place, tmp_path):
    ledger, table, sql_url, login = place

    def good(*words: str) -> str:
        done = privet(*words)
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    good("curator", "init", "--ledger", ledger)
    told = privet(
        "curator",
        "dataset",
        "add",
        "people",
        table,
        "--schema",
        "people.schema.json",
        "--epsilon",
        "2",
        "--sql",
    )
    assert (told.returncode, told.stderr) == (0, ""), "credentials that only read need no warning"
    token = re.search(r"once: (\S+)", good("curator", "analyst", "add", "ada"))[1]
    good("curator", "grant", "ada", "people", "--epsilon", "1.5")
    good("curator", "analyst", "role", "ada", login)
    state = ServiceState.open(tmp_path / "curator")
    try:
        with (
            serving(state.path) as service,
            pv.connect(f"http://127.0.0.1:{service.port}", token) as curator,
        ):
            model = pv.GreedyTreeClassifier(epsilon=1, max_depth=2).fit_from(curator)
            assert model.privacy_.epsilon == 1
            assert str(curator.left) == "1/2"
            with psycopg.connect(sql_url, autocommit=True) as connection:
                ticket = connection.execute(
                    "SELECT privet.ask('people', '{\"colour\": [\"red\"]}', 0.25)"
                ).fetchone()[0]
                noisy = connection.execute("SELECT privet.answer(%s)", (ticket,)).fetchone()[0]
                receipt = connection.execute("SELECT privet.receipt(%s)", (ticket,)).fetchone()[0]
                assert abs(noisy - 200) < 100
                assert str(curator.left) == "1/4"
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM people")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM privet.journal")
                with pytest.raises(BudgetExceeded):
                    curator.size("0.3")
                with pytest.raises(psycopg.Error, match="budget"):
                    connection.execute("SELECT privet.ask('people', '{}', 0.3)")
                curator.size("0.25")
                assert curator.left == 0
                assert (
                    verify(
                        state.ledger,
                        state.witness,
                        [Receipt.read(text) for text in (*curator.receipts, receipt)],
                    )
                    == []
                )
                # Pausing acts at once, in both, and what is resumed is granted as it was.
                good("curator", "dataset", "pause", "people")
                good("curator", "grant", "ada", "people", "--until", "30d")
                with pytest.raises(psycopg.Error, match="granted"):
                    connection.execute("SELECT privet.ask('people', '{}', 0.1)")
                with pytest.raises(pv.PrivetError, match="paused"):
                    curator.size("0.1")
                good("curator", "dataset", "resume", "people")
                with pytest.raises(psycopg.Error, match="budget"):
                    connection.execute("SELECT privet.ask('people', '{}', 0.1)")
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    connection.execute("SELECT * FROM privet.audit_log")
                # Revoking acts at once, in both.
                good("curator", "revoke", "ada")
                with pytest.raises(pv.PrivetError, match="not known"):
                    curator.size("0.1")
                with pytest.raises(psycopg.Error, match="granted"):
                    connection.execute("SELECT privet.ask('people', '{}', 0.1)")
        lines = [json.loads(line) for line in good("curator", "ledger", "--json").splitlines()]
        assert sum(line["what"].startswith("SQL") for line in lines) == 1
        assert all(line["answered"] for line in lines)
        assert str(state.ledger.spent("people").epsilon) == "3/2"
        assert "whole" in good("curator", "verify", "--receipt", receipt)
        good("curator", "dataset", "remove", "people")
        assert "is whole" in good("curator", "audit-log", "verify")
        assert "dataset paused" in good("curator", "audit-log", "export")
        assert not (state.path / "audit-log.sqlite").exists(), "it is beside the ledger"
    finally:
        state.ledger.close()


def test_credentials_that_could_write_are_warned_about(privet, place):
    ledger, table, _, _ = place
    assert privet("curator", "init").returncode == 0
    with psycopg.connect(ledger, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE mine AS SELECT 'red' AS colour, 1.0::float8 AS age, 'no' AS ill"
        )
    told = privet(
        "curator",
        "dataset",
        "add",
        "mine",
        f"{ledger}&table=mine",
        "--schema",
        "people.schema.json",
        "--epsilon",
        "2",
    )
    assert told.returncode == 0
    assert "could change the table" in told.stderr
    refused = privet(
        "curator",
        "dataset",
        "add",
        "p",
        table,
        "--schema",
        "people.schema.json",
        "--epsilon",
        "2",
        "--sql",
    )
    assert refused.returncode == 2
    assert "--ledger postgresql://" in refused.stderr
    listed = privet("curator", "dataset", "list").stdout
    assert "mine" in listed
    assert [line.split()[0] for line in listed.splitlines() if " epsilon " in line] == ["mine"], (
        "what was refused left nothing behind"
    )


def test_a_backup_says_that_the_ledger_is_elsewhere(postgres, privet, tmp_path):
    assert privet("curator", "init", "--ledger", postgres.database()).returncode == 0
    done = privet("curator", "backup", "copy")
    assert done.returncode == 0
    assert "the ledger and the audit log are in PostgreSQL and not in this copy" in done.stderr
    assert privet("curator", "init", "--home", "beside").returncode == 0
    assert "warning" not in privet("curator", "backup", "other", "--home", "beside").stderr
