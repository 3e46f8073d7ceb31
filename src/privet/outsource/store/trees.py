"""Trees in a store: what they are grown from, how they are written, and which rows are in which
leaf.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.errors import OutsourceError
from privet.model.problem import Damaged
from privet.model.structure import tree_from, tree_to
from privet.outsource.anatomy import Anatomy
from privet.outsource.store.base import Training
from privet.outsource.store.checks import encode_identifiers
from privet.outsource.store.sessions import Transaction
from privet.outsource.store.tables import cell_names
from privet.schema.encode import Encoded
from privet.tree import Tree
from privet.typed import Ints


def read_training_rows(session: Transaction, anatomy: Anatomy, after: int = -1) -> Training:
    """The rows with larger numbers than ``after``, as codes. Their cells are in memory a block at a
    time.
    """
    names = cell_names(len(anatomy.identifying.names) + 1)
    ((version,),) = session.rows("SELECT version FROM meta")
    numbers: list[Ints] = [np.empty(0, dtype=np.int64)]
    pruning: list[npt.NDArray[np.bool_]] = [np.empty(0, dtype=bool)]
    columns: list[list[npt.NDArray[Any]]] = [[] for _ in names]
    # of the right types, where there are no rows
    _append(columns, encode_identifiers(anatomy, [[] for _ in names]))
    for block in session.blocks(
        f"SELECT number, pruning, {', '.join(names)} FROM it WHERE number > $1 ORDER BY number",
        (after,),
    ):
        number, mark, *cells = zip(*block, strict=True)
        numbers.append(np.array(number, dtype=np.int64))
        pruning.append(np.array(mark, dtype=bool))
        _append(columns, encode_identifiers(anatomy, cells))
    *codes, classes = (np.concatenate(column) for column in columns)
    return Training(version, np.concatenate(numbers), codes, classes, np.concatenate(pruning))


def _append(columns: list[list[npt.NDArray[Any]]], found: Encoded) -> None:
    assert found.classes is not None
    for column, codes in zip(columns, [*found.codes, found.classes], strict=True):
        column.append(codes)


def as_stored(anatomy: Anatomy, tree: Tree) -> tuple[str, Tree]:
    """A tree as it is written, and as it is read again: its nodes may have other numbers then."""
    structure = json.dumps(tree_to(tree), separators=(",", ":"))
    return structure, from_stored(anatomy, structure)


def from_stored(anatomy: Anatomy, structure: str) -> Tree:
    """A tree as it was written."""
    try:
        return tree_from(anatomy.identifying, json.loads(structure), 0)
    except (Damaged, ValueError):
        raise OutsourceError("a stored tree is damaged") from None


def place_rows(
    session: Transaction, anatomy: Anatomy, number: int, tree: Tree, grown_from: Training
) -> int:
    """Say which rows are in which leaf of a new tree; how many rows came or went since it was
    grown.
    """
    leaf, numbers, changed = tree.reach(grown_from.codes), grown_from.numbers, 0
    ((version,),) = session.rows("SELECT version FROM meta")
    if version != grown_from.version:
        there = [
            np.array([n for (n,) in block], dtype=np.int64)
            for block in session.blocks("SELECT number FROM it ORDER BY number")
        ]
        kept = np.isin(numbers, np.concatenate([np.empty(0, dtype=np.int64), *there]))
        came = read_training_rows(session, anatomy, int(numbers.max(initial=-1)))
        changed = int((~kept).sum()) + len(came.numbers)
        leaf = np.concatenate([leaf[kept], tree.reach(came.codes)])
        numbers = np.concatenate([numbers[kept], came.numbers])
    order = np.lexsort((numbers, leaf))  # the rows of a leaf lie together
    session.put(
        "places", np.full(len(numbers), number, dtype=np.int64), numbers[order], leaf[order]
    )
    leaves = np.asarray(tree.leaves, dtype=np.int64)
    sizes = np.bincount(leaf, minlength=tree.n_nodes)[leaves]
    session.put(
        "leaves", np.full(len(leaves), number, dtype=np.int64), leaves, sizes.astype(np.int64)
    )
    return changed
