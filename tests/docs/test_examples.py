"""Every example in the documentation runs: Python blocks, console walk-throughs and the schema
file. The README has tests of its own.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path

import pytest

from privet.domain import Schema
from tests.commands import run

ROOT = Path(__file__).parent.parent.parent
DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [*sorted(ROOT.glob("*.md")), *DOCS]
#: Pages that are made when the site is built, which checks their links.
MADE = {"decisions/index.md", "reference/commands.md", "reference/http.md"}


def blocks(language: str) -> list:
    """All blocks of one language, page by page."""
    found = []
    for page in DOCS:
        texts = re.findall(
            rf"^```{language}\n(.*?)^```",
            page.read_text(encoding="utf-8"),
            flags=re.MULTILINE | re.DOTALL,
        )
        if texts:
            found.append(pytest.param(texts, id=str(page.relative_to(ROOT))))
    return found


@pytest.mark.parametrize("texts", blocks("python"))
def test_the_python_of_a_page_runs(texts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names: dict = {}
    for text in texts:
        exec(compile(text, "example", "exec"), names)
    assert names


@pytest.mark.parametrize("texts", blocks("console"))
def test_the_commands_of_a_page_run(texts, tmp_path):
    commands = [line[2:] for text in texts for line in text.splitlines() if line.startswith("$ ")]
    assert commands
    for command in commands:
        words = shlex.split(command)
        assert words[0] == "privet", f"only privet commands are walked through, not {command!r}"
        result = run(words[1:], tmp_path, os.environ)
        assert result.returncode == 0, f"{command}\n{result.stderr}"


@pytest.mark.parametrize("texts", blocks("json"))
def test_schema_files(texts):
    for text in texts:
        schema = Schema.from_json(json.loads(text))
        assert Schema.from_json(schema.to_json()) == schema


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for link in re.findall(r"\]\((?!http)([^)#]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            made = any(target == ROOT / "docs" / name for name in MADE)
            made |= target.parent == ROOT / "docs" / "project"
            assert made or target.exists(), f"{page.relative_to(ROOT)} links to {link}"


def test_the_first_screen_of_the_readme_has_the_two_commands():
    top = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:25]
    assert any(line.startswith("make demo") for line in top)
    assert any(line.startswith("make test") for line in top)
