"""Open the curator that a command asks, show progress, and resume interrupted work.

The curator is that of a table with a ledger beside it, or one at an address.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shlex
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from privet._atomic import save_file
from privet._planted import follow_own_links
from privet._progress import watched
from privet.accounting.cost import Budget, parse_epsilon, parse_exact
from privet.accounting.ledger import SQLiteLedger
from privet.accounting.ledger.reservations import IDLE
from privet.cli.options import check_no_table, ledger_beside
from privet.cli.printing import budget_table, format_number
from privet.curator import AnyCurator, Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.curator.table_check import WARNING as CHECK_WARNING
from privet.curator.table_check import check_table
from privet.domain import Schema
from privet.errors import (
    AbsentWarning,
    DriftWarning,
    NoiseWarning,
    ParameterError,
    PrivetError,
    SchemaError,
    TableError,
    Unavailable,
)
from privet.queries.base import A, Query
from privet.tables.base import Table
from privet.tables.catalog.read import read_catalog
from privet.tables.held_out import Part, split_table
from privet.tables.identity import count_names, identify_rows
from privet.tables.open import open_table
from privet.text import hide_password

if TYPE_CHECKING:
    from privet.client.curator import RemoteCurator
    from privet.client.sql.curator import SQLCurator


#: The budget of a table whose owner named none the first time.
DEFAULT_BUDGET = "10"


#: Who asks where nobody else is named.
OWNER = "owner"


class AskingPlace(Protocol):
    """Where a command asks."""

    @property
    def schema(self) -> Schema:
        """What is public there."""

    @property
    def split(self) -> str | None:
        """How its rows are split; None where all are asked about."""

    def curator(self, epsilon: str) -> AnyCurator:
        """Return whom to ask.

        All that can be wrong is checked before a ledger learns a budget.
        """


@dataclass(frozen=True)
class TablePlace:
    """A table of the owner, whose ledger lies beside it."""

    table: str
    schema: Schema
    budget: str | None
    ledger: Path | None
    analyst: str
    held_out: Selected | None = None

    def curator(self, epsilon: str) -> Curator:
        opened = self._open()
        opened.check_structure(self.schema)
        parse_epsilon("epsilon", epsilon)
        book, cap = open_account(self.table, self.budget, self.ledger)
        return Curator(opened, self.schema, cap, ledger=book, analyst=self.analyst)

    @property
    def split(self) -> str | None:
        """How the rows are split, in words: what a model says of which rows it has not seen.

        Without a person, all columns say which part a row is in: with one more, it may be in the
        other.
        """
        if self.held_out is None:
            return None
        by = f"person {self.schema.person!r}"
        if self.schema.person is None:
            names = [column.name for column in read_catalog(open_table(self.table))]
            by = f"columns {hashlib.sha256(json.dumps(names).encode()).hexdigest()[:12]}"
        size = parse_exact("--test-size", self.held_out.test_size)
        return f"test size {size} by key {self.held_out.key} and {by}"

    def _open(self) -> Table:
        opened = open_table(self.table)
        if self.held_out is None:
            return opened
        parts = split_table(opened, self.held_out.test_size, self.held_out.key)
        return parts[self.held_out.part == "test"]


@dataclass(frozen=True)
class Selected:
    """The part of a table that a command asks about."""

    part: Part
    test_size: str
    key: str

    @classmethod
    def of(cls, part: Part, test_size: str | None, key: str) -> Selected | None:
        """Return the part that the options of a command select; None for the whole table."""
        if test_size is None:
            return None
        share = parse_exact("--test-size", test_size)
        if not 0 < share < 1:
            raise ParameterError(
                f"--test-size must be between 0 and 1, such as 0.2, got {test_size!r}"
            )
        return cls(part, test_size, key)

    def scale(self, n_rows: int) -> int:
        """Return about how many rows the part has, from the public number of all rows."""
        share = parse_exact("--test-size", self.test_size)
        return max(round(n_rows * (share if self.part == "test" else 1 - share)), 1)

    @property
    def odds(self) -> float:
        """How many test rows there are for each row to train on."""
        share = parse_exact("--test-size", self.test_size)
        return float(share / (1 - share))


def open_account(
    table: str, budget: str | None, ledger: Path | None
) -> tuple[SQLiteLedger, Budget | None]:
    """Return the ledger of a table, and its budget where it has none there yet."""
    opened = open_table(table)
    cap = None if budget is None else Budget(parse_exact("--budget", budget, zero=True))
    book = SQLiteLedger(ledger_beside(table) if ledger is None else ledger)
    if book.cap(opened.name) is None:
        check_new_account(table, opened, book)
        cap = cap or Budget(ask_for_budget(opened.name))
    return book, cap


def ask_for_budget(name: str) -> str | Fraction:
    """Return the budget of a table that has none: what the owner answers, or a default that is
    said.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        typer.echo(
            f"privet: {name} has no budget yet; all answers about it may cost epsilon "
            f"{DEFAULT_BUDGET} in total from now on. Set another one with --budget the first time, "
            f"or later with 'privet ledger cap'",
            err=True,
        )
        return DEFAULT_BUDGET
    typer.echo(
        f"{name} has no budget yet. It bounds the epsilon of all answers about this table "
        "together, now and later; below 1 is strong protection, above 10 is weak.",
        err=True,
    )
    while True:
        given = typer.prompt("Total epsilon", default=DEFAULT_BUDGET, err=True)
        try:
            return parse_exact("the total epsilon", given, zero=True)
        except ParameterError as error:
            typer.echo(f"privet: {error}", err=True)


