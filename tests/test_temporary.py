"""Where temporary files of tests go."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from tests.temporary import choose_root


@pytest.fixture(autouse=True)
def no_choice_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TMPDIR")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "of the system"))


def test_files_are_in_memory_where_there_is_room(tmp_path: Path) -> None:
    assert choose_root(tmp_path, room=1) == str(tmp_path)


def test_files_are_where_the_system_keeps_them_if_memory_has_no_room(tmp_path: Path) -> None:
    for memory, room in ((tmp_path, 1 << 80), (tmp_path / "not there", 0)):
        assert choose_root(memory, room) == tempfile.gettempdir()


def test_a_folder_that_the_user_names_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", os.fspath(tmp_path))
    assert choose_root(tmp_path / "memory", room=0) == tempfile.gettempdir()
    assert choose_root(tmp_path, room=0) == tempfile.gettempdir()


def test_what_tests_start_stays_in_their_folder(
    own_temporary_folder: Path,
) -> None:
    assert os.environ["PYTEST_DEBUG_TEMPROOT"] == os.fspath(own_temporary_folder)
