"""One additive term per attribute: a private Newton step on the log-likelihood, smoothed and shrunk
like a posterior mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.budget import Number, Unit, is_infinite, parse_exact
from privet.cells import Cells, Split
from privet.counts.scoring import UNIT
from privet.curator import AnyCurator
from privet.privacy import Charge
from privet.queries import Numbers
from privet.schema import Numeric
from privet.schema.attributes import Attribute
from privet.tree import Tree
from privet.typed import Floats

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
    """One-split trees of scores, one per attribute, that follow after the given trees. Each pays an
    equal part of the amount.

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
    """The change of scores for each value of an attribute, from noisy derivatives (values, 2,
    numbers).

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
    if isinstance(attribute, Numeric) and 4 < attribute.bins <= MAX_SMOOTHED:
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
