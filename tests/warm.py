"""What every run of the command would do again in a test: imported and made once.

Typer makes all commands from their functions at each call, which takes longer than most of them.
Numba imports most of itself, and prepares LLVM, when the first loop is compiled or read from disk.
"""

from __future__ import annotations

from functools import cache

import numba
import rich.table
import typer.main

import privet.datasets
from privet.cli.app import app

__all__ = ["app", "privet", "rich"]

typer.main.get_command = cache(typer.main.get_command)
typer.main.get_command(app)
numba.njit(lambda: 0)()
