"""Two parties with different attributes of the same people, both with the default learner: alone,
joined, and by turns on the same rows.

By turns, trees of both parties add up to one score for each row, so each party has to tell the
other, pseudonym by pseudonym, what its trees say about a person. Here one curator of all rows does
what both would do together: it draws each tree from the attributes of one party, and weighs rows by
all trees before. What is released costs the sum of both epsilons; what the parties tell each other
is outside any promise. So this is an experiment, and no protocol that Privet has.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from experiments.bench.federation.problem import Problem
from experiments.bench.federation.results import Row
from privet import PrivetClassifier
from privet._types import Ints
from privet.accounting.statement import PrivacyStatement
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.federation import join
from privet.learners.boosting import draw_next, measure_classes, start_from_classes
from privet.learners.default_recipe import recipe_for, share_for_classes
from privet.learners.relay import make_model
from privet.learners.resolution import resolve_evenly
from privet.learners.terms import Terms
from privet.model import Model

SETS = ("votes", "mushroom", "bank")
EPSILONS = (0.1, 0.5, 1.0, 2.0)
ALONE, JOINED = "one party alone, epsilon", "joined, epsilon/2 each"
TURNS, WHOLE = "by turns, epsilon/2 each", "one table, epsilon"


def run(problem: Problem, repeat: int, fold: int) -> list[Row]:
    """All ways for one division of the attributes, on one fold. A person loses epsilon in each."""
    train, test = problem.fold(repeat, fold)
    seed = 1000 * repeat + fold
    names = np.random.default_rng(seed).permutation(problem.schema.names).tolist()
    halves = [names[: len(names) // 2], names[len(names) // 2 :]]

    def fit(attributes: list[str] | None, epsilon: float) -> Model:
        curator = problem.curator(train, epsilon, attributes)
        return PrivetClassifier(epsilon).fit_from(curator).model_

    rows: list[Row] = []
    for epsilon in EPSILONS:
        ways = {
            ALONE: [fit(half, epsilon) for half in halves],
            JOINED: [join([fit(half, epsilon / 2) for half in halves])],
            TURNS: [fit_by_turns(problem, train, halves, epsilon)],
            WHOLE: [fit(None, epsilon)],
        }
        for way, models in ways.items():
            measured = {
                "accuracy": float(np.mean([problem.accuracy(model, test) for model in models])),
                "auroc": float(np.mean([problem.auroc(model, test) for model in models])),
            }
            rows.append({"way": way, "parties": 2, "epsilon": epsilon, **measured})
    return rows


def fit_by_turns(
    problem: Problem, train: Ints, halves: Sequence[Sequence[str]], epsilon: float
) -> Model:
    """Return the model of a relay over attributes: the recipe of one table, each tree from the
    attributes of one party.

    Each party pays half of epsilon, for half of the trees and for the terms of its attributes, so
    that each tree and each term has what it would have in one table.
    """
    curator, amount = problem.curator(train, epsilon), Fraction(str(epsilon))
    schema, trees = curator.schema, list[Tree]()
    share = share_for_classes(schema, len(train), amount, "epsilon")
    if share:
        shares, noise, _ = measure_classes(curator, len(train), amount * share)
        start = start_from_classes(schema, shares, noise)
        trees += [] if start is None else [start]
    left = amount * (1 - share)
    recipe = recipe_for(schema, len(train), left, rare=bool(trees))
    if recipe.rounds == 1:  # one tree would be of one party: an odd number of votes
        recipe = recipe_for(schema, len(train), left, rare=bool(trees), rounds=3)
    spaces = [_restrict_space(recipe.space, half) for half in halves]
    each = left * (1 - recipe.additive) / recipe.rounds
    for number in range(recipe.rounds):
        leaves = each * recipe.leaves
        tree, _ = draw_next(
            curator,
            spaces[number % len(spaces)],
            each - leaves,
            recipe.strength,
            trees,
            leaves={"epsilon": leaves} if leaves else None,
        )
        trees.append(tree)
    if recipe.additive:
        terms = Terms(resolve_evenly(schema))
        terms.visit(curator, trees, left * recipe.additive)
        trees += terms.trees
    assert curator.left >= 0
    statement = PrivacyStatement.of(schema, [], private=False, reason="an experiment", id="crossed")
    return make_model(schema, trees, statement)


def _restrict_space(space: TreeSpace, names: Sequence[str]) -> TreeSpace:
    """Return the trees of a space that test these attributes only."""
    inner, last = (
        [split for split in splits or () if split.attribute in names]
        for splits in (space.inner, space.last)
    )
    return TreeSpace(space.schema, space.depth, inner, last, split=space.split, keep=space.keep)
