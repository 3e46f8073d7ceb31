"""What objects look like: one short line, and a box in a notebook that trusts no text."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import privet as pv
from privet._notebook import MAX_ROWS, MAX_TEXT, html_box, one_line
from privet.accounting.statement import Charge, PrivacyStatement
from privet.curator.account import ledger_of
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import LedgerError
from privet.learners.evaluation import Evaluation

#: Names and labels that would run, style or break a page, or a line.
EVIL = "<script>alert(1)</script>'\"><img src=x onerror=e()>\n\u202e&amp;"
N_ROWS = 4711


def schema_of(text: str = "colour", **facts) -> pv.Schema:
    attributes = {text: pv.Categorical(["red", f"{text}!"]), "n": pv.Numeric(0, 80, bins=20)}
    return pv.Schema(attributes, f"{text}?", ["no", f"{text}*"], **facts)


def curator_of(text: str = "colour", **more) -> pv.Curator:
    schema = schema_of(text)
    table = pd.DataFrame({text: "red", "n": 7.0, schema.target: ["no"] * N_ROWS})
    name = f"table {''.join(char for char in text if char.isprintable())}"
    return pv.Curator(table, schema, pv.Budget(1000), dataset=name, **more)


def shown_things(text: str = "colour") -> dict[str, object]:
    """One of everything that is shown."""
    schema, curator = schema_of(text), curator_of(text)
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, text)})
    counts = curator.count(cells, 1)
    charges = [Charge(text, pv.Cost.pure("1/3"))]
    privacy = PrivacyStatement.of(schema, charges, private=True, notes=[text], assumes=text)
    tree = Tree.from_leaves(cells, counts.tables[0])
    model = pv.Model(text, schema, (tree,), "counts", privacy, noise=1.5)
    confusion = curator.confusion(model, 1)
    return {
        "Schema": schema,
        "Curator": curator,
        "Cells": cells,
        "Tree": tree,
        "PrivacyStatement": privacy,
        "Model": model,
        "Budget": pv.Budget("1/3"),
        "Cost": pv.Cost.pure("1/3"),
        "Evaluation": Evaluation(confusion.tables[0], confusion, schema.classes),
        "Preview": curator.preview([pv.Cost.pure(1)]),
        "Numbers": counts,
        "LabelledCounts": curator.count(by=text, epsilon=1),
        "ChosenSplits": curator.choose(cells, [Split.multiway(schema, "n")], "gini", 1),
        "ChosenIndex": curator.choose_partition(cells, [np.zeros((2, 2), int)], 1),
        "Quantile": curator.median("n", 1),
        "Drawn": curator.draw_tree(pv.TreeSpace(schema, 1), 1),
        "Card": pv.card(model),
    }


NAMES = list(shown_things())


class Page(HTMLParser):
    """The tags and attributes of some HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs) -> None:
        self.tags.append(tag)
        self.attributes += attrs


@pytest.fixture(scope="module")
def plain():
    return shown_things()


@pytest.fixture(scope="module")
def evil():
    return shown_things(EVIL)


@pytest.mark.parametrize("name", NAMES)
def test_a_repr_is_one_short_line_with_its_class(name, plain, evil):
    for things in (plain, evil):
        line = repr(things[name])
        assert line.isprintable()
        assert len(line) < 400
        assert name in line
    assert "array" not in repr(plain[name])


@pytest.mark.parametrize("name", NAMES)
def test_html_is_escaped(name, plain, evil):
    html, hostile = (Page(things[name]._repr_html_()) for things in (plain, evil))
    allowed = {"div", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    allowed |= {"h2", "p", "ul", "li", "span", "em", "small"} if name == "Card" else set()
    pictures = {"b", "i", "p", "s", "u", "span", "style", "details", "summary"}
    allowed |= pictures if name in ("Card", "Model") else set()
    assert set(html.tags) | set(hostile.tags) <= allowed
    names = {attribute for attribute, _ in [*html.attributes, *hostile.attributes]}
    told = {"title", "open", "aria-label"} if name in ("Card", "Model") else set()
    assert names <= {"style", "class", "scope", "role"} | told
    assert not any("url" in (value or "") for _, value in hostile.attributes)


@pytest.mark.parametrize("public", [False, True])
def test_a_curator_shows_no_count_and_no_row(public):
    curator = curator_of(public=public)
    curator.count(by="colour", epsilon=1)
    for text in (repr(curator), curator._repr_html_()):
        assert str(N_ROWS) not in text
        assert "red" not in text
        assert "999" in text


def test_a_curator_is_shown_even_if_its_ledger_is_gone(monkeypatch):
    curator = curator_of()

    def gone(*_: object) -> None:
        raise LedgerError("the ledger cannot be opened")

    monkeypatch.setattr(ledger_of(curator), "cap", gone)
    assert "unknown budget" in repr(curator)
    assert "unknown budget" in curator._repr_html_()


def test_a_notebook_shows_what_a_trained_classifier_has_learnt():
    car = pv.datasets.load("car")
    classifier = pv.GibbsTreeClassifier(epsilon=1, schema=car.schema)
    assert "1-differentially private" not in classifier._repr_mimebundle_()["text/html"]
    shown = classifier.fit(car.table)._repr_mimebundle_()["text/html"]
    for text in ("1-differentially private", "<summary><b>safety</b>", "How far an attribute"):
        assert text in shown
    assert "<script" not in shown


def test_what_is_not_private_says_so():
    with pv.testing.unlock_test_seeds():
        curator = curator_of(bits=pv.testing.SeededBits(1))
    answer = curator.size(1)
    for thing in (curator, answer):
        assert "NOT PRIVATE" in repr(thing)
        assert "#b3261e" in thing._repr_html_()
    assert "#b3261e" not in curator_of()._repr_html_()


def test_a_schema_lists_its_attributes_in_its_own_order():
    names = ["zebra", "ant", "moth", "bee"]
    schema = pv.Schema({name: pv.Numeric(0, 1) for name in names}, "t", [0, 1], n_rows=5)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", schema._repr_html_())
    assert [cell for cell in cells if cell in names] == names
    assert repr(schema) == (
        "<Schema: 4 attributes (zebra, ant, moth, ...), target 't' with 2 classes, 5 rows>"
    )


@pytest.mark.parametrize("given", [{"epsilon": 1}, {"epsilon": "1/3"}, {"rho": "1/20"}])
def test_a_budget_can_be_written_again_from_its_repr(given):
    budget = pv.Budget(**given)
    assert eval(repr(budget), {"Budget": pv.Budget}) == budget


def test_long_tables_and_texts_are_cut():
    html = html_box("t", {"fact": "x" * 999}, headers=["a"], rows=[(n,) for n in range(500)])
    assert html.count("<td") == MAX_ROWS + 2
    assert f"… {500 - MAX_ROWS} more" in html
    assert "x" * MAX_TEXT not in html
    assert len(one_line("Kind", "y" * 999, "", "z")) < 100


def test_numbers_in_frames_are_shown_as_numbers():
    html = curator_of().count(by="colour", epsilon="1/2")._repr_html_()
    assert "text-align: right" in html
    assert "np." not in html
