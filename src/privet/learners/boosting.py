"""Boost trees that are drawn whole: where scores start, draws on rows that are still in doubt, and
how much each leaf counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from privet._types import Floats
from privet.accounting.cost import Number, Unit
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.curator.spending import Notice, ignore_counts
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.learners.terms import differentiate, score_classes, shrink_steps
from privet.queries import Count

#: How much the first tree counts more than the others while trees are drawn.
FIRST = 1.001
#: How much more than its part the first of several trees counts in the end, and the last less:
#: people for whom equally many trees vote are then told apart by which trees do.
SPREAD = 0.05
#: By how much a node's own label is ahead of the other classes at least.
MARGIN = 0.1
#: The share of one class from which on the others are rare, and by how many standard deviations of
#: noise it must be above that: a start that is noise costs more than none.
COMMON, SURE = 0.78, 1.0
#: The prior variance of what a leaf's score misses.
LEAF_PRIOR = 0.15


def measure_classes(
    curator: AnyCurator,
    n_rows: float,
    amount: Number,
    unit: Unit = "epsilon",
    notice: Notice = ignore_counts,
) -> tuple[Floats, float, Charge]:
    """Return noisy class shares, and the standard deviation of their noise.

    Sensitivity: a row is in one class. Neighbours: one row added or removed. Cost: pure epsilon, or
    rho.
    """
    answer = curator.ask(Count(Cells.everything(curator.schema)), **{unit: amount})
    notice(answer.tables, answer.deviation)
    counts = np.asarray(answer.tables[0], dtype=np.float64).reshape(-1)
    shares, noise = estimate_shares(counts, answer.deviation, n_rows)
    return shares, noise, Charge("class shares", answer.row_cost)


def start_from_classes(
    schema: Schema, shares: Floats, noise: float, *, common: float = COMMON
) -> Tree | None:
    """Return scores that every row starts from, where one class is rare; None where none is.

    A class is rare where another has a share of at least ``common``, beyond noise. Scores are the
    logarithms of noisy class shares. Draws then look for what tells the rare class from the others,
    instead of learning that it is rare. Free: it follows from released shares.
    """
    rare = float(shares.max()) - SURE * noise >= common
    return Tree(Cells.everything(schema), np.log(shares)[None], "constant") if rare else None


def starts_rare(trees: Sequence[Tree]) -> bool:
    """Return whether scores start from shares of classes of which others than one are rare."""
    starts = [tree.counts[0] for tree in trees if tree.kind == "constant"]
    return any(np.exp(scores).max() >= COMMON * np.exp(scores).sum() for scores in starts)


def lean_on_even(shares: Floats, noise: float) -> Floats:
    """Return noisy class shares that lean on even ones, as much as their noise asks. Free.

    The mean of what they may be, where they are even as likely as anything else beforehand.
    """
    n_classes, even = len(shares), 1 / len(shares)
    spread = (n_classes - 1) / (n_classes**2 * (n_classes + 1))  # of each, if all are as likely
    ratio = noise**2 / (noise**2 + spread)
    far = float(np.square(shares - even).sum()) * (1 - 1 / n_classes) / (2 * max(noise, 1e-9) ** 2)
    odds = ratio ** ((n_classes - 1) / 2) * math.exp(min(far * (1 - ratio), 500.0))
    return np.asarray(even + (shares - even) * (1 - ratio) * odds / (1 + odds))


def estimate_shares(counts: Floats, deviation: float, n_rows: float) -> tuple[Floats, float]:
    """Return class shares from noisy counts that should add up to a known number of rows.

    And the standard deviation of each share's noise. A share below its noise may be anything up to
    it.
    """
    n_classes = len(counts)
    noise = math.sqrt(1 - 1 / n_classes) * deviation / n_rows
    shares = np.clip(1 / n_classes + (counts - counts.mean()) / n_rows, 0.0, 1.0)
    shares = np.maximum(shares, max(0.5 / n_rows, 0.7 * noise))
    return np.asarray(shares / shares.sum()), noise


def draw_boosted(
    curator: AnyCurator,
    space: TreeSpace,
    rounds: int,
    epsilon: Number,
    strength: float,
    before: Sequence[Tree] = (),
    *,
    leaves: dict[Unit, Number] | None = None,
    numbers: Sequence[int] | None = None,
) -> tuple[list[Tree], list[Charge]]:
    """Draw ``rounds`` trees of scores at ``epsilon`` each, or those of them with these numbers.

    Rows weigh less where the trees so far are right about them. ``leaves`` is the price of
    :func:`refine_leaves` for each tree; without it, every leaf counts ``strength`` for its label.

    Cost: rounds times pure epsilon (bounded range each), and the price of the leaves. Neighbours:
    one row added or removed.
    """
    trees: list[Tree] = []
    charges = []
    for number in range(1, rounds + 1) if numbers is None else numbers:
        which = f"tree {number} of {rounds}" if rounds > 1 else "the whole tree"
        # Votes of an odd number of trees for two classes are never tied; for more classes the first
        # tree decides.
        first = number == 1 and rounds > 1 and space.schema.n_classes > 2
        tree, paid = draw_next(
            curator,
            space,
            epsilon,
            strength * FIRST if first else strength,
            (*before, *trees),
            leaves=leaves,
            which=which,
        )
        trees.append(tree)
        charges += paid
    return (trees if leaves is not None else spread_votes(trees)), charges


def spread_votes(trees: Sequence[Tree]) -> list[Tree]:
    """Return drawn trees of which earlier ones count a little more, and later ones less. Free.

    By powers, so that no two sets of as many trees count the same.
    """
    places = np.linspace(1, -1, len(trees)) if len(trees) > 1 else [0.0] * len(trees)
    return [
        replace(tree, counts=tree.counts * (1 + SPREAD) ** place)
        for tree, place in zip(trees, places, strict=True)
    ]


def draw_next(
    curator: AnyCurator,
    space: TreeSpace,
    epsilon: Number,
    strength: float,
    before: Sequence[Tree] = (),
    *,
    leaves: dict[Unit, Number] | None = None,
    which: str = "a tree",
) -> tuple[Tree, list[Charge]]:
    """Draw the tree of scores that follows after others. See :func:`draw_boosted`.

    Cost: pure epsilon (bounded range), and the price of the leaves. Neighbours: one row added or
    removed.
    """
    drawn = curator.draw_tree(space, epsilon, weighting=tuple(before))
    charges = [Charge(f"{which} (depth {space.depth} at most)", drawn.row_cost)]
    tree = drawn.tree(strength)
    if leaves is not None:
        tree, charge = refine_leaves(curator, tree, before, leaves)
        charges.append(Charge(f"leaves of {which}", charge.cost))
    return tree, charges


def refine_leaves(
    curator: AnyCurator, tree: Tree, before: Sequence[Tree], price: dict[Unit, Number]
) -> tuple[Tree, Charge]:
    """Return a tree of scores whose leaves count as much as the rows in them say.

    A private Newton step on the log-likelihood of all trees so far, this one included.
    Sensitivity, neighbours: see :meth:`~privet.Curator.gradients`. Cost: the price.
    """
    answer = differentiate(curator, tree.cells, (*before, tree), price)
    steps = score_classes(shrink_steps(answer, LEAF_PRIOR), tree.schema.n_classes)
    cell = tree.cells.cell
    scores = tree.counts + np.where(cell[:, None] >= 0, steps[cell], 0.0)
    return Tree(tree.cells, scores, "scores"), Charge("leaves", answer.row_cost)


def calibrate_tree(
    curator: AnyCurator, tree: Tree, amount: Number, unit: Unit = "epsilon"
) -> tuple[Tree, Charge]:
    """Return a labelled tree with class probabilities, the same for all nodes of one label.

    They are those of the people who get this answer.

    The label of a node keeps the largest score, so predictions stay. Sensitivity: a row is in one
    entry of the label-by-class table. Neighbours: one row added or removed. Cost: pure epsilon, or
    rho.
    """
    n_classes = tree.schema.n_classes
    labels = tree.counts.argmax(axis=1)
    cells = tree.cells
    by_label = Cells(
        cells.schema,
        cells.attribute,
        cells.offset,
        cells.branch,
        np.where(cells.cell >= 0, labels, -1),
        n_classes,
    )
    answer = curator.ask(Count(by_label), **{unit: amount})
    # A number below its noise says little: each row of the table borrows twice as much from "all
    # classes alike", however many there are.
    counts = np.maximum(answer.tables[0], 0) + max(answer.deviation, 1.0) * 2 / n_classes
    scores = _keep_labels(np.log(counts / counts.sum(axis=1, keepdims=True)))
    return Tree(cells, scores[labels], "calibrated"), Charge(
        "class counts for each label of the tree", answer.row_cost
    )


def lean_on_classes(tree: Tree, shares: Floats) -> Tree:
    """Return a labelled tree whose probabilities lean on released class shares; labels stay.

    One drawn tree says which class a leaf has, and nothing about how common it is. Half of the
    shares' logarithms are added: the tree has learnt some of them already. Free.
    """
    labels, strength = tree.counts.argmax(axis=1), tree.counts.max()
    scores = _keep_labels(strength * np.eye(len(shares)) + np.log(shares) / 2)
    return Tree(tree.cells, scores[labels], "calibrated")


def _keep_labels(scores: Floats) -> Floats:
    """Return scores of the classes for each label, in which the label itself is ahead."""
    own = np.eye(len(scores), dtype=bool)
    ahead = np.where(own, -np.inf, scores).max(axis=1) + MARGIN
    return np.where(own, np.maximum(scores, ahead[:, None]), scores)
