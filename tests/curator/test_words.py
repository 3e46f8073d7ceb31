"""What was asked stands in the ledger in the schema's labels, and is bounded whatever is asked."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from typer.testing import CliRunner

from privet.accounting.cost import Budget
from privet.accounting.ledger import MemoryLedger, SQLiteLedger, verify
from privet.cli.app import app
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.questions import Question
from privet.queries import ChooseModel, Confusion, Count, CountBy, check_query, queries
from privet.queries.base import MAX_WORDS, Query, question_in_words
from tests.conformance.asked import ASKED, EXAMPLES, SCHEMA, seeded

WORDS = {
    ("choose", "gini"): "private selection of a split of all rows: colour, smokes, age, by gini",
    ("choose", "lists of their own"): (
        "private selection of a split of colour = red; colour = green: colour, smokes, age, by max"
    ),
    ("choose-model", "three"): (
        "private selection of the most accurate of random-trees (1 tree, release abababababab), "
        "random-trees (1 tree, release abababababab), random-trees (1 tree, release abababababab)"
    ),
    ("choose-partition", "handicaps"): (
        "private selection of the partition farthest from what is expected, among [colour = red; "
        "colour = green; colour = blue], [colour = red; colour = green by smokes]"
    ),
    ("confusion", "two trees"): "confusion matrix of random-trees (2 trees, release abababababab)",
    ("count", "all rows"): "class counts of all rows",
    ("count", "two partitions"): (
        "class counts of [colour = red; colour = green; colour = blue], [colour = red; colour = "
        "green by smokes]"
    ),
    ("gradients", "released trees"): (
        "derivatives of the log-likelihood of 2 released trees over colour = red; colour = green"
    ),
    ("quantile", "high"): "the 9/10-quantile of age, as one of 4 bins",
    ("quantiles", "eight parts"): "cuts that halve the values of age 3 times over",
    ("scores", "one tree"): (
        "scores by class, in 3 bins, of random-trees (1 tree, release abababababab)"
    ),
    ("sums", "by class"): (
        "sums of a row score (no: 3, maybe: -1, yes: -5) over colour = red; colour = green; "
        "colour = blue"
    ),
    ("sums", "by value"): "sums of a row score by age over colour = red; colour = green",
}
#: Their descriptions say it all.
DESCRIBED = {"count-by", "count-values", "draw-tree", "share", "size"}


def words(query: Query, schema: Schema = SCHEMA) -> str:
    return question_in_words(check_query(query, schema))


@pytest.mark.parametrize(("name", "example"), WORDS)
def test_a_question_is_told_in_labels(name, example):
    assert words(EXAMPLES[name][example](SCHEMA)) == WORDS[name, example]


def test_what_the_description_says_is_not_said_twice():
    said = {name for name, example in ASKED if words(EXAMPLES[name][example](SCHEMA))}
    assert said == {name for name, _ in WORDS} == set(queries()) - DESCRIBED


def wide(size: int, label: str = "value") -> Schema:
    values = [f"{label} {number}" for number in range(size)]
    return Schema({"a": Categorical(values), "b": Categorical(["x", "y"])}, "c", ["no", "yes"])


@pytest.mark.parametrize("size", [12, 13, 300, 20_000])
def test_many_cells_are_only_counted(size):
    schema = wide(size)
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, "a")})
    told = words(Count(cells), schema)
    assert ("value 3" in told) == (size <= 12)
    assert (told == f"class counts of {size} cells") == (size > 12)


def test_many_partitions_break_off():
    schema = wide(4)
    told = words(Count(Question.forest([Cells.everything(schema)] * 500)), schema)
    assert told == f"class counts of {', '.join(['[all rows]'] * 12)}, …"


def test_long_labels_are_cut():
    schema = wide(8, "long " * 100)
    told = words(Count([{"a": [0, 1, 2]}]), schema)
    assert len(told) == MAX_WORDS
    assert told.endswith("…")


def test_a_cell_of_several_leaves_is_not_told_by_one_of_them():
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "colour")})
    merged = Cells(SCHEMA, cells.attribute, cells.offset, cells.branch, cells.cell // 2, 2)
    assert words(Count(merged)) == "class counts of 2 cells"


@pytest.mark.parametrize("label", ["line\nbreak", "\u202eturned", "nul\x00"])
def test_odd_labels_stay_on_one_line(label):
    schema = Schema({"a": Categorical([label, "x"])}, "c", ["no", "yes"])
    told = words(Count([{"a": [0]}]), schema)
    assert told == "class counts of a = " + "".join(
        char if char.isprintable() else "?" for char in label
    )


def test_the_words_of_a_model_are_bounded():
    model = EXAMPLES["confusion"]["one tree"](SCHEMA).model
    object.__setattr__(model, "learner", "\n" + "x" * 5000)
    for query in (Confusion(model), ChooseModel([model] * 100)):
        told = words(query)
        assert len(told) == MAX_WORDS
        assert told.isprintable()


def test_a_file_ledger_keeps_the_words_and_commands_show_them(tmp_path):
    place = tmp_path / "book.sqlite"
    book = SQLiteLedger(place)
    table = pd.DataFrame({"a": ["value 1"], "b": ["x"], "c": ["no"]})
    curator = Curator(table, wide(3), Budget(9), ledger=book, dataset="d", analyst="ada")
    asked = Cell((Condition("a", (1,)),))
    entry = curator.count([asked], 1).entry
    curator.size(1)
    assert [one.asked for one in book.entries()] == ["class counts of a = value 1", ""]
    assert entry.asked == "class counts of a = value 1"
    assert verify(book) == []
    book.close()
    shown = CliRunner().invoke(app, ["ledger", "show", str(place)], env={"COLUMNS": "200"})
    assert "class counts of a = value 1" in shown.output
    lines = CliRunner().invoke(app, ["ledger", "show", str(place), "--json"]).output.splitlines()
    told = [json.loads(line) for line in lines]
    assert [line.get("asked") for line in told] == ["class counts of a = value 1", None]


def test_words_do_not_depend_on_rows():
    """Neither in number nor in content: a table of other rows has the same entries."""
    schema, told = wide(3), []
    for rows in (["value 0"], ["value 1", "value 2", "value 2"]):
        ledger = MemoryLedger()
        table = pd.DataFrame({"a": rows, "b": "x", "c": "no"})
        curator = Curator(table, schema, Budget(9), ledger=ledger, dataset="d", bits=seeded())
        curator.count([{"a": ["value 1"]}], 1)
        curator.ask(CountBy("b"), 1)
        told.append([(entry.what, entry.asked) for entry in ledger.entries()])
    assert told[0] == told[1]
