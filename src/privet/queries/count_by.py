"""Count rows by class and some attributes, with noise, where a condition holds."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.cells import Cell, Cells, Condition, domain_size
from privet.domain.labels import Codes, find_codes
from privet.domain.questions import Partition, Question
from privet.errors import QuestionError
from privet.queries.answers import Answer, Numbers
from privet.queries.base import Load, Query, expect, read_numbers, register
from privet.queries.checks import load_of
from privet.queries.frames import Axes, Axis
from privet.queries.json_parts import CONDITIONS, NAME, conditions_from
from privet.queries.release_kinds import Measures, Noisy
from privet.queries.shapes import Field, Items
from privet.tables.base import CountSource

if TYPE_CHECKING:
    import pandas as pd

#: Most cells that the attributes before the last may make.
MAX_CELLS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class LabelledCounts(Numbers):
    """Noisy counts with their labels. The one table has an axis for each name in ``names``: the
    attributes that were asked for, and the classes last; ``labels`` has the labels along each.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    def to_pandas(self) -> pd.Series[int]:
        """Return the counts as a pandas Series whose index holds the labels.

        :meth:`to_frame` has the deviations, too.
        """
        import pandas as pd

        index = pd.MultiIndex.from_product(self.labels, names=self.names)
        return pd.Series(self.tables[0].reshape(-1), index=index, name="noisy count")

    def _axes(self) -> Sequence[Axes]:
        return [[Axis(name, along) for name, along in zip(self.names, self.labels, strict=True)]]

    def to_json(self) -> Json:
        labels = [list(along) for along in self.labels]
        return {**super().to_json(), "names": list(self.names), "labels": labels}


def _unique_codes_of(schema: Schema, name: str, values: Any) -> Codes:
    """Return the codes of some values, each once: a row must not be counted twice."""
    codes = Codes(dict.fromkeys(find_codes(schema, name, values)))
    size = domain_size(schema, name)
    if not codes or not all(0 <= code < size for code in codes):
        raise QuestionError(
            f"where[{name!r}] must hold labels of the schema, or codes from 0 to {size - 1}"
        )
    return codes


@register
@dataclass(frozen=True)
class CountBy(Query[LabelledCounts]):
    """Noisy class counts by the values of some attributes, of the rows that meet a condition.

    ``by`` names attributes; every combination of their values is counted, with the classes.
    ``where`` says for some attributes which values count, by label. Sensitivity: a row is in at
    most one entry, so 1. Noise: discrete Laplace of scale 1/epsilon, or discrete Gaussian
    of variance 1/(2 rho). Neighbours: one row added or removed. Cost: epsilon, or rho, whatever the
    number of entries.
    """

    by: str | Sequence[str] = ()
    where: Mapping[str, Any] = field(default_factory=dict)

    name = "count-by"
    measured = "noisy count"
    fields = {  # noqa: RUF012
        "by": Field(Items(NAME, 0, 100), description="Attributes; every combination is counted."),
        "where": Field(
            CONDITIONS, description="For some attributes, the values that count: labels or codes."
        ),
    }
    examples = ({"epsilon": "0.1", "by": ["form"], "where": {"health": ["recommended"]}},)
    in_rho = True

    def plain(self, schema: Schema) -> Self:
        given: Any = self.by
        listed = isinstance(given, Iterable) and not isinstance(given, str)
        by: tuple[str, ...] = tuple(given) if listed else (given,)
        if not all(type(name) is str for name in by) or not isinstance(self.where, Mapping):
            raise QuestionError(
                "by must be names of attributes, and where must say for some of them which values "
                'count, such as where={"form": ["complete"]}'
            )
        if len(set(by)) != len(by):
            raise QuestionError("by names an attribute twice")
        for name in by:
            if name == schema.target:
                raise QuestionError(f"{name!r} is the class, which is always counted: leave it out")
            domain_size(schema, name)
        where = {
            name: _unique_codes_of(schema, name, values) for name, values in self.where.items()
        }
        entries = math.prod(schema.sizes[schema.index(name)] for name in by[:-1])
        if entries > MAX_CELLS:
            raise QuestionError(
                f"by makes {entries} combinations before the last attribute, at most {MAX_CELLS} "
                "are counted at once; name fewer attributes"
            )
        return type(self)(by, where)

    @cached_property
    def _codes(self) -> list[tuple[int, ...]]:
        """The codes along each axis but the last."""
        return [
            self.where.get(name, tuple(range(self.schema.sizes[self.schema.index(name)])))
            for name in self.by
        ]

    @cached_property
    def _question(self) -> Question:
        kept = [(name, codes) for name, codes in self.where.items() if name not in self.by]
        outside = tuple(Condition(name, codes) for name, codes in kept)
        before = self.by[:-1]
        cells = [
            Cell(
                (*outside, *(Condition(n, (code,)) for n, code in zip(before, codes, strict=True)))
            )
            for codes in itertools.product(*self._codes[:-1])
        ]
        last = self.by[-1] if self.by else None
        return Question((Partition(Cells.of(self.schema, cells), by=last),))

    @property
    def names(self) -> tuple[str, ...]:
        """What each axis of the table is."""
        return (*self.by, self.schema.target)

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The labels along each axis."""
        attributes = [self.schema.attributes[name].labels for name in self.by]
        along = [
            tuple(labels[code] for code in codes)
            for labels, codes in zip(attributes, self._codes, strict=True)
        ]
        return (*along, tuple(self.schema.label.labels))

    @property
    def kind(self) -> Measures:
        return Measures((tuple(map(len, self.labels)),), (1,))

    @property
    def load(self) -> Load:
        return load_of(self._question)

    def describe(self) -> str:
        where = " and ".join(
            f"{name} = {' | '.join(self.schema.attributes[name].labels[code] for code in codes)}"
            for name, codes in self.where.items()
        )
        by = f" by {', '.join(self.by)}" if self.by else ""
        description = f"class counts{by}{f' where {where}' if where else ''}"
        description = "".join(char if char.isprintable() else "?" for char in description)
        return description if len(description) <= 500 else f"{description[:499]}…"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.by, self.where, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        (table,) = source.count(self._question)
        if self.by:
            table = table[:, list(self._codes[-1])]
        return [table.reshape(self.kind.shapes[0])]

    def answer(self, released: Noisy, terms: Answer) -> LabelledCounts:
        return LabelledCounts(
            **terms.terms,
            tables=released.tables,
            noise=released.noise,
            spread=released.spread,
            names=self.names,
            labels=self.labels,
        )

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> LabelledCounts:
        numbers = read_numbers(self.kind, data, terms)
        labels = [list(along) for along in self.labels]
        expect(
            [data["names"], data["labels"]] == [list(self.names), labels],
            "its counts are of something else",
        )
        released = Noisy(numbers.tables, numbers.noise, numbers.spread)
        return self.answer(released, terms)

    def to_json(self) -> Json:
        return {"by": list(self.by), "where": {n: list(codes) for n, codes in self.where.items()}}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        return cls(data.get("by") or (), conditions_from(schema, data.get("where") or {}))
