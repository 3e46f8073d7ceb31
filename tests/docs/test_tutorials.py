"""Each tutorial runs as it is written, block by block in one folder, and keeps its promise."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import privet as pv
from tests.commands import run

TUTORIALS = Path(__file__).parents[2] / "docs" / "tutorials"


def read_blocks(page: str) -> list[tuple[str, str]]:
    """Return the language and the text of every block that is run, in order."""
    text = (TUTORIALS / page).read_text(encoding="utf-8")
    return re.findall(r"^```(py|sh)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def follow(page: str) -> tuple[dict, str]:
    """Do what a page says; return the names in Python, and what commands printed."""
    names: dict = {}
    said = []
    for language, text in read_blocks(page):
        if language == "py":
            exec(compile(text, page, "exec"), names)
            continue
        for line in text.splitlines():
            words = shlex.split(line)
            assert words[0] == "privet", line
            done = run(words[1:], Path.cwd(), os.environ)
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            said.append(done.stdout + done.stderr)
    return names, "".join(said)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.mark.slow
def test_several_hospitals():
    names, said = follow("hospitals.md")
    assert names["auroc"]["together"] > names["auroc"]["alone"]
    assert "north" in said
    assert Path("card.html").stat().st_size > 1000
    assert not any("surgery,yes" in path.read_text() for path in Path.cwd().glob("relay-*.json"))


@pytest.mark.slow
def test_publish_a_synthetic_table():
    names, _ = follow("publish.md")
    correlation = names["correlation"]
    assert correlation["synthetic"] > 0.6 * correlation["real"]
    synthetic = names["synthetic"]
    assert not ((synthetic.internet == "none") & (synthetic.addon == "yes")).any()
    assert Path("report.html").exists()


def test_randomise_at_the_source():
    names, _ = follow("randomise.md")
    assert str(names["model"].privacy_).startswith("locally 3-differentially private")
    smokers = names["people"]["smokes"].eq("yes") & names["people"]["ill"].eq("yes")
    assert abs(names["found"].tables[0][0, 0, 1] - smokers.sum()) < 1000
    assert len(Path("my-report.csv").read_text().splitlines()) == 2


@pytest.mark.slow
def test_audit_somebodys_estimator():
    names, _ = follow("audit-yours.md")
    assert not names["result"].refuted
    assert names["wrong"].refuted
    assert names["leaky"].refuted


@pytest.mark.slow
def test_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pv.PrivacyWarning)
        names, _ = follow("scikit-learn.md")
    assert names["model"].privacy_.epsilon == 1
    assert names["evaluation"].accuracy > 0.6
    assert Path("explanation.html").exists()


@pytest.mark.slow
def test_train_on_spark(tmp_path):
    """In a process of its own, as the page ends its session."""
    from tests.spark import Processes

    Processes()  # sets up Java
    script = "".join(text for _, text in read_blocks("spark.md"))
    ran = subprocess.run(
        [sys.executable, "-c", script + "\nprint(rows, 'rows')"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "0.5-differentially private with one row added or removed" in ran.stdout
    assert "200000 rows" in ran.stdout
    assert "ModuleNotFoundError" not in ran.stderr  # executors have Privet, and count


def test_the_notebook_has_the_blocks_of_its_page():
    notebook = json.loads((TUTORIALS / "scikit-learn.ipynb").read_text(encoding="utf-8"))
    cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert cells == [text.rstrip("\n") for _, text in read_blocks("scikit-learn.md")]
    assert not any(cell.get("outputs") for cell in notebook["cells"])
