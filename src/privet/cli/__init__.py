"""The command ``privet``: one module per group of commands."""

from __future__ import annotations

import sys
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from privet.errors import PrivetError
from privet.text import hide_password


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


def hide_given_passwords(told: str) -> str:
    """Return a message without the passwords in the words of the command line.

    A message repeats such a word as it is, as a path, quoted, or a part of it.
    """
    given = {word: hide_password(word) for word in sys.argv[1:]}
    secret = {word: hidden for word, hidden in given.items() if word != hidden}
    for word, hidden in secret.items():
        for form in (word, repr(word)[1:-1], str(Path(word)), repr(str(Path(word)))[1:-1]):
            told = told.replace(form, hidden)
    return hide_password(told) if secret else told


def _refuse(told: str) -> NoReturn:
    from rich.console import Console

    Console(stderr=True, highlight=False, soft_wrap=True).print(
        f"privet: {hide_given_passwords(told)}", style="red", markup=False
    )
    sys.exit(2)
