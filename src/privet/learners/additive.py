"""An additive classifier: every attribute has its say, whatever the others are."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import ClassVar

from privet.budget import Number
from privet.cells import Cells
from privet.checks import ParameterCheck, RealIn
from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.learners.base import Growth, PrivateClassifier
from privet.queries import Count
from privet.question import Question
from privet.schema import Schema
from privet.trees.log_odds import log_odds_trees

#: Up to so many attributes are taken as they are. Chosen on public data sets.
FEW = 8


class AdditiveClassifier(PrivateClassifier):
    """Scores for the values of each attribute, added up: naive Bayes, with evidence shrunk by its
    noise and damped.

    It asks one question, the value-by-class counts of every attribute. Sensitivity: a row is in one
    entry of each of the k tables, so k in L1, and each count gets discrete Laplace noise of scale
    k/epsilon. Neighbours: one row added or removed. Cost: pure ``epsilon``. From randomised records
    (:func:`privet.publish.local_curator`) the counts have noise already, and nothing is charged.

    Args:
        epsilon, schema, random_state: see :class:`~privet.learners.base.PrivateClassifier`.
        damping: how much of the evidence of each attribute counts, above 0 and at most 1; by
            default by a public rule, from the number of attributes.
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
        damping = choose_damping(self.damping, len(schema.names))
        question = Question.level(Cells.everything(schema), schema.names)
        answer = curator.ask(Count(question), **{spending.unit: spending.take(Fraction(1))})
        spending.record_charge("values by class of every attribute", answer.row_cost)
        return Growth(
            tuple(log_odds_trees(schema, answer, damping)), "scores", {"damping": damping}, 0.0
        )


def choose_damping(asked: float | None, n_attributes: int) -> float:
    """The damping that was asked for, or 1 for few attributes and less for many: they repeat one
    another more often.
    """
    return min(1.0, FEW / n_attributes) if asked is None else float(asked)
