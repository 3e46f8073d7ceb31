"""Read and keep what belongs to many leaves of a tree at once, within one transaction.

A page of many leaves costs a database about what a page of one costs: in DuckDB, rows are found by
one scan of the identifier table. An index for it brought nothing (measured with 500 000 rows).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from privet.domain.tree import Tree
from privet.errors import NotThere
from privet.outsource.store.base import LeafPage, PageLimits, Row, Sealed, SealedSubtree
from privet.outsource.store.tables import Transaction

_HERE = "FROM subtrees WHERE tree = $1 AND body IS NOT NULL AND leaf"


def read(
    session: Transaction,
    tree: tuple[int, Tree],
    columns: str,
    leaves: Sequence[int],
    after: tuple[int, int],
    most: PageLimits,
    *,
    refined: bool,
) -> LeafPage:
    """Read the sub-trees of leaves, as far as they fit, and a page of rows of the others."""
    number, structure = tree
    if not all(0 <= leaf < structure.n_nodes for leaf in leaves):
        raise NotThere("the tree has no such leaf")
    ((version,),) = session.rows("SELECT version FROM meta")
    asked = sorted(set(leaves))
    subtrees = read_subtrees(session, number, asked, most.sealed) if refined else {}
    bare = [leaf for leaf in asked if leaf not in subtrees and leaf >= after[0]]
    found = (
        session.rows(
            f"SELECT p.leaf, {columns} FROM places AS p JOIN it ON it.number = p.number WHERE "
            "p.tree = $1 AND p.leaf IN (SELECT unnest($2::BIGINT[])) AND (p.leaf > $3 OR p.number "
            "> $4) ORDER BY p.leaf, p.number LIMIT $5",
            (number, bare, *after, most.rows + 1),
        )
        if bare
        else []
    )
    kept = found[: most.rows]
    gids = [line[3] for line in kept]
    groups = read_candidates(session, sorted(set(gids)), most.values)
    if sum(len(groups.get(gid, ())) for gid in gids) > most.values:
        kept = kept[: count_fitting_rows(session, gids, most.values)]
        groups = read_candidates(session, sorted({line[3] for line in kept}))
    if len(kept) < len(found):
        kept = _end_with_a_leaf(kept, found[len(kept)][0])
    rows = [
        (line[0], Row(line[1], line[5:], line[2], line[3], line[4], groups.get(line[3], [])))
        for line in kept
    ]
    last = (rows[-1][0], rows[-1][1].number) if len(kept) < len(found) else None
    return LeafPage(version, subtrees, rows, groups, last)


def _end_with_a_leaf(kept: list[tuple[Any, ...]], following: int) -> list[tuple[Any, ...]]:
    """Leave out the beginning of a leaf that does not fit, unless there is nothing else: so a
    client never has to keep a part of one leaf while it reads another.
    """
    whole = [line for line in kept if line[0] < following]
    return whole or kept


def read_subtrees(
    session: Transaction, tree: int, leaves: Sequence[int], most_bytes: int
) -> dict[int, Sealed]:
    """Read the sub-trees of leaves, with their bytes as long as all of them fit."""
    several = f"{_HERE} IN (SELECT unnest($2::BIGINT[]))"
    sizes = session.rows(
        f"SELECT leaf, version, octet_length(body) {several} ORDER BY leaf", (tree, list(leaves))
    )
    total = np.cumsum([size for _, _, size in sizes], dtype=np.int64).tolist()
    fit = [line[0] for line, so_far in zip(sizes, total, strict=True) if so_far <= most_bytes]
    bodies = dict(session.rows(f"SELECT leaf, body {several}", (tree, fit))) if fit else {}
    return {leaf: Sealed(version, bodies.get(leaf)) for leaf, version, _ in sizes}


def keep_subtrees(
    session: Transaction, tree: tuple[int, Tree], subtrees: Sequence[SealedSubtree]
) -> list[int]:
    """Keep the sub-trees of leaves that have none, where they were made of the rows as they are."""
    number, structure = tree
    for one in subtrees:
        if not 0 <= one.leaf < structure.n_nodes or structure.cells.attribute[one.leaf] >= 0:
            raise NotThere("the tree has no such leaf")
    ((version,),) = session.rows("SELECT version FROM meta")
    there = {
        leaf: (old, full)
        for leaf, old, full in session.rows(
            "SELECT leaf, version, body IS NOT NULL FROM subtrees WHERE tree = $1 AND leaf IN "
            "(SELECT unnest($2::BIGINT[]))",
            (number, sorted({one.leaf for one in subtrees})),
        )
    }
    kept: list[int] = []
    for one in subtrees:
        old, full = there.get(one.leaf, (0, False))
        if one.data != version or full or one.leaf in kept:
            continue
        values: tuple[Any, ...] = (number, one.leaf, old + 1, one.body)
        if one.leaf in there:
            session.run(
                "UPDATE subtrees SET version = $3, body = $4 WHERE tree = $1 AND leaf = $2", values
            )
        else:
            session.run(
                "INSERT INTO subtrees (tree, leaf, version, body) VALUES ($1, $2, $3, $4)", values
            )
        kept.append(one.leaf)
    return kept


def count_fitting_rows(session: Transaction, gids: list[int], most_values: int) -> int:
    """Count how many rows from the first on have at most so many candidates; at least one."""
    sizes = dict(
        session.rows(
            "SELECT st.gid, count(*) FROM st JOIN (SELECT unnest($1::BIGINT[]) AS gid) AS g ON "
            "g.gid = st.gid GROUP BY st.gid",
            (sorted(set(gids)),),
        )
    )
    total = np.cumsum([sizes.get(gid, 0) for gid in gids], dtype=np.int64)
    return max(1, int(np.searchsorted(total, most_values, side="right")))


def read_candidates(
    session: Transaction, gids: list[int], at_most: int | None = None
) -> dict[int, list[tuple[int, str | None]]]:
    """Read the sensitive values of each group, in order of their numbers.

    Of more than ``at_most`` in all, the last are left out.
    """
    values: dict[int, list[tuple[int, str | None]]] = {}
    sql = (
        "SELECT gid, seq, value FROM st WHERE gid IN (SELECT unnest($1::BIGINT[])) ORDER BY seq "
        "LIMIT $2"
    )
    limit = (1 << 62) if at_most is None else at_most + 1
    for gid, seq, value in session.rows(sql, (gids, limit)) if gids else ():
        values.setdefault(gid, []).append((seq, value))
    return values
