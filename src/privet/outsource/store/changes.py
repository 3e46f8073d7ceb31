"""Change a stored table: add and remove rows, re-seal numbers, keep rows that wait for a group.

A row that goes leaves its sensitive value behind: without it, the others of its group would be less
hidden than they were (Nergiz, Clifton and Malluhi 2013, *Updating Outsourced Anatomized Private
Databases*). What was made of a row that comes or goes is dropped, because it may remember who was
there. A refusal names a position in what was sent, never what stands there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from privet._types import Ints
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.outsource.anatomy import Anatomy, CellText, codes_of, find_undiverse_groups
from privet.outsource.store.base import Change, Changed, NewRow, OtherData, StoreLimits
from privet.outsource.store.tables import (
    MAX_ESEQ,
    Transaction,
    cell_names,
    encode_identifiers,
    fits,
    is_storable,
)

#: The sealed object that is made of all rows.
NAIVE = "naive"
_LARGEST = (1 << 63) - 1


def apply(
    session: Transaction,
    anatomy: Anatomy,
    trees: Sequence[tuple[int, Tree]],
    change: Change,
    room: StoreLimits,
) -> Changed:
    """Check a change and apply it, within a transaction that an error undoes.

    ``trees`` are all that there are, by number.
    """
    if (done := _find_earlier_answer(session, change)) is not None:
        return done
    ((version, next_number, next_pending),) = session.rows(
        "SELECT version, next_number, next_pending FROM meta"
    )
    if change.version != version:
        raise OtherData(version)
    _check_numbers(session, change, room)
    _check_rows(anatomy, change.rows)
    _check_changed_groups(anatomy, change)
    _check_new(session, change)
    _reseal(session, change.reseal)
    touched = _remove_rows(session, change.remove_rows) + _add(
        session, anatomy, trees, change.rows, next_number
    )
    _put_values(session, change.values)
    _resize(session, touched)
    if change.rows or change.remove_rows:
        session.run(
            "UPDATE trees SET changed = changed + $1", (len(change.rows) + len(change.remove_rows),)
        )
        _drop(session, touched)
    pending = list(range(next_pending, next_pending + len(change.pending)))
    _put_pending(session, change, pending)
    session.run(
        "UPDATE meta SET version = version + 1, next_number = next_number + $1, next_pending = "
        "next_pending + $2, "
        "n_rows = n_rows + $3, n_values = n_values + $4, n_groups = n_groups + $5",
        (
            len(change.rows),
            len(change.pending),
            len(change.rows) - len(change.remove_rows),
            len(change.values),
            len({gid for _, gid, _ in change.values}),
        ),
    )
    if change.id is not None:
        session.run(
            "INSERT INTO changes VALUES ($1, $2, $3, $4)",
            (change.id, version + 1, next_pending, len(pending)),
        )
    return Changed(version + 1, pending)


def _find_earlier_answer(session: Transaction, change: Change) -> Changed | None:
    """What was answered to a change of this name."""
    if change.id is None:
        return None
    for version, first, n in session.rows(
        "SELECT version, first_pending, n_pending FROM changes WHERE id = $1", (change.id,)
    ):
        return Changed(version, list(range(first, first + n)))
    return None


# Checks, made before anything is changed.


def _check_numbers(session: Transaction, change: Change, room: StoreLimits) -> None:
    """Rows and pending objects that are named must be there, once; what comes must fit."""
    _check_there(session, "remove_rows", change.remove_rows, "it", "number")
    _check_there(session, "reseal", [number for number, _ in change.reseal], "it", "number")
    gone = set(change.remove_rows)
    for i, (number, eseq) in enumerate(change.reseal):
        if number in gone:
            raise ParameterError(f"reseal.{i}: this row is to be removed")
        _check_eseq(f"reseal.{i}", eseq)
    _check_there(session, "remove_pending", change.remove_pending, "pending", "id")
    for i, body in enumerate(change.pending):
        if not 1 <= len(body) <= room.pending_bytes:
            raise ParameterError(f"pending.{i}: must have 1 to {room.pending_bytes} bytes")
    ((there,),) = session.rows("SELECT count(*) FROM pending")
    if there + len(change.pending) - len(change.remove_pending) > room.pending:
        raise ParameterError(f"pending: at most {room.pending} can wait")


def _check_there(
    session: Transaction, where: str, numbers: Sequence[int], table: str, column: str
) -> None:
    _check_once(where, numbers)
    inside = [number for number in numbers if 0 <= number <= _LARGEST]
    sql = (
        f"SELECT t.{column} FROM {table} AS t JOIN (SELECT unnest($1::BIGINT[]) AS n) AS g ON g.n "
        f"= t.{column}"
    )
    present = {number for (number,) in session.rows(sql, (inside,))} if inside else set()
    for i, number in enumerate(numbers):
        if number not in present:
            raise ParameterError(f"{where}.{i}: there is no such number")


def _check_once(where: str, entries: Sequence[object]) -> None:
    seen: set[object] = set()
    for i, entry in enumerate(entries):
        if entry in seen:
            raise ParameterError(f"{where}.{i}: stands there twice")
        seen.add(entry)


def _check_eseq(where: str, eseq: bytes) -> None:
    if not 1 <= len(eseq) <= MAX_ESEQ:
        raise ParameterError(f"{where}: a sealed number must have 1 to {MAX_ESEQ} bytes")


def _check_rows(anatomy: Anatomy, rows: Sequence[NewRow]) -> None:
    for i, row in enumerate(rows):
        if len(row.cells) != len(anatomy.columns):
            raise ParameterError(
                f"rows.{i}.cells: must be {len(anatomy.columns)} cells: "
                f"{', '.join(anatomy.columns)}"
            )
        _check_eseq(f"rows.{i}.eseq", row.eseq)
        if not 0 <= row.gid <= _LARGEST:
            raise ParameterError(f"rows.{i}.gid: must be 0 to {_LARGEST}")
    if rows:
        unfit = np.flatnonzero(~fits(anatomy, _transpose_cells(rows)))
        if len(unfit):
            raise ParameterError(f"rows.{unfit[0]}.cells: do not fit the schema")


def _check_changed_groups(anatomy: Anatomy, change: Change) -> None:
    """As many rows as values in each group, and the values diverse."""
    for i, (seq, gid, value) in enumerate(change.values):
        if not (0 <= seq <= _LARGEST and 0 <= gid <= _LARGEST and is_storable(value)):
            raise ParameterError(
                f"values.{i}: must be a number and a group from 0 to {_LARGEST}, and a text that "
                "can be stored"
            )
    rows, values = (
        Counter(row.gid for row in change.rows),
        Counter(gid for _, gid, _ in change.values),
    )
    for i, row in enumerate(change.rows):
        if rows[row.gid] != values[row.gid]:
            raise ParameterError(f"rows.{i}.gid: a new group must have as many rows as values")
    for i, (_, gid, _) in enumerate(change.values):
        if rows[gid] != values[gid]:
            raise ParameterError(f"values.{i}: a new group must have as many rows as values")
    if not change.values:
        return
    codes = codes_of(anatomy.sensitive_domain, [value for _, _, value in change.values])
    unknown = np.flatnonzero(codes >= anatomy.sensitive_domain.size)
    if len(unknown):
        raise ParameterError(f"values.{unknown[0]}: does not fit the schema")
    gids = np.array([gid for _, gid, _ in change.values], dtype=np.int64)
    bad = find_undiverse_groups(gids, codes, anatomy.l)
    if len(bad):
        first = int(np.flatnonzero(np.isin(gids, bad))[0])
        raise ParameterError(
            f"values.{first}: in its group some value has more than one {anatomy.l}-th of the "
            "entries"
        )


def _check_new(session: Transaction, change: Change) -> None:
    """Groups, sequence numbers and sealed numbers that nobody has."""
    eseqs = [row.eseq for row in change.rows] + [eseq for _, eseq in change.reseal]
    places = [f"rows.{i}.eseq" for i in range(len(change.rows))] + [
        f"reseal.{i}" for i in range(len(change.reseal))
    ]
    seen: set[bytes] = set()
    for where, eseq in zip(places, eseqs, strict=True):
        if eseq in seen:
            raise ParameterError(f"{where}: another row has this sealed number")
        seen.add(eseq)
    _check_absent(
        session, places, eseqs, "it", "eseq", "BYTEA", "another row has this sealed number"
    )
    seqs, gids = [seq for seq, _, _ in change.values], [gid for _, gid, _ in change.values]
    _check_once("values", seqs)
    places = [f"values.{i}" for i in range(len(seqs))]
    _check_absent(
        session, places, seqs, "st", "seq", "BIGINT", "another value has this sequence number"
    )
    for table in ("st", "it"):
        _check_absent(
            session,
            places,
            gids,
            table,
            "gid",
            "BIGINT",
            "the group is there already; rows come in new groups",
        )


def _check_absent(
    session: Transaction,
    places: Sequence[str],
    entries: Sequence[object],
    table: str,
    column: str,
    kind: str,
    trouble: str,
) -> None:
    sql = (
        f"SELECT DISTINCT t.{column} FROM {table} AS t JOIN (SELECT unnest($1::{kind}[]) AS e) AS "
        f"g ON g.e = t.{column}"
    )
    present = {entry for (entry,) in session.rows(sql, (list(entries),))} if entries else set()
    for where, entry in zip(places, entries, strict=True):
        if entry in present:
            raise ParameterError(f"{where}: {trouble}")


# The changes themselves.

#: Trees and leaves, and how many more rows they have now.
Touched = list[tuple[int, int, int]]


def _reseal(session: Transaction, reseal: Sequence[tuple[int, bytes]]) -> None:
    if reseal:
        session.run(
            "UPDATE it SET eseq = g.eseq FROM (SELECT unnest($1::BIGINT[]) AS number, "
            "unnest($2::BYTEA[]) AS eseq) AS g WHERE it.number = g.number",
            ([number for number, _ in reseal], [eseq for _, eseq in reseal]),
        )


def _remove_rows(session: Transaction, numbers: Sequence[int]) -> Touched:
    if not numbers:
        return []
    left = session.rows(
        "SELECT p.tree, p.leaf, -count(*) FROM places AS p JOIN (SELECT unnest($1::BIGINT[]) AS "
        "number) AS g ON g.number = p.number GROUP BY p.tree, p.leaf",
        (list(numbers),),
    )
    for table in ("places", "it"):
        session.run(
            f"DELETE FROM {table} WHERE number IN (SELECT unnest($1::BIGINT[]))", (list(numbers),)
        )
    return [(tree, leaf, n) for tree, leaf, n in left]


def _add(
    session: Transaction,
    anatomy: Anatomy,
    trees: Sequence[tuple[int, Tree]],
    rows: Sequence[NewRow],
    first: int,
) -> Touched:
    """Put rows into the table, numbered in the order of their sealed numbers, which says nothing,
    and into all trees.
    """
    if not rows:
        return []
    ordered = sorted(rows, key=lambda row: row.eseq)
    columns, numbers = (
        _transpose_cells(ordered),
        np.arange(first, first + len(ordered), dtype=np.int64),
    )
    names, n = cell_names(len(columns)), len(columns)
    cells = ", ".join(f"unnest(${i}::TEXT[])" for i in range(5, n + 5))
    session.run(
        f"INSERT INTO it (number, pruning, gid, eseq, {', '.join(names)}) "
        "SELECT unnest($1::BIGINT[]), unnest($2::BOOLEAN[]), unnest($3::BIGINT[]), "
        f"unnest($4::BYTEA[]), {cells}",
        (
            numbers.tolist(),
            [r.pruning for r in ordered],
            [r.gid for r in ordered],
            [r.eseq for r in ordered],
            *columns,
        ),
    )
    codes = encode_identifiers(anatomy, columns[: len(anatomy.identifying.names)]).codes
    touched: Touched = []
    for number, tree in trees:
        leaf: Ints = tree.reach(codes)
        session.put("places", np.full(len(leaf), number, dtype=np.int64), numbers, leaf)
        touched += [(number, at, n_rows) for at, n_rows in Counter(leaf.tolist()).items()]
    return touched


def _put_values(session: Transaction, values: Sequence[tuple[int, int, CellText]]) -> None:
    if values:
        seq, gid, value = (
            list(column) for column in zip(*sorted(values, key=lambda line: line[0]), strict=True)
        )
        session.run(
            "INSERT INTO st SELECT unnest($1::BIGINT[]), unnest($2::BIGINT[]), unnest($3::TEXT[])",
            (seq, gid, value),
        )


def _resize(session: Transaction, touched: Touched) -> None:
    """Say how many rows the leaves have now."""
    total: Counter[tuple[int, int]] = Counter()
    for tree, leaf, n in touched:
        total[tree, leaf] += n
    if total:
        session.run(
            "UPDATE leaves SET n_rows = n_rows + g.n FROM (SELECT unnest($1::BIGINT[]) AS tree, "
            "unnest($2::BIGINT[]) AS leaf, unnest($3::BIGINT[]) AS n) AS g WHERE leaves.tree = "
            "g.tree AND leaves.leaf = g.leaf",
            ([tree for tree, _ in total], [leaf for _, leaf in total], list(total.values())),
        )


def _drop(session: Transaction, touched: Touched) -> None:
    """Forget what was made of the leaves that rows came to or left, and of all rows. The versions
    stay, so that none comes twice.
    """
    where = sorted({(tree, leaf) for tree, leaf, _ in touched})
    if where:
        session.run(
            "UPDATE subtrees SET body = NULL FROM (SELECT unnest($1::BIGINT[]) AS tree, "
            "unnest($2::BIGINT[]) AS leaf) AS g "
            "WHERE subtrees.tree = g.tree AND subtrees.leaf = g.leaf",
            ([tree for tree, _ in where], [leaf for _, leaf in where]),
        )
    session.run("UPDATE sealed SET body = NULL WHERE name = $1", (NAIVE,))


def _put_pending(session: Transaction, change: Change, numbers: list[int]) -> None:
    if change.remove_pending:
        session.run(
            "DELETE FROM pending WHERE id IN (SELECT unnest($1::BIGINT[]))",
            (list(change.remove_pending),),
        )
    if numbers:
        session.run(
            "INSERT INTO pending SELECT unnest($1::BIGINT[]), unnest($2::BYTEA[])",
            (numbers, list(change.pending)),
        )


def _transpose_cells(rows: Sequence[NewRow]) -> list[list[CellText]]:
    return [list(column) for column in zip(*(row.cells for row in rows), strict=True)]
