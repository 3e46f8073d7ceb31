"""A disk of our own that is small or read-only, in a name space that nobody else sees and that ends
with the process.
"""

from __future__ import annotations

import ctypes
import os
from pathlib import Path

_NEW_MOUNTS, _NEW_USERS = 0x20000, 0x10000000
_RECURSIVE, _PRIVATE, _REMOUNT, _READ_ONLY = 0x4000, 1 << 18, 32, 1
_libc = ctypes.CDLL(None, use_errno=True)


def _call(what: str, returned: int) -> None:
    if returned:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def mount_disk(folder: Path, size: int) -> None:
    """Mount a disk of this many bytes there, for this process and its children. Raises OSError
    where that is not allowed.
    """
    user, group = os.getuid(), os.getgid()
    _call("unshare", _libc.unshare(_NEW_MOUNTS | (_NEW_USERS if user else 0)))
    if user:
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1")
    _call("mount", _libc.mount(b"none", b"/", None, ctypes.c_ulong(_RECURSIVE | _PRIVATE), None))
    _call(
        "mount",
        _libc.mount(b"none", bytes(folder), b"tmpfs", ctypes.c_ulong(0), f"size={size}".encode()),
    )


def make_read_only(folder: Path, yes: bool = True) -> None:
    """Make a disk that was mounted here read-only, or writable again."""
    flags = _REMOUNT | (_READ_ONLY if yes else 0)
    _call("mount", _libc.mount(b"none", bytes(folder), None, ctypes.c_ulong(flags), None))


def free_bytes(folder: Path) -> int:
    """What is left on the disk."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def fill(folder: Path, leave: int) -> Path:
    """A file that takes all but this many bytes, rounded up to whole blocks."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        while (more := free_bytes(folder) - leave) > 0:
            try:
                file.write(bytes(min(more, 1 << 16)))
            except OSError:
                break
    return filler
