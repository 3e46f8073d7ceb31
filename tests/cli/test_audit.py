"""``privet audit``: one table, and an exit code for what is refuted."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from privet.audit import SUBJECTS, subjects
from privet.cli.app import app
from privet.errors import ParameterError


def invoked(*words: str) -> Any:
    return CliRunner().invoke(app, ["audit", *words])


def test_the_table_has_a_line_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    done = invoked("randomizer-sample", "count", "--runs", "64")
    assert done.exit_code == 0, done.output
    lines = {
        tuple(line.split()[:2]): line.split() for line in done.output.splitlines() if line.strip()
    }
    assert (
        lines["count", "add-remove"][2]
        == lines["count", "replace"][2]
        == lines["randomizer-sample", "replace"][2]
        == "4"
    )
    assert ("randomizer-sample", "add-remove") not in lines
    assert lines["count", "replace"][-2:] == ["not", "refuted"]
    assert "3 claims: none refuted, judged together with a confidence of 0.999" in done.output


def test_the_table_can_be_a_file(tmp_path: Path) -> None:
    for name in ("audit.md", "audit.json"):
        done = invoked("randomizer-sample", "--runs", "64", "--output", str(tmp_path / name))
        assert done.exit_code == 0, done.output
        assert f"wrote {tmp_path / name}" in done.output
    page = (tmp_path / "audit.md").read_text()
    assert "| randomizer-sample | replace | 4 |" in page
    assert "in " in page.split("## What was seen")[1]
    assert json.loads((tmp_path / "audit.json").read_text())[0]["subject"] == "randomizer-sample"


def test_json_has_all_of_it() -> None:
    done = invoked("count", "--runs", "64", "--epsilon", "1/2", "--neighbours", "replace", "--json")
    (told,) = json.loads(done.output)
    assert (told["subject"], told["neighbours"], told["claimed_epsilon"], told["verdict"]) == (
        "count",
        "replace",
        1.0,
        "not refuted",
    )
    assert told["counted"] * 2 == told["runs"] == 64


def test_a_violation_has_an_exit_code_of_its_own_and_says_what_was_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    leak = subjects.Subject(
        "leak", lambda world, epsilon, bits: subjects.Released(len(world.rows), Fraction(epsilon))
    )
    monkeypatch.setitem(SUBJECTS, "leak", leak)
    done = invoked("leak", "--runs", "400", "--epsilon", "1", "--neighbours", "add-remove")
    assert done.exit_code == 1
    assert "violated" in done.output
    assert "in 200 of 200 runs against 0" in done.output


@pytest.mark.slow
def test_processes_do_the_same() -> None:
    done = invoked("randomizer-split", "count", "--runs", "64", "--jobs", "2", "--json")
    assert done.exit_code == 0, done.output
    told = [
        (one["subject"], one["neighbours"], one["verdict"], one["lines"])
        for one in json.loads(done.output)
    ]
    assert told == [
        ("randomizer-split", "replace", "not refuted", 3),
        ("count", "add-remove", "not refuted", 3),
        ("count", "replace", "not refuted", 3),
    ]


def test_what_can_be_audited_is_listed() -> None:
    assert invoked("--list").output.split() == list(SUBJECTS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["oracle"], "subject must be 'privet'"),
        (["count", "--epsilon", "0"], "epsilon"),
        (["count", "--neighbours", "all"], "neighbours must be"),
        (["count", "--output", "table.csv"], "output must be a file that ends in .md or .json"),
        (["count", "--runs", "3"], "runs must be an integer from 64 to 1000000"),
        (["count", "--confidence", "1"], "confidence must be"),
        (["count", "--jobs", "0"], "jobs must be"),
    ],
)
def test_bad_input_is_refused(words: list[str], told: str) -> None:
    done = invoked(*words)
    assert isinstance(done.exception, ParameterError)
    assert told in str(done.exception)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("count", "--runs", str(10**24)),
            "runs must be an integer from 64 to 1000000",
        ),
        (("--list", "nope"), "got 'nope'"),
    ],
)
def test_what_is_refused(words, told):
    done = invoked(*words)
    assert isinstance(done.exception, ParameterError)
    assert told in str(done.exception)


def test_the_list_for_programs():
    assert "randomizer-table" in json.loads(invoked("--list", "--json").stdout)
