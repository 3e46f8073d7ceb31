"""The same suite for both kinds of store."""

from __future__ import annotations

import pytest

from privet.outsource.server.handlers import grow_tree
from privet.outsource.store import make_store, open_store
from privet.outsource.store.base import StoreLimits, TreeSettings
from tests.outsource.store import tables

ROOM = StoreLimits()


@pytest.fixture(params=["duckdb", "postgres"])
def place(request, tmp_path) -> str:
    if request.param == "duckdb":
        return str(tmp_path / "store.duckdb")
    return f"{request.getfixturevalue('postgres').database()}&schema=of_its_own"


@pytest.fixture
def made(tmp_path):
    return tables.halves()


@pytest.fixture
def store(place, made, tmp_path):
    make_store(place, tables.folder(tmp_path / "folder", made))
    opened = open_store(place)
    yield opened
    opened.close()


@pytest.fixture
def tree(store):
    return grow_tree(store, TreeSettings(), ROOM)
