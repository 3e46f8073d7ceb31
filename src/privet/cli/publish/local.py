"""``privet publish randomizer``, ``randomize`` and ``learn``: records that people randomise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from privet.cli.options import ANALYST, BUDGET, FORCE, JSON, LEDGER, PLACES

if TYPE_CHECKING:
    from privet.errors import PrivetError
    from privet.local import LeafRandomizer, Randomizer


SCHEMA = typer.Option(None, "--schema", "-s", help="The public schema of the records (JSON).")
EPSILON = typer.Option(None, "--epsilon", "-e", help="What a record costs, such as 1, 0.1 or 1/3.")
SPREAD = typer.Option(
    None,
    "--spread",
    help=(
        "'sample' (the default): a few attributes, drawn at random, with all of epsilon; 'split': "
        "all, with a share each."
    ),
)
TOGETHER = typer.Option(
    None,
    "--together",
    "-t",
    help="With --spread sample: how many attributes are drawn (by default 1).",
)
CLASS_SHARE = typer.Option(
    None,
    "--class-share",
    help="With --spread split: the share of epsilon for the class (by default 1/3).",
)
PLAN = typer.Option(
    None,
    "--plan",
    "-p",
    help="Report a leaf of one tree of this plan (privet federation plan) instead of values.",
)
BESIDE = ".randomizer.json"
LEARNERS = ("additive", "greedy-tree", "forest", "random-trees", "noisy-id3")


def randomizer(
    output: Path = typer.Option(
        ..., "--output", "-o", help="Where to write the public file (JSON)."
    ),
    schema: Path | None = SCHEMA,
    epsilon: str | None = EPSILON,
    spread: str | None = SPREAD,
    together: int | None = TOGETHER,
    class_share: str | None = CLASS_SHARE,
    plan: Path | None = PLAN,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Write the public file by which all people randomise their records alike. Sees no data and
    charges nothing.

    Publish it: people can check what it does to a record, and the collector needs it to learn from
    reports.

    Example: [bold]privet publish randomizer --schema people.schema.json --epsilon 2 -o
    people.randomizer.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.local import write_randomizer

    check_apart([output], None, None, schema, plan)
    check_writable(output, force=force)
    made = _make_randomizer(schema, epsilon, spread, together, class_share, plan)
    write_randomizer(made, output)
    if as_json:
        typer.echo(
            json.dumps(
                {
                    "randomizer": str(output),
                    "epsilon": str(made.epsilon),
                    "reports": list(made.columns),
                }
            )
        )
        return
    typer.echo(
        f"{output}: a record costs epsilon {float(made.epsilon):.6g}, locally; a report has "
        f"{', '.join(made.columns)}"
    )


def randomize(
    records: str = typer.Argument(
        "-",
        help=f"The table: {PLACES}; by default -, CSV on standard input.",
    ),
    randomizer: Path | None = typer.Option(
        None, "--randomizer", "-r", help="The public file that the collector gave out."
    ),
    schema: Path | None = SCHEMA,
    epsilon: str | None = EPSILON,
    spread: str | None = SPREAD,
    together: int | None = TOGETHER,
    class_share: str | None = CLASS_SHARE,
    plan: Path | None = PLAN,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to write the reports (CSV); by default standard output."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    force: bool = FORCE,
) -> None:
    """Randomise records, one report for each, so that nobody needs to be trusted with them.

    On a person's own side, records come on standard input: each report leaves as soon as its record
    has come, and there is no ledger, for a person has no table that others ask about. With
    --ledger, each record is charged before its report leaves. Whoever does it again with the same
    record pays again. A table of other people is charged to the ledger beside it, before a row is
    read; twice adds up. There are as many reports as rows, so its schema must say neighbours:
    replace.

    Without --randomizer, the public file is written beside the output: REPORTS.csv.randomizer.json.

    Example: [bold]privet publish randomize --randomizer people.randomizer.json < me.csv[/bold], or
    for a table: [bold]privet publish randomize people.csv --schema people.schema.json --epsilon 2
    -o reports.csv[/bold]
    """
    import sys

    from privet.accounting.statement import format_rounded_up
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.errors import ParameterError
    from privet.local import read_randomizer, write_randomizer
    from privet.tables.csv_lines import check_lines

    given = [schema, epsilon, spread, together, class_share, plan]
    if randomizer is not None and any(option is not None for option in given):
        raise ParameterError(
            "--randomizer says everything; leave out --schema, --epsilon, --spread, --together, "
            "--class-share and --plan"
        )
    beside = (
        None if output is None or randomizer is not None else output.with_name(output.name + BESIDE)
    )
    outputs = [path for path in (output, beside) if path is not None]
    check_apart(outputs, None if records == "-" else records, ledger, randomizer, schema, plan)
    for path in outputs:
        check_writable(path, force=force)
    made = read_randomizer(randomizer) if randomizer is not None else _make_randomizer(*given)  # type: ignore[arg-type]
    check_lines(made.schema)
    if records == "-":
        if sys.stdin.buffer.isatty():
            typer.echo(
                "records are read from here, as CSV with a header line; Ctrl-D ends them", err=True
            )
        reports = randomize_stream(made, sys.stdin.buffer, budget, ledger, analyst)
    else:
        reports = randomize_table(made, records, budget, ledger, analyst)
    if output is None:
        number, stopped = write_reports(reports, sys.stdout)
    else:
        with atomic_output(output) as file:
            number, stopped = write_reports(reports, file)
        if beside is not None:
            write_randomizer(made, beside)
    promise = f"each locally {format_rounded_up(float(made.epsilon))}-differentially private"
    if made.schema.from_data:
        promise = "NOT PRIVATE: the schema was read off the data"
    if output is not None or made.schema.from_data:
        typer.echo(
            f"{'standard output' if output is None else output}: {number} reports, {promise}",
            err=True,
        )
    if stopped is not None:
        typer.echo(
            f"privet: {number} reports were written; the records after them gave none", err=True
        )
        raise stopped


def learn(
    reports: str = typer.Argument(help="The reports of many people, in one file (CSV)."),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the model (JSON)."),
    randomizer: Path | None = typer.Option(
        None,
        "--randomizer",
        "-r",
        help="The public file that people used; by default REPORTS.csv.randomizer.json.",
    ),
    learner: str | None = typer.Option(
        None,
        "--learner",
        "-l",
        help=f"One of {', '.join(LEARNERS)}; by default the first. Reports about leaves need none.",
    ),
    setting: list[str] = typer.Option(
        [], "--set", help="A setting of the learner, NAME=VALUE; may be repeated."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Learn a classifier from randomised records and write it to a file. Charges nothing: people
    have paid when they randomised.

    Example: [bold]privet publish learn reports.csv --randomizer people.randomizer.json -o
    m.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart, learner_named
    from privet.cli.printing import finite_or_none
    from privet.errors import ParameterError
    from privet.local import LeafRandomizer, collect_leaves, local_curator, read_randomizer
    from privet.model.file import write_model
    from privet.tables.open import read_public

    by = Path(reports + BESIDE) if randomizer is None else randomizer
    check_apart([output], None, None, Path(reports), by)
    check_writable(output, force=force)
    if randomizer is None and not by.exists():
        raise ParameterError(
            f"there is no {by}: say by which file people randomised, with --randomizer FILE"
        )
    made = read_randomizer(by)
    if isinstance(made, LeafRandomizer):
        if learner is not None or setting:
            raise ParameterError(
                "reports about leaves are random trees already; leave out --learner and --set"
            )
        model = collect_leaves(read_public(reports), made)
    else:
        if learner is not None and learner not in LEARNERS:
            raise ParameterError(
                f"--learner must be one of {', '.join(LEARNERS)}, which learn from counts alone, "
                f"got {learner!r}"
            )
        chosen = learner_named(learner or LEARNERS[0], "1", setting)
        model = chosen.fit_from(local_curator(read_public(reports), made)).model_
    write_model(model, output)
    if as_json:
        statement = model.privacy
        out = {
            "model": str(output),
            "learner": model.learner,
            "private": statement.private,
            "epsilon": finite_or_none(statement.epsilon),
        }
        typer.echo(json.dumps({**out, "reports": model.schema.n_rows}))
        return
    typer.echo(
        f"{output}: {model.learner} from {model.schema.n_rows} reports; {model.privacy.describe()}"
    )


def _make_randomizer(
    schema: Path | None,
    epsilon: str | None,
    spread: str | None,
    together: int | None,
    class_share: str | None,
    plan: Path | None,
) -> Randomizer | LeafRandomizer:
    """The randomizer that options describe."""
    from privet.domain import Schema
    from privet.errors import ParameterError
    from privet.federation.plan import read_plan
    from privet.local import LeafRandomizer, Randomizer

    if epsilon is None or (schema is None and plan is None):
        raise ParameterError(
            "give --randomizer FILE, or --epsilon with --schema FILE or --plan FILE"
        )
    known = None if schema is None else Schema.read(schema)
    if plan is not None:
        if spread is not None or together is not None or class_share is not None:
            raise ParameterError(
                "--spread, --together and --class-share are for records, not for the leaves of a "
                "plan"
            )
        return LeafRandomizer(read_plan(plan), epsilon, schema=known)
    assert known is not None
    if class_share is not None and spread != "split":
        raise ParameterError("--class-share goes with --spread split")
    more: dict[str, Any] = {} if class_share is None else {"class_share": class_share}
    return Randomizer(
        known,
        epsilon,
        spread or "sample",  # type: ignore[arg-type]
        1 if together is None else together,
        **more,
    )


# How ``privet publish randomize`` makes reports, of single records or of a table. Charged first.


def randomize_stream(
    made: Any, stream: Any, budget: str | None, ledger: Path | None, analyst: str | None
) -> Iterator[str]:
    """Yield the reports of records that come one by one.

    With a ledger, each record is charged before its report leaves.
    """
    from privet.accounting.cost import Budget
    from privet.accounting.ledger import SQLiteLedger
    from privet.cli.asking import DEFAULT_BUDGET
    from privet.errors import ParameterError
    from privet.local.records import StreamAccount, header_line, records_of, report_line

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
    """Return the reports of a table, charged first, in a random order.

    The order of a table may depend on what rows hold.
    """
    from privet.cli.asking import TablePlace
    from privet.local.records import (
        blocks_of,
        charge_table,
        check_neighbours,
        header_line,
        report_line,
        shuffle_lines,
    )

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
    """Write reports, and return how many were written and what stopped them.

    Where a ledger refuses a record, the ones before it are paid for and stay.
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
    """Open a file that is written atomically."""
    from privet._atomic import atomic_file
    from privet.errors import TableError

    try:
        with (
            atomic_file(output) as partial,
            partial.open("w", encoding="utf-8", newline="") as file,
        ):
            yield file
    except OSError as error:
        raise TableError(f"cannot write {output}: {error.strerror}") from None
