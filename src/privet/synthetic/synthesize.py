"""Make a synthetic table from the answers of a curator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from privet._types import Floats, Ints
from privet._validate import check_integer
from privet.accounting.cost import Cost, Number, compose_sequentially
from privet.accounting.statement import PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import Spending, root_below
from privet.domain import Schema
from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.errors import ParameterError
from privet.learners.resolution import Resolution, resolve
from privet.mechanisms.randomness import Bits, SystemBits
from privet.queries import Count, Numbers, Size
from privet.synthetic.class_tree import ClassTree, Measured, fit_class_tree
from privet.synthetic.copula import estimate_correlation, follow, score_groups, weigh_groups
from privet.synthetic.groups import group_values, sum_by_group
from privet.synthetic.possible import draw_possible
from privet.synthetic.rows import draw_rows, expand, frame_of, spread_bin
from privet.synthetic.structure import (
    AttributePair,
    Cut,
    Known,
    choose_pair,
    list_candidates,
    list_stated_pairs,
    parents_of,
)

if TYPE_CHECKING:
    import pandas as pd


#: The shares of the amount for counts of single attributes and for choosing pairs; the rest
#: measures the pairs.
ALONE, CHOOSING = Fraction(2, 5), Fraction(1, 5)
#: The share that says how many rows there are, where fine grids are to be merged.
SIZE = Fraction(1, 50)
#: The logarithm of how likely it is what the schema says to be impossible: no count undoes it.
NEVER = -30.0
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
    of the counts behind the rows. ``cells`` says of each pair in how many parts of either attribute
    it was counted.
    """

    frame: pd.DataFrame
    schema: Schema
    privacy: PrivacyStatement
    pairs: tuple[tuple[str, str], ...]
    deviation: float
    cells: tuple[tuple[int, int], ...] = ()

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

    Fine grids (``bins="auto"``) are merged first, as learners do (up to a tenth of the amount).
    What the schema says to be impossible is in no row.

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
    # The rows are post-processing: fresh randomness each time, but for tests.
    bits = SystemBits() if curator.bits.private else curator.bits
    columns, classes = counted.draw(rows, total, bits)
    frame = frame_of(curator.schema, columns, classes, bits)
    names = curator.schema.names
    pairs = tuple((names[a], names[b]) for a, b in (cut.pair for cut in counted.cuts))
    statement = spending.statement([_NOTE])
    cells = tuple(cut.sizes for cut in counted.cuts)
    return SyntheticTable(frame, curator.schema, statement, pairs, counted.deviation, cells)


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

    bins: Resolution
    values: tuple[Floats, ...]
    groups: tuple[Ints, ...]
    deviation: float
    known: Known
    cuts: tuple[Cut, ...] = ()
    tables: tuple[Floats, ...] = ()
    pair_deviation: float = 1.0

    @property
    def total(self) -> float:
        """About how many rows there are: the mean of what the attributes tell, weighted by their
        noise.
        """
        weights = np.array([1 / table.size for table in self.values])
        return max(1.0, float(np.average([table.sum() for table in self.values], weights=weights)))

    def fit_tree(self, total: float) -> tuple[ClassTree, list[float]]:
        """The model of these counts, and the correlation of each attribute with its parent."""
        parents = parents_of(len(self.values), [cut.pair for cut in self.cuts])
        edges = {}
        for cut, table in zip(self.cuts, self.tables, strict=True):
            edges[cut.pair] = (cut.parts, table)
            edges[cut.pair[::-1]] = (cut.parts[::-1], table.transpose(1, 0, 2))
        measured, correlations = [], [0.0] * len(parents)
        for a, (parent, values, groups) in enumerate(
            zip(parents, self.values, self.groups, strict=True)
        ):
            alone = sum_by_group(values, groups)
            deviation = self.deviation * np.sqrt(np.bincount(groups))[:, None]
            if parent < 0:
                measured.append(Measured(alone, deviation))
                continue
            parts, table = edges[(parent, a)]
            leaning, correlations[a] = self._lean((parent, a), parts, table)
            measured.append(Measured(alone, deviation, table, self.pair_deviation, parts, leaning))
        return fit_class_tree(parents, measured, total), correlations

    def _lean(
        self, pair: AttributePair, parts: tuple[Ints, Ints], table: Floats
    ) -> tuple[Floats, float]:
        """How the groups of two attributes go together within the parts, as a logarithm, and the
        correlation behind it.
        """
        attributes = [self.bins.coarse.attributes[self.known.schema.names[a]] for a in pair]
        never = self.known.find_impossible(pair)
        if not all(attribute.ordered for attribute in attributes):
            return np.where(never, NEVER, 0.0)[:, :, None], 0.0
        alone = self.known.alone[pair[0]], self.known.alone[pair[1]]
        first, second = (
            score_groups(rows, len(rows) - (attribute.size > attribute.bins))
            for rows, attribute in zip(alone, attributes, strict=True)
        )
        scores = (first, second)
        correlation = estimate_correlation(table, self.pair_deviation, parts, alone, scores)
        leaning = weigh_groups(correlation, scores)
        return np.where(never[:, :, None], NEVER, leaning), correlation

    def draw(self, rows: int | None, total: float, bits: Bits) -> tuple[list[Ints], Ints]:
        """Draw the codes and the classes of rows that are possible."""
        tree, correlations = self.fit_tree(total)
        attributes = list(self.known.schema.attributes.items())

        def draw(n_rows: int) -> tuple[list[Ints], Ints]:
            values, classes = draw_rows(tree, n_rows, bits)  # groups, to begin with
            for a in tree.order:
                name, attribute = attributes[a]
                parent, heights = tree.parents[a], None
                if correlations[a]:
                    of_parent = attributes[parent][1]
                    there = values[parent] < of_parent.bins
                    heights = follow(values[parent], there, classes, correlations[a], bits)
                alone = self.values[a], self.deviation
                values[a] = expand(values[a], classes, self.groups[a], *alone, bits, heights)
                if name in self.bins.merged:
                    merged = self.bins.merged[name]
                    values[a] = spread_bin(values[a], merged, attribute, bits, heights)
            return values, classes

        n_rows = rows or min(max(1, round(total)), MOST_ROWS)
        return draw_possible(self.known.schema, n_rows, draw)


