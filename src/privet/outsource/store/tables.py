"""Define the tables of a store, in the SQL that DuckDB and PostgreSQL share.

Names of columns never come from a schema, and values are bound as ``$1``, ``$2``, ... Beside the
tables are transactions, what must hold of rows and values (in files and in changes alike), and how
trees are stored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from privet._types import Ints
from privet.domain.encode.rows import Encoded, encode
from privet.domain.tree import Tree
from privet.errors import OutsourceError
from privet.model.structure import Damaged, tree_from, tree_to
from privet.outsource.anatomy import MAX_CELL, Anatomy, CellText
from privet.outsource.store.base import Training

FORMAT = 1
#: The sealed object by which clients know that the description is the owner's.
OWNERS = "anatomy"
#: Of the one line that says what the store is and how much is in it.
NUMBERS = (
    "format",
    "version",
    "next_number",
    "next_pending",
    "next_tree",
    "n_rows",
    "n_values",
    "n_groups",
)


def cell_names(n_cells: int) -> list[str]:
    """Return the columns of the cells."""
    return [f"c{i}" for i in range(n_cells)]


def create_statements(n_cells: int) -> list[str]:
    """Return the statements that make the tables.

    Keys are declared only where one that was given up never comes back: DuckDB refuses a key again
    as long as somebody still reads what was there before. For the others, writers are one at a time
    and look first.
    """
    cells = ", ".join(f"{name} TEXT" for name in cell_names(n_cells))
    return [
        (
            "CREATE TABLE meta (anatomy TEXT NOT NULL, "
            f"{', '.join(f'{name} BIGINT NOT NULL' for name in NUMBERS)})"
        ),
        (
            f"CREATE TABLE it (number BIGINT PRIMARY KEY, {cells}, pruning BOOLEAN NOT NULL, gid "
            "BIGINT NOT NULL, eseq BYTEA NOT NULL)"
        ),
        "CREATE TABLE st (seq BIGINT PRIMARY KEY, gid BIGINT NOT NULL, value TEXT)",
        "CREATE TABLE trees (number BIGINT PRIMARY KEY, id TEXT NOT NULL, made TEXT NOT NULL, "
        "splits TEXT NOT NULL, leaf_size BIGINT NOT NULL, max_depth BIGINT, changed BIGINT NOT "
        "NULL, structure TEXT NOT NULL)",
        "CREATE TABLE places (tree BIGINT NOT NULL, number BIGINT NOT NULL, leaf BIGINT NOT NULL)",
        "CREATE TABLE leaves (tree BIGINT NOT NULL, leaf BIGINT NOT NULL, n_rows BIGINT NOT NULL)",
        # A body of NULL: it was dropped, and its version is never given again.
        (
            "CREATE TABLE subtrees (tree BIGINT NOT NULL, leaf BIGINT NOT NULL, version BIGINT NOT "
            "NULL, body BYTEA)"
        ),
        "CREATE TABLE sealed (name TEXT NOT NULL, version BIGINT NOT NULL, body BYTEA)",
        "CREATE TABLE pending (id BIGINT PRIMARY KEY, body BYTEA NOT NULL)",
        # The changes that had a name, so that one that is sent again is not done again.
        (
            "CREATE TABLE changes (id TEXT NOT NULL, version BIGINT NOT NULL, first_pending BIGINT "
            "NOT NULL, n_pending BIGINT NOT NULL)"
        ),
    ]


#: For PostgreSQL, where they find rows and guard what is unique. DuckDB finds rows by the order in
#: which they lie.
INDEXES = (
    "CREATE UNIQUE INDEX ON it (eseq)",
    "CREATE INDEX ON it (gid)",
    "CREATE INDEX ON st (gid)",
    "CREATE UNIQUE INDEX ON trees (id)",
    "CREATE UNIQUE INDEX ON places (tree, leaf, number)",
    "CREATE INDEX ON places (number)",
    "CREATE UNIQUE INDEX ON leaves (tree, leaf)",
    "CREATE UNIQUE INDEX ON subtrees (tree, leaf)",
    "CREATE UNIQUE INDEX ON sealed (name)",
    "CREATE UNIQUE INDEX ON changes (id)",
)


# Transactions. Values are bound as ``$1``, ``$2``, ...

#: Rows that are fetched at once.
BLOCK = 1 << 16


class Transaction(Protocol):
    """What a transaction can do."""

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run a statement that answers nothing."""
        ...

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of an answer."""
        ...

    def blocks(self, sql: str, values: Sequence[Any] = ()) -> Iterator[list[tuple[Any, ...]]]:
        """Yield the rows of an answer, :data:`BLOCK` at a time."""
        ...

    def put(self, table: str, *columns: Ints) -> None:
        """Add many rows of integers to a table."""
        ...


# What must hold of rows and values, in files and in changes alike.

#: Bytes of a sealed sequence number.
MAX_ESEQ = 256


def fits(anatomy: Anatomy, columns: Sequence[Sequence[CellText]]) -> npt.NDArray[np.bool_]:
    """Return which rows fit the schema of the identifier table.

    The columns are those of ``Anatomy.columns``.
    """
    named = {
        name: _object_column(cells) for name, cells in zip(anatomy.columns, columns, strict=True)
    }
    known = encode(anatomy.identifying, named).known(anatomy.identifying)
    for column in columns:
        known &= np.array([is_storable(cell) for cell in column], dtype=bool)
    return known


def encode_identifiers(anatomy: Anatomy, columns: Sequence[Sequence[Any]]) -> Encoded:
    """Encode the identifying attributes, and the class where it is there too."""
    schema = replace(anatomy.identifying, person=None)
    names = [*schema.names, schema.target][: len(columns)]
    return encode(
        schema,
        dict(zip(names, map(_object_column, columns), strict=True)),
        target=len(columns) > len(schema.names),
    )


def is_storable(cell: CellText) -> bool:
    """Return whether any database can hold it: NUL is no text in PostgreSQL."""
    return cell is None or (len(cell) <= MAX_CELL and "\x00" not in cell)


def _object_column(cells: Sequence[Any]) -> npt.NDArray[Any]:
    column = np.empty(len(cells), dtype=object)
    column[:] = cells
    return column


# Trees: what they are grown from, how they are written, and which rows are in which leaf.


def read_training_rows(session: Transaction, anatomy: Anatomy, after: int = -1) -> Training:
    """Read the rows with larger numbers than ``after``, as codes.

    Their cells are in memory a block at a time.
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
    """Return a tree as it is written, and as it is read again.

    Its nodes may have other numbers then.
    """
    structure = json.dumps(tree_to(tree), separators=(",", ":"))
    return structure, from_stored(anatomy, structure)


def from_stored(anatomy: Anatomy, structure: str) -> Tree:
    """Return a tree as it was written."""
    try:
        return tree_from(anatomy.identifying, json.loads(structure), 0)
    except (Damaged, ValueError):
        raise OutsourceError("a stored tree is damaged") from None


def place_rows(
    session: Transaction, anatomy: Anatomy, number: int, tree: Tree, grown_from: Training
) -> int:
    """Store which rows are in which leaf of a new tree.

    Returns how many rows came or went since it was grown.
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
