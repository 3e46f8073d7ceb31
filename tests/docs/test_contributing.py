"""CONTRIBUTING names commands that there are and leads to files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
CHANGES = (
    "a split criterion",
    "a depth rule",
    "a field of the privacy card",
    "a command",
    "an endpoint",
    "a query",
    "an export format",
    "a label in a plot",
    "a kind of noise",
    "a source of rows",
)


def start_of(change: str) -> str:
    """Return the cell that says where to start."""
    (cell,) = re.findall(rf"^\| {change} \| (.*?) \|", TEXT, flags=re.MULTILINE)
    return cell


def test_make_has_every_target():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    named = set(re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)`", TEXT, flags=re.MULTILINE))
    targets = {one or other for one, other in named}
    assert {"install", "check", "test", "test-all", "audit", "mutants"} <= targets
    for target in targets:
        assert re.search(rf"^{target}: ", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("change", CHANGES)
def test_the_ten_usual_changes_start_at_one_place(change):
    assert re.match(r"`src/privet/[\w/]+(?:\.py|/)`(?:,|$)", start_of(change))


def test_every_path_leads_somewhere():
    paths = re.findall(r"`((?:src|tests|experiments)/[\w/.]+)`", TEXT)
    folders = re.findall(r"^  (\w+)/ ", TEXT, flags=re.MULTILINE)
    assert len(paths) > 20
    assert len(folders) > 15
    missing = [path for path in paths if not (ROOT / path).exists()]
    missing += [name for name in folders if not (ROOT / "src" / "privet" / name).is_dir()]
    assert not missing, ", ".join(missing)
