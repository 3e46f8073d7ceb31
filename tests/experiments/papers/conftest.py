"""The real tables, where they are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA = os.environ.get("PRIVET_DATA")
SKIP = "needs the real files: set PRIVET_DATA to a folder with NAME.csv files, see docs/datasets.md"


@pytest.fixture
def real_data() -> Path:
    """The folder with the real files; without it the test is skipped."""
    if not DATA:
        pytest.skip(SKIP)
    return Path(DATA)
