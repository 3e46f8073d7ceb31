"""Every type of column works in everything that is made of a schema."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from privet import federation
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Schema
from privet.domain.attributes import TYPES, text_of
from privet.domain.cells import Cells
from privet.domain.encode.encoding import PartName
from privet.domain.encode.rows import encode, encode_entries
from privet.domain.questions import Question
from privet.errors import ParameterError
from privet.federation import merge
from privet.learners import AdditiveClassifier, GreedyTreeClassifier
from privet.local.collecting import local_curator
from privet.local.randomizer import Randomizer
from privet.local.records import header_line, records_of, report_line
from privet.mechanisms.randomness import SystemBits
from privet.outsource.anatomy import codes_of, people_cells
from privet.outsource.cipher import KeyRing
from privet.outsource.split import split
from privet.outsource.verify import open_true_values, verify
from privet.report import to_onnx
from privet.report.card import card_markdown
from privet.report.plots.terms import draw_terms
from privet.report.plots.tree import draw_tree
from privet.report.text import tree_dot, tree_text
from privet.synthetic.files import write_table
from privet.synthetic.rows import frame_of
from privet.synthetic.synthesize import synthesize
from privet.tables.open import open_table, read_public
from tests.conformance.column_types import EXAMPLES, Example
from tests.conformance.test_learners import LEARNERS
from tests.warm import app

#: So much that noise is next to nothing.
SURE = 10_000


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> Example:
    return EXAMPLES[request.param]


def test_every_type_has_an_example() -> None:
    attributes = [example.attribute for example in EXAMPLES.values()]
    assert {attribute.type for attribute in attributes} == set(TYPES)
    parts = {part for attribute in attributes if (part := attribute.facts().get("part"))}
    assert parts == set(get_args(PartName))
    for example in EXAMPLES.values():
        assert {code for _, code in example.entries} == set(range(example.attribute.size))


# -- the domain --


def test_a_schema_file_there_and_back(example: Example, tmp_path: Path) -> None:
    example.schema.write(tmp_path / "schema.json")
    again = Schema.read(tmp_path / "schema.json")
    assert again == example.schema
    assert again.attributes["x"] == example.attribute


def test_entries_have_their_codes(example: Example) -> None:
    assert encode(example.schema, example.table()).codes[0].tolist() == example.codes


def test_the_spelling_of_the_schema_keeps_the_code(example: Example) -> None:
    attribute = example.attribute
    spelled = [attribute.canonical(entry) for entry, _ in example.entries]
    assert codes_of(attribute, spelled).tolist() == [code for _, code in example.entries]
    assert [attribute.canonical(cell) for cell in spelled] == spelled


def test_what_is_drawn_has_the_code_again(example: Example) -> None:
    codes = np.repeat(np.arange(example.attribute.size), 40)
    zeros = np.zeros_like(codes)
    frame = frame_of(example.schema, [codes, zeros], zeros, SystemBits())
    assert encode(example.schema, frame).codes[0].tolist() == codes.tolist()
    texts = [None if pd.isna(value) else text_of(value) for value in frame["x"].tolist()]
    assert codes_of(example.attribute, texts).tolist() == codes.tolist()


def test_examples_have_the_code_again(example: Example) -> None:
    listed = example.attribute.list_examples()
    expected = list(range(example.attribute.size))
    assert encode_entries([example.attribute], [listed])[0].tolist() == expected
    assert codes_of(example.attribute, [text_of(value) for value in listed]).tolist() == expected


# -- learning, and what is made of a model --


def guard(example: Example, budget: int = 10**7) -> Curator:
    return Curator(example.table(), example.schema, Budget(budget))


@pytest.fixture
def grown(example: Example) -> Any:
    """A tree that splits ``x`` alone."""
    return GreedyTreeClassifier(SURE, max_depth=1).fit_from(guard(example)).model_


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_fits_and_predicts(learner: str, example: Example) -> None:
    table = example.table()
    fitted = LEARNERS[learner](SURE, example.schema).fit_from(guard(example))
    predicted = fitted.predict(table.drop(columns="class"))
    assert set(predicted) <= {"no", "yes"}
    if "random" not in learner:  # whose trees may all split by colour, and stop
        assert (predicted == table["class"].to_numpy()).mean() > 0.95


def test_text_and_dot_name_the_values(example: Example, grown: Any) -> None:
    for text in (tree_text(grown.trees[0]), tree_dot(grown.trees[0])):
        for branch in example.branches:
            assert branch.split(" ", 1)[1] in text, text


def test_the_card_says_what_a_row_needs(example: Example, grown: Any) -> None:
    card = card_markdown(grown).replace("\\", "")
    line = next(line for line in card.splitlines() if line.startswith("| x "))
    assert f"| {example.card[0]} |" in line
    assert example.card[1] in line


def texts_of(figure: Any) -> set[str]:
    return {text.get_text() for axes in figure.axes for text in axes.texts}


def test_a_picture_of_a_tree_names_the_values(example: Example, grown: Any) -> None:
    assert {"x", *example.boxes} <= texts_of(draw_tree(grown.trees[0]))


def test_a_picture_of_terms_names_every_value(example: Example) -> None:
    attribute = example.attribute
    model = AdditiveClassifier(SURE).fit_from(guard(example)).model_
    # what lies beyond the bounds is in the outermost bins, so that these are written otherwise
    inner = slice(1, attribute.bins - 1) if attribute.ordered else slice(attribute.bins)
    labels = attribute.labels[: attribute.bins]
    if attribute.holds_numbers:  # written as people write them
        labels = tuple(f"{low:g} to {high:g}" for low, high in pairwise(attribute.cuts))
    named = {*labels[inner], *attribute.labels[attribute.bins :]}
    assert {"x", *named} <= texts_of(draw_terms(model))


def test_onnx_predicts_as_the_model_does(example: Example, grown: Any) -> None:
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(
        to_onnx(grown).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    codes = encode(example.schema, example.table()).codes
    (shares,) = session.run(
        ["probabilities"], {"codes": np.stack(codes, axis=1).astype(np.float32)}
    )
    assert np.abs(shares - grown.probabilities(codes)).max() < 1e-5


def test_two_models_are_merged(example: Example, grown: Any) -> None:
    other = GreedyTreeClassifier(SURE, max_depth=1).fit_from(guard(example)).model_
    codes = encode(example.schema, example.table()).codes
    merged = merge([grown, other], "disjoint")
    expected = grown.probabilities(codes).argmax(axis=1).tolist()
    assert merged.probabilities(codes).argmax(axis=1).tolist() == expected


def test_two_parties_count_the_leaves_of_one_plan(example: Example) -> None:
    plan, table = federation.draw_plan(example.schema, 2, height=1), example.table()

    def part(rows: pd.DataFrame) -> Any:
        curator = Curator(rows, example.schema, Budget(1), public=True)
        return federation.contribute(plan, curator, math.inf)

    merged = federation.merge([part(table[:100]), part(table[100:])], "disjoint")
    for ours, theirs in zip(merged.trees, part(table).trees, strict=True):
        np.testing.assert_allclose(ours.counts, theirs.counts, atol=1e-8)


# -- questions --


def test_counts_by_and_where_a_label(example: Example) -> None:
    attribute, counted = example.attribute, Counter(example.codes)
    by = guard(example).count(by="x", epsilon=SURE).tables[0].sum(axis=-1)
    assert np.rint(by).tolist() == [counted[code] for code in range(attribute.size)]
    for code, label in enumerate(attribute.labels):
        rows = guard(example).count(where={"x": [label]}, epsilon=SURE).tables[0].sum()
        assert round(float(rows)) == counted[code]


def test_a_quantile_is_told_by_its_label(example: Example) -> None:
    attribute = example.attribute
    if not attribute.ordered:
        with pytest.raises(ParameterError, match=f"'x', which is {attribute.type}"):
            guard(example).median("x", SURE)
        return
    first = guard(example).quantile("x", 0, SURE)
    last = guard(example).quantile("x", 1, SURE)
    assert (first.index, last.index) == (0, attribute.bins - 1)
    assert (first.label, last.label) == (attribute.labels[0], attribute.labels[attribute.bins - 1])
    assert (first.low, last.high) == (attribute.cuts[0], attribute.cuts[-1])
    assert "label" not in first.to_json()  # as clients of 0.1 know it


# -- publishing --


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_synthetic_rows_fit_the_schema(ending: str, example: Example, tmp_path: Path) -> None:
    schema = example.schema
    table = synthesize(guard(example), SURE, rows=300)
    encoded = encode(schema, table.frame)
    assert encoded.known(schema).all()
    expected = {code: 300 * n / len(example.codes) for code, n in Counter(example.codes).items()}
    drawn = Counter(encoded.codes[0].tolist())
    assert all(abs(drawn[code] - rows) < 10 for code, rows in expected.items()), drawn
    path = tmp_path / f"synthetic.{ending}"
    write_table(table, path)
    again = encode(schema, read_public(str(path)))
    assert [column.tolist() for column in again.codes] == [
        column.tolist() for column in encoded.codes
    ]
    counted = (
        open_table(str(path)).source(schema).count(Question.level(Cells.everything(schema), ["x"]))
    )
    assert counted[0].reshape(-1, 2).sum(axis=1).tolist() == [
        drawn[code] for code in range(example.attribute.size)
    ]


@pytest.mark.parametrize("spread", ["split", "sample"])
def test_randomised_records_collect_and_fit(spread: Any, example: Example, tmp_path: Path) -> None:
    schema = example.schema
    randomizer = Randomizer(schema, 100, spread, 2 if spread == "sample" else 1)
    example.table().to_csv(tmp_path / "people.csv", index=False)
    lines = (tmp_path / "people.csv").read_bytes().splitlines(keepends=True)
    reports = [
        report_line(randomizer.one(record))
        for record in records_of(lines, schema, "people.csv", over_lines=True)
    ]
    (tmp_path / "reports.csv").write_text(header_line(randomizer.columns) + "".join(reports))
    curator = local_curator(read_public(str(tmp_path / "reports.csv")), randomizer)
    fitted = GreedyTreeClassifier(max_depth=1).fit_from(curator)
    table = example.table()
    assert (fitted.predict(table.drop(columns="class")) == table["class"]).all()
    reported = encode(schema, randomizer.many(table)).codes[0].tolist()
    assert Counter(reported) == Counter(example.codes)  # with this epsilon, reports are the truth


@pytest.mark.parametrize("sensitive", ["x", "colour"])
def test_an_outsourced_table_is_joined_again(sensitive: str, example: Example) -> None:
    ring, table = KeyRing.new(), example.table()
    made = split(table, example.schema, sensitive, 2, ring)
    halves = made.halves
    assert verify(halves, ring).problems == []
    _, values = open_true_values(halves, ring)
    joined = Counter(zip(*halves.identifiers.cells, values, strict=True))
    kept = table.drop(index=made.withheld)
    assert joined == Counter(zip(*people_cells(kept, halves.anatomy), strict=True))
    column = values if sensitive == "x" else halves.identifiers.cells[0]
    codes = np.array(example.codes)[kept.index].tolist()
    assert Counter(codes_of(example.attribute, column).tolist()) == Counter(codes)


# -- the command line --


def test_fit_show_and_card(example: Example, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    example.table().to_csv("people.csv", index=False)
    example.schema.write("people.schema.json")

    def run(*words: str) -> str:
        done = CliRunner().invoke(app, list(words))
        assert done.exit_code == 0, (done.output, done.exception)
        return done.output

    charged = ["--epsilon", str(SURE), "--budget", "1000000", "--ledger", "book.sqlite"]
    asked = ["people.csv", "--schema", "people.schema.json", *charged]
    run("fit", *asked, "--learner", "greedy-tree", "--set", "max_depth=1", "--output", "m.json")
    shown = run("show", "m.json")
    for branch in example.branches:
        assert branch.split(" ", 1)[1] in shown
    assert example.card[0] in run("card", "m.json")
    if example.attribute.ordered:
        told = run("quantile", *asked, "--attribute", "x", "--q", "0")
        assert f"is in {example.attribute.labels[0]}, or near it" in told
