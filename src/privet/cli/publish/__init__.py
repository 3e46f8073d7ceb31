"""``privet publish``: data instead of answers."""

from __future__ import annotations

import typer

app = typer.Typer(
    help="Release data instead of answers: a synthetic table, or records that people randomised themselves.", no_args_is_help=True
)
