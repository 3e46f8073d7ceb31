"""The privacy card: right numbers, right reservations, and nothing unescaped."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest

import privet as pv
from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.domain import Categorical, Numeric, Schema
from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.report import card_html, card_markdown
from privet.report.blocks import Grid, render_html_block, render_markdown, render_text
from privet.report.wording import bound_posterior, format_factor
from tests.report.models import SCHEMA, gaussian_model, open_model, small_model, statement
from tests.report.scored import scored_model, small_drawn

SECTIONS = [
    "What this is",
    "What is protected, and for whom",
    "What epsilon means",
    "What was paid",
    "What is not protected",
    "Data needed to use it",
    "Noise in the counts",
    "Limits",
    "How to verify it",
]


class Page(HTMLParser):
    """Tags that are closed as they were opened, the text, and the headings."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text.append(data)


def page_of(model) -> Page:
    page = Page()
    page.feed(card_html(model))
    page.close()
    assert page.open == []
    return page


def both(model) -> list[str]:
    """The words of both forms, each without its markup."""
    plain = (
        re.sub(r"\\(.)", r"\1", card_markdown(model))
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
    )
    return [plain, " ".join("".join(page_of(model).text).split("\n"))]


def test_sections_in_order():
    assert re.findall(r"^## (.*)$", card_markdown(small_model()), re.MULTILINE) == SECTIONS
    assert re.findall(r"<h2>(.*)</h2>", card_html(small_model())) == SECTIONS


@pytest.mark.parametrize("position", [0, 1])
def test_the_numbers_of_a_pure_promise(position):
    text = both(small_model())[position]
    assert "0.833334-differentially private with one row added or removed" in text
    assert "Epsilon is 0.833334. " in text
    assert "at most 2.301 times as likely" in text  # e^(5/6) = 2.3009..., rounded up
    for number in ("30.2 %", "69.8 %", "4.6 %", "20.4 %"):
        assert number in text
    assert "at most 5.295 (e^1.66667)" in text  # two versions of one row: twice epsilon
    assert "standard deviation of 2.83: it is right to within about 5.66" in text


@pytest.mark.parametrize("position", [0, 1])
def test_where_the_number_of_rows_is_public_presence_costs_twice(position):
    """Somebody else is in the place of whoever is not there: odds times e^(2 * 5/6) = 5.2945."""
    text = both(small_model(SCHEMA.declare(n_rows=1000)))[position]
    assert "at most 2.301 times as likely" in text
    assert (
        "change by at most 5.295 when somebody sees the model (e^1.66667): the number of rows is "
        "public"
    ) in text
    for number in ("15.8 %", "84.2 %", "2 %", "37.1 %"):
        assert number in text
    assert "To tell two versions" not in text


def test_the_bayesian_examples():
    """Odds times and divided by e^epsilon, from the definition."""
    for prior in (0.5, 0.1):
        for epsilon in (0.0, 0.5, 5 / 6, 3.0):
            odds = prior / (1 - prior)
            expected = [
                odds * math.exp(sign * epsilon) / (1 + odds * math.exp(sign * epsilon))
                for sign in (-1, 1)
            ]
            assert bound_posterior(prior, epsilon) == pytest.approx(expected)
    assert bound_posterior(0.1, 1e15) == (0.0, 1.0)


@pytest.mark.parametrize(
    "epsilon", [0.0, 0.01, 0.3, 1.0, 1.999, 2.0, 4.7, 9.0, 12.9, 14.0, 700.0, 1e15]
)
def test_a_factor_is_never_rounded_in_favour_of_the_promise(epsilon):
    text = format_factor(epsilon)
    if text.startswith("10^"):
        assert int(text[3:]) * math.log(10) >= epsilon
    else:
        assert math.exp(epsilon) <= float(text) <= math.exp(epsilon) * 1.06 + 0.002


def test_charges_and_their_sums():
    schema = SCHEMA.declare(rows_per_person=2, neighbours="replace", person="id")
    rows = [
        line for line in card_markdown(small_model(schema)).splitlines() if line.startswith("| ")
    ]
    assert "| splits | 0.333334 | 0.0138889 |" in rows
    assert "| leaf counts | 0.5 | 0.125 |" in rows
    assert "| all together, for one row added or removed | 0.833334 | 0.138889 |" in rows
    assert "| promised, for the neighbours above | 3.33334 | 2.22223 |" in rows


