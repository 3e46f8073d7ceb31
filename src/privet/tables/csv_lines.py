"""Read CSV files so that one line never changes how another is read.

A usual CSV reader guesses its dialect from rows, and an unclosed quote makes it swallow the lines
that follow. Adding one row could then move many others, and the sensitivity that all noise is
scaled by would not hold. So a row is a line here: DuckDB reads lines, and every line is cut into
fields by itself. The separator comes from the header line alone. A line ends with a line feed, a
carriage return, or both, wherever they stand: DuckDB takes either, whatever it is told. Line breaks
inside quotes are not supported; the owner's check says so.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from pathlib import Path
from typing import Any

from privet.domain import Schema
from privet.errors import ParameterError, TableError
from privet.tables.dialect import quote_identifier

# A quoted field, or one that does not begin with a quote, or nothing.
_FIELD = '"(?:[^"]|"")*"|[^"{d}][^{d}]*|'


BoundSQL = tuple[str, dict[str, Any]]


def csv_relation(path: Path) -> tuple[BoundSQL, BoundSQL]:
    """Return the table, and a test whether some line is no record.

    Each is SQL with its bound values.
    """
    delim, names = _read_header(path)
    d = re.escape(delim)
    field = _FIELD.format(d=d)
    parameters = {
        "path": str(path),
        "delim": delim,
        "field": f"{d}({field})",
        "unused": "\x1f",
    }
    # A separator in front lets every field begin with one: after an empty match, the next would not
    # be found.
    fields = (
        "CASE WHEN contains(line, '\"') THEN regexp_extract_all($delim || line, $field, 1) ELSE "
        "string_split(line, $delim) END"
    )
    columns = ", ".join(
        f"{_unquote_expression(i)} AS {quote_identifier(name)}"
        for i, name in enumerate(names, start=1)
    )
    cut = f"SELECT {fields} AS f FROM {_lines_expression(ignore_errors=True)}"
    table = f"(SELECT {columns} FROM ({cut}) WHERE len(f) = {len(names)})"
    whole = f"len({fields}) = {len(names)} AND regexp_full_match(line, $record)"
    broken = (
        f"SELECT coalesce(bool_or(NOT ({whole})), false) FROM "
        f"{_lines_expression(ignore_errors=False)} WHERE "
        "line <> ''"
    )
    record = f"(?:{field})(?:{d}(?:{field}))*"
    return (table, parameters), (broken, {**parameters, "record": record})


def _lines_expression(*, ignore_errors: bool) -> str:
    """Return the lines below the header. No quotes, no separator: a line is one field."""
    options = (
        "auto_detect = false, header = false, skip = 1, delim = $unused, quote = '', escape = '', "
        "new_line = '\\n', "
        "strict_mode = false, hive_partitioning = false, columns = {'line': 'VARCHAR'}"
    )
    source = f"read_csv($path, {options}, ignore_errors = {str(ignore_errors).lower()})"
    return f"(SELECT rtrim(line, chr(13)) AS line FROM {source})"


def _unquote_expression(position: int) -> str:
    """Return a field without its quotes; nothing at all is null."""
    field = f"f[{position}]"
    unquoted = f"replace({field}[2:-2], '\"\"', '\"')"
    return (
        f"CASE WHEN {field} = '' THEN NULL WHEN starts_with({field}, '\"') THEN {unquoted} ELSE "
        f"{field} END"
    )


def _read_header(path: Path) -> tuple[str, list[str]]:
    """Return the separator that cuts the header line into most names, and the names."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            return header_of(file.readline(1 << 20), str(path))
    except (OSError, EOFError, zlib.error):
        raise _no_header(str(path)) from None


def header_of(line: bytes, path: str) -> tuple[str, list[str]]:
    """Return separator and names, from the first line of a file or stream."""
    try:
        text = line.decode("utf-8-sig").rstrip("\r\n")
        cuts = {delim: next(csv.reader([text], delimiter=delim), []) for delim in ",;\t|"}
    except (UnicodeDecodeError, csv.Error):
        raise _no_header(path, line) from None
    delim = max(cuts, key=lambda d: len(cuts[d]))
    names = [name or f"column {i}" for i, name in enumerate(cuts[delim], start=1)]
    if not names:
        raise TableError(f"cannot read {path} as CSV: it is empty, and needs a header line")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise TableError(f"cannot read {path} as CSV: the header names column {twice[0]!r} twice")
    return delim, names


def fields_of(line: str, delim: str) -> list[str | None]:
    """Return the fields of one line, as the table has them: for lines that come one by one.

    Nothing at all is None.
    """
    field = _FIELD.format(d=re.escape(delim))
    cut = (
        re.findall(f"{re.escape(delim)}({field})", delim + line)
        if '"' in line
        else line.split(delim)
    )
    return [
        None if not text else text[1:-1].replace('""', '"') if text.startswith('"') else text
        for text in cut
    ]


def check_lines(schema: Schema) -> None:
    """Raise where a name or value of the schema cannot stand in one line of a CSV file."""
    texts = [*schema.names, schema.target, *schema.label.labels]
    texts += [label for attribute in schema.attributes.values() for label in attribute.labels]
    if any(char in text for text in texts for char in "\r\n"):
        raise ParameterError(
            "a name or value of the schema holds a line break, which a line of CSV cannot; rename "
            "it"
        )


def _no_header(path: str, line: bytes = b"") -> TableError:
    found = " (it is UTF-16)" if line[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) else ""
    return TableError(
        f"cannot read {path} as CSV: it must be UTF-8 text with a header line{found}; "
        "save it as UTF-8 (in a spreadsheet: CSV UTF-8)"
    )
