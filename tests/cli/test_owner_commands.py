"""What an owner changes on the command line, and the audit log of it."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from privet.accounting.cost import Budget, Cost
from privet.service.audit_log import Person
from privet.service.state import ServiceState
from tests.cli.conftest import Run


@pytest.fixture
def state(privet: Run, nursery: Path) -> ServiceState:
    """A home with the nursery table, and Ada, who has spent something."""
    assert privet("curator", "init").code == 0
    table, schema = nursery / "nursery.csv", nursery / "nursery.schema.json"
    added = ("dataset", "add", "people", table, "--schema", schema, "--epsilon", "3")
    assert privet("curator", *added).code == 0
    assert privet("curator", "analyst", "add", "ada").code == 0
    granted = ("grant", "ada", "people", "--epsilon", "2", "--until", "2999-01-01")
    assert privet("curator", *granted).code == 0
    state = ServiceState.open("curator")
    state.ledger.charge("people", "ada", Cost.pure("1/2"), "=size", key="k", request="r")
    return state


def test_what_a_grant_leaves_out_stays(privet: Run, state: ServiceState) -> None:
    ran = privet("curator", "grant", "ada", "people", "--epsilon", "1")
    assert ran.out == "'ada' may spend epsilon 1 on 'people', until 2999-01-01T00:00+00:00\n"
    assert privet("curator", "grant", "ada", "people", "--until", "never").code == 0
    assert state.accounts.grants("ada")[0].expires == ""
    assert state.ledger.cap("people", "ada") == Budget(1)


def test_a_cap_below_what_was_spent_warns(privet: Run, state: ServiceState) -> None:
    ran = privet("curator", "cap", "people", "--epsilon", "1/4", "--why", "the board said so")
    assert ran.out == "the cap of 'people' is epsilon 0.25; it was epsilon 3\n"
    assert "warning: epsilon 0.5 is spent already, so nothing more can be spent" in ran.err
    assert "(the board said so)" in state.audit_log.events()[-1].what
    assert privet("curator", "cap", "people", "ada", "--epsilon", "1").code == 0
    assert state.ledger.cap("people", "ada") == Budget(1)


def test_a_table_is_tested_paused_and_moved(
    privet: Run, state: ServiceState, nursery: Path, tmp_path: Path
) -> None:
    assert "is as the schema says" in privet("curator", "dataset", "test", "people").out
    ran = privet("curator", "dataset", "test", "people", "--place", tmp_path / "absent.csv")
    assert (ran.code, "cannot be reached" in ran.err) == (1, True)
    assert privet("curator", "dataset", "pause", "people", "--why", "rebuilt").code == 0
    assert re.search(r"'people' is paused since \d{4}-", privet("curator", "dataset", "list").out)
    assert privet("curator", "dataset", "resume", "people").code == 0
    moved = tmp_path / "moved.csv"
    moved.write_bytes((nursery / "nursery.csv").read_bytes())
    ran = privet("curator", "dataset", "update", "people", "--place", moved)
    assert f"updated: the place is {moved}; its grants stay" in ran.out
    assert state.accounts.dataset("people").place == str(moved)
    assert "say what changes" in privet("curator", "dataset", "update", "people").err


def test_a_data_set_that_is_no_longer_served_is_listed(privet: Run, state: ServiceState) -> None:
    assert privet("curator", "dataset", "remove", "people").code == 0
    listed = privet("curator", "dataset", "list").out
    assert "No longer served; what was spent" in listed
    assert ["people", "epsilon", "3", "0.5", "2.5"] in [
        line.split()[:5] for line in listed.splitlines()
    ]


def test_an_analyst_who_is_removed_has_spent_what_they_spent(privet: Run, state) -> None:
    assert privet("curator", "analyst", "remove", "ada").code == 0
    assert state.accounts.analysts() == []
    ran = privet("curator", "analyst", "add", "ada")
    assert (ran.code, "--same-person" in ran.err) == (2, True)
    assert privet("curator", "analyst", "add", "ada", "--same-person").code == 0
    assert re.search(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", privet("curator", "ledger").out)


def test_owners_and_auditors_have_tokens_of_their_own(privet: Run, state: ServiceState) -> None:
    ran = privet("curator", "staff", "add", "dora", "--role", "auditor")
    token = re.search(r"the token of 'dora', shown this once: (\S+)", ran.out)[1]
    assert state.accounts.person_of(token) == Person("dora", "auditor")
    assert privet("curator", "staff", "list").out.splitlines() == [
        "owner    owner",
        "auditor  dora",
    ]
    fresh = re.search(r"once: (\S+)", privet("curator", "staff", "token", "dora").out)[1]
    assert state.accounts.person_of(fresh).name == "dora"
    assert privet("curator", "staff", "remove", "dora").code == 0
    assert "the first owner stays" in privet("curator", "staff", "remove", "owner").err
    assert "no owner or auditor" in privet("curator", "staff", "remove", "eve").err


def test_tokens_end_when_the_owner_says_so(privet: Run, state: ServiceState) -> None:
    def token_of(*words: str) -> str:
        return re.search(r"once: (\S+)", privet("curator", *words, "--until", "2999-01-31").out)[1]

    people = [
        token_of("analyst", "add", "eve"),
        token_of("analyst", "token", "ada"),
        token_of("staff", "add", "dora", "--role", "auditor"),
        token_of("analyst", "token", "--owner"),
    ]
    told = [state.accounts.person_of(token) for token in people]
    assert set(state.accounts.token_ends()) == set(told)
    analysts = privet("curator", "analyst", "list").out
    assert "the token of 'eve' ends on 2999-01-31 00:00 UTC" in analysts
    assert privet("curator", "staff", "list").out.splitlines() == [
        "owner    owner, whose token ends on 2999-01-31 00:00 UTC",
        "auditor  dora, whose token ends on 2999-01-31 00:00 UTC",
    ]
    assert privet("curator", "staff", "token", "dora").code == 0
    assert "auditor  dora\n" in privet("curator", "staff", "list").out
    ran = privet("curator", "analyst", "token", "ada", "--until", "2020-01-01")
    assert (ran.code, "until must be a time to come" in ran.err) == (2, True)


def test_places_are_allowed_and_taken_back(privet: Run, state: ServiceState, tmp_path) -> None:
    assert "none is allowed yet" in privet("curator", "places").out
    ran = privet("curator", "places", "--allow", tmp_path, "--allow", "postgresql://db/clinic")
    assert f"allowed are {tmp_path}, postgresql://db:5432/clinic" in ran.out
    assert state.audit_log.events()[-1].kind == "places"
    assert "clinic" not in privet("curator", "places", "--forbid", "postgresql://db/clinic").out
    assert "is no folder" in privet("curator", "places", "--allow", "absent").err


def test_the_audit_log_is_shown_verified_and_exported(privet: Run, state, tmp_path: Path) -> None:
    shown = privet("curator", "audit-log", "show", "--dataset", "people").out
    assert "(administrator)" in shown
    lines = privet("curator", "audit-log", "export").out.splitlines()
    kinds = [json.loads(line)["kind"] for line in lines]
    assert kinds == ["home made", "dataset added", "analyst added", "grant"]
    out = tmp_path / "log.csv"
    assert privet("curator", "audit-log", "export", "--format", "csv", "-o", out).code == 0
    rows = list(csv.DictReader(io.StringIO(out.read_text())))
    assert [row["kind"] for row in rows] == kinds
    assert "is whole: 4 lines" in privet("curator", "audit-log", "verify").out
    elsewhere = ("--witness", tmp_path / "seen")
    assert privet("curator", "audit-log", "verify", *elsewhere, "--new-witness").code == 0
    (state.path / "audit-log.sqlite").unlink()
    ran = privet("curator", "audit-log", "verify", *elsewhere)
    assert (ran.code, "another audit log" in ran.err) == (1, True)
    bad = privet("curator", "audit-log", "show", "--from", "soon")
    assert "from must be a day such as 2026-01-31" in bad.err


def test_limits_that_are_set_are_recorded(privet: Run, state: ServiceState) -> None:
    assert privet("curator", "limits", "--set", "rate=9").code == 0
    assert state.audit_log.events()[-1].what == "limits set: rate=9"


def test_the_ledger_is_exported_for_a_spreadsheet(privet: Run, state: ServiceState) -> None:
    rows = list(csv.DictReader(io.StringIO(privet("curator", "ledger", "--csv").out)))
    assert [row["kind"] for row in rows] == ["cap", "cap", "charge"]
    assert (rows[-1]["what"], rows[-1]["answered"]) == ("'=size", "False"), "no formula"


def test_a_report_is_written_and_says_when_a_record_is_damaged(privet, state, tmp_path) -> None:
    days = ("--from", "2001-01-01", "--to", "2999-12-31")
    ran = privet("curator", "report", "people", *days, "-o", tmp_path / "report.html")
    assert (ran.code, "1 questions from 2001-01-01" in ran.out) == (0, True)
    assert "is whole" in (tmp_path / "report.html").read_text()
    assert privet("curator", "report", "people", "-o", tmp_path / "month.md").code == 0
    assert "must end in .html or .md" in privet("curator", "report", "people", "-o", "r.pdf").err
    (state.path / "audit-log.sqlite").unlink()
    ran = privet("curator", "report", "people", *days, "-o", tmp_path / "again.html")
    assert (ran.code, "not what they were" in ran.err) == (1, True)


def test_a_schema_that_fits_nobody_is_shown_to_the_owner(
    privet: Run, nursery: Path, tmp_path: Path
) -> None:
    """As 'privet fit' does, before analysts pay for counts of nobody. It stays on the terminal."""
    schema = json.loads((nursery / "nursery.schema.json").read_text())
    next(iter(schema["attributes"].values()))["values"] = ["nobody", "at all"]
    (tmp_path / "odd.json").write_text(json.dumps(schema))
    assert privet("curator", "init").code == 0
    add = ("curator", "dataset", "add")
    rest = (nursery / "nursery.csv", "--schema", tmp_path / "odd.json", "--epsilon", "1")
    ran = privet(*add, "people", *rest)
    assert ran.code == 0
    assert "for you alone, exact facts about the rows" in ran.err
    assert re.search(r"0 of \d+ rows fit the schema", ran.err)
    assert "rows fit" not in ran.out
    state = ServiceState.open("curator")
    kept = " ".join(f"{event.what} {event.more}" for event in state.audit_log.events())
    assert "fit the schema" not in kept
    quiet = privet(*add, "again", *rest, "--same-rows", "--no-check")
    assert (quiet.code, quiet.err) == (0, "")
    good = (*rest[:2], nursery / "nursery.schema.json", *rest[3:])
    assert privet(*add, "good", *good, "--same-rows").err == ""
