"""Folders for temporary files go away, also those of processes that were killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from privet import _scratch
from privet._scratch import ScratchFolder

LIVE = (
    "import sys; from privet._scratch import ScratchFolder; folder = ScratchFolder();"
    "(folder.path / 'rows').write_text('private'); print(folder.path, flush=True); sys.stdin.read()"
)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    _scratch._remove_abandoned.cache_clear()
    yield tmp_path
    _scratch._remove_abandoned.cache_clear()


def test_a_folder_goes_away_with_its_block_or_its_object(temporary):
    with ScratchFolder() as path:
        (path / "file").write_text("x")
        assert path.parent == temporary
        assert path.stat().st_mode & 0o777 == 0o700
    folder = ScratchFolder()
    assert folder.path.is_dir()
    del folder
    assert list(temporary.iterdir()) == []


def test_what_a_killed_process_left_is_removed_and_nothing_else(temporary):
    live, killed = (
        subprocess.Popen(
            [sys.executable, "-c", LIVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    )
    with live, killed:
        places = [Path(process.stdout.readline().strip()) for process in (live, killed)]
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait()
        others = [temporary / "privet-mine", temporary / "privet-scratch-of-my-own"]
        for other in others:
            other.mkdir()
        link = temporary / "privet-scratch-abcd0123"
        link.symlink_to(others[0])
        assert (places[1] / "rows").exists()
        with ScratchFolder():
            assert not places[1].exists()
            assert (places[0] / "rows").exists()
            assert all(other.is_dir() for other in [*others, link])
        live.stdin.close()
        live.wait()
    assert not places[0].exists()
