"""Sub-trees on their way: sent while nobody waits, not lost with the client that learnt them."""

from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
import textwrap

import pytest

from privet.errors import OutsourceError, Unavailable
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.client import Collaborative, Outbox
from tests.outsource.client.reference import Reference
from tests.outsource.people import people

NEW = people(200, seed=9)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "outbox"


def waiting(path) -> int:
    with sqlite3.connect(path) as database:
        return database.execute("SELECT count(*) FROM subtrees").fetchone()[0]


def test_sub_trees_arrive_in_the_background(there, connect, path):
    table = connect()
    tree = table.grow("binary", leaf_size=5)
    with Outbox(table, path) as outbox:
        learner = Collaborative(table, tree, outbox=outbox)
        expected = Reference(there.halves, there.ring, "binary", 5).collaborative(NEW)
        assert learner.predict(NEW, at_once=3) == expected
        assert outbox.close() == 0
    refined = table.details(tree.id).refined
    assert refined
    assert table.meter.refined == table.meter.sealed == len(refined), "a leaf was refined twice"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert waiting(path) == 0


def test_what_waits_is_used_and_its_rows_are_not_sent_again(there, connect, path, monkeypatch):
    """The server has none of it yet; whoever predicts has it nevertheless."""
    table = connect()
    tree = table.grow("binary", leaf_size=5)
    outbox = Outbox(table)
    monkeypatch.setattr(outbox, "send", lambda: None)
    learner = Collaborative(table, tree, outbox=outbox)
    expected = Reference(there.halves, there.ring, "binary", 5).collaborative(NEW)
    assert learner.predict(NEW, at_once=20) == expected
    assert table.details(tree.id).refined == {}
    sealed, opened = table.meter.sealed, table.meter.opened
    assert sealed == len(outbox) == len(outbox.subtrees(tree.id))
    assert learner.predict(NEW) == expected
    assert table.meter.sealed == sealed
    assert table.meter.opened == opened + sealed, "rows were opened again"


def test_a_server_that_is_gone_stops_no_prediction_that_is_made(own, path):
    """What was learnt waits in the file, and the next client sends it."""
    with own.table(retry_for=0.2) as table:
        tree = table.grow("binary", leaf_size=5)
        with Outbox(table, path) as outbox:
            learner = Collaborative(table, tree, outbox=outbox)
            real = table.store_subtrees

            def gone(*given):
                raise Unavailable("gone")

            table.store_subtrees = gone
            learner.predict(NEW)
            left = outbox.close()
            table.store_subtrees = real
        assert left == table.meter.sealed > 0
        assert isinstance(outbox.trouble, Unavailable)
        assert table.details(tree.id).refined == {}
    assert waiting(path) == left
    with own.table() as table, Outbox(table, path) as outbox:
        assert outbox.close() == 0
        assert len(table.details(tree.id).refined) == left
        before = table.meter
        Collaborative(table, tree).predict(NEW)
        assert table.meter.since(before).refined == 0


KILLED = """
import os, signal, sys
from privet.outsource.cipher import KeyRing
from privet.outsource.client import Collaborative, Outbox, OutsourcedTable
from tests.outsource.people import people
url, token, key, path = sys.argv[1:]
table = OutsourcedTable(url, token, KeyRing.read(key))
outbox = Outbox(table, path)
learner = Collaborative(table, outbox=outbox)
table.store_subtrees = lambda *_: os.kill(os.getpid(), signal.SIGKILL)  # before it is sent
outbox.send = lambda: None
for start in range(0, 60, 20):
    learner.predict(people(200, seed=9)[start:start + 20])
print(len(outbox), flush=True)
type(outbox).send(outbox)
outbox._thread.join()
"""


