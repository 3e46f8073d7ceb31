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
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, get_args

import numpy as np

from privet._types import Splits
from privet._validate import check_integer, check_name
from privet.domain import Schema
from privet.domain.encode.rows import encode_entries
from privet.domain.tree import Tree
from privet.errors import NotThere, OutsourceError, ParameterError, SealError
from privet.outsource.anatomy import CellText, attribute_cells
from privet.outsource.client.leaves import read_leaves
from privet.outsource.client.outbox import Outbox
from privet.outsource.client.replies import LeafContents, TreeSummary
from privet.outsource.client.subtrees import (
    TrueRows,
    join_rows,
    learn,
    pad_tree,
    predict_classes,
    unpad_tree,
)
from privet.outsource.client.table import PAGE, OutsourcedTable

NAIVE = "/sealed/naive"
#: Rows that are predicted with one exchange.
AT_ONCE = 200
#: Rows of many small leaves that are read at once.
_SMALLEST_PAGE = 250
#: What a sealed tree is kept with.
Keep = Literal["counts", "tuples"]


#: Told how many are done, and of how many.
Progress = Callable[[int, int], None]
_shuffler = secrets.SystemRandom()


def _tell_nobody(done: int, of: int) -> None:
    """Show no progress."""


class Baseline:
    """cdbsl: predict with the server's tree alone."""

    def __init__(self, table: OutsourcedTable, tree: TreeSummary | None = None) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree

    def predict(
        self, frame: Any, at_once: int = AT_ONCE, progress: Progress = _tell_nobody
    ) -> list[str]:
        """Predict the class of each row of a data frame.

        Its sensitive column is not sent, and need not be there.
        """
        if not self._table.genuine:
            raise OutsourceError(
                "without the key or the owner's anatomy.json, a server could ask for any column; "
                "give one of them"
            )
        answers = _Answers(len(frame), progress)
        for rows, columns in _split_into_blocks(frame, self._table.anatomy.identifying, at_once):
            answers.put(rows, self._table.classify(self.tree.id, list(zip(*columns, strict=True))))
            self._table.predictions += len(rows)
        return answers.all


class Naive:
    """cnl: do everything at the client."""

    def __init__(
        self, table: OutsourcedTable, splits: Splits = "multiway", keep: Keep = "counts"
    ) -> None:
        self._table, self._splits = table, splits
        check_name("keep", keep, get_args(Keep))
        self._keep = keep

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
        replaces = None
        if again:
            with suppress(NotThere):
                replaces = table.fetch(NAIVE)[0]
        rows = join_rows(table, table.rows)
        text = _write_tree(learn(table.anatomy.schema, rows, self._splits), rows, self._keep)
        table.store(NAIVE, table.sealer.seal("naive", (), text), replaces, rows.version)

    def predict(
        self, frame: Any, at_once: int = AT_ONCE, progress: Progress = _tell_nobody
    ) -> list[str]:
        """Predict the class of each row.

        The tree is fetched and opened for each block of rows, and not kept.
        """
        table = self._table
        answers = _Answers(len(frame), progress)
        schema = table.anatomy.schema
        for rows, columns in _split_into_blocks(frame, schema, at_once):
            _, sealed = table.fetch(NAIVE)
            tree = unpad_tree(schema, table.sealer.open("naive", (), sealed))
            codes = encode_entries(schema.attributes.values(), columns)
            answers.put(rows, predict_classes(tree, codes))
            table.predictions += len(rows)
        return answers.all


