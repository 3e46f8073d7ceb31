"""Temporary files of everything the tests run go to one folder, which goes away with the tests.

Processes that a test kills on purpose leave theirs behind; so do those of an interrupted run.

The folder is in memory where the machine has a file system for that. Ledgers and accounts wait for
the disk at every commit, and tests make many. Nothing is lost by it when a process crashes, which
is what tests make them do; only when the power fails.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guard import guard

#: A file system in memory, where Linux has one; and how many bytes must be free to use it. What all
#: tests keep at one time is a tenth of that. Containers often allow 64 MB only.
MEMORY, ROOM = Path("/dev/shm"), 4 << 30
#: Pytest makes the folders of single tests in the folder that this environment variable names.
ROOT = "PYTEST_DEBUG_TEMPROOT"


def choose_root(memory: Path = MEMORY, room: int = ROOM) -> str:
    """Return the folder for temporary files: in memory where there is room, else the system's."""
    try:
        fits = os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free >= room
    except OSError:
        fits = False
    return str(memory) if fits and "TMPDIR" not in os.environ else tempfile.gettempdir()


#: Of the machine. PostgreSQL uses it itself, as the paths of its sockets must be short, and its
#: databases, of several megabytes each, do not wait for the disk.
SYSTEM = tempfile.gettempdir()
_ROOT = os.environ.setdefault(ROOT, choose_root())


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for temporary files of this process and those that it starts."""
    tmp_path_factory.getbasetemp()  # pytest's own stays where it is, with the files of failed tests
    folder = Path(tempfile.mkdtemp(prefix="privet-tests-", dir=_ROOT))
    folder.chmod(0o711)  # some processes become somebody else, who may then use what they are told
    guard().remove(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        for name in ("TMPDIR", "TEMP", "TMP", ROOT):
            patch.setitem(os.environ, name, str(folder))
        yield folder