@pytest.mark.parametrize(
    ("facts", "said", "unsaid"),
    [
        (
            {},
            (
                "Every single row. This protects a person only if nobody has more than one row, "
                "which is the owner's assertion"
            ),
            "cut the",
        ),
        (
            {"rows_per_person": 4},
            "at most 4 rows. That nobody has more is the owner's assertion",
            "cut the table",
        ),
        (
            {"rows_per_person": 4, "person": "id"},
            "the curator cut the table to at most 4 rows of each person",
            "assertion",
        ),
        (
            {"person": "id"},
            "the curator cut the table to at most one row of each person",
            "assertion",
        ),
        ({"neighbours": "replace"}, "Exchanging all that one row says", "even taking part"),
        ({}, "even taking part is protected", "Exchanging"),
        ({"n_rows": 12345}, "declared it public (12345)", "replace"),
    ],
)
def test_the_card_says_whom_it_protects(facts, said, unsaid):
    for text in both(small_model(SCHEMA.declare(**facts))):
        assert said in text
        assert unsaid not in text


def test_a_promise_in_rho():
    for text in both(gaussian_model()):
        assert "rho = 0.05" in text
        assert "delta = 1e-05" in text
        assert "rho is k*k times as large" in text
    pure = both(small_model())[0]
    assert "delta" not in pure
    assert "epsilon is k times as large" in pure
    # For two versions of a row the rho is four times as large; the factor comes from that, not from
    # twice epsilon.
    apart = re.search(
        r"put in: the factor is then at most \S+ \(e\^([0-9.]+)\)", both(gaussian_model())[0]
    )
    statement_of_two = PrivacyStatement(
        (Charge("x", Cost(None, Fraction(1, 5))),),
        "add-remove",
        1,
        person=False,
        private=True,
        delta=Fraction(1, 10**5),
    )
    assert apart is not None
    assert float(apart[1]) == pytest.approx(statement_of_two.epsilon, rel=1e-3)


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [("0.1", "very strong"), (1, "a strong"), (4, "moderate"), (10, "weak"), (11, "hardly")],
)
def test_epsilon_in_a_word(epsilon, word):
    privacy = PrivacyStatement.of(SCHEMA, [Charge("counts", Cost.pure(epsilon))], private=True)
    assert word in card_markdown(small_model(privacy=privacy))


def test_what_is_not_protected_is_said_in_every_card():
    for text in both(small_model()):
        for part in (
            "The schema",
            "What is true of the population",
            "predicted from other people's data",
            "Side channels",
            "Groups",
        ):
            assert part in text


def test_a_model_without_a_promise_has_a_loud_banner_and_no_reading_of_epsilon():
    assert card_markdown(open_model()).splitlines()[2].startswith("> **WARNING: NOT PRIVATE.")
    assert '<p class="alarm"' in card_html(open_model())
    assert '<p class="alarm"' not in card_html(small_model())
    for text in both(open_model()):
        assert "epsilon is infinite" in text
        for heading in SECTIONS[1:4]:
            assert heading not in text
        assert "Guarantee" not in text
        assert "random noise" not in text


@pytest.mark.parametrize(
    ("combine", "said"),
    [("counts", "their counts are"), ("probabilities", "shares are"), ("vote", "has one vote")],
)
def test_how_trees_combine(combine, said):
    assert said in card_markdown(small_model(combine=combine))
    assert said not in card_markdown(small_model(combine=combine, trees=small_model().trees[:1]))


def test_scores_are_explained_and_no_count_is_claimed():
    for text in both(scored_model()):
        assert "What the scores are" in text
        assert "Noise in the counts" not in text
        assert "scores, not counts: they hold no count of people" in text
        assert (
            "one decision tree with 5 leaves in all; a table of scores for the values of one "
            "attribute; one score for every row"
        ) in text
        assert "their scores are added up" in text
        assert "every leaf says one class, and adds 0.7 to its score" in text
        assert "drawn at random as a whole" in text
        assert "for each value of: age." in text
        assert "no exact count and no row" in text
        assert "standard deviation" not in text


