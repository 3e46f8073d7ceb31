"""The command ``privet``: one module per group of commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import NoReturn

from privet.errors import PrivetError


def main() -> None:
    """Run the command."""
    from privet.cli.app import app

    run(app)


def run(app: Callable[[], object]) -> None:
    """Run an application of Typer with the words of the command line.

    An error that Privet raises on purpose, or the system, is one message and exit code 2, never a
    traceback.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        # the name of a file need not be text that can be printed
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        app()
    except PrivetError as error:
        _refuse(str(error))
    except OSError as error:  # such as a name that is too long
        _refuse(f"{error.filename or 'the system'}: {error.strerror or error}")


def _refuse(told: str) -> NoReturn:
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"privet: {told}", style="red", markup=False
    )
    sys.exit(2)
