"""Find cuts that about divide the values of an ordered attribute into parts of equal size.

First the median of all values is drawn, then the median of each half, and so on: ``levels`` times,
for up to 2^levels parts (Kaplan, Schnapp and Stemmer 2022). A part is a run of bins, and a cut of
it says how many of its bins lie below. With L rows of the part below a cut and U above it::

    score = -|L - U|

**Range**, which is how far apart one row can move two scores. A row added to the part changes
either L or U of each cut by one, so a score moves by one, up or down: two scores part by 2 at most,
which two cuts above the row on either side of the median do. A row of another part changes nothing
here, so all parts of a level together cost what one costs. A row without a value is in no part.

The cuts of a level are released before the next one is asked about, so that levels compose: each
has epsilon/levels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from privet._types import Json
from privet._validate import check_integer
from privet.accounting.cost import Number
from privet.domain import Attribute, Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.queries.answers import Answer, Quantiles
from privet.queries.base import Load, Query, expect, register
from privet.queries.checks import load_of
from privet.queries.json_parts import NAME
from privet.queries.quantile import find_ordered
from privet.queries.release_kinds import Divides
from privet.queries.shapes import Field, Integer
from privet.tables.base import CountSource

#: 256 parts of equal size.
MAX_LEVELS = 8


@register
@dataclass(frozen=True)
class FindQuantiles(Query[Quantiles]):
    """The cuts that about divide the values of an ordered attribute into 2^levels equal parts.

    Numbers and dates are ordered. Rows without a value are left out; values beyond the bounds are
    in the outermost bins, or left out under ``on_unknown="drop"``. Cuts are between bins, so that
    there are fewer parts where a bin holds many rows. Sensitivity: range 2 in one part of each
    level, proved in :mod:`privet.queries.quantiles`. Neighbours: one row added or removed. Cost:
    pure epsilon, and epsilon**2/(8 levels) in zCDP.
    """

    attribute: str
    levels: int = 3

    name = "quantiles"
    fields = {  # noqa: RUF012
        "attribute": Field(NAME, True),
        "levels": Field(
            Integer(1, MAX_LEVELS), description="How often parts are halved; by default 3 times."
        ),
    }
    examples = ({"epsilon": "0.1", "attribute": "age", "levels": 2},)

    def plain(self, schema: Schema) -> Self:
        find_ordered(schema, self.attribute)
        return type(self)(self.attribute, check_integer("levels", self.levels, 1, MAX_LEVELS))

    @property
    def _ordered(self) -> Attribute:
        return find_ordered(self.schema, self.attribute)

    @property
    def _question(self) -> Question:
        return Question.level(Cells.everything(self.schema), [self.attribute])

    @property
    def kind(self) -> Divides:
        return Divides(self._ordered.bins, self.levels)

    @property
    def load(self) -> Load:
        return replace(load_of(self._question), numbers=self.levels * self._ordered.bins)

    def describe(self) -> str:
        what = f"{self.attribute}, {self.levels} levels, {self._ordered.bins} bins"
        return f"private selection of quantiles: {what}"

    def spell_out(self) -> str:
        return f"cuts that halve the values of {self.attribute} {self.levels} times over"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.attribute, self.levels, epsilon

    def exact(self, source: CountSource) -> list[list[int]]:
        return [count_bins(source.count(self._question)[0], self._ordered.bins)]

    def answer(self, released: list[int], terms: Answer) -> Quantiles:
        cuts = self._ordered.cuts
        edges = tuple(cuts[code] for code in released)
        return Quantiles(
            **terms.terms, attribute=self.attribute, codes=tuple(released), edges=edges
        )

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Quantiles:
        codes = data["codes"]
        expect(data["attribute"] == self.attribute, "it is about something else")
        expect(type(codes) is list and set(map(type, codes)) <= {int}, "its cuts are no codes")
        inside = [0, *codes, self._ordered.bins]
        expect(all(a < b for a, b in pairwise(inside)), "its cuts are not between bins, in order")
        expect(len(codes) < 2**self.levels, "it has more cuts than were asked for")
        return self.answer(codes, terms)

    def to_json(self) -> Json:
        return {"attribute": self.attribute, "levels": self.levels}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:  # noqa: ARG003
        levels = data.get("levels")
        return cls(data["attribute"], 3 if levels is None else levels)


def count_bins(table: npt.NDArray[np.int64], bins: int) -> list[int]:
    """Return the rows of each bin, from value-by-class counts of all rows; missing ones left out.

    They are Python's integers, which do not overflow.
    """
    counts: list[int] = table.reshape(-1, table.shape[-1])[:bins].sum(axis=1).tolist()
    return counts
