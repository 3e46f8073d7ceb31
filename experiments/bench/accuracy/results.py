"""Results on disk: a line of JSON per fit, only ever added to, so that an interrupted run goes on
where it was.

There is a file per contestant and version (:mod:`~experiments.bench.accuracy.versions`), so that a
change reruns only the contestants that it concerns, and going back to an older version reruns
nothing. Sets that we develop on and sets that are held out are folders apart.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

KEY = ("data", "schema", "learner", "view", "epsilon", "repeat", "fold")
Row = dict[str, Any]


class Results:
    """The rows of one file. The last row of a key counts."""

    def __init__(self, path: Path, key: Sequence[str] = KEY) -> None:
        self.path = path
        self._key = key
        self._rows: dict[tuple[Any, ...], Row] = {}
        for line in path.read_text().splitlines() if path.exists() else ():
            try:
                self._keep(json.loads(line))
            except json.JSONDecodeError:
                continue  # empty, or cut off when a run was interrupted

    def find(self, row: Row) -> Row | None:
        """The result with the same key, if there is one."""
        return self._rows.get(self._key_of(row))

    def add(self, row: Row) -> None:
        self._keep(row)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write("\n" + json.dumps(row))  # a new line even after one that was cut off

    def rows(self) -> list[Row]:
        return list(self._rows.values())

    def _keep(self, row: Row) -> None:
        self._rows[self._key_of(row)] = row

    def _key_of(self, row: Row) -> tuple[Any, ...]:
        return tuple(row[name] for name in self._key)


def results_path(folder: Path, learner: str, version: str, *, newest: bool = False) -> Path:
    """Return the file of a contestant: that of its version, or with ``newest`` the one that was
    written last if this version has none.
    """
    path = folder / f"{learner}@{version}.jsonl"
    older = [] if path.exists() or not newest else folder.glob(f"{learner}@*.jsonl")
    return max(older, key=lambda each: each.stat().st_mtime, default=path)
