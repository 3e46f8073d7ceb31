"""Files of a run: each is there as a whole or not at all, and what cannot be read is told."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from experiments.papers.experiment import Row
from privet._atomic import write_atomically
from privet.errors import ParameterError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

T = TypeVar("T")


def make_folder(path: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ParameterError(f"cannot make the folder {path}: {error.strerror}") from None


def write_text(path: Path, text: str) -> None:
    """Write a file as a whole or not at all."""
    try:
        write_atomically(path, text.encode())
    except OSError as error:
        raise ParameterError(f"cannot write {path}: {error.strerror}") from None


def write_json(path: Path, data: Any) -> None:
    """Write JSON as a whole or not at all."""
    write_text(path, json.dumps(data) + "\n")


def read_json(path: Path, kind: type[T]) -> T:
    """What an earlier run wrote."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        told = None
    if not isinstance(told, kind):
        raise ParameterError(f"cannot read {path}; remove the folder to begin anew")
    return told


def write_csv(path: Path, rows: Sequence[Row]) -> None:
    """All lines; the columns are those of any of them. Six digits are more than any of the numbers
    is worth.
    """
    columns = dict.fromkeys(name for row in rows for name in row)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: f"{value:.6g}" if isinstance(value, float) else value for name, value in row.items()}
        for row in rows
    )
    write_text(path, text.getvalue())


def write_picture(path: Path, figure: Figure) -> str:
    """Save a picture as SVG, and give its text."""
    from privet.report.plots.style import save_figure

    save_figure(figure, path)
    return path.read_text(encoding="utf-8")
