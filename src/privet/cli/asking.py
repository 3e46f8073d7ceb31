"""What commands that touch private rows share: a curator with a durable ledger, and a sign of life."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from privet.budget import Budget, exact_epsilon
from privet.cli.places import ledger_beside
from privet.counts.open import open_table
from privet.curator import Curator
from privet.errors import TableError
from privet.ledger import SQLiteLedger
from privet.schema import Schema

#: The budget of a table whose owner named none the first time.
DEFAULT_BUDGET = "10"


def curator_for(table: str, schema: Schema, epsilon: str, budget: str | None, ledger: Path | None, analyst: str) -> Curator:
    """A curator of a table whose ledger lies beside it. All that can be wrong is looked at before the ledger learns a budget."""
    opened = open_table(table)
    opened.check_structure(schema)
    exact_epsilon("epsilon", epsilon)
    cap = None if budget is None else Budget(budget)
    book = SQLiteLedger(ledger_beside(table) if ledger is None else ledger)
    if cap is None and book.cap(opened.name) is None:
        cap = Budget(DEFAULT_BUDGET)
    return Curator(opened, schema, cap, ledger=book, analyst=analyst)


def check_writable(path: Path) -> None:
    """Raise unless a file can be written there: nothing should be paid for and then lost."""
    if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise TableError(f"cannot write {path}: its folder must exist and be writable, and it must not be a folder itself")


@contextmanager
def working(what: str) -> Iterator[None]:
    """A spinner on standard error while something takes its time."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(f"{what} ..."):
        yield