def check_new_account(place: str, table: Table, ledger: SQLiteLedger) -> None:
    """Raise where a table that has no account yet may have one under another name."""
    open_it = (
        f"'privet ledger cap {ledger.path} {table.name} EPSILON' opens an account for this name, "
        "if you know that"
    )
    names = count_names(place)
    if names > 1:
        raise ParameterError(
            f"{table.name} is a file with {names} names (hard links), and its account may be that "
            f"of another name: ask under that one, or name its ledger with --ledger. {open_it}"
        )
    rows = identify_rows(place, table)
    for other in ledger.datasets():
        if rows & _rows_beside(place, other):
            raise ParameterError(
                f"rows of {table.name!r} are those of {other!r}, which has an account: ask about "
                f"that one. {open_it}"
            )


def _rows_beside(place: str, name: str) -> frozenset[str]:
    """Return where the rows of another table of the same database are; empty where none is."""
    beside = re.sub(r"(?<=[?&]table=)[^&]*", quote(name), place)
    if beside == place:
        return frozenset()
    try:
        return identify_rows(beside, open_table(beside))
    except PrivetError:  # an account of another database
        return frozenset()


@dataclass(frozen=True)
class CuratorPlace:
    """A curator at an address or in a database. It has the schema and the ledger."""

    url: str
    dataset: str | None
    token_file: Path | None
    schema_file: Path | None
    ca: Path | None = None

    @cached_property
    def _connected(self) -> RemoteCurator | SQLCurator:
        from privet.client.curator import connect

        # the file is read again when its token was replaced
        token = None if self.token_file is None else partial(token_of, self.token_file)
        curator = connect(self.url, token, self.dataset, ca=self.ca)
        if (
            self.schema_file is not None
            and Schema.read(self.schema_file).fingerprint != curator.schema.fingerprint
        ):
            raise SchemaError(
                f"{self.schema_file} is not the schema of {curator.dataset!r}; leave it out to use "
                "the curator's"
            )
        return curator

    @property
    def schema(self) -> Schema:
        return self._connected.schema

    @property
    def split(self) -> None:
        return None

    def curator(self, epsilon: str) -> RemoteCurator | SQLCurator:
        parse_epsilon("epsilon", epsilon)
        return self._connected


