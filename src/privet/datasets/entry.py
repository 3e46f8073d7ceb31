"""What a catalogue entry holds: a set that is computed, or one that is read or fetched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.resources import files

from privet.datasets.canonical import CellTexts, columns_of
from privet.datasets.uci import Archive
from privet.schema import Schema

CC_BY = "CC BY 4.0 (as stated by UCI)"


@dataclass(frozen=True, kw_only=True)
class CatalogEntry:
    """What is known about every set."""

    name: str
    rows: int
    summary: str
    source: str
    licence: str = CC_BY
    schema_file: str | None = None

    def schema(self) -> Schema:
        """Its public schema. The number of rows is left for the user to declare."""
        file = files("privet.datasets") / "schemas" / f"{self.schema_file or self.name}.json"
        return Schema.from_json(json.loads(file.read_text(encoding="utf-8")))


@dataclass(frozen=True, kw_only=True)
class Generated(CatalogEntry):
    """A set that is computed: ``generate`` gives its rows, the class last."""

    generate: Callable[[], Iterable[tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Fetched(CatalogEntry):
    """A set that is read or fetched: the archive, and the canonical hash of its raw table.

    ``raw_columns`` stand in the raw table in place of the class, which ``derive`` then adds.
    ``targets`` are the columns that may be asked for as the class.
    """

    archive: Archive
    sha256: str
    raw_columns: dict[str, bool] | None = None
    derive: Callable[[CellTexts, str], CellTexts] | None = None
    targets: tuple[str, ...] = ()

    def columns(self) -> dict[str, bool]:
        """The columns of the raw table, and which of them hold numbers."""
        columns = columns_of(self.schema())
        if self.raw_columns is not None:
            columns.popitem()
            columns |= self.raw_columns
        return columns
