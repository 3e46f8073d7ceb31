"""Show the owner how a table fits its schema: exactly, and to nobody else.

This is a look at private rows that nobody pays for. It is for whoever may see the rows anyway: an
:class:`~privet.Owner` in the process that reads them, and the owner's terminal. No curator has it,
no service offers it, nothing of it is in a model, a card or a ledger, and it cannot be pickled. A
fit goes on whatever it shows.

A schema that is changed because of such a look depends on rows, and a schema is public: what it
gives away then is covered by no epsilon.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from privet.domain import Schema
from privet.domain.attributes.base import PROBLEMS, What
from privet.domain.encode.columns import Columns
from privet.domain.encode.rows import ColumnCodes, encode
from privet.domain.encode.values import codes_of_plain, describe, raise_if_any
from privet.errors import PrivacyError
from privet.tables.base import Table
from privet.tables.memory import MemoryTable
from privet.text import join_some

#: So many rows are looked at, at most; a table that has none that does not fit is read by its
#: engine alone.
MOST_ROWS = 1_000_000
#: Rows that are looked at at a time.
BLOCK = 100_000

#: What becomes of a row with such an entry, where the schema does not say otherwise.
_EFFECTS: dict[What, str] = {
    "unlisted": "not counted",
    "null": "not counted",
    "not a number": "not counted",
    "not a date": "not counted",
    "out of range": "counted in the outermost bin",
}
#: What counts as missing in a column of numbers or dates, and may be meant otherwise.
_UNREAD: dict[What, str] = {
    "not a number": "holds text that is no number; if it spells amounts, say how in the schema "
    "(as in --column 'NAME=0..9000 as 1.234,50 €' of privet init)",
    "not a date": "holds text that is no ISO 8601 date such as 2024-12-31; rewrite it",
}
#: What whoever changes a schema after a look should know.
WARNING = (
    "A schema that you change because of this depends on the rows, and a schema is public: change "
    "it only as public knowledge explains (units, codes, the documentation of the data)."
)


@dataclass(frozen=True)
class ColumnMisfit:
    """Entries of a column that do not fit: how many, what is wrong with them and what to do, and
    what becomes of their rows. ``unread``: they are text that is no number or date.
    """

    column: str
    rows: int
    problem: str
    effect: str
    unread: bool = False


@dataclass(frozen=True, repr=False)
class TableCheck:
    """How a table fits its schema. Exact, and for the owner's eyes only.

    ``rows`` were looked at, of which ``fitting`` are counted; ``complete`` says whether those are
    all rows. ``misfits`` are the columns with entries that do not fit.
    """

    rows: int
    fitting: int
    complete: bool
    misfits: tuple[ColumnMisfit, ...]

    @property
    def fits(self) -> bool:
        """Whether there are rows, and nothing about them is odd."""
        return self.rows > 0 and not self.misfits

    def __str__(self) -> str:
        if self.rows == 0:
            return "  - the table has a header, and no rows"
        of = f"{self.rows} rows" if self.complete else f"the first {self.rows} rows"
        lines = [f"{self.fitting} of {of} fit the schema and are counted"]
        lines += [
            f"{misfit.problem}: {misfit.rows} of {of}, {misfit.effect}" for misfit in self.misfits
        ]
        return "\n".join(f"  - {line}" for line in lines)

    def __repr__(self) -> str:
        # a notebook keeps what it shows, and is sent to others
        return "<TableCheck: for the owner's eyes only; print it where nobody else looks>"

    def __reduce__(self) -> NoReturn:
        raise PrivacyError(
            "a look at private rows is not written: it is exact, and for the owner alone"
        )


def check_table(table: Table, schema: Schema) -> TableCheck:
    """Look at the rows of a table, for its owner; the schema's own choices (``on_unknown``,
    ``other``, ``missing``) are no misfits. Text that is no number or date is one all the same.

    Raises :class:`~privet.errors.SchemaMismatch` for what types and names tell already.
    """
    table.check_structure(schema)
    problems = table.problems(schema)
    raise_if_any((column, what) for column, what in problems if what not in _EFFECTS)
    rows = fitting = 0
    found: dict[tuple[str, What], int] = dict.fromkeys(problems, 0)
    values: list[set[int]] = [set() for _ in schema.names]
    unread = dict.fromkeys(schema.names, 0)
    complete = True
    for block, y in _read_blocks(table):
        # the engine has looked at all rows, and found nothing; constants of long tables stay unseen
        if rows >= (MOST_ROWS if problems else BLOCK):
            complete = False
            break
        encoded = encode(schema, block, y)
        n_rows = len(encoded.codes[0])
        rows, fitting = rows + n_rows, fitting + int(encoded.known(schema).sum())
        for seen, codes in zip(values, encoded.codes, strict=True):
            seen.update(np.unique(codes).tolist())
        for key, count in _count_misfits(schema, block, y):
            found[key] = found.get(key, 0) + count
        for name, count in _count_unread(schema, block, y):
            unread[name] += count
    misfits = [
        ColumnMisfit(column, count, _explain(schema, column, what), _EFFECTS[what])
        for (column, what), count in found.items()
    ]
    misfits += [_explain_unread(schema, name, count) for name, count in unread.items() if count]
    if complete and rows > 1:
        constants = _find_constants(schema, values, rows)
        misfits += [misfit for name, misfit in constants if not unread[name]]
    return TableCheck(rows, fitting, complete, tuple(misfits))


def _explain(schema: Schema, column: str, what: What) -> str:
    if column != schema.target or what != "unlisted":
        return describe(column, what)
    classes = join_some([repr(label) for label in schema.label.labels], ", ", 10)
    return (
        f"column {column!r} holds labels that are no class of the schema ({classes}); correct "
        "them, or list them as classes"
    )


def _explain_unread(schema: Schema, name: str, count: int) -> ColumnMisfit:
    attribute = schema.attributes[name]
    assert attribute.unreadable is not None
    column = attribute.column or name
    problem = f"column {column!r} {_UNREAD[attribute.unreadable]}"
    return ColumnMisfit(column, count, problem, f"counted as {attribute.missing}", unread=True)


def _find_constants(
    schema: Schema, values: list[set[int]], rows: int
) -> Iterator[tuple[str, ColumnMisfit]]:
    """Return the attributes of which all rows have one value."""
    for (name, attribute), seen in zip(schema.attributes.items(), values, strict=True):
        if len(seen) == 1 and attribute.size > 1 and seen != {attribute.size}:
            label = attribute.labels[next(iter(seen))]
            problem = (
                f"all entries of {name!r} fall into one of its {attribute.size} values or bins, "
                f"{label}: the unit may be another one, or the column tells nothing"
            )
            yield name, ColumnMisfit(attribute.column or name, rows, problem, "counted alike")


def _read_blocks(table: Table) -> Iterator[tuple[Any, Any]]:
    if isinstance(table, MemoryTable):
        yield table.held
        return
    for block in table.read_blocks(BLOCK):
        yield block, None


def _count_misfits(schema: Schema, block: Any, y: Any) -> Iterator[tuple[tuple[str, What], int]]:
    columns = Columns(schema, block, y, with_target=True)
    for name, column, attribute in schema.list_checks(columns.names()):
        entries = columns[name]
        codes = np.zeros(len(entries), dtype=np.uint8)
        ColumnCodes(attribute.diagnosis, entries).write(0, len(entries), codes)
        counts = np.bincount(codes, minlength=len(PROBLEMS)).tolist()
        for what, count in zip(PROBLEMS, counts, strict=True):
            if what is not None and count:
                yield (column, what), count


def _count_unread(schema: Schema, block: Any, y: Any) -> Iterator[tuple[str, int]]:
    """Count text that is neither blank nor what the column should hold, and passes for missing.

    A column of amounts in a spelling that nobody declared would tell nothing, in silence.
    """
    columns = Columns(schema, block, y, with_target=True)
    for name, attribute in schema.attributes.items():
        if attribute.unreadable is None or attribute.missing is None:
            continue
        column = columns[name]
        if column.numbers(0, 1) is not None or column.moments(0, 1) is not None:
            continue
        positions, entries = column.distinct(0, len(column))
        *codes, null = codes_of_plain(attribute.encoding, entries).tolist()
        unread = [
            code == null
            and isinstance(entry, str)
            and entry.strip() not in ("", attribute.missing_text)
            for entry, code in zip(entries, codes, strict=True)
        ]
        # position -1 is the last entry, null
        yield name, int(np.array([*unread, False])[positions].sum())
