"""Getting the table back."""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

from privet.errors import OutsourceError
from privet.outsource.cells import Cell
from privet.outsource.client.table import OutsourcedTable
from privet.outsource.client.waiting import waiting_rows
from privet.outsource.sequence import true_entry


def export(table: OutsourcedTable, path: str | PathLike[str]) -> int:
    """Join all rows, page by page, and write them as CSV, as a whole or not at all. Those that wait for a group come last."""
    anatomy = table.anatomy
    target = Path(path)
    partial = target.with_name(target.name + ".part")
    done = 0
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*anatomy.columns, anatomy.sensitive])
            for page in table.rows():
                table.holds(len(page.rows))
                for row in page.rows:
                    _, value = true_entry(table.sealer, row.eseq, row.place)
                    writer.writerow(_texts([*row.cells, value]))
                    done += 1
            for waits in waiting_rows(table):
                writer.writerow(_texts(waits.person))
                done += 1
        partial.replace(target)
    except OSError as error:
        raise OutsourceError(f"cannot write {target}: {error.strerror}") from None
    finally:
        partial.unlink(missing_ok=True)
    return done


def _texts(cells: list[Cell] | tuple[Cell, ...]) -> list[str]:
    return ["" if cell is None else cell for cell in cells]
