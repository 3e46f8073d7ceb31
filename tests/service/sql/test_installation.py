"""The SQL functions come, are renewed and go; the ledger and what was asked stay."""

from __future__ import annotations

import os
import secrets
from urllib.parse import urlsplit

import pytest

from privet.accounting.cost import Budget
from privet.accounting.ledger import PostgresLedger, verify
from privet.errors import LedgerError
from privet.service.sql import SQLFunctions, installation
from tests.commands import run
from tests.service.sql.conftest import SCHEMA, answer, as_role, ask, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


@pytest.fixture
def own(postgres):
    place = place_on(postgres)
    yield place
    place.ledger.close()


def names_inside(place):
    relations = place.sql(
        "SELECT relname FROM pg_class WHERE relnamespace = 'privet'::regnamespace ORDER BY 1"
    )
    functions = place.sql(
        "SELECT proname FROM pg_proc WHERE pronamespace = 'privet'::regnamespace ORDER BY 1"
    )
    return relations, functions


def test_uninstalled_leaves_the_ledger_as_it_was_without_functions(own, postgres):
    ledger_only = PostgresLedger(postgres.database())
    bare = own.__class__(ledger_only.url, ledger_only, None)
    dataset = new_dataset(own)
    own.functions.allow(dataset, "ada")
    role = own.role("ada")
    keyed = "SELECT privet.ask(%s, '{}', 0.5, key => 'a key')"
    with own.connect(role) as session:
        ask(session, dataset)
        session.execute(keyed, (dataset,))
    said = installation.uninstall(own.ledger)
    assert "the ledger stays" in said
    assert names_inside(own) == names_inside(bare)
    assert own.ledger.spent(dataset).epsilon == 1
    assert verify(own.ledger) == []
    with own.connect(role) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
        ask(session, dataset)
    own.sql(f"DROP ROLE {role}")  # nothing is left that it could do
    with pytest.raises(LedgerError, match="has no SQL functions"):
        installation.uninstall(own.ledger)
    with pytest.raises(LedgerError, match="privet sql install"):
        installation.upgrade(own.ledger)
    # and they can come again, for the same account
    SQLFunctions(own.ledger).add_dataset(dataset, "people", SCHEMA)
    assert own.ledger.cap(dataset) == Budget(10)
    own.functions.grant_role(role := own.role(), "ada")
    own.functions.allow(dataset, "ada")
    with own.connect(role) as session, pytest.raises(psycopg.DatabaseError, match="use a new key"):
        session.execute(keyed, (dataset,))
    assert own.ledger.spent(dataset).epsilon == 1
    ledger_only.close()


def make_version_4(place, dataset):
    """What version 4 had: a statement instead of what it reads, and tickets that are keys."""
    place.sql(
        "ALTER TABLE privet.datasets ADD COLUMN statement text; UPDATE privet.datasets SET "
        "statement = 'SELECT sum(($4)[1 + c0] * ($4)[4 + c1] * ($4)[14 + y]) FROM (' || encoded "
        "|| ') AS counted'; ALTER TABLE privet.datasets DROP COLUMN encoded, DROP COLUMN schema, "
        "DROP COLUMN fingerprint; ALTER TABLE privet.attributes DROP COLUMN edges; ALTER TABLE "
        "privet.asked DROP COLUMN ticket, DROP COLUMN counted_by; "
        "DROP FUNCTION privet.ask(text, jsonb, numeric, text[], text); "
        "UPDATE privet.functions SET version = 4"
    )


def test_an_upgrade_keeps_grants_tickets_and_spending(own):
    dataset = new_dataset(own)
    own.functions.allow(dataset, "ada")
    role = own.role("ada")
    with own.connect(role) as session:
        ticket = ask(session, dataset, {"color": ["red"]}, 4)
        given = answer(session, ticket)
    make_version_4(own, dataset)
    with pytest.raises(LedgerError, match="privet sql upgrade"):
        installation.install(own.ledger)
    said = installation.upgrade(own.ledger)
    assert "from version 4 to 6" in said
    assert f"Add these data sets again, so that programs can ask them: {dataset}" in said
    assert "already" in installation.upgrade(own.ledger)
    assert "already" in installation.install(own.ledger)
    with own.connect(role) as session:
        assert answer(session, ticket) == given
        assert abs(answer(session, ask(session, dataset, {"color": ["red"]}, 4)) - 1000) < 25
        ticket = session.execute(
            "SELECT privet.ask(%s, by => '{class}', epsilon => 1)", (dataset,)
        ).fetchone()[0]
        rows = session.execute("SELECT * FROM privet.counts(%s)", (ticket,)).fetchall()
    assert [cell for cell, _ in rows] == [{"class": "no"}, {"class": "yes"}]
    assert all(abs(count - 1500) < 60 for _, count in rows)
    assert own.ledger.spent(dataset).epsilon == 9


def test_an_upgrade_names_roles_that_older_versions_did_not_refuse(own):
    dataset = new_dataset(own)
    role = own.role("ada")
    make_version_4(own, dataset)
    own.sql(f"GRANT UPDATE ON people TO {role}")
    told = installation.upgrade(own.ledger)
    assert f"could read rows without asking; take that from them, or revoke them: {role!r} " in told
    assert "has rights on public.people" in told
    own.sql(f"REVOKE UPDATE ON people FROM {role}")
    assert "without asking" not in installation.upgrade(own.ledger)


def test_no_view_of_an_analysts_holds_an_upgrade_up(own):
    dataset = new_dataset(own)
    role = own.role("ada")
    make_version_4(own, dataset)
    (owner,) = own.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    own.sql(
        "CREATE FUNCTION privet.ask(dataset text, condition jsonb, epsilon numeric) RETURNS uuid "
        "LANGUAGE sql AS 'SELECT gen_random_uuid()'; "
        f"ALTER FUNCTION privet.ask(text, jsonb, numeric) OWNER TO {owner}; "
        f"GRANT EXECUTE ON FUNCTION privet.ask(text, jsonb, numeric) TO {role}"
    )
    with own.connect(role) as session:
        session.execute("CREATE TEMP VIEW mine AS SELECT privet.ask('people', '{}'::jsonb, 1)")
        assert "from version 4 to 6" in installation.upgrade(own.ledger)
        with pytest.raises(psycopg.errors.UndefinedTable):
            session.execute("SELECT * FROM mine")


def test_the_functions_of_a_newer_privet_are_left_alone(own):
    own.sql("UPDATE privet.functions SET version = 99")
    for step in (installation.install, installation.upgrade):
        with pytest.raises(LedgerError, match="version 99"):
            step(own.ledger)


def test_the_commands_install_upgrade_and_uninstall(postgres, tmp_path):
    url = postgres.database()
    owner = f"owner_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {owner} LOGIN")
        connection.execute(f"ALTER DATABASE {urlsplit(url).path[1:]} OWNER TO {owner}")
    mine = as_role(url, owner)
    for words, said in (
        (("upgrade",), "privet sql install"),
        (("install",), "installed version 6"),
        (("install",), "already"),
        (("upgrade",), "already"),
        (("uninstall", "--yes"), "the ledger stays"),
    ):
        ran = run(["sql", words[0], mine, *words[1:]], tmp_path, os.environ)
        assert said in ran.stdout + ran.stderr, ran
        assert (ran.returncode == 0) == ("privet sql" not in said)
