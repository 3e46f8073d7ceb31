"""Processes that spend from a ledger as fast as they can, and say how often it worked."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path

from tests.commands import Forked

PATIENCE = 120


class Spender:
    """A process that runs ``code``, which writes a number after each charge, and "refused" at the
    end.
    """

    def __init__(
        self, code: str, words: list[str], folder: Path, more: Mapping[str, str] | None = None
    ) -> None:
        self._told = folder / f"spender {len(list(folder.glob('spender *.told')))}.told"
        self._told.touch()
        errors = self._told.with_suffix(".errors")
        environment = {**os.environ, **(more or {})}
        self._process = Forked(code, words, self._told, errors, folder, environment)

    @property
    def told(self) -> list[str]:
        """What it has said so far, which it said for good: it goes on or not."""
        return self._told.read_text("utf-8").split()

    def wait_until_it_told(self, charges: int) -> None:
        until = time.monotonic() + PATIENCE
        while len(self.told) < charges:
            assert self._process.poll() is None, self.told
            assert time.monotonic() < until
            time.sleep(0.001)

    def kill(self) -> None:
        """With SIGKILL."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def wait(self) -> int:
        return self._process.wait(PATIENCE)
