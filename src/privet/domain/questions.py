"""Describe what is counted or summed: partitions of the domain, and row scores. No data in here.

A :class:`Question` asks how many rows of each class fall into the cells of some partitions. Cells
within a partition are disjoint; partitions may overlap. A :class:`RowScore` is a bounded integer
score of a row, for noisy sums.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._plain import copy_scalar
from privet._validate import check_integer
from privet.domain.cells import Cells, domain_size
from privet.domain.labels import find_classes, find_code, value_text
from privet.domain.schema import Schema
from privet.errors import QuestionError

#: Above this many numbers a question is refused, whatever the data: it would not fit into memory.
MAX_ENTRIES = 1 << 27


@dataclass(frozen=True, eq=False)
class Partition:
    """Cells, each split further by all values of one attribute where ``by`` names it.

    Its table counts the classes.

    The table has shape (cells, classes), or (cells, values, classes) with ``by``.

    Parameters
    ----------
    cells
        Disjoint cells.
    by
        An attribute by whose values each cell is counted.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car").schema
    >>> pv.Partition(pv.Cells.everything(car), by="safety").shape  # cells, values, classes
    (1, 3, 4)
    """

    cells: Cells
    by: str | None = None

    def __post_init__(self) -> None:
        if self.by is not None:
            # a plain copy, which answers alike each time
            object.__setattr__(self, "by", copy_scalar(self.by))
            domain_size(self.cells.schema, self.by)

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Partition", self.cells, self.by)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the count table."""
        schema = self.cells.schema
        middle = () if self.by is None else (domain_size(schema, self.by),)
        return (len(self.cells), *middle, schema.n_classes)

    @property
    def entries(self) -> int:
        """How many counts the table has."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def places(self) -> int:
        """How many counts are kept while rows are counted: those of the table, and of the rows in
        no cell.
        """
        return self.entries + int(np.prod(self.shape[1:], dtype=object))


@dataclass(frozen=True, eq=False)
class Question:
    """How many rows of each class fall into each cell of these partitions: a level or a forest at
    once.

    One row is in at most one entry of each partition, so a question has L1 sensitivity
    ``len(partitions)`` and squared L2 sensitivity ``len(partitions)`` when one row is added or
    removed.

    Parameters
    ----------
    partitions
        What is counted: one or more partitions of one schema.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> question = pv.Question.level(pv.Cells.everything(car.schema), ["safety", "persons"])
    >>> question.entries
    24
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
    >>> [table.shape for table in curator.count(question, epsilon=0.5).tables]
    [(1, 3, 4), (1, 3, 4)]
    """

    partitions: tuple[Partition, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "partitions", tuple(self.partitions))
        if not self.partitions:
            raise QuestionError("a question must hold at least one partition")
        if any(
            partition.cells.schema.fingerprint != self.schema.fingerprint
            for partition in self.partitions
        ):
            raise QuestionError("the partitions of a question must share one schema")
        if self.places > MAX_ENTRIES:
            raise QuestionError(
                f"a question may have {MAX_ENTRIES} counts at most, with those of rows in no cell; "
                f"this one has {self.places}; ask fewer or coarser partitions"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Question", self.partitions)

    @classmethod
    def of(cls, cells: Cells) -> Question:
        """Return the question for the class counts of one partition."""
        return cls((Partition(cells),))

    @classmethod
    def forest(cls, forest: Sequence[Cells]) -> Question:
        """Return the question for the class counts of several partitions."""
        return cls(tuple(Partition(cells) for cells in forest))

    @classmethod
    def level(cls, cells: Cells, attributes: Iterable[str]) -> Question:
        """Return the question for the value-by-class counts of each attribute in each cell."""
        return cls(tuple(Partition(cells, by=name) for name in attributes))

    @property
    def schema(self) -> Schema:
        """The schema that the question is about."""
        return self.partitions[0].cells.schema

    @property
    def entries(self) -> int:
        """How many counts the answer has."""
        return sum(partition.entries for partition in self.partitions)

    @property
    def places(self) -> int:
        """How many counts are kept while rows are counted."""
        return sum(partition.places for partition in self.partitions)

    def describe(self) -> str:
        """Return one line for a ledger; public facts only."""
        cells = sum(len(partition.cells) for partition in self.partitions)
        by = [partition.by for partition in self.partitions if partition.by is not None]
        inside = f" by {', '.join(by[:4])}{', ...' if len(by) > 4 else ''}" if by else ""
        return (
            f"class counts{inside}: {_format_count(len(self.partitions), 'partition')}, "
            f"{_format_count(cells, 'cell')}"
        )


def _format_count(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


MAX_SCORE = 1 << 31


@dataclass(frozen=True, eq=False)
class RowScore:
    """A public integer for each class, or for each (value of ``by``, class).

    ``bound`` is the largest size of a score: the sensitivity of a sum when one row is added or
    removed.

    :meth:`of` makes one from labels.

    Parameters
    ----------
    schema
        The public schema.
    table
        Integers, one per class; with ``by``, one row per value.
    by
        The attribute whose values the score depends on, too.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> accepted = pv.RowScore.of(car.schema, {"acc": 1, "good": 1, "vgood": 1})
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1))
    >>> curator.sums([{"safety": "high"}], accepted, epsilon=0.5).tables[0].shape
    (1,)
    """

    schema: Schema
    table: npt.NDArray[np.int64]
    by: str | None = None
    bound: int = field(init=False)

    def __post_init__(self) -> None:
        given = np.asarray(self.table)
        object.__setattr__(self, "by", copy_scalar(self.by))
        shape: tuple[int, ...] = (self.schema.n_classes,)
        if self.by is not None:
            shape = (self.schema.sizes[self.schema.index(self.by)], *shape)
        if given.shape != shape or not np.issubdtype(given.dtype, np.integer):
            raise QuestionError(
                f"a row score must be integers of shape {shape}, got {given.dtype} of shape "
                f"{given.shape}"
            )
        # in Python's integers: the smallest int64 has no absolute value
        bound = max(int(given.max()), -int(given.min()))
        if not 0 < bound <= MAX_SCORE:
            raise QuestionError(
                f"a row score must not be zero throughout, and at most {MAX_SCORE} in size"
            )
        table = given.astype(np.int64, copy=True)
        table.setflags(write=False)
        object.__setattr__(self, "table", table)
        object.__setattr__(self, "bound", bound)

    @classmethod
    def of(cls, schema: Schema, scores: Mapping[Any, Any], by: str | None = None) -> RowScore:
        """Return the score that labels describe; a class or value that is not named scores 0.

        Parameters
        ----------
        schema : Schema
            The public schema.
        scores : mapping
            From class to integer, or, with ``by``, from value to such a mapping.
        by : str, optional
            The attribute whose values the scores depend on, too.

        Examples
        --------
        >>> import privet as pv
        >>> nursery = pv.datasets.load("nursery").schema
        >>> pv.RowScore.of(nursery, {"priority": 1, "spec_prior": 2}).table
        array([0, 0, 0, 1, 2])
        """
        if not isinstance(scores, Mapping):
            raise QuestionError(
                'scores must say an integer for some classes, such as {"yes": 1}, got '
                f"{type(scores).__name__}"
            )
        if by is None:
            return cls(schema, _scores_by_class(schema, scores))
        table = np.zeros((domain_size(schema, by), schema.n_classes), dtype=np.int64)
        for value, of_classes in scores.items():
            if not isinstance(of_classes, Mapping):
                raise QuestionError(
                    f"scores by {by!r} must say for each value the integers of some classes, such "
                    f'as {{"yes": 1}}, got {type(of_classes).__name__}'
                )
            code = find_code(schema, by, value_text(value))
            table[code] = _scores_by_class(schema, of_classes)
        return cls(schema, table, by)

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("RowScore", self.schema, self.table, self.by, self.bound)


def _scores_by_class(schema: Schema, scores: Mapping[Any, Any]) -> npt.NDArray[np.int64]:
    table = np.zeros(schema.n_classes, dtype=np.int64)
    for number, (label, score) in zip(find_classes(schema, scores), scores.items(), strict=True):
        table[number] = check_integer(
            f"the score of {label!r}", score, -MAX_SCORE, MAX_SCORE, error=QuestionError
        )
    return table
