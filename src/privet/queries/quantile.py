"""FindQuantile: the bin of a numeric attribute that about holds a quantile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from privet.budget import Number
from privet.cells import Cells
from privet.counts.base import CountSource
from privet.mechanisms.selection import Selection
from privet.queries.answers import Answer, Quantile
from privet.queries.base import MECHANISM, Load, Query, check_mechanism, expect, register
from privet.queries.bins import bin_range, bin_scores, numeric_attribute, parse_share
from privet.queries.choose_partition import parse_choice
from privet.queries.json_shapes import NAME, Amount
from privet.queries.kinds import Selects
from privet.queries.plain import load_of
from privet.queries.shapes import Field
from privet.question import Question
from privet.schema import Numeric, Schema
from privet.typed import Json


@register
@dataclass(frozen=True)
class FindQuantile(Query[Quantile]):
    """The bin of a numeric attribute that about holds its q-quantile.

    A share ``q`` (0 to 1) of the values lies below it. Rows without a value are left out; numbers
    beyond the bounds are in the outermost bins, or left out under ``on_unknown="drop"``. The score
    of a bin is how many rows it is off, in parts of q = a/b. Sensitivity: range 2 max(a, b - a),
    proved in :mod:`privet.queries.bins`; one row off weighs 1/2 to 1 times epsilon. Neighbours: one
    row added or removed. Cost: pure epsilon, and epsilon**2/8 in zCDP with the exponential
    mechanism.
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
        numeric_attribute(schema, self.attribute)
        return type(self)(self.attribute, share, check_mechanism(self.mechanism))

    @property
    def _share(self) -> Fraction:
        assert isinstance(self.q, Fraction)
        return self.q

    @property
    def _numeric(self) -> Numeric:
        return numeric_attribute(self.schema, self.attribute)

    @property
    def _question(self) -> Question:
        return Question.level(Cells.everything(self.schema), [self.attribute])

    @property
    def kind(self) -> Selects:
        return Selects((self._numeric.bins,), bin_range(self._share), self.mechanism)

    @property
    def load(self) -> Load:
        working = load_of(self._question)
        return Load(self._numeric.bins, working.counts, working.nodes, working.depth)

    def describe(self) -> str:
        what = f"{self.attribute}, q {float(self._share):.6g}, {self._numeric.bins} bins"
        return f"private selection of a quantile: {what}"

    def spell_out(self) -> str:
        return (
            f"the {self._share}-quantile of {self.attribute}, as one of {self._numeric.bins} bins"
        )

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.attribute, self.q, epsilon, self.mechanism

    def exact(self, source: CountSource) -> list[list[int]]:
        return [bin_scores(source.count(self._question)[0], self._numeric.bins, self._share)]

    def answer(self, released: list[int], terms: Answer) -> Quantile:
        return Quantile.of(terms, released[0], self.attribute, self._share, self._numeric.cuts)

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Quantile:
        index = parse_choice(data, self._numeric.bins)
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
