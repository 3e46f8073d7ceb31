"""What a model is made of, as its trees state it."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.boosting import calibrate_tree
from privet.report import Parts, card_markdown, model_view, tree_text
from privet.report.model_parts import says_classes, vote
from privet.report.plots import draw_terms
from tests.report.models import SCHEMA, small_model
from tests.report.scored import labelled, scored_model, small_drawn, term

EVERYONE = Cells.everything(SCHEMA)
FORMS = EVERYONE.refine({0: Split.multiway(SCHEMA, "form")})
#: Log shares of three classes, as a calibrated tree that says "yes" has them.
YES = [-1.5, -0.5, -1.5]


def shown(model) -> str:
    console = Console(file=StringIO(), width=300)
    console.print(model_view(model, max_trees=10))
    return console.file.getvalue()


def test_trees_terms_and_constants():
    model = scored_model()
    parts = Parts.of(model)
    assert (parts.trees, parts.terms, parts.constants) == tuple((tree,) for tree in model.trees)
    assert [title for _, title in parts.titles()] == [
        "tree 1 of 1",
        "score by age",
        "score of every row",
    ]


def test_counts_are_trees_whatever_they_look_like():
    trees = tuple(replace(tree, kind="counts") for tree in scored_model().trees)
    model = small_model(trees=trees)
    assert Parts.of(model) == Parts(model.trees)


def test_the_statement_counts_and_not_the_numbers():
    numbers = np.vstack([np.zeros(3), 0.7 * np.eye(3)])
    one_split = tuple(Tree(FORMS, numbers, kind) for kind in ("scores", "term"))
    amount = np.array([[0, 0.7, 0]])
    one_node = tuple(Tree(EVERYONE, amount, kind) for kind in ("drawn", "scores", "constant"))
    expected = Parts((one_split[0], *one_node[:2]), one_split[1:], one_node[2:])
    assert Parts.of(scored_model(trees=one_split + one_node)) == expected


def test_the_vote_of_a_drawn_tree():
    assert vote(small_drawn()) == 0.7
    assert vote(term(SCHEMA, "form", np.eye(3))) is None
    assert vote(replace(small_drawn(), kind="scores")) is None


def test_drawn_and_calibrated_trees_say_classes():
    tree = small_drawn()
    kinds = ("drawn", "calibrated", "scores", "term", "constant")
    assert [says_classes(replace(tree, kind=kind)) for kind in kinds] == [True] * 2 + [False] * 3


# -- models whose numbers were guessed wrong in 0.1 ------------------------------------------------


def test_a_calibrated_tree_that_does_not_split_is_no_constant():
    table = {name: [SCHEMA.attributes[name].labels[0]] * 9 for name in ("form", "colour")}
    table |= {"age": [30] * 9, "income": [5] * 9, "advice": ["yes"] * 9}
    curator = Curator(table, SCHEMA, Budget(100))
    tree, _ = calibrate_tree(curator, labelled(EVERYONE, [1]), 100)
    model = scored_model(trees=(tree,))
    assert Parts.of(model) == Parts((tree,))
    assert tree_text(tree, scores=True) == "|--- every row -> yes\n"
    assert "→ yes" in shown(model)
    assert "A leaf says a class, and holds no count." in shown(model)
    card = card_markdown(model)
    assert "one decision tree with 1 leaf in all" in card
    assert "score for every row" not in card
    with pytest.raises(ParameterError, match="this one has trees only"):
        draw_terms(model)


def test_a_calibrated_tree_that_says_one_class_everywhere_shows_it():
    """Shown as one leaf, it looks like a constant."""
    model = scored_model(trees=(Tree(FORMS, np.array([YES] * 4), "calibrated"),))
    assert tree_text(model.trees[0], scores=True) == "|--- every row -> yes\n"
    assert "→ yes" in shown(model)


def test_a_constant_that_speaks_for_one_class_is_no_drawn_tree():
    model = scored_model(trees=(Tree(EVERYONE, np.array([[0, 0.7, 0]]), "constant"),))
    assert tree_text(model.trees[0], scores=True).startswith("|--- every row: ")
    card = card_markdown(model)
    assert "It consists of one score for every row." in card
    assert "drawn at random" not in card


def test_a_term_whose_values_all_speak_for_one_class_shows_scores():
    """Shown as one leaf, it looks like a drawn tree that does not split."""
    tree = term(SCHEMA, "form", [[0, 0.7, 0]] * 3)
    assert tree_text(tree, scores=True) == "|--- every row: no +0.00, yes +0.70, wait +0.00\n"


def test_a_tree_that_looks_like_a_term_is_a_tree():
    tree = Tree(FORMS, np.vstack([np.zeros(3), np.eye(3)]), "scores")
    card = card_markdown(scored_model(trees=(tree,)))
    assert "one decision tree with 3 leaves in all" in card
    assert "Tables of scores" not in card
