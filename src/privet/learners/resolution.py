"""Merge the fine grids of a schema into the bins that a learner works with.

An attribute with ``bins="auto"`` has a fine public grid. How many bins it is worth depends on how
many rows there are and on epsilon: on large tables fine bins are what more accuracy comes from, on
small ones each of them costs. Where there is evidence enough, a few percent of epsilon find cuts
that divide the rows evenly, so that bounds which are far too wide cost little.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from privet._types import Ints
from privet.accounting.cost import Unit
from privet.curator import AnyCurator
from privet.curator.spending import Spending, root_below
from privet.domain import Schema
from privet.domain.attributes import Attribute, Numeric
from privet.domain.attributes.base import UNITS, divide_evenly
from privet.domain.cells import Split
from privet.domain.coarsening import Coarsening
from privet.domain.space import TreeSpace
from privet.errors import SchemaError
from privet.learners.smooth import is_narrow
from privet.queries import FindQuantiles

#: Evidence n epsilon that a bin is worth, and the fewest and the most bins.
BIN_EVIDENCE, FEWEST_BINS, MOST_BINS = 700.0, 16, 256
#: Units of the larger bound that make bins of almost even widths: terms of pairs need few of them
#: over the whole range, and have no trees that would look closer.
EVEN_UNITS = 1.0
#: Bins for learners that have no rule of their own.
FEW_BINS = 16
#: Grids of more bins are refused by learners that take each bin by itself.
MOST_APART = 64
#: The least and the largest share of the amount for cuts; more where there are few of them.
LEAST_SHARE, LARGEST_SHARE, LARGEST_FOR_FEW = 0.03, 0.06, 0.1
#: Evidence that a part needs to be halved: rows in it times the epsilon of the draw.
ENOUGH = 6.0
#: More parts are better made of the grid.
MOST_LEVELS = 5
#: Where nothing tells how wide the middle is, it is this part of the way to the bounds.
MIDDLE = 1 / 32


@dataclass(frozen=True, eq=False)
class Resolution(Coarsening):
    """The bins that a learner makes of each fine grid.

    ``edges`` are the cuts that were paid for, by attribute, in the units of the schema.
    """

    edges: Mapping[str, tuple[float, ...]]

    @classmethod
    def of(
        cls,
        schema: Schema,
        starts: Mapping[str, Sequence[int]],
        edges: Mapping[str, tuple[float, ...]],
    ) -> Resolution:
        """Return the resolution whose bins begin at these codes, by attribute."""
        if not starts:
            return cls(schema, schema, {}, edges)
        attributes = dict(schema.attributes)
        merged = {}
        for name, firsts in starts.items():
            attribute = schema.attributes[name]
            merged[name] = _merge_bins(attribute, firsts)
            missing = None if attribute.missing is None else str(attribute.missing)
            attributes[name] = Numeric(0, len(firsts), bins=len(firsts), missing=missing)
        return cls(schema, Schema(attributes, schema.target, schema.classes), merged, edges)

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card: how many bins, and the edges that were paid for."""
        if not self.merged:
            return {}
        bins = {name: self.coarse.attributes[name].bins for name in self.merged}
        paid = {name: list(edges) for name, edges in self.edges.items()}
        return {"bins": bins, **({"edges": paid} if paid else {})}

    def lift_space(self, space: TreeSpace) -> TreeSpace:
        """Return a space of trees over bins as one over the codes of the grid."""
        if not self.merged:
            return space
        lifted: dict[Split, Split] = {}  # one object each, which is copied once for a query
        for split in (*(space.inner or ()), *(space.last or ())):
            lifted.setdefault(split, self.lift_split(split))
        inner, last = (
            [lifted[split] for split in splits or ()] for splits in (space.inner, space.last)
        )
        return TreeSpace(self.schema, space.depth, inner, last, space.split, space.keep)


def resolve_evenly(schema: Schema, bins: int = FEW_BINS, units: float = UNITS) -> Resolution:
    """Return the resolution of about so many bins over the range; nothing is paid for it.

    ``units`` are those of the larger bound, see :meth:`~privet.Numeric.divide_grid`.
    """
    starts = {
        name: attribute.divide_grid(bins, units)
        for name, attribute in schema.attributes.items()
        if attribute.auto
    }
    return Resolution.of(schema, starts, {})


def list_thresholds(attribute: Attribute) -> Sequence[int]:
    """Return the codes at which an ordered attribute may be split: of a fine grid, a few."""
    if not attribute.auto:
        return range(1, attribute.size)
    return [
        *attribute.divide_grid(FEW_BINS)[1:],
        *range(attribute.bins, attribute.size),
    ]


def refuse_grids(schema: Schema, owner: str) -> None:
    """Raise for a schema with fine grids, where a learner would take each bin of them by itself."""
    for name, attribute in schema.attributes.items():
        if attribute.auto and attribute.bins > MOST_APART:
            raise SchemaError(
                f"{owner} takes all bins by themselves, and {name!r} has bins='auto', a grid of "
                f"{attribute.bins}; declare how many bins it has, such as bins={FEW_BINS}, or use "
                "PrivetClassifier, which merges them"
            )


