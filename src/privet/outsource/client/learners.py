"""The three learners of the paper (Mancuhan and Clifton 2014, section 3). None of them is
differentially private.

- **cdbsl**, :class:`Baseline`: the server's tree of what identifies people. The client computes
  nothing.
- **cnl**, :class:`Naive`: the client reads everything, joins it, learns, and leaves the tree with
  the server, sealed. It fetches and opens the whole tree for every prediction.
- **cdtl**, :class:`Collaborative`: the server's tree finds a leaf; the client refines the leaf when
  a prediction first reaches it, from its rows alone, and leaves the sub-tree with the server,
  sealed. Later predictions fetch and open that.

The sensitive value of a row to be predicted never leaves the client.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from privet.checks import check_integer
from privet.errors import Conflict, NotThere, OutsourceError
from privet.outsource.cells import CellText, cells_of
from privet.outsource.client.joining import TrueRows, join_rows
from privet.outsource.client.subtrees import learn, pad_tree, predict_classes, unpad_tree
from privet.outsource.client.table import OutsourcedTable, TreeSummary
from privet.schema.encode import encode_entries
from privet.tree import Tree
from privet.typed import Splits

NAIVE = "/sealed/naive"
#: Rows that are predicted with one exchange.
AT_ONCE = 200


class Baseline:
    """cdbsl: what the server can say by itself."""

    def __init__(self, table: OutsourcedTable, tree: TreeSummary | None = None) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """The class of each row of a data frame. Its sensitive column is not sent, and need not be
        there.
        """
        if not self._table.genuine:
            raise OutsourceError(
                "without the key or the owner's anatomy.json, a server could ask for any column; "
                "give one of them"
            )
        answers: list[str] = []
        for columns in _split_into_blocks(frame, self._table.anatomy.identifying.names, at_once):
            answers += self._table.classify(self.tree.id, list(zip(*columns, strict=True)))
            self._table.predictions += len(columns[0])
        return answers


class Naive:
    """cnl: everything at the client."""

    def __init__(self, table: OutsourcedTable, splits: Splits = "multiway") -> None:
        self._table, self._splits = table, splits

    def is_there(self) -> bool:
        """Whether the server holds a tree of this kind."""
        try:
            self._table.fetch(NAIVE)
        except NotThere:
            return False
        return True

    def learn(self, *, again: bool = False) -> None:
        """Read the whole table, learn, and leave the tree with the server. ``again`` replaces one
        that is there.
        """
        table = self._table
        replaces = table.fetch(NAIVE)[0] if again and self.is_there() else None
        rows = join_rows(table, table.rows)
        tree = learn(table.anatomy.schema, rows, self._splits)
        table.store(
            NAIVE, table.sealer.seal("naive", (), pad_tree(tree, len(rows))), replaces, rows.version
        )

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """The class of each row. The tree is fetched and opened for each block of rows, and not
        kept.
        """
        table = self._table
        answers: list[str] = []
        schema = table.anatomy.schema
        for columns in _split_into_blocks(frame, schema.names, at_once):
            _, sealed = table.fetch(NAIVE)
            tree = unpad_tree(schema, table.sealer.open("naive", (), sealed))
            answers += predict_classes(tree, encode_entries(schema.attributes.values(), columns))
            table.predictions += len(columns[0])
        return answers


class Collaborative:
    """cdtl: the server's tree, refined leaf by leaf by whoever reaches one first."""

    def __init__(self, table: OutsourcedTable, tree: TreeSummary | None = None) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """The class of each row. Nothing is kept between blocks of rows."""
        table = self._table
        answers: list[str] = []
        schema, sensitive = (
            table.anatomy.schema,
            table.anatomy.schema.index(table.anatomy.sensitive),
        )
        for columns in _split_into_blocks(frame, schema.names, at_once):
            codes = encode_entries(schema.attributes.values(), columns)
            sent = [column for position, column in enumerate(columns) if position != sensitive]
            reached = table.reach(self.tree.id, list(zip(*sent, strict=True)))
            answer, leaves = np.array(reached.classes, dtype=object), np.array(reached.leaves)
            for leaf in np.unique(leaves).tolist():
                here = leaves == leaf
                tree = self._subtree(leaf, reached.subtrees)
                if tree is not None:
                    answer[here] = predict_classes(tree, [column[here] for column in codes])
            answers += answer.tolist()
            table.predictions += len(leaves)
        return answers

    def rows(self, leaf: int) -> TrueRows:
        """The true rows of a leaf."""
        return join_rows(self._table, lambda: self._table.leaf_rows(self.tree.id, leaf))

    def refine(self, leaf: int, rows: TrueRows) -> Tree:
        """Learn the sub-tree of a leaf from its rows and leave it with the server."""
        table = self._table
        text = pad_tree(learn(table.anatomy.schema, rows, self._splits), len(rows))
        place = table.subtree_place(self.tree.id, leaf)
        tree = unpad_tree(table.anatomy.schema, text)  # as whoever comes later will see it
        try:
            table.store(
                place, table.sealer.seal("subtree", (self.tree.id, leaf), text), data=rows.version
            )
        except Conflict:
            # Another client was faster, or our own first attempt arrived after all; or else the
            # rows have changed, and whoever comes next refines this leaf: for now it is right for
            # the rows as they were.
            with suppress(NotThere):
                return self._opened(leaf, table.fetch(place)[1])
            return tree
        table.refined += 1
        return tree

    @property
    def _splits(self) -> Splits:
        return "binary" if self.tree.splits == "binary" else "multiway"

    def _subtree(self, leaf: int, subtrees: dict[int, bytes | None]) -> Tree | None:
        if leaf not in subtrees:
            rows = self.rows(leaf)
            # without rows the base tree has to do
            return self.refine(leaf, rows) if len(rows) else None
        sealed = subtrees[leaf]
        return self._opened(
            leaf,
            self._table.fetch(self._table.subtree_place(self.tree.id, leaf))[1]
            if sealed is None
            else sealed,
        )

    def _opened(self, leaf: int, sealed: bytes) -> Tree:
        return unpad_tree(
            self._table.anatomy.schema,
            self._table.sealer.open("subtree", (self.tree.id, leaf), sealed),
        )


def _split_into_blocks(
    frame: Any, names: Sequence[str], at_once: int
) -> Iterator[list[list[CellText]]]:
    """The columns of these names, some rows at a time."""
    check_integer("at_once", at_once, 1, 10_000)
    columns = cells_of(frame, names)
    for start in range(0, len(frame), at_once):
        yield [column[start : start + at_once] for column in columns]
