"""Read records and write reports as lines of CSV, one by one or table by table.

A report can leave as soon as its record has come. Records are cut as everywhere else
(:mod:`privet.tables.csv_lines`): a line at a time. A line that is no record gives a report too, of
a record about which nothing is known: whether there is a report must not depend on what a line
holds.

In the stream of one person a record with line breaks inside quotes (RFC 4180) is joined by
:func:`join_lines`, and gives one report. In a table of many people it is as many rows as it has
lines: whoever could open a quote would decide whether the lines of others give reports.

Where there is a ledger, reports are charged to it before they leave. A report costs epsilon for a
record *replaced* by another, and the number of reports is public. So a ledger's sum is right if its
neighbours have as many reports: one row replaced by another costs epsilon, and a person with up to
m rows, replaced by one with as many, costs m epsilon.
"""

from __future__ import annotations

import gzip
import re
import tempfile
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import Ledger
from privet.curator.account import Accounting
from privet.domain import Schema, text_of
from privet.domain.encode.scalars import NO_VALUE
from privet.domain.encode.values import raise_if_any
from privet.errors import ParameterError, TableError
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.mechanisms.randomness import Bits, uniform_below, uniform_order
from privet.tables.csv_lines import fields_of, header_of
from privet.tables.open import read_blocks
from privet.tables.sources.builtin import CSV
from privet.tables.sources.registry import load_registry

# Join lines of one person's records. Lines are joined only if that gives a whole record, with as
# many fields as the header; otherwise each line stands for itself.

#: So many lines are held back at most while a quote is open.
MOST_LINES = 1000


def join_lines(lines: Iterator[bytes], delim: str, n_fields: int) -> Iterator[bytes]:
    """Join lines into records, and yield each as soon as it is whole."""
    form, held = _Form(delim, n_fields), deque[bytes]()

    def following() -> bytes | None:
        return held.popleft() if held else next(lines, None)

    while (line := following()) is not None:
        if not form.opens(line):
            yield line
            continue
        parts, again = [line], 0
        while len(parts) < MOST_LINES and again < n_fields and (more := following()) is not None:
            parts.append(more)
            state = form.after(more)
            if state == "closed":
                break
            again += state == "open again"  # each is one more field, and there are only so many
        whole = b"".join(parts)
        if len(parts) > 1 and form.is_record(whole):
            yield whole
        else:
            yield line
            held.extendleft(reversed(parts[1:]))


class _Form:
    """What a record looks like. In bytes: a quote or a separator is never part of another character
    in UTF-8.
    """

    def __init__(self, delim: str, n_fields: int) -> None:
        d, inside = re.escape(delim), '(?:[^"]|"")*'
        field = f'(?:"{inside}"|[^"{d}][^{d}]*|)'
        opening = f'(?:{field}{d})*"{inside}'  # whole fields, and one that is quoted and not closed
        self._opening = re.compile(opening.encode())
        self._going_on = re.compile(f'{inside}("{d}{opening})?'.encode())
        self._record = re.compile(f"{field}(?:{d}{field}){{{n_fields - 1}}}".encode())

    def opens(self, line: bytes) -> bool:
        """Whether a quote is open at the end of a record's first line."""
        return b'"' in line and self._opening.fullmatch(line.rstrip(b"\r\n")) is not None

    def after(self, line: bytes) -> Literal["open", "open again", "closed"]:
        """What has become of it at the end of a further line: another field may have been
        opened.
        """
        if b'"' not in line:
            return "open"
        match = self._going_on.fullmatch(line.rstrip(b"\r\n"))
        return "closed" if match is None else "open" if match[1] is None else "open again"

    def is_record(self, text: bytes) -> bool:
        """Whether these lines are one record."""
        return self._record.fullmatch(text.rstrip(b"\r\n")) is not None


_PLAIN = re.compile(r"[\w.+ -]*[\w.+-]")


def records_of(
    lines: Iterable[bytes], schema: Schema, name: str, *, over_lines: bool
) -> Iterator[dict[str, Any]]:
    """Parse lines into records; the first line names the columns.

    Empty lines are no records. The header is checked at once.

    ``over_lines``: whether a record may go over several of them.
    """
    source = iter(lines)
    delim, names = header_of(next(source, b""), name)
    raise_if_any(
        (column, "absent") for column in _needed_columns(schema, names) if column not in names
    )
    return _split_records(
        join_lines(source, delim, len(names)) if over_lines else source, delim, names
    )


def _needed_columns(schema: Schema, present: Sequence[str] = ()) -> list[str]:
    """Return the columns of a table that records are read from: attributes and class."""
    return list(dict.fromkeys([*schema.find_columns(present).values(), schema.target]))


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
    """Return the first line of a file of reports."""
    return ",".join(map(_quote_field, columns)) + "\n"


def report_line(report: Mapping[str, Any]) -> str:
    """Write one report as a line.

    What was not reported is left out entirely; an empty text is quoted.
    """
    return (
        ",".join(
            "" if value is None or value != value else _quote_field(text_of(value))
            for value in report.values()
        )
        + "\n"
    )


def _quote_field(text: str) -> str:
    return text if _PLAIN.fullmatch(text) else '"' + text.replace('"', '""') + '"'


