"""Train on batches that come one after the other: scikit-learn's partial_fit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, Self

from privet._plain import copy_scalar
from privet.accounting.cost import Number
from privet.curator import AnyCurator
from privet.domain import Schema, text_of
from privet.errors import ParameterError
from privet.learners.base import PrivateClassifier
from privet.learners.in_memory import read_schema
from privet.learners.labels import match_numbered


class BatchClassifier(PrivateClassifier):
    """A classifier to whose model further rows can be added; :meth:`_add` says how."""

    def partial_fit(
        self,
        X: Any,  # noqa: N803
        y: Any = None,
        classes: Any = None,
    ) -> Self:
        """Add a batch of rows in memory, with ``epsilon`` as its budget; the first batch is fitted.

        ``classes`` is there for scikit-learn's sake: the schema lists the classes, and others are
        refused.
        """
        self.check_parameters()
        own = read_schema(type(self).__name__, self.schema)
        if isinstance(own, Schema) and y is not None:
            own = match_numbered(own, y, cloned=self._cloned)
        if classes is not None:
            _check_classes(self.model_.schema if hasattr(self, "model_") else own, classes)
        if not hasattr(self, "model_"):
            self.fit(X, y)
        else:
            if getattr(self, "_positional", False):
                X, y = self._align_columns(X, y)  # noqa: N806
            schema = own if isinstance(own, Schema) else self.model_.schema
            if self.privacy_.person and schema.person is None:
                raise ParameterError(
                    "the batches before say in different columns whose row it is; give a schema "
                    "that names the column of these"
                )
            schema, batch = schema.declare(n_rows=None), len(self.privacy_.leaves)
            curator = self._own_curator(schema, X, y, batch, self._delta_of_batch())
            before = self._remember(schema, X, y)
            self._add(curator)
            self._say_spent(before, curator)
        return self

    def partial_fit_from(self, curator: AnyCurator) -> Self:
        """Add a batch of rows through a curator, which charges ``epsilon`` to its ledger; the first
        batch is fitted.
        """
        self.check_parameters()
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


def _check_classes(schema: object, classes: Iterable[Any]) -> None:
    """Raise unless these are the classes of the schema, whatever their type; None is no schema."""
    if isinstance(schema, Schema):
        given = {text_of(copy_scalar(label)) for label in classes}
        if given != set(schema.label.labels):
            raise ParameterError(
                f"classes must be those of the schema ({', '.join(schema.label.labels)}), got "
                f"{list(classes)}"
            )
