"""Rotation: everything at the server is sealed anew with the current key. It can be interrupted and begun again."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from privet.errors import NotThere
from privet.outsource.client.learners import NAIVE
from privet.outsource.client.table import OWNERS, CandidateRow, OutsourcedTable
from privet.outsource.genuine import said


def rotate(table: OutsourcedTable) -> int:
    """Seal anew what older keys of the ring sealed; how many texts that were. All of them, or an error."""
    done = 0
    for page in table.rows():
        done += _reseal_rows(table, page.rows)
    done += _reseal_pending(table)
    for place, purpose, bound in _places(table):
        version, sealed = table.fetch(place)
        if not table.sealer.is_current(sealed):
            table.store(place, table.sealer.seal(purpose, bound, table.sealer.open(purpose, bound, sealed)), version)  # type: ignore[arg-type]
            done += 1
    return done


def check_key(table: OutsourcedTable) -> None:
    """Raise unless the ring opens the rows of the table: looked at on the first of them."""
    for row in next(iter(table.rows())).rows[:1]:
        table.sealer.open("sequence", row.place, row.eseq)


def _reseal_rows(table: OutsourcedTable, page: list[CandidateRow]) -> int:
    fresh: list[list[int | str]] = []
    for row in page:
        if not table.sealer.is_current(row.eseq):
            again = table.sealer.seal("sequence", row.place, table.sealer.open("sequence", row.place, row.eseq))
            fresh.append([row.row, base64.b64encode(again).decode()])
    if fresh:
        table.change_any(reseal=fresh)
    return len(fresh)


def _reseal_pending(table: OutsourcedTable) -> int:
    version = table.about()["version"]
    old = [(number, sealed) for number, sealed in table.pending() if not table.sealer.is_current(sealed)]
    fresh = [table.sealer.seal("pending", (), table.sealer.open("pending", (), sealed)) for _, sealed in old]
    if old:
        table.change(version, remove_pending=[number for number, _ in old], pending=[base64.b64encode(one).decode() for one in fresh])
    return len(old)


def _places(table: OutsourcedTable) -> Iterator[tuple[str, str, tuple[str | int, ...]]]:
    """Where something is sealed, what for, and what it is bound to."""
    for tree in table.about()["trees"]:
        for leaf in table.details(tree.id).refined:
            yield table.subtree_place(tree.id, leaf), "subtree", (tree.id, leaf)
    yield OWNERS, "anatomy", said(table.anatomy)
    try:
        table.fetch(NAIVE)
    except NotThere:
        return
    yield NAIVE, "naive", ()
