"""Make a synthetic table from the answers of a curator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats
from privet._validate import check_integer
from privet.accounting.cost import Cost, Number, compose_sequentially
from privet.accounting.statement import PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import Spending, root_below
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.questions import Question
from privet.errors import ParameterError
from privet.mechanisms.randomness import SystemBits
from privet.queries import Count
from privet.synthetic.class_tree import ClassTree, Measured, fit_class_tree
from privet.synthetic.rows import draw_rows, expand, frame_of
from privet.synthetic.structure import (
    AttributePair,
    Known,
    choose_pair,
    group_values,
    list_candidate_pairs,
    parents_of,
    sum_by_group,
)

if TYPE_CHECKING:
    import pandas as pd


#: The shares of the amount for counts of single attributes and for choosing pairs; the rest
#: measures the pairs.
ALONE, CHOOSING = Fraction(2, 5), Fraction(1, 5)
#: More rows than this are not drawn: they would not fit into memory.
MOST_ROWS = 100_000_000
#: The number of rows to draw must be told where noise moves it by more than this.
MOST_UNSURE = 1_000_000


_NOTE = (
    "The rows are drawn from noisy counts: none is a person, and any number of them gives away no "
    "more."
)


@dataclass(frozen=True, eq=False)
class SyntheticTable:
    """Synthetic rows that describe no real person, with their privacy statement.

    Values are the schema's own.

    ``pairs`` names the attributes that were measured together; ``deviation`` is that of the noise
    of the counts behind the rows.
    """

    frame: pd.DataFrame
    schema: Schema
    privacy: PrivacyStatement
    pairs: tuple[tuple[str, str], ...]
    deviation: float

    @property
    def X(self) -> pd.DataFrame:  # noqa: N802
        """The attributes."""
        return self.frame[list(self.schema.names)]

    @property
    def y(self) -> pd.Series:
        """The classes."""
        return self.frame[self.schema.target]

    @property
    def public_schema(self) -> Schema:
        """The schema of the rows as a public table: nobody in it is a person."""
        return self.schema.declare(n_rows=len(self.frame), person=None, rows_per_person=1)


def synthesize(
    curator: AnyCurator, epsilon: Number, *, rows: int | None = None, delta: Number = 0
) -> SyntheticTable:
    """Make a synthetic table of the rows that a curator guards.

    1. Class counts of each value of each attribute (two fifths of the amount; k questions at once).
    2. Pairs of attributes, one by one, by private selection (a fifth, evenly); it may choose to
       stop.
    3. Class counts of each pair of (groups of) values, for all chosen pairs at once (the rest).
    4. A tree within each class, fitted to these counts, and rows drawn from it: post-processing.

    Sensitivity: k for the first counts, range 2 for a selection, the number of pairs for the last
    counts. Neighbours: one row added or removed. Cost: pure ``epsilon``; with ``delta`` above 0,
    which needs a curator with a budget in rho, the rho of (epsilon, delta).

    Parameters
    ----------
    curator
        Any; public ones take ``math.inf``.
    epsilon, delta
        What it may cost, for one row added or removed.
    rows
        How many rows to draw; by default as many as the table has, declared or about.
    """
    check_row_count(rows)
    with Spending.reserve(curator, epsilon, "synthetic table", delta=delta) as spending:
        if spending.left is not None and spending.to_share is None:
            raise ParameterError(
                "a synthetic table is drawn from a private table, not from records that people "
                "randomised"
            )
        if rows is None and curator.schema.n_rows is None:
            _check_size(curator.schema, spending)
        counted = _count(spending.curator, spending)
    total = (
        counted.total if curator.schema.n_rows is None else max(1.0, float(curator.schema.n_rows))
    )
    model = counted.fit_tree(total)
    # The rows are post-processing: fresh randomness each time, but for tests.
    bits = SystemBits() if curator.bits.private else curator.bits
    groups, classes = draw_rows(model, rows or min(max(1, round(total)), MOST_ROWS), bits)
    columns = expand(groups, classes, counted.known.groups, counted.values, bits)
    frame = frame_of(curator.schema, columns, classes, bits)
    names = curator.schema.names
    pairs = tuple((names[a], names[b]) for a, b in counted.pairs)
    return SyntheticTable(
        frame, curator.schema, spending.statement([_NOTE]), pairs, counted.deviation
    )


def check_row_count(rows: int | None) -> None:
    """Raise unless so many rows can be drawn."""
    if rows is not None:
        check_integer("rows", rows, 1, MOST_ROWS)


def _check_size(schema: Schema, spending: Spending) -> None:
    """Raise where noise would hide how many rows there are: as many might be drawn as no memory
    holds, after all is paid for.
    """
    if spending.left is not None:
        noise = _estimate_deviation(spending, spending.left * ALONE, len(schema.names))
        if (
            noise / math.sqrt(sum(1 / (size * schema.n_classes) for size in schema.sizes))
            > MOST_UNSURE
        ):
            raise ParameterError(
                "epsilon is so small that noise hides how many rows there are: say how many to "
                "draw with rows, or declare n_rows"
            )


@dataclass(frozen=True, eq=False)
class _Counted:
    """All that was asked."""

    values: tuple[Floats, ...]
    deviation: float
    known: Known
    pairs: tuple[AttributePair, ...]
    tables: tuple[Floats, ...]
    pair_deviation: float

    @property
    def total(self) -> float:
        """About how many rows there are: the mean of what the attributes tell, weighted by their
        noise.
        """
        weights = np.array([1 / table.size for table in self.values])
        return max(1.0, float(np.average([table.sum() for table in self.values], weights=weights)))

    def fit_tree(self, total: float) -> ClassTree:
        """The model of these counts."""
        parents = parents_of(len(self.values), self.pairs)
        of_pair = dict(zip(self.pairs, self.tables, strict=True))
        measured = []
        for a, (parent, values, groups) in enumerate(
            zip(parents, self.values, self.known.groups, strict=True)
        ):
            deviation = self.deviation * np.sqrt(np.bincount(groups))[:, None]
            pair = None
            if parent >= 0:
                pair = (
                    of_pair[(parent, a)]
                    if (parent, a) in of_pair
                    else of_pair[(a, parent)].transpose(1, 0, 2)
                )
            measured.append(
                Measured(sum_by_group(values, groups), deviation, pair, self.pair_deviation)
            )
        return fit_class_tree(parents, measured, total)


def _count(curator: AnyCurator, spending: Spending) -> _Counted:
    """Ask for all counts, within what is reserved."""
    schema, k = curator.schema, len(curator.schema.names)
    level = Question.level(Cells.everything(schema), schema.names)
    answer = curator.ask(Count(level), **{spending.unit: spending.take(ALONE)})
    spending.record_charge("class counts of every value of every attribute", answer.row_cost)
    values, deviation = (
        [table[0].astype(np.float64) for table in answer.tables],
        max(answer.deviation, 0.5),
    )
    known = _make_known(schema, values, deviation)

    each = None if spending.left is None else spending.left * CHOOSING / (1 - ALONE) / max(k - 1, 1)
    rest = None if spending.left is None or each is None else spending.left - each * (k - 1)
    later = 0.5 if rest is None else _estimate_deviation(spending, rest, max(k - 1, 1))
    pairs: list[AttributePair] = []
    chosen: list[Cost] = []
    while found := list_candidate_pairs(known, pairs, later, curator.bits):
        pair, choice = choose_pair(curator, known, found, later, _selection_epsilon(spending, each))
        chosen.append(choice.row_cost)
        if each is not None:
            spending.left = (spending.left or Fraction(0)) - each
        if pair is None:
            break
        pairs.append(pair)
    if chosen:
        spending.record_charge(
            f"which pairs of attributes to measure, in {len(chosen)} selections",
            compose_sequentially(chosen),
        )

    if not pairs:  # what is left makes the first counts better
        again = curator.ask(Count(level), **{spending.unit: spending.take(Fraction(1))})
        spending.record_charge(
            "class counts of every value of every attribute, again", again.row_cost
        )
        second = max(again.deviation, 0.5)
        weight = second**2 / (deviation**2 + second**2)
        values = [
            weight * one + (1 - weight) * two[0]
            for one, two in zip(values, again.tables, strict=True)
        ]
        deviation *= math.sqrt(weight)
        return _Counted(
            tuple(values), deviation, _make_known(schema, values, deviation), (), (), 1.0
        )
    together = curator.ask(
        Count(Question(tuple(known.partition(pair) for pair in pairs))),
        **{spending.unit: spending.take(Fraction(1))},
    )
    spending.record_charge(f"class counts of {len(pairs)} pairs of attributes", together.row_cost)
    sizes = [int(groups.max()) + 1 for groups in known.groups]
    tables = [
        table.reshape(sizes[a], sizes[b], schema.n_classes).astype(np.float64)
        for (a, b), table in zip(pairs, together.tables, strict=True)
    ]
    return _Counted(
        tuple(values), deviation, known, tuple(pairs), tuple(tables), max(together.deviation, 0.5)
    )


def _make_known(schema: Schema, values: list[Floats], deviation: float) -> Known:
    noise = deviation * math.sqrt(schema.n_classes)
    groups = [
        group_values(attribute, table.sum(axis=1), noise)
        for attribute, table in zip(schema.attributes.values(), values, strict=True)
    ]
    alone = [
        np.maximum(sum_by_group(table, of), 0.5) for table, of in zip(values, groups, strict=True)
    ]
    return Known(schema, tuple(groups), tuple(alone))


def _selection_epsilon(spending: Spending, amount: Fraction | None) -> Number:
    """The epsilon of a selection for this amount; with rho, epsilon**2/8 of it is a selection's."""
    if amount is None:
        return math.inf
    return amount if spending.unit == "epsilon" else root_below(8 * amount)


def _estimate_deviation(spending: Spending, amount: Fraction, partitions: int) -> float:
    """About the deviation of counts of so many partitions for this amount."""
    return (
        math.sqrt(2) * partitions / float(amount)
        if spending.unit == "epsilon"
        else math.sqrt(partitions / (2 * float(amount)))
    )
