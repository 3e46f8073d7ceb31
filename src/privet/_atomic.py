"""Write files atomically: a file is there as a whole or not at all, whatever goes wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from privet.errors import PrivetError


@contextmanager
def atomic_file(path: str | PathLike[str]) -> Iterator[Path]:
    """Write to a new file beside ``path``, which durably takes its name when the block ends well.

    It is removed otherwise.

    A link stays, and what it points to is replaced. What is no ordinary file, such as a terminal or
    a pipe, is written as it is.
    """
    target = Path(os.path.realpath(path)) if Path(path).is_symlink() else Path(path)
    if target.exists() and not target.is_file():
        yield target
        return
    # a name that nobody can have waiting there
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        yield partial
        with partial.open("r+b") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    except BaseException:  # an interruption too
        with suppress(OSError, ValueError):
            partial.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def write_atomically(path: str | PathLike[str], data: bytes) -> None:
    """Write a file as a whole or not at all."""
    with atomic_file(path) as partial:
        partial.write_bytes(data)


def save_file(path: str | PathLike[str], content: str | bytes) -> None:
    """Write a text or bytes atomically for a user; raise a PrivetError where that fails."""
    try:
        write_atomically(path, content.encode() if isinstance(content, str) else content)
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        reason = getattr(error, "strerror", None) or "this is no path"
        raise PrivetError(f"cannot write {os.fspath(path)}: {reason}") from None


def flush_folder(folder: Path) -> None:
    """Flush the names of a folder's files to disk, where the system can do so."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
