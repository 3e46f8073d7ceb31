"""A synthetic table as a file, with what it gives away: Parquet (in its metadata) or CSV, and a card beside it."""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

import numpy as np

from privet.errors import ParameterError, TableError
from privet.publish.synthetic.card import table_card
from privet.publish.synthetic.synthesize import SyntheticTable
from privet.schema import text_of

SUFFIXES = (".parquet", ".csv")


def card_path(path: Path) -> Path:
    """Where the card of a table lies."""
    return path.with_name(path.name + ".card.md")


def check_suffix(path: Path) -> None:
    """Raise unless the name tells a kind of file that can be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(f"a synthetic table is written to a .parquet or .csv file, got {path.name}")


def write_table(table: SyntheticTable, path: Path) -> None:
    """Write the table, whole or not at all, and its card."""
    check_suffix(path)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    beside = card_path(path)
    card = beside.with_name(f".{beside.name}.{secrets.token_hex(8)}.part")
    try:
        card.write_text(table_card(table), encoding="utf-8")
        if path.suffix.lower() == ".csv":
            table.frame.to_csv(partial, index=False)
        else:
            _write_parquet(table, partial)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        card.replace(beside)  # first: a table never lies there without its card
        partial.replace(path)
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        partial.unlink(missing_ok=True)
        card.unlink(missing_ok=True)


def _write_parquet(table: SyntheticTable, path: Path) -> None:
    import duckdb

    said = json.dumps({"synthetic": True, "promise": table.privacy.describe(), "privacy": table.privacy.to_json()})
    frame = table.frame.copy(deep=False)
    for name in [name for name, kind in frame.dtypes.items() if kind == np.dtype(object)]:
        frame[name] = [text_of(value) for value in frame[name]]  # values of several kinds have one type in a file
    with duckdb.connect() as connection:
        connection.register("synthetic", frame)
        # COPY takes no parameters: path and text are literals, with quotes doubled.
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{privet: {_literal(said)}}}"
        try:
            connection.execute(f"COPY synthetic TO {_literal(str(path))} ({options})")
        except duckdb.Error as error:
            raise OSError(str(error)) from None


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
