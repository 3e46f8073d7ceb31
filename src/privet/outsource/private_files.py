"""Files that only their owner may read, written as a whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from privet.errors import OutsourceError
from privet.whole_file import atomic_file


@contextmanager
def private_file(path: Path) -> Iterator[TextIO]:
    """A text file of mode 0600, under its name only when everything is written."""
    try:
        with atomic_file(path) as partial:
            handle = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
                yield file
    except OSError as error:
        raise OutsourceError(f"cannot write {path}: {error.strerror}") from None
