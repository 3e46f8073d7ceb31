"""A curator for work that may be interrupted: every answer is recorded in the ledger with its
charge, and given again for the same key.

Where the process died after a charge and before its answer was recorded, nothing had been told to
anybody: the question is answered then, for the charge that stands. So two different answers never
leave for one charge, and none is paid for twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any, TypeVar

import numpy.typing as npt

from privet.budget import Cost, Number, Unit
from privet.cells import Cell, Cells, Split
from privet.curator import Choice, Choices, Curator, Drawn, Numbers, Preview, Quantile, RowScore
from privet.curator.answers import Answer
from privet.curator.plain import expected_tables, whole_handicaps
from privet.curator.quantile import exact_share
from privet.errors import BudgetExceeded, KeyReused, ParameterError
from privet.ledger.base import same_request
from privet.ledger.keyed import KeyedLedger
from privet.mechanisms.randomness import Bits
from privet.mechanisms.selection import Selection
from privet.model import Model
from privet.question import Question
from privet.resume.packing import Json, digest_of, packed, unpacked
from privet.resume.unfinished import KeptBits, Unfinished, identity_of
from privet.schema import Schema
from privet.space import TreeSpace
from privet.tree import Tree
from privet.wire.answers import choice_from, choices_from, drawn_from, numbers_from, quantile_from

Answered = TypeVar("Answered", bound=Answer)


class ResumableCurator:
    """Asks a curator of this process, each question under the next key of the work. See
    :class:`~privet.Curator` for meaning and cost.

    ``paid`` is told, after each answer, which share of what was required has been paid for.
    """

    def __init__(
        self,
        curator: Curator,
        unfinished: Unfinished,
        paid: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._curator, self._unfinished, self._paid = curator, unfinished, paid
        self._bits = KeptBits(curator.bits, unfinished)
        self._asked, self._spent, self._required = 0, Fraction(0), Fraction(0)

    # -- what is public ----------------------------------------------------------------------------

    @property
    def schema(self) -> Schema:
        return self._curator.schema

    @property
    def dataset(self) -> str:
        return self._curator.dataset

    @property
    def account(self) -> str:
        return self._curator.account

    @property
    def unit(self) -> Unit:
        return self._curator.unit

    @property
    def left(self) -> Fraction:
        return self._curator.left

    @property
    def private(self) -> bool:
        return self._curator.private

    @property
    def reason(self) -> str:
        return self._curator.reason

    @property
    def bits(self) -> Bits:
        """Randomness for structure that is drawn and released; it is drawn once for the work."""
        return self._bits

    def snapshot(self) -> AbstractContextManager[None]:
        return self._curator.snapshot()

    # -- money -------------------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        """How many answers were paid for before the work was interrupted."""
        ledger = self._curator.ledger
        return sum(1 for entry in self._charges() if ledger.answer(entry.number) is not None)

    @property
    def charged(self) -> bool:
        """Whether the work has cost anything yet."""
        return bool(self._charges())

    def _charges(self) -> list[Any]:
        entries = self._curator.ledger.entries(self.dataset, self._curator.analyst)
        return [entry for entry in entries if entry.key.startswith(f"{self._unfinished.key}.")]

    def preview(self, plan: Iterable[Cost]) -> Preview:
        return self._curator.preview(plan)

    def require(self, plan: Iterable[Cost]) -> None:
        """Raise unless what is still to be paid of a plan fits. Charges nothing."""
        preview = self.preview(plan)
        asked = preview.cost.amount(self.unit)
        if asked is None:
            return
        self._required = asked
        to_pay = asked - sum(
            (entry.cost.amount(self.unit) or Fraction(0) for entry in self._charges()), Fraction(0)
        )
        if to_pay > preview.left:
            raise BudgetExceeded(to_pay, preview.left, self.unit, f"data set {self.dataset!r}")

    # -- questions ---------------------------------------------------------------------------------

    def count(
        self,
        question: Question | Cells | Sequence[Cell],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        asked = self._question(question)
        return self._once(
            ("count", asked, epsilon, rho), lambda c: c.count(asked, epsilon, rho=rho), numbers_from
        )

    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers:
        return self._once(("size", epsilon, rho), lambda c: c.size(epsilon, rho=rho), numbers_from)

    def sums(
        self,
        cells: Cells | Sequence[Cell],
        score: RowScore,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        asked = self._cells(cells)
        return self._once(
            ("sums", asked, score, epsilon, rho),
            lambda c: c.sums(asked, score, epsilon, rho=rho),
            numbers_from,
        )

    def choose(
        self,
        cells: Cells | Sequence[Cell],
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Choices:
        asked = self._cells(cells)
        question = ("choose", asked, candidates, criterion, epsilon, mechanism)
        return self._once(
            question,
            lambda c: c.choose(asked, candidates, criterion, epsilon, mechanism=mechanism),
            choices_from,
        )

    def choose_partition(
        self,
        question: Question | Cells | Sequence[Cell],
        expected: Sequence[npt.ArrayLike],
        epsilon: Number,
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",
    ) -> Choice:
        asked = self._question(question)
        public, less = expected_tables(asked, expected), whole_handicaps(asked, handicaps)
        said = ("choose-partition", asked, public, less, epsilon, mechanism)
        return self._once(
            said,
            lambda c: c.choose_partition(
                asked, public, epsilon, handicaps=less, mechanism=mechanism
            ),
            choice_from,
        )

    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile:
        return self._once(
            ("quantile", attribute, exact_share(q), epsilon, mechanism),
            lambda c: c.quantile(attribute, q, epsilon, mechanism=mechanism),
            lambda told: quantile_from(self.schema, told),
        )

    def median(
        self, attribute: str, epsilon: Number, *, mechanism: Selection = "permute-and-flip"
    ) -> Quantile:
        return self.quantile(attribute, "1/2", epsilon, mechanism=mechanism)

    def confusion(
        self, model: Model, epsilon: Number | None = None, *, rho: Number | None = None
    ) -> Numbers:
        """As the curator does: fits go on where they were interrupted, evaluations do not."""
        return self._curator.confusion(model, epsilon, rho=rho)

    def choose_model(self, models: Sequence[Model], epsilon: Number) -> tuple[int, Choices]:
        """As the curator does: fits go on where they were interrupted, tuning does not."""
        return self._curator.choose_model(models, epsilon)

    def draw_tree(
        self, space: TreeSpace, epsilon: Number, *, weighting: Sequence[Tree] = ()
    ) -> Drawn:
        question = ("draw-tree", space, epsilon, weighting)
        return self._once(
            question,
            lambda c: c.draw_tree(space, epsilon, weighting=weighting),
            lambda told: drawn_from(self.schema, told),
        )

    def gradients(
        self,
        cells: Cells | Sequence[Cell],
        trees: Sequence[Tree],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers:
        asked = self._cells(cells)
        return self._once(
            ("gradients", asked, trees, epsilon, rho),
            lambda c: c.gradients(asked, trees, epsilon, rho=rho),
            numbers_from,
        )

    def split_people(self, n_parts: int, epsilon: Number) -> Sequence[Curator]:
        """As the curator does. Who is in which group is forgotten with the process, so groups are
        divided, and paid for, anew.
        """
        return self._curator.split_people(n_parts, epsilon)

    # -- how it is done ----------------------------------------------------------------------------

    def _question(self, asked: Question | Cells | Sequence[Cell]) -> Question:
        return asked if isinstance(asked, Question) else Question.of(self._cells(asked))

    def _cells(self, asked: Cells | Sequence[Cell]) -> Cells:
        return asked if isinstance(asked, Cells) else Cells.of(self.schema, asked)

    def _once(
        self,
        question: tuple[Any, ...],
        ask: Callable[[Curator], Answered],
        read: Callable[[Json], Answered],
    ) -> Answered:
        """The answer to the next question of the work: the recorded one, or a new one that is
        recorded before anybody sees it.
        """
        # before the charge: what was drawn for this question must not be drawn again
        self._unfinished.save()
        self._asked += 1
        key = f"{self._unfinished.key}.{self._asked}"
        # A key pays for one question to one curator: about one table, under one schema, at one
        # price.
        digest = digest_of((identity_of(self._curator), question))
        ledger = self._curator.ledger
        keyed = KeyedLedger(ledger, self._curator.analyst, key, digest)
        recorded = None
        if keyed.before is not None:
            try:
                recorded = ledger.answer(same_request(keyed.before, digest).number)
            except KeyReused:
                raise ParameterError(
                    f"the fit in {self._unfinished.path} does not ask what it asked before it was "
                    "interrupted (was Privet or the "
                    "schema changed since?); give it up with --anew (what it has cost is spent)"
                ) from None
        if recorded is None:
            answer = ask(self._curator.charging(keyed))
            if keyed.entry is None:  # nothing was charged, so there is nothing to keep
                return answer
            recorded = ledger.record(keyed.entry.number, packed(answer))
        told = unpacked(recorded, read)
        if self._required:
            self._spent += told.cost.amount(self.unit) or Fraction(0)
            self._paid(float(self._spent / self._required))
        return told
