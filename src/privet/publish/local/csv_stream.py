"""Records and reports as lines of CSV, one by one: a report can leave as soon as its record has
come.

Records are cut as everywhere else (:mod:`privet.counts.csv_lines`): a line at a time. A line that
is no record gives a report too, of a record about which nothing is known: whether there is a report
must not depend on what a line holds. In the stream of one person a record with line breaks inside
quotes is put together (:mod:`~privet.publish.local.csv_joined`), and gives one report. In a table
of many people it is as many rows as it has lines: whoever could open a quote would decide whether
the lines of others give reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from privet.counts.csv_lines import fields_of, header_of
from privet.publish.local.csv_joined import join_lines
from privet.schema import Schema, text_of
from privet.schema.entries import NO_VALUE
from privet.schema.problems import raise_if_any

_PLAIN = re.compile(r"[\w.+ -]*[\w.+-]")


def records_of(
    lines: Iterable[bytes], schema: Schema, name: str, *, over_lines: bool
) -> Iterator[dict[str, Any]]:
    """The records of some lines, of which the first names the columns. Empty lines are none. The
    header is checked at once.

    ``over_lines``: whether a record may go over several of them.
    """
    source = iter(lines)
    delim, names = header_of(next(source, b""), name)
    raise_if_any(
        (column, "absent") for column in (*schema.names, schema.target) if column not in names
    )
    return _split_records(
        join_lines(source, delim, len(names)) if over_lines else source, delim, names
    )


def _split_records(
    lines: Iterable[bytes], delim: str, names: list[str]
) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            text = line.decode("utf-8").rstrip("\n").rstrip("\r")
        except UnicodeDecodeError:
            yield dict.fromkeys(names, NO_VALUE)
            continue
        if text:
            fields = fields_of(text, delim)
            yield (
                dict(zip(names, fields, strict=True))
                if len(fields) == len(names)
                else dict.fromkeys(names, NO_VALUE)
            )


def header_line(columns: Iterable[str]) -> str:
    """The first line of a file of reports."""
    return ",".join(map(_quote_field, columns)) + "\n"


def report_line(report: Mapping[str, Any]) -> str:
    """One report as a line. What was not reported is nothing at all; an empty text is quoted."""
    return (
        ",".join(
            "" if value is None or value != value else _quote_field(text_of(value))
            for value in report.values()
        )
        + "\n"
    )


def _quote_field(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'
