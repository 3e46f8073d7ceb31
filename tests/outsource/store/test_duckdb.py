"""What only a DuckDB file has to promise."""

from __future__ import annotations

import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest

from privet.errors import OutsourceError, Unavailable
from privet.outsource.server.handlers import grow_tree
from privet.outsource.store import make_store, open_store
from privet.outsource.store.base import Change, TreeSettings
from tests.outsource.store import tables
from tests.outsource.store.conftest import ROOM


@pytest.fixture
def place(tmp_path) -> str:
    return str(tmp_path / "store.duckdb")


def test_one_process_owns_the_file(store, place):
    code = f"from privet.outsource.store import open_store\nopen_store({place!r})"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 1
    assert "in use by another process; one server owns it at a time" in ended.stderr
    with pytest.raises(OutsourceError, match="open already"):
        open_store(place)
    store.close()
    open_store(place).close()


def test_a_store_that_was_closed_says_so(store):
    store.close()
    store.close()
    with pytest.raises(Unavailable, match="closed"):
        store.about()


def test_a_file_that_is_no_store(tmp_path):
    (tmp_path / "text.duckdb").write_text("hello")
    with pytest.raises(OutsourceError, match="damaged, or no DuckDB file"):
        open_store(tmp_path / "text.duckdb")
    with duckdb.connect(tmp_path / "other.duckdb") as connection:
        connection.execute("CREATE TABLE meta (format BIGINT, anatomy TEXT)")
    with pytest.raises(OutsourceError, match="another format"):
        open_store(tmp_path / "other.duckdb")
    with duckdb.connect(tmp_path / "empty.duckdb"):
        pass
    with pytest.raises((OutsourceError, Unavailable)):
        open_store(tmp_path / "empty.duckdb")
    with pytest.raises(OutsourceError, match="no store"):
        open_store(tmp_path / "nothing.duckdb")


def test_the_file_is_for_its_owner_only(store, place):
    assert Path(place).stat().st_mode & 0o077 == 0


def test_an_interrupted_load_leaves_nothing_that_opens_and_can_be_done_again(tmp_path, place):
    source = tables.folder(tmp_path / "folder")
    code = (
        "import os, signal\nfrom privet.outsource.store import duckdb as module, make_store\n"
        "real = module.stage\n"
        "def stage(connection, folder):\n    real(connection, folder)\n    os.kill(os.getpid(), "
        "signal.SIGKILL)\n"
        f"module.stage = stage\nmake_store({place!r}, {str(source)!r})"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    assert len(list(tmp_path.iterdir())) > 1  # something was left
    with pytest.raises(OutsourceError, match="no store"):
        open_store(place)
    make_store(place, source)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "store.duckdb"]
    open_store(place).close()


def test_threads_that_read_see_whole_changes(store):
    """Each change takes one group and brings one: what is read is the same size at every moment."""
    tree = grow_tree(store, TreeSettings(), ROOM)
    total = store.about()[0].rows
    stop: list[bool] = []

    def read() -> None:
        while not stop:
            page = store.page(-1, 10_000, 10**6)
            facts, (summary,) = store.about()
            assert len(page.rows) == total
            assert all(len(row.candidates) >= 2 for row in page.rows)
            assert facts.rows == total
            assert sum(n for _, n in store.leaf_facts(tree.id).sizes) == total
            assert summary.changed % 4 == 0

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read) for _ in range(4)]
        try:
            for version in range(1, 21):
                first, second = (row.number for row in store.page(-1, 2, 100).rows)
                store.change(Change(version, *tables.new_group(), [first, second]), ROOM)
        finally:
            stop.append(True)
        for reader in readers:
            reader.result()
    assert store.about()[0].version == 21
