"""Learn private random decision trees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np

from privet._validate import IntegerIn, NameIn, ParameterCheck, RealIn
from privet.accounting.cost import Number
from privet.accounting.statement import People
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.tree import MAX_HEIGHT, Tree
from privet.learners.base import Growth, measure_rows
from privet.learners.batchwise import BatchClassifier
from privet.learners.random_trees.batches import PEOPLE, add_batch, count_leaves, warn_if_worn
from privet.learners.random_trees.drawing import COMBINES, draw_forest, height_for
from privet.model import Combine
from privet.model.leaf_vectors import MAX_SHRINK, STRENGTH, trees_from, weigh_batches


class RandomTreesClassifier(BatchClassifier):
    """Random decision trees with noisy leaf counts (Private-RDT: Jagannathan, Pillaipakkamnatt and
    Wright 2009, 2012).

    The structures are drawn before any data is seen, so only the leaf counts cost anything: one
    question for the whole forest. Sensitivity: a row is in one leaf of each of the N trees, so N in
    L1, and each count gets discrete Laplace noise of scale N/epsilon. Neighbours: one row added or
    removed. Cost: pure ``epsilon``, of which a twentieth pays for the number of rows where it is
    needed (``height="auto"``) and not declared.

    More rows can be added later (:meth:`partial_fit`): the new rows are counted in the same leaves,
    with fresh noise, and added to the released counts. Each batch costs its own ``epsilon``; what a
    person loses is the largest of them if nobody is in two batches, and their sum otherwise
    (``people``).

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    n_trees
        How many trees.
    height
        The depth of every leaf, or ``"auto"``: min(floor(k/2), floor(log_b n) - 1).
    combine
        How trees add up: ``"probabilities"`` (class shares), ``"counts"`` (the papers' sum
        of counts) or ``"vote"`` (one vote per tree, as Hanisch does).
    shrink
        How much thin leaves borrow from their ancestors, in standard deviations of their
        noise, and more where noise dominates
        (:func:`~privet.model.leaf_vectors.weigh_batches`); 0 leaves counts as they are.
    unknown
        What answers a row with a value that its tree does not know: ``"node"``, the counts of the
        node where it stands, or ``"prior"``, those of the whole tree (Hanisch's a-priori class).
        A forest with ``"prior"`` keeps no leaf vectors, so no rows can be added to it.
    people
        Whether the batches of :meth:`partial_fit` are known to hold different people:
        ``"disjoint"``, which is the owner's assertion, or ``"may-overlap"``.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.RandomTreesClassifier(epsilon=1, n_trees=5).fit_from(curator)
    >>> model.predict_proba(car.X.head(3)).shape  # rows, classes
    (3, 4)
    """

    _name: ClassVar[str] = "random-trees"
    _public_settings: ClassVar[tuple[str, ...]] = ("n_trees", "combine", "shrink", "unknown")
    _later: ClassVar[frozenset[str]] = frozenset({"unknown"})
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "n_trees": IntegerIn(1),
        "height": IntegerIn(1, MAX_HEIGHT, also=("auto",)),
        "combine": NameIn(*COMBINES),
        "shrink": RealIn(least=0, below=MAX_SHRINK),
        "people": PEOPLE,
        "unknown": NameIn("node", "prior"),
    }

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        n_trees: int = 10,
        height: int | Literal["auto"] = "auto",
        combine: Combine = "probabilities",
        shrink: float = STRENGTH,
        people: People = "may-overlap",
        unknown: Literal["node", "prior"] = "node",
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.n_trees = n_trees
        self.height = height
        self.combine = combine
        self.shrink = shrink
        self.people = people
        self.unknown = unknown
        self.random_state = random_state

    def _add(self, curator: AnyCurator) -> None:
        self._adopt(add_batch(self.model_, curator, self.epsilon, self.people))
        warn_if_worn(self.model_)

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        if self.height == "auto":
            height = height_for(curator.schema, measure_rows(curator, spending))
        else:
            height = int(self.height)
        forest = draw_forest(curator.schema, self.n_trees, height, curator.bits)
        batch, cost = count_leaves(curator, forest, spending.take(Fraction(1)))
        spending.record_charge(f"leaf counts of {self.n_trees} trees", cost)
        spending.notice_counts(batch.tables, batch.deviation)
        evidence = weigh_batches([batch], self.shrink)
        trees = trees_from(forest, evidence)
        prior = self.unknown == "prior"
        return Growth(
            tuple(map(answer_by_root, trees)) if prior else trees,
            self.combine,
            {"height": height},
            batch.deviation,
            None if prior else evidence,
        )


def answer_by_root(tree: Tree) -> Tree:
    """Return the tree with the counts of its root in every inner node, where unknown values end."""
    inner = tree.cells.attribute >= 0
    return replace(tree, counts=np.where(inner[:, None], tree.counts[0], tree.counts))
