"""The three learners over a real server: they say what the same learners say on the true rows, and
cost what they should.
"""

from __future__ import annotations

import dataclasses
import threading

import numpy as np
import pytest

from privet.errors import NotThere, OutsourceError, ParameterError, SchemaError, SealError
from privet.outsource.cipher import KeyRing
from privet.outsource.cipher.sealing import OVERHEAD
from privet.outsource.client import (
    Baseline,
    Collaborative,
    Naive,
    OutsourcedTable,
    choose_leaf_size,
)
from privet.outsource.client.learners import NAIVE
from privet.outsource.client.subtrees import room_for
from tests.outsource.client.reference import Reference
from tests.outsource.people import people

NEW = people(120, seed=2)


def right(said: list[str]) -> float:
    return float(np.mean([one == true for one, true in zip(said, NEW["visits"], strict=True)]))


@pytest.mark.parametrize(("splits", "leaf_size"), [("multiway", 2), ("binary", 2), ("binary", 40)])
class TestWhatTheySay:
    def test_baseline(self, there, connect, splits, leaf_size):
        table = connect()
        tree = table.grow(splits, leaf_size)
        assert Baseline(table, tree).predict(NEW) == Reference(
            there.halves, there.ring, splits, leaf_size
        ).baseline(NEW)

    def test_collaborative(self, there, connect, splits, leaf_size):
        table = connect()
        learner = Collaborative(table, table.grow(splits, leaf_size))
        expected = Reference(there.halves, there.ring, splits, leaf_size).collaborative(NEW)
        assert learner.predict(NEW) == expected
        refined = table.meter.refined
        assert refined == len(table.details(learner.tree.id).refined) > 0
        assert learner.predict(NEW, at_once=1) == expected
        assert table.meter.refined == refined, "a leaf was refined twice"

    def test_naive(self, there, connect, splits, leaf_size):
        table = connect()
        learner = Naive(table, splits)
        learner.learn(again=True)
        assert learner.predict(NEW) == Reference(there.halves, there.ring, splits).naive(NEW)
        assert learner.predict(NEW.iloc[:7], at_once=1) == learner.predict(NEW.iloc[:7])


def test_the_sensitive_attribute_helps(there, connect):
    """The class depends on it; so both learners that use it must be better than the one that
    cannot.
    """
    table = connect()
    tree = table.grow("binary")
    alone, together = (
        right(Baseline(table, tree).predict(NEW)),
        right(Collaborative(table, tree).predict(NEW)),
    )
    naive = Naive(table, "binary")
    naive.learn(again=True)
    assert alone < together - 0.05
    assert right(naive.predict(NEW)) > 0.85


def test_predicting_needs_no_class_and_the_baseline_no_sensitive_value(connect):
    table = connect()
    tree = table.grow()
    bare = NEW.drop(columns=["visits"])
    assert Collaborative(table, tree).predict(bare) == Collaborative(table, tree).predict(NEW)
    assert Baseline(table, tree).predict(bare.drop(columns=["disease"])) == Baseline(
        table, tree
    ).predict(NEW)
    with pytest.raises(SchemaError, match="disease"):
        Collaborative(table, tree).predict(bare.drop(columns=["disease"]))
    with pytest.raises(SchemaError, match="town"):
        Baseline(table, tree).predict(NEW.drop(columns=["town"]))


def test_a_value_that_is_not_known_stops_where_it_is(there, connect):
    odd = NEW.iloc[:10].assign(town="atlantis", disease="plague")
    table = connect()
    tree = table.grow("binary")
    assert Baseline(table, tree).predict(odd) == Reference(
        there.halves, there.ring, "binary"
    ).baseline(odd)
    assert len(Collaborative(table, tree).predict(odd)) == 10


@pytest.mark.parametrize("at_once", [0, 10_001, 2.5, True])
def test_bad_batch_sizes_are_refused(connect, at_once):
    table = connect()
    with pytest.raises(ParameterError, match="at_once"):
        Baseline(table, table.grow()).predict(NEW, at_once)


def test_without_the_key_only_the_server_can_be_asked(there):
    url = f"http://127.0.0.1:{there.service.port}"
    with OutsourcedTable(url, there.token, anatomy=there.halves.anatomy) as table:
        tree = table.grow()
        assert Baseline(table, tree).predict(NEW)
        with pytest.raises(OutsourceError, match="needs the key"):
            Collaborative(table, tree).predict(NEW)


