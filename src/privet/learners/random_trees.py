"""Private random decision trees."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar, Literal

from privet.budget import Number
from privet.curator import AnyCurator
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier, Purse, checked_whole, rows_of
from privet.model import Combine
from privet.question import Question
from privet.schema import Schema
from privet.tree import Tree
from privet.trees.random import draw_forest, height_for
from privet.trees.shrink import STRENGTH, shrunk


class RandomTreesClassifier(PrivateClassifier):
    """Random decision trees with noisy leaf counts (Private-RDT: Jagannathan, Pillaipakkamnatt and Wright 2009, 2012).

    The structures are drawn before any data is seen, so only the leaf counts cost anything: one question for the whole forest.
    Sensitivity: a row is in one leaf of each of the N trees, so N in L1, and each count gets discrete Laplace noise of scale N/epsilon.
    Neighbours: one row added or removed. Cost: pure ``epsilon``, of which a twentieth pays for the number of rows where it is
    needed (``height="auto"``) and not declared.

    Args:
        epsilon, schema, random_state: see :class:`~privet.learners.base.PrivateClassifier`.
        n_trees: how many trees.
        height: the depth of every leaf, or ``"auto"``: min(floor(k/2), floor(log_b n) - 1).
        combine: how trees add up: ``"probabilities"`` (class shares), ``"counts"`` (the papers' sum of counts) or ``"vote"`` (one
            vote per tree, as Hanisch does).
        shrink: how much thin leaves borrow from their ancestors, in standard deviations of their noise; 0 leaves counts as they are.
    """

    _name: ClassVar[str] = "random-trees"
    _public_settings: ClassVar[tuple[str, ...]] = ("n_trees", "combine", "shrink")

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        n_trees: int = 10,
        height: int | Literal["auto"] = "auto",
        combine: Combine = "probabilities",
        shrink: float = STRENGTH,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.n_trees = n_trees
        self.height = height
        self.combine = combine
        self.shrink = shrink
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, purse: Purse) -> Growth:
        checked_whole("n_trees", self.n_trees, 1)
        if self.combine not in ("probabilities", "counts", "vote"):
            raise ParameterError(f"combine must be 'probabilities', 'counts' or 'vote', got {self.combine!r}")
        if not isinstance(self.shrink, int | float) or not 0 <= self.shrink < 1e6:
            raise ParameterError(f"shrink must be a number of at least 0, got {self.shrink!r}")
        if self.height == "auto":
            height = height_for(curator.schema, rows_of(curator, purse))
        else:
            checked_whole("height", self.height, 1)
            height = int(self.height)
        forest = draw_forest(curator.schema, self.n_trees, height, curator.bits)
        answer = curator.count(Question.forest(forest), purse.take(Fraction(1)))
        purse.paid(f"leaf counts of {self.n_trees} trees", answer.row_cost)
        trees = tuple(
            shrunk(cells, table, answer.deviation, self.shrink) if self.shrink else Tree.from_leaves(cells, table)
            for cells, table in zip(forest, answer.tables, strict=True)
        )
        return Growth(trees, self.combine, {"height": height}, answer.deviation)
