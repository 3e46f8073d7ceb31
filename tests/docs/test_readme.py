"""Every block of the README runs as it is written, in an empty folder, and its figures are those of
the page that it cites.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import privet

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
#: Commands that set up an environment. They are compared with what they name instead of being run.
NOT_RUN = ("make", "pip")


def blocks() -> list[tuple[str, str]]:
    """Return the language and the text of every block, in order."""
    return re.findall(r"^```([^\n]*)\n(.*?)^```$", README, flags=re.MULTILINE | re.DOTALL)


def lines_of(text: str) -> list[list[str]]:
    """Return the words of each line of a shell block, without comments."""
    lines = (shlex.split(line, comments=True) for line in text.splitlines())
    return [words for words in lines if words]


def is_run(text: str) -> bool:
    """Return whether a shell block is run. Those that are not have no other commands."""
    named = {words[0] in NOT_RUN for words in lines_of(text)}
    assert len(named) == 1, f"what is run and what is not must be blocks of their own:\n{text}"
    return named == {False}


def of_language(*languages: str) -> list:
    return [
        pytest.param(language, text, id=f"{language}-{number}")
        for number, (language, text) in enumerate(blocks())
        if language in languages and (language != "sh" or is_run(text))
    ]


@pytest.fixture
def environment(tmp_path_factory) -> dict[str, str]:
    """Where ``privet`` is on the path, and nothing is set up for it."""
    folder = tmp_path_factory.mktemp("bin")
    command = folder / "privet"
    code = "from privet.cli import main; main()"
    command.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-c", code])} "$@"\n')
    command.chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PRIVET_")}
    source = Path(privet.__file__).parent.parent
    return kept | {
        "PATH": os.pathsep.join([str(folder), os.environ.get("PATH", os.defpath)]),
        "PYTHONPATH": os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")])),
        "PYTHONWARNINGS": "error",
        "COLUMNS": "200",
    }


def run(language: str, text: str, folder: Path, environment: dict[str, str]) -> str:
    """Run a block in a folder, and return what it printed."""
    assert list(folder.iterdir()) == []
    call = ["sh", "-eu", "-c", text] if language == "sh" else [sys.executable, "-c", text]
    ran = subprocess.run(
        call,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, f"{text}\n{ran.stdout}\n{ran.stderr}"
    return ran.stdout


def test_no_block_is_of_a_language_that_nothing_looks_at():
    assert {language for language, _ in blocks()} == {"python", "sh", "text"}
    assert len(of_language("python")) == 2
    assert len(of_language("sh")) == 1


@pytest.mark.parametrize(("language", "text"), of_language("python", "sh"))
def test_a_block_runs_in_an_empty_folder(language, text, tmp_path, environment):
    printed = run(language, text, tmp_path, environment)
    assert printed.strip(), "there is something to look at"
    named = set(re.findall(r"[\w.-]+\.(?:csv|json|svg|html|sqlite)\b", text))
    assert named <= {path.name for path in tmp_path.iterdir()}
    following = dict(zip(blocks(), blocks()[1:], strict=False)).get((language, text), ("", ""))
    if following[0] == "text":
        checker = doctest.OutputChecker()
        assert checker.check_output(following[1], printed, doctest.ELLIPSIS), printed


def test_every_output_stands_behind_a_block_that_is_run():
    languages = [language for language, _ in blocks()]
    places = [place for place, language in enumerate(languages) if language == "text"]
    assert places
    assert all(languages[place - 1] == "python" for place in places)


def set_up(command: str) -> list[list[str]]:
    return [
        words[1:]
        for language, text in blocks()
        if language == "sh"
        for words in lines_of(text)
        if words[0] == command
    ]


def test_make_has_what_the_readme_names():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set_up("make")
    assert targets == [["demo"], ["test"]]
    for (target,) in targets:
        assert re.search(rf"^{target}:.*\n\t", makefile, flags=re.MULTILINE), target


def test_pip_finds_what_the_readme_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = set_up("pip")
    assert ["install", "privet"] in installed
    for verb, requirement in installed:
        name, extras = re.fullmatch(r"([\w.]+)(?:\[([\w,]+)\])?", requirement).groups("")
        assert verb == "install"
        assert name in (project["name"], ".")
        assert set(filter(None, extras.split(","))) <= set(project["optional-dependencies"])
    (newest,) = re.findall(r"Python (3\.\d+) or newer", README)
    assert project["requires-python"] == f">={newest}"


# -- figures ---------------------------------------------------------------------------------------

RESULTS = "docs/results/accuracy.md"


def tables(text: str) -> list[list[list[str]]]:
    """Return the cells of every table, its head first."""
    found = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    return [
        [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.splitlines()]
        for table in found
    ]


def test_the_figures_of_the_comparison_are_those_of_the_page():
    page = (ROOT / RESULTS).read_text(encoding="utf-8")
    assert f"({RESULTS})" in README
    head, _, *rows = next(table for table in tables(README) if table[0][0] == "data set")
    assert head[3:] == ["majority", "diffprivlib", "DP-EBM", "Privet", "not private"]
    written = ("majority, not private", "diffprivlib", "dp-ebm", "privet")
    written += ("gradient-boosting, not private",)
    facts = {row[0]: row for row in tables(page)[0]}
    assert len(rows) >= 5
    for name, n_rows, classes, *figures in rows:
        assert facts[name][1] == n_rows
        assert facts[name][3] == classes
        (section,) = re.findall(
            rf"^## {name.split()[0]}\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL
        )
        learners = {row[0]: row for row in tables(section)[0]}
        at = learners["learner"].index("1")
        accuracies = [learners[learner][at].split(" / ")[0] for learner in written]
        assert [figure or "not available" for figure in figures] == accuracies


def test_wins_and_losses_are_those_of_the_page():
    page = (ROOT / RESULTS).read_text(encoding="utf-8")
    said = " ".join(README.split())
    sets = [row[0] for row in tables(page)[0][2:]]
    held_out = [name for name in sets if name.endswith("(held out)")]
    assert f"all {len(sets)} data sets" in said
    assert f"On {len(held_out)} of them at five epsilons" in said
    for learner, peer, wins in (
        ("privet", "best pure peer", "Privet won {} times and lost {} in accuracy"),
        ("privet-delta", "best peer", "won {} times and lost {}"),
    ):
        (section,) = re.findall(
            rf"^## {learner}\n(.*?)(?=^## |\Z)", page, flags=re.MULTILINE | re.DOTALL
        )
        for measure in ("accuracy", "AUROC"):
            won, tied, lost = re.search(
                rf"\| {measure}, {peer} \| held out \| (\d+)-(\d+)-(\d+)", section
            ).groups()
            assert int(won) + int(tied) + int(lost) == 5 * len(held_out)
            told = wins if measure == "accuracy" else "{} times and lost {} by AUROC"
            often = "once" if lost == "1" else f"{lost} times"
            assert told.format(won, often) in said, (learner, measure, won, tied, lost)


# -- size ------------------------------------------------------------------------------------------


def test_the_readme_is_short():
    assert len(README.splitlines()) <= 120


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_lines_are_of_at_most_100_characters(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 100] == []
