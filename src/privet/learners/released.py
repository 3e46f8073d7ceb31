"""A classifier read from a released file: it predicts, and cannot be trained."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from privet.curator import AnyCurator
from privet.curator.spending import Spending
from privet.errors import ParameterError
from privet.learners.base import Growth, PrivateClassifier
from privet.model import Model


class ReleasedClassifier(PrivateClassifier):
    """A released model with the face of an estimator. It needs no data, and holds none."""

    _name: ClassVar[str] = "released"

    def __init__(self, model: Model) -> None:
        self.model = model
        self.random_state = None
        self._positional = False
        self._adopt(model)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:  # noqa: ARG002, N803
        """Refused: a released model is what it is."""
        raise ParameterError("a released model cannot be trained; train the learner it came from")

    def fit_from(self, curator: AnyCurator) -> Self:  # noqa: ARG002
        """Refused: a released model is what it is."""
        raise ParameterError("a released model cannot be trained; train the learner it came from")

    def _grow(self, curator: AnyCurator, spending: Spending) -> Growth:  # noqa: ARG002
        raise ParameterError("a released model cannot be trained; train the learner it came from")
