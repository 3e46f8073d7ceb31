"""Models of scores, built by hand and at random: drawn label trees, additive terms, a constant."""

from __future__ import annotations

import numpy as np

from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.model import Model
from tests.report.models import SCHEMA, small_model, statement


def labelled(cells: Cells, labels, amount: float = 0.7) -> Tree:
    """A tree whose every node says one class."""
    return Tree(cells, amount * np.eye(cells.schema.n_classes)[labels], "drawn")


def drawn_tree(
    rng: np.random.Generator,
    schema: Schema,
    *,
    depth: int,
    amount: float = 0.7,
    chance: float = 0.7,
) -> Tree:
    """Splits at random, multiway or one value against the rest, and labels that children tend to
    keep.
    """
    cells = Cells.everything(schema)
    for _ in range(depth):
        splits = {}
        for cell in range(len(cells)):
            if rng.random() < chance:
                name = schema.names[rng.integers(len(schema.names))]
                size = schema.attributes[name].size
                multiway = size < 2 or rng.random() < 0.5
                splits[cell] = (
                    Split.multiway(schema, name)
                    if multiway
                    else Split.value(schema, name, code=int(rng.integers(size)))
                )
        cells = cells.refine(splits)
    labels = rng.integers(0, schema.n_classes, len(cells.attribute))
    for node in range(1, len(labels)):
        if rng.random() < 0.6:
            labels[node] = labels[cells.parents[node]]
    return labelled(cells, labels, amount)


def term(schema: Schema, name: str, scores) -> Tree:
    """One split with a child per value."""
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, name)})
    return Tree(cells, np.vstack([np.zeros(schema.n_classes), scores]), "term")


def small_drawn() -> Tree:
    """form; under 'complete' income below 10 or not, under 'foster' age with the same label
    everywhere.
    """
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "form")})
    cells = cells.refine(
        {0: Split.value(SCHEMA, "colour", code=2), 2: Split.threshold(SCHEMA, "age", code=2)}
    )
    # root; complete, incomplete, foster; not blue, blue; below 40, from 40
    return labelled(cells, [0, 0, 1, 0, 2, 0, 1, 1])


def scored_model(schema: Schema = SCHEMA, **changes) -> Model:
    """A drawn tree, a term and a constant."""
    if "trees" not in changes:
        scores = [[0.5, -0.25, -0.25], [0, 0, 0], [0.1, 0.2, -0.3], [-1.5, 0.5, 1]]
        constant = Tree(Cells.everything(schema), np.array([[0.2, -0.1, -0.1]]), "constant")
        changes["trees"] = (small_drawn(), term(schema, "age", scores), constant)
    return small_model(
        schema, **{"learner": "gibbs", "combine": "scores", "privacy": statement(schema), **changes}
    )
