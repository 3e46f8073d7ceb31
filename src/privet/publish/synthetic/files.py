"""A synthetic table as a file, with what it gives away: Parquet (in its metadata) or CSV, and a
card beside it.
"""

from __future__ import annotations

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path

from privet.counts.csv_lines import check_lines
from privet.counts.sql import quote_identifier
from privet.errors import ParameterError, TableError
from privet.publish.synthetic.card import render_table_card
from privet.publish.synthetic.synthesize import SyntheticTable
from privet.schema import Schema, text_of

SUFFIXES = (".parquet", ".csv")


def card_path(path: Path) -> Path:
    """Where the card of a table lies."""
    return path.with_name(path.name + ".card.md")


def check_suffix(path: Path) -> None:
    """Raise unless the name tells a kind of file that can be written."""
    if path.suffix.lower() not in SUFFIXES:
        raise ParameterError(
            f"a synthetic table is written to a .parquet or .csv file, got {path.name}"
        )


def check_file(path: Path, schema: Schema) -> None:
    """Raise unless rows of this schema can be written there and read again."""
    check_suffix(path)
    names = [*schema.names, schema.target]
    if len({name.lower() for name in names}) < len(names):
        raise ParameterError(
            "a file cannot hold columns whose names differ in upper and lower case only; rename "
            "one in the schema"
        )
    if path.suffix.lower() == ".csv":
        check_lines(schema)


def write_table(table: SyntheticTable, path: Path) -> None:
    """Write the table, whole or not at all, and its card."""
    check_file(path, table.schema)
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    beside = card_path(path)
    card = beside.with_name(f".{beside.name}.{secrets.token_hex(8)}.part")
    try:
        card.write_text(render_table_card(table), encoding="utf-8")
        _copy(table, partial, path.suffix.lower()[1:])
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        card.replace(beside)  # first: a table never lies there without its card
        try:
            partial.replace(path)
        except OSError:
            beside.unlink()
            raise
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror or error}") from None
    finally:
        for left in (partial, card):
            with suppress(OSError):
                left.unlink()


def _copy(table: SyntheticTable, path: Path, kind: str) -> None:
    import duckdb
    from pandas.api.types import is_numeric_dtype

    frame = table.frame.copy(deep=False)
    texts = [name for name, dtype in frame.dtypes.items() if not is_numeric_dtype(dtype)]
    for name in texts:
        # values of several kinds have one type in a file
        frame[name] = [text_of(value) for value in frame[name]]
    if kind == "csv":  # in quotes an empty text is not null
        names = ", ".join(map(quote_identifier, texts))
        options = f"FORMAT csv, HEADER{f', FORCE_QUOTE ({names})' if texts else ''}"
    else:
        said = json.dumps(
            {
                "synthetic": True,
                "promise": table.privacy.describe(),
                "privacy": table.privacy.to_json(),
            }
        )
        options = f"FORMAT parquet, COMPRESSION zstd, KV_METADATA {{privet: {_literal(said)}}}"
    with duckdb.connect() as connection:
        connection.register("synthetic", frame)
        try:
            # COPY takes no parameters: path and text are literals, with quotes doubled.
            connection.execute(f"COPY synthetic TO {_literal(str(path))} ({options})")
        except duckdb.Error as error:
            raise OSError(str(error)) from None


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
