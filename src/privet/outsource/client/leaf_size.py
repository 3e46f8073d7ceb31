"""A threshold on the size of the base tree's leaves, against overfitting (Mancuhan and Clifton
2014, section 4).

A base tree of many small leaves leaves the client little to learn from. So base trees of several
thresholds are grown, each is refined as a whole, and the one that is right most often on the
pruning rows stays.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from privet.checks import check_integer
from privet.errors import OutsourceError, ParameterError, SealError
from privet.outsource.client.learners import Collaborative
from privet.outsource.client.subtrees import predict_classes
from privet.outsource.client.table import OutsourcedTable, TreeSummary

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
    """Grow and refine a base tree per threshold; keep the best at the server, with its sub-trees,
    and drop the others.

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
