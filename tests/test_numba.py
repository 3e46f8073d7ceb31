"""What is compiled is never older than any of our sources."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import privet
from privet._numba import ROOMS, _tidy, hash_sources

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, privet
assert privet.__file__.startswith(sys.argv[1]), privet.__file__
from privet.domain.cells import Cells, Split
from privet.tables.counting.passes import Counting
from privet.domain.questions import Question
from privet.domain import Categorical, Schema
schema = Schema({"a": Categorical(["x", "y", "z"]), "b": Categorical(["p", "q"])}, "c", ["no", "yes"])
cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")}).refine({1: Split.multiway(schema, "b")})
counting = Counting(Question.of(cells))
counting.add(np.array([[0, 1, 1, 2], [0, 0, 1, 1]], dtype=np.uint8), np.array([0, 1, 0, 1], dtype=np.uint8))
print(counting.tables()[0].tolist())
"""  # noqa: E501


@pytest.mark.slow
def test_a_change_in_another_file_is_noticed(tmp_path):
    """The layout of words is in one file and the loop that reads them in another: old machine code
    would read wild.
    """
    shutil.copytree(
        Path(privet.__file__).parent,
        tmp_path / "privet",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    run = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    first = subprocess.run(run, capture_output=True, text=True, check=True).stdout
    assert first == "[[1, 0], [0, 1], [1, 0], [0, 1]]\n"
    routing = tmp_path / "privet" / "domain" / "routing.py"
    text = routing.read_text()
    assert "np.uint64(33)" in text
    routing.write_text(text.replace("np.uint64(33)", "np.uint64(34)"))
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == first


def test_any_source_is_in_the_content(tmp_path):
    inner = tmp_path / "mechanisms" / "gibbs"
    inner.mkdir(parents=True)
    (tmp_path / "one.py").write_text("a = 1\n")
    (inner / "two.py").write_text("b = 1\n")
    found = [hash_sources(tmp_path)]
    (inner / "two.py").write_text("b = 2\n")
    found.append(hash_sources(tmp_path))
    (inner / "two.py").rename(inner / "three.py")
    found.append(hash_sources(tmp_path))
    (tmp_path / "one.py").write_text("a = 2\n")
    found.append(hash_sources(tmp_path))
    assert len(set(found)) == 4
    (tmp_path / "cli").mkdir()
    (tmp_path / "cli" / "app.py").write_text("no loop is here\n")
    assert hash_sources(tmp_path) == found[-1]


def test_old_folders_are_removed(tmp_path):
    import os

    for i in range(6):
        (tmp_path / f"privet-{i}").mkdir()
        os.utime(tmp_path / f"privet-{i}", (i, i))
    (tmp_path / "other").mkdir()
    _tidy(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "other",
        "privet-3",
        "privet-4",
        "privet-5",
    ]


def test_every_loop_that_is_kept_is_kept_so():
    """Numba's own cache would not notice a change in another file, nor would ours a change in
    another room.
    """
    package = Path(privet.__file__).parent
    loops = 0
    for path in package.rglob("*.py"):
        text = path.read_text()
        assert path.name == "_numba.py" or "cache=True" not in text, path.name
        asks_only = "privet._numba import is_cold\n" in text  # has no loop of its own
        if ("numba" in text or "privet._numba" in text) and not asks_only:
            loops += 1
            room = path.relative_to(package).parts[0]
            assert room in ROOMS or path.parent == package, path.name
            found = re.findall(r"^ *from privet\.(\w+)", text, re.MULTILINE)
            assert all(name in ROOMS or (package / f"{name}.py").exists() for name in found), (
                path.name
            )
    assert loops > 5
