"""Results on disk: a line of JSON per fit, only ever added to, so that an interrupted run goes on
where it was.

What peers did, what we did on the sets that we develop on, and what we did on those that are held
out are files apart.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import privet

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


def code_version() -> str:
    """A hash of the sources that our results depend on: a result of other sources is computed
    anew.
    """
    root = Path(privet.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in ("cli", "datasets", "plots", "release"):
            digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:12]
