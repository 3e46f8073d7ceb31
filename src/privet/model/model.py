"""Hold what is released: trees, how they combine, and the privacy statement.

A model predicts without the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._notebook import count_of, html_box, one_line
from privet._types import Floats, Ints
from privet._validate import check_name
from privet.accounting.statement import PrivacyStatement
from privet.domain import Schema
from privet.domain.routing import Routes
from privet.domain.shown import describe_values
from privet.domain.tree import Tree, domain_shares, sum_upwards
from privet.errors import ParameterError, QuestionError
from privet.model.costs import Costs, decide, read_costs
from privet.model.leaf_vectors import Evidence
from privet.model.population import Population
from privet.model.structure import check_kinds
from privet.text import escape_invisible

if TYPE_CHECKING:
    from privet.model.explanations.explanation import Explanation

Combine = Literal["counts", "probabilities", "vote", "scores"]

#: A notebook shows what models of so many leaves have learnt; of larger ones, ``explain`` does.
MAX_LEAVES_SHOWN = 5000

#: How loud a tree is that knows nothing about a row, where other trees may.
WHISPER = 1e-6


@dataclass(frozen=True, eq=False)
class Model:
    """Trees over one schema.

    Parameters
    ----------
    learner
        The name of the learner, such as ``"random-trees"``.
    schema
        The public schema.
    trees
        At least one. Each states its kind, which must be ``"counts"`` unless scores are
        added up.
    combine
        ``"counts"`` adds the counts of the nodes that a row reaches, ``"probabilities"``
        their class shares; ``"vote"`` gives each tree one vote; ``"scores"`` adds class scores,
        and probabilities are the softmax of the sum.
    privacy
        What the model gives away.
    settings
        Public parameters of the learner, for the card.
    noise
        The standard deviation of each leaf count's noise; 0 for exact counts, and for
        scores, which are no counts.
    evidence
        The released leaf vectors that the trees' counts are made of, where more can be
        added later; one batch for each single release that the privacy statement lists, in the
        same order.
    costs
        What mistakes cost, where the model decides by it: a mapping of pairs (true class,
        predicted class), or a matrix with true classes in rows.
    population
        How the values of each attribute are spread, where that was paid for.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> model = pv.GreedyTreeClassifier(epsilon=1, schema=car.schema).fit(car.table).model_
    >>> model
    <Model 'greedy-tree' for 'class': 1 tree, 1-differentially private with one row added ...>
    >>> pv.ReleasedClassifier(model).predict(car.X.head(1)).shape
    (1,)
    """

    learner: str
    schema: Schema
    trees: tuple[Tree, ...]
    combine: Combine
    privacy: PrivacyStatement
    settings: Mapping[str, Any] = field(default_factory=dict)
    noise: float = 0.0
    evidence: Evidence | None = None
    costs: Floats | None = None
    population: Population | None = None

    def __post_init__(self) -> None:
        if not self.trees or any(
            tree.schema.fingerprint != self.schema.fingerprint for tree in self.trees
        ):
            raise QuestionError("a model needs at least one tree, all of them about its schema")
        check_name("combine", self.combine, get_args(Combine))
        if self.combine == "scores" and self.noise:
            raise ParameterError(
                "noise must be 0 where scores are added up, for there are no counts; got "
                f"{self.noise!r}"
            )
        check_kinds(self.trees, scores=self.combine == "scores")
        if self.evidence is not None and not self._fits(self.evidence):
            raise QuestionError(
                "the leaf vectors of a model must fit its trees, one batch for each release of its "
                "privacy statement"
            )
        if self.costs is not None:
            object.__setattr__(self, "costs", read_costs(self.schema, self.costs))
        if self.population is not None and not self.population.fits(self.schema):
            raise QuestionError("the population of a model must be about its schema's attributes")

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        facts = (
            "Model",
            self.learner,
            self.schema,
            self.trees,
            self.combine,
            self.privacy,
            self.settings,
            self.noise,
            self.evidence,
        )
        # The population changes no prediction. Costs are said only where there are any: 0.1 had
        # none.
        costs = self.costs
        return facts if costs is None else (*facts, costs)

    def __repr__(self) -> str:
        trees = count_of(len(self.trees), "tree")
        kind = f"Model {escape_invisible(self.learner)!r} for {self.schema.target!r}"
        return one_line(kind, trees, self.privacy.describe())

    def _repr_html_(self) -> str:
        leaves = count_of(sum(len(tree.leaves) for tree in self.trees), "leaf", "leaves")
        facts: dict[str, object] = {
            "guarantee": self.privacy.describe(),
            "predicts": f"{self.schema.target}: {describe_values(self.schema.label)}",
            "from": ", ".join(self.schema.names),
            "trees": f"{len(self.trees)}, with {leaves} in all; combined by {self.combine}",
        }
        if self.noise:
            facts["noise"] = f"standard deviation of a leaf's count {self.noise:.3g}"
        box = html_box(f"Model: {self.learner}", facts, alarm=not self.privacy.private)
        return f"{box}{self.privacy._repr_html_()}{self._html_of_effects()}"

    def _html_of_effects(self) -> str:
        """Return what the model has learnt, folded; nothing where that would take long."""
        from privet.model.explanations.page import write_box

        leaves = sum(len(tree.leaves) for tree in self.trees)
        if leaves > MAX_LEAVES_SHOWN:
            return ""
        try:
            return write_box(self.explain())
        except ParameterError:  # its trees do not add up, or ask about too many values
            return ""

    def _fits(self, evidence: Evidence) -> bool:
        shapes = [(tree.cells.n_cells, self.schema.n_classes) for tree in self.trees]
        same = [table.shape for table in evidence.batches[0].tables] == shapes
        return same and len(evidence.batches) == len(self.privacy.leaves)

    def importances(self) -> Floats:
        """Return how much each attribute explains, over all trees; adds up to 1.

        From what is released only.

        For counts it is the drop in Gini impurity at the attribute's splits. Scores are no counts:
        there it is the variance of the scores over people that the splits explain. People are those
        of :attr:`population`, attributes taken as independent; where the model has none, all points
        of the public domain are equally likely. A split of node t into children c explains

            sum over c of share(c) |m(c) - m(t)|^2,

        where share is the part of the people that reaches a node and m the mean of the scores of
        the leaves below it, each centred over the classes, since a constant on all of them changes
        no probability. These add up to the variance of a tree's scores (the law of total variance).

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=5, schema=car.schema).fit(car.table).model_
        >>> float(model.importances().sum().round(6))
        1.0
        """
        total = np.zeros(len(self.schema.names))
        for tree in self.trees:
            gain = _gini_drop(tree)
            if self.combine == "scores":
                people = self.population
                shares = domain_shares(tree.cells) if people is None else people.reach(tree.cells)
                gain = _explained_variance(tree, shares)
            inner = tree.cells.attribute >= 0
            np.add.at(total, tree.cells.attribute[inner], gain[inner])
        return total / total.sum() if total.sum() > 0 else total

    def contributions(self, tree: Tree) -> Floats:
        """Return what each node of a tree adds to the sum over trees.

        Counts, class shares, one vote, or scores.

        Where tables with different attributes were joined, a tree that cannot even answer its first
        test leaves the answer to the trees that can: its root speaks so softly that it is heard
        only where no tree knows anything.
        """
        if self.combine in ("counts", "scores"):
            table = tree.counts
        elif self.combine == "vote":
            table = np.eye(self.schema.n_classes)[tree.counts.argmax(axis=1)]
        else:
            positive = np.maximum(tree.counts, 0.0)
            table = positive / np.maximum(positive.sum(axis=1, keepdims=True), 1e-12)
        if self.privacy.vertical and tree.n_nodes > 1:
            table = np.array(table)
            table[0] *= WHISPER / max(float(np.abs(table[0]).sum()), 1.0)
        return np.asarray(table)

    def probabilities(self, codes: list[npt.NDArray[Any]]) -> Floats:
        """Return the probability of each class for each row of codes."""
        return self.share_sums(self._sum_trees(codes))

    def share_sums(self, total: Floats) -> Floats:
        """Return the probabilities that sums of contributions stand for."""
        n_classes = self.schema.n_classes
        if self.combine == "scores":
            # the largest is 1: nothing overflows
            odds = np.exp(total - total.max(axis=1, keepdims=True))
            return np.asarray(odds / odds.sum(axis=1, keepdims=True))
        total = np.maximum(total, 0.0)
        sums = total.sum(axis=1, keepdims=True)
        # Where noise left nothing, every class is as likely as any other.
        return np.where(sums > 0, total / np.where(sums > 0, sums, 1.0), 1.0 / n_classes)

    def decide(self, probabilities: Floats) -> Ints:
        """Return the number of the class to say for each row of probabilities.

        The most likely one; where mistakes have costs, the one with the smallest expected cost.
        """
        return decide(probabilities, self.costs)

    def with_costs(self, costs: Costs | None) -> Model:
        """Return the same model, deciding by other costs; by the most likely class with None.

        It costs no privacy: probabilities are released, and costs are public.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GreedyTreeClassifier(epsilon=5, schema=car.schema).fit(car.table).model_
        >>> usual = pv.ReleasedClassifier(model)
        >>> careful = pv.ReleasedClassifier(model.with_costs({("unacc", "acc"): 20}))
        >>> sum(careful.predict(car.X) == "acc") <= sum(usual.predict(car.X) == "acc")
        True
        """
        return replace(self, costs=None if costs is None else read_costs(self.schema, costs))

    def explain(
        self, rows: object = None, *, people: object = None, repeats: Sequence[Model] = ()
    ) -> Explanation:
        """Explain the whole model: trees, terms and constants together.

        It costs no privacy, and reads nothing but the model: effects are averaged over the
        population that the model has released, over all values alike where it has none, or over
        synthetic rows. Learners have the same method, which repeats the fit to measure the noise.

        Parameters
        ----------
        rows
            Rows to explain one by one, the first 100; by default none. For each, the parts of its
            attributes (exact Shapley values) and the average add up to its score.
        people
            Synthetic rows to average over, with the attributes of the schema. Never private rows:
            averages over them would be released without being paid for.
        repeats
            Models of the same fit, repeated on synthetic rows: how far they differ is how far noise
            alone moves what is shown.

        Returns
        -------
        Explanation
            ``importances``, ``effects``, ``interactions`` and ``rows``; a notebook shows them, and
            ``save`` writes a page.

        Raises
        ------
        ParameterError
            If the model adds up the counts of several trees, which then do not add up.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car")
        >>> model = pv.GibbsTreeClassifier(epsilon=5, schema=car.schema).fit(car.table).model_
        >>> why = model.explain(car.X.head(1)).rows[0]
        >>> bool((abs(why.average + why.parts.sum(axis=0) - why.score) < 1e-9).all())
        True
        """
        from privet.model.explanations.explanation import explain_model

        return explain_model(self, rows, people=people, repeats=repeats)

    def with_notes(self, notes: Sequence[str]) -> Model:
        """Return the same model with further notes in its privacy statement."""
        said = (*self.privacy.notes, *notes)
        return replace(self, privacy=replace(self.privacy, notes=said)) if notes else self

    def _sum_trees(self, codes: list[npt.NDArray[Any]]) -> Floats:
        """Return the sum over trees of what the node that a row reaches contributes."""
        routes, values = self._routes
        total = np.zeros((len(codes[0]), self.schema.n_classes))
        routes.add_values(routes.pack(codes), values, total)
        return total

    @cached_property
    def _routes(self) -> tuple[Routes, Floats]:
        """All trees laid out for walking, and what each of their nodes contributes."""
        return (
            Routes.through([tree.cells for tree in self.trees]),
            np.concatenate([self.contributions(tree) for tree in self.trees]),
        )


def model_of(given: object, owner: str) -> Model:
    """Return the released model of a trained classifier, or a model as it is.

    ``owner`` is who asks, for the message.
    """
    released = getattr(given, "model_", given)
    if not isinstance(released, Model):
        raise ParameterError(
            f"{owner} needs a trained classifier or a model, got {type(given).__name__}; train "
            "one first (fit or fit_from), or read one with pv.load"
        )
    return released


def _gini_drop(tree: Tree) -> Floats:
    """Return the drop in Gini impurity, times the rows, from each node to its children."""
    counts, inner = tree.counts, tree.cells.attribute >= 0
    if inner.sum() > 1 and (counts[inner] == counts[0]).all():
        # Its inner nodes answer as the root does (``unknown="prior"``): what they count is below.
        counts = sum_upwards(tree.cells, np.where(inner[:, None], 0.0, counts))
    sizes = np.maximum(counts, 0.0).sum(axis=1)
    squares = (np.maximum(counts, 0.0) ** 2).sum(axis=1)
    impurity = sizes - np.divide(squares, sizes, out=np.zeros_like(sizes), where=sizes > 0)
    below = np.zeros_like(impurity)
    np.add.at(below, tree.cells.parents[1:], impurity[1:])
    return np.asarray(np.maximum(impurity - below, 0.0))


def _explained_variance(tree: Tree, shares: Floats) -> Floats:
    """Return the variance of class-centred scores that the split of each node explains.

    ``shares`` says which part of the people reaches each node.
    """
    cells = tree.cells
    leaf = np.where(cells.attribute < 0, shares, 0.0)[:, None]
    sums = sum_upwards(cells, leaf * (tree.counts - tree.counts.mean(axis=1, keepdims=True)))
    means = np.divide(sums, shares[:, None], out=np.zeros_like(sums), where=shares[:, None] > 0)
    means = means.round(12)  # equal but for rounding is equal
    between = shares * ((means - means[cells.parents]) ** 2).sum(axis=1)
    explained = np.zeros_like(shares)
    np.add.at(explained, cells.parents[1:], between[1:])
    return explained
