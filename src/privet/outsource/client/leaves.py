"""Read many leaves of a base tree at once, in pages, holding one leaf's rows at a time.

A page is joined as it comes: its texts go, and codes stay until their leaf is whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial

import numpy as np

from privet.errors import Conflict, SealError
from privet.outsource.client.replies import FIRST, LeafContents, Position
from privet.outsource.client.subtrees import TrueRows, concatenate, join_page, join_rows
from privet.outsource.client.table import PAGE, OutsourcedTable

#: What lies in a leaf: its sealed sub-tree, or its true rows where it has none.
Content = bytes | TrueRows
_TRIES = 20


def read_leaves(
    table: OutsourcedTable,
    tree: str,
    leaves: Collection[int],
    first: LeafContents | None = None,
    *,
    page: int = PAGE,
    refined: bool = True,
) -> Iterator[tuple[int, Content]]:
    """Yield each leaf that has a sub-tree or rows, with what lies there.

    Args:
        table: where they are.
        tree: the base tree.
        leaves: to be read.
        first: what a server has sent already.
        page: the most rows to ask for at once.
        refined: whether sealed sub-trees may come in place of rows.
    """
    if not table.batches:
        yield from _read_one_by_one(table, tree, leaves, first, refined=refined)
        return
    wanted = set(leaves)
    for _ in range(_TRIES):
        again: set[int] = set()
        for leaf, content in _Reading(table, tree, wanted, page, refined=refined).run(first):
            if content is None:
                again.add(leaf)
            else:
                yield leaf, content
        if not again:
            return
        first, wanted = None, again
    raise Conflict("others keep changing the table; try again later")


def _read_one_by_one(
    table: OutsourcedTable,
    tree: str,
    leaves: Collection[int],
    first: LeafContents | None,
    *,
    refined: bool,
) -> Iterator[tuple[int, Content]]:
    """Read from a server of 0.1, which sends one leaf at a time."""
    subtrees = first.subtrees if first is not None and refined else {}
    for leaf in sorted(leaves):
        if leaf in subtrees:
            sealed = subtrees[leaf]
            yield (
                leaf,
                table.fetch(table.subtree_place(tree, leaf))[1] if sealed is None else sealed,
            )
        elif len(rows := join_rows(table, partial(table.leaf_rows, tree, leaf))):
            yield leaf, rows


class _Reading:
    """One pass over leaves, from page to page."""

    def __init__(
        self, table: OutsourcedTable, tree: str, leaves: set[int], page: int, *, refined: bool
    ) -> None:
        self._table, self._tree, self._page, self._refined = table, tree, page, refined
        self._todo = set(leaves)
        self._leaf = -1
        self._parts: list[TrueRows] = []

    def run(self, first: LeafContents | None) -> Iterator[tuple[int, Content | None]]:
        """Yield what lies in the leaves; None for a leaf that has to be read again."""
        after: Position | None = FIRST
        while after is not None and self._todo:
            contents = first or self._table.contents(
                self._tree, self._todo, after, page=self._page, refined=self._refined
            )
            first = None
            for leaf, sealed in contents.subtrees.items():
                self._todo.discard(leaf)
                if leaf == self._leaf:  # refined by somebody else while its rows came
                    self._parts = []
                yield leaf, sealed  # None: it was left out for its size
            yield from self._take_rows(contents)
            after = contents.next
        yield from self._close_leaf()

    def _take_rows(self, contents: LeafContents) -> Iterator[tuple[int, Content | None]]:
        page = contents.page
        if page is None or not page.rows:
            return
        held = sum(map(len, self._parts))
        self._table.holds(held + sum(max(1, len(row.candidates)) for row in page.rows))
        rows = join_page(self._table, page)
        leaves = np.array(contents.row_leaves)
        starts = np.flatnonzero(np.diff(leaves, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], len(leaves)], strict=True):
            if leaves[start] != self._leaf:
                yield from self._close_leaf()
                self._leaf = int(leaves[start])
            self._parts.append(rows.between(start, end))

    def _close_leaf(self) -> Iterator[tuple[int, Content | None]]:
        parts, self._parts = self._parts, []
        if not parts:
            return
        self._todo.discard(self._leaf)
        if len({part.version for part in parts}) > 1:
            yield self._leaf, None  # the table has changed between two pages
            return
        rows = concatenate(parts)
        if len(np.unique(rows.seqs)) < len(rows):
            raise SealError  # a row that is sent twice would count twice
        yield self._leaf, rows
