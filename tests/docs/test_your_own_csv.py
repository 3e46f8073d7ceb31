"""The tutorial and the notebook run as they are written, from a messy CSV to SQL."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from tests.commands import run

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


@pytest.mark.slow
def test_the_tutorial_runs(tmp_path, monkeypatch):
    import duckdb

    monkeypatch.chdir(tmp_path)
    page = (TUTORIALS / "your-own-csv.md").read_text(encoding="utf-8")
    (python,) = re.findall(r"^```python\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
    exec(compile(python, "tutorial", "exec"), {})
    commands = [
        line
        for text in re.findall(r"^```sh\n(.*?)^```", page, flags=re.MULTILINE | re.DOTALL)
        for line in text.splitlines()
    ]
    assert len(commands) == 10
    said = []
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "privet"
        done = run(words[1:], tmp_path, os.environ)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
        said.append(done.stdout + done.stderr)
    assert "left out: customerID: its name ends in 'id'" in said[0]
    assert "customers.csv fits it" in said[1]
    assert "AUROC" in said[3]
    assert "Beware" not in said[3]  # these rows were kept apart
    connection = duckdb.connect()
    connection.execute("CREATE TABLE customers AS SELECT * FROM 'customers.csv'")
    found = connection.execute((tmp_path / "model.sql").read_text()).df()
    predictions = (tmp_path / "predictions.csv").read_text().splitlines()
    assert len(found) == len(predictions) - 1 == 4000
    stated = [line.split(",")[1] for line in predictions[1:]]
    assert stated == found["predicted left"].tolist()


@pytest.mark.slow
def test_the_notebook_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((TUTORIALS / "your-own-csv.ipynb").read_text(encoding="utf-8"))
    assert not any(cell.get("outputs") for cell in notebook["cells"])
    names: dict = {}
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), "notebook", "exec"), names)
    assert names["evaluation"].measures()["AUROC"].value > 0.6
    assert (tmp_path / "model.sql").exists()
    assert names["curator"].left == 0.5
