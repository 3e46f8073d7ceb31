"""The table beside the peers says what is counted in the scripts."""

from __future__ import annotations

from experiments.bench.journey.__main__ import TUTORIAL, count, count_python, count_shell, write


def test_the_tutorial_has_the_table_that_is_counted():
    assert write(count()) in TUTORIAL.read_text(encoding="utf-8")


def test_statements_and_names_are_counted_once():
    text = (
        "import pandas as pd\n\nmodel = make(\n  a=1,\n  b=2,\n)\nmodel.fit(rows, a=1)\nprint(1)\n"
    )
    found = count_python(text)
    assert (found.to_model, found.in_all) == (3, 4)
    assert sorted(found.words) == ["a", "b", "fit", "make", "pandas"]


def test_commands_and_options_are_counted():
    found = count_shell("# a note\nprivet init t.csv --yes\nprivet fit t.csv -o m.json --yes\n")
    assert (found.to_model, found.in_all) == (2, 2)
    assert found.words == ("init", "--yes", "fit", "-o")
