"""Getting the table back."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path
from typing import TextIO

from privet.errors import Conflict, OutsourceError, SealError
from privet.outsource.cells import CellText
from privet.outsource.client.again import retry_step
from privet.outsource.client.table import OutsourcedTable
from privet.outsource.client.waiting import read_waiting_rows
from privet.outsource.private_files import private_file
from privet.outsource.sequence import open_true_entry


def export(table: OutsourcedTable, path: str | PathLike[str]) -> int:
    """Join all rows, page by page, and write them as CSV, those that wait for a group last; how
    many rows these are.

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
    for waits in waiting:
        writer.writerow(_texts_of_cells(waits.person))
    after = table.about()
    if after["version"] != about["version"]:
        raise Conflict("the table has changed")
    if (len(seen), len(waiting)) != (after["rows"], after["pending"]):
        raise OutsourceError(
            f"the server says that it has {after['rows']} rows and {after['pending']} that wait, "
            "but sent others"
        )
    return len(seen) + len(waiting)


def _texts_of_cells(cells: tuple[CellText, ...]) -> list[str]:
    return ["" if cell is None else cell for cell in cells]
