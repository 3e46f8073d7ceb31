"""What commands that touch private rows share: a curator (of a table with a ledger beside it, or at
an address), and a sign of life.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer
from rich.console import Console

from privet.budget import Budget, parse_epsilon, parse_exact
from privet.cli.places import check_no_table, ledger_beside
from privet.cli.tables import budget_table, format_number
from privet.counts.open import open_table
from privet.curator import AnyCurator, Curator
from privet.errors import (
    AbsentWarning,
    NoiseWarning,
    ParameterError,
    PrivetError,
    SchemaError,
    TableError,
)
from privet.ledger import SQLiteLedger
from privet.schema import Schema
from privet.whole_file import write_atomically

if TYPE_CHECKING:
    from privet.remote.curator import RemoteCurator

#: The budget of a table whose owner named none the first time.
DEFAULT_BUDGET = "10"


class AskingPlace(Protocol):
    """Where a command asks."""

    @property
    def schema(self) -> Schema:
        """What is public there."""

    def curator(self, epsilon: str) -> AnyCurator:
        """Who is asked. All that can be wrong is looked at before a ledger learns a budget."""


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
        if cap is None and book.cap(opened.name) is None:
            cap = Budget(DEFAULT_BUDGET)
        return Curator(opened, self.schema, cap, ledger=book, analyst=self.analyst)


@dataclass(frozen=True)
class CuratorPlace:
    """A curator at an address. It has the schema and the ledger."""

    url: str
    dataset: str | None
    token_file: Path | None
    schema_file: Path | None

    @cached_property
    def _connected(self) -> RemoteCurator:
        from privet.remote.connect import connect

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
    """Where to ask, from the options of a command. ``known`` is the schema where no file is
    given.
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
    """What a token file holds."""
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        raise ParameterError(f"cannot read a token from {path}") from None


def print_budget(console: Console, curator: AnyCurator) -> None:
    """What is left."""
    if isinstance(curator, Curator):
        console.print(budget_table(curator.ledger, [curator.dataset]))
    else:
        console.print(
            f"left of your budget for {curator.dataset!r}: {curator.unit} {format_number(curator.left)}",
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
    check_no_table(path)


def write_out(path: Path, said: str | bytes, *, quiet: bool = False) -> None:
    """Write a file as a whole or not at all, and say so."""
    try:
        write_atomically(path, said.encode() if isinstance(said, str) else said)
    except OSError as error:
        raise PrivetError(f"cannot write {path}: {error.strerror}") from None
    if not quiet:
        typer.echo(f"wrote {path}")


@contextmanager
def saying_warnings() -> Iterator[None]:
    """Warnings of ours as one line each on standard error, once the work is done."""
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
    """A spinner on standard error while something takes its time."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} ..."):
        yield
