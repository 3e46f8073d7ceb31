"""Finished cells are kept in the folder of a run, one file each, so that a run that was ended goes
on where it was.
"""

from __future__ import annotations

import json
from pathlib import Path

from experiments.papers.experiment import Cell, Row
from experiments.papers.files import make_folder, write_json

_VERSION = 1


class Kept:
    """The cells that a folder has."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "cells"
        make_folder(self._folder)

    def get(self, cell: Cell) -> list[Row] | None:
        """The lines of a cell, or None where it is not there, is damaged or is of another version:
        then it is done again.
        """
        try:
            told = json.loads(self._file(cell).read_text(encoding="utf-8"))
            fits = (
                told["privet"] == "cell"
                and told["kept"] == _VERSION
                and told["identity"] == json.loads(json.dumps(cell.identity))
            )
            rows = told["rows"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return (
            rows
            if fits and isinstance(rows, list) and all(isinstance(row, dict) for row in rows)
            else None
        )

    def put(self, cell: Cell, rows: list[Row], seconds: float) -> None:
        """Keep what a cell gave. What is kept are lines about public data: accuracies, never a row
        or a count of it.
        """
        write_json(
            self._file(cell),
            {
                "privet": "cell",
                "kept": _VERSION,
                "identity": cell.identity,
                "processor_seconds": round(seconds, 3),
                "rows": rows,
            },
        )

    def _file(self, cell: Cell) -> Path:
        return self._folder / f"{cell.name}-{cell.key}.json"
