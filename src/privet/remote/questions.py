"""What a curator is asked over HTTP. What would be refused in process is refused before it is sent,
in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import numpy.typing as npt

from privet.budget import Cost, Number, Unit, exact, exact_epsilon
from privet.cells import Cell, Cells, Split
from privet.curator import Choice, Choices, Drawn, Numbers, Preview, Quantile, RowScore
from privet.curator.plain import checked_mechanism, expected_tables, whole_handicaps
from privet.curator.quantile import exact_share, numeric_attribute
from privet.errors import BudgetExceeded, ParameterError, QuestionError
from privet.mechanisms.criteria import criterion_named
from privet.mechanisms.randomness import Bits, SystemBits
from privet.mechanisms.selection import Selection
from privet.model import Model
from privet.model.document import to_document
from privet.model.problem import Damaged
from privet.question import Question
from privet.remote.replies import (
    check_cost,
    choice_of,
    choices_of,
    drawn_of,
    model_choice_of,
    numbers_of,
    quantile_of,
    understood,
)
from privet.remote.session import Session
from privet.schema import Schema
from privet.space import TreeSpace
from privet.tree import Tree
from privet.wire.answers import preview_from
from privet.wire.questions import (
    Json,
    candidates_to,
    cells_to,
    expected_to,
    question_to,
    score_to,
    space_to,
    trees_to,
)

Answered = TypeVar("Answered")


class RemoteQuestions:
    """Everything that can be asked about a data set, or about a group of its people. See
    :class:`~privet.Curator` for what it costs.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._bits: Bits = SystemBits()

    @property
    def schema(self) -> Schema:
        """What is public about the table, as the curator has it."""
        return self._session.schema

    @property
    def dataset(self) -> str:
        """The name of what is asked about."""
        return self._session.dataset

    @property
    def account(self) -> str:
        """A digest of the account that is charged."""
        return self._session.account

    @property
    def unit(self) -> Unit:
        """What the budget is counted in."""
        return self._session.unit

    @property
    def private(self) -> bool:
        """Whether the curator's answers are private."""
        return self._session.private

    @property
    def reason(self) -> str:
        """Why answers are not private; empty where they are."""
        return self._session.reason

    @property
    def bits(self) -> Bits:
        """Randomness for structure that is drawn on this side; noise is drawn by the curator."""
        return self._bits

    def snapshot(self) -> AbstractContextManager[None]:
        """Inside this block all questions see the same rows, where the curator's engine can."""
        return self._session.snapshot()

    # -- money -------------------------------------------------------------------------------------

    def preview(self, plan: Iterable[Cost]) -> Preview:
        """What the questions of a plan would cost together, for the declared neighbours, without
        charging.
        """
        told = self._session.preview({"plan": [_planned(cost) for cost in plan], **self._about()})
        with understood("preview"):
            return preview_from(told)

    def require(self, plan: Iterable[Cost]) -> None:
        """Raise :class:`~privet.errors.BudgetExceeded` unless a plan fits. Charges nothing."""
        preview = self.preview(plan)
        asked = preview.cost.amount(self.unit)
        if asked is not None and not preview.fits:
            raise BudgetExceeded(asked, preview.left, self.unit, f"data set {self.dataset!r}")

    # -- questions ---------------------------------------------------------------------------------

    def count(
        self,
        question: Question | Cells | Sequence[Cell],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """Noisy class counts of every cell of every partition."""
        asked = self._question(question)
        shapes = [partition.shape for partition in asked.partitions]
        return self._ask(
            "count",
            {**_price(epsilon, rho), **question_to(asked)},
            lambda told: numbers_of(told, shapes),
        )

    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers:
        """The noisy number of rows, as a table of one number."""
        return self._ask("size", _price(epsilon, rho), lambda told: numbers_of(told, [(1,)]))

    def sums(
        self,
        cells: Cells | Sequence[Cell],
        score: RowScore,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """The noisy sum over each cell of a bounded whole-number score of the rows."""
        asked = self._cells(cells)
        if not isinstance(score, RowScore):
            raise ParameterError(f"a row score must be a RowScore, got {type(score).__name__}")
        self._check_schema("row score", score.schema)
        body = {**_price(epsilon, rho), "cells": cells_to(asked), **score_to(score)}
        return self._ask("sums", body, lambda told: numbers_of(told, [(len(asked),)]))

    def choose(
        self,
        cells: Cells | Sequence[Cell],
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Choices:
        """A good split for each cell, out of ``candidates`` (one list for all cells, or one list
        per cell).
        """
        asked = self._cells(cells)
        offered = _offered(candidates, len(asked))
        checked_mechanism(mechanism)
        criterion_named(criterion, self.schema.n_rows)
        body = {
            **epsilon_of(epsilon),
            "cells": cells_to(asked),
            **candidates_to(candidates),
            "criterion": criterion,
            "mechanism": mechanism,
        }
        return self._ask("choose", body, lambda told: choices_of(told, offered))

    def choose_partition(
        self,
        question: Question | Cells | Sequence[Cell],
        expected: Sequence[npt.ArrayLike],
        epsilon: Number,
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",
    ) -> Choice:
        """The number of a partition whose class counts are (about) farthest from what is expected
        of them.
        """
        asked = self._question(question)
        body = {
            **epsilon_of(epsilon),
            **question_to(asked),
            **expected_to(expected_tables(asked, expected), whole_handicaps(asked, handicaps)),
            "mechanism": checked_mechanism(mechanism),
        }
        return self._ask(
            "choose-partition", body, lambda told: choice_of(told, len(asked.partitions))
        )

    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        """A bin of a numeric attribute that (about) holds its ``q``-quantile."""
        share = exact_share(q)
        numeric_attribute(self.schema, attribute)
        body = {
            **epsilon_of(epsilon),
            "attribute": attribute,
            "q": str(share),
            "mechanism": checked_mechanism(mechanism),
        }
        return self._ask(
            "quantile", body, lambda told: quantile_of(told, self.schema, attribute, share)
        )

    def median(
        self, attribute: str, epsilon: Number, *, mechanism: Selection = "permute-and-flip"
    ) -> Quantile:
        """The :meth:`quantile` of 1/2."""
        return self.quantile(attribute, "1/2", epsilon, mechanism=mechanism)

    def confusion(
        self, model: Model, epsilon: Number | None = None, *, rho: Number | None = None
    ) -> Numbers:
        """The noisy confusion matrix of a released model: true classes in lines, predicted ones in
        columns.
        """
        body = {**_price(epsilon, rho), "model": self._document(model)}
        shape = (self.schema.n_classes, self.schema.n_classes)
        return self._ask("confusion", body, lambda told: numbers_of(told, [shape]))

    def choose_model(self, models: Sequence[Model], epsilon: Number) -> tuple[int, Choices]:
        """The index of a released model that gets (about) the most rows right."""
        if not models:
            raise ParameterError("give at least one model to choose from")
        body = {**epsilon_of(epsilon), "models": [self._document(model) for model in models]}
        return self._ask("choose-model", body, lambda told: model_choice_of(told, len(models)))

    def draw_tree(
        self, space: TreeSpace, epsilon: Number, *, weighting: Sequence[Tree] = ()
    ) -> Drawn:
        """A whole labelled tree, drawn by the exponential mechanism."""
        if not isinstance(space, TreeSpace):
            raise ParameterError(
                f"a space of trees must be a TreeSpace, got {type(space).__name__}"
            )
        self._check_schema("space of trees", space.schema)
        body = {
            **epsilon_of(epsilon),
            "space": space_to(space),
            "weighting": self._trees(weighting),
        }
        return self._ask("draw-tree", body, lambda told: drawn_of(told, self.schema))

    def gradients(
        self,
        cells: Cells | Sequence[Cell],
        trees: Sequence[Tree],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        """Noisy sums over each cell of the derivatives of the rows' log-likelihood by the scores of
        released trees.
        """
        asked = self._cells(cells)
        n_classes = self.schema.n_classes
        shape = (len(asked), 2, 1 if n_classes == 2 else n_classes)
        body = {**_price(epsilon, rho), "cells": cells_to(asked), "trees": self._trees(trees)}
        return self._ask("gradients", body, lambda told: numbers_of(told, [shape]))

    # -- how it is done ----------------------------------------------------------------------------

    def _about(self) -> Json:
        """Which rows a question is about, where these are not all rows of the moment."""
        return {} if self._session.snapshot_id is None else {"snapshot": self._session.snapshot_id}

    def _ask(
        self, kind: str, body: Json, read: Callable[[Mapping[str, Any]], Answered]
    ) -> Answered:
        cost = _cost(kind, body)

        def read_and_check(told: Mapping[str, Any]) -> Answered:
            check_cost(told, cost, self.schema)
            return read(told)

        return self._session.ask(kind, {**body, **self._about()}, read_and_check)

    def _question(self, asked: Question | Cells | Sequence[Cell]) -> Question:
        question = asked if isinstance(asked, Question) else Question.of(self._cells(asked))
        self._check_schema("question", question.schema)
        return question

    def _cells(self, asked: Cells | Sequence[Cell]) -> Cells:
        if isinstance(asked, Question):
            raise QuestionError(
                "this question is asked about the cells of one partition: give Cells, not a "
                "Question"
            )
        cells = asked if isinstance(asked, Cells) else Cells.of(self.schema, asked)
        self._check_schema("question", cells.schema)
        return cells

    def _trees(self, trees: Sequence[Tree]) -> list[Json]:
        for tree in trees:
            self._check_schema("tree", tree.schema)
        return trees_to(trees)

    def _document(self, model: Model) -> Json:
        if not isinstance(model, Model):
            raise ParameterError(f"a model must be a released Model, got {type(model).__name__}")
        self._check_schema("model", model.schema)
        try:
            return to_document(model)
        except Damaged as damage:
            raise QuestionError(f"the model: {damage}") from None

    def _check_schema(self, what: str, schema: Schema) -> None:
        # What is sent are positions and codes: with another schema they would mean something else.
        if schema.fingerprint != self.schema.fingerprint:
            raise QuestionError(f"the {what} is about another schema")


def _price(epsilon: Number | None, rho: Number | None) -> Json:
    if (epsilon is None) == (rho is None):
        raise ParameterError("give either epsilon or rho")
    return epsilon_of(epsilon) if epsilon is not None else {"rho": str(exact("rho", rho))}  # type: ignore[arg-type]


def epsilon_of(epsilon: Number) -> Json:
    """A price in epsilon. Infinity is refused here: it is never sent."""
    return {"epsilon": str(exact_epsilon("epsilon", epsilon))}


def _cost(kind: str, body: Json) -> Cost:
    """What a question must cost, for one row added or removed."""
    if "rho" in body:
        return Cost.concentrated(body["rho"])
    bounded = kind == "draw-tree" or body.get("mechanism") == "exponential"
    return Cost.bounded_range(body["epsilon"]) if bounded else Cost.pure(body["epsilon"])


def _planned(cost: Cost) -> Json:
    """As short as it can be said: rho goes without saying where it follows from epsilon."""
    if cost.epsilon is None:
        return {"rho": str(cost.rho)}
    implied = cost.rho == cost.epsilon**2 / 2
    return (
        {"epsilon": str(cost.epsilon)}
        if implied
        else {"epsilon": str(cost.epsilon), "rho": str(cost.rho)}
    )


def _offered(
    candidates: Sequence[Split] | Sequence[Sequence[Split]], n_cells: int
) -> list[Sequence[Split]]:
    """The candidates of each cell."""
    if candidates and all(isinstance(one, Split) for one in candidates):
        return [candidates] * n_cells  # type: ignore[list-item]
    listed = [one for one in candidates if not isinstance(one, Split)]
    if len(listed) != len(candidates):
        raise QuestionError("candidates must be splits, or one list of splits per cell")
    if len(listed) != n_cells:
        raise QuestionError(f"give one list of candidates per cell ({n_cells}), got {len(listed)}")
    return listed
