"""How the command treats people: files that are there, budgets, help, completion, slips."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import privet as pv
from privet.accounting.ledger import SQLiteLedger
from privet.cli import asking
from privet.cli.app import app
from privet.errors import SchemaMismatch
from privet.report import write_model
from tests.cli.test_help import COMMANDS
from tests.report.scored import scored_model

CAR = pv.datasets.load("car")


@pytest.fixture
def car(tmp_path) -> Path:
    CAR.table.assign(id=range(len(CAR.table))).to_csv("car.csv", index=False)
    CAR.schema.declare(n_rows=1728).write("s.json")
    pv.save(pv.GreedyTreeClassifier(5, CAR.schema).fit(CAR.table), "m.json")
    return tmp_path


# -- files that are there ----------------------------------------------------------------------


def test_every_command_that_writes_a_named_file_can_be_forced():
    """A new command with an output is noticed here."""
    folders = {("demo",), ("federation", "demo"), ("outsource", "split"), ("datasets", "get")}
    for path, command in COMMANDS.items():
        names = {option for parameter in command.params for option in parameter.opts}
        if {"--output", "--plot"} & names and path not in folders:
            assert "--force" in names, " ".join(path)


@pytest.mark.parametrize(
    "words",
    [
        ("predict", "m.json", "car.csv", "-o"),
        ("card", "m.json", "-o"),
        ("export", "m.json", "-o"),
        ("plot", "m.json", "-o"),
        ("schema", "draft", "car.csv", "--target", "class", "-o"),
        ("epsilon", "1", "--plot"),
    ],
    ids=lambda words: words[0],
)
def test_a_file_that_is_there_is_replaced_by_force_only(privet, car, words):
    name = {"export": "x.txt", "plot": "x.svg", "epsilon": "x.svg"}.get(words[0], "x.md")
    Path(name).write_text("precious")
    ran = privet(*words, name)
    assert ran.code == 2
    assert f"{name} exists already; write elsewhere, or add --force to replace it" in ran.err
    assert Path(name).read_text() == "precious"
    assert privet(*words, name, "--force").code == 0
    assert Path(name).read_text() != "precious"


def test_a_picture_that_is_there_is_not_drawn_over_before_any_work(privet):
    write_model(scored_model(), "m")
    Path("learnt.svg").write_text("precious")
    ran = privet("plot", "m", "-o", "learnt.svg")
    assert (ran.code, "noise" in ran.err) == (2, False)
    assert Path("learnt.svg").read_text() == "precious"


def test_a_schema_may_be_declared_in_place(privet, car):
    assert privet("schema", "declare", "s.json", "--rows", 5, "-o", "s.json").code == 0
    assert json.loads(Path("s.json").read_text())["n_rows"] == 5


# -- a budget that nobody named ----------------------------------------------------------------

COUNT = ("count", "car.csv", "-s", "s.json", "-e", "1")


def test_a_default_budget_is_said(privet, car):
    ran = privet(*COUNT)
    assert ran.code == 0
    assert "car.csv has no budget yet" in ran.err
    assert "epsilon 10 in total" in ran.err
    assert "--budget" in ran.err
    assert "no budget" not in privet(*COUNT).err


def test_a_budget_that_is_given_is_not_said(privet, car):
    assert privet(*COUNT, "--budget", "3").err == ""


class _Terminal:
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_budget_is_asked_for(monkeypatch, capsys):
    answers = iter(["much", "-1", "3/2"])
    monkeypatch.setattr(sys, "stdin", _Terminal())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(typer, "prompt", lambda *_, **__: next(answers))
    assert str(asking.ask_for_budget("car.csv")) == "3/2"
    assert capsys.readouterr().err.count("the total epsilon must be") == 2


def test_a_table_that_does_not_fit_opens_no_account(privet, car):
    pd.DataFrame({"a": [1]}).to_csv("car.csv", index=False)
    assert privet(*COUNT).code == 2
    assert SQLiteLedger("car.csv.ledger.sqlite").datasets() == []


# -- predictions with the columns that say whose they are ------------------------------------------


def test_predictions_carry_columns(privet, car):
    words = ("predict", "m.json", "car.csv", "--keep", "id", "-k", "class", "-p")
    lines = privet(*words).out.splitlines()
    assert lines[0].startswith("id,class,predicted class,probability of ")
    assert lines[1].startswith("0,unacc,")
    ran = privet("predict", "m.json", "car.csv", "--keep", "ident")
    assert ran.code == 2
    assert "--keep must be " in ran.err
    ran = privet("predict", "m.json", "car.csv", "--keep", "clas")
    assert "did you mean 'class'?" in ran.err


# -- slips -------------------------------------------------------------------------------------


def test_another_table_is_one_line(privet, car):
    pd.DataFrame({"a": [1], "b": [2]}).to_csv("other.csv", index=False)
    ran = privet("predict", "m.json", "other.csv")
    assert ran.code == 2
    assert "6 columns of the schema are not in the table: 'buying', 'maint'" in ran.err
    assert "The table has: 'a', 'b'. Is it another table" in ran.err
    assert len(ran.err.splitlines()) == 2


def test_a_table_of_semicolons_says_so():
    header = ";".join(CAR.table.columns)
    table = pd.DataFrame({header: ["x"]})
    with pytest.raises(SchemaMismatch, match="one column with semicolons in its name"):
        pv.Curator(table, CAR.schema, pv.Budget(1))


def test_a_column_that_is_spelled_otherwise_is_named(privet, car):
    CAR.table.rename(columns={"safety": "safty"}).to_csv("car.csv", index=False)
    ran = privet(*COUNT)
    assert "column 'safety' is not in the table; add it, or take it out of the schema" in ran.err
    assert "did you mean 'safty'?" in ran.err


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("predict", "car.csv", "m.json"), "model"),
        (("evaluate", "car.csv", "m.json", "-s", "s.json", "-e", "1"), "model"),
        (("count", "s.json", "-s", "car.csv", "-e", "1"), "schema"),
    ],
    ids=lambda given: given[0],
)
def test_arguments_in_the_wrong_order_are_recognised(privet, car, words, kind):
    ran = privet(*words)
    assert ran.code == 2
    assert f"were the {kind} and the table swapped?" in ran.err
    assert len(ran.err.splitlines()) == 1


def test_a_command_that_is_misspelt_is_suggested_once():
    said = " ".join(CliRunner().invoke(app, ["predcit"]).output.replace("│", " ").split())
    assert said.count("Did you mean 'predict'") == 1


# -- help and completion -------------------------------------------------------------------------


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_paragraphs_of_help_are_whole(path):
    """A break within a paragraph stays one at any width."""
    assert "\n" not in (COMMANDS[path].help or "").replace("\n\n", "")


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.parametrize("path", ["fit", "predict", "export", "publish randomize", "curator serve"])
def test_help_wraps_at_any_width(path, width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    said = CliRunner().invoke(app, [*path.split(), "--help"]).output
    assert max(map(len, said.splitlines())) <= width
    assert width < 80 or "…" not in said, "something is cut off"
    about = said.partition("╭")[0]
    for paragraph in filter(str.strip, re.split(r"\n *\n", about)[2:]):
        *lines, _ = [line.strip() for line in paragraph.strip().splitlines()]
        firsts = [line.split()[0] for line in paragraph.strip().splitlines()[1:]]
        for line, following in zip(lines, firsts, strict=True):
            assert len(line) + len(following) + 1 > width - 2, "a line ends before it is full"


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("privet fit -l gib", {"gibbs-tree", "gibbs-boost"}),
        ("privet fit -l greedy-tree --set max", {"max_depth="}),
        ("privet fit -l oak --set max", set()),
        ("privet datasets get nurs", {"nursery"}),
    ],
)
def test_the_shell_completes(words, found):
    environment = {
        "_PRIVET_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    said = CliRunner().invoke(app, [], prog_name="privet", env=environment).output
    assert set(said.split()) == found
