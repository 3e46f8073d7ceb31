"""Follow links to where something is to be written, but never a link that another user planted.

In a folder such as ``/tmp``, everybody may put files, and only their owner may remove them. Whoever
guesses a name puts a link there, and what is written follows it, or a file, and reads along.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from os import PathLike
from pathlib import Path

_MOST_LINKS = 40  # as Linux has it
_PLANTED = (
    "another user put it there, in a folder where everybody may put files; use a folder of your own"
)


def follow_own_links(path: str | PathLike[str]) -> Path:
    """Return where a path leads, without links; nothing needs to be there.

    The rule is Linux's own (``fs.protected_symlinks``, ``protected_regular``, ``protected_fifos``),
    which is off in many containers, and never sees links that a program resolves by itself: in a
    sticky folder that everybody may write to, an entry counts only if it belongs to this user or to
    the owner of the folder.

    Raises:
        OSError: where an entry belongs to somebody else, or cannot be looked at.
    """
    if sys.platform == "win32":  # no folder is shared like this there
        return Path(os.path.realpath(path))
    place, left, links = Path("/"), list(reversed(Path(path).absolute().parts[1:])), 0
    while left:
        part = left.pop()
        if part == "..":
            place = place.parent
            continue
        entry = place / part
        try:
            facts = entry.lstat()
        except FileNotFoundError:
            return entry.joinpath(*reversed(left))
        is_link = stat.S_ISLNK(facts.st_mode)
        if (is_link or not left) and _is_planted(facts, place.stat()):
            raise PermissionError(errno.EPERM, _PLANTED)
        if not is_link:
            place = entry
            continue
        links += 1
        if links > _MOST_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        target = entry.readlink()
        if target.is_absolute():
            place = Path("/")
        left += reversed(target.parts[1:] if target.is_absolute() else target.parts)
    return place


def _is_planted(entry: os.stat_result, folder: os.stat_result) -> bool:
    """Return whether an entry of a folder for everybody belongs to somebody else."""
    for_everybody = stat.S_ISVTX | stat.S_IWOTH
    return folder.st_mode & for_everybody == for_everybody and entry.st_uid not in (
        os.geteuid(),
        folder.st_uid,
    )
