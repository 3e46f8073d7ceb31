"""Write files atomically: a file is there as a whole or not at all, whatever goes wrong."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from privet._planted import follow_own_links
from privet.errors import PrivetError


@contextmanager
def atomic_file(path: str | PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """Write to a new file beside ``path``, which durably takes its name when the block ends well.

    It is removed otherwise.

    A link stays, and what it points to is replaced. What is no ordinary file, such as a terminal or
    a pipe, is written as it is. What another user put into a folder for everybody is refused.

    A ``private`` file is its owner's only, from the beginning and whatever the umask.
    """
    target = follow_own_links(path)
    if target.exists() and not target.is_file():
        yield target
        return
    # a name that nobody can have waiting there
    partial = target.with_name(f".{target.name}.{secrets.token_hex(8)}.part")
    try:
        if private:
            create_private(partial)
        yield partial
        with partial.open("r+b") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    except BaseException:  # an interruption too
        with suppress(OSError, ValueError):
            partial.unlink(missing_ok=True)
        raise
    flush_folder(target.parent)


def write_atomically(path: str | PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file as a whole or not at all."""
    with atomic_file(path, private=private) as partial:
        partial.write_bytes(data)


def create_private(path: str | PathLike[str]) -> None:
    """Create an empty file that only its owner can read; raise FileExistsError if it is there."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def save_file(path: str | PathLike[str], content: str | bytes, *, private: bool = False) -> None:
    """Write a text or bytes atomically for a user; raise a PrivetError where that fails."""
    data = content.encode() if isinstance(content, str) else content
    try:
        write_atomically(path, data, private=private)
    except (OSError, ValueError) as error:  # a path with a NUL in it is a ValueError
        reason = getattr(error, "strerror", None) or "this is no path"
        raise PrivetError(f"cannot write {os.fspath(path)}: {reason}") from None


def make_private_folder(folder: Path) -> None:
    """Make a folder that only its owner can look into, or take one that is there."""
    try:
        place = follow_own_links(folder)
        place.mkdir(mode=0o700, exist_ok=True)
        place.chmod(0o700)
    except OSError as error:
        raise PrivetError(f"cannot make {folder}: {error.strerror}") from None


def flush_folder(folder: Path) -> None:
    """Flush the names of a folder's files to disk, where the system can do so."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
