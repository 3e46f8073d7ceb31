"""Ledgers that 0.1 wrote or accepted keep their totals, caps, keys and answers."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest

import privet as pv
from tests.golden.facts import ledger_facts
from tests.golden.files import expected
from tests.golden.reach import privet

EXPECTED = expected("ledgers")


@pytest.fixture
def ledgers(copied):
    return copied("ledgers")


@pytest.mark.parametrize("name", EXPECTED)
def test_a_ledger_says_what_it_said(name, ledgers):
    kept = {key: value for key, value in EXPECTED[name].items() if key != "answers"}
    assert ledger_facts(ledgers / name) == kept
    assert ledger_facts(ledgers / name) == kept  # also after an older one was brought up to date
    with closing(pv.SQLiteLedger(ledgers / name)) as ledger:
        for number, answer in EXPECTED[name].get("answers", {}).items():
            assert ledger.answer(int(number)) == answer.encode()


@pytest.mark.parametrize("name", EXPECTED)
def test_a_ledger_goes_on(name, ledgers):
    """A charge adds to the old total, and a cap still binds. Damaged ledgers refuse all charges."""
    with closing(pv.SQLiteLedger(ledgers / name)) as ledger:
        before = ledger.spent("people", "ada")
        entry = ledger.charge("people", "ada", pv.Cost.pure("1/100"), "more")
        assert entry.number > max(one["number"] for one in EXPECTED[name]["entries"])
        assert ledger.spent("people", "ada") == before + pv.Cost.pure("1/100")
        with pytest.raises(pv.PrivetError, match="budget"):
            ledger.charge("people", "ada", pv.Cost.pure(3), "too much")
        ledger.close()
    assert len(ledger_facts(ledgers / name)["entries"]) == len(EXPECTED[name]["entries"]) + 1


def test_a_key_belongs_to_its_request(ledgers):
    with closing(pv.SQLiteLedger(ledgers / "version-2.sqlite")) as ledger:
        before = ledger.entries()
        cost = pv.Cost.pure("1/7")
        again = ledger.charge("people", "ada", cost, "the size", key="key-1", request="digest-1")
        assert again == ledger.charged("ada", "key-1")
        with pytest.raises(pv.PrivetError, match="another request"):
            ledger.charge("people", "ada", cost, "the size", key="key-1", request="digest-2")
        assert ledger.entries() == before
        assert ledger.charged("bob", "key-1").what == "counts"


@pytest.mark.parametrize("name", EXPECTED)
def test_the_command_shows_a_ledger(name, ledgers):
    ran = privet("ledger", "show", name, "--json", folder=ledgers)
    lines = [json.loads(line) for line in ran.out.splitlines()]
    kept = EXPECTED[name]["entries"]
    assert [[line["epsilon"], line["rho"]] for line in lines] == [one["cost"] for one in kept]
    for fact in ("number", "time", "dataset", "analyst", "what"):
        assert [line[fact] for line in lines] == [one[fact] for one in kept]
    assert privet("ledger", "cap", name, "new", "9", folder=ledgers).code == 0
    assert "new" in ledger_facts(ledgers / name)["datasets"]


def test_an_edited_ledger_is_found_out(ledgers):
    with closing(sqlite3.connect(ledgers / "version-2.sqlite")) as connection, connection:
        connection.execute("DROP TRIGGER journal_keeps")
        connection.execute("UPDATE journal SET epsilon = '1/1000' WHERE number = 6")
    with (
        closing(pv.SQLiteLedger(ledgers / "version-2.sqlite")) as ledger,
        pytest.raises(pv.PrivetError, match="damaged"),
    ):
        ledger.charge("people", "ada", pv.Cost.pure("1/100"), "more")
