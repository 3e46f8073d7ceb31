"""Files are there as a whole or not at all, whatever goes wrong while they are written."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from privet._atomic import atomic_file, write_atomically

FULL = OSError(28, "No space left on device")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()], ids=["full", "interrupted"])
@pytest.mark.parametrize("step", ["writing", "fsync", "replace"])
def test_what_was_there_stays_whatever_fails(tmp_path, monkeypatch, step, error):
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fails(*_: object) -> None:
        raise error

    def writes() -> None:
        with atomic_file(target) as partial:
            partial.write_text("half of the n")
            if step == "writing":
                raise error

    if step == "fsync":
        monkeypatch.setattr(os, "fsync", fails)
    if step == "replace":
        monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(type(error)):
        writes()
    assert names(tmp_path) == ["a.txt"]
    assert target.read_text() == "old"


def test_file_and_folder_are_flushed_in_order(tmp_path, monkeypatch):
    """The bytes before the name, and the name before anybody goes on."""
    happened = []
    fsync, replace = os.fsync, Path.replace

    def noted_fsync(descriptor: int) -> None:
        happened.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file")
        fsync(descriptor)

    def noted_replace(self: Path, target: Path) -> Path:
        happened.append("name")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(Path, "replace", noted_replace)
    write_atomically(tmp_path / "a", b"new")
    assert happened == ["file", "name", "folder"]
    assert (tmp_path / "a").read_bytes() == b"new"


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder/real")
    write_atomically(tmp_path / "link", b"first")
    write_atomically(tmp_path / "link", b"second")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "folder" / "real").read_bytes() == b"second"


def test_what_is_no_ordinary_file_is_written_as_it_is(tmp_path):
    """Nobody wants /dev/null to become a file."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    write_atomically(tmp_path / "pipe", b"told")
    assert os.read(reader, 10) == b"told"
    os.close(reader)
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)
    assert names(tmp_path) == ["pipe"]
