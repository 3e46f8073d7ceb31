"""Open the curator that a command asks, show progress, and resume interrupted work.

The curator is that of a table with a ledger beside it, or one at an address.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
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
from privet.cli.options import check_no_table, ledger_beside
from privet.cli.printing import budget_table, format_number
from privet.curator import AnyCurator, Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.domain import Schema
from privet.errors import (
    AbsentWarning,
    NoiseWarning,
    ParameterError,
    PrivetError,
    SchemaError,
    TableError,
)
from privet.tables.base import Table
from privet.tables.identity import count_names, identify_rows
from privet.tables.open import open_table

if TYPE_CHECKING:
    from privet.client.curator import RemoteCurator


#: The budget of a table whose owner named none the first time.
DEFAULT_BUDGET = "10"


class AskingPlace(Protocol):
    """Where a command asks."""

    @property
    def schema(self) -> Schema:
        """What is public there."""

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

    def curator(self, epsilon: str) -> Curator:
        opened = open_table(self.table)
        opened.check_structure(self.schema)
        parse_epsilon("epsilon", epsilon)
        cap = (
            None if self.budget is None else Budget(parse_exact("--budget", self.budget, zero=True))
        )
        book = SQLiteLedger(ledger_beside(self.table) if self.ledger is None else self.ledger)
        if book.cap(opened.name) is None:
            check_new_account(self.table, opened, book)
            cap = cap or Budget(DEFAULT_BUDGET)
        return Curator(opened, self.schema, cap, ledger=book, analyst=self.analyst)


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
    """A curator at an address. It has the schema and the ledger."""

    url: str
    dataset: str | None
    token_file: Path | None
    schema_file: Path | None

    @cached_property
    def _connected(self) -> RemoteCurator:
        from privet.client.curator import connect

        curator = connect(
            self.url, None if self.token_file is None else token_of(self.token_file), self.dataset
        )
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

    def curator(self, epsilon: str) -> RemoteCurator:
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
) -> AskingPlace:
    """Return where to ask, from the options of a command.

    ``known`` is the schema where no file is given.
    """
    if table.startswith(("http://", "https://")):
        if budget is not None or ledger is not None or analyst is not None:
            raise ParameterError(
                "--budget, --ledger and --analyst are for a table; a curator at an address knows "
                "them by the token"
            )
        return CuratorPlace(table, dataset, token_file, schema)
    if dataset is not None or token_file is not None:
        raise ParameterError(
            "--dataset and --token-file are for a curator at an address, such as "
            "https://curator.example"
        )
    if schema is None and known is None:
        raise ParameterError(
            "--schema is needed for a table: the file that says what is public about it"
        )
    public = known if schema is None else Schema.read(schema)
    assert public is not None
    return TablePlace(table, public, budget, ledger, "owner" if analyst is None else analyst)


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


def check_writable(path: Path) -> None:
    """Raise unless a file can be written there: nothing should be paid for and then lost."""
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
        for kind in (NoiseWarning, AbsentWarning):
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
    place = output.with_name(output.name + ".unfinished")
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
                typer.echo(
                    (
                        "\nprivet: interrupted; the same command goes on with it, and pays for "
                        "nothing "
                        "twice"
                    ),
                    err=True,
                )
            raise
        except PrivetError:
            with suppress(PrivetError):  # a ledger that cannot be asked says nothing
                # refused before it cost anything: there is nothing to go on with
                if not asked.charged:
                    asked.give_up()
                    unfinished.finish()
            raise
    unfinished.finish()


def give_up(place: Path, curator: AnyCurator) -> None:
    """Forget work that was interrupted, and free what is still set aside for it."""
    with suppress(PrivetError):  # what cannot be read is removed all the same
        begun = Unfinished.read(place)
        ResumableCurator(curator, begun).give_up()
    place.unlink(missing_ok=True)
