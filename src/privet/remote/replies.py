"""Answers are what was asked for, or they are not taken: a learner never meets a table of another
shape, or a split nobody offered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from privet.budget import Cost
from privet.cells import Split
from privet.curator import Choice, Choices, Drawn, Numbers, Quantile
from privet.curator.quantile import numeric_attribute
from privet.errors import PrivetError, Unavailable
from privet.ledger import Entry
from privet.schema import Schema
from privet.wire.answers import (
    choice_from,
    choices_from,
    cost_from,
    drawn_from,
    entry_from,
    numbers_from,
    quantile_from,
)

Json = Mapping[str, Any]
Shape = tuple[int, ...]
#: What never leaves a curator by HTTP is an exact count.
_NOISES = ("discrete-laplace", "discrete-gaussian")


@dataclass(frozen=True)
class Charged(Entry):
    """A charge, with the receipt that proves it and whether it was answered."""

    receipt: str = ""
    answered: bool = True


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Whatever goes wrong while a reply is read: it is not what it should be."""
    try:
        yield
    except (
        PrivetError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
    ) as error:
        found = str(error) if isinstance(error, _Unexpected) else type(error).__name__
        raise Unavailable(
            f"the curator's {what} is not what this version of Privet expects ({found}); if it "
            "was "
            "charged, history() lists it"
        ) from None


class _Unexpected(ValueError):
    """What a reply is not."""


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise _Unexpected(what)


def check_cost(data: Json, cost: Cost, schema: Schema) -> None:
    """A privacy statement is made of what answers cost: a curator cannot make one smaller than what
    was asked for.
    """
    told = (cost_from(data["row_cost"]), cost_from(data["cost"]))
    _require(told == (cost, cost.promised(schema)), "it costs something else than was asked for")


def numbers_of(data: Json, shapes: Sequence[Shape]) -> Numbers:
    """Noisy tables of these shapes."""
    for table in data["tables"]:
        _require(set(map(type, table["numbers"])) <= {int}, "noisy numbers must be whole")
    answer = numbers_from(data)
    _require(
        [table.shape for table in answer.tables] == list(shapes), "its tables have another shape"
    )
    _require(answer.noise in _NOISES and answer.spread > 0, "its noise is of another kind")
    return answer


def choices_of(data: Json, offered: Sequence[Sequence[Split]]) -> Choices:
    """A split for each cell, out of those that were offered for it."""
    answer = choices_from(data)
    _require(len(answer.splits) == len(offered), "its choices are for other cells")
    _require(
        all(split in splits for split, splits in zip(answer.splits, offered, strict=True)),
        "it chose what was not offered",
    )
    return answer


def choice_of(data: Json, n_offered: int) -> Choice:
    """The number of one of those that were offered."""
    index = data["index"]
    _require(type(index) is int and 0 <= index < n_offered, "it chose what was not offered")
    return choice_from(data)


def model_choice_of(data: Json, n_models: int) -> tuple[int, Choices]:
    """The number of a model."""
    return choice_of(data, n_models).index, choices_of(data, [])


def quantile_of(data: Json, schema: Schema, attribute: str, q: Fraction) -> Quantile:
    """A bin of the attribute that was asked about."""
    choice_of(data, numeric_attribute(schema, attribute).bins)
    answer = quantile_from(schema, data)
    _require((answer.attribute, answer.q) == (attribute, q), "it is about something else")
    return answer


def drawn_of(data: Json, schema: Schema) -> Drawn:
    """A labelled tree."""
    answer = drawn_from(schema, data)
    fits = answer.labels.shape == answer.cells.attribute.shape and bool(
        np.isin(answer.labels, np.arange(schema.n_classes)).all()
    )
    _require(fits, "its labels do not fit its tree")
    return answer


def divided_of(data: Json, n_parts: int) -> int:
    """The number of a division into so many groups."""
    division = data["division"]
    _require(
        type(division) is int and division >= 0 and data["n_parts"] == n_parts,
        "it is another division",
    )
    return int(division)


def charged_of(data: Json) -> Charged:
    """A line of the history."""
    entry = entry_from(data)
    return Charged(
        **{**vars(entry), "receipt": str(data["receipt"] or ""), "answered": bool(data["answered"])}
    )
