"""Compile loops with Numba, and keep them on disk until any source of ours changes.

Numba alone keeps a compiled function until the file changes in which it stands. What the function
takes from other files (constants, other functions, the order of fields) is compiled into it, and
would be the old: machine code that reads arrays of another layout. So what is compiled is kept in a
folder that is named for the content of all sources that loops are in, or take something from.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, overload

from numba import config, njit

from privet._planted import follow_own_links

Loop = Callable[..., Any]
#: The rooms that loops are in, and take something from, beside the modules that stand alone.
ROOMS = ("tables", "mechanisms", "domain")
_KEPT = 3  # folders: of this version, and of those before


@overload
def compile_kernel(function: Loop, /) -> Loop: ...
@overload
def compile_kernel(**options: Any) -> Callable[[Loop], Loop]: ...
def compile_kernel(function: Any = None, **options: Any) -> Any:
    """Compile a function; it runs without the interpreter lock, so that plain threads use all
    cores.
    """
    if function is None:
        return lambda one: compile_kernel(one, **options)
    before = config.CACHE_DIR
    # read where a function is decorated; those of other libraries are kept elsewhere
    config.CACHE_DIR = find_cache_folder()
    try:
        return njit(nogil=True, cache=True, no_cfunc_wrapper=True, **options)(function)
    finally:
        config.CACHE_DIR = before


def is_cold() -> bool:
    """Return whether nothing has been compiled yet for this version on this machine.

    False where nothing can be kept: compiling ahead would be in vain.
    """
    folder = find_cache_folder()
    return bool(folder) and next(Path(folder).rglob("*.nbi"), None) is None


@cache
def find_cache_folder() -> str:
    """Return a folder for this content of our sources, where one can be written.

    Otherwise it is where Numba keeps things.
    """
    name = f"privet-{hash_sources(Path(__file__).parent)}"
    for base in _list_cache_bases():
        try:
            folder = follow_own_links(base / name)  # what is kept there is run
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError:
            continue
        os.utime(folder)
        _tidy(base)
        return str(folder)
    return str(config.CACHE_DIR)


def _list_cache_bases() -> Iterator[Path]:
    if config.CACHE_DIR:
        yield Path(config.CACHE_DIR)
    yield Path(__file__).parent / "__pycache__"
    yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "privet"


def hash_sources(package: Path) -> str:
    """Return what tells the loops of an installation from others."""
    digest = hashlib.sha256()
    for path in sorted(
        [
            *package.glob("*.py"),
            *(path for room in ROOMS for path in (package / room).rglob("*.py")),
        ]
    ):
        digest.update(f"{path.relative_to(package)}\0".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:24]


def _tidy(base: Path) -> None:
    """Remove folders of older versions."""
    folders = sorted(
        (folder for folder in base.glob("privet-*") if folder.is_dir()),
        key=lambda folder: folder.stat().st_mtime,
        reverse=True,
    )
    for old in folders[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