class TestSealed:
    """One opaque error, and nothing stored."""

    def test_another_key(self, connect, monkeypatch):
        with pytest.raises(SealError) as error:
            connect(KeyRing.new())
        assert str(error.value) == str(SealError())
        # as if it had not been looked at
        monkeypatch.setattr("privet.outsource.client.table.check_anatomy", lambda *_: None)
        table = connect(KeyRing.new())
        tree = table.grow()
        with pytest.raises(SealError):
            Collaborative(table, tree).predict(NEW)
        assert table.details(tree.id).refined == {}
        with pytest.raises(SealError):
            Naive(table).learn(again=True)

    def refined(self, table):
        """A tree with at least two refined leaves."""
        learner = Collaborative(table, table.grow("binary"))
        learner.predict(NEW)
        leaves = sorted(table.details(learner.tree.id).refined)
        assert len(leaves) >= 2
        return learner, leaves

    def refuses(self, table, learner):
        before = table.details(learner.tree.id).refined
        with pytest.raises(SealError) as error:
            learner.predict(NEW)
        assert str(error.value) == str(SealError())
        assert table.details(learner.tree.id).refined == before

    def test_changed_bytes(self, connect):
        table = connect()
        learner, leaves = self.refined(table)
        place = table.subtree_place(learner.tree.id, leaves[0])
        version, sealed = table.fetch(place)
        table.store(place, sealed[:-1] + bytes([sealed[-1] ^ 1]), version)
        self.refuses(table, learner)

    def test_the_sub_tree_of_another_leaf(self, connect):
        table = connect()
        learner, leaves = self.refined(table)
        places = [table.subtree_place(learner.tree.id, leaf) for leaf in leaves[:2]]
        version, _ = table.fetch(places[0])
        table.store(places[0], table.fetch(places[1])[1], version)
        self.refuses(table, learner)

    def test_the_sub_tree_of_another_tree(self, connect):
        table = connect()
        learner, leaves = self.refined(table)
        other, _ = self.refined(table)
        assert sorted(table.details(other.tree.id).refined) == leaves
        place = table.subtree_place(learner.tree.id, leaves[0])
        version, _ = table.fetch(place)
        table.store(place, table.fetch(table.subtree_place(other.tree.id, leaves[0]))[1], version)
        self.refuses(table, learner)

    def test_the_naive_tree_in_place_of_a_sub_tree(self, connect):
        table = connect()
        Naive(table).learn(again=True)
        learner, leaves = self.refined(table)
        place = table.subtree_place(learner.tree.id, leaves[0])
        version, _ = table.fetch(place)
        table.store(place, table.fetch(NAIVE)[1], version)
        self.refuses(table, learner)

    def test_the_length_of_a_sub_tree_tells_the_number_of_rows_and_no_more(self, connect):
        table = connect()
        learner, leaves = self.refined(table)
        sizes = table.details(learner.tree.id).sizes
        for leaf in leaves:
            sealed = table.fetch(table.subtree_place(learner.tree.id, leaf))[1]
            assert len(sealed) == room_for(table.anatomy.schema, sizes[leaf]) + OVERHEAD


