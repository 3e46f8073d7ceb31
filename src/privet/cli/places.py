"""Where files are by default."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit


def ledger_beside(table: str) -> Path:
    """The ledger that lies beside a table's file, however the file is reached."""
    place = unquote(urlsplit(table).path.removeprefix("/")) if "://" in table else table
    path = Path(place).resolve()
    return path.with_name(path.name + ".ledger.sqlite")
