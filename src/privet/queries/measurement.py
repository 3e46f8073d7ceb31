"""Measurement: what all queries share whose answer is noisy tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np

from privet.budget import parse_fraction
from privet.queries.answers import Answer, Numbers
from privet.queries.base import Query, expect
from privet.queries.kinds import Measures, Noisy

#: What never leaves a curator by HTTP is an exact count.
NOISES = ("discrete-laplace", "discrete-gaussian")


class Measurement(Query[Numbers]):
    """A query that is answered with noisy integer tables."""

    in_rho = True

    @property
    @abstractmethod
    def kind(self) -> Measures:
        """The shapes of the tables, and how much one row can change each."""

    def answer(self, released: Noisy, terms: Answer) -> Numbers:
        return Numbers(
            **terms.terms, tables=released.tables, noise=released.noise, spread=released.spread
        )

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Numbers:
        return read_numbers(self.kind, data, terms)


def read_numbers(kind: Measures, data: Mapping[str, Any], terms: Answer) -> Numbers:
    """Noisy tables of these shapes, from a reply."""
    for table in data["tables"]:
        expect(set(map(type, table["numbers"])) <= {int}, "noisy numbers must be whole")
    tables = tuple(
        np.array(table["numbers"], dtype=np.int64).reshape(table["shape"])
        for table in data["tables"]
    )
    expect(
        [table.shape for table in tables] == list(kind.shapes),
        "its tables have another shape",
    )
    spread = parse_fraction(data["spread"])
    expect(data["noise"] in NOISES and spread > 0, "its noise is of another kind")
    return Numbers(**terms.terms, tables=tables, noise=data["noise"], spread=spread)
