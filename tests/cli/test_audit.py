"""``privet audit``: one table, and an exit code for what is refuted."""

from __future__ import annotations

import json
from fractions import Fraction
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
    lines = {line.split()[0]: line.split() for line in done.output.splitlines() if line.strip()}
    assert lines["count"][1:3] == ["add-remove", "1"]
    assert lines["randomizer-sample"][1:3] == ["replace", "1"]
    assert lines["count"][-1] == "holds"
    assert "confidence of 0.999" in done.output


def test_json_has_all_of_it() -> None:
    done = invoked("count", "--runs", "64", "--epsilon", "1/2", "--neighbours", "replace", "--json")
    (told,) = json.loads(done.output)
    assert (told["subject"], told["neighbours"], told["claimed_epsilon"], told["verdict"]) == ("count", "replace", 1.0, "holds")
    assert told["counted"] * 2 == told["runs"] == 64


def test_a_violation_has_an_exit_code_of_its_own_and_says_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    leak = subjects.Subject("leak", lambda world, epsilon, bits: subjects.Released(len(world.rows), Fraction(epsilon)))
    monkeypatch.setitem(SUBJECTS, "leak", leak)
    done = invoked("leak", "--runs", "400")
    assert done.exit_code == 1
    assert "violated" in done.output
    assert "in 200 of 200 runs against 0" in done.output


def test_processes_do_the_same() -> None:
    done = invoked("randomizer-split", "--runs", "64", "--jobs", "2", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)[0]["verdict"] == "holds"


def test_what_can_be_audited_is_listed() -> None:
    assert invoked("--list").output.split() == list(SUBJECTS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["oracle"], "subject must be one of"),
        (["count", "--epsilon", "0"], "epsilon"),
        (["count", "--neighbours", "both"], "neighbours must be"),
        (["count", "--runs", "3"], "runs must be a whole number of at least 64"),
        (["count", "--confidence", "1"], "confidence must be"),
        (["count", "--jobs", "0"], "jobs must be"),
    ],
)
def test_bad_input_is_refused(words: list[str], told: str) -> None:
    done = invoked(*words)
    assert isinstance(done.exception, ParameterError)
    assert told in str(done.exception)
