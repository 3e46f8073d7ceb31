"""Add terms to a model: private Newton steps on the log-likelihood, smoothed and shrunk like a
posterior mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet._types import Floats
from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.domain.attributes import Attribute
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.learners.resolution import Resolution
from privet.queries import Numbers
from privet.tables.counting.scoring import UNIT

#: The prior variance of a term's values, and how far a value may go.
PRIOR = 0.1
FARTHEST_STEP = 2.0
#: Of the prior variance of an ordered attribute: the part that neighbouring bins share, and over
#: how much of its range.
SHARED, RANGE = 0.8, 3 / 16
#: How much of what a visit has told counts at the next one: trees and other terms were different
#: then.
KEPT = 0.7
#: More bins than this are not smoothed: that takes a matrix of their square.
MAX_SMOOTHED = 1024


class Terms:
    """The additive terms of a model: one per attribute, which every visit refines.

    Their values are the bins of the resolution. ``names`` are the attributes; by default all.
    ``prior`` is the variance of what a value may be.
    """

    def __init__(
        self, resolution: Resolution, names: Sequence[str] | None = None, *, prior: float = PRIOR
    ) -> None:
        attributes = resolution.schema.names if names is None else names
        self._terms = [_Term(resolution, name, prior) for name in attributes]

    @property
    def trees(self) -> list[Tree]:
        """One-split trees of scores, one for each attribute that was visited."""
        return [term.tree for term in self._terms if term.visits]

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
    """The values of one attribute's term, and what was measured about them."""

    def __init__(self, resolution: Resolution, name: str, prior: float = PRIOR) -> None:
        schema, coarse = resolution.schema, resolution.coarse
        self.name, self._prior = name, prior
        self._split = resolution.lift_split(Split.multiway(coarse, name))
        self.cells = Cells.everything(schema).refine({0: self._split})
        self.visits = 0
        self._attribute = coarse.attributes[name]
        numbers = 1 if schema.n_classes == 2 else schema.n_classes
        self._values = np.zeros((len(self.cells), numbers))
        self._second, self._weight, self._known = (np.zeros_like(self._values) for _ in range(3))

    @property
    def tree(self) -> Tree:
        schema = self.cells.schema
        # A term has a leaf for each value: what is known of a bin holds for all values in it.
        values = score_classes(self._values, schema.n_classes)[np.array(self._split.branch)]
        cells = Cells.everything(schema).refine({0: Split.multiway(schema, self.name)})
        return Tree(cells, np.vstack([np.zeros(schema.n_classes), values]), "term")

    def learn(self, answer: Numbers) -> None:
        """Move the values to their posterior mean.

        A visit measures what each value should be: its step from where it is. What earlier visits
        measured counts less each time, and so does the prior. The mean of all second derivatives
        has less noise than the last.
        """
        first, second, variance = read_derivatives(answer)
        self.visits += 1
        self._second += (second - self._second) / self.visits
        weight, known = weigh_steps(first, self._second, variance)
        self._weight = KEPT * self._weight + weight
        self._known = KEPT * self._known + known + weight * self._values
        prior = self._prior / KEPT ** (self.visits - 1)
        mean = find_mean(self._weight, self._known, prior, count_smoothed(self._attribute))
        self._values += np.clip(mean - self._values, -FARTHEST_STEP, FARTHEST_STEP)


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
    steps = find_mean(weight, known, prior, smoothed)
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


def find_mean(weight: Floats, known: Floats, prior: float, smoothed: int) -> Floats:
    """Return the posterior mean of what is known with these precisions."""
    mean = prior * known / (1 + prior * weight)  # each cell by itself
    if smoothed:
        covariance, here = _make_shared_prior(smoothed, prior), slice(smoothed)
        for c in range(mean.shape[1]):
            mean[here, c] = np.linalg.solve(
                np.eye(smoothed) + covariance * weight[here, c], covariance @ known[here, c]
            )
    return np.asarray(mean)


def _make_shared_prior(bins: int, prior: float) -> Floats:
    place = np.arange(bins)
    near = np.exp(-np.abs(place[:, None] - place) / (RANGE * bins))
    return np.asarray(prior * ((1 - SHARED) * np.eye(bins) + SHARED * near))
