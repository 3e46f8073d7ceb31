"""Temporary files of everything the tests run go to one folder, which goes away with the tests.

Processes that a test kills on purpose leave theirs behind; so do those of an interrupted run.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.guard import guard

#: That of the machine. PostgreSQL uses it itself, as the paths of its sockets must be short.
SYSTEM = tempfile.gettempdir()


@pytest.fixture(scope="session", autouse=True)
def own_temporary_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for temporary files of this process and those that it starts."""
    tmp_path_factory.getbasetemp()  # pytest's own stays where it is, with the files of failed tests
    folder = Path(tempfile.mkdtemp(prefix="privet-tests-", dir=SYSTEM))
    folder.chmod(0o711)  # some processes become somebody else, who may then use what they are told
    guard().remove(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        for name in ("TMPDIR", "TEMP", "TMP"):
            patch.setitem(os.environ, name, str(folder))
        yield folder
