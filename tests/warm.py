"""What every run of the command would do again in a test: imported and made once.

Typer makes all commands from their functions at each call, which takes longer than most of them.
"""

from __future__ import annotations

from functools import cache

import rich.table
import typer.main

import privet.datasets
from privet.cli.app import app

__all__ = ["app", "privet", "rich"]

typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(app)
