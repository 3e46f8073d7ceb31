"""What a model of scores is made of."""

from __future__ import annotations

import numpy as np

from privet.cells import Cells, Split
from privet.release import Parts
from privet.release.parts import vote
from privet.tree import Tree
from tests.release.models import SCHEMA, small_model
from tests.release.scored import labelled, scored_model, small_drawn, term


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
    model = small_model(trees=scored_model().trees)
    assert Parts.of(model) == Parts(model.trees)


def test_what_looks_alike():
    multiway = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "form")})
    coarse = Cells.everything(SCHEMA).refine({0: Split.threshold(SCHEMA, "age", 2)})
    trees = (
        # one split with a child per value, but its root says a class
        labelled(multiway, [0, 1, 2, 0]),
        Tree(coarse, np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0.5]])),  # not one child per value
        labelled(Cells.everything(SCHEMA), [1]),  # a drawn tree that did not split
    )
    assert Parts.of(scored_model(trees=trees)).trees == trees
    odd = (term(SCHEMA, "form", np.eye(3)), Tree(Cells.everything(SCHEMA), np.zeros((1, 3))))
    assert Parts.of(scored_model(trees=odd)) == Parts((), odd[:1], odd[1:])


def test_the_vote_of_a_drawn_tree():
    assert vote(small_drawn()) == 0.7
    assert vote(term(SCHEMA, "form", np.eye(3))) is None
    uneven = np.array(small_drawn().counts)
    uneven[3] *= 2
    assert vote(Tree(small_drawn().cells, uneven)) is None
    assert vote(Tree(small_drawn().cells, -small_drawn().counts)) is None
