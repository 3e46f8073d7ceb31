"""Data sets, analysts, tokens and grants."""

from __future__ import annotations

import json
import sqlite3
import stat
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from privet.accounting.cost import Budget
from privet.errors import AccessError, LedgerError, ParameterError
from privet.service.accounts import Accounts, Grant
from privet.service.state import ServiceState


def test_a_token_is_random_shown_once_and_stored_hashed(home):
    tokens = [home.tokens["ada"], home.tokens["bob"], home.tokens["owner"]]
    assert len(set(tokens)) == 3
    assert all(len(token) >= 40 for token in tokens)
    stored = home.accounts.path.read_bytes()
    assert not any(
        token.encode() in stored or token.removeprefix("privet_").encode() in stored
        for token in tokens
    )
    assert home.accounts.analyst_of(home.tokens["ada"]) == "ada"
    assert home.accounts.is_owner(home.tokens["owner"])
    assert not home.accounts.is_owner(home.tokens["ada"])
    for wrong in (
        "",
        "x",
        home.tokens["ada"][:-1],
        home.tokens["ada"] + " ",
        home.tokens["owner"],
        "\ud800",
    ):
        with pytest.raises(AccessError, match="not known"):
            home.accounts.analyst_of(wrong)


def test_a_new_token_ends_the_one_before(home):
    token = home.accounts.new_token("ada")
    assert home.accounts.analyst_of(token) == "ada"
    with pytest.raises(AccessError):
        home.accounts.analyst_of(home.tokens["ada"])
    owner = home.accounts.new_owner_token()
    assert home.accounts.is_owner(owner)
    assert not home.accounts.is_owner(home.tokens["owner"])


def test_grants_expire(home):
    home.accounts.grant("ada", "people", datetime.now(UTC) + timedelta(hours=1))
    assert not home.accounts.granted("ada", "people").over
    home.accounts.grant("ada", "people", datetime.now(UTC) - timedelta(seconds=1))
    with pytest.raises(AccessError, match="no data set 'people' is granted to you"):
        home.accounts.granted("ada", "people")
    assert [grant.over for grant in home.accounts.grants("ada")] == [True]
    with pytest.raises(ParameterError, match="zone"):
        home.accounts.grant("ada", "people", datetime(2030, 1, 1))  # noqa: DTZ001


def test_revoking_one_grant_leaves_the_token_and_revoking_all_ends_it(home, place, schema):
    home.accounts.add_dataset("others", place, schema)
    home.accounts.grant("ada", "others")
    assert home.accounts.revoke("ada", "people") == ["people"]
    with pytest.raises(AccessError):
        home.accounts.granted("ada", "people")
    assert home.accounts.granted("ada", "others").dataset == "others"
    assert home.accounts.revoke("ada") == ["others"]
    with pytest.raises(AccessError):
        home.accounts.analyst_of(home.tokens["ada"])
    assert home.accounts.analyst_of(home.tokens["bob"]) == "bob"
    with pytest.raises(ParameterError, match="no grant"):
        home.accounts.revoke("bob", "others")


def test_names_are_taken_once_and_must_exist(home, place, schema):
    with pytest.raises(ParameterError, match="already"):
        home.accounts.add_analyst("ada")
    with pytest.raises(ParameterError, match="already"):
        home.accounts.add_dataset("people", place, schema)
    for call in (
        lambda: home.accounts.grant("eve", "people"),
        lambda: home.accounts.grant("ada", "cars"),
        lambda: home.accounts.revoke("eve"),
        lambda: home.accounts.new_token("eve"),
        lambda: home.accounts.dataset("cars"),
        lambda: home.accounts.remove_dataset("cars"),
    ):
        with pytest.raises(ParameterError, match=r"no (analyst|data set)"):
            call()
    for name in ("", "a\nb", "a/b"):
        with pytest.raises(ParameterError, match="name"):
            home.accounts.add_dataset(name, place, schema)


def test_a_data_set_is_kept_with_its_schema_and_a_new_one_of_the_same_name_is_another(
    home, place, schema
):
    first = home.accounts.dataset("people")
    assert (first.place, first.schema) == (place, schema)
    assert place not in repr(first)  # it may hold a password
    home.accounts.remove_dataset("people")
    assert home.accounts.datasets() == []
    home.accounts.add_dataset("people", place, schema)
    assert home.accounts.dataset("people").id != first.id


def test_only_the_owner_can_read_a_home(home):
    assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
    for path in home.path.iterdir():
        if path.name not in ("witness",) and not path.name.endswith(("-wal", "-shm")):
            assert stat.S_IMODE(path.stat().st_mode) == 0o600, path


def test_a_home_opens_again_and_knows_what_was_spent(home):
    home.ledger.set_cap("people", Budget(7))
    again = ServiceState.open(home.path)
    assert again.ledger.identity == home.ledger.identity
    assert again.ledger.cap("people") == Budget(7)
    assert again.accounts.analyst_of(home.tokens["ada"]) == "ada"


def test_what_is_no_home_is_refused_and_left_as_it_is(tmp_path, home):
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
        ServiceState.make(home.path)


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


def test_a_home_whose_ledger_is_gone_is_not_opened_with_a_fresh_one(home):
    for path in home.path.glob("ledger.sqlite*"):
        path.unlink()
    with pytest.raises(LedgerError, match="gone"):
        ServiceState.open(home.path)


def test_accounts_that_are_gone_are_an_error(tmp_path):
    with pytest.raises(LedgerError, match="no accounts"):
        Accounts(tmp_path / "accounts.sqlite").analysts()


@pytest.mark.parametrize("ledger", [None, {}, 3, ["ledger.sqlite"]])
def test_a_home_that_does_not_say_where_its_ledger_is_gets_no_new_one(home, ledger):
    config = home.path / "curator.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "ledger": ledger}))
    (home.path / "ledger.sqlite").unlink()
    with pytest.raises(LedgerError, match="where the ledger is"):
        ServiceState.open(home.path)
    assert not (home.path / "ledger.sqlite").exists()


@pytest.mark.parametrize(
    ("statement", "read"),
    [
        ("UPDATE datasets SET schema = '{'", lambda accounts: accounts.datasets()),
        ("UPDATE datasets SET schema = 7", lambda accounts: accounts.dataset("people")),
        ("UPDATE owner SET token = x'00'", lambda accounts: accounts.is_owner("x")),
        ("UPDATE datasets SET place = CAST(x'ff' AS TEXT)", lambda accounts: accounts.datasets()),
    ],
)
def test_damaged_accounts_are_one_error(home, statement, read):
    with closing(sqlite3.connect(home.accounts.path)) as connection:
        connection.execute(statement)
        connection.commit()
    with pytest.raises(LedgerError, match="accounts"):
        read(home.accounts)


def test_a_name_that_cannot_be_written_is_no_damage(home):
    with pytest.raises(ParameterError, match="UTF-8"):
        home.accounts.dataset("\udcff")


@pytest.mark.parametrize("expires", ["soon", 7, None])
def test_a_grant_until_a_time_that_is_none_is_over(expires):
    assert Grant("ada", "people", expires).over
