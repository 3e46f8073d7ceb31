"""Where files are by default."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from privet.errors import ParameterError


def ledger_beside(table: str) -> Path:
    """The ledger that lies beside a table's file, however the file is reached."""
    if table.startswith(("postgresql://", "postgres://")):
        raise ParameterError("a table in PostgreSQL has no file beside which a ledger could lie; say where with --ledger FILE")
    place = unquote(urlsplit(table).path.removeprefix("/")) if "://" in table else table
    path = Path(place).resolve()
    return path.with_name(path.name + ".ledger.sqlite")
