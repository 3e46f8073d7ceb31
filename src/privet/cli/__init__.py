"""The command ``privet``: one module per group of commands."""

from __future__ import annotations

import sys

from privet.errors import PrivetError


def main() -> None:
    """Run the command. An error that Privet raises on purpose is one message and exit code 2, never a traceback."""
    from privet.cli.app import app

    try:
        app()
    except PrivetError as error:
        from rich.console import Console

        Console(stderr=True, highlight=False, soft_wrap=True).print(f"privet: {error}", style="red", markup=False)
        sys.exit(2)
