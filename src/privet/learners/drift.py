"""Measure how far new rows still agree with a released model, and how much its scores count.

A model whose probabilities are right gets at least the share sum p^2 of rows right, on average over
rows: its most likely class has a probability of at least that. Where new rows are right less often,
the model is too sure of itself: what it learnt does not hold any more, or not for these people. Its
scores then count less. Both sides are measured on the new rows, and paid for.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from privet.accounting.cost import Number, Unit, parse_exact
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.learners.default_recipe import measure_evidence
from privet.learners.terms import differentiate, read_derivatives
from privet.model import Model
from privet.queries import Confusion

#: The standard deviation of the noise that the share of right rows may have, and the least and the
#: largest share of the amount for it: where that does not suffice, nothing is measured.
NOISE, LEAST_SHARE, LARGEST_SHARE = 0.02, 0.01, 0.1
#: How many standard deviations a model is given the benefit of.
DOUBT = 2.0
#: Scores that would count less than this do not count.
LEAST_TRUST = 0.1


def share_for_trust(schema: Schema, n_rows: float, amount: Fraction, unit: Unit) -> Fraction:
    """Return the share of the amount that tells whether new rows contradict a model.

    From public quantities alone; none where noise would hide it.
    """
    if unit == "epsilon":  # T counts of variance 2/epsilon^2, for half of the share
        evidence = measure_evidence(n_rows, amount, unit)
        needed = 2 * math.sqrt(2 * schema.n_classes) / (NOISE * evidence)
    else:  # T counts of variance 1/(2 rho)
        needed = schema.n_classes / (float(amount) * (NOISE * n_rows) ** 2)
    if needed > LARGEST_SHARE:
        return Fraction(0)
    return Fraction(math.ceil(100 * max(needed, LEAST_SHARE)), 100)


def measure_trust(
    curator: AnyCurator, model: Model, n_rows: float, amount: Number, unit: Unit
) -> tuple[float, list[Charge]]:
    """Return how much the scores of a model count for new rows, from 0 to 1.

    Sensitivity: 1 for the confusion matrix; 3/4 (two classes) or 1 in L1 for derivatives over all
    rows. Neighbours: one row added or removed. Cost: pure epsilon, or rho; half for each.
    """
    half = parse_exact(unit, amount) / 2
    said = curator.ask(Confusion(model), **{unit: half})
    bends = differentiate(curator, Cells.everything(curator.schema), model.trees, {unit: half})
    charges = [
        Charge("rows that the model gets right", said.row_cost),
        Charge("how sure the model is", bends.row_cost),
    ]
    n_classes = curator.schema.n_classes
    right = float(np.trace(said.tables[0])) / n_rows
    noise = math.sqrt(n_classes) * said.deviation / n_rows
    _, second, _ = read_derivatives(bends)
    doubt = float(second.sum()) * (2 if n_classes == 2 else 1) / n_rows
    return weigh_scores(right, 1 - doubt, noise, n_rows, n_classes), charges


def weigh_scores(
    right: float, claimed: float, noise: float, n_rows: float, n_classes: int
) -> float:
    """Return the factor for scores that are right so often, and claim at least so much.

    1 unless noise and chance leave no doubt that they are right less often than they claim. Then it
    is the ratio of the log-odds of both. Free: it follows from released numbers.
    """
    claimed = min(max(claimed, 1.01 / n_classes), 1 - 1e-3)
    chance = math.sqrt(claimed * (1 - claimed) / n_rows)
    best = right + DOUBT * math.hypot(noise, chance)
    if best >= claimed:
        return 1.0
    ratio = _find_odds(best, n_classes) / _find_odds(claimed, n_classes)
    return ratio if ratio >= LEAST_TRUST else 0.0


def _find_odds(share: float, n_classes: int) -> float:
    share = max(share, 1e-3)
    return math.log(share * (n_classes - 1) / (1 - share))
