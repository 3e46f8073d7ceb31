"""Learn an additive classifier: every attribute adds its say, whatever the others are.

Its terms come from noisy value-by-class counts: how much each value of an attribute speaks for each
class, shrunk by its known noise.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet._validate import ParameterCheck, RealIn
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Question
from privet.domain.tree import Tree
from privet.learners.base import Growth, PrivateClassifier
from privet.learners.resolution import refuse_grids
from privet.queries import Count, Numbers

#: Up to so many attributes are taken as they are. Chosen on public data sets.
FEW = 8


class AdditiveClassifier(PrivateClassifier):
    """Scores for the values of each attribute, added up: naive Bayes, with evidence shrunk by its
    noise and damped.

    It asks one question, the value-by-class counts of every attribute. Sensitivity: a row is in one
    entry of each of the k tables, so k in L1, and each count gets discrete Laplace noise of scale
    k/epsilon. Neighbours: one row added or removed. Cost: pure ``epsilon``. From randomised records
    (:func:`privet.local.collecting.local_curator`) the counts have noise already, and nothing is
    charged.

    Parameters
    ----------
    epsilon, schema, random_state
        See :class:`~privet.learners.base.PrivateClassifier`.
    damping
        How much of the evidence of each attribute counts, above 0 and at most 1; by
        default by a public rule, from the number of attributes.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(2))
    >>> model = pv.AdditiveClassifier(epsilon=1).fit_from(curator)
    >>> len(model.model_.trees)  # one for each attribute, and one for the classes
    7
    """

    _name: ClassVar[str] = "additive"
    _parameters: ClassVar[Mapping[str, ParameterCheck]] = {
        "damping": RealIn(above=0, most=1, none=True)
    }

    def __init__(
        self,
        epsilon: Number = 1.0,
        schema: Schema | str | None = None,
        *,
        damping: float | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.damping = damping
        self.random_state = random_state

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:
        schema = curator.schema
        refuse_grids(schema, type(self).__name__)
        damping = choose_damping(self.damping, len(schema.names))
        question = Question.level(Cells.everything(schema), schema.names)
        answer = curator.ask(Count(question), **{spending.unit: spending.take(Fraction(1))})
        spending.record_charge("values by class of every attribute", answer.row_cost)
        spending.notice_counts(answer.tables, answer.deviation)
        return Growth(
            tuple(log_odds_trees(schema, answer, damping)), "scores", {"damping": damping}, 0.0
        )


def choose_damping(asked: float | None, n_attributes: int) -> float:
    """Return the damping that was asked for, or 1 for few attributes and less for many.

    Many attributes repeat one another more often.
    """
    return min(1.0, FEW / n_attributes) if asked is None else float(asked)


# -- additive terms from value-by-class counts --

#: How far a value may raise or lower the score of a class.
FARTHEST_LOG_ODDS = 4.0
#: Values of an attribute differ only as far as this many standard deviations of noise do not
#: explain it.
SURE = 1.0


def log_odds_trees(schema: Schema, answer: Numbers, damping: float) -> list[Tree]:
    """Return trees of scores that add up.

    One is for the classes as such, and there is one per attribute, in the order of the schema's
    names.

    The scores of a value are ``damping`` times the logarithm of its class shares over those of
    everybody. Undamped they would add up to naive Bayes, which counts evidence twice where
    attributes say the same.
    """
    shares = _class_shares(answer.tables)
    trees = [Tree(Cells.everything(schema), np.log(shares)[None], "constant")]
    for name, counts, deviations in zip(
        schema.names, answer.tables, answer.deviations, strict=True
    ):
        drawn = shrink_shares(counts[0].astype(np.float64), deviations[0], shares)
        scores = np.clip(damping * np.log(drawn / shares), -FARTHEST_LOG_ODDS, FARTHEST_LOG_ODDS)
        cells = Cells.everything(schema).refine({0: Split.multiway(schema, name)})
        trees.append(Tree(cells, np.vstack([np.zeros(schema.n_classes), scores]), "term"))
    return trees


def shrink_shares(counts: Floats, deviations: Floats, shares: Floats) -> Floats:
    """Return the class shares of each value, drawn towards everybody's.

    As far as noise explains how they differ.

    The squared distance d^2 of a value's shares from everybody's has noise (and chance in who the
    people are) of a known mean s^2. What is above it, in a mean over all people, is how much values
    of this attribute really differ, t^2; a value keeps t^2 / (t^2 + s^2) of its distance (an
    empirical Bayes estimate; James and Stein 1961).
    """
    noise_of_size = np.sqrt((deviations**2).sum(axis=1))
    # no value is taken for smaller than its noise
    sizes = np.maximum(counts.sum(axis=1), np.maximum(noise_of_size, 1.0))
    away = counts / sizes[:, None] - (counts.sum(axis=1) / sizes)[:, None] * shares
    noise = (deviations**2).sum(axis=1) / sizes**2 + float((shares * (1 - shares)).sum()) / sizes
    by_chance = SURE * math.sqrt(2 * float(((sizes * noise) ** 2).sum()))
    real = max(float((sizes * ((away**2).sum(axis=1) - noise)).sum()) - by_chance, 0.0) / float(
        sizes.sum()
    )
    kept = shares + (real / (real + noise))[:, None] * away
    positive = np.maximum(kept, 1e-3 * shares)
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))


def _class_shares(tables: Sequence[npt.NDArray[np.int64]]) -> Floats:
    """Return the class shares of everybody: every table counts them, each with noise of its own."""
    totals = np.mean([table.sum(axis=(0, 1), dtype=np.float64) for table in tables], axis=0)
    positive = np.maximum(totals, 0.0) + 1.0
    return np.asarray(positive / positive.sum())
