"""Back up the home of a curator while it is served.

SQLite copies a database as of one moment, and the files one after the other, so that what refers to
another file is copied before it: the witnesses before the records whose last lines they name, the
accounts before the ledger with their caps, and the ledger before the audit log, in which every
change is written first. What happens in between makes the copy of a record longer, and nothing in
the copy points past its end.

A backup holds what the home holds, such as passwords of databases, and is made for its owner only.
What is about processes that run (sessions, rates, open snapshots) is not in it.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from os import PathLike
from pathlib import Path

from privet._atomic import create_private, make_private_folder, write_atomically
from privet.errors import LedgerError, ParameterError
from privet.service.state import ServiceState

_SQLITE = b"SQLite format 3\0"
#: Files beside a database, which are part of it while it is used.
_BESIDE = ("-wal", "-shm", "-journal")
#: What points into other files comes first, and what is pointed into comes last.
_FIRST = ("witness", "audit-log-witness", "accounts.sqlite")
_LAST = ("ledger.sqlite", "audit-log.sqlite")
#: What is about processes that run, or is still being written.
_PASSING = re.compile(r"shared\.sqlite|(audit-log-)?witness\.[0-9a-f]{8}|\..*")


def back_up(state: ServiceState, folder: str | PathLike[str]) -> list[str]:
    """Copy a home into a new folder, and return the names of the files.

    A ledger in PostgreSQL is not in the home: its database has backups of its own.
    """
    place = Path(folder)
    if place.exists():
        raise ParameterError(f"{place} exists; a backup needs a new folder")
    if not place.parent.is_dir():
        raise ParameterError(f"cannot make {place}: the folder {place.parent} does not exist")
    make_private_folder(place)
    try:
        files = [
            path
            for path in sorted(state.path.iterdir(), key=_find_turn)
            if path.is_file()
            and not path.name.endswith(_BESIDE)
            and not _PASSING.fullmatch(path.name)
        ]
        for path in files:
            _copy(path, place / path.name)
    except (OSError, sqlite3.Error) as error:
        shutil.rmtree(place, ignore_errors=True)
        raise LedgerError(f"cannot back up {state.path}: {error}") from None
    return sorted(path.name for path in files)


def _find_turn(path: Path) -> tuple[int, str]:
    """Return where a file comes in the order of copies."""
    if path.name in _FIRST:
        return _FIRST.index(path.name), path.name
    if path.name in _LAST:
        return len(_FIRST) + 1 + _LAST.index(path.name), path.name
    return len(_FIRST), path.name


def _copy(path: Path, to: Path) -> None:
    with path.open("rb") as file:
        begins = file.read(len(_SQLITE))
    if begins != _SQLITE:
        write_atomically(to, path.read_bytes(), private=True)
        return
    create_private(to)
    source = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=60)
    target = sqlite3.connect(to)
    try:
        source.backup(target)
    finally:
        target.close()
        source.close()