# Shuffle lines, however many there are.

#: So many piles, of which one at a time is in memory.
PILES = 64
_BLOCK = 1 << 14


def shuffle_lines(lines: Iterable[str], bits: Bits) -> Iterator[str]:
    """Shuffle lines, each with its end, into an exactly uniform order.

    They are dealt at random to piles in unnamed files, and each pile is put into a random order
    (Rao 1961, Sandelius 1962). The first line comes when the last was taken.
    """
    with ExitStack() as stack:
        piles = [
            stack.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline="\n"))
            for _ in range(PILES)
        ]
        _deal(iter(lines), piles, bits)
        for pile in piles:
            mine = pile.readlines()
            for place in uniform_order(bits, len(mine)):
                yield mine[place]


def _deal(lines: Iterator[str], piles: Sequence[TextIO], bits: Bits) -> None:
    while block := list(islice(lines, _BLOCK)):
        drawn = uniform_below(bits, np.full(len(block), len(piles), dtype=np.uint64))
        try:
            for line, pile in zip(block, drawn, strict=True):
                piles[pile].write(line)
            for pile in piles:
                pile.flush()
        except OSError as error:
            raise TableError(
                f"reports could not be kept in {tempfile.gettempdir()} ({error.strerror}); "
                "make room there, or name another folder in the environment variable TMPDIR"
            ) from None
    for pile in piles:
        pile.seek(0)


# Read a table block by block. No row is left out, whatever it holds.

#: Lines at a time.
BLOCK = 1 << 14


def blocks_of(place: str, schema: Schema) -> Iterator[Any]:
    """Read the rows of a table as data frames.

    Where the schema names a person, whose rows may lie anywhere, it is a single one.

    Lines of a CSV file that are no records are rows about which nothing is known. Counting leaves
    them out; here nobody may be left out for what their line holds.
    """
    import pandas as pd

    path = Path(place).resolve()
    lines = "://" not in place and load_registry().find_file(path) is CSV
    blocks = _read_csv_blocks(path, schema) if lines else read_blocks(place)
    if schema.person is None:
        yield from blocks
    else:
        yield pd.concat(list(blocks), ignore_index=True)


def _read_csv_blocks(path: Path, schema: Schema) -> Iterator[Any]:
    import pandas as pd

    # Bytes as they are, in lines that end as they do where they are counted: with a line feed, a
    # carriage return, or both.
    with (
        gzip.open(path, "rt", encoding="latin-1")
        if path.suffix == ".gz"
        else path.open(encoding="latin-1") as file
    ):
        lines = (line.encode("latin-1") for line in file)
        records = records_of(lines, schema, str(path), over_lines=False)
        first = list(islice(records, BLOCK))
        columns = (
            list(first[0])
            if first
            else [*_needed_columns(schema), *([schema.person] if schema.person else [])]
        )
        block = first
        while True:
            yield pd.DataFrame(block, columns=columns, dtype=object)
            block = list(islice(records, BLOCK))
            if not block:
                return


# Charge randomised records to a ledger: epsilon for a record replaced (see the module's docstring).

#: As it stands in a ledger.
OF_TABLE = "randomised records of a table"
OF_STREAM = "one randomised record"


def check_neighbours(schema: Schema) -> None:
    """Raise unless neighbouring tables have the same number of rows, and so of reports."""
    if schema.neighbours != "replace":
        raise ParameterError(
            "neighbours must be 'replace' in the schema of a table that is randomised, got "
            f"{schema.neighbours!r}: there are as many reports as rows, so a row added or removed "
            "cannot be hidden. Declare it, before the first question is asked, in the schema that "
            "you give: privet schema declare SCHEMA --neighbours replace -o SCHEMA"
        )
    if schema.rows_per_person > 1 and schema.n_rows is None:
        raise ParameterError(
            "n_rows must be declared in the schema of a table that is randomised where a person "
            f"may have {schema.rows_per_person} rows: there are as many reports as rows, so a "
            "person with more rows than another cannot be hidden. Declare it: privet schema "
            "declare SCHEMA --rows N -o SCHEMA"
        )


def charge_table(account: Accounting, randomizer: Randomizer | LeafRandomizer) -> None:
    """Charge the reports of a whole table.

    Cost: pure epsilon for each row that a person may have. Neighbours: one row, or person, replaced
    by another with as many rows.
    """
    check_neighbours(account.schema)
    account.charge_promised(
        Cost.pure(randomizer.epsilon * account.schema.rows_per_person), OF_TABLE
    )


class StreamAccount(Accounting):
    """The account of one person whose records come one by one.

    Each is charged epsilon before its report leaves, so that all add up.
    """

    def __init__(
        self,
        randomizer: Randomizer | LeafRandomizer,
        budget: Budget | None,
        ledger: Ledger,
        dataset: str,
        analyst: str,
    ) -> None:
        self._schema, self._dataset = randomizer.schema, dataset
        self._ledger, self._analyst = ledger, analyst
        self._bits, self._account, self._cost = randomizer.bits, "", randomizer.cost
        self._open_account(budget)

    def charge(self) -> None:
        """Charge one record, durably, or raise :class:`~privet.errors.BudgetExceeded`."""
        self.charge_promised(self._cost, OF_STREAM)
