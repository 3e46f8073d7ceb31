"""Trees and the rows of their leaves."""

from __future__ import annotations

import numpy as np
import pytest

from privet.domain.encode.rows import encode
from privet.errors import NotThere
from privet.learners.baselines import grow_c45
from privet.outsource.server.handlers import grow_tree
from privet.outsource.store.base import Change, Full, StoreLimits, TreeSettings
from tests.outsource.store import tables
from tests.outsource.store.conftest import ROOM


def test_training_is_the_table_as_codes(store, made):
    found = store.training()
    expected = encode(made.anatomy.identifying, made.identifiers.frame(made.anatomy))
    assert found.version == 1
    assert found.numbers.tolist() == list(range(len(made.identifiers)))
    assert found.pruning.tolist() == made.identifiers.pruning.tolist()
    assert [column.tolist() for column in found.codes] == [
        column.tolist() for column in expected.codes
    ]
    assert found.classes.tolist() == expected.classes.tolist()


@pytest.mark.parametrize(
    "settings",
    [
        TreeSettings(),
        TreeSettings("binary", 5, 2),
        TreeSettings(max_depth=0),
        TreeSettings(leaf_size=10**9),
    ],
)
def test_a_stored_tree_is_the_one_that_grows_from_these_rows(store, made, settings):
    summary = grow_tree(store, settings, ROOM)
    rows = encode(made.anatomy.identifying, made.identifiers.frame(made.anatomy))
    kept = made.identifiers.pruning
    expected = grow_c45(
        made.anatomy.identifying,
        [c[~kept] for c in rows.codes],
        rows.classes[~kept],
        splits=settings.splits,
        min_rows=settings.leaf_size,
        max_depth=settings.max_depth,
        prune=([c[kept] for c in rows.codes], rows.classes[kept]),
    )
    tree = store.tree(summary.id)
    assert tree.counts.tolist() == expected.counts.tolist()
    assert (summary.splits, summary.leaf_size, summary.max_depth) == (
        settings.splits,
        settings.leaf_size,
        settings.max_depth,
    )
    assert summary.changed == 0
    assert len(summary.id) == 32
    sizes = np.bincount(tree.reach(rows.codes), minlength=tree.n_nodes)
    facts = store.leaf_facts(summary.id)
    assert facts.summary == summary
    assert facts.sizes == [(leaf, n) for leaf, n in enumerate(sizes.tolist()) if n]
    assert summary.largest == sizes.max()
    assert summary.leaves == len(tree.leaves)
    assert facts.refined == []


def test_pages_of_leaves_are_the_table_divided(store, tree):
    facts = store.leaf_facts(tree.id)
    found = []
    for leaf, size in facts.sizes:
        after, rows = -1, []
        while after is not None:
            page = store.page(after, 7, 10**6, (tree.id, leaf))
            rows += page.rows
            after = page.next
        assert len(rows) == size
        found += rows
    assert sorted(found, key=lambda row: row.number) == store.page(-1, 10_000, 10**6).rows


def test_a_page_ends_early_where_candidates_are_many(store):
    whole = store.page(-1, 10_000, 10**6).rows
    after, rows, pages = -1, [], 0
    while after is not None:
        page = store.page(after, 100, 10)
        assert sum(len(row.candidates) for row in page.rows) <= 10
        rows += page.rows
        after, pages = page.next, pages + 1
    assert rows == whole
    assert pages > len(whole) // 6
    assert len(store.page(-1, 100, 0).rows) == 1  # never none


def test_an_inner_node_has_no_rows_and_one_beyond_the_tree_is_not_there(store, tree):
    assert store.tree(tree.id).cells.attribute[0] >= 0
    assert store.page(-1, 10, 100, (tree.id, 0)).rows == []
    for leaf in (store.tree(tree.id).n_nodes, 1 << 30):
        with pytest.raises(NotThere):
            store.page(-1, 10, 100, (tree.id, leaf))


def test_trees_newest_first_and_no_more_than_there_is_room_for(store):
    room = StoreLimits(trees=2)
    first, second = (
        grow_tree(store, TreeSettings(), room),
        grow_tree(store, TreeSettings(max_depth=1), room),
    )
    assert store.about()[1] == [second, first]
    with pytest.raises(Full, match="delete one"):
        grow_tree(store, TreeSettings(), room)
    store.put_subtree(first.id, int(store.tree(first.id).leaves[0]), b"sealed", None)
    store.remove_tree(first.id)
    assert store.about()[1] == [second]
    for ask in (
        store.tree,
        store.leaf_facts,
        store.remove_tree,
        lambda name: store.subtree(name, 2),
        lambda name: store.subtrees(name, [2], 9),
    ):
        with pytest.raises(NotThere):
            ask(first.id)
    with pytest.raises(NotThere):
        store.put_subtree(first.id, 2, b"sealed", None)
    third = grow_tree(store, TreeSettings(), room)
    assert store.leaf_facts(third.id).refined == []


def test_rows_that_come_and_go_while_a_tree_grows_are_in_it(store):
    training = store.training()
    rows = store.page(-1, 10, 100).rows
    new, values = tables.new_group()
    store.change(Change(1, new, values, remove_rows=[rows[0].number, rows[5].number]), ROOM)
    before = store.page(-1, 10_000, 10**6).rows
    tree = grow_c45(store.anatomy.identifying, training.codes, training.classes)
    summary = store.add_tree(TreeSettings(), tree, training, ROOM)
    assert summary.changed == 4
    facts = store.leaf_facts(summary.id)
    found = [
        row
        for leaf, _ in facts.sizes
        for row in store.page(-1, 10_000, 10**6, (summary.id, leaf)).rows
    ]
    assert sorted(found, key=lambda row: row.number) == before
    assert sum(size for _, size in facts.sizes) == len(before)


def test_a_table_whose_rows_all_go(store):
    rows = store.page(-1, 10_000, 10**6).rows
    store.change(Change(1, remove_rows=[row.number for row in rows]), ROOM)
    assert store.page(-1, 10, 100).rows == []
    summary = grow_tree(store, TreeSettings(), ROOM)
    assert (summary.leaves, summary.largest) == (1, 0)
    facts, _ = store.about()
    assert facts.rows == 0
    assert facts.values == len(rows)
