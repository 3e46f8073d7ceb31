"""The example of docs/how-to/ask-in-duckdb.md runs as it stands."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path

import pytest

import privet as pv

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "ask-in-duckdb.md"


def test_the_example_in_duckdb_runs(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{('red', 'green', 'blue')[i % 3]},{i % 100},{('no', 'yes')[i % 2]}\n" for i in range(3000)
    ]
    Path("people.csv").write_text("".join(["color,age,class\n", *rows]), encoding="utf-8")
    (example,) = re.findall(r"^```py duckdb\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    names: dict[str, object] = {}
    with pytest.warns(pv.PrivacyWarning, match="no wall"):
        exec(compile(example, "example", "exec"), names)
    shown = capfd.readouterr().out
    assert '{"color": "red", "class": "no"}' in shown
    assert names["ledger"].spent("people").epsilon == pv.Cost.pure("3/5").epsilon
    names["con"].close()
    with sqlite3.connect("ledger.sqlite") as ledger:  # that outlives the process
        assert ledger.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
