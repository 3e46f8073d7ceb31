"""Commands that run out of disk say so, and leave what was there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import privet as pv

FULL = OSError(28, "No space left on device")


def full(*_: object) -> None:
    raise FULL


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def model(tmp_path_factory) -> Path:
    car = pv.datasets.load("car")
    path = tmp_path_factory.mktemp("model") / "m.json"
    pv.save(
        pv.RandomTreesClassifier(
            n_trees=1, height=2, epsilon=1, schema=car.schema.declare(n_rows=1728)
        ).fit(car.X, car.y),
        path,
    )
    return path


@pytest.mark.parametrize("name", ["card.html", "m.txt", "m.dot", "m.onnx", "tree.svg"])
def test_a_command_that_fails_leaves_what_was_there(model, tmp_path, privet, monkeypatch, name):
    if name.endswith("onnx"):
        pytest.importorskip("onnx")
    command = "card" if name.startswith("card") else "plot" if name.startswith("tree") else "export"
    output = tmp_path / name
    output.write_text("old")
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        ran = privet(command, model, "-o", output, "--force")
    assert ran.code == 2
    assert f"cannot write {output}: No space left on device" in ran.err
    assert names(tmp_path) == [name]
    assert output.read_text() == "old"


def test_a_home_that_cannot_be_finished_leaves_nothing(tmp_path, privet, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        ran = privet("curator", "init", "--home", tmp_path / "home")
    assert ran.code == 2
    assert "No space left on device" in ran.err
    assert names(tmp_path) == []
    assert privet("curator", "init", "--home", tmp_path / "home").code == 0
