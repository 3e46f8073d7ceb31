"""``privet sql add``, ``grant`` and ``revoke`` do what the functions in Python do."""

from __future__ import annotations

import os
import secrets

import pytest

from privet.accounting.cost import Budget
from tests.commands import run
from tests.service.sql.conftest import SCHEMA, answer, ask

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")


@pytest.fixture
def command(place, tmp_path):
    SCHEMA.write(tmp_path / "people.json")

    def sql(verb, *words):
        return run(["sql", verb, place.ledger.url, *words], tmp_path, os.environ)

    return sql


def test_an_owner_adds_grants_and_revokes(place, command):
    name, role = f"people {secrets.token_hex(4)}", place.role()
    added = ["add", name, "public.people", "--schema", "people.json"]
    refused = command(*added)
    assert refused.returncode != 0
    assert "say how much may be spent" in refused.stderr
    assert not place.functions.has_dataset(name)
    assert command(*added, "-e", "2").stdout == (
        f"public.people can be asked as '{name}', up to epsilon 2 in all\n"
    )
    granted = command("grant", "ada", name, "--role", role, "-e", "1", "--until", "30d")
    assert granted.stdout.startswith(f"'ada' may ask '{name}', until 20")
    assert (place.ledger.cap(name), place.ledger.cap(name, "ada")) == (Budget(2), Budget(1))
    with place.connect(role) as session:
        assert abs(answer(session, ask(session, name)) - 3000) < 200
        with pytest.raises(psycopg.Error, match="does not allow"):
            ask(session, name, epsilon="0.6")
        again = command(*added)  # keeps budgets and grants
        assert again.returncode == 0, again
        assert place.ledger.cap(name) == Budget(2)
        ask(session, name)
        assert command("revoke", "ada", name, "--role", role).returncode == 0
        with pytest.raises(psycopg.Error, match="permission denied"):
            ask(session, name)
    assert place.ledger.spent(name).epsilon == 1


def test_what_is_not_there_cannot_be_granted(place, command):
    for words, told in (
        (["ada", "nowhere"], "'privet sql add' it"),
        (["ada", "nowhere", "--until", "soon"], "until must be a date"),
    ):
        ran = command("grant", *words)
        assert ran.returncode != 0
        assert told in ran.stderr
    assert place.ledger.entries("nowhere") == []
