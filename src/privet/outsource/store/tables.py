"""The tables of a store, in the SQL that DuckDB and PostgreSQL share. Names of columns never come
from a schema.
"""

from __future__ import annotations

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
    """The columns of the cells."""
    return [f"c{i}" for i in range(n_cells)]


def create_statements(n_cells: int) -> list[str]:
    """How the tables are made.

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
