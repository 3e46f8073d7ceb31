"""Everything that is written to files, and whether a file is whole: for disks that are full or
read-only.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import duckdb

import privet as pv
from experiments.faults.kill import PEOPLE, SCHEMA
from privet.accounting.ledger import MemoryLedger
from privet.cli.asking import write_out
from privet.curator import Curator
from privet.curator.resumed import Unfinished
from privet.domain import Schema
from privet.report import card_html, read_model, to_onnx
from privet.report.plots import draw_tree, save_figure
from privet.service.state import ServiceState
from privet.synthetic.files import write_table
from privet.synthetic.synthesize import synthesize

Write, Read = Callable[[Path], object], Callable[[Path], object]


@cache
def outputs() -> dict[str, tuple[str, Write, Read]]:
    """By what it is: the name of its file, how it is written, and how it is read, which raises if
    it is not whole.
    """
    curator = Curator(PEOPLE, SCHEMA, pv.Budget(10), ledger=MemoryLedger())
    model = pv.RandomTreesClassifier(1, n_trees=8, height=2).fit_from(curator)
    table = synthesize(curator, 1, rows=2000)
    figure = draw_tree(model.model_.trees[0])

    def begun(path: Path) -> None:
        unfinished = Unfinished.begin(path, curator, "a fit")
        unfinished.drawn += bytes(16_000)
        unfinished.save()

    return {
        "model": ("m.json", lambda path: pv.save(model, path), read_model),
        "card": (
            "card.html",
            lambda path: write_out(path, card_html(model.model_), quiet=True),
            _ends(r"</html>\s*\Z"),
        ),
        "schema": ("schema.json", SCHEMA.write, Schema.read),
        "ONNX export": (
            "m.onnx",
            lambda path: write_out(path, to_onnx(model.model_).SerializeToString(), quiet=True),
            _onnx,
        ),
        "picture": ("tree.svg", lambda path: save_figure(figure, path), _ends(r"</svg>\s*\Z")),
        "synthetic table (Parquet)": (
            "t.parquet",
            lambda path: write_table(table, path),
            _rows(2000),
        ),
        "synthetic table (CSV)": ("t.csv", lambda path: write_table(table, path), _rows(2000)),
        "unfinished fit": (
            "m.unfinished",
            begun,
            lambda path: Unfinished.begin(path, curator, "a fit"),
        ),
        "curator's home": ("home", ServiceState.make, ServiceState.open),
    }


def warm_outputs(folder: Path) -> None:
    """Write everything once: what is compiled, loaded and cached then is there for children."""
    for name, write, read in outputs().values():
        write(folder / name)
        read(folder / name)


def _ends(pattern: str) -> Read:
    def read(path: Path) -> None:
        assert re.search(pattern, path.read_text(encoding="utf-8")), "it is cut off"

    return read


def _rows(count: int) -> Read:
    def read(path: Path) -> None:
        with duckdb.connect() as connection:
            found = connection.execute(f"SELECT count(*) FROM '{path}'").fetchone()
        assert found == (count,), f"it has {found} rows"
        assert path.with_name(f"{path.name}.card.md").exists(), "it has no card"

    return read


def _onnx(path: Path) -> None:
    import onnx

    onnx.checker.check_model(onnx.load(path))
