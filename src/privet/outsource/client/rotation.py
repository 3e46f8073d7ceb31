"""Re-seal everything at the server with the current key, or fetch the whole table back.

A rotation can be interrupted and started again.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import TextIO

from privet.errors import Conflict, NotThere, OutsourceError, SealError
from privet.outsource.anatomy import CellText
from privet.outsource.cipher.sealing import Purpose, open_true_entry, sealed_content
from privet.outsource.client.learners import NAIVE
from privet.outsource.client.replies import CandidateRow, encode_base64
from privet.outsource.client.table import OWNERS, OutsourcedTable, retry_step
from privet.outsource.client.updates import read_waiting_rows
from privet.outsource.files import private_file

#: Passes over everything; each but the last seals something anew, or sees a change.
_ROTATION_TRIES = 100
_AT_ONCE = 5000


def rotate(table: OutsourcedTable) -> int:
    """Re-seal what older keys of the ring sealed, and return how many texts that were.

    All of them are as of one version, or an error is raised.
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
    """Raise unless the ring opens the rows of the table.

    Only the first row is looked at.
    """
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
    ]
    gone: list[int] = []
    fresh: list[str] = []
    for number, sealed in old:
        if len(gone) == _AT_ONCE:
            break
        with suppress(
            SealError
        ):  # what no key opens stays as it is: there is nothing in it to lose
            text = table.sealer.open("pending", (), sealed)
            fresh.append(encode_base64(table.sealer.seal("pending", (), text)))
            gone.append(number)
    if gone:
        try:
            table.change(version, remove_pending=gone, pending=fresh)
        except Conflict:
            return 1  # look again
    return len(gone)


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


# Fetching the table back.


def export(table: OutsourcedTable, path: str | PathLike[str]) -> int:
    """Join all rows, page by page, write them as CSV, and return how many there are.

    Those that wait for a group come last.

    The file is for its owner only, and of one version of the table: it is begun again where that
    changes meanwhile.
    """

    def whole() -> int:
        with private_file(Path(path)) as file:
            return _write_rows(table, file)

    return retry_step(whole)


def _write_rows(table: OutsourcedTable, file: TextIO) -> int:
    about = table.about()
    writer = csv.writer(file)
    writer.writerow([*table.anatomy.columns, table.anatomy.sensitive])
    seen: set[int] = set()
    for page in table.rows():
        table.holds(len(page.rows))
        if page.version != about["version"]:
            raise Conflict("the table has changed")
        for row in page.rows:
            seq, value = open_true_entry(table.sealer, row.eseq, row.place)
            if seq in seen:
                raise SealError
            seen.add(seq)
            writer.writerow(_texts_of_cells((*row.cells, value)))
    waiting = read_waiting_rows(table)
    for waits in waiting.rows:
        writer.writerow(_texts_of_cells(waits.person))
    after = table.about()
    if after["version"] != about["version"]:
        raise Conflict("the table has changed")
    if (len(seen), waiting.n_texts) != (after["rows"], after["pending"]):
        raise OutsourceError(
            f"the server says that it has {after['rows']} rows and {after['pending']} that wait, "
            "but sent others"
        )
    return len(seen) + len(waiting.rows)


def _texts_of_cells(cells: tuple[CellText, ...]) -> list[str]:
    return ["" if cell is None else cell for cell in cells]
