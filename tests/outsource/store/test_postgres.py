"""What only a schema in PostgreSQL has to promise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from privet.errors import OutsourceError, ParameterError, Unavailable
from privet.outsource.store import make_store, open_store
from privet.outsource.store.base import Change, OtherData, Stale
from privet.outsource.store.postgres import parse_place
from tests.outsource.store import tables
from tests.outsource.store.conftest import ROOM


@pytest.fixture
def place(postgres) -> str:
    return f"{postgres.database()}&schema=of_its_own"


def test_the_schema_is_named_in_the_url():
    assert parse_place("postgresql://u@h/d") == ("postgresql://u@h/d", "privet_outsource")
    assert parse_place("postgresql://u@h/d?schema=mine") == ("postgresql://u@h/d", "mine")
    assert parse_place("postgresql://u@h/d?sslmode=require&schema=mine&port=1") == (
        "postgresql://u@h/d?sslmode=require&port=1",
        "mine",
    )


@pytest.mark.parametrize(
    "name",
    [
        "",
        "public",
        "pg_x",
        "PG_x",
        "a b",
        "a%22b",
        "a;b",
        "9a",
        "A",
        "a" * 64,
        "x&schema=y",
        "information_schema",
    ],
)
def test_a_schema_of_another_name_is_refused(name):
    with pytest.raises(ParameterError, match="schema must be"):
        parse_place(f"postgresql://u@h/d?schema={name}")


def test_a_password_in_the_wrong_place_is_not_told():
    for url in (
        "postgresql://u:p@ss@w0rd@h/d",
        "postgresql://u:secret/@h/d",
        "postgresql://h/d@secret",
    ):
        with pytest.raises(ParameterError) as refused:
            parse_place(url)
        assert not any(part in str(refused.value) for part in ("w0rd", "secret"))


def test_stores_in_one_database_do_not_meet(postgres, tmp_path):
    url = postgres.database()
    for name in ("one", "two"):
        make_store(f"{url}&schema={name}", tables.folder(tmp_path / name))
    one, two = open_store(f"{url}&schema=one"), open_store(f"{url}&schema=two")
    one.change(Change(1, *tables.new_group()), ROOM)
    assert (one.about()[0].version, two.about()[0].version) == (2, 1)
    assert one.anatomy.id != two.anatomy.id
    one.close()
    two.close()


def test_two_servers_of_one_store(store, place):
    other = open_store(place)
    stores = [store, other]

    def put(i: int) -> int:
        try:
            return stores[i % 2].put_sealed("naive", b"%d" % i, None, ROOM)
        except Stale:
            return 0

    def change(i: int) -> bool:
        try:
            stores[i % 2].change(Change(1, *tables.new_group()), ROOM)
            return True
        except OtherData:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(put, range(8))) == [0] * 7 + [1]
        assert sum(pool.map(change, range(8))) == 1
    assert store.about() == other.about()
    other.close()


def test_a_load_that_fails_leaves_nothing(postgres, tmp_path):
    import psycopg

    url = postgres.database()
    source = tables.folder(tmp_path / "folder")
    tables.rewrite(source / "st.parquet", "SELECT * REPLACE ('flu' AS value) FROM old ORDER BY seq")
    with pytest.raises(OutsourceError, match="not 2-diverse"):
        make_store(url, source)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regnamespace('privet_outsource')").fetchone() == (
            None,
        )
    with pytest.raises(OutsourceError, match="no store in the schema 'privet_outsource'"):
        open_store(url)


def test_a_load_that_is_cut_off_leaves_nothing(postgres, tmp_path, monkeypatch):
    from privet.outsource.store import postgres as module

    url = postgres.database()
    real = module._copy

    def copy(connection, staged, table, columns, order):
        real(connection, staged, table, columns, order)
        if table == "st":
            connection.close()  # as if the process had ended

    monkeypatch.setattr(module, "_copy", copy)
    with pytest.raises(Unavailable):
        make_store(url, tables.folder(tmp_path / "folder"))
    monkeypatch.undo()
    with pytest.raises(OutsourceError, match="no store"):
        open_store(url)
    make_store(url, tmp_path / "folder")
    open_store(url).close()


def test_an_empty_schema_may_be_there_and_another_users_may_not(postgres, tmp_path):
    import psycopg

    url = postgres.database()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA prepared")
        connection.execute("CREATE SCHEMA used CREATE TABLE mine (a int)")
        connection.execute("DROP ROLE IF EXISTS somebody")
        connection.execute("CREATE ROLE somebody")
        connection.execute("CREATE SCHEMA foreign_one AUTHORIZATION somebody")
        source = tables.folder(tmp_path / "folder")
        make_store(f"{url}&schema=prepared", source)
        open_store(f"{url}&schema=prepared").close()
        with pytest.raises(ParameterError, match="not empty"):
            make_store(f"{url}&schema=used", source)
        with pytest.raises(OutsourceError, match="belongs to another user"):
            make_store(f"{url}&schema=foreign_one", source)
        connection.execute("DROP SCHEMA foreign_one")
        connection.execute("DROP ROLE somebody")


def test_a_server_that_is_not_there():
    with pytest.raises(Unavailable, match="cannot reach"):
        open_store("postgresql://nobody@127.0.0.1:1/nothing")


def test_a_crash_of_the_server_loses_nothing(own_postgres, tmp_path, monkeypatch):
    monkeypatch.setattr("privet.outsource.store.postgres._CONNECT_SECONDS", 1)
    url = own_postgres.database()
    make_store(url, tables.folder(tmp_path / "folder"))
    store = open_store(url)
    assert store.put_sealed("naive", b"kept", None, ROOM) == 1
    assert store.change(Change(1, pending=[b"waits"]), ROOM).version == 2
    own_postgres.crash()
    with pytest.raises(Unavailable):
        store.about()
    own_postgres.start()
    store._pool.timeout = 120
    assert store.sealed("naive").body == b"kept"
    assert store.pending(0, 10) == ([(1, b"waits")], None)
    store.close()
