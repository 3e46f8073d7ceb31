"""Data sets, analysts, tokens and grants."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privet.accounting.cost import Budget
from privet.errors import AccessError, LedgerError, ParameterError
from privet.service.accounts import Accounts, Grant, hash_token
from privet.service.audit_log import Person
from privet.service.state import ServiceState


def test_a_token_is_random_shown_once_and_stored_hashed(state):
    tokens = [state.tokens["ada"], state.tokens["bob"], state.tokens["owner"]]
    assert len(set(tokens)) == 3
    assert all(len(token) >= 40 for token in tokens)
    stored = state.accounts.path.read_bytes()
    assert not any(
        token.encode() in stored or token.removeprefix("privet_").encode() in stored
        for token in tokens
    )
    assert state.accounts.analyst_of(state.tokens["ada"]) == "ada"
    assert state.accounts.is_owner(state.tokens["owner"])
    assert not state.accounts.is_owner(state.tokens["ada"])
    for wrong in (
        "",
        "x",
        state.tokens["ada"][:-1],
        state.tokens["ada"] + " ",
        state.tokens["owner"],
        "\ud800",
    ):
        with pytest.raises(AccessError, match="not known"):
            state.accounts.analyst_of(wrong)


def test_a_token_may_overlap_the_one_before(state, monkeypatch):
    accounts, old = state.accounts, state.tokens["ada"]
    new = accounts.new_token("ada", timedelta(hours=1))
    assert [accounts.analyst_of(token) for token in (old, new)] == ["ada", "ada"]
    assert accounts.holds(hash_token(old), Person("ada", "analyst"))
    later = (datetime.now(UTC) + timedelta(minutes=61)).isoformat(timespec="seconds")
    with monkeypatch.context() as patch:
        patch.setattr("privet.service.accounts._now", lambda: later)
        assert accounts.analyst_of(new) == "ada"
        with pytest.raises(AccessError):
            accounts.analyst_of(old)
        assert not accounts.holds(hash_token(old), Person("ada", "analyst"))
    accounts.note_time(later)  # of a line of the ledger: the clock was set back since
    with pytest.raises(AccessError):
        accounts.analyst_of(old)
    accounts.new_token("ada", timedelta(hours=1))
    with pytest.raises(AccessError):  # two tokens before ends now
        accounts.analyst_of(old)
    accounts.revoke("ada")
    with pytest.raises(AccessError):
        accounts.analyst_of(new)
    for wrong in (timedelta(days=31), timedelta(seconds=-1)):
        with pytest.raises(ParameterError, match="at most 30 days"):
            accounts.new_token("bob", wrong)


@pytest.mark.parametrize("role", ["analyst", "auditor", "owner"])
def test_a_token_may_end_by_itself(state, monkeypatch, role):
    accounts, ends = state.accounts, datetime.now(UTC) + timedelta(hours=1)
    if role == "analyst":
        token, person = accounts.add_analyst("eve", ends), Person("eve", "analyst")
    elif role == "auditor":
        token, person = accounts.add_staff("eve", "auditor", ends), Person("eve", "auditor")
    else:
        token, person = accounts.new_owner_token(ends), Person("owner", "owner")
    (other, theirs) = state.tokens["ada"], Person("ada", "analyst")
    assert accounts.token_ends() == {person: ends.isoformat(timespec="seconds")}
    assert accounts.person_of(token) == person
    assert accounts.holds(hash_token(token), person), "a session on the page"
    accounts.note_time((ends + timedelta(seconds=1)).isoformat())
    said = f"this token ended on {ends:%Y-%m-%d %H:%M} UTC; ask the owner for another one"
    with pytest.raises(AccessError, match=said):
        accounts.person_of(token)
    assert not accounts.holds(hash_token(token), person)
    if role == "analyst":
        with pytest.raises(AccessError, match=said):
            accounts.analyst_of(token)
    assert accounts.person_of(other) == theirs
    assert accounts.holds(hash_token(other), theirs)


def test_an_overlap_prolongs_no_token(state):
    accounts, soon = state.accounts, datetime.now(UTC) + timedelta(minutes=10)
    old = accounts.new_token("ada", ends=soon)
    new = accounts.new_token("ada", timedelta(hours=1))
    assert [accounts.analyst_of(token) for token in (old, new)] == ["ada", "ada"]
    assert accounts.token_ends() == {}, "the new one has no end"
    accounts.note_time((soon + timedelta(seconds=1)).isoformat())
    assert accounts.analyst_of(new) == "ada"
    with pytest.raises(AccessError, match="this token ended"):
        accounts.analyst_of(old)
    with pytest.raises(ParameterError, match="zone"):
        accounts.new_token("ada", ends=datetime(2030, 1, 1))
    assert accounts.analyst_of(new) == "ada", "nothing was changed"


def test_a_new_token_ends_the_one_before(state):
    token = state.accounts.new_token("ada")
    assert state.accounts.analyst_of(token) == "ada"
    with pytest.raises(AccessError):
        state.accounts.analyst_of(state.tokens["ada"])
    owner = state.accounts.new_owner_token()
    assert state.accounts.is_owner(owner)
    assert not state.accounts.is_owner(state.tokens["owner"])


def test_grants_expire(state):
    state.accounts.grant("ada", "people", datetime.now(UTC) + timedelta(hours=1))
    assert not state.accounts.granted("ada", "people").over
    state.accounts.grant("ada", "people", datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(AccessError, match="no data set 'people' is granted to you"):
        state.accounts.granted("ada", "people")
    assert [grant.over for grant in state.accounts.grants("ada")] == [True]
    with pytest.raises(ParameterError, match="zone"):
        state.accounts.grant("ada", "people", datetime(2030, 1, 1))


def test_revoking_one_grant_leaves_the_token_and_revoking_all_ends_it(state, place, schema):
    state.accounts.add_dataset("others", place, schema)
    state.accounts.grant("ada", "others")
    assert state.accounts.revoke("ada", "people") == ["people"]
    with pytest.raises(AccessError):
        state.accounts.granted("ada", "people")
    assert state.accounts.granted("ada", "others").dataset == "others"
    assert state.accounts.revoke("ada") == ["others"]
    with pytest.raises(AccessError):
        state.accounts.analyst_of(state.tokens["ada"])
    assert state.accounts.analyst_of(state.tokens["bob"]) == "bob"
    with pytest.raises(ParameterError, match="no grant"):
        state.accounts.revoke("bob", "others")


def test_names_are_taken_once_and_must_exist(state, place, schema):
    with pytest.raises(ParameterError, match="already"):
        state.accounts.add_analyst("ada")
    with pytest.raises(ParameterError, match="already"):
        state.accounts.add_dataset("people", place, schema)
    for call in (
        lambda: state.accounts.grant("eve", "people"),
        lambda: state.accounts.grant("ada", "cars"),
        lambda: state.accounts.revoke("eve"),
        lambda: state.accounts.new_token("eve"),
        lambda: state.accounts.dataset("cars"),
        lambda: state.accounts.remove_dataset("cars"),
    ):
        with pytest.raises(ParameterError, match=r"no (analyst|data set)"):
            call()
    for name in ("", "a\nb", "a/b"):
        with pytest.raises(ParameterError, match="name"):
            state.accounts.add_dataset(name, place, schema)


def test_a_data_set_is_kept_with_its_schema_and_a_new_one_of_the_same_name_is_another(
    state, place, schema
):
    first = state.accounts.dataset("people")
    assert (first.place, first.schema) == (place, schema)
    assert place not in repr(first)  # it may hold a password
    state.accounts.remove_dataset("people")
    assert state.accounts.datasets() == []
    state.accounts.add_dataset("people", place, schema)
    assert state.accounts.dataset("people").id != first.id


def test_only_the_owner_can_read_a_home_whatever_the_umask(tmp_path):
    before = os.umask(0)
    try:
        state, _ = ServiceState.make(tmp_path / "home")
        state.ledger.set_cap("people", Budget(1))
    finally:
        os.umask(before)
    assert stat.S_IMODE(state.path.stat().st_mode) == 0o700
    for path in state.path.iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_home_opens_again_and_knows_what_was_spent(state):
    state.ledger.set_cap("people", Budget(7))
    again = ServiceState.open(state.path)
    assert again.ledger.identity == state.ledger.identity
    assert again.ledger.cap("people") == Budget(7)
    assert again.accounts.analyst_of(state.tokens["ada"]) == "ada"


def test_what_is_no_home_is_refused_and_left_as_it_is(tmp_path, state):
    with pytest.raises(ParameterError, match="no home"):
        ServiceState.open(tmp_path)
    full = tmp_path / "full"
    full.mkdir()
    (full / "mine").write_text("keep")
    with pytest.raises(ParameterError, match="not an empty folder"):
        ServiceState.make(full)
    assert [path.name for path in full.iterdir()] == ["mine"]
    with pytest.raises(ParameterError, match="does not exist"):
        ServiceState.make(tmp_path / "no" / "folder")
    with pytest.raises(ParameterError, match="postgresql"):
        ServiceState.make(tmp_path / "new", "mysql://x")
    assert not (tmp_path / "new").exists()
    with pytest.raises(ParameterError, match="not an empty folder"):
        ServiceState.make(state.path)


def test_who_makes_a_home_a_moment_later_takes_nothing_away(tmp_path, monkeypatch):
    """Both have seen an empty place; the first has finished before the second begins to write."""
    real, first = Path.mkdir, []

    def mkdir(path, *args, **options):
        if not first:
            first.append(None)
            first.append(ServiceState.make(path)[0])
            first[1].ledger.set_cap("people", Budget(1))
        real(path, *args, **options)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    with pytest.raises(LedgerError, match="somebody else"):
        ServiceState.make(tmp_path / "home")
    assert ServiceState.open(tmp_path / "home").ledger.cap("people") == Budget(1)


def test_a_home_whose_ledger_is_gone_is_not_opened_with_a_fresh_one(state):
    for path in state.path.glob("ledger.sqlite*"):
        path.unlink()
    with pytest.raises(LedgerError, match="gone"):
        ServiceState.open(state.path)


def test_accounts_that_are_gone_are_an_error(tmp_path):
    with pytest.raises(LedgerError, match="no accounts"):
        Accounts(tmp_path / "accounts.sqlite").analysts()


@pytest.mark.parametrize("ledger", [None, {}, 3, ["ledger.sqlite"]])
def test_a_home_that_does_not_say_where_its_ledger_is_gets_no_new_one(state, ledger):
    config = state.path / "curator.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "ledger": ledger}))
    (state.path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError, match="where the ledger is"):
        ServiceState.open(state.path)
    assert not (state.path / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE datasets SET schema = '{'", lambda accounts: accounts.datasets()),
        ("UPDATE datasets SET schema = 7", lambda accounts: accounts.dataset("people")),
        ("UPDATE owner SET token = x'00'", lambda accounts: accounts.is_owner("x")),
        ("UPDATE datasets SET place = CAST(x'ff' AS TEXT)", lambda accounts: accounts.datasets()),
        ("UPDATE token_ends SET ends = 'soon'", lambda accounts: accounts.token_ends()),
        ("UPDATE token_ends SET ends = x'00'", lambda accounts: accounts.token_ends()),
    ],
)
def test_damaged_accounts_are_one_error(state, statement, read):
    state.accounts.add_analyst("eve", datetime(2999, 1, 31, tzinfo=UTC))
    with closing(sqlite3.connect(state.accounts.path)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(LedgerError, match="accounts"):
        read(state.accounts)


def test_a_name_that_cannot_be_written_is_no_damage(state):
    with pytest.raises(ParameterError, match="UTF-8"):
        state.accounts.dataset("\udcff")


@pytest.mark.parametrize("expires", ["soon", 7, None])
def test_a_grant_until_a_time_that_is_none_is_over(expires):
    assert Grant("ada", "people", expires).over
