"""A run goes on where it stopped, and ends in time."""

from __future__ import annotations

import json
from concurrent.futures import Future

import pytest
from rich.console import Console

from experiments.bench.accuracy.results import Results
from experiments.recipe import running
from experiments.recipe.cells import Cell
from experiments.recipe.menu import SHIPPED, Variant
from experiments.recipe.running import KEY

CELLS = [Cell("balanced", 0, "t", 100, "1", repeat) for repeat in range(3)]
OTHER = Variant("depth 1", depth=1)


class HerePool:
    """Runs everything at once, in this process."""

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work, *given) -> Future:
        future: Future = Future()
        future.set_result(work(*given))
        return future


@pytest.fixture
def fitted(monkeypatch) -> list[tuple]:
    """Every fit that was run."""
    fits = []

    def fit(cell, variant, cache):
        fits.append((cell.repeat, variant.name))
        return {**cell._asdict(), "recipe": variant.name, "accuracy": 0.5}

    class Loaded:
        schema = None

    monkeypatch.setattr(running, "fit", fit)
    monkeypatch.setattr(running, "load", lambda name, cache: Loaded)
    monkeypatch.setattr(running, "list_different", lambda cell, schema: [SHIPPED, OTHER])
    monkeypatch.setattr(running, "ProcessPoolExecutor", HerePool)
    return fits


def run(path, cells, minutes=1.0) -> None:
    console = Console(quiet=True)
    running.run(cells, Results(path, KEY), path.parent, minutes=minutes, jobs=1, console=console)


def cut_off(path, repeat: int, recipe: str) -> None:
    """Leave a line as it is if a run is interrupted while it is written."""
    rows = [json.loads(line) for line in path.read_text().splitlines() if line]
    lines = [
        json.dumps(row)[: 9 if (row["repeat"], row["recipe"]) == (repeat, recipe) else None]
        for row in rows
    ]
    path.write_text("\n".join(lines))


def test_what_was_run_before_is_not_run_again(tmp_path, fitted):
    path = tmp_path / "fits.jsonl"
    run(path, CELLS[:2])
    assert fitted == [(0, "shipped"), (0, "depth 1"), (1, "shipped"), (1, "depth 1")]
    cut_off(path, repeat=1, recipe="depth 1")
    fitted.clear()
    run(path, CELLS)
    assert fitted == [(1, "depth 1"), (2, "shipped"), (2, "depth 1")]
    assert len(Results(path, KEY).rows()) == 6


def test_nothing_is_started_after_the_time_is_over(tmp_path, fitted):
    run(tmp_path / "fits.jsonl", CELLS, minutes=-1.0)
    assert fitted == []