class Collaborative:
    """cdtl: refine the server's tree leaf by leaf, when a prediction first reaches a leaf.

    Args:
        table: at its server.
        tree: the base tree; by default the newest.
        keep: what a sub-tree is kept with: the class counts of its nodes, or the tuples that it was
            learnt from, as in the paper.
        outbox: where sub-trees wait for the server; by default they are sent with each block of
            rows, before it is answered.
    """

    def __init__(
        self,
        table: OutsourcedTable,
        tree: TreeSummary | None = None,
        *,
        keep: Keep = "counts",
        outbox: Outbox | None = None,
    ) -> None:
        self._table = table
        self.tree = table.newest_tree() if tree is None else tree
        check_name("keep", keep, get_args(Keep))
        self._keep = keep
        self._outbox = Outbox(table) if outbox is None else outbox

    def predict(
        self, frame: Any, at_once: int = AT_ONCE, progress: Progress = _tell_nobody
    ) -> list[str]:
        """Predict the class of each row.

        Nothing is kept between blocks of rows, but for sub-trees that are on their way.
        """
        table = self._table
        answers = _Answers(len(frame), progress)
        schema = table.anatomy.schema
        sensitive = schema.index(table.anatomy.sensitive)
        for rows, columns in _split_into_blocks(frame, schema, at_once):
            codes = encode_entries(schema.attributes.values(), columns)
            sent = [column for position, column in enumerate(columns) if position != sensitive]
            waiting = self._outbox.subtrees(self.tree.id)
            reached = table.reach(
                self.tree.id, list(zip(*sent, strict=True)), page=self._page, waiting=waiting
            )
            # where there are neither rows nor a sub-tree, the base tree has to do
            answer, leaves = np.array(reached.classes, dtype=object), np.array(reached.leaves)
            for leaf, tree in self._trees_of(set(reached.leaves), waiting, reached.contents):
                here = leaves == leaf
                answer[here] = predict_classes(tree, [column[here] for column in codes])
            self._outbox.send()
            answers.put(rows, answer.tolist())
            table.predictions += len(rows)
        return answers.all

    def refine(self, leaf: int, rows: TrueRows) -> Tree:
        """Learn the sub-tree of a leaf from its rows, and put it into the outbox."""
        table = self._table
        text = _write_tree(learn(table.anatomy.schema, rows, self._splits), rows, self._keep)
        sealed = table.sealer.seal("subtree", (self.tree.id, leaf), text)
        if len(sealed) > table.sealed_limit:  # in the outbox it would be in the way of all others
            raise OutsourceError(
                f"the sealed sub-tree of a leaf of {len(rows)} rows has {len(sealed)} bytes, and "
                f"the server takes {table.sealed_limit}: keep counts in place of tuples, or let "
                "its owner raise the limit 'sealed'"
            )
        self._outbox.add(self.tree.id, (leaf, sealed, rows.version))
        return unpad_tree(table.anatomy.schema, text)  # as whoever comes later will see it

    def refine_all(self, leaves: Collection[int]) -> Iterator[tuple[Tree, TrueRows]]:
        """Refine leaves whether they have a sub-tree or not, and yield each with its rows."""
        for leaf, rows in read_leaves(
            self._table, self.tree.id, leaves, page=self._page, refined=False
        ):
            if isinstance(rows, TrueRows):
                yield self.refine(leaf, rows), rows
        self._outbox.send()

    @property
    def _page(self) -> int:
        """Rows of a page: no more than the largest leaf, but what a request is worth."""
        return min(PAGE, max(_SMALLEST_PAGE, self.tree.largest))

    @property
    def _splits(self) -> Splits:
        return "binary" if self.tree.splits == "binary" else "multiway"

    def _trees_of(
        self, leaves: set[int], waiting: Mapping[int, bytes], contents: LeafContents
    ) -> Iterator[tuple[int, Tree]]:
        for leaf in leaves & waiting.keys():
            yield leaf, self._opened(leaf, waiting[leaf])
        others = leaves - waiting.keys()
        for leaf, content in read_leaves(
            self._table, self.tree.id, others, contents, page=self._page
        ):
            if isinstance(content, TrueRows):
                yield leaf, self.refine(leaf, content)
            elif leaf in others:  # while the others were read, one of ours may have arrived
                yield leaf, self._opened(leaf, content)

    def _opened(self, leaf: int, sealed: bytes) -> Tree:
        return unpad_tree(
            self._table.anatomy.schema,
            self._table.sealer.open("subtree", (self.tree.id, leaf), sealed),
        )


def _write_tree(tree: Tree, rows: TrueRows, keep: Keep) -> bytes:
    return pad_tree(tree, len(rows), rows if keep == "tuples" else None)


def _split_into_blocks(
    frame: Any, schema: Schema, at_once: int
) -> Iterator[tuple[list[int], list[list[CellText]]]]:
    """Some rows at a time, and the cells of each attribute.

    Rows are in a random order: a file that is sorted by the sensitive attribute would otherwise
    tell it to the server.
    """
    check_integer("at_once", at_once, 1, 10_000)
    columns = attribute_cells(frame, schema)
    order = list(range(len(frame)))
    _shuffler.shuffle(order)
    for start in range(0, len(order), at_once):
        rows = order[start : start + at_once]
        yield rows, [[column[row] for row in rows] for column in columns]


class _Answers:
    """Answers in the order of the rows, in whatever order they come."""

    def __init__(self, n_rows: int, progress: Progress) -> None:
        self.all = [""] * n_rows
        self._done, self._progress = 0, progress

    def put(self, rows: Sequence[int], answers: Sequence[str]) -> None:
        for row, answer in zip(rows, answers, strict=True):
            self.all[row] = answer
        self._done += len(rows)
        self._progress(self._done, len(self.all))


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
    progress: Progress = _tell_nobody,
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
    for subtree, rows in learner.refine_all(table.details(tree.id).sizes):
        covers += sum(
            int.from_bytes(blake2b(seq, key=secret, digest_size=16).digest())
            for seq in map(_sequence_bytes, rows.seqs.tolist())
        )
        codes, classes = rows.where(rows.pruning)
        said = predict_classes(subtree, codes)
        right += sum(one == labels[c] for one, c in zip(said, classes.tolist(), strict=True))
        of += len(classes)
    return Tried(tree, right, of, covers)


def _sequence_bytes(seq: int) -> bytes:
    return seq.to_bytes(8, "big")