def place_of(
    table: str,
    schema: Path | None,
    budget: str | None,
    ledger: Path | None,
    analyst: str | None,
    dataset: str | None,
    token_file: Path | None,
    known: Schema | None = None,
    ca: Path | None = None,
    held_out: Selected | None = None,
) -> AskingPlace:
    """Return where to ask, from the options of a command.

    ``known`` is the schema where no file is given, ``held_out`` a part of the table.
    ``ca`` may be set for all curators, in the environment, so it is no mistake beside a table.
    """
    in_database = dataset is not None and table.startswith(("postgresql://", "postgres://"))
    if in_database and token_file is not None:
        raise ParameterError("--token-file is for a curator over HTTP; a database has your login")
    if in_database or table.startswith(("http://", "https://")):
        if budget is not None or ledger is not None or analyst is not None:
            raise ParameterError(
                "--budget, --ledger and --analyst are for a table; a curator at an address knows "
                "them by the token, and a database by the login"
            )
        if held_out is not None:
            raise ParameterError(
                "--test-size is for a table of yours; a curator at an address answers for all rows"
            )
        return CuratorPlace(table, dataset, token_file, schema, ca)
    if dataset is not None or token_file is not None:
        raise ParameterError(
            "--dataset and --token-file are for a curator at an address, such as "
            "https://curator.example, or --dataset for one in a database, postgresql://..."
        )
    if schema is None and known is None:
        shown = hide_password(table)
        raise ParameterError(
            "--schema is needed for a table: the file that says what is public about it. "
            f"'privet init {shown}' makes one"
        )
    public = known if schema is None else Schema.read(schema)
    assert public is not None
    asks = OWNER if analyst is None else analyst
    if held_out is not None and public.n_rows is not None:
        public = public.declare(n_rows=held_out.scale(public.n_rows))
    return TablePlace(table, public, budget, ledger, asks, held_out)


def show_check(place: AskingPlace) -> None:
    """Tell the owner how a table of theirs fits its schema, on standard error; nothing where it
    does.

    Exact facts about private rows: they are in no file that a command writes, and whoever asks a
    curator at an address is told nothing. The command goes on either way, so that nothing else
    depends on them.
    """
    if isinstance(place, TablePlace) and place.analyst == OWNER:
        show_table_check(place.table, place.schema)


def show_table_check(table: str, schema: Schema) -> None:
    """Tell the owner of a table how it fits a schema, on standard error; nothing where it does."""
    with working("comparing the table with its schema"):
        found = check_table(open_table(table), schema)
    if not found.fits:
        typer.echo(
            f"privet: for you alone, exact facts about the rows (--no-check does not look):\n"
            f"{found}\n  {CHECK_WARNING}",
            err=True,
        )