def test_a_single_drawn_tree_and_one_without_a_promise():
    alone = card_markdown(scored_model(trees=(small_drawn(),)))
    assert "one decision tree with 5 leaves" in alone
    assert "for each value of" not in alone
    assert "protects people" in alone
    assert "protects people" not in card_markdown(
        scored_model(privacy=statement(private=False, reason="epsilon is infinite"))
    )


def test_data_needed():
    for text in both(small_model()):
        assert "complete, incomplete, foster" in text
        assert "20 to 60 in 4 bins" in text
        assert 'a missing entry counts as "not told"' in text
        assert 'everything else counts as "grey"' in text
    many = Schema(
        {"a": Categorical([f"v{i}" for i in range(50)]), "b": Numeric(0, 1, on_unknown="drop")},
        "t",
        ["x", "y"],
    )
    tree = Tree(Cells.everything(many), np.array([[1.0, 2.0]]))
    card = card_markdown(small_model(many, trees=(tree,)))
    assert "v39, … (10 more)" in card
    assert "v40" not in card
    assert "numbers beyond are not used" in card


EVIL = '<script>alert("1")</script>{body}|*_`[x](y) &amp; \'\n# head'


def evil_model():
    schema = Schema(
        {EVIL: Categorical([EVIL, "b"]), "n": Numeric(0, 1, missing=EVIL)}, EVIL + "t", [EVIL, "b"]
    )
    privacy = PrivacyStatement.of(schema, [Charge(EVIL, Cost.pure(1))], private=True, notes=[EVIL])
    tree = Tree(Cells.everything(schema), np.array([[1.0, 2.0]]))
    return small_model(schema, trees=(tree,), privacy=privacy, learner=EVIL, settings={EVIL: EVIL})


def test_a_page_folds_long_lists_and_text_does_not():
    rows = tuple((f"question {number}", "0.1") for number in range(9))
    many = Grid(("for", "epsilon"), (*rows, ("all", "0.9")), folded="lines", kept=1)
    page = render_html_block(many)
    folded, _, after = page.partition("</details>")
    assert folded.startswith("<details><summary>9 lines</summary>")
    assert folded.count("<tr>") == 10
    assert "question 8" in folded
    assert "<td>all</td>" in after
    assert "<details>" not in render_html_block(replace(many, rows=many.rows[-5:]))
    assert "question 8 " in render_text("card", [many])
    assert "| question 8 | 0.1 |" in render_markdown("card", [many])


def test_html_escapes_everything():
    page = page_of(evil_model())
    assert page.tags <= {
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "h1",
        "h2",
        "p",
        "ul",
        "li",
        "div",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        *("span", "em", "small", "b", "i", "s", "details", "summary"),  # of pictures
    }
    assert {name for name, _ in page.attributes} <= {
        "lang",
        "charset",
        "name",
        "content",
        "http-equiv",
        "class",
        "role",
        "scope",
        *("style", "title", "aria-label", "open"),  # of pictures
    }
    assert "".join(page.text).count('<script>alert("1")</script>{body}') >= 8
    reason = small_model(privacy=statement(private=False, reason=EVIL))
    assert "script" not in page_of(reason).tags


def test_html_needs_no_other_file():
    page = card_html(small_model())
    assert not re.search(r"https?:|url\(|@import|src=|href=|<script|<link", page)
    for needed in (
        'name="viewport"',
        "prefers-color-scheme: dark",
        "@media print",
        "default-src 'none'",
    ):
        assert needed in page


def test_markdown_escapes_everything():
    card = card_markdown(evil_model())
    assert "<" not in card
    assert not re.search(r"(?<!\\)`|(?<!\\)\[", card)
    assert [line for line in card.splitlines() if line.startswith("#")][1:] == [
        f"## {name}" for name in [SECTIONS[0], "What it has learnt", *SECTIONS[1:], "Notes"]
    ]
    for line in card.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) in (3, 4)


def test_notes_are_listed():
    privacy = statement(notes=["merged from two parties"])
    for text in both(small_model(privacy=privacy)):
        assert "merged from two parties" in text
    assert "Notes" not in card_markdown(small_model())


