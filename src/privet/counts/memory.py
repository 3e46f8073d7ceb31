"""Counts from a data frame: a matrix of small integers in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.cells import Question
from privet.counts.base import Tables
from privet.counts.counting import Counting
from privet.schema import Schema
from privet.schema.encode import Encoded, check_structure, encode, problems
from privet.schema.problems import What


class MemoryTable:
    """A pandas, Polars or Arrow table, a mapping of columns, or an array with its labels in ``y``."""

    def __init__(self, table: object, y: object = None, *, name: str = "table in memory") -> None:
        self._table, self._y, self.name = table, y, name

    def check_structure(self, schema: Schema) -> None:
        check_structure(schema, self._table, self._y)

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        return problems(schema, self._table, self._y)

    def source(self, schema: Schema) -> MemorySource:
        return MemorySource(schema, self._table, self._y)


class MemorySource:
    """Exact counts from codes. Rows are encoded at the first question: after its charge."""

    def __init__(self, schema: Schema, table: object, y: object = None) -> None:
        self._schema, self._table, self._y = schema, table, y
        self._matrix: tuple[npt.NDArray[Any], npt.NDArray[Any]] | None = None

    def count(self, question: Question) -> Tables:
        if self._matrix is None:
            self._matrix = _matrix(self._schema, encode(self._schema, self._table, self._y))
        counting = Counting(question)
        counting.add(*self._matrix)
        return counting.tables()

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        yield  # the codes never change


def _matrix(schema: Schema, encoded: Encoded) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The codes of the rows that count, one line per attribute, and their classes."""
    assert encoded.classes is not None
    keep = np.flatnonzero(encoded.known(schema))
    if encoded.person is not None:
        keep = _rows_of_each_person(encoded, keep, schema.rows_per_person)
    codes = np.empty((len(encoded.codes), len(keep)), dtype=np.result_type(*(column.dtype for column in encoded.codes)))
    for line, column in zip(codes, encoded.codes, strict=True):
        line[:] = column[keep]
    return codes, encoded.classes[keep]


def _rows_of_each_person(encoded: Encoded, keep: npt.NDArray[np.intp], most: int) -> npt.NDArray[np.intp]:
    """At most this many rows of each person, chosen by that person's rows alone: the first in the order of their codes."""
    assert encoded.person is not None
    assert encoded.classes is not None
    person = encoded.person[keep]
    order = np.lexsort((encoded.classes[keep], *(column[keep] for column in reversed(encoded.codes)), person))
    sorted_person = person[order]
    first = np.concatenate([[True], sorted_person[1:] != sorted_person[:-1]]) if len(order) else np.empty(0, dtype=bool)
    start = np.maximum.accumulate(np.where(first, np.arange(len(order)), 0))
    return np.asarray(keep[order[np.arange(len(order)) - start < most]])
