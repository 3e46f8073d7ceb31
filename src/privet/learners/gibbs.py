"""Learn trees that are drawn whole: one of them, or several that are boosted.

Each boosted tree is drawn on the rows that earlier ones leave in doubt (:func:`draw_boosted`).
:func:`add_terms` adds one additive term per attribute: a private Newton step on the log-likelihood,
smoothed and shrunk like a posterior mean.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet._types import Floats
from privet._validate import IntegerIn, ParameterCheck
from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.attributes import Attribute
from privet.domain.cells import Cells, Split
from privet.domain.space import MAX_SPACE_DEPTH, TreeSpace
from privet.domain.tree import Tree
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.default_recipe import recipe_for
from privet.queries import Count, Numbers
from privet.tables.counting.scoring import UNIT

#: Each round weighs the rows by all trees before.
MAX_ROUNDS = 1000

_DEPTH = IntegerIn(0, MAX_SPACE_DEPTH, also=("auto",))


class GibbsTreeClassifier(PrivateClassifier):
    """One decision tree, drawn whole: splits and labels together, with all of epsilon
    (docs/concepts/gibbs.md).

    A tree has probability proportional to prior x exp(epsilon x number of rows that it classifies
    correctly). Sensitivity: a row adds 0 or 1 to the score of every tree. Neighbours: one row added
    or removed. Cost: pure ``epsilon``, of which a twentieth pays for the number of rows where it is
    needed (``max_depth="auto"``) and not declared, and a twentieth, where there is enough evidence,
    for class probabilities by label.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    max_depth
        The most tests on a path, or ``"auto"``: by a public rule from n, epsilon and the
        domain.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.GibbsTreeClassifier(epsilon=1, max_depth=2).fit_from(curator)
    >>> print(model.privacy_)
    1-differentially private with one row added or removed
    >>> pv.export(model, "tree.txt")  # the tree, to read
    """

    _name: ClassVar[str] = "gibbs-tree"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {"max_depth": _DEPTH}

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        max_depth: int | Literal["auto"] = "auto",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.max_depth = max_depth
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        depth = None if self.max_depth == "auto" else int(self.max_depth)
        n_rows = measure_rows(curator, spending) if depth is None else 0.0
        recipe = recipe_for(
            curator.schema, n_rows, spending.left, rounds=1, depth=depth, additive=False
        )
        calibrate = spending.take(recipe.calibration)
        (tree,), charges = draw_boosted(
            curator, recipe.space, 1, spending.take(Fraction(1)), recipe.strength
        )
        spending.charges += charges
        if recipe.calibration:
            tree, charge = calibrate_tree(curator, tree, calibrate)
            spending.charges.append(charge)
        return Growth(
            (tree,),
            "scores",
            {"max_depth": recipe.space.depth, "calibration_share": float(recipe.calibration)},
            0.0,
        )


class GibbsBoostClassifier(PrivateClassifier):
    """Several trees, each drawn whole on rows that weigh less where the trees before are right
    about them.

    A row weighs min(1, (1 - p) T/(T - 1)), where p is the probability that the summed scores of
    earlier, released trees give to its class. Sensitivity: a row adds between 0 and 1 to the score
    of every tree of a round. Neighbours: one row added or removed. Cost: pure ``epsilon``, shared
    evenly by the rounds, after a twentieth for the number of rows where it is needed and not
    declared.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    rounds
        How many trees, or ``"auto"``: by a public rule.
    max_depth
        The most tests on a path, or ``"auto"``.
    delta
        See :class:`~privet.PrivetClassifier`.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.GibbsBoostClassifier(epsilon=1, rounds=2, max_depth=2).fit_from(curator)
    >>> len(model.model_.trees)
    2
    """

    _name: ClassVar[str] = "gibbs-boost"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "rounds": IntegerIn(1, MAX_ROUNDS, also=("auto",)),
        "max_depth": _DEPTH,
    }

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        rounds: int | Literal["auto"] = "auto",
        max_depth: int | Literal["auto"] = "auto",
        delta: Number = 0,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.rounds = rounds
        self.max_depth = max_depth
        self.delta = delta
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        depth = None if self.max_depth == "auto" else int(self.max_depth)
        asked = None if self.rounds == "auto" else int(self.rounds)
        n_rows = measure_rows(curator, spending) if depth is None or asked is None else 0.0
        recipe = recipe_for(
            curator.schema,
            n_rows,
            spending.left,
            spending.unit,
            rounds=asked,
            depth=depth,
            additive=False,
        )
        each = spending.draws(recipe.rounds)
        trees, charges = draw_boosted(curator, recipe.space, recipe.rounds, each, recipe.strength)
        spending.charges += charges
        return Growth(tuple(trees), "scores", recipe.settings, 0.0)


# -- boosting and calibration --

#: How much the first tree counts more than the others.
FIRST = 1.001
#: By how much a node's own label is ahead of the other classes at least.
MARGIN = 0.1


def draw_boosted(
    curator: AnyCurator,
    space: TreeSpace,
    rounds: int,
    epsilon: Number,
    strength: float,
    before: Sequence[Tree] = (),
) -> tuple[list[Tree], list[Charge]]:
    """Draw ``rounds`` trees of scores at ``epsilon`` each.

    Rows weigh less where the trees so far are right about them.

    Cost: rounds times pure epsilon (bounded range each). Neighbours: one row added or removed.
    """
    trees: list[Tree] = []
    charges = []
    for number in range(1, rounds + 1):
        drawn = curator.draw_tree(space, epsilon, weighting=(*before, *trees))
        which = f"tree {number} of {rounds}" if rounds > 1 else "the whole tree"
        charges.append(Charge(f"{which} (depth {space.depth} at most)", drawn.row_cost))
        # Votes of an odd number of trees for two classes are never tied; for more classes the first
        # tree decides.
        first = number == 1 and rounds > 1 and space.schema.n_classes > 2
        trees.append(drawn.tree(strength * FIRST if first else strength))
    return trees, charges


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
    # A number below its noise says little: each borrows as much from "all classes alike".
    counts = np.maximum(answer.tables[0], 0) + max(answer.deviation, 1.0)
    scores = np.log(counts / counts.sum(axis=1, keepdims=True))
    own = np.eye(n_classes, dtype=bool)
    scores[own] = np.maximum(scores[own], np.where(own, -np.inf, scores).max(axis=1) + MARGIN)
    return Tree(cells, scores[labels], "calibrated"), Charge(
        "class counts for each label of the tree", answer.row_cost
    )


# -- additive terms --

#: The prior variance of a term's values, and how far a value may go.
PRIOR = 0.1
FARTHEST_STEP = 2.0
#: Of the prior variance of an ordered attribute: the part that neighbouring bins share, and over
#: how much of its range.
SHARED, RANGE = 0.8, 3 / 16
#: More bins than this are not smoothed: that takes a matrix of their square.
MAX_SMOOTHED = 1024


def add_terms(
    curator: AnyCurator, trees: Sequence[Tree], amount: Number, unit: Unit = "epsilon"
) -> tuple[list[Tree], list[Charge]]:
    """Return one-split trees of scores, one per attribute, that follow after the given trees.

    Each pays an equal part of the amount.

    Cost: pure epsilon, or rho, in all. Sensitivity, neighbours: see
    :meth:`~privet.Curator.gradients`.
    """
    schema = curator.schema
    each = amount if is_infinite(amount) else parse_exact(unit, amount) / len(schema.names)
    terms: list[Tree] = []
    charges = []
    for name, attribute in schema.attributes.items():
        cells = Cells.everything(schema).refine({0: Split.multiway(schema, name)})
        answer = curator.gradients(cells, (*trees, *terms), **{unit: each})
        charges.append(Charge(f"additive term of {name}", answer.row_cost))
        values = newton_step(attribute, answer)
        if schema.n_classes == 2:
            values = np.concatenate([-values / 2, values / 2], axis=1)
        terms.append(Tree(cells, np.vstack([np.zeros(schema.n_classes), values]), "term"))
    return terms, charges


def newton_step(attribute: Attribute, answer: Numbers) -> Floats:
    """Return the change of scores for each value of an attribute.

    It comes from noisy derivatives (values, 2, numbers).

    With sums g and h of variance s^2, g/h has about the precision w = h^2/(s^2 + h): what is known
    about a value's step is r = w g/h. A prior of covariance K makes of it v = (I + K diag(w))^-1 K
    r. K is the same variance for all values; bins of an ordered attribute share most of it with
    their neighbours, which smooths.
    """
    first, second = (answer.tables[0][:, order, :] / UNIT for order in (0, 1))
    variance = (answer.deviation / UNIT) ** 2
    second = np.maximum(second, 0.0)
    scale = second / np.maximum(variance + second, 1e-12)
    weight, known = scale * second, scale * first
    steps = PRIOR * known / (1 + PRIOR * weight)  # each value by itself
    if attribute.ordered and 4 < attribute.bins <= MAX_SMOOTHED:
        prior, here = _make_shared_prior(attribute.bins), slice(attribute.bins)
        for c in range(steps.shape[1]):
            steps[here, c] = np.linalg.solve(
                np.eye(attribute.bins) + prior * weight[here, c], prior @ known[here, c]
            )
    return np.asarray(np.clip(steps, -FARTHEST_STEP, FARTHEST_STEP))


def _make_shared_prior(bins: int) -> Floats:
    place = np.arange(bins)
    near = np.exp(-np.abs(place[:, None] - place) / (RANGE * bins))
    return np.asarray(PRIOR * ((1 - SHARED) * np.eye(bins) + SHARED * near))
