"""Say which tables are learnt by smooth terms instead of draws: public rules, all of them.

A draw is sharp: it is the best use of little evidence where a few tests tell everything, and it
ranks badly where each of several numbers tells a little. Terms say how much, bin by bin, and
neighbouring bins support each other.
"""

from __future__ import annotations

import math
from fractions import Fraction

from privet.accounting.cost import Unit
from privet.domain import Schema
from privet.tables.counting.scoring import UNIT, clip_of, even_clip_of

#: Evidence per pair of attributes up to which its term is visited once, and twice.
ONE_VISIT, TWO_VISITS = 1000, 20_000
#: Bins of each ordered attribute of a pair at most.
MOST_BINS_OF_PAIRS = 16
#: Values that a pair has together at most: more would take long to weigh.
MOST_VALUES = 1024
#: The share of rho for the terms of a smooth table, how often they are visited, how many trees are
#: drawn, and how much each counts.
SMOOTH_SHARE, SMOOTH_CYCLES, SMOOTH_ROUNDS, SMOOTH_STRENGTH = Fraction(7, 10), 2, 2, 0.4
#: Evidence per attribute, n sqrt(8 rho)/k, between which a table is one. With more rows there is
#: as much to be had from more draws.
LEAST_EVIDENCE, MOST_EVIDENCE, MOST_ROWS = 7, 300, 3000
#: With more attributes a draw that finds the best of them is worth more.
MOST_ATTRIBUTES = 20


def is_narrow(schema: Schema) -> bool:
    """Return whether a term for each pair of attributes tells all: two or three, some ordered.

    Two classes only. Where nothing is ordered, a deep tree does as well.
    """
    if schema.n_classes != 2 or not 2 <= len(schema.names) <= 3:
        return False
    attributes = schema.attributes.values()
    sizes = sorted(
        min(one.bins, MOST_BINS_OF_PAIRS) + one.size - one.bins if one.ordered else one.size
        for one in attributes
    )
    return any(one.ordered for one in attributes) and sizes[-1] * sizes[-2] <= MOST_VALUES


def count_pairs(schema: Schema) -> int:
    """Return how many pairs of attributes there are."""
    return math.comb(len(schema.names), 2)


def visits_of_pairs(evidence: float) -> int:
    """Return how often terms of pairs are visited, by the evidence for each of them."""
    return 1 if evidence < ONE_VISIT else 2 if evidence < TWO_VISITS else 4


def needs_less_noise(schema: Schema, terms: int, epsilon: Fraction, rho: Fraction) -> bool:
    """Return whether so many terms have less noise with all of epsilon than with all of rho."""
    l1, l2 = clip_of(schema.n_classes) / UNIT, even_clip_of(schema.n_classes) / UNIT
    laplace = 2 * (l1 * terms / float(epsilon)) ** 2
    return laplace <= l2**2 * terms / (2 * float(rho))


def is_smooth(schema: Schema, n_rows: float, amount: float, unit: Unit) -> bool:
    """Return whether terms should have most of rho, and a few draws the rest.

    With two classes, few rows, few attributes, of which a third or more are ordered, and evidence
    for terms, but not for many draws besides.
    """
    ordered = sum(attribute.ordered for attribute in schema.attributes.values())
    if unit != "rho" or schema.n_classes != 2 or n_rows > MOST_ROWS:
        return False
    if 3 * ordered < len(schema.names) or len(schema.names) > MOST_ATTRIBUTES:
        return False
    evidence = n_rows * math.sqrt(8 * amount) / len(schema.names)
    return LEAST_EVIDENCE <= evidence < MOST_EVIDENCE