# -- pv.card -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "start"),
    [
        ("c.html", "<!DOCTYPE html>"),
        ("c.HTM", "<!DOCTYPE"),
        ("c.md", "# Privacy card: "),
        ("c.txt", "Privacy card: "),
    ],
)
def test_a_card_is_saved_as_its_ending_says(name, start, tmp_path):
    pv.card(small_model()).save(tmp_path / name)
    assert (tmp_path / name).read_text().startswith(start)


def test_another_ending_is_refused(tmp_path):
    with pytest.raises(ParameterError, match=r"\.html, \.md or \.txt, got 'card\.pdf'"):
        pv.card(small_model()).save(tmp_path / "card.pdf")
    assert list(tmp_path.iterdir()) == []


def test_text_has_what_markdown_has_and_fits_a_terminal():
    card = pv.card(small_model())
    text = str(card)
    assert [line for line in text.splitlines() if line in SECTIONS] == SECTIONS
    assert max(map(len, text.splitlines())) <= 88
    words = re.sub(r"[^a-z]+", " ", card.to_markdown())
    assert set(words.split()) <= set(re.sub(r"[^a-z]+", " ", text).split())


def test_a_card_of_hostile_names_escapes_them_in_a_notebook():
    shown = pv.card(evil_model())._repr_html_()
    assert "<script" not in shown
    assert shown.count("<style>") == 2  # of the two pictures, and each about its own class
    assert "{body}" not in "".join(re.findall("<style>(.*?)</style>", shown, re.DOTALL))
    assert "&lt;script" in shown


def test_a_card_shows_what_the_model_has_learnt_on_its_epsilon_line():
    model = scored_model()
    shown = pv.card(model)
    page = shown.to_html()
    assert page.index("What it has learnt") < page.index("What epsilon means")
    assert "The noise was not measured" in page
    again = pv.card(model, explanation=model.explain(repeats=[model, model])).to_html()
    assert "2 repeats of the fit" in again
    # log(0.833334/0.01)/log(40/0.01) of the line
    assert 'style="left:53.3%"' in page
    assert "- Epsilon 0.833334: a strong promise by common standards." in shown.to_markdown()
    assert re.search(r"^- form: 0\.\d\d$", shown.to_markdown(), re.MULTILINE)


def test_a_card_lists_who_asked_what_of_the_same_account_and_how_well_it_does():
    car = pv.datasets.load("car")
    book = pv.MemoryLedger()
    book.set_cap("car", pv.Budget(3))
    book.set_cap("other", pv.Budget(3))
    curator = pv.Curator(car.table, car.schema, ledger=book, dataset="car", analyst="ann")
    other = pv.Curator(car.table, car.schema, ledger=book, dataset="other", analyst="bob")
    model = pv.GreedyTreeClassifier(epsilon=1, max_depth=2).fit_from(curator)
    evaluation = model.score_from(curator, epsilon="1/2")
    other.count(epsilon="1/8")
    text = pv.card(model, evaluation=evaluation, ledger=book).to_markdown()
    asked = text.partition("## Who asked what")[2].partition("## ")[0]
    assert "| ann |" in asked
    assert "bob" not in asked
    assert "more questions of one fit | 1 |" in asked
    assert "all together | 1.5 |" in asked
    assert f"| accuracy | {evaluation.accuracy:.3f} |" in text
    assert "rows that it was trained on" in text
    stranger = pv.card(model, ledger=pv.MemoryLedger()).to_markdown()
    assert "This ledger has no charge of an account" in stranger


def test_only_a_model_has_a_card():
    with pytest.raises(
        ParameterError, match="card needs a trained classifier or a model, got Schema"
    ):
        pv.card(small_model().schema)
    assert repr(pv.card(small_model())).count("\n") == 0


def test_a_model_that_is_too_large_to_explain_has_a_card_and_is_shown(monkeypatch):
    monkeypatch.setattr("privet.model.explanations.boxes.MAX_SET_ENTRIES", 1)
    model = small_model(combine="probabilities")
    with pytest.raises(ParameterError, match="too many leaves"):
        model.explain()
    assert "What it has learnt" not in pv.card(model).to_html()
    assert "class='bars'" not in model._repr_html_()
