"""Changes: all or nothing, and what is stored stays l-diverse whatever is sent."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet.errors import NotThere, ParameterError
from privet.outsource.server.handlers import grow_tree
from privet.outsource.store import make_store, open_store
from privet.outsource.store.base import Change, NewRow, OtherData, StoreLimits, TreeSettings
from tests.outsource.store import tables
from tests.outsource.store.conftest import ROOM


def everything(store):
    """All that a store tells."""
    facts, trees = store.about()
    pages = {
        tree.id: [
            store.page(-1, 10_000, 10**6, (tree.id, leaf))
            for leaf, _ in store.leaf_facts(tree.id).sizes
        ]
        for tree in trees
    }
    return (
        facts,
        trees,
        pages,
        store.page(-1, 10_000, 10**6),
        store.pending(0, 10_000),
        [store.leaf_facts(tree.id).refined for tree in trees],
    )


def test_rows_come_in_new_groups(store, tree):
    before = store.page(-1, 10_000, 10**6).rows
    (rows, values), (more, more_values) = (
        tables.new_group(),
        tables.new_group(("cold", "none", "flu"), colour="blue"),
    )
    done = store.change(Change(1, [*rows, *more], [*values, *more_values]), ROOM)
    assert (done.version, done.pending) == (2, [])
    facts, (changed,) = store.about()
    assert (facts.version, facts.rows, facts.values) == (2, len(before) + 5, len(before) + 5)
    assert changed.changed == 5
    after = store.page(-1, 10_000, 10**6).rows
    assert after[: len(before)] == before
    came = after[len(before) :]
    assert [row.number for row in came] == list(range(len(before), len(before) + 5))
    assert [row.eseq for row in came] == sorted(row.eseq for row in [*rows, *more])
    assert {row.eseq: (list(row.cells), row.pruning, row.gid) for row in came} == {
        row.eseq: (row.cells, row.pruning, row.gid) for row in [*rows, *more]
    }
    assert came[0].candidates == sorted(
        (seq, value) for seq, gid, value in [*values, *more_values] if gid == came[0].gid
    )
    facts = store.leaf_facts(tree.id)
    placed = [
        row
        for leaf, _ in facts.sizes
        for row in store.page(-1, 10_000, 10**6, (tree.id, leaf)).rows
    ]
    assert sorted(placed, key=lambda row: row.number) == after
    assert sum(n for _, n in facts.sizes) == len(after)
    assert facts.summary.largest == max(n for _, n in facts.sizes)


def test_a_row_that_goes_leaves_its_value_behind(store, tree):
    row = store.page(-1, 5, 100).rows[3]
    store.change(Change(1, remove_rows=[row.number]), ROOM)
    facts, (changed,) = store.about()
    assert changed.changed == 1
    rows = store.page(-1, 10_000, 10**6).rows
    assert row.number not in [each.number for each in rows]
    assert facts.rows == len(rows)
    assert facts.values == len(rows) + 1
    others = [each for each in rows if each.gid == row.gid]
    assert others
    assert all(each.candidates == row.candidates for each in others)
    placed = [
        each.number
        for leaf, _ in store.leaf_facts(tree.id).sizes
        for each in store.page(-1, 10_000, 10**6, (tree.id, leaf)).rows
    ]
    assert sorted(placed) == [each.number for each in rows]


def test_numbers_of_rows_never_come_back(store):
    last = store.page(-1, 10_000, 10**6).rows[-1].number
    store.change(Change(1, remove_rows=[last]), ROOM)
    rows, values = tables.new_group()
    store.change(Change(2, rows, values), ROOM)
    assert [row.number for row in store.page(last - 1, 10, 100).rows] == [last + 1, last + 2]


def test_what_was_made_of_touched_leaves_is_dropped_and_nothing_else(store, tree):
    other = grow_tree(store, TreeSettings(max_depth=1), ROOM)
    trees = {name: store.tree(name) for name in (tree.id, other.id)}
    for name, grown in trees.items():
        for leaf in grown.leaves.tolist():
            store.put_subtree(name, leaf, b"sealed", None)
    store.put_sealed("naive", b"sealed", None, ROOM)
    store.put_sealed("keys", b"sealed", None, ROOM)
    row = store.page(-1, 1, 100).rows[0]
    store.change(Change(1, reseal=[(row.number, b"anew")], pending=[b"wait"]), ROOM)
    assert all(
        len(store.leaf_facts(name).refined) == len(grown.leaves) for name, grown in trees.items()
    )
    assert store.sealed("naive").body == b"sealed"

    rows, values = tables.new_group()
    store.change(Change(2, rows, values, [row.number]), ROOM)
    from privet.outsource.store.tables import encode_identifiers

    cells = [list(column) for column in zip(row.cells[:2], rows[0].cells[:2], strict=True)]
    for name, grown in trees.items():
        touched = set(grown.reach(encode_identifiers(store.anatomy, cells).codes).tolist())
        assert touched
        assert {leaf for leaf, _ in store.leaf_facts(name).refined} == set(
            grown.leaves.tolist()
        ) - touched
    with pytest.raises(NotThere):
        store.sealed("naive")
    assert store.sealed("keys").body == b"sealed"


def test_sealed_numbers_are_sealed_anew(store, tree):
    first, second, *_ = store.page(-1, 5, 100).rows
    store.change(Change(1, reseal=[(first.number, b"one"), (second.number, b"two")]), ROOM)
    rows = store.page(-1, 2, 100).rows
    assert rows == [replace(first, eseq=b"one"), replace(second, eseq=b"two")]
    assert store.about()[1][0].changed == 0


def test_pending_objects_come_and_go(store):
    assert store.change(Change(1, pending=[b"a", b"b", b"c"]), ROOM).pending == [1, 2, 3]
    assert store.pending(0, 2) == ([(1, b"a"), (2, b"b")], 2)
    assert store.pending(2, 2) == ([(3, b"c")], None)
    assert store.change(Change(2, pending=[b"d"], remove_pending=[3, 1]), ROOM).pending == [4]
    assert store.pending(0, 10) == ([(2, b"b"), (4, b"d")], None)
    assert store.about()[0].pending == 2
    with pytest.raises(ParameterError, match=r"pending: at most 2 can wait"):
        store.change(Change(3, pending=[b"e"]), StoreLimits(pending=2))
    assert store.change(
        Change(3, pending=[b"e"], remove_pending=[2]), StoreLimits(pending=2)
    ).pending == [5]


def refused(store):
    """Changes that are refused, each with what is said."""
    rows, values = tables.new_group()
    first, second, *_ = store.page(-1, 5, 100).rows
    (row, other), (value, _) = rows, values
    yield "another version", Change(7, rows, values), None
    yield (
        "cells too few",
        Change(1, [replace(row, cells=row.cells[:2]), other], values),
        r"rows\.0\.cells: must be 4 cells",
    )
    yield (
        "cell not listed",
        Change(1, [row, replace(other, cells=["mauve", *other.cells[1:]])], values),
        r"rows\.1\.cells: do not fit",
    )
    yield (
        "class not listed",
        Change(1, [row, replace(other, cells=["red", "3", "perhaps", "x"])], values),
        r"rows\.1\.cells: do not fit",
    )
    yield (
        "age out of bounds",
        Change(1, [replace(row, cells=["red", "99", "no", "x"]), other], values),
        r"rows\.0\.cells: do not fit",
    )
    yield (
        "nobody",
        Change(1, [replace(row, cells=["red", "9", "no", None]), other], values),
        r"rows\.0\.cells: do not fit",
    )
    yield (
        "NUL",
        Change(1, [replace(row, cells=["red", "9", "no", "a\x00"]), other], values),
        r"rows\.0\.cells: do not fit",
    )
    yield (
        "endless cell",
        Change(1, [replace(row, cells=["red", "9", "no", "a" * 10_001]), other], values),
        r"rows\.0\.cells: do not fit",
    )
    yield (
        "no eseq",
        Change(1, [replace(row, eseq=b""), other], values),
        r"rows\.0\.eseq: .* 1 to 256 bytes",
    )
    yield (
        "long eseq",
        Change(1, [row, replace(other, eseq=b"x" * 257)], values),
        r"rows\.1\.eseq: .* 1 to 256 bytes",
    )
    yield (
        "eseq twice",
        Change(1, [row, replace(other, eseq=row.eseq)], values),
        r"rows\.1\.eseq: another row",
    )
    yield (
        "eseq there",
        Change(1, [row, replace(other, eseq=first.eseq)], values),
        r"rows\.1\.eseq: another row",
    )
    yield "rows without values", Change(1, rows), r"rows\.0\.gid: .* as many rows as values"
    yield "values without rows", Change(1, values=values), r"values\.0: .* as many rows as values"
    yield "one row too few", Change(1, rows[:1], values), r"rows\.0\.gid: .* as many"
    yield (
        "group that is there",
        Change(1, *tables.new_group(gid=first.gid)),
        r"values\.0: the group is there already",
    )
    yield "negative group", Change(1, *tables.new_group(gid=-1)), r"rows\.0\.gid: must be 0"
    yield "huge group", Change(1, *tables.new_group(gid=1 << 63)), r"rows\.0\.gid: must be 0"
    yield (
        "one value twice",
        Change(1, *tables.new_group(("flu", "flu"))),
        r"values\.0: in its group",
    )
    yield (
        "two of three",
        Change(1, *tables.new_group(("flu", "gout", "flu"))),
        r"values\.0: in its group",
    )
    yield "a group of one", Change(1, *tables.new_group(("flu",))), r"values\.0: in its group"
    yield (
        "value not listed",
        Change(1, *tables.new_group(("flu", "plague"))),
        r"values\.1: does not fit",
    )
    yield "value null", Change(1, *tables.new_group(("flu", None))), r"values\.1: does not fit"
    yield (
        "seq twice",
        Change(1, rows, [value, (value[0], value[1], "gout")]),
        r"values\.1: stands there twice",
    )
    yield (
        "seq there",
        Change(1, rows, [(first.candidates[0][0], value[1], "flu"), values[1]]),
        r"values\.0: another value",
    )
    yield (
        "seq huge",
        Change(1, rows, [(1 << 63, value[1], "flu"), values[1]]),
        r"values\.0: must be a number",
    )
    yield (
        "row not there",
        Change(1, remove_rows=[first.number, 10**9]),
        r"remove_rows\.1: there is no such number",
    )
    yield (
        "row beyond numbers",
        Change(1, remove_rows=[1 << 70]),
        r"remove_rows\.0: there is no such number",
    )
    yield (
        "row twice",
        Change(1, remove_rows=[first.number, first.number]),
        r"remove_rows\.1: stands there twice",
    )
    yield (
        "reseal not there",
        Change(1, reseal=[(10**9, b"x")]),
        r"reseal\.0: there is no such number",
    )
    yield (
        "reseal twice",
        Change(1, reseal=[(first.number, b"x"), (first.number, b"y")]),
        r"reseal\.1: stands there twice",
    )
    yield (
        "reseal removed",
        Change(1, remove_rows=[first.number], reseal=[(first.number, b"x")]),
        r"reseal\.0: this row is to be removed",
    )
    yield "reseal taken", Change(1, reseal=[(first.number, second.eseq)]), r"reseal\.0: another row"
    yield (
        "reseal alike",
        Change(1, reseal=[(first.number, b"x"), (second.number, b"x")]),
        r"reseal\.1: another row",
    )
    yield "reseal empty", Change(1, reseal=[(first.number, b"")]), r"reseal\.0: .* 1 to 256 bytes"
    yield "pending empty", Change(1, pending=[b"a", b""]), r"pending\.1: must have 1 to 65536 bytes"
    yield (
        "pending large",
        Change(1, pending=[b"a" * 65_537]),
        r"pending\.0: must have 1 to 65536 bytes",
    )
    yield (
        "pending not there",
        Change(1, remove_pending=[1]),
        r"remove_pending\.0: there is no such number",
    )


def test_what_is_refused_changes_nothing_and_is_not_repeated(store, tree):
    store.put_subtree(tree.id, store.leaf_facts(tree.id).sizes[0][0], b"sealed", None)
    before = everything(store)
    for what, change, told in refused(store):
        # A part that would be right by itself must not get through either.
        good, good_values = tables.new_group()
        mixed = replace(
            change,
            rows=[*change.rows, *good],
            values=[*change.values, *good_values],
            pending=[*change.pending, b"fine"],
        )
        with pytest.raises(OtherData if told is None else ParameterError, match=told) as error:
            store.change(mixed, ROOM)
        assert not any(
            secret in str(error.value) for secret in ("mauve", "perhaps", "plague", "99", "flu")
        ), what
        assert everything(store) == before, what


def test_the_limit_of_a_sealed_number_is_inside(store):
    rows, values = tables.new_group()
    store.change(
        Change(1, [replace(rows[0], eseq=b"x" * 256), replace(rows[1], eseq=b"y")], values), ROOM
    )


def diverse(store) -> bool:
    """Whether no value has more than one l-th of a group, and every row a value."""
    groups, rows = {}, Counter()
    for row in store.page(-1, 10_000, 10**6).rows:
        groups[row.gid] = [value for _, value in row.candidates]
        rows[row.gid] += 1
    return all(
        rows[gid] <= len(values) and max(Counter(values).values()) * store.anatomy.l <= len(values)
        for gid, values in groups.items()
    )


_VALUE = st.sampled_from([*tables.DISEASES, "plague", None])
_GROUP = st.tuples(st.integers(0, 5), st.lists(_VALUE, max_size=5), st.integers(0, 5))


@settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(groups=st.lists(_GROUP, max_size=3), removed=st.lists(st.integers(0, 40), max_size=4))
def test_whatever_is_sent_groups_stay_diverse(long_lived, groups, removed):
    """Random groups, some right and some not: either all is stored, or the version stays."""
    store = long_lived
    version = store.about()[0].version
    rows, values = [], []
    for gid, diseases, n_rows in groups:
        group = version * 1000 + gid + 1_000_000
        rows += [
            NewRow(["red", "20", "no", f"{os.urandom(8).hex()}"], False, group, os.urandom(41))
            for _ in range(n_rows)
        ]
        values += [
            (int.from_bytes(os.urandom(7), "big") | 1 << 62, group, disease) for disease in diseases
        ]
    before = store.about()[0]
    try:
        store.change(Change(version, rows, values, removed), ROOM)
    except ParameterError:
        assert store.about()[0] == before
    else:
        assert store.about()[0].version == version + 1
        assert store.about()[0].rows == before.rows + len(rows) - len(removed)
    assert diverse(store)
    _, (tree,) = store.about()
    assert sum(n for _, n in store.leaf_facts(tree.id).sizes) == store.about()[0].rows


@pytest.fixture(scope="module")
def long_lived(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long")
    make_store(folder / "store.duckdb", tables.folder(folder / "folder"))
    store = open_store(folder / "store.duckdb")
    grow_tree(store, TreeSettings(), ROOM)
    yield store
    store.close()
