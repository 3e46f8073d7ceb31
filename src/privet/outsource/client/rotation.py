"""Rotation: everything at the server is sealed anew with the current key. It can be interrupted and
begun again.
"""

from __future__ import annotations

from collections.abc import Iterator

from privet.errors import Conflict, NotThere, OutsourceError
from privet.outsource.cipher.sealing import Purpose
from privet.outsource.client.learners import NAIVE
from privet.outsource.client.table import OWNERS, CandidateRow, OutsourcedTable, encode_base64
from privet.outsource.genuine import sealed_content

#: Passes over everything; each but the last seals something anew, or sees a change.
_ROTATION_TRIES = 100
_AT_ONCE = 5000


def rotate(table: OutsourcedTable) -> int:
    """Seal anew what older keys of the ring sealed; how many texts that were. All of them as of one
    version, or an error.
    """
    done = 0
    for _ in range(_ROTATION_TRIES):
        version, fresh, rows = table.about()["version"], 0, 0
        for page in table.rows():
            fresh += _reseal_rows(table, page.rows)
            rows += len(page.rows)
        fresh += _reseal_pending(table)
        for place, purpose, bound in _list_sealed_places(table):
            fresh += _reseal_place(table, place, purpose, bound)
        done += fresh
        about = table.about()
        if not fresh and about["version"] == version:  # nothing was old, and nothing came meanwhile
            if rows != about["rows"]:
                raise OutsourceError(
                    f"the server says that it has {about['rows']} rows, but sent {rows}; keep the "
                    "older keys"
                )
            return done
    raise Conflict("others keep changing the table; rotate again with --resume")


def _reseal_place(
    table: OutsourcedTable, place: str, purpose: Purpose, bound: tuple[str | int, ...]
) -> int:
    try:
        version, sealed = table.fetch(place)
        if table.sealer.is_current(sealed):
            return 0
        table.store(
            place,
            table.sealer.seal(purpose, bound, table.sealer.open(purpose, bound, sealed)),
            version,
        )
    except (NotThere, Conflict):
        return 1  # it has changed meanwhile: look again
    return 1


def check_key(table: OutsourcedTable) -> None:
    """Raise unless the ring opens the rows of the table: looked at on the first of them."""
    for row in next(iter(table.rows())).rows[:1]:
        table.sealer.open("sequence", row.place, row.eseq)


def _reseal_rows(table: OutsourcedTable, page: list[CandidateRow]) -> int:
    fresh: list[list[int | str]] = []
    for row in page:
        if not table.sealer.is_current(row.eseq):
            fresh_text = table.sealer.seal(
                "sequence", row.place, table.sealer.open("sequence", row.place, row.eseq)
            )
            fresh.append([row.row, encode_base64(fresh_text)])
    if fresh:
        table.change_any(reseal=fresh)
    return len(fresh)


def _reseal_pending(table: OutsourcedTable) -> int:
    version = table.about()["version"]
    old = [
        (number, sealed)
        for number, sealed in table.pending()
        if not table.sealer.is_current(sealed)
    ][:_AT_ONCE]
    fresh = [
        table.sealer.seal("pending", (), table.sealer.open("pending", (), sealed))
        for _, sealed in old
    ]
    if old:
        try:
            table.change(
                version,
                remove_pending=[number for number, _ in old],
                pending=[encode_base64(one) for one in fresh],
            )
        except Conflict:
            return 1  # look again
    return len(old)


def _list_sealed_places(
    table: OutsourcedTable,
) -> Iterator[tuple[str, Purpose, tuple[str | int, ...]]]:
    """Where something is sealed, what for, and what it is bound to."""
    for tree in table.about()["trees"]:
        for leaf in table.details(tree.id).refined:
            yield table.subtree_place(tree.id, leaf), "subtree", (tree.id, leaf)
    yield OWNERS, "anatomy", sealed_content(table.anatomy)
    try:
        table.fetch(NAIVE)
    except NotThere:
        return
    yield NAIVE, "naive", ()
