"""Make folders for temporary files that go away, also after the process was killed.

A folder is locked as long as its process lives. The first one that a process makes removes those
that nobody holds any more: their processes were killed before they could.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
import tempfile
import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path

if sys.platform != "win32":  # there, what a killed process leaves behind stays
    import fcntl

_PREFIX = "privet-scratch-"
_NAME = re.compile(_PREFIX + r"[a-z0-9_]{8}")


class ScratchFolder:
    """A folder of its own that only this user can read, gone with :meth:`remove` or this object."""

    def __init__(self) -> None:
        _remove_abandoned(tempfile.gettempdir())
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
            lock = _try_lock(self.path)
            # Between the two, another process may have taken it for an abandoned one.
            if self.path.is_dir():
                break
            _unlock(lock)
        self.remove = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.remove()


def _remove(folder: Path, lock: int | None, owner: int) -> None:
    if os.getpid() == owner:  # a forked child leaves its parent's files alone
        shutil.rmtree(folder, ignore_errors=True)
    _unlock(lock)


@cache
def _remove_abandoned(temporary: str) -> None:
    """Remove folders whose processes are gone, once in each process."""
    if sys.platform == "win32":
        return
    with suppress(OSError), os.scandir(temporary) as entries:
        for entry in entries:
            if _NAME.fullmatch(entry.name) and _is_own_folder(entry):
                lock = _try_lock(Path(entry.path))
                if lock is not None:
                    shutil.rmtree(entry.path, ignore_errors=True)
                    _unlock(lock)


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    with suppress(OSError):
        facts = entry.stat(follow_symlinks=False)
        return stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid()
    return False


def _try_lock(folder: Path) -> int | None:
    """Lock a folder, and return the open file that holds the lock; None where it is not ours."""
    if sys.platform == "win32":
        return None
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(opened)
            return None
        return opened
    return None


def _unlock(lock: int | None) -> None:
    if lock is not None:
        with suppress(OSError):
            os.close(lock)
