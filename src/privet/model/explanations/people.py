"""Say whom an explanation is averaged over: released people, never private rows.

Either attributes are independent and have released (or uniform) shares, or there are synthetic
rows. Both are a list of *mixed rows*, which have a probability for each value: independent people
are a single one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from privet._types import Codes, Floats, Ints
from privet.domain import Schema
from privet.domain.encode.rows import encode
from privet.errors import ParameterError
from privet.model.explanations.boxes import Boxes, Group
from privet.model.model import Model

Source = Literal["released", "uniform", "synthetic"]

#: Of more synthetic rows, so many are looked at, evenly spread over the table.
MAX_ROWS = 1000
#: Of a model with many deep leaves fewer: each row is compared with each in each leaf, and the work
#: grows by this square times the cubes of the leaves' depths. Never fewer than the second.
_MOST_WORK, _MIN_ROWS = 5e9, 40
#: So many of independent people stand for all of them where a model is asked row by row.
SAMPLE = 500

_WORDS: dict[Source, str] = {
    "released": "population: released with the model, one attribute at a time, with noise",
    "uniform": "uniform population: all values are taken as equally frequent, since this model "
    "holds no shares of its own",
    "synthetic": "population: synthetic rows",
}


@dataclass(frozen=True, eq=False)
class People:
    """Whom effects are averaged over.

    Parameters
    ----------
    source
        Where they come from.
    shares
        For each attribute, the share of each of its values.
    codes
        The codes of synthetic rows; None where attributes are taken as independent.
    """

    source: Source
    shares: tuple[Floats, ...]
    codes: tuple[Codes, ...] | None = None

    @classmethod
    def of(cls, model: Model, table: object = None) -> People:
        """Return the people of a table of synthetic rows, or those that the model has released."""
        if table is not None:
            return cls._of_rows(model.schema, table)
        if model.population is not None:
            shares = tuple(np.asarray(each) for each in model.population.shares.values())
            return cls("released", shares)
        return cls("uniform", tuple(np.full(size, 1 / size) for size in model.schema.sizes))

    @classmethod
    def _of_rows(cls, schema: Schema, table: object) -> People:
        encoded = encode(schema, table, target=False)
        known = np.flatnonzero(encoded.known(schema))
        if not len(known):
            raise ParameterError(
                "the synthetic rows must have values of the schema, and none of them has; give a "
                "table that was made under the model's schema"
            )
        return _of_codes(encoded.codes, known[_spread(len(known), MAX_ROWS)], schema.sizes)

    def take_for(self, boxes: Boxes) -> People:
        """Return so many of these people as boxes can be explained for in some seconds."""
        if self.codes is None:
            return self
        work = sum(group.attributes.size * group.attributes.shape[1] ** 2 for group in boxes.groups)
        most = max(_MIN_ROWS, int((_MOST_WORK / max(work, 1)) ** 0.5))
        n_rows = len(self.codes[0])
        return self if n_rows <= most else _of_codes(self.codes, _spread(n_rows, most), self.sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many values each attribute has."""
        return tuple(map(len, self.shares))

    @property
    def words(self) -> str:
        """Who they are, in words for a picture."""
        if self.codes is not None:
            return f"{_WORDS[self.source]} ({len(self.codes[0])} of them)"
        return _WORDS[self.source]

    def meet(self, group: Group) -> Floats:
        """Return how likely each mixed row has a code inside (mixed rows, boxes, asked)."""
        if self.codes is None:
            most = group.inside.shape[2]
            shares = np.array([np.pad(each, (0, most - len(each))) for each in self.shares])
            return np.asarray((group.inside * shares[group.attributes]).sum(axis=2))[None]
        return look_inside(group, self.codes)

    @cached_property
    def sample(self) -> tuple[Codes, ...]:
        """Rows that stand for them: always the same, and no real person's.

        Of independent people, points of the additive recurrence of Roberts (2018), which fill the
        unit cube evenly, through the inverse distribution of each attribute.
        """
        if self.codes is not None:
            return self.codes
        dimensions = len(self.shares)
        root = 2.0
        for _ in range(64):  # the positive root of x^(d+1) = x + 1
            root = (1 + root) ** (1 / (dimensions + 1))
        steps: Floats = np.power(root, -np.arange(1.0, dimensions + 1))
        points: Floats = (0.5 + np.arange(1, SAMPLE + 1)[:, None] * steps) % 1.0
        return tuple(
            np.searchsorted(np.cumsum(shares)[:-1], points[:, place], side="right")
            for place, shares in enumerate(self.shares)
        )


def _spread(count: int, most: int) -> Ints:
    """Return so many positions at most, evenly spread."""
    kept = min(count, most)
    return np.asarray(np.arange(kept) * count // kept)


def _of_codes(codes: Sequence[Codes], kept: Ints, sizes: Sequence[int]) -> People:
    taken = tuple(column[kept] for column in codes)
    shares = tuple(
        np.bincount(column, minlength=size) / len(kept)
        for column, size in zip(taken, sizes, strict=True)
    )
    return People("synthetic", shares, taken)


def look_inside(group: Group, codes: tuple[Codes, ...]) -> Floats:
    """Return which rows have a code inside (rows, boxes, asked), as 0 and 1."""
    columns: Ints = np.stack([column.astype(np.int64) for column in codes])
    values: Ints = columns[group.attributes]  # boxes, asked, rows
    n_boxes, asked = group.attributes.shape
    found = group.inside[np.arange(n_boxes)[:, None, None], np.arange(asked)[:, None], values]
    return np.asarray(np.moveaxis(found, 2, 0), dtype=np.float64)
