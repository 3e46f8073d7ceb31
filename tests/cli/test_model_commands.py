"""``fit``, ``predict``, ``evaluate``, ``show``, ``plot``, ``card`` and ``export``, as a person uses
them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import privet
from privet import GreedyTreeClassifier, datasets
from privet.accounting.ledger import SQLiteLedger
from privet.report import write_model
from tests.report.scored import scored_model

Run = Callable[..., Any]
LEARNERS = ["random-trees", "greedy-tree", "forest", "noisy-id3", "additive"]


@pytest.fixture
def table() -> str:
    car = privet.datasets.load("car")
    car.table.to_csv("car.csv", index=False)
    car.schema.declare(n_rows=1728).write("car.schema.json")
    return "car.csv"


@pytest.fixture(name="fit")
def fitting(privet: Run, table: str) -> Run:
    return lambda *arguments: privet("fit", table, "--schema", "car.schema.json", *arguments)


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_is_trained_charged_and_written(fit: Run, learner: str) -> None:
    ran = fit("--epsilon", "1", "--learner", learner, "-o", "m.json", "--budget", "10")
    assert (ran.code, ran.err) == (0, "")
    assert "differentially private with one row added or removed" in ran.out
    spent = SQLiteLedger("car.csv.ledger.sqlite").spent("car.csv").epsilon
    model = privet.load("m.json")
    assert model.privacy_.promised.epsilon == 1
    assert 0 < spent <= 1
    assert model.model_.learner == learner


def test_a_second_fit_adds_up_and_one_that_does_not_fit_costs_nothing(fit: Run) -> None:
    for name in ("m.json", "n.json"):
        assert fit("--epsilon", "1/3", "-o", name, "--budget", "1").code == 0
    ran = fit("--epsilon", "1/2", "-o", "other.json")
    assert ran.code == 2
    assert "asked epsilon 0.5, left epsilon 0.333333 (exactly 1/3)" in ran.err
    assert SQLiteLedger("car.csv.ledger.sqlite").spent("car.csv").epsilon == Fraction(2, 3)
    assert not Path("other.json").exists()


@pytest.mark.parametrize("output", ["no such folder/m.json", "."])
def test_nothing_is_paid_for_what_cannot_be_written(fit: Run, output: str) -> None:
    ran = fit("--epsilon", "1", "-o", output)
    assert (ran.code, ran.out) == (2, "")
    assert f"cannot write {output}" in ran.err
    assert not Path("car.csv.ledger.sqlite").exists()


def test_settings_of_a_learner(fit: Run) -> None:
    assert (
        fit(
            "--epsilon",
            "1",
            "-l",
            "random-trees",
            "--set",
            "n_trees=3",
            "--set",
            "combine=vote",
            "-o",
            "m.json",
        ).code
        == 0
    )
    model = privet.load("m.json").model_
    assert (len(model.trees), model.combine) == (3, "vote")


def test_settings_that_are_true_or_false(fit: Run) -> None:
    settings = ("attribute_once=true", "mechanism=exponential", "schedule=thesis", "min_rows=20")
    asked = [word for setting in settings for word in ("--set", setting)]
    assert fit("--epsilon", "1", "-l", "greedy-tree", *asked, "-o", "m.json").code == 0
    model = privet.load("m.json").model_
    told = {name: model.settings[name] for name in ("attribute_once", "mechanism", "min_rows")}
    assert told == {"attribute_once": True, "mechanism": "exponential", "min_rows": 20}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--epsilon", "0"), "epsilon must be"),
        (
            ("--epsilon", "1", "-l", "greedy-tree", "--set", "min_rows=20"),
            "min_rows=20 needs class counts on the way",
        ),
        (("--epsilon", "inf"), "epsilon"),
        (("--epsilon", "1", "--learner", "oak"), "--learner must be 'privet', 'gibbs-tree'"),
        (("--epsilon", "1", "--learner", "forests"), "did you mean 'forest'?"),
        (
            ("--epsilon", "1", "--set", "depth=3"),
            "--set depth=3: the default learner has no setting 'depth'; it takes: class_weight, ",
        ),
        (
            ("--epsilon", "1", "--learner", "gibbs-tree", "--set", "depth=3"),
            "--set depth=3: the gibbs-tree learner has no setting 'depth'; it takes: max_depth; "
            "did you mean 'max_depth'?",
        ),
        (
            ("--epsilon", "1", "--set", "delta"),
            "--set delta: write it as NAME=VALUE; the default learner takes: class_weight, ",
        ),
        (
            ("--epsilon", "1", "--learner", "gibbs-tree", "--set", "max_depth=-1"),
            "--set max_depth=-1: max_depth must be 'auto' or an integer from 0 to",
        ),
        (
            ("--epsilon", "1", "--learner", "greedy-tree", "--set", "criterion=best"),
            "--set criterion=best: criterion must be 'max', 'gini' or 'info_gain', got 'best'",
        ),
    ],
)
def test_a_bad_fit_is_one_message_and_writes_nothing(fit: Run, arguments: tuple, said: str) -> None:
    ran = fit(*arguments, "-o", "m.json")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.count("privet: ") == 1
    assert said in ran.err
    assert not Path("m.json").exists()


def test_predictions_go_by_the_costs_of_a_file(privet: Run, fit: Run, table: str) -> None:
    fit("--epsilon", "5", "-l", "random-trees", "-o", "m.json")
    Path("costs.json").write_text(json.dumps({"unacc": {"vgood": 0, "acc": 9, "good": 9}}))
    usual = privet("predict", "m.json", table).out.splitlines()
    careful = privet("predict", "m.json", table, "--costs", "costs.json").out.splitlines()
    assert careful.count("vgood") > usual.count("vgood")
    assert careful.count("acc") < usual.count("acc")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"unacc": 3}', "write it as JSON"),
        ("[", "write it as JSON"),
        ('{"unac": {"acc": 3}}', "did you mean 'unacc'"),
        ('{"unacc": {"acc": -3}}', "must be a number from 0"),
        (None, "cannot be read"),
    ],
)
def test_other_costs_are_refused(privet: Run, text: str | None, said: str) -> None:
    car = datasets.load("car")
    write_model(GreedyTreeClassifier(1, car.schema).fit(car.table).model_, "m.json")
    if text is not None:
        Path("costs.json").write_text(text)
    ran = privet("predict", "m.json", "none.csv", "--costs", "costs.json")
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_predictions_need_the_model_only(privet: Run, fit: Run, table: str) -> None:
    fit("--epsilon", "5", "-l", "random-trees", "-o", "m.json")
    rows = pd.read_csv(table, dtype=str)
    rows.drop(columns="class").head(50).to_csv("new.csv", index=False)
    assert privet("predict", "m.json", "new.csv", "-o", "out.csv", "--probabilities").code == 0
    assert Path("out.csv").stat().st_mode & 0o777 == 0o600  # about rows that may be private
    answers = pd.read_csv("out.csv")
    assert len(answers) == 50
    assert set(answers["class"]) <= {"unacc", "acc", "good", "vgood"}
    np.testing.assert_allclose(answers.filter(like="probability").sum(axis=1), 1, atol=1e-4)
    printed = privet("predict", "m.json", "new.csv")
    assert printed.out.splitlines()[1:] == answers["class"].tolist()
    assert SQLiteLedger("car.csv.ledger.sqlite").spent("car.csv").epsilon == 5


def test_evaluation_is_noisy_and_charged(privet: Run, fit: Run, table: str) -> None:
    fit("--epsilon", "2", "-o", "m.json")
    ran = privet(
        "evaluate", "m.json", table, "--schema", "car.schema.json", "--epsilon", "1/2", "--json"
    )
    said = json.loads(ran.out)
    low, high = said["interval"]
    assert low <= said["accuracy"] <= high
    assert 0.6 < said["accuracy"] < 1.1  # .97 for the default, and noise of a deviation of .006
    assert np.array(said["noisy_confusion"]).shape == (4, 4)
    assert said["left"] == "15/2"
    assert said["training_rows"] is True
    assert (
        "Noisy confusion matrix"
        in privet("evaluate", "m.json", table, "-s", "car.schema.json", "--epsilon", "1/2").out
    )


@pytest.mark.parametrize("learner", ["gibbs-tree", "greedy-tree"])
def test_a_model_is_shown_drawn_described_and_exported(privet: Run, fit: Run, learner: str) -> None:
    fit("--epsilon", "1", "-o", "m.json", "--learner", learner, "--set", "max_depth=2")
    shown = privet("show", "m.json")
    assert "1-differentially private" in shown.out
    assert "tree 1 of 1" in shown.out
    for name in ("tree.svg", "tree.png"):
        assert privet("plot", "m.json", "-o", name).code == 0
    assert "<svg" in Path("tree.svg").read_text()
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG")
    assert privet("card", "m.json", "-o", "card.html").code == 0
    assert "<html" in Path("card.html").read_text()
    assert "# Privacy card" in privet("card", "m.json").out
    for name in ("m.txt", "m.dot", "m.onnx"):
        assert privet("export", "m.json", "-o", name).code == 0
        assert Path(name).stat().st_size > 100


@pytest.mark.parametrize(
    "command",
    [
        ("show",),
        ("plot", "-o", "x.png"),
        ("card",),
        ("export", "-o", "x.dot"),
        ("predict", "t.csv"),
    ],
    ids=lambda c: c[0],
)
def test_what_is_no_model_is_one_message(privet: Run, command: tuple) -> None:
    Path("bad.json").write_text('{"privet": "model"')
    for path in ("bad.json", "absent.json"):
        ran = privet(command[0], path, *command[1:])
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count("privet: ") == 1
        assert path in ran.err


def test_a_model_of_scores_is_shown_drawn_described_and_exported(privet: Run) -> None:
    write_model(scored_model(), "m.json")
    shown = privet("show", "m.json").out
    assert "form in {incomplete, foster}  → yes" in shown
    assert "form = foster" in privet("show", "m.json", "--whole").out
    assert "score by age" in privet("show", "m.json", "--trees", "2").out
    ran = privet("plot", "m.json", "-o", "learnt.svg")
    assert ran.out == "drew learnt.svg\n"
    assert "the noise is not measured: the fit cannot be repeated" in ran.err
    learnt = Path("learnt.svg").read_text()
    assert privet("plot", "m.json", "-o", "tree.svg", "--tree", "1").err == ""
    assert Path("tree.svg").read_text() != learnt
    assert "scores, not counts" in privet("card", "m.json").out
    for name in ("m.txt", "m.dot", "m.onnx"):
        assert privet("export", "m.json", "-o", name).code == 0
    text = Path("m.txt").read_text()
    assert text.startswith("# 0.833334-differentially private")
    assert [line for line in text.splitlines()[1:] if line.startswith("#")] == [
        "# tree 1 of 1",
        "# score by age",
        "# score of every row",
    ]
    assert 'labelloc="b"' in Path("m.dot").read_text()


def test_a_drawn_tree_alone_and_scores_alone_are_one_picture_each(privet: Run) -> None:
    trees = scored_model().trees
    write_model(scored_model(trees=trees[:1]), "tree.json")
    write_model(scored_model(trees=trees[1:]), "terms.json")
    assert (
        privet("plot", "tree.json", "-o", "tree.png", "--leaves", "2", "--whole").out
        == "drew tree.png\n"
    )
    assert privet("plot", "terms.json", "-o", "terms.png").out == "drew terms.png\n"
    assert privet("plot", "tree.json", "-o", "x.png", "--tree", "2").code == 2
    assert privet("plot", "tree.json", "-o", "x.png", "--leaves", "0").code == 2
    assert sorted(path.name for path in Path().glob("*.png")) == ["terms.png", "tree.png"]


def test_a_model_is_explained_and_nothing_is_charged(privet: Run, fit: Run, table: str) -> None:
    fit("--epsilon", "1", "-o", "m.json", "--budget", "2")
    before = SQLiteLedger("car.csv.ledger.sqlite").spent("car.csv")
    pd.read_csv(table).head(2).to_csv("rows.csv", index=False)
    Path(table).rename("elsewhere.csv")  # nothing is read from it
    ran = privet("explain", "m.json", "rows.csv", "-o", "why.html", "--repeats", "2")
    assert (ran.code, ran.out, ran.err) == (0, "wrote why.html\n", "")
    page = Path("why.html").read_text()
    assert "Why row 2 is" in page
    assert "2 repeats of the fit" in page
    assert SQLiteLedger("car.csv.ledger.sqlite").spent("car.csv") == before
    assert privet("explain", "m.json", "-o", "plain.html", "--no-bands").code == 0
    assert "The noise was not measured" in Path("plain.html").read_text()
    ran = privet("explain", "m.json", "--people", "rows.csv", "-o", "p.html", "--no-bands")
    assert ran.code == 0
    assert "must be synthetic or public" in ran.err
    assert "population: synthetic rows" in Path("p.html").read_text()
    Path("elsewhere.csv").rename(table)
    ran = privet("explain", "m.json", "--people", table, "-o", "private.html", "--no-bands")
    assert (ran.code, Path("private.html").exists()) == (2, False)
    assert "this table has a ledger, so that its rows are private" in ran.err
    Path("none.csv").write_text(Path("rows.csv").read_text().splitlines()[0] + "\n")
    ran = privet("explain", "m.json", "none.csv", "-o", "none.html", "--no-bands")
    assert (ran.code, Path("none.html").exists()) == (2, False)
    assert "none.csv has no row to explain" in ran.err
    ran = privet("explain", "m.json", "-o", "why.pdf")
    assert (ran.code, Path("why.pdf").exists()) == (2, False)
    assert "an explanation is saved as .html" in ran.err


def test_a_card_has_the_evaluation_and_the_ledger(privet: Run, fit: Run, table: str) -> None:
    fit("--epsilon", "1", "-o", "m.json", "--budget", "2", "--learner", "gibbs-tree")
    asked = privet("evaluate", "m.json", table, "-s", "car.schema.json", "-e", "1/2", "--json")
    Path("e.json").write_text(asked.out)
    ran = privet(
        *("card", "m.json", "-o", "card.html", "--evaluation", "e.json"),
        *("--ledger", "car.csv.ledger.sqlite"),
    )
    assert (ran.code, ran.err) == (0, "")
    page = Path("card.html").read_text()
    assert "8 repeats of the fit" in page
    assert "Who asked what" in page
    told = json.loads(asked.out)
    for wrong, said in (
        ({**told, "measures": {"accuracy": 1}}, "no evaluation of this model"),
        ({**told, "by_class": []}, "and the model has"),
        ({**told, "by_class": {"yes": {}}}, "about the classes yes, and the model has"),
        (None, "no evaluation of this model"),
    ):
        Path("e.json").write_text(json.dumps(wrong))
        ran = privet("card", "m.json", "--evaluation", "e.json")
        assert ran.code == 2
        assert said in ran.err
    assert "How well it does" in page
    ran = privet("card", "m.json", "-o", "card.pdf")
    assert (ran.code, Path("card.pdf").exists()) == (2, False)
    assert "a card is saved as .html, .md or .txt, got 'card.pdf'" in ran.err
    ran = privet("card", "m.json", "--evaluation", "m.json")
    assert (ran.code, ran.out) == (2, "")
    assert "this is no evaluation" in ran.err


def test_bad_pictures_and_exports_are_refused(privet: Run, fit: Run) -> None:
    fit("--epsilon", "1", "-o", "m.json")
    for command in (
        ("plot", "m.json", "-o", "x.doc"),
        ("plot", "m.json", "-o", "x.svg", "--tree", "2"),
        ("export", "m.json", "-o", "x.pkl"),
    ):
        ran = privet(*command)
        assert ran.code == 2
        assert "Traceback" not in ran.err
        assert not Path(command[2]).exists()