def token_of(path: Path) -> str:
    """Return the token in a token file."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        raise ParameterError(f"cannot read a token from {path}") from None


def print_budget(console: Console, curator: AnyCurator) -> None:
    """Print what is left of the budget."""
    if isinstance(curator, Curator):
        console.print(budget_table(curator.ledger, [curator.dataset]))
    else:
        console.print(
            f"left of your budget for {curator.dataset!r}: {curator.unit} "
            f"{format_number(curator.left)}",
            highlight=False,
            markup=False,
        )


def check_writable(path: Path, *, force: bool) -> None:
    """Raise unless a file can be written there: nothing should be paid for and then lost.

    A file that is there is replaced with ``force`` only, or by the work that began it.
    """
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise TableError(
            f"cannot write {path}: its folder must exist and be writable, and it must not be a "
            "folder itself"
        )
    try:
        follow_own_links(path)
    except OSError as error:
        raise TableError(f"cannot write {path}: {error.strerror}") from None
    check_no_table(path)
    if path.is_file() and not force and not place_of_unfinished(path).exists():
        raise ParameterError(
            f"{path} exists already; write elsewhere, or add --force to replace it"
        )


def ask_under_key(
    place: AskingPlace, curator: AnyCurator, query: Query[A], epsilon: str, key: str | None
) -> A:
    """Answer a query under the key that was given; a curator at an address gets one in any case.

    Where there is no answer, the error names that key, so that the next try is not charged again.
    """
    if key is not None:
        return curator.ask_once(key, query, epsilon)
    if isinstance(place, TablePlace):
        return curator.ask(query, epsilon)
    made = secrets.token_hex(8)
    try:
        return curator.ask_once(made, query, epsilon)
    except Unavailable as error:
        raise Unavailable(f"{error}. With '--key {made}', it is charged once at most") from None


def place_of_unfinished(output: Path) -> Path:
    """Return where work that was interrupted is kept, beside the file that it will write."""
    return output.with_name(output.name + ".unfinished")


def write_out(path: Path, said: str | bytes, *, quiet: bool = False, private: bool = False) -> None:
    """Write a file atomically, and say so."""
    save_file(path, said, private=private)
    if not quiet:
        note_written(path)


def note_written(path: Path) -> None:
    """Say that a file was written."""
    typer.echo(f"wrote {path}")


@contextmanager
def saying_warnings() -> Iterator[None]:
    """Print our warnings as one line each on standard error, once the work is done."""
    with warnings.catch_warnings(record=True) as caught:
        for kind in (NoiseWarning, AbsentWarning, DriftWarning):
            warnings.simplefilter("always", kind)
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        Console(stderr=True, soft_wrap=True, highlight=False).print(
            f"privet: {text}", style="yellow", markup=False
        )


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on standard error while something takes its time."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} ..."):
        yield


# Progress bars on standard error, where somebody looks.


@contextmanager
def work_bars(what: str, *, remaining: bool = False) -> Iterator[Callable[[float], None]]:
    """Show two progress bars: how much of the whole is paid for, and of the query under way.

    The caller tells the first.

    ``remaining``: the time that is left is told too, from how long it took so far.
    """
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    ]
    if remaining:
        columns += [TextColumn("left:"), TimeRemainingColumn()]
    # The speed is that of the last hour: where steps are long, that of the last half a minute would
    # be none.
    with Progress(*columns, console=console, transient=True, speed_estimate_period=3600) as bars:
        whole = bars.add_task(what, total=1.0)
        step = bars.add_task("", total=None, visible=False)

        def told(doing: str, share: float | None) -> None:
            task = bars.tasks[step]
            if task.finished or task.description != f"  {doing}":
                bars.reset(step)  # another query: the clock of one that is done stands still
            bars.update(
                step,
                description=f"  {doing}",
                total=None if share is None else 1.0,
                completed=share or 0.0,
                visible=True,
            )

        with watched(told):
            yield lambda share: bars.update(whole, completed=share)


# Resuming interrupted work, for the commands that write what they learnt to a file.


@contextmanager
def resumable(
    curator: AnyCurator,
    output: Path,
    doing: str,
    facts: Sequence[str],
    *,
    anew: bool,
) -> Iterator[tuple[AnyCurator, Callable[[], None]]]:
    """Return whom to ask, and what to call before the output is written.

    A release has one name, however often its file is written.

    What was begun is kept beside the output until this block ends well.
    """
    place = place_of_unfinished(output)
    if anew:
        give_up(place, curator)
    unfinished = Unfinished.begin(place, curator, *facts)
    with work_bars(doing) as paid:
        asked = ResumableCurator(curator, unfinished, paid)
        if unfinished.was_begun:
            typer.echo(
                (
                    f"privet: going on with what was interrupted; {asked.answered} answer(s) are "
                    "paid for"
                ),
                err=True,
            )
        try:
            yield asked, unfinished.save
        except KeyboardInterrupt:
            if unfinished.was_begun:
                typer.echo(f"\nprivet: interrupted; {_describe_going_on(asked)}", err=True)
            raise
        except PrivetError as error:
            free = False
            with suppress(PrivetError):  # a ledger that cannot be asked says nothing
                free = not asked.charged
                if free:  # refused before it cost anything: there is nothing to go on with
                    asked.give_up()
                    unfinished.finish()
            if unfinished.was_begun and not free:
                error.add_note(_describe_going_on(asked))
            raise
    unfinished.finish()


def _describe_going_on(asked: ResumableCurator) -> str:
    """Say what is kept of work that was interrupted, and which command goes on with it."""
    command = hide_password(shlex.join(["privet", *sys.argv[1:]]))
    return (
        f"{asked.describe_kept()}; the rest stays set aside for {IDLE.days} days. To go on, give "
        f"the same command again, which pays for nothing twice:\n  {command}\n"
        "--anew gives it up instead and frees what is set aside"
    )


def give_up(place: Path, curator: AnyCurator) -> None:
    """Forget work that was interrupted, and free what is still set aside for it."""
    with suppress(PrivetError):  # what cannot be read is removed all the same
        begun = Unfinished.read(place)
        ResumableCurator(curator, begun).give_up()
    place.unlink(missing_ok=True)