class TestTogether:
    def test_two_clients_refine_the_same_leaves_at_once(self, there, connect):
        """Every leaf is refined once in the end, and both get the same answers."""
        tables = [connect(), connect(), connect()]
        tree = tables[0].grow("binary")
        answers: dict[int, list[str]] = {}
        start = threading.Barrier(3)

        def run(number: int) -> None:
            start.wait()
            answers[number] = Collaborative(tables[number], tree).predict(NEW, at_once=10)

        threads = [threading.Thread(target=run, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        expected = Reference(there.halves, there.ring, "binary").collaborative(NEW)
        assert answers == {0: expected, 1: expected, 2: expected}
        refined = tables[0].details(tree.id).refined
        assert sum(table.meter.refined for table in tables) == len(refined)
        assert set(refined.values()) == {1}


class TestCosts:
    def test_memory_is_bounded_by_the_largest_leaf(self, there, connect):
        table, whole = connect(), connect()
        tree = table.grow("binary", leaf_size=10)
        Collaborative(table, tree).predict(NEW, at_once=1)
        sizes = table.details(tree.id).sizes
        assert max(sizes.values()) == tree.largest < len(there.halves.identifiers)
        assert sum(sizes.values()) == len(there.halves.identifiers)
        # each row with the candidates of its pair
        assert 0 < table.meter.rows_held <= 2 * tree.largest + 1
        Naive(whole).learn(again=True)
        assert whole.meter.rows_held >= 2 * len(there.halves.identifiers)

    def test_everything_is_counted(self, there, connect):
        table = connect()
        tree = table.grow("binary")
        before = table.meter
        Collaborative(table, tree).predict(NEW, at_once=1)
        first = table.meter.since(before)
        sizes = table.details(tree.id).sizes
        refined = table.details(tree.id).refined
        opened = sum(sizes[leaf] for leaf in refined)
        assert first.predictions == len(NEW)
        assert first.sealed == first.refined == len(refined)
        # all rows of these leaves, and a sub-tree for every later prediction
        assert first.opened == opened + len(NEW) - len(refined)
        # the rows of a leaf come with the answer, and its sub-tree is sent
        assert first.requests == len(NEW) + len(refined)
        before = table.meter
        Collaborative(table, tree).predict(NEW, at_once=1)
        again = table.meter.since(before)
        assert (again.requests, again.sealed, again.opened, again.refined) == (
            len(NEW),
            0,
            len(NEW),
            0,
        )
        assert again.received < first.received
        assert again.each()["opened"] == 1.0
        assert again.sent > len(NEW) * 50

    def test_the_naive_tree_is_fetched_and_opened_every_time(self, there, connect):
        table = connect()
        learner = Naive(table)
        learner.learn(again=True)
        before = table.meter
        learner.predict(NEW.iloc[:20], at_once=1)
        spent = table.meter.since(before)
        assert (spent.requests, spent.opened, spent.predictions) == (20, 20, 20)
        assert spent.received > 20 * len(table.fetch(NAIVE)[1])


class TestLeafSize:
    def test_the_best_on_the_pruning_rows_is_kept(self, there, connect):
        table = connect()
        before = {tree.id for tree in table.about()["trees"]}
        best, tried = choose_leaf_size(table, "binary", sizes=(2, 20, 500))
        assert [one.tree.leaf_size for one in tried] == [2, 20, 500]
        assert best.right == max(one.right for one in tried)
        assert {one.of for one in tried} == {int(there.halves.identifiers.pruning.sum())}
        kept = {tree.id for tree in table.about()["trees"]} - before
        assert kept == {best.tree.id}
        assert len(table.details(best.tree.id).refined) == len(table.details(best.tree.id).sizes)

    def test_the_counts_are_those_of_the_reference(self, there, connect):
        table = connect()
        best, _ = choose_leaf_size(table, "binary", sizes=(20,))
        reference = Reference(there.halves, there.ring, "binary", 20)
        frame = there.halves.identifiers.frame(there.halves.anatomy)
        from privet.outsource.verify import open_true_values

        frame["disease"] = np.array(open_true_values(there.halves, there.ring)[1], dtype=object)
        aside = frame[there.halves.identifiers.pruning]
        assert best.right == sum(
            a == b for a, b in zip(reference.collaborative(aside), aside["visits"], strict=True)
        )

    def test_a_row_left_out_for_one_tree_is_noticed(self, connect, monkeypatch):
        """Else the choice between the trees would tell something about that row."""
        table = connect()
        before = {tree.id for tree in table.about()["trees"]}
        real, calls = table.contents, []

        def leaving_out(*given, **more):
            contents = real(*given, **more)
            calls.append(given)
            if len(calls) > 1:
                return contents
            page = dataclasses.replace(contents.page, rows=contents.page.rows[1:])
            return dataclasses.replace(contents, page=page, row_leaves=contents.row_leaves[1:])

        monkeypatch.setattr(table, "contents", leaving_out)
        with pytest.raises(SealError):
            choose_leaf_size(table, "binary", sizes=(2, 20))
        assert {tree.id for tree in table.about()["trees"]} == before

    @pytest.mark.parametrize("sizes", [(), (0,), (True,), ("2",)])
    def test_bad_sizes(self, connect, sizes):
        with pytest.raises(ParameterError, match="sizes"):
            choose_leaf_size(connect(), sizes=sizes)


def test_a_tree_that_is_not_there(connect):
    table = connect()
    tree = table.grow()
    table.drop(tree.id)
    with pytest.raises(NotThere):
        Collaborative(table, tree).predict(NEW)
