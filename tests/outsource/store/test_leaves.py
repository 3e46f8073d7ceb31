"""Many leaves at once: pages that end with a leaf, and sub-trees that are kept where none is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from privet.errors import NotThere
from privet.outsource.server.handlers import grow_tree
from privet.outsource.store.base import Change, PageLimits, Sealed, SealedSubtree, TreeSettings
from tests.outsource.store.conftest import ROOM

ALL = PageLimits(10_000, 10**6, 10**6)
START = (0, -1)


def leaf_rows(store, tree, leaf):
    return store.page(-1, 10_000, 10**6, (tree.id, leaf)).rows


def test_rows_are_those_of_their_leaves(store, tree):
    sizes = dict(store.leaf_facts(tree.id).sizes)
    page = store.read_leaves(tree.id, list(sizes), START, ALL)
    assert (page.subtrees, page.next, page.version) == ({}, None, 1)
    assert [leaf for leaf, _ in page.rows] == sorted(
        leaf for leaf in sizes for _ in range(sizes[leaf])
    )
    for leaf in sizes:
        expected = leaf_rows(store, tree, leaf)
        found = [row for at, row in page.rows if at == leaf]
        assert found == expected
        assert all(row.candidates == page.groups[row.gid] for row in found)


@pytest.mark.parametrize("limit", [1, 5, 30])
def test_pages_follow_one_another_and_end_with_a_leaf(store, tree, limit):
    sizes = dict(store.leaf_facts(tree.id).sizes)
    found, after = [], START
    while after is not None:
        page = store.read_leaves(tree.id, list(sizes), after, PageLimits(limit, 10**6, 0))
        assert 1 <= len(page.rows) <= limit
        last = page.rows[-1][0]
        unfinished = sum(leaf == last for leaf, _ in found + page.rows) < sizes[last]
        assert not unfinished or page.rows[0][0] == last, "the beginning of a leaf beside another"
        found += page.rows
        assert page.next is None or page.next == (last, page.rows[-1][1].number)
        after = page.next
    assert found == store.read_leaves(tree.id, list(sizes), START, ALL).rows


def test_a_page_ends_where_candidates_are_too_many(store, tree):
    leaves = [leaf for leaf, _ in store.leaf_facts(tree.id).sizes]
    page = store.read_leaves(tree.id, leaves, START, PageLimits(10_000, 7, 0))
    assert 1 <= sum(len(row.candidates) for _, row in page.rows) <= 7
    assert page.next is not None
    assert page.groups.keys() == {row.gid for _, row in page.rows}
    assert len(store.read_leaves(tree.id, leaves, START, PageLimits(10_000, 1, 0)).rows) == 1


def test_sub_trees_come_in_place_of_rows_unless_rows_are_asked_for(store, tree):
    first, second, *_ = (leaf for leaf, _ in store.leaf_facts(tree.id).sizes)
    store.put_subtree(tree.id, first, b"12345", None)
    page = store.read_leaves(tree.id, [first, second], START, ALL)
    assert page.subtrees == {first: Sealed(1, b"12345")}
    assert {leaf for leaf, _ in page.rows} == {second}
    page = store.read_leaves(tree.id, [first, second], START, PageLimits(10_000, 10**6, 4))
    assert page.subtrees == {first: Sealed(1, None)}
    page = store.read_leaves(tree.id, [first, second], START, ALL, refined=False)
    assert page.subtrees == {}
    assert {leaf for leaf, _ in page.rows} == {first, second}


def test_nothing_is_asked_for_or_what_is_not_there(store, tree):
    assert store.read_leaves(tree.id, [], START, ALL).rows == []
    assert store.read_leaves(tree.id, [0], START, ALL).rows == [], "an inner node has no rows"
    for wrong in (-1, 10**6):
        with pytest.raises(NotThere):
            store.read_leaves(tree.id, [wrong], START, ALL)
        with pytest.raises(NotThere):
            store.put_subtrees(tree.id, [SealedSubtree(wrong, b"x", 1)])
    with pytest.raises(NotThere):
        store.put_subtrees(tree.id, [SealedSubtree(0, b"x", 1)])
    with pytest.raises(NotThere):
        store.read_leaves("0" * 32, [1], START, ALL)


def test_sub_trees_are_kept_where_none_is_and_the_rows_are_the_same(store, tree):
    first, second, third, *_ = (leaf for leaf, _ in store.leaf_facts(tree.id).sizes)
    assert store.put_subtrees(tree.id, [SealedSubtree(first, b"one", 1)]) == [first]
    several = [
        SealedSubtree(first, b"other", 1),
        SealedSubtree(second, b"two", 2),
        SealedSubtree(third, b"three", 1),
        SealedSubtree(third, b"again", 1),
    ]
    assert store.put_subtrees(tree.id, several) == [third]
    assert store.leaf_facts(tree.id).refined == [(first, 1), (third, 1)]
    assert store.subtree(tree.id, third) == Sealed(1, b"three")


def test_a_version_is_never_given_twice(store, tree):
    """What was dropped with its rows comes back under another version."""
    leaf = store.leaf_facts(tree.id).sizes[0][0]
    store.put_subtrees(tree.id, [SealedSubtree(leaf, b"old", 1)])
    store.change(Change(1, remove_rows=[leaf_rows(store, tree, leaf)[0].number]), ROOM)
    assert store.leaf_facts(tree.id).refined == []
    assert store.put_subtrees(tree.id, [SealedSubtree(leaf, b"stale", 1)]) == []
    assert store.put_subtrees(tree.id, [SealedSubtree(leaf, b"new", 2)]) == [leaf]
    assert store.leaf_facts(tree.id).refined == [(leaf, 2)]


def test_of_several_clients_one_wins_each_leaf(store, tree):
    leaves = [leaf for leaf, _ in store.leaf_facts(tree.id).sizes]

    def keep(name: int) -> list[int]:
        return store.put_subtrees(
            tree.id, [SealedSubtree(leaf, b"%d" % name, 1) for leaf in leaves]
        )

    with ThreadPoolExecutor(4) as pool:
        kept = [leaf for won in pool.map(keep, range(4)) for leaf in won]
    assert sorted(kept) == leaves


@pytest.mark.parametrize("nodes", [1, 2, 4, 10**6])
def test_a_base_tree_grows_to_a_number_of_nodes(store, nodes):
    tree = grow_tree(store, TreeSettings(), ROOM, nodes)
    assert store.tree(tree.id).n_nodes <= nodes
    if nodes < 4:
        assert tree.leaves == 1
