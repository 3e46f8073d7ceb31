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
from privet.queries import Numbers
from privet.tables.counting.scoring import UNIT

#: The prior variance of a term's values, and how far a value may go.
PRIOR = 0.1
FARTHEST_STEP = 2.0
#: Of the prior variance of an ordered attribute: the part that neighbouring bins share, and over
#: how much of its range.
SHARED, RANGE = 0.8, 3 / 16
#: More bins than this are not smoothed: that takes a matrix of their square.
MAX_SMOOTHED = 1024


def add_terms(
    curator: AnyCurator,
    trees: Sequence[Tree],
    amount: Number,
    unit: Unit = "epsilon",
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
        values = score_classes(newton_step(attribute, answer), schema.n_classes)
        terms.append(Tree(cells, np.vstack([np.zeros(schema.n_classes), values]), "term"))
    return terms, charges


def score_classes(steps: Floats, n_classes: int) -> Floats:
    """Return steps as a score for each class: of two classes, only the second has a step."""
    return np.concatenate([-steps / 2, steps / 2], axis=1) if n_classes == 2 else steps


def newton_step(attribute: Attribute, answer: Numbers) -> Floats:
    """Return the change of scores for each value of an attribute.

    It comes from noisy derivatives (values, 2, numbers), which :func:`shrink_steps` weighs. Bins of
    an ordered attribute share most of their prior variance with their neighbours, which smooths.
    """
    smooth = attribute.ordered and 4 < attribute.bins <= MAX_SMOOTHED
    return shrink_steps(answer, PRIOR, attribute.bins if smooth else 0)


def shrink_steps(answer: Numbers, prior: float, smoothed: int = 0) -> Floats:
    """Return Newton steps from noisy derivatives (cells, 2, numbers), shrunk by what is known.

    With sums g and h of variance s^2, g/h has about the precision w = h^2/(s^2 + h): what is known
    about a cell's step is r = w g/h. A prior of covariance K makes of it v = (I + K diag(w))^-1 K
    r. K is the same variance for all cells; the first ``smoothed`` ones are neighbours in this
    order.
    """
    first, second = (answer.tables[0][:, order, :] / UNIT for order in (0, 1))
    variance = (answer.deviation / UNIT) ** 2
    second = np.maximum(second, 0.0)
    scale = second / np.maximum(variance + second, 1e-12)
    weight, known = scale * second, scale * first
    steps = prior * known / (1 + prior * weight)  # each cell by itself
    if smoothed:
        covariance, here = _make_shared_prior(smoothed, prior), slice(smoothed)
        for c in range(steps.shape[1]):
            steps[here, c] = np.linalg.solve(
                np.eye(smoothed) + covariance * weight[here, c], covariance @ known[here, c]
            )
    return np.asarray(np.clip(steps, -FARTHEST_STEP, FARTHEST_STEP))


def _make_shared_prior(bins: int, prior: float) -> Floats:
    place = np.arange(bins)
    near = np.exp(-np.abs(place[:, None] - place) / (RANGE * bins))
    return np.asarray(prior * ((1 - SHARED) * np.eye(bins) + SHARED * near))
