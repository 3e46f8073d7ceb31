"""The benchmark of published data: runs are kept and not done again, and the page shows them."""

from __future__ import annotations

import csv
import sys

import pytest

from experiments.bench.publish import __main__ as command


@pytest.fixture
def bench(monkeypatch, tmp_path):
    def run(*words: str) -> list[dict]:
        monkeypatch.setattr(
            sys,
            "argv",
            [
                "experiments.bench.publish",
                "--out",
                str(tmp_path),
                "--data",
                "nursery",
                "--folds",
                "1",
                *words,
            ],
        )
        command.main()
        with (tmp_path / "publish.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    return run


def test_runs_are_kept_and_shown(bench, tmp_path):
    first = bench("--kinds", "local", "--epsilon", "20")
    assert {line["contestant"] for line in first} == {
        "local: greedy tree",
        "local: additive",
        "local: random trees",
    }
    # With next to no noise, additive terms beat the most frequent class of nursery (.33) by far; a
    # wrong correction would not.
    accuracy = {line["contestant"]: float(line["accuracy"]) for line in first}
    assert accuracy["local: additive"] > 0.6
    again = bench("--kinds", "local,central: random", "--epsilon", "20")
    assert [line for line in again if line["contestant"].startswith("local")] == first
    assert len(again) == 4
    page = (tmp_path / "publish.md").read_text()
    assert f"| local: additive | {accuracy['local: additive']:.3f} |".replace("0.", ".") in page
    assert "central: random trees" in page
    assert (tmp_path / "publish.svg").stat().st_size > 10_000
