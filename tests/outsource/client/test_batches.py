"""Many rows, many leaves and many sub-trees in one exchange; and a server that knows none of it."""

from __future__ import annotations

import dataclasses
import gzip
import json

import numpy as np
import pytest

from privet.errors import Conflict, NotThere, OutsourceError, SealError
from privet.outsource.client import Collaborative, Naive
from privet.outsource.client.leaves import read_leaves
from privet.outsource.client.replies import LeafContents
from privet.outsource.client.subtrees import (
    TrueRows,
    join_rows,
    learn,
    pad_tree,
    predict_classes,
    room_for,
    unpad_tree,
)
from privet.outsource.server.packing import pack, padded_length
from tests.outsource.client.reference import Reference
from tests.outsource.people import people

NEW = people(200, seed=9)


def spent(table, work):
    before = table.meter
    work()
    return table.meter.since(before)


class TestExchanges:
    def test_two_hundred_rows_take_few(self, connect):
        """At most one and a half times what cnl takes to learn and to predict as many."""
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        learner, naive = Collaborative(table, tree), Naive(table, "binary")

        def everything() -> None:
            naive.learn(again=True)
            naive.predict(NEW)

        assert spent(table, lambda: learner.predict(NEW)).requests <= 1.5 * max(
            3,
            spent(table, everything).requests - 1,  # one looks whether a tree is there
        )
        again = spent(table, lambda: learner.predict(NEW))
        assert (again.requests, again.refined) == (1, 0)

    def test_a_leaf_comes_with_the_answer_that_reaches_it(self, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        first = spent(table, lambda: Collaborative(table, tree).predict(NEW[:1]))
        assert (first.requests, first.refined, first.sealed) == (2, 1, 1)
        assert spent(table, lambda: Collaborative(table, tree).predict(NEW[:1])).requests == 1

    def test_a_leaf_without_rows_costs_no_exchange(self, own):
        """The base tree's class has to do, and nobody asks for rows that are not there."""
        with own.table() as table:
            tree = table.grow("binary", leaf_size=5)
            empty = min(table.details(tree.id).sizes)
            gone = [row.row for page in table.leaf_rows(tree.id, empty) for row in page.rows]
            table.change(table.about()["version"], remove_rows=gone)
            assert empty not in table.details(tree.id).sizes
            many = people(300, seed=3)
            learner = Collaborative(table, tree)
            learner.predict(many)
            assert table.details(tree.id).refined.keys() == table.details(tree.id).sizes.keys()
            odd = many.assign(town="atlantis", age=-5.0)  # stops before a leaf
            for rows in (many, odd):
                assert spent(table, lambda rows=rows: learner.predict(rows[:50], 1)).requests == 50


class TestPages:
    @pytest.mark.parametrize("page", [11, 100, 10_000])
    def test_leaves_come_whole_whatever_the_page(self, connect, page):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        sizes = table.details(tree.id).sizes
        read = dict(read_leaves(table, tree.id, sizes, page=page))
        assert {leaf: len(rows) for leaf, rows in read.items()} == sizes
        seqs = np.concatenate([rows.seqs for rows in read.values()])
        assert len(np.unique(seqs)) == sum(sizes.values())
        for leaf, rows in read.items():
            alone = join_rows(table, lambda leaf=leaf: table.leaf_rows(tree.id, leaf))
            assert rows.seqs.tolist() == alone.seqs.tolist()
            assert all((a == b).all() for a, b in zip(rows.codes, alone.codes, strict=True))

    def test_a_page_holds_no_beginning_of_a_leaf_beside_another(self, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        sizes = table.details(tree.id).sizes
        assert len(sizes) > 2
        limit = max(sizes.values())
        contents = table.contents(tree.id, sizes, page=limit)
        for leaf in set(contents.row_leaves):
            assert contents.row_leaves.count(leaf) == sizes[leaf]

    def test_sub_trees_that_do_not_fit_come_later(self, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        Collaborative(table, tree).predict(people(400, seed=3))
        leaves = table.details(tree.id).refined
        told = table.contents(tree.id, leaves)
        left_out = LeafContents(dict.fromkeys(told.subtrees))
        read = dict(read_leaves(table, tree.id, leaves, left_out))
        assert read == told.subtrees

    def test_rows_of_a_leaf_that_is_refined_already(self, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        Collaborative(table, tree).predict(people(400, seed=3))
        leaves = table.details(tree.id).refined
        for _, rows in read_leaves(table, tree.id, leaves, refined=False):
            assert isinstance(rows, TrueRows)

    def test_leaves_that_are_not_there(self, connect):
        table = connect()
        tree = table.grow("binary")
        with pytest.raises(NotThere):
            table.contents(tree.id, [10**6])
        with pytest.raises(NotThere):
            table.store_subtrees(tree.id, [(10**6, b"x", 1)])

    def test_a_row_that_comes_twice_is_noticed(self, connect, monkeypatch):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        real = table.contents

        def repeating(*given, **more):
            contents = real(*given, **more)
            rows, leaves = contents.page.rows, contents.row_leaves
            page = dataclasses.replace(contents.page, rows=[rows[0], *rows])
            return dataclasses.replace(contents, page=page, row_leaves=(leaves[0], *leaves))

        monkeypatch.setattr(table, "contents", repeating)
        with pytest.raises(SealError):
            list(read_leaves(table, tree.id, table.details(tree.id).sizes))

    def test_a_table_that_changes_between_pages_is_read_again(self, connect, monkeypatch):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        sizes = table.details(tree.id).sizes
        page = max(sizes.values()) // 2 + 1  # the largest leaf comes in two
        monkeypatch.setattr("privet.outsource.client.leaves._TRIES", 3)
        real, calls = table.contents, []

        def changing(*given, **more):
            contents = real(*given, **more)
            calls.append(contents)
            page = dataclasses.replace(contents.page, version=min(len(calls), 2))
            return dataclasses.replace(contents, page=page)

        monkeypatch.setattr(table, "contents", changing)
        read = dict(read_leaves(table, tree.id, sizes, page=page))
        assert {leaf: len(rows) for leaf, rows in read.items()} == sizes
        assert {rows.version for rows in read.values()} <= {1, 2}

        def always(*given, **more):
            calls.append(None)
            contents = real(*given, **more)
            page = dataclasses.replace(contents.page, version=len(calls))
            return dataclasses.replace(contents, page=page)

        monkeypatch.setattr(table, "contents", always)
        with pytest.raises(Conflict):
            list(read_leaves(table, tree.id, sizes, page=page))


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["candidates"]["rows"].reverse(),
        lambda told: told["candidates"]["rows"].append(told["candidates"]["rows"][0]),
        lambda told: told["candidates"]["rows"][0].__setitem__(0, 10**6),
        lambda told: told["candidates"].__setitem__("groups", {}),
        lambda told: told["candidates"].__setitem__("next", [0, 0]),
        lambda told: told["candidates"].__setitem__("rows", [[1]]),
        lambda told: told["candidates"].__setitem__("version", -1),
        lambda told: told.__setitem__("subtrees", {"1000000": {"sealed": "AAAA"}}),
        lambda told: told.pop("subtrees"),
    ],
)
def test_what_a_server_makes_up_is_one_clear_error(connect, monkeypatch, change):
    table = connect()
    tree = table.grow("binary", leaf_size=5)
    real = table.link.post

    def lying(path, *given):
        told = real(path, *given)
        if path.endswith("/contents"):
            change(told)
        return told

    monkeypatch.setattr(table.link, "post", lying)
    with pytest.raises(OutsourceError, match="not what it should be"):
        table.contents(tree.id, table.details(tree.id).sizes)


class TestKeeping:
    def test_what_is_kept_and_what_is_not(self, connect):
        """A leaf that has a sub-tree keeps it; one that was made of other rows is refused."""
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        leaves = sorted(table.details(tree.id).sizes)[:3]
        version = table.about()["version"]
        one, two, three = leaves
        assert table.store_subtrees(tree.id, [(one, b"first", version)]) == 1
        rest = [(one, b"second", version), (two, b"old", version + 1), (three, b"third", version)]
        assert table.store_subtrees(tree.id, rest) == 1
        assert table.fetch(table.subtree_place(tree.id, one))[1] == b"first"
        assert table.fetch(table.subtree_place(tree.id, three))[1] == b"third"
        assert set(table.details(tree.id).refined) == {one, three}

    def test_large_ones_are_sent_apart(self, connect, monkeypatch):
        monkeypatch.setattr("privet.outsource.client.table._SENT_AT_ONCE", 100)
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        leaves = sorted(table.details(tree.id).sizes)[:3]
        version = table.about()["version"]
        many = [(leaf, bytes(80), version) for leaf in leaves]
        meter = spent(table, lambda: table.store_subtrees(tree.id, many))
        assert meter.requests == 3
        assert sorted(table.details(tree.id).refined) == leaves


class TestTuples:
    def test_they_say_the_same(self, there, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        learner = Collaborative(table, tree, keep="tuples")
        expected = Reference(there.halves, there.ring, "binary", 5).collaborative(NEW)
        assert learner.predict(NEW) == expected
        assert Collaborative(table, tree).predict(NEW, at_once=1) == expected
        naive = Naive(table, "binary", keep="tuples")
        naive.learn(again=True)
        assert naive.predict(NEW) == Reference(there.halves, there.ring, "binary").naive(NEW)

    def test_their_length_depends_on_the_number_of_rows_alone(self, connect):
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        sizes = table.details(tree.id).sizes
        rows = dict(read_leaves(table, tree.id, sizes))
        schema = table.anatomy.schema
        width = len(rows[min(rows)].codes) + 2
        for these in rows.values():
            deep = pad_tree(learn(schema, these, "binary"), len(these), these)
            n = len(these)
            mixed = dataclasses.replace(these, classes=np.zeros_like(these.classes))
            flat = pad_tree(learn(schema, mixed, "binary"), n, mixed)
            assert len(deep) == len(flat)
            assert len(deep) == room_for(schema, n) + n * width + n * width % 2 + 5

    @pytest.mark.parametrize("aside", [0.0, 0.3, 1.0])
    def test_the_counts_are_those_of_the_rows(self, connect, aside):
        """What is read has the classes that the rows have, not those that the tree remembers."""
        table = connect()
        rows = join_rows(table, table.rows)
        marks = np.arange(len(rows)) < aside * len(rows)
        rows = dataclasses.replace(rows, pruning=marks)
        schema = table.anatomy.schema
        tree = learn(schema, rows, "binary")
        read = unpad_tree(schema, pad_tree(tree, len(rows), rows))
        assert (read.counts == unpad_tree(schema, pad_tree(tree, len(rows))).counts).all()
        turned = dataclasses.replace(rows, classes=1 - rows.classes)
        other = unpad_tree(schema, pad_tree(tree, len(rows), turned))
        assert (other.counts == read.counts[:, ::-1]).all()
        if aside == 0:
            assert predict_classes(other, rows.codes) != predict_classes(read, rows.codes)

    def test_one_that_the_server_would_not_take_is_told(self, connect):
        """In the outbox it would be in the way of all others for ever."""
        table = connect()
        table.sealed_limit = 1000
        learner = Collaborative(table, table.grow("binary"), keep="tuples")
        with pytest.raises(OutsourceError, match="keep counts"):
            learner.predict(NEW)

    def test_a_client_of_0_1_reads_the_tree_before_them(self, connect):
        """It takes a length and a compressed tree, and ignores what follows."""
        import zlib

        table = connect()
        rows = join_rows(table, table.rows)
        tree = learn(table.anatomy.schema, rows, "binary")
        with_rows = pad_tree(tree, len(rows), rows)
        without = pad_tree(tree, len(rows))
        assert with_rows[: len(without)] == without
        length = int.from_bytes(with_rows[:4], "big")
        assert json.loads(zlib.decompress(with_rows[4 : 4 + length]))

    def test_a_text_that_is_cut_off_is_refused(self, connect):
        table = connect()
        rows = join_rows(table, table.rows)
        text = pad_tree(learn(table.anatomy.schema, rows, "binary"), len(rows), rows)
        bad = text[:-5] + (10**9).to_bytes(4, "big") + text[-1:]
        with pytest.raises(SealError):
            unpad_tree(table.anatomy.schema, bad)


class TestOldServer:
    """A server of 0.1 answers about one leaf at a time, and names no features."""

    def test_it_is_asked_as_before(self, there, connect):
        table = connect()
        table.batches = False
        asked = []
        for method in ("get", "post", "put"):
            real = getattr(table.link, method)

            def noting(path, *given, real=real, **more):
                asked.append((path, given))
                return real(path, *given, **more)

            setattr(table.link, method, noting)
        tree = table.grow("binary", leaf_size=5)
        expected = Reference(there.halves, there.ring, "binary", 5).collaborative(NEW)
        assert Collaborative(table, tree).predict(NEW, at_once=20) == expected
        assert set(table.details(tree.id).refined) == set(table.details(tree.id).sizes)
        naive = Naive(table, "binary")
        naive.learn(again=True)
        for path, given in asked:
            assert "grouped" not in path
            assert "contents" not in path
            assert not path.endswith("/subtrees")
            assert b'"page"' not in (given[0] if given else b"")
        assert sum(path.endswith("/subtree") for path, _ in asked) >= len(
            table.details(tree.id).refined
        )

    def test_its_features_are_none(self, connect, monkeypatch):
        table = connect()
        real = table.link.get

        def of_0_1(path, *given):
            told = real(path, *given)
            told.pop("features", None)
            return told

        monkeypatch.setattr(table.link, "get", of_0_1)
        assert table.about()["features"] == []


class TestPacking:
    @pytest.mark.parametrize("length", [0, 1, 2, 3, 9, 100, 4097, 65_535, 1_000_003])
    def test_lengths_are_few_and_not_much_longer(self, length):
        padded = padded_length(length)
        assert length <= padded <= 1.12 * length + 1
        assert padded_length(padded) == padded

    def test_few_lengths_remain(self):
        assert len({padded_length(length) for length in range(4096, 8192)}) <= 32

    def test_it_is_gzip(self):
        body = json.dumps(list(range(5000))).encode()
        assert gzip.decompress(pack(body)) == body
        assert len(pack(body)) == padded_length(len(pack(body)))

    def test_rows_are_packed_for_those_who_ask_and_nothing_sealed_is(self, connect):
        """A client that reads more than the length says it unfolds as much as it must."""
        table = connect()
        tree = table.grow("binary", leaf_size=5)
        sizes = table.details(tree.id).sizes
        packed = spent(table, lambda: table.contents(tree.id, sizes)).received
        rows = spent(table, lambda: list(table.rows())).received
        table.batches = False
        assert packed < 0.6 * spent(table, lambda: list(table.rows())).received
        assert rows < 0.6 * spent(table, lambda: list(table.rows())).received
