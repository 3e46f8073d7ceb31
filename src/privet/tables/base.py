"""Define what every table and every source of exact counts can do.

Nothing in here, or below here, leaves the trust boundary unnoised.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np
import numpy.typing as npt

from privet._types import Tables, WeightedRows
from privet.domain import Schema
from privet.domain.attributes.base import What
from privet.domain.questions import Question
from privet.errors import TableError


class CountSource(Protocol):
    """Exact counts of one table under one schema."""

    def rows(self) -> Iterator[WeightedRows]:
        """Return the encoded rows, block by block, for what stays inside the boundary."""

    def parts(self, n_parts: int, key: bytes) -> Sequence[CountSource]:
        """Return the rows in disjoint parts.

        Parts are drawn independently at random from a secret key; a person's rows stay together.
        """

    def count(self, question: Question) -> Tables:
        """Return one count table per partition, of the partition's shape.

        Reads one snapshot of the table.
        """

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all questions inside this block see the same rows."""


class Table(Protocol):
    """A table that can be counted once it has a schema. Opening one looks at no row."""

    @property
    def name(self) -> str:
        """What to call it."""

    def check_structure(self, schema: Schema) -> None:
        """Raise :class:`~privet.errors.SchemaMismatch` where columns are absent or cannot match.

        Looks at no row.
        """

    def check_reachable(self) -> None:
        """Raise :class:`~privet.errors.TableError` where the table cannot be reached now.

        Looks at no row.
        """

    def problems(self, schema: Schema) -> list[tuple[str, What]]:
        """Return how the table fails to fit.

        For the owner: the answer depends on the rows.
        """

    def source(self, schema: Schema) -> CountSource:
        """Return its exact counts under this schema."""

    def read_blocks(self, size: int) -> Iterator[Any]:
        """Return all rows as pandas DataFrames of about so many rows; an empty one for no rows.

        For those who may see the rows.
        """

    def writable(self) -> bool:
        """Return whether these credentials could change a table, which a curator's should not."""


@runtime_checkable
class TimeLimited(Protocol):
    """A table at a server that can be told how long it may take."""

    def limit_time(self, statement: float, lock: float) -> None:
        """Let the server end statements, and waits for locks, after so many seconds."""


def is_table(candidate: object) -> TypeGuard[Table]:
    """Return whether it is an open table.

    Its class is asked: what looks like an attribute of a data frame may be a column, or a question
    to a cluster.
    """
    methods = [name for name, value in vars(Table).items() if callable(value) and name[0] != "_"]
    return all(callable(getattr(type(candidate), method, None)) for method in methods)


@dataclass(frozen=True, eq=False)
class Division:
    """One way to divide the rows: how many parts, and the secret key that draws them."""

    n_parts: int
    key: bytes


def split_tables(question: Question, flat: npt.NDArray[np.int64]) -> Tables:
    """Return one table per partition from all counts in a row."""
    ends = np.cumsum([partition.entries for partition in question.partitions])
    parts = np.split(flat, ends[:-1])
    return [
        part.reshape(partition.shape)
        for part, partition in zip(parts, question.partitions, strict=True)
    ]


def check_totals(tables: Tables, uncovered: Sequence[int], rows: int) -> None:
    """Raise unless every partition counts every row once, in a cell or outside of all cells.

    Catches a wrong translation.
    """
    if any(
        int(table.sum()) + outside != rows for table, outside in zip(tables, uncovered, strict=True)
    ):
        raise TableError(
            "the counts of a partition do not add up to the rows of the table; this is a bug in "
            "Privet, please report it"
        )
