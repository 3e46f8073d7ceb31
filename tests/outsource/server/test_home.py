"""The home of a server: made as a whole or not at all."""

from __future__ import annotations

import json

import pytest

from privet.errors import OutsourceError, ParameterError
from privet.outsource.server import state as state_module
from privet.outsource.server.state import ServerState
from tests.outsource.store import tables


def test_a_home_is_for_its_owner_only(state):
    assert state.path.stat().st_mode & 0o777 == 0o700
    for path in state.path.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path
    assert sorted(path.name for path in state.path.iterdir()) == [
        "accounts.sqlite",
        "server.json",
        "store.duckdb",
    ]


def test_it_opens_again_and_clients_can_be_added_while_it_is_served(state):
    store = state.store()
    again = ServerState.open(state.path)
    token = again.accounts.add_analyst("bob")
    assert state.accounts.analyst_of(token) == "bob"
    store.close()
    again.store().close()


def test_where_the_store_is_is_not_shown(tmp_path):
    assert "secret" not in repr(ServerState(tmp_path, None, "postgresql://u:secret@h/d"))  # type: ignore[arg-type]


def test_a_folder_that_is_refused_leaves_nothing(tmp_path):
    source = tables.folder(tmp_path / "folder")
    tables.rewrite(source / "st.parquet", "SELECT * REPLACE ('flu' AS value) FROM old ORDER BY seq")
    with pytest.raises(OutsourceError, match="not 2-diverse"):
        ServerState.make(tmp_path / "server", source)
    assert not (tmp_path / "server").exists()
    (tmp_path / "empty").mkdir()
    with pytest.raises(OutsourceError):
        ServerState.make(tmp_path / "empty", source)
    assert list((tmp_path / "empty").iterdir()) == []


def test_who_comes_second_leaves_the_home_of_the_first(tmp_path, monkeypatch):
    source, home = tables.folder(tmp_path / "folder"), tmp_path / "server"
    make_private_folder = state_module.make_private_folder

    def be_slower(folder):
        make_private_folder(folder)
        monkeypatch.undo()
        ServerState.make(home, source)

    monkeypatch.setattr(state_module, "make_private_folder", be_slower)
    with pytest.raises(OutsourceError, match="somebody else makes a server there"):
        ServerState.make(home, source)
    ServerState.open(home).store().close()


def test_a_place_that_is_not_for_a_home(tmp_path, state):
    source = tables.folder(tmp_path / "another")
    with pytest.raises(ParameterError, match="not an empty folder"):
        ServerState.make(state.path, source)
    with pytest.raises(ParameterError, match="does not exist"):
        ServerState.make(tmp_path / "no" / "where", source)
    with pytest.raises(ParameterError, match="postgresql://"):
        ServerState.make(tmp_path / "third", source, "mysql://u@h/d")
    assert not (tmp_path / "third").exists()
    state.store().close()


def test_what_is_no_home(tmp_path, state):
    with pytest.raises(ParameterError, match="no home of a server"):
        ServerState.open(tmp_path)
    config = state.path / "server.json"
    told = json.loads(config.read_text())
    for wrong in (
        "",
        "[]",
        "{}",
        json.dumps({**told, "version": 2}),
        json.dumps({**told, "privet": "curator"}),
        json.dumps({**told, "store": 1}),
    ):
        config.write_text(wrong)
        with pytest.raises(OutsourceError):
            ServerState.open(state.path)


def test_a_home_that_was_not_finished_does_not_open(state):
    (state.path / "server.json").unlink()
    with pytest.raises(ParameterError, match="no home"):
        ServerState.open(state.path)
