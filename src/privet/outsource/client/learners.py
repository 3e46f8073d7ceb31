"""Learn and predict by the three methods of Mancuhan and Clifton 2014 (section 3).

None of them is differentially private.

- **cdbsl**, :class:`Baseline`: the server's tree of what identifies people. The client computes
  nothing.
- **cnl**, :class:`Naive`: the client reads everything, joins it, learns, and leaves the tree with
  the server, sealed. It fetches and opens the whole tree for every prediction.
- **cdtl**, :class:`Collaborative`: the server's tree finds a leaf; the client refines the leaf when
  a prediction first reaches it, from its rows alone, and leaves the sub-tree with the server,
  sealed. Later predictions fetch and open that.

The sensitive value of a row to be predicted never leaves the client.

:func:`choose_leaf_size` chooses a threshold on the size of the base tree's leaves, against
overfitting (section 4). A base tree of many small leaves leaves the client little to learn from. So
base trees of several thresholds are grown, each is refined as a whole, and the one that is right
most often on the pruning rows stays.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from privet._types import Splits
from privet._validate import check_integer
from privet.domain import Schema
from privet.domain.encode.rows import encode_entries
from privet.domain.tree import Tree
from privet.errors import Conflict, NotThere, OutsourceError, ParameterError, SealError
from privet.outsource.anatomy import CellText, attribute_cells
from privet.outsource.client.subtrees import (
    TrueRows,
    join_rows,
    learn,
    pad_tree,
    predict_classes,
    unpad_tree,
)
from privet.outsource.client.table import OutsourcedTable, TreeSummary

NAIVE = "/sealed/naive"
#: Rows that are predicted with one exchange.
AT_ONCE = 200


class Baseline:
    """cdbsl: predict with the server's tree alone."""

    def __init__(self, table: OutsourcedTable, tree: TreeSummary | None = None) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """Predict the class of each row of a data frame.

        Its sensitive column is not sent, and need not be there.
        """
        if not self._table.genuine:
            raise OutsourceError(
                "without the key or the owner's anatomy.json, a server could ask for any column; "
                "give one of them"
            )
        answers: list[str] = []
        for columns in _split_into_blocks(frame, self._table.anatomy.identifying, at_once):
            answers += self._table.classify(self.tree.id, list(zip(*columns, strict=True)))
            self._table.predictions += len(columns[0])
        return answers


class Naive:
    """cnl: do everything at the client."""

    def __init__(self, table: OutsourcedTable, splits: Splits = "multiway") -> None:
        self._table, self._splits = table, splits

    def is_there(self) -> bool:
        """Return whether the server holds a tree of this kind."""
        try:
            self._table.fetch(NAIVE)
        except NotThere:
            return False
        return True

    def learn(self, *, again: bool = False) -> None:
        """Read the whole table, learn, and leave the tree with the server.

        ``again`` replaces one that is there.
        """
        table = self._table
        replaces = table.fetch(NAIVE)[0] if again and self.is_there() else None
        rows = join_rows(table, table.rows)
        tree = learn(table.anatomy.schema, rows, self._splits)
        table.store(
            NAIVE, table.sealer.seal("naive", (), pad_tree(tree, len(rows))), replaces, rows.version
        )

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """Predict the class of each row.

        The tree is fetched and opened for each block of rows, and not kept.
        """
        table = self._table
        answers: list[str] = []
        schema = table.anatomy.schema
        for columns in _split_into_blocks(frame, schema, at_once):
            _, sealed = table.fetch(NAIVE)
            tree = unpad_tree(schema, table.sealer.open("naive", (), sealed))
            answers += predict_classes(tree, encode_entries(schema.attributes.values(), columns))
            table.predictions += len(columns[0])
        return answers


class Collaborative:
    """cdtl: refine the server's tree leaf by leaf, when a prediction first reaches a leaf."""

    def __init__(self, table: OutsourcedTable, tree: TreeSummary | None = None) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree

    def predict(self, frame: Any, at_once: int = AT_ONCE) -> list[str]:
        """Predict the class of each row.

        Nothing is kept between blocks of rows.
        """
        table = self._table
        answers: list[str] = []
        schema, sensitive = (
            table.anatomy.schema,
            table.anatomy.schema.index(table.anatomy.sensitive),
        )
        for columns in _split_into_blocks(frame, schema, at_once):
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
        """Return the true rows of a leaf."""
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


def _split_into_blocks(frame: Any, schema: Schema, at_once: int) -> Iterator[list[list[CellText]]]:
    """The cells of each attribute, some rows at a time."""
    check_integer("at_once", at_once, 1, 10_000)
    columns = attribute_cells(frame, schema)
    for start in range(0, len(frame), at_once):
        yield [column[start : start + at_once] for column in columns]


# A threshold on the size of the base tree's leaves (Mancuhan and Clifton 2014, section 4).

#: C4.5's own first; then what a leaf needs for its pruning rows to say something.
SIZES = (2, 8, 32, 128, 512, 2048)


@dataclass(frozen=True)
class Tried:
    """One threshold: its base tree, and the pruning rows that the refined tree gets right.

    ``covers`` stands for all rows it saw.
    """

    tree: TreeSummary
    right: int
    of: int
    covers: int


def choose_leaf_size(
    table: OutsourcedTable,
    splits: str = "multiway",
    sizes: Sequence[int] = SIZES,
    max_depth: int | None = None,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> tuple[Tried, list[Tried]]:
    """Grow and refine a base tree per threshold, and keep the best.

    It stays at the server with its sub-trees; the others are dropped.

    Among equals the one of the smallest largest leaf wins: it asks least of the client.
    ``progress`` is told the thresholds done and the number of all.
    """
    if not sizes:
        raise ParameterError("sizes must hold at least one threshold")
    sizes = [check_integer(f"sizes[{i}]", size, 1) for i, size in enumerate(sizes)]
    grown: list[TreeSummary] = []
    secret = secrets.token_bytes(32)
    tried: list[Tried] = []
    best: Tried | None = None
    try:
        for done, size in enumerate(sorted(set(sizes))):
            progress(done, len(sizes))
            grown.append(table.grow(splits, size, max_depth))
            tried.append(_try(table, grown[-1], secret))
            if tried[-1].covers != tried[0].covers:
                # A server that leaves out a row for one tree and not for another would see from the
                # choice what it is about that row.
                raise SealError
            if grown[-1].leaves == 1:
                break  # larger thresholds give the same
        if not tried[-1].of:
            raise OutsourceError(
                "no rows were marked for pruning when the table was split, so no threshold can be "
                "chosen; name one"
            )
        best = max(tried, key=lambda one: (one.right, -one.tree.largest))
    finally:
        for tree in grown:
            if best is None or tree is not best.tree:
                table.drop(tree.id)
    return best, tried


def _try(table: OutsourcedTable, tree: TreeSummary, secret: bytes) -> Tried:
    learner = Collaborative(table, tree)
    labels = table.anatomy.schema.label.labels
    right = of = covers = 0
    for leaf in table.details(tree.id).sizes:
        rows = learner.rows(leaf)
        if not len(rows):
            continue
        covers += sum(
            int.from_bytes(blake2b(seq, key=secret, digest_size=16).digest())
            for seq in map(_sequence_bytes, rows.seqs.tolist())
        )
        codes, classes = rows.where(rows.pruning)
        said = predict_classes(learner.refine(leaf, rows), codes)
        right += sum(one == labels[c] for one, c in zip(said, classes.tolist(), strict=True))
        of += len(classes)
    return Tried(tree, right, of, covers)


def _sequence_bytes(seq: int) -> bytes:
    return seq.to_bytes(8, "big")
