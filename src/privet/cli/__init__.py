"""The command ``privet``: one module per group of commands."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from privet._progress import waited
from privet._secret_files import read_secret_files
from privet.errors import PrivetError
from privet.text import hide_password

_SAID_EVERY = 10.0  # seconds, while the same is waited for


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
        os.environ.update(read_secret_files(os.environ))
        with waited(_WaitingLine()):
            app()
    except PrivetError as error:
        _refuse("\n".join([str(error), *getattr(error, "__notes__", ())]))
    except OSError as error:  # such as a name that is too long
        _refuse(f"{error.filename or 'the system'}: {error.strerror or error}")


class _WaitingLine:
    """Says on standard error what is waited for: at once, when it changes, and now and then."""

    def __init__(self) -> None:
        self._said, self._at = "", 0.0

    def __call__(self, what: str, seconds: float) -> None:
        from rich.console import Console

        now = time.monotonic()
        if what == self._said and now - self._at < _SAID_EVERY:
            return
        self._said, self._at = what, now
        Console(stderr=True, highlight=False, soft_wrap=True).print(
            f"privet: {what}; trying again for {seconds:.0f} s (Ctrl-C stops)",
            style="yellow",
            markup=False,
        )


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