def resolve(curator: AnyCurator, spending: Spending, n_rows: float) -> Resolution:
    """Return the bins for a table of about ``n_rows`` rows, by a public rule and by paid cuts.

    Cost: the share of the amount that :func:`plan_cuts` says, by
    :class:`~privet.queries.FindQuantiles`. Neighbours: one row added or removed.
    """
    schema, unit = curator.schema, spending.unit
    names = [name for name, attribute in schema.attributes.items() if attribute.auto]
    if not names:
        return resolve_evenly(schema)
    amount = None if spending.left is None else float(spending.left)
    bins = choose_bins(n_rows, amount, unit)
    half = max(bins // 2, FEWEST_BINS)
    share, levels = plan_cuts(n_rows, amount, unit, len(names))
    if not levels:
        return resolve_evenly(schema, bins, EVEN_UNITS if is_narrow(schema) else UNITS)
    each = spending.share(share, len(names))
    if unit == "rho":
        each = root_below(8 * levels * Fraction(each))
    starts, edges = {}, {}
    for name in names:
        answer = curator.ask(FindQuantiles(name, levels), each)
        spending.record_charge(f"edges of {name}", answer.row_cost)
        # Half of the bins for where rows are, half for the whole range: few rows may be what tells.
        attribute = schema.attributes[name]
        by_rows = divide_at(answer.codes, attribute.bins, half)
        starts[name] = sorted({*by_rows, *attribute.divide_grid(half)})
        edges[name] = answer.edges
    return Resolution.of(schema, starts, edges)


def choose_bins(n_rows: float, amount: float | None, unit: Unit) -> int:
    """Return how many bins an attribute is worth: a power of two."""
    bins = _measure(n_rows, amount, unit, 1) / BIN_EVIDENCE
    return 1 << int(math.log2(min(max(bins, FEWEST_BINS), MOST_BINS)))


def plan_cuts(
    n_rows: float, amount: float | None, unit: Unit, n_attributes: int
) -> tuple[Fraction, int]:
    """Return the share of the amount for the cuts of all attributes, and how often parts are
    halved; nothing where even the largest share is too little.

    Level L halves parts of n/2^(L - 1) rows, and has an epsilon of its own.
    """
    for levels in range(MOST_LEVELS, 0, -1):
        # the median of all rows is drawn among all codes: it takes twice the evidence of a part
        needed = ENOUGH * levels * max(2, 2 ** (levels - 1))
        share = _find_share(n_rows, amount, unit, levels, needed) * n_attributes
        if share <= (LARGEST_SHARE if levels > 2 else LARGEST_FOR_FEW):
            return Fraction(math.ceil(100 * max(share, LEAST_SHARE)), 100), levels
    return Fraction(0), 0


def _find_share(
    n_rows: float, amount: float | None, unit: Unit, draws: int, evidence: float
) -> float:
    """Return the share of the amount with which so many draws have so much evidence."""
    share = evidence / max(_measure(n_rows, amount, unit, draws), 1e-9)
    return share if unit == "epsilon" else share**2


def divide_at(cuts: Sequence[int], n_codes: int, bins: int) -> list[int]:
    """Return where about so many bins begin, given cuts that divide the rows evenly.

    Each part has as many bins. Inside, they have as many codes each; below the first cut and above
    the last, where bounds may be far too wide, they grow with the distance from it, from the size
    that they have in the parts beside.
    """
    if not cuts:
        return divide_evenly(0, n_codes, bins)
    edges = [0, *cuts, n_codes]
    each = max(1, round(bins / (len(edges) - 1)))
    first, last = edges[1], n_codes - edges[-2]
    inner = edges[-2] - edges[1]
    near = inner / max(len(cuts) - 1, 1) / each
    starts = {0, *cuts}
    starts |= {first - distance for distance in _grow(first, near, each)}
    starts |= {edges[-2] + distance for distance in _grow(last, near, each)}
    for low, high in pairwise(cuts):
        starts |= set(divide_evenly(low, high, each))
    return sorted(starts)


def _grow(span: int, near: float, bins: int) -> set[int]:
    """Return the distances at which bins end that grow up to the span, from about a first size."""
    near = max(near if near > 0 else span * MIDDLE, 1.0)
    if near * bins >= span:
        return {span * i // bins for i in range(bins)}
    return {int(distance) for distance in np.geomspace(near, span, bins)[:-1]}


def _merge_bins(attribute: Attribute, starts: Sequence[int]) -> Ints:
    """Return the bin of each code; missing entries, where they have a code, come last."""
    codes = np.arange(attribute.bins)
    merged = np.searchsorted(np.asarray(starts), codes, side="right") - 1
    missing = [len(starts)] * (attribute.size - attribute.bins)
    return np.concatenate([merged, missing]).astype(np.int64)


def _measure(n_rows: float, amount: float | None, unit: Unit, draws: int) -> float:
    """Return n epsilon of so many draws that share an amount."""
    epsilon = 1e3 if amount is None else amount
    return n_rows * (epsilon if unit == "epsilon" else math.sqrt(8 * draws * epsilon))
