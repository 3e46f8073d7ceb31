"""Score splits by exact child-by-class counts, in integers. Runs inside the trust boundary.

A criterion states its *range*, the largest difference between two candidates' changes when one row
is added or removed; :mod:`~privet.mechanisms.selection` needs nothing else. Scores that are not
integers are held in fixed point, and the range includes the rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from privet._types import Ints
from privet._validate import check_name
from privet.errors import ParameterError, PrivacyError

CRITERIA = ("max", "gini", "info_gain")

_SHIFT = 20  # fixed-point digits


_MOST = 1 << 30  # rows; beyond it fixed-point scores would lose their exactness


def _bound_counts(children: Ints) -> Ints:
    """Cut counts off at a size that keeps the arithmetic exact.

    A row still changes at most one of them, by at most 1.
    """
    return np.asarray(np.minimum(children, _MOST // children.shape[-1]))


class Criterion(Protocol):
    """A quality of splits."""

    @property
    def score_range(self) -> int:
        """The largest difference between two candidates' changes when one row is added or
        removed.
        """

    def scores(self, children: Ints) -> Ints:
        """Return the score of each table of shape (..., children, classes)."""


@dataclass(frozen=True)
class MaxOperator:
    """The number of rows that the children's majority classes get right (Friedman and Schuster
    2010).

    Adding a row adds 0 or 1: monotone, range 1.
    """

    score_range = 1

    def scores(self, children: Ints) -> Ints:
        return np.asarray(children.max(axis=-1).sum(axis=-1))


@dataclass(frozen=True)
class Gini:
    """Minus the Gini impurity: the sum over children of (sum of squared class counts) / (child
    size).

    Adding a row changes it by more than -1 and at most +1. It is published as minus n(1 - sum
    p**2), which differs by the number of rows: monotone, sensitivity 2. In this form it is *not*
    monotone: one candidate may gain 1 while another loses almost 1. So the range is 2 in either
    form, plus one unit of rounding per candidate.
    """

    score_range = 2 * (1 << _SHIFT) + 2

    def scores(self, children: Ints) -> Ints:
        children = _bound_counts(children)
        squares = (children * children).sum(axis=-1)
        sizes = np.maximum(children.sum(axis=-1), 1)
        whole, rest = np.divmod(squares, sizes)
        return np.asarray(((whole << _SHIFT) + (rest << _SHIFT) // sizes).sum(axis=-1))


@dataclass(frozen=True)
class InformationGain:
    """Minus the conditional entropy of the class, in bits times rows: sum of n_c log2(n_c) minus
    sum of n log2(n).

    With g(n) = n log2(n), a new row changes a child's term by [g(n_c + 1) - g(n_c)] - [g(n + 1) -
    g(n)]: at most 0 and at least -(log2(N) + 1/ln 2) for a *declared* bound N on the number of
    rows. Beyond N, g goes on as a straight line, so the range holds whatever the table holds.
    """

    max_rows: int

    def __post_init__(self) -> None:
        if (
            isinstance(self.max_rows, bool)
            or not isinstance(self.max_rows, int)
            or not 1 <= self.max_rows <= _MOST
        ):
            raise ParameterError(
                "information gain needs a bound on the number of rows from 1 to 2**30, got "
                f"{self.max_rows!r}"
            )

    @property
    def _slope(self) -> float:
        return math.log2(self.max_rows) + 1 / math.log(2)

    @property
    def score_range(self) -> int:
        # Eight values of g take part in the changes of two candidates. They are below 2**55, where
        # doubles are 4 apart, and a product with a logarithm is off by three such steps at most; 32
        # units each are more than enough.
        return math.ceil(self._slope * (1 << _SHIFT)) + 8 * 32

    def scores(self, children: Ints) -> Ints:
        children = _bound_counts(children)
        classes = self._g(children).sum(axis=-1)
        return np.asarray((classes - self._g(children.sum(axis=-1))).sum(axis=-1))

    def _g(self, counts: Ints) -> Ints:
        inside = np.minimum(counts, self.max_rows)
        curved = inside * np.log2(np.maximum(inside, 1))
        rounded: Ints = np.rint((curved + (counts - inside) * self._slope) * (1 << _SHIFT)).astype(
            np.int64
        )
        return rounded


def criterion_named(name: str, max_rows: int | None) -> Criterion:
    """Return the criterion ``"max"``, ``"gini"`` or ``"info_gain"``.

    The last needs a declared bound on the number of rows.
    """
    name = check_name("criterion", name, CRITERIA)
    if name == "max":
        return MaxOperator()
    if name == "gini":
        return Gini()
    if max_rows is None:
        raise PrivacyError(
            "criterion 'info_gain' needs a public bound on the number of rows: declare n_rows in "
            "the schema"
        )
    return InformationGain(max_rows)
