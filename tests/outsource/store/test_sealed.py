"""What clients seal: exactly one of several wins, and no version comes twice."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from privet.errors import NotThere
from privet.outsource.server.handlers import grow_tree
from privet.outsource.store.base import (
    Change,
    Full,
    OtherData,
    Sealed,
    Stale,
    StoreLimits,
    TreeSettings,
)
from tests.outsource.store.conftest import ROOM


@pytest.fixture
def leaf(store, tree) -> int:
    return store.leaf_facts(tree.id).sizes[0][0]


def test_a_subtree_is_kept_and_replaced(store, tree, leaf):
    with pytest.raises(NotThere):
        store.subtree(tree.id, leaf)
    assert store.put_subtree(tree.id, leaf, b"\x00\xff first", None) == 1
    assert store.subtree(tree.id, leaf) == Sealed(1, b"\x00\xff first")
    for wrong in (None, 0, 2):
        with pytest.raises(Stale) as refused:
            store.put_subtree(tree.id, leaf, b"other", wrong)
        assert refused.value.version == 1
    assert store.put_subtree(tree.id, leaf, b"", 1) == 2
    assert store.subtree(tree.id, leaf) == Sealed(2, b"")
    assert store.leaf_facts(tree.id).refined == [(leaf, 2)]


def test_only_leaves_have_subtrees(store, tree):
    for node in (0, -1, 10**6):
        with pytest.raises(NotThere):
            store.put_subtree(tree.id, node, b"x", None)


def test_several_come_with_their_bytes_as_long_as_they_fit(store, tree):
    leaves = store.tree(tree.id).leaves.tolist()
    for leaf in leaves[:3]:
        store.put_subtree(tree.id, leaf, b"12345", None)
    found = store.subtrees(tree.id, leaves, 12)
    assert found == {
        leaves[0]: Sealed(1, b"12345"),
        leaves[1]: Sealed(1, b"12345"),
        leaves[2]: Sealed(1, None),
    }
    assert store.subtrees(tree.id, leaves[3:], 12) == {}
    assert store.subtrees(tree.id, [], 12) == {}


def test_trees_do_not_share_subtrees(store, tree, leaf):
    other = grow_tree(store, TreeSettings(), ROOM)
    store.put_subtree(tree.id, leaf, b"of the first", None)
    with pytest.raises(NotThere):
        store.subtree(other.id, leaf)
    assert store.put_subtree(other.id, leaf, b"of the second", None) == 1


def test_named_objects(store):
    with pytest.raises(NotThere):
        store.sealed("naive")
    room = StoreLimits(names=2)
    assert store.put_sealed("naive", b"a", None, room) == 1
    assert store.put_sealed("keys", b"b", None, room) == 1
    with pytest.raises(Full):
        store.put_sealed("third", b"c", None, room)
    assert store.put_sealed("naive", b"d", 1, room) == 2
    assert store.sealed("naive") == Sealed(2, b"d")
    with pytest.raises(Stale):
        store.put_sealed("naive", b"e", 1, room)


def test_what_was_made_of_other_rows_is_refused_where_it_says_so(store, tree, leaf):
    store.change(Change(1), ROOM)
    with pytest.raises(OtherData) as refused:
        store.put_subtree(tree.id, leaf, b"old", None, data=1)
    assert refused.value.version == 2
    with pytest.raises(OtherData):
        store.put_sealed("naive", b"old", None, ROOM, data=1)
    assert store.put_subtree(tree.id, leaf, b"new", None, data=2) == 1
    assert store.put_sealed("naive", b"new", None, ROOM, data=2) == 1


def test_a_version_never_comes_twice(store, tree, leaf):
    assert store.put_subtree(tree.id, leaf, b"first", None) == 1
    assert store.put_sealed("naive", b"first", None, ROOM) == 1
    row = store.page(-1, 1, 100, (tree.id, leaf)).rows[0]
    store.change(Change(1, remove_rows=[row.number]), ROOM)
    for ask in (lambda: store.subtree(tree.id, leaf), lambda: store.sealed("naive")):
        with pytest.raises(NotThere):
            ask()
    with pytest.raises(Stale) as refused:
        store.put_subtree(tree.id, leaf, b"late", 1)
    assert refused.value.version is None
    assert store.put_subtree(tree.id, leaf, b"second", None) == 2
    assert store.put_sealed("naive", b"second", None, ROOM) == 2


def test_of_many_at_once_exactly_one_wins_each_round(store, tree, leaf):
    """And readers meanwhile see whole objects, each with its version."""
    bodies = {}

    def put(name: int, replaces: int | None) -> int | None:
        try:
            version = store.put_subtree(tree.id, leaf, b"%d" % name * 1000, replaces)
        except Stale:
            return None
        bodies[version] = b"%d" % name * 1000
        return version

    with ThreadPoolExecutor(8) as pool:
        for turn in range(8):
            puts = [pool.submit(put, name, turn or None) for name in range(6)]
            reads = [pool.submit(store.subtrees, tree.id, [leaf], 10**6) for _ in range(4)]
            assert sorted(filter(None, [each.result() for each in puts])) == [turn + 1]
            for read in reads:
                for sealed in read.result().values():
                    assert bodies[sealed.version] == sealed.body
