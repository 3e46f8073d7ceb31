"""Train on batches that come one after the other: scikit-learn's partial_fit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.errors import ParameterError
from privet.learners.base import PrivateClassifier


class BatchClassifier(PrivateClassifier):
    """A classifier to whose model further rows can be added; :meth:`_add` says how."""

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
            schema, batch = schema.declare(n_rows=None), len(self.privacy_.leaves)
            self._add(self._own_curator(schema, X, y, batch, self._delta_of_batch()))
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

    def _delta_of_batch(self) -> Number:
        """Return the delta of a further batch in memory."""
        return self.delta

    @abstractmethod
    def _add(self, curator: AnyCurator) -> None:
        """Add the rows of a curator to the model."""
