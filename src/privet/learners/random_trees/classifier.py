"""Learn private random decision trees."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, ClassVar, Literal, Self

from privet._validate import IntegerIn, NameIn, ParameterCheck, RealIn
from privet.accounting.cost import Number
from privet.accounting.statement import People
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.tree import MAX_HEIGHT
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier, measure_rows
from privet.learners.random_trees.batches import PEOPLE, add_batch, count_leaves, warn_if_worn
from privet.learners.random_trees.drawing import COMBINES, draw_forest, height_for
from privet.model import Combine
from privet.model.leaf_vectors import MAX_SHRINK, STRENGTH, trees_from, weigh_batches


class RandomTreesClassifier(PrivateClassifier):
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
    _public_settings: ClassVar[tuple[str, ...]] = ("n_trees", "combine", "shrink")
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "n_trees": IntegerIn(1),
        "height": IntegerIn(1, MAX_HEIGHT, also=("auto",)),
        "combine": NameIn(*COMBINES),
        "shrink": RealIn(least=0, below=MAX_SHRINK),
        "people": PEOPLE,
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
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.n_trees = n_trees
        self.height = height
        self.combine = combine
        self.shrink = shrink
        self.people = people
        self.random_state = random_state

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        classes: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Add a batch of rows in memory, with ``epsilon`` as its budget; the first batch is fitted.

        ``classes`` is there for scikit-learn's sake: the schema lists the classes, and others are
        refused.
        """
        self._check_parameters()
        known = self.model_.schema if hasattr(self, "model_") else self.schema
        if classes is not None and isinstance(known, Schema) and set(classes) != set(known.classes):
            raise ParameterError(
                f"classes must be those of the schema ({', '.join(map(str, known.classes))}), got "
                f"{list(classes)}"
            )
        if not hasattr(self, "model_"):
            self.fit(X, y, sample_weight)
        else:
            self._refuse_weights(sample_weight)
            if getattr(self, "_positional", False):
                X, y = self._align_columns(X, y)  # noqa: N806
            schema = self.schema if isinstance(self.schema, Schema) else self.model_.schema
            if self.privacy_.person and schema.person is None:
                raise ParameterError(
                    "the batches before say in different columns whose row it is; give a schema "
                    "that names the column of these"
                )
            self._add(
                self._own_curator(schema.declare(n_rows=None), X, y, len(self.privacy_.leaves))
            )
        return self

    def partial_fit_from(self, curator: AnyCurator) -> Self:
        """Add a batch of rows through a curator, which charges ``epsilon`` to its ledger; the first
        batch is fitted.
        """
        self._check_parameters()
        if not hasattr(self, "model_"):
            return self.fit_from(curator)
        self._refuse_seed()
        self._add(curator)
        return self

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
        evidence = weigh_batches([batch], self.shrink)
        return Growth(
            trees_from(forest, evidence),
            self.combine,
            {"height": height},
            batch.deviation,
            evidence,
        )
