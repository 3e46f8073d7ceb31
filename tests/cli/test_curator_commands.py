"""The owner's commands: accounts, budgets, ledger, verification."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Receipt
from privet.service.state import ServiceState
from tests.cli.conftest import Run


@pytest.fixture
def state(privet: Run, nursery: Path) -> ServiceState:
    """A home with the nursery table, Ada and Bob."""
    assert privet("curator", "init").code == 0
    table, schema = nursery / "nursery.csv", nursery / "nursery.schema.json"
    assert (
        privet(
            "curator", "dataset", "add", "people", table, "--schema", schema, "--epsilon", "3"
        ).code
        == 0
    )
    for name in ("ada", "bob"):
        assert privet("curator", "analyst", "add", name).code == 0
        assert privet("curator", "grant", name, "people", "--epsilon", "2").code == 0
    return ServiceState.open("curator")


def test_tokens_are_shown_once(privet: Run, state: ServiceState) -> None:
    ran = privet("curator", "analyst", "add", "eve")
    found = re.search(r"shown this once: (privet_\S{40,})", ran.out)
    assert found is not None
    assert state.accounts.analyst_of(found[1]) == "eve"
    again = privet("curator", "analyst", "add", "eve")
    assert (again.code, "analyst token" in again.err) == (2, True)
    fresh = re.search(r"shown this once: (\S+)", privet("curator", "analyst", "token", "eve").out)
    assert fresh is not None
    assert state.accounts.analyst_of(fresh[1]) == "eve"
    owner = re.search(
        r"shown this once: (\S+)", privet("curator", "analyst", "token", "--owner").out
    )
    assert owner is not None
    assert state.accounts.is_owner(owner[1])
    for arguments in ((), ("ada", "--owner")):
        assert "give the name" in privet("curator", "analyst", "token", *arguments).err


def test_a_data_set_has_one_budget_and_a_place_that_means_the_same_everywhere(
    privet: Run, state: ServiceState, nursery: Path
) -> None:
    assert state.ledger.cap("people") == Budget(3)
    assert Path(state.accounts.dataset("people").place).is_absolute()
    again = privet(
        "curator",
        "dataset",
        "add",
        "people",
        nursery / "nursery.csv",
        "-s",
        nursery / "nursery.schema.json",
        "-e",
        "9",
    )
    assert (again.code, "epsilon 3" in again.err) == (2, True)
    assert state.ledger.cap("people") == Budget(3)
    other = privet(
        "curator",
        "dataset",
        "add",
        "rhos",
        nursery / "nursery.csv",
        "-s",
        nursery / "nursery.schema.json",
        "--rho",
        "0.5",
        "--same-rows",
    )
    assert "budget rho 0.5" in other.out
    assert state.ledger.cap("rhos") == Budget(rho="0.5")
    listed = [line.split() for line in privet("curator", "dataset", "list").out.splitlines()]
    assert ["people", "epsilon", "3", "0", "3", "not", "stated", "yet"] in listed
    assert privet("curator", "dataset", "remove", "people").code == 0
    assert [dataset.name for dataset in state.accounts.datasets()] == ["rhos"]
    assert state.ledger.cap("people") == Budget(3), "what was spent is not forgotten"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("dataset", "add", "x", "absent.csv", "-s", "SCHEMA", "-e", "1"), "no file absent.csv"),
        (("dataset", "add", "x", "TABLE", "-s", "absent.json", "-e", "1"), "absent.json"),
        (("dataset", "add", "x", "TABLE", "-s", "SCHEMA"), "epsilon or rho"),
        (("dataset", "add", "x", "TABLE", "-s", "SCHEMA", "-e", "-1"), "epsilon must be"),
        (("dataset", "add", "a/b", "TABLE", "-s", "SCHEMA", "-e", "1"), "without '/'"),
        (("grant", "eve", "people", "-e", "1"), "no analyst 'eve'"),
        (("grant", "ada", "cars", "-e", "1"), "no data set 'cars'"),
        (("grant", "ada", "people", "--rho", "1"), "budget of data set 'people' is in epsilon"),
        (("grant", "ada", "people", "-e", "1", "--until", "soon"), "until must be"),
        (("grant", "ada", "people", "-e", "1", "--until", "\u0663d"), "until must be"),
        (
            ("grant", "ada", "people", "-e", "1", "--until", "\uff12\uff10\uff19\uff19-05-01"),
            "until must be",
        ),
        (("limits", "--set", "rate=\uff11\uff10\uff10"), "the value must be a number"),
        (("limits", "--set", "rate=1_0"), "the value must be a number"),
        (("revoke", "eve"), "no analyst 'eve'"),
        (("verify", "--receipt", "absent.txt"), "no receipt either"),
        (("init",), "not an empty folder"),
        (("ledger", "--home", "elsewhere"), "no home of a curator"),
        (("serve", "--host", "0.0.0.0"), "without TLS"),
        (("serve", "--cert", "absent.pem"), "both cert and key"),
    ],
)
def test_what_is_wrong_is_said_and_changes_nothing(
    privet: Run, state: ServiceState, nursery: Path, arguments: tuple[str, ...], said: str
) -> None:
    places = {"TABLE": str(nursery / "nursery.csv"), "SCHEMA": str(nursery / "nursery.schema.json")}
    before = (len(list(state.ledger.journal())), state.accounts.datasets(), state.accounts.grants())
    ran = privet("curator", *(places.get(word, word) for word in arguments))
    assert ran.code == 2, ran.out
    assert said in ran.err
    assert (
        len(list(state.ledger.journal())),
        state.accounts.datasets(),
        state.accounts.grants(),
    ) == before


def test_a_grant_has_a_budget_and_an_end(privet: Run, state: ServiceState) -> None:
    assert (
        "until 2099-05-01T00:00"
        in privet("curator", "grant", "ada", "people", "-e", "1/3", "--until", "2099-05-01").out
    )
    assert state.ledger.cap("people", "ada") == Budget("1/3")
    assert state.accounts.granted("ada", "people").expires == "2099-05-01T00:00:00+00:00"
    assert privet("curator", "grant", "ada", "people", "-e", "1/3", "--until", "12h").code == 0
    lines = privet("curator", "analyst", "list").out.splitlines()
    assert any(
        line.split()[:6] == ["ada", "people", "epsilon", "0.333333", "0", "0.333333"]
        for line in lines
    )


def test_revoking_says_what(privet: Run, state: ServiceState) -> None:
    assert "may no longer ask ('people')\n" in privet("curator", "revoke", "ada", "people").out
    assert [grant.analyst for grant in state.accounts.grants()] == ["bob"]
    assert "the token has ended" in privet("curator", "revoke", "ada").out


def charge(state: ServiceState, key: str, answered: bool = True) -> str:
    entry = state.ledger.charge(
        "people", "ada", Cost.pure("1/10"), "number of rows", key=key, request=key
    )
    if answered:
        state.ledger.record(entry.number, b"{}")
    return str(Receipt(state.ledger.identity, entry.number, entry.hash))


def test_the_ledger_marks_what_was_charged_and_never_answered(
    privet: Run, state: ServiceState
) -> None:
    charge(state, "one")
    charge(state, "two", answered=False)
    shown = privet("curator", "ledger").out
    assert shown.count("(UNANSWERED)") == 1
    lines = [json.loads(line) for line in privet("curator", "ledger", "--json").out.splitlines()]
    assert [(line["key"], line["answered"], line["cost"]["epsilon"]) for line in lines] == [
        ("one", True, "1/10"),
        ("two", False, "1/10"),
    ]
    assert privet("curator", "ledger", "--analyst", "bob", "--json").out == ""


def test_verify_finds_what_was_changed(privet: Run, state: ServiceState) -> None:
    receipts = [charge(state, key) for key in ("one", "two", "three")]
    Path("receipts.txt").write_text("\n".join(receipts) + "\n")
    ran = privet("curator", "verify", "--receipt", "receipts.txt", "--receipt", receipts[0])
    assert ran.out == "the ledger is whole: 6 lines, 4 receipts fit\n"
    with sqlite3.connect("curator/ledger.sqlite") as connection:
        connection.executescript(
            "DROP TRIGGER journal_stays; DELETE FROM journal WHERE number = 6;"
        )
        connection.executescript("UPDATE spent SET epsilon = '1/5', rho = '1/100';")
    connection.close()
    ran = privet("curator", "verify")
    assert (ran.code, "the witness has seen line 6, but the ledger ends at line 5" in ran.err) == (
        1,
        True,
    )
    Path("curator/witness").unlink()
    assert privet("curator", "verify").code == 0
    ran = privet("curator", "verify", "--receipt", receipts[2])
    assert (ran.code, "the receipt of line 6" in ran.err) == (1, True)
    assert (
        privet(
            "curator", "serve", "--port", "0", "--home", "curator", "--cert", "x", "--key", "y"
        ).code
        == 2
    )


def test_a_witness_on_another_disk(privet: Run, state: ServiceState) -> None:
    charge(state, "one")
    mistyped = privet("curator", "verify", "--witness", "other")
    assert mistyped.code == 2
    assert "begin it with --new-witness" in mistyped.err
    assert privet("curator", "verify", "--new-witness").code == 2
    assert privet("curator", "verify", "--witness", "other", "--new-witness").code == 0
    assert privet("curator", "verify", "--witness", "other", "--new-witness").code == 2
    assert privet("curator", "verify", "--witness", "other").code == 0
    assert Path("other").read_text().startswith("privet-receipt-1.")
