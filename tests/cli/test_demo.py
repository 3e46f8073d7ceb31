"""``privet demo``, in a process of its own."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import privet as pv

Run = Callable[..., Any]
FILES = ["accuracy.svg", "card.html", "model.json", "tree.svg"]


def test_the_tree_stands_above_its_guarantee_and_the_ledger(process: Run, tmp_path: Path) -> None:
    ran = process("demo", "--runs", "1", "--output", str(tmp_path / "out"))
    assert (ran.code, ran.err) == (0, "")
    lines = [line.strip() for line in ran.out.splitlines()]
    tree, promise = (
        lines.index("tree 1 of 1"),
        lines.index("1-differentially private with one row added or removed"),
    )
    assert tree < promise < next(i for i, line in enumerate(lines) if line.startswith("Ledger"))
    # true of 4320 rows: a private tree finds it, too
    assert "health = not_recom  → not_recom" in " ".join(lines)
    assert ["nursery", "epsilon", "2", "1", "1"] in [line.split()[:5] for line in lines]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES


def test_what_is_written_is_the_model_that_was_paid_for(process: Run, tmp_path: Path) -> None:
    ran = process("demo", "--json", "--runs", "1", "--epsilon", "1/2", "--output", str(tmp_path))
    assert (ran.code, ran.err) == (0, "")
    said = json.loads(ran.out)
    assert (said["spent"], said["left"], said["written"]) == ("1/2", "3/2", FILES)
    model = pv.load(tmp_path / "model.json")
    assert model.privacy_.private
    assert model.privacy_.epsilon == 0.5
    nursery = pv.datasets.load("nursery")
    right = (model.predict(nursery.X) == nursery.y).mean()
    assert right > 0.8
    assert abs(right - said["accuracy"]) < 0.05
    assert "epsilon" in (tmp_path / "card.html").read_text(encoding="utf-8")


def test_a_budget_that_is_too_small_is_one_line_and_exit_code_2(
    process: Run, tmp_path: Path
) -> None:
    ran = process("demo", "--budget", "0.5", "--output", str(tmp_path))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == (
        "privet: the budget of data set 'nursery' does not allow this: asked epsilon 1, left "
        "epsilon 0.5\n"
    )
    assert list(tmp_path.iterdir()) == []