def _count(curator: AnyCurator, spending: Spending) -> _Counted:
    """Ask for all counts, within what is reserved."""
    schema, k = curator.schema, len(curator.schema.names)
    as_begun = curator.rules < 3  # what 0.1 began goes on as it was begun
    bins = Resolution.of(schema, {}, {}) if as_begun else _resolve(curator, spending)
    level = _ask_values(schema, bins)
    answer = curator.ask(Count(level), **{spending.unit: spending.take(ALONE)})
    spending.record_charge("class counts of every value of every attribute", answer.row_cost)
    values, deviation = _tables_of(answer), max(answer.deviation, 0.5)
    groups, known = _make_known(schema, bins, values, deviation, as_begun=as_begun)

    each = None if spending.left is None else spending.left * CHOOSING / (1 - ALONE) / max(k - 1, 1)
    rest = None if spending.left is None or each is None else spending.left - each * (k - 1)
    later = 0.5 if rest is None else _estimate_deviation(spending, rest, max(k - 1, 1))
    # what the schema says cannot be together depends on each other, and need not be chosen
    pairs = list_stated_pairs(known, later)
    chosen: list[Cost] = []
    while found := list_candidates(known, pairs, later, curator.bits):
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
            weight * one + (1 - weight) * two
            for one, two in zip(values, _tables_of(again), strict=True)
        ]
        deviation *= math.sqrt(weight)
        groups, known = _make_known(schema, bins, values, deviation, as_begun=as_begun)
        return _Counted(bins, tuple(values), groups, deviation, known)
    # fewer pairs than there might have been have less noise, and show finer cells
    finest = (
        later if spending.left is None else _estimate_deviation(spending, spending.left, len(pairs))
    )
    cuts = [cut for pair in pairs if (cut := known.cut(pair, min(finest, later))) is not None]
    together = curator.ask(
        Count(Question(tuple(known.partition(cut) for cut in cuts))),
        **{spending.unit: spending.take(Fraction(1))},
    )
    spending.record_charge(f"class counts of {len(pairs)} pairs of attributes", together.row_cost)
    tables = tuple(
        np.where(
            known.find_impossible_cells(cut)[:, :, None],
            0.0,
            table.reshape(*cut.sizes, schema.n_classes).astype(np.float64),
        )
        for cut, table in zip(cuts, together.tables, strict=True)
    )
    noise = max(together.deviation, 0.5)
    return _Counted(bins, tuple(values), groups, deviation, known, tuple(cuts), tables, noise)


def _resolve(curator: AnyCurator, spending: Spending) -> Resolution:
    """Return the bins of fine grids, by a noisy number of rows if none is declared."""
    schema = curator.schema
    n_rows = schema.n_rows
    if n_rows is None and any(attribute.auto for attribute in schema.attributes.values()):
        answer = curator.ask(Size(), **{spending.unit: spending.take(SIZE)})
        spending.record_charge("how many rows there are", answer.row_cost)
        n_rows = max(1, int(answer.tables[0].sum()))
    return resolve(curator, spending, float(n_rows or 1))


def _ask_values(schema: Schema, bins: Resolution) -> Question:
    """Return the question for the class counts of every value, or bin of a fine grid."""
    everything = Cells.everything(schema)
    return Question(
        tuple(
            Partition(everything.refine({0: Split(name, tuple(bins.merged[name].tolist()))}))
            if name in bins.merged
            else Partition(everything, by=name)
            for name in schema.names
        )
    )


def _tables_of(answer: Numbers) -> list[Floats]:
    """Return the table (value, class) of each attribute."""
    return [table.reshape(-1, table.shape[-1]).astype(np.float64) for table in answer.tables]


def _make_known(
    schema: Schema, bins: Resolution, values: list[Floats], deviation: float, *, as_begun: bool
) -> tuple[tuple[Ints, ...], Known]:
    """Return the group of each value that was counted, and what is known of the groups."""
    noise = deviation * math.sqrt(schema.n_classes)
    groups = tuple(
        group_values(attribute, table.sum(axis=1), noise, as_begun=as_begun)
        for attribute, table in zip(bins.coarse.attributes.values(), values, strict=True)
    )
    alone = tuple(
        np.maximum(sum_by_group(table, of), 0.5) for table, of in zip(values, groups, strict=True)
    )
    of_codes = tuple(
        of[bins.merged[name]] if name in bins.merged else of
        for name, of in zip(schema.names, groups, strict=True)
    )
    return groups, Known(schema, of_codes, alone, as_begun)


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
