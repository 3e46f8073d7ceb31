"""Add terms to a model: private Newton steps on the log-likelihood, smoothed and shrunk like a
posterior mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from threadpoolctl import threadpool_limits

from privet._types import Floats
from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.domain.attributes import Attribute
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.learners.priors import average_means, list_priors, smooth_curvature
from privet.learners.resolution import Resolution
from privet.learners.smooth import MOST_BINS_OF_PAIRS
from privet.queries import Numbers
from privet.tables.counting.scoring import UNIT

#: The prior variance of a term's values, and how far a value may go.
PRIOR = 0.1
FARTHEST_STEP = 2.0
#: Of the prior variance of an ordered attribute: the part that neighbouring bins share, and over
#: how much of its range.
SHARED, RANGE = 0.8, 3 / 16
#: The same part of a term of two attributes, whose variance follows what was released.
SHARED_OF_PAIRS = 0.95
#: How much of what a visit has told counts at the next one: trees and other terms were different
#: then.
KEPT = 0.7
#: More bins than this are not smoothed: that takes a matrix of their square.
MAX_SMOOTHED = 1024


class Terms:
    """The additive terms of a model, which every visit refines: one per attribute, or one per pair.

    Their values are the bins of the resolution. ``names`` are the attributes; by default all.
    ``prior`` is the variance of what a value may be. Terms of ``pairs`` have a value for each
    combination of bins, which is what a table of two or three attributes can bear; their variance
    is weighed by what is released (:mod:`~.priors`).
    """

    def __init__(
        self,
        resolution: Resolution,
        names: Sequence[str] | None = None,
        *,
        prior: float = PRIOR,
        pairs: bool = False,
    ) -> None:
        attributes = resolution.schema.names if names is None else names
        groups = combinations(attributes, 2) if pairs else ((name,) for name in attributes)
        self._terms = [_Term(resolution, group, prior) for group in groups]

    @property
    def trees(self) -> list[Tree]:
        """Trees of scores, one for each term that was visited: of one split, or of one below the
        other for a pair.
        """
        return [term.tree for term in self._terms if term.visits]

    def count_rows(self) -> list[tuple[float, float]]:
        """Return how many rows there are at least by each term, and the deviation of that.

        A row adds p(1 - p) to the second derivatives, over all classes at most 1 - 1/T, and of two
        classes, of which one is looked at, 1/4.
        """
        return [term.rows for term in self._terms if term.visits]

    def visit(
        self, curator: AnyCurator, trees: Sequence[Tree], amount: Number, unit: Unit = "epsilon"
    ) -> list[Charge]:
        """Refine all terms, one after the other, as they follow after the given trees.

        Each pays an equal part of the amount. Cost: pure epsilon, or rho, in all. Sensitivity,
        neighbours: see :meth:`~privet.Curator.gradients`.
        """
        each = amount if is_infinite(amount) else parse_exact(unit, amount) / len(self._terms)
        charges = []
        for term in self._terms:
            answer = differentiate(curator, term.cells, (*trees, *self.trees), {unit: each})
            charges.append(Charge(f"additive term of {term.name}", answer.row_cost))
            term.learn(answer)
        return charges


class _Term:
    """The values of a term of one attribute or two, and what was measured about them."""

    def __init__(self, resolution: Resolution, names: Sequence[str], prior: float) -> None:
        schema, coarse = resolution.schema, resolution.coarse
        pair = len(names) > 1
        most = MOST_BINS_OF_PAIRS if pair else None
        splits = [_split_bins(coarse, name, most) for name in names]
        self.name = " and ".join(names)
        self._split = resolution.lift_split(splits[0])
        self.cells = Cells.everything(schema)
        for split in map(resolution.lift_split, splits):
            self.cells = self.cells.refine(dict.fromkeys(range(len(self.cells)), split))
        self._prior, self._pair = prior, pair
        if pair:
            one, other = (_make_alike(coarse.attributes[each.attribute], each) for each in splits)
            self._alike, self._priors = np.asarray(np.kron(one, other)), list_priors(one, other)
        else:
            smoothed = count_smoothed(coarse.attributes[names[0]])
            self._alike = _share_with_neighbours(smoothed, SHARED)
        self.visits = 0
        self.rows = (0.0, 0.0)  # by the last visit
        numbers = 1 if schema.n_classes == 2 else schema.n_classes
        self._values = np.zeros((len(self.cells), numbers))
        self._second, self._weight, self._known = (np.zeros_like(self._values) for _ in range(3))

    @property
    def tree(self) -> Tree:
        schema = self.cells.schema
        values = score_classes(self._values, schema.n_classes)
        if self._pair:
            cell = self.cells.cell
            return Tree(self.cells, np.where(cell[:, None] >= 0, values[cell], 0.0), "scores")
        # A term has a leaf for each value: what is known of a bin holds for all values in it.
        cells = Cells.everything(schema).refine({0: Split.multiway(schema, self._split.attribute)})
        leaves = values[np.array(self._split.branch)]
        return Tree(cells, np.vstack([np.zeros(schema.n_classes), leaves]), "term")

    def learn(self, answer: Numbers) -> None:
        """Move the values to their posterior mean, see below, by one thread: matrices are small,
        and several threads would wait for each other most of the time.
        """
        with threadpool_limits(limits=1, user_api="blas"):
            self._learn(answer)

    def _learn(self, answer: Numbers) -> None:
        """Move the values to their posterior mean.

        A visit measures what each value should be: its step from where it is. What earlier visits
        measured counts less each time, and so does the prior. The mean of all second derivatives
        has less noise than the last.
        """
        first, second, variance = read_derivatives(answer)
        self.visits += 1
        most = 1 / 4 if second.shape[1] == 1 else 1 - 1 / second.shape[1]
        self.rows = (second.sum() / most, np.sqrt(variance * second.size) / most)
        self._second += (second - self._second) / self.visits
        second = self._second
        if self._pair:
            second = smooth_curvature(second, variance / self.visits, self._alike)
        weight, known = weigh_steps(first, second, variance)
        self._weight = KEPT * self._weight + weight
        self._known = KEPT * self._known + known + weight * self._values
        faded = KEPT ** (self.visits - 1)
        if self._pair:
            priors = ((prior / faded, before) for prior, before in self._priors)
            mean = average_means(self._weight, self._known, priors)
        else:
            mean = _find_mean(self._weight, self._known, self._prior / faded, self._alike)
        self._values += np.clip(mean - self._values, -FARTHEST_STEP, FARTHEST_STEP)


def _split_bins(coarse: Schema, name: str, most: int | None) -> Split:
    """Return the split into all values of an attribute: of ordered bins, ``most`` at most."""
    attribute = coarse.attributes[name]
    if most is None or not attribute.ordered or attribute.bins <= most:
        return Split.multiway(coarse, name)
    bins = np.arange(attribute.bins) * most // attribute.bins
    missing = [most] * (attribute.size - attribute.bins)
    return Split(name, (*bins.tolist(), *missing))


def _make_alike(attribute: Attribute, split: Split) -> Floats:
    """Return how alike the children of a split are: bins as their neighbours, others not at all."""
    alike = np.eye(split.n_children)
    if attribute.ordered:
        bins = split.n_children - (attribute.size - attribute.bins)
        alike[:bins, :bins] = _share_with_neighbours(bins, SHARED_OF_PAIRS)
    return alike


def differentiate(
    curator: AnyCurator, cells: Cells, trees: Sequence[Tree], price: dict[Unit, Number]
) -> Numbers:
    """Return noisy derivatives; what a row adds is cut off in the norm that the price is for.

    Sensitivity, neighbours, cost: see :meth:`~privet.Curator.gradients`.
    """
    return curator.gradients(cells, trees, clip="even" if "rho" in price else "own", **price)


def score_classes(steps: Floats, n_classes: int) -> Floats:
    """Return steps as a score for each class: of two classes, only the second has a step."""
    return np.concatenate([-steps / 2, steps / 2], axis=1) if n_classes == 2 else steps


def newton_step(attribute: Attribute, answer: Numbers) -> Floats:
    """Return the change of scores for each value of an attribute.

    It comes from noisy derivatives (values, 2, numbers), which :func:`shrink_steps` weighs. Bins of
    an ordered attribute share most of their prior variance with their neighbours, which smooths.
    """
    return shrink_steps(answer, PRIOR, count_smoothed(attribute))


def count_smoothed(attribute: Attribute) -> int:
    """Return how many values of an attribute are bins whose neighbours tell something."""
    smooth = attribute.ordered and 4 < attribute.bins <= MAX_SMOOTHED
    return attribute.bins if smooth else 0


def shrink_steps(answer: Numbers, prior: float, smoothed: int = 0) -> Floats:
    """Return Newton steps from noisy derivatives (cells, 2, numbers), shrunk by what is known.

    With sums g and h of variance s^2, g/h has about the precision w = h^2/(s^2 + h): what is known
    about a cell's step is r = w g/h. A prior of covariance K makes of it v = (I + K diag(w))^-1 K
    r. K is the same variance for all cells; the first ``smoothed`` ones are neighbours in this
    order.
    """
    weight, known = weigh_steps(*read_derivatives(answer))
    steps = _find_mean(weight, known, prior, _share_with_neighbours(smoothed, SHARED))
    return np.asarray(np.clip(steps, -FARTHEST_STEP, FARTHEST_STEP))


def read_derivatives(answer: Numbers) -> tuple[Floats, Floats, float]:
    """Return first and second derivatives (cells, numbers), and the variance of their noise."""
    first, second = (answer.tables[0][:, order, :] / UNIT for order in (0, 1))
    return first, second, (answer.deviation / UNIT) ** 2


def weigh_steps(first: Floats, second: Floats, variance: float) -> tuple[Floats, Floats]:
    """Return the precision w of each step g/h, and what is known about it, w g/h."""
    second = np.maximum(second, 0.0)
    scale = second / np.maximum(variance + second, 1e-12)
    return scale * second, scale * first


def _find_mean(weight: Floats, known: Floats, prior: float, alike: Floats) -> Floats:
    """Return the posterior mean of what is known with these precisions.

    ``prior`` is the variance of each value. The first ones are as much ``alike`` as that matrix
    says, the others by themselves.
    """
    mean = prior * known / (1 + prior * weight)
    here = slice(len(alike))
    for c in range(mean.shape[1] if len(alike) else 0):
        mean[here, c] = np.linalg.solve(
            np.eye(len(alike)) + prior * alike * weight[here, c], prior * alike @ known[here, c]
        )
    return np.asarray(mean)


def _share_with_neighbours(bins: int, shared: float) -> Floats:
    """Return how alike the bins of an ordered attribute are: neighbours more than others."""
    place = np.arange(bins)
    near = np.exp(-np.abs(place[:, None] - place) / (RANGE * max(bins, 1)))
    return np.asarray((1 - shared) * np.eye(bins) + shared * near)
