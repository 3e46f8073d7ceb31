"""What every curator does, wherever it stands: in this process, or behind HTTP. Learners ask for no
more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Protocol

import numpy.typing as npt

from privet.budget import Cost, Number, Unit
from privet.cells import Cell, Cells, Split
from privet.curator.answers import Choice, Choices, Drawn, Numbers, Preview, Quantile
from privet.curator.score import RowScore
from privet.mechanisms.randomness import Bits
from privet.mechanisms.selection import Selection
from privet.model import Model
from privet.question import Question
from privet.schema import Schema
from privet.space import TreeSpace
from privet.tree import Tree


class AnyCurator(Protocol):
    """See :class:`~privet.Curator` for what each question means and costs."""

    @property
    def schema(self) -> Schema: ...
    @property
    def dataset(self) -> str: ...
    @property
    def account(self) -> str: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def left(self) -> Fraction: ...
    @property
    def private(self) -> bool: ...
    @property
    def reason(self) -> str: ...
    @property
    def bits(self) -> Bits: ...
    def preview(self, plan: Iterable[Cost]) -> Preview: ...
    def require(self, plan: Iterable[Cost]) -> None: ...
    def snapshot(self) -> AbstractContextManager[None]: ...
    def count(
        self,
        question: Question | Cells | Sequence[Cell],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers: ...
    def size(self, epsilon: Number | None = None, *, rho: Number | None = None) -> Numbers: ...
    def sums(
        self,
        cells: Cells | Sequence[Cell],
        score: RowScore,
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers: ...
    def choose(
        self,
        cells: Cells | Sequence[Cell],
        candidates: Sequence[Split] | Sequence[Sequence[Split]],
        criterion: str,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Choices: ...
    def choose_partition(
        self,
        question: Question | Cells | Sequence[Cell],
        expected: Sequence[npt.ArrayLike],
        epsilon: Number,
        *,
        handicaps: Sequence[int] | None = None,
        mechanism: Selection = "exponential",
    ) -> Choice: ...
    def quantile(
        self,
        attribute: str,
        q: Number,
        epsilon: Number,
        *,
        mechanism: Selection = "permute-and-flip",
    ) -> Quantile: ...
    def median(
        self, attribute: str, epsilon: Number, *, mechanism: Selection = "permute-and-flip"
    ) -> Quantile: ...
    def confusion(
        self, model: Model, epsilon: Number | None = None, *, rho: Number | None = None
    ) -> Numbers: ...
    def choose_model(self, models: Sequence[Model], epsilon: Number) -> tuple[int, Choices]: ...
    def draw_tree(
        self, space: TreeSpace, epsilon: Number, *, weighting: Sequence[Tree] = ()
    ) -> Drawn: ...
    def gradients(
        self,
        cells: Cells | Sequence[Cell],
        trees: Sequence[Tree],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> Numbers: ...
    def split_people(self, n_parts: int, epsilon: Number) -> Sequence[AnyCurator]: ...
