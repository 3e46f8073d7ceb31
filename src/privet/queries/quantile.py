"""Find the bin of an ordered attribute that about holds a quantile.

Bins are scored by how far they are from holding it. Let q = a/b in lowest terms, let n be the
number of rows that have a value, and for a bin let L be how many of them lie below it and U how
many lie below it or in it. The bin holds a q-quantile where L <= q n <= U. Its score is minus the
distance of q n from [L, U], times b::

    score = -max(0, b L - a n, a n - b U)

an integer, zero for the bins that hold a quantile: for an empty table, for all of them.

**Range**, which is how far apart one row can move two scores. Add a row to bin k. It changes n by
one, and L and U of each bin by zero or one; so

- above k (L and U rise): b L - a n rises by b - a and a n - b U falls by b - a: the score moves by
  at most b - a;
- below k (neither rises): b L - a n falls by a and a n - b U rises by a: the score moves by at most
  a;
- in k (U rises alone): both fall, by a and by b - a: the score rises, by at most max(a, b - a).

Two bins above k, one on each side of the quantile, can move by b - a in opposite directions, and
two below k by a; a bin below k and one above it part by at most a + (b - a) = b <= 2 max(a, b - a).
So the range is 2 max(a, b - a), which is attained. For q = 0 the score is -L, which falls by one
above k and stays elsewhere; for q = 1 it is U - n, which falls by one below k: there the range is
1. A row without a value changes nothing, and a row removed is a row added, backwards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from privet._types import Json
from privet.accounting.cost import Number, parse_exact
from privet.domain import Attribute, Schema
from privet.domain.cells import Cells, domain_size
from privet.domain.questions import Question
from privet.errors import ParameterError
from privet.mechanisms.selection import Selection
from privet.queries.answers import Answer, Quantile
from privet.queries.base import MECHANISM, Load, Query, check_mechanism, expect, register
from privet.queries.checks import load_of
from privet.queries.choose_partition import parse_choice
from privet.queries.json_parts import NAME, Amount
from privet.queries.release_kinds import Selects
from privet.queries.shapes import Field
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class FindQuantile(Query[Quantile]):
    """The bin of an ordered attribute that about holds its q-quantile.

    Numbers and dates are ordered. A share ``q`` (0 to 1) of the values lies below it. Rows without
    a value are left out; values beyond the bounds are in the outermost bins, or left out under
    ``on_unknown="drop"``. The score of a bin is how many rows it is off, in parts of q = a/b.
    Sensitivity: range 2 max(a, b - a), proved in :mod:`privet.queries.quantile`; one row off weighs
    1/2 to 1 times epsilon. Neighbours: one row added or removed. Cost: pure epsilon, and
    epsilon**2/8 in zCDP with the exponential mechanism.
    """

    attribute: str
    q: Number = "1/2"
    mechanism: Selection = "permute-and-flip"

    name = "quantile"
    fields = {  # noqa: RUF012
        "attribute": Field(NAME, True),
        "q": Field(
            Amount(),
            description="The share of the rows that lies below, from 0 to 1; by default 1/2.",
        ),
        "mechanism": MECHANISM,
    }
    examples = ({"epsilon": "0.1", "attribute": "age", "q": "0.9"},)

    def plain(self, schema: Schema) -> Self:
        share = parse_share(self.q)
        find_ordered(schema, self.attribute)
        return type(self)(self.attribute, share, check_mechanism(self.mechanism))

    @property
    def _share(self) -> Fraction:
        assert isinstance(self.q, Fraction)
        return self.q

    @property
    def _ordered(self) -> Attribute:
        return find_ordered(self.schema, self.attribute)

    @property
    def _question(self) -> Question:
        return Question.level(Cells.everything(self.schema), [self.attribute])

    @property
    def kind(self) -> Selects:
        return Selects((self._ordered.bins,), bin_range(self._share), self.mechanism)

    @property
    def load(self) -> Load:
        working = load_of(self._question)
        return replace(working, numbers=self._ordered.bins)

    def describe(self) -> str:
        what = f"{self.attribute}, q {float(self._share):.6g}, {self._ordered.bins} bins"
        return f"private selection of a quantile: {what}"

    def spell_out(self) -> str:
        return (
            f"the {self._share}-quantile of {self.attribute}, as one of {self._ordered.bins} bins"
        )

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.attribute, self.q, epsilon, self.mechanism

    def exact(self, source: CountSource) -> list[list[int]]:
        return [bin_scores(source.count(self._question)[0], self._ordered.bins, self._share)]

    def answer(self, released: list[int], terms: Answer) -> Quantile:
        return Quantile.of(terms, released[0], self.attribute, self._share, self._ordered)

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Quantile:
        index = parse_choice(data, self._ordered.bins)
        about = (data["attribute"], data["q"])
        expect(about == (self.attribute, str(self._share)), "it is about something else")
        return self.answer([index], terms)

    def to_json(self) -> Json:
        return {"attribute": self.attribute, "q": str(self._share), "mechanism": self.mechanism}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        q = data.get("q")
        mechanism = check_mechanism(data.get("mechanism") or "permute-and-flip")
        return cls(data["attribute"], "1/2" if q is None else q, mechanism)


def find_ordered(schema: Schema, name: str) -> Attribute:
    """Return the attribute of this name; raise unless its bins have an order."""
    if type(name) is not str:
        raise ParameterError(
            f"attribute must be the name of an ordered attribute, got {type(name).__name__}"
        )
    domain_size(schema, name)
    attribute = schema.attributes[name]
    if not attribute.ordered:
        ordered = [other for other, listed in schema.attributes.items() if listed.ordered]
        there_are = f"there are {', '.join(ordered)}" if ordered else "there is none"
        raise ParameterError(
            f"attribute must be a number or a date ({there_are}), got {name!r}, which is "
            f"{attribute.type}"
        )
    return attribute


def parse_share(q: Number) -> Fraction:
    """Return the share of the rows that shall lie below, exactly; raise unless it is in [0, 1]."""
    refused = ParameterError(f"q must be a number from 0 to 1, got {q!r}")
    try:
        share = parse_exact("q", q, zero=True)
    except ParameterError:
        raise refused from None
    if share > 1:
        raise refused
    return share


def bin_scores(table: npt.NDArray[np.int64], bins: int, q: Fraction) -> list[int]:
    """Return the score of each bin, from value-by-class counts of all rows.

    Missing values come after the bins and are left out.
    """
    # Python's integers do not overflow
    counts = table.reshape(-1, table.shape[-1])[:bins].sum(axis=1).tolist()
    up_to = list(accumulate(counts))
    a, b = q.numerator, q.denominator
    target = a * up_to[-1]
    return [
        -max(0, b * (upper - count) - target, target - b * upper)
        for upper, count in zip(up_to, counts, strict=True)
    ]


def bin_range(q: Fraction) -> int:
    """Return how far apart one row can move the scores of two bins."""
    a, b = q.numerator, q.denominator
    return 2 * max(a, b - a) if 0 < a < b else 1


def bound_rows_off(q: Fraction, epsilon: Fraction, bins: int, chance: float = 0.05) -> float:
    """Return by how many rows a chosen bin may miss the quantile, whatever the table.

    The bound holds except with this probability (``chance``).

    Both mechanisms take a bin whose score is g below the best with probability exp(-epsilon g /
    range) at most, and the best score is zero.
    """
    return bin_range(q) / (q.denominator * float(epsilon)) * math.log(bins / chance)
