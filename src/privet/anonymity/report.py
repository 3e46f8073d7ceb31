"""Examine a table by all measures, and list the classes that are worst by them.

The results are exact, for the owner alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._validate import check_integer
from privet.accounting.cost import Number, parse_exact
from privet.anonymity import measures
from privet.anonymity.measures import Groups
from privet.tables.equivalence import EquivalenceClasses, equivalence_classes

#: By what a class can be among the worst.
MEASURES = ("size", "distinct l", "entropy l", "recursive l", "frequency l", "t")
_TOLERANCE = 1e-9  # an entropy that is ln l, but for rounding, is enough

WARNING = (
    "Exact numbers about the rows, NOT differentially private: for the owner of the table, not for "
    "release."
)


@dataclass(frozen=True)
class WorstClass:
    """A class that is among the worst by some measure.

    Attributes:
        quasi: its quasi-identifiers, as text; None for null.
        by_measure: its size, its l of each kind and its t.
        most_frequent: the sensitive value that most of its rows have; None for null.
        most_frequent_rows: how many of its rows have it.
        rank: its place among the worst, from 1, by each measure by which it is one of them.
    """

    quasi: tuple[str | None, ...]
    by_measure: dict[str, float]
    most_frequent: str | None
    most_frequent_rows: int
    rank: dict[str, int]


@dataclass(frozen=True)
class Shortfall:
    """The classes that do not reach an l, and the rows in them."""

    classes: int
    rows: int


@dataclass(frozen=True)
class Report:
    """The measures of a table."""

    table: str
    quasi: tuple[str, ...]
    sensitive: str
    ordered: bool
    c: Fraction
    asked_l: int
    groups: Groups = field(repr=False)
    by_measure: dict[str, npt.NDArray[Any]] = field(repr=False)
    worst: tuple[WorstClass, ...]

    @property
    def k(self) -> int:
        """The number of rows of the smallest class."""
        return measures.k_anonymity(self.groups)

    @property
    def unique_rows(self) -> int:
        """Rows that are alone in their class."""
        return int((self.groups.sizes == 1).sum())

    def overall(self, measure: str) -> float:
        """Return the measure of the table: that of its worst class."""
        values = self.by_measure[measure]
        return (values.max() if measure == "t" else values.min()).item()  # type: ignore[no-any-return]

    def shortfall(self, measure: str) -> Shortfall:
        """Return what does not reach the l that was asked for, by one of its kinds."""
        short = self.by_measure[measure] < self.asked_l - (
            _TOLERANCE if measure == "entropy l" else 0
        )
        return Shortfall(int(short.sum()), int(self.groups.sizes[short].sum()))

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        diversity = [measure for measure in MEASURES if measure.endswith(" l")]
        return {
            "private": False,
            "warning": WARNING,
            "table": self.table,
            "quasi": list(self.quasi),
            "sensitive": self.sensitive,
            "rows": self.groups.n_rows,
            "classes": self.groups.n_groups,
            "sensitive_values": len(self.groups.codes),
            "k": self.k,
            "unique_rows": self.unique_rows,
            **{_make_json_key(measure): self.overall(measure) for measure in diversity},
            "c": str(self.c),
            "t": self.overall("t"),
            "distance": "ordered" if self.ordered else "equal",
            "asked_l": self.asked_l,
            "below_asked_l": {
                _make_json_key(measure): vars(self.shortfall(measure)) for measure in diversity
            },
            "worst": [
                {
                    "quasi": dict(zip(self.quasi, worst_class.quasi, strict=True)),
                    **{
                        _make_json_key(measure): value
                        for measure, value in worst_class.by_measure.items()
                    },
                    "most_frequent": worst_class.most_frequent,
                    "most_frequent_rows": worst_class.most_frequent_rows,
                    "rank": {
                        _make_json_key(measure): rank for measure, rank in worst_class.rank.items()
                    },
                }
                for worst_class in self.worst
            ],
        }


def examine(
    table: object,
    quasi: Sequence[str],
    sensitive: str,
    *,
    c: Number = 3,
    asked_l: int = 2,
    worst: int = 10,
    ordered: bool | None = None,
) -> Report:
    """Group a table by its quasi-identifiers and measure every class.

    Null is a value of its own, in every column.

    Parameters
    ----------
    table
        Where the rows are, as for :func:`privet.open_table`.
    quasi
        The columns that somebody may know of a person from elsewhere.
    sensitive
        The column that they should not learn.
    c
        Of recursive (c, l)-diversity.
    asked_l
        The l that is wanted: the report counts the classes that do not reach it.
    worst
        How many classes to name by each measure.
    ordered
        Whether t is measured along the order of numbers. By default if the column is a
        number, which in a CSV file none is.
    """
    bound = parse_exact("c", c)
    check_integer("l", asked_l, 1)
    check_integer("worst", worst, 0)
    with equivalence_classes(table, quasi, sensitive, ordered) as classes:
        groups = Groups.of(*classes.counts())
        found: dict[str, npt.NDArray[Any]] = {
            "size": groups.sizes,
            "distinct l": measures.distinct_l_per_group(groups),
            "entropy l": measures.entropy_l_per_group(groups),
            "recursive l": measures.recursive_l_per_group(groups, bound),
            "frequency l": measures.frequency_l_per_group(groups),
            "t": measures.t_closeness_per_group(groups, ordered=classes.ordered),
        }
        named = _find_worst_classes(classes, groups, found, worst)
        return Report(
            classes.name,
            classes.quasi,
            sensitive,
            classes.ordered,
            bound,
            asked_l,
            groups,
            found,
            named,
        )


def _find_worst_classes(
    classes: EquivalenceClasses, groups: Groups, found: dict[str, npt.NDArray[Any]], number: int
) -> tuple[WorstClass, ...]:
    """The worst classes by each measure, each class once: the smallest first, then those that
    another measure adds.
    """
    ranks: dict[int, dict[str, int]] = {}
    for measure in MEASURES:
        badness = -found[measure] if measure == "t" else found[measure]
        # Of equally small classes those that tell most, and else of equally bad classes those that
        # concern most rows.
        order = np.lexsort((found["frequency l"] if measure == "size" else -groups.sizes, badness))[
            :number
        ]
        for rank, group in enumerate(order.tolist(), start=1):
            ranks.setdefault(group, {})[measure] = rank
    chosen = list(ranks)
    names = classes.names(groups.ids[chosen].tolist())
    values = classes.values(groups.most_frequent[chosen].tolist())
    return tuple(
        WorstClass(
            quasi=names[int(groups.ids[group])],
            by_measure={measure: found[measure][group].item() for measure in MEASURES},
            most_frequent=values[int(groups.most_frequent[group])],
            most_frequent_rows=int(groups.largest[group]),
            rank=ranks[group],
        )
        for group in chosen
    )


def _make_json_key(measure: str) -> str:
    return measure.replace(" ", "_")
