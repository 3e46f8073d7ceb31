"""Choose the partition whose counts are about farthest from what is expected of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from privet._types import Ints, Json
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.questions import Question
from privet.mechanisms.selection import Selection
from privet.queries.answers import Answer, ChosenIndex
from privet.queries.base import MECHANISM, Load, Query, check_mechanism, expect, register
from privet.queries.checks import (
    MAX_EXPECTED,
    MAX_HANDICAP,
    check_expected_tables,
    check_handicaps,
    check_question,
    load_of,
)
from privet.queries.count import Asked
from privet.queries.json_parts import (
    MAX_NUMBERS,
    PARTITIONS,
    expected_from,
    expected_to,
    question_from,
    question_to,
)
from privet.queries.release_kinds import Selects
from privet.queries.shapes import Field, Integer, Items
from privet.queries.words import spell_partition, spell_question
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class ChoosePartition(Query[ChosenIndex]):
    """The number of a partition whose class counts are about farthest from what is expected.

    The score of a partition is the sum of abs(count - expected) over its table, less its handicap:
    an integer, by default 0, such as the noise that asking for it would bring. ``expected`` is
    public: one table of integers per partition, of its shape. Sensitivity: a row is in at most one
    entry of each table, so it moves each score by at most 1, one up and another down: range 2.
    Neighbours: one row added or removed. Cost: pure epsilon, and epsilon**2/8 in zCDP with the
    exponential mechanism.
    """

    question: Asked
    expected: Sequence[npt.ArrayLike]
    handicaps: Sequence[int] | None = None
    mechanism: Selection = "exponential"

    name = "choose-partition"
    fields = {  # noqa: RUF012
        **PARTITIONS,
        "expected": Field(
            Items(Items(Integer(-MAX_EXPECTED, MAX_EXPECTED), 0, MAX_NUMBERS), 0, 10_000),
            True,
            "For each partition, the class counts that are expected of it, in one list.",
        ),
        "handicaps": Field(
            Items(Integer(-MAX_HANDICAP, MAX_HANDICAP), 0, 10_000),
            description=(
                "For each partition, what is subtracted from its distance; by default nothing."
            ),
            nullable=True,
        ),
        "mechanism": MECHANISM,
    }
    examples = (
        {
            "epsilon": "0.1",
            "cells": [[{"form": ["complete"]}, {"form": ["foster"]}], [{}]],
            "expected": [
                [700, 0, 60, 900, 800, 700, 0, 60, 900, 800],
                [4300, 2, 300, 4200, 4000],
            ],
            "handicaps": [100, 50],
        },
    )

    def plain(self, schema: Schema) -> Self:
        question = check_question(schema, self.question)
        tables = check_expected_tables(question, self.expected)
        handicaps = check_handicaps(question, self.handicaps)
        return type(self)(question, tables, handicaps, check_mechanism(self.mechanism))

    @property
    def _question(self) -> Question:
        assert isinstance(self.question, Question)
        return self.question

    @property
    def kind(self) -> Selects:
        return Selects((len(self._question.partitions),), 2, self.mechanism)

    @property
    def load(self) -> Load:
        return load_of(self._question)

    def name_choice(self, index: int) -> str:
        return spell_partition(self._question.partitions[index])

    def describe(self) -> str:
        n_partitions = len(self._question.partitions)
        return f"private selection among {n_partitions} partitions: {self._question.describe()}"

    def spell_out(self) -> str:
        among = spell_question(self._question)
        return f"private selection of the partition farthest from what is expected, among {among}"

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:  # noqa: ARG002
        return self.question, self.expected, self.handicaps, epsilon, self.mechanism

    def exact(self, source: CountSource) -> list[list[int]]:
        assert self.handicaps is not None
        return [distances(source.count(self._question), self.expected, self.handicaps)]

    def answer(self, released: list[int], terms: Answer) -> ChosenIndex:
        return ChosenIndex(**terms.terms, index=released[0])

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> ChosenIndex:
        return ChosenIndex(**terms.terms, index=parse_choice(data, len(self._question.partitions)))

    def to_json(self) -> Json:
        assert self.handicaps is not None
        tables = [np.asarray(table) for table in self.expected]
        return {
            **question_to(self._question),
            **expected_to(tables, self.handicaps),
            "mechanism": self.mechanism,
        }

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        question = question_from(schema, data.get("cells"), data.get("partitions"))
        expected = expected_from(question, data["expected"])
        mechanism = check_mechanism(data.get("mechanism") or "exponential")
        return cls(question, expected, data.get("handicaps"), mechanism)


def distances(
    tables: Sequence[Ints], expected: Sequence[npt.ArrayLike], handicaps: Sequence[int]
) -> list[int]:
    """Return how far each count table is from what is expected of it, in all, less its handicap."""
    return [
        int(np.abs(table - np.asarray(public)).sum()) - less
        for table, public, less in zip(tables, expected, handicaps, strict=True)
    ]


def parse_choice(data: Mapping[str, Any], offered: int) -> int:
    """Return the number in a reply, if it is one of those that were offered."""
    index = data["index"]
    expect(type(index) is int and 0 <= index < offered, "it chose what was not offered")
    return int(index)