def test_a_killed_client_loses_nothing(own, path, tmp_path):
    """Killed between learning and sending: the next client sends what that one learnt, whole."""
    own.ring.write(tmp_path / "key")
    with own.table() as table:
        tree = table.grow("binary", leaf_size=5)
    url = f"http://127.0.0.1:{own.service.port}"
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), url, own.token, tmp_path / "key", path],
        stdout=subprocess.PIPE,
        check=False,
        timeout=120,
    )
    assert done.returncode == -signal.SIGKILL
    learnt = int(done.stdout)
    assert learnt > 0
    with own.table() as table:
        assert table.details(tree.id).refined == {}
        with Outbox(table, path) as outbox:
            assert outbox.close() == 0
        assert len(table.details(tree.id).refined) == learnt
        expected = Reference(own.halves, own.ring, "binary", 5).collaborative(NEW)
        assert Collaborative(table, tree).predict(NEW) == expected


class TestLeftovers:
    def fill(self, table, path, tree, sealed, data=None):
        outbox = Outbox(table, path)
        outbox._thread.join(0)
        data = table.about()["version"] if data is None else data
        with outbox._using() as database:
            database.execute(
                "INSERT INTO subtrees VALUES (?, ?, ?, ?, ?)",
                (table.anatomy.id, tree.id, self.leaf(table, tree), data, sealed),
            )
        return outbox

    def leaf(self, table, tree):
        return min(table.details(tree.id).sizes)

    @pytest.mark.parametrize("what", ["junk", "another key", "another leaf"])
    def test_what_no_key_opens_is_dropped(self, own, path, what):
        """Nobody could use it: the leaf would be lost until the rows change."""
        with own.table() as table:
            tree = table.grow("binary", leaf_size=5)
            leaf = self.leaf(table, tree)
            sealer = Sealer(KeyRing.new(), table.anatomy.id)
            sealed = {
                "junk": b"junk",
                "another key": sealer.seal("subtree", (tree.id, leaf), b"x"),
                "another leaf": table.sealer.seal("subtree", (tree.id, leaf + 1), b"x"),
            }[what]
            create = Outbox(table, path)
            create.close()
            with sqlite3.connect(path) as database:
                database.execute(
                    "INSERT INTO subtrees VALUES (?, ?, ?, ?, ?)",
                    (table.anatomy.id, tree.id, leaf, table.about()["version"], sealed),
                )
            with Outbox(table, path) as outbox:
                assert outbox.close() == 0
            assert table.details(tree.id).refined == {}

    def test_what_was_learnt_of_other_rows_or_for_a_tree_that_is_gone_is_dropped(self, own, path):
        with own.table() as table:
            tree, gone = table.grow("binary", leaf_size=5), table.grow("binary")
            leaf = self.leaf(table, tree)
            version = table.about()["version"]
            table.drop(gone.id)
            Outbox(table, path).close()
            with sqlite3.connect(path) as database:
                for name, data in ((tree.id, version + 1), (gone.id, version)):
                    sealed = table.sealer.seal("subtree", (name, leaf), b"x")
                    database.execute(
                        "INSERT INTO subtrees VALUES (?, ?, ?, ?, ?)",
                        (table.anatomy.id, name, leaf, data, sealed),
                    )
            with Outbox(table, path) as outbox:
                assert outbox.close() == 0
            assert table.details(tree.id).refined == {}

    def test_what_belongs_to_another_table_waits_for_it(self, own, path):
        with own.table() as table:
            tree = table.grow("binary", leaf_size=5)
            Outbox(table, path).close()
            with sqlite3.connect(path) as database:
                database.execute(
                    "INSERT INTO subtrees VALUES (?, ?, ?, ?, ?)", ("f" * 32, tree.id, 0, 1, b"x")
                )
            with Outbox(table, path) as outbox:
                assert outbox.close() == 0
        assert waiting(path) == 1

    def test_a_file_of_something_else_is_left_alone(self, own, path):
        path.write_text("notes")
        with own.table() as table, pytest.raises(OutsourceError, match="name another"):
            Outbox(table, path)
        assert path.read_text() == "notes"
        path.unlink()
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE mine (x)")
        with own.table() as table, pytest.raises(OutsourceError, match="name another"):
            Outbox(table, path)

    def test_a_folder_that_is_not_there(self, own, tmp_path):
        with own.table() as table, pytest.raises(OutsourceError, match="cannot make"):
            Outbox(table, tmp_path / "no" / "outbox")
