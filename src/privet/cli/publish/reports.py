"""How ``privet publish randomize`` makes reports: of records that come one by one, or of a table;
charged before anything is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from privet.errors import PrivetError


def randomize_stream(
    made: Any, stream: Any, budget: str | None, ledger: Path | None, analyst: str | None
) -> Iterator[str]:
    """The lines of reports of records that come one by one. With a ledger, each record is charged
    before its report leaves.
    """
    from privet.budget import Budget
    from privet.cli.asking import DEFAULT_BUDGET
    from privet.errors import ParameterError
    from privet.ledger import SQLiteLedger
    from privet.publish.local.account import StreamAccount
    from privet.publish.local.csv_stream import header_line, records_of, report_line

    if ledger is None and (budget is not None or analyst is not None):
        raise ParameterError("--budget and --analyst need a ledger: say which with --ledger FILE")
    cap, name = None if budget is None else Budget(budget), "standard input"
    # the header is looked at before a ledger learns a budget
    records = records_of(stream, made.schema, name, over_lines=True)
    account = None
    if ledger is not None:
        book = SQLiteLedger(ledger)
        cap = Budget(DEFAULT_BUDGET) if cap is None and book.cap(name) is None else cap
        account = StreamAccount(made, cap, book, name, "owner" if analyst is None else analyst)
    yield header_line(made.columns)
    for record in records:
        if account is not None:
            account.charge()
        yield report_line(made.one(record))


def randomize_table(
    made: Any, place: str, budget: str | None, ledger: Path | None, analyst: str | None
) -> Iterator[str]:
    """The lines of reports of a table, which is charged first, in a random order: that of a table
    may depend on what rows hold.
    """
    from privet.cli.asking import TablePlace
    from privet.publish.local.account import charge_table, check_neighbours
    from privet.publish.local.csv_stream import header_line, report_line
    from privet.publish.local.shuffling import shuffle_lines
    from privet.publish.local.tables import blocks_of

    check_neighbours(made.schema)
    charge_table(
        TablePlace(
            place, made.schema, budget, ledger, "owner" if analyst is None else analyst
        ).curator(str(made.epsilon)),
        made,
    )
    yield header_line(made.columns)
    reports = (made.many(block) for block in blocks_of(place, made.schema))
    rows = (
        dict(zip(some.columns, values, strict=True))
        for some in reports
        for values in some.itertuples(index=False, name=None)
    )
    lines = map(report_line, rows)
    yield from shuffle_lines(lines, made.bits)


def write_reports(lines: Iterator[str], file: TextIO) -> tuple[int, PrivetError | None]:
    """How many reports were written, and what stopped them: where a ledger refuses a record, the
    ones before it are paid for and stay.
    """
    import sys

    from privet.errors import BudgetExceeded, LedgerError

    number = -1  # the first line is no report
    try:
        for line in lines:
            file.write(line)
            number += 1
            if file is sys.stdout:  # somebody may wait for it
                file.flush()
    except (BudgetExceeded, LedgerError) as error:
        if number < 1:
            raise
        return number, error
    return number, None


@contextmanager
def atomic_output(output: Path) -> Iterator[TextIO]:
    """A file that is there as a whole or not at all."""
    from privet.errors import TableError
    from privet.whole_file import atomic_file

    try:
        with (
            atomic_file(output) as partial,
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            yield file
    except OSError as error:
        raise TableError(f"cannot write {output}: {error.strerror}") from None
