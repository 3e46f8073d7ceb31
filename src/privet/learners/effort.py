"""Say how much work a fit may take, and how sharp its draws may be: public rules, both.

Work is counted in elementary steps of the dynamic programs, from public sizes. A space of trees
that takes more is made coarser, then shallower.
"""

from __future__ import annotations

import math
from fractions import Fraction

from privet.accounting.cost import Unit
from privet.domain import Schema
from privet.domain.space import TreeSpace

#: Elementary steps that all draws of a fit may take, about a second; in a small domain depth is
#: worth more of them.
EFFORT, EFFORT_SMALL = 4.2e8, 1.5e9
#: Tables of so many rows are worth more: so many times the effort as the evidence, and the entries
#: of the table, are multiples of the other two. 100 000 rows of 14 attributes may take nine CPU
#: seconds. With fewer rows, deeper trees do not make up for what they cost (adult).
MANY_ROWS, EVIDENCE_PER_EFFORT, ENTRIES_PER_EFFORT = 60_000, 20_000, 180_000
#: Epsilon above which a draw learns the rows by heart, for two classes and for more. What is left
#: goes to the leaves. A draw that has less evidence than the last number may have more.
SHARPEST, SHARPEST_OF_MANY, DRAW_EVIDENCE = Fraction(1), Fraction(2), 500
#: The share of the amount from which on draws have all of it: leaves could do little with the rest.
LARGE_SHARE = Fraction(4, 5)


def allow_steps(
    schema: Schema, n_rows: float, evidence: float, effort: float, *, small: bool
) -> float:
    """Return how many elementary steps all draws of a fit may take together.

    ``effort`` is a multiple of the default, which grows with a large table where there is evidence
    for deep trees. In a ``small`` domain it does not: there, depth is limited by the domain.
    """
    if small:
        return EFFORT_SMALL * effort
    if n_rows < MANY_ROWS:
        return EFFORT * effort
    entries = n_rows * len(schema.sizes)
    times = min(evidence / EVIDENCE_PER_EFFORT, entries / ENTRIES_PER_EFFORT)
    return EFFORT * max(1.0, times) * effort


def count_steps(space: TreeSpace, n_rows: float) -> float:
    """Return about how many elementary steps a draw from a space takes."""
    return space.size.work + n_rows * math.comb(len(space.schema.sizes), space.depth)


def share_of_sharp_draws(
    schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit, rounds: int
) -> Fraction:
    """Return the share of the amount that so many draws can use, from 0 to 1.

    A draw weighs trees by exp(epsilon times correct rows). Above some epsilon a few rows outweigh
    the prior, and leaves follow the noise of the sample.
    """
    if amount is None:
        return Fraction(1)
    sharpest = SHARPEST if schema.n_classes == 2 else SHARPEST_OF_MANY
    each = max(sharpest, Fraction(DRAW_EVIDENCE / max(n_rows, 1.0)).limit_denominator(1000))
    usable = rounds * (each if unit == "epsilon" else each**2 / 8)
    return usable / amount if usable < LARGE_SHARE * amount else Fraction(1)
