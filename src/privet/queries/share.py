"""Count rows with one party's share of the noise, for secure aggregation only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NoReturn, Self

from privet._types import Json, Tables
from privet.accounting.cost import Number
from privet.domain import Schema
from privet.domain.questions import Question
from privet.mechanisms.shares import check_shares
from privet.queries.answers import Answer, Share
from privet.queries.base import Load, Query, register
from privet.queries.checks import check_question, load_of
from privet.queries.count import Asked
from privet.queries.json_parts import NUMBER, PARTITIONS, question_from, question_to
from privet.queries.release_kinds import Noisy, SharesNoise
from privet.queries.shapes import Field
from privet.tables.base import CountSource


@register
@dataclass(frozen=True)
class ShareCounts(Query[Share]):
    """Class counts with one of ``parties`` shares of the noise of a count.

    For the party itself, never for an analyst: it leaves inside secure aggregation only, and a
    share alone promises nothing. Sensitivity: P in L1 for P partitions. Noise: shares that make
    discrete Laplace of scale P/epsilon together. Neighbours: one row added or removed. Cost: pure
    epsilon, charged in full, for the sum of the shares of at least ``parties`` honest parties.
    """

    question: Asked
    parties: int

    name = "share"
    fields = {**PARTITIONS, "parties": Field(NUMBER, True)}  # noqa: RUF012
    for_analysts = False

    def plain(self, schema: Schema) -> Self:
        question = check_question(schema, self.question)
        return type(self)(question, check_shares("parties", self.parties))

    @property
    def _question(self) -> Question:
        assert isinstance(self.question, Question)
        return self.question

    @property
    def kind(self) -> SharesNoise:
        return SharesNoise(len(self._question.partitions), self.parties)

    @property
    def load(self) -> Load:
        return load_of(self._question)

    def describe(self) -> str:
        return (
            "share of class counts for secure aggregation, noise of "
            f"{self.parties} honest parties together: {self._question.describe()}"
        )

    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        return self.question, self.parties, epsilon, rho

    def exact(self, source: CountSource) -> Tables:
        return source.count(self._question)

    def answer(self, released: Noisy, terms: Answer) -> Share:
        alone = replace(terms, private=False)
        return Share(
            **alone.terms, tables=released.tables, parties=self.parties, spread=released.spread
        )

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> NoReturn:
        raise NotImplementedError("a share is never written down")

    def to_json(self) -> Json:
        return {**question_to(self._question), "parties": self.parties}

    @classmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        question = question_from(schema, data.get("cells"), data.get("partitions"))
        return cls(question, data["parties"])
