"""Copies of golden files: no test may write where they are."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.golden.files import GOLDEN


@pytest.fixture
def copied(tmp_path: Path) -> Callable[[str], Path]:
    """Copy a part of the golden files, and return where the copy is."""

    def copy(part: str) -> Path:
        place = tmp_path / part.replace("/", "-")
        shutil.copytree(GOLDEN / part, place)
        for path in place.rglob("*"):
            path.chmod(0o700 if path.is_dir() else 0o600)  # keys and homes must be the owner's
        return place

    return copy
