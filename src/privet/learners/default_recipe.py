"""Choose how the default learner spends epsilon, by a public rule.

The rule looks at the number of rows (declared or paid for), domain sizes and epsilon only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from privet.accounting.cost import Unit
from privet.domain import Schema
from privet.domain.cells import Split
from privet.domain.space import (
    MAX_SPACE_DEPTH,
    TreeSpace,
    all_splits,
    coarse_splits,
    find_widest_split,
)

ListSplits = Callable[[Schema], list[Split]]

#: Rounds of boosting for an n epsilon below each bound (two classes).
ROUNDS = ((160, 1), (600, 3), (3500, 5), (20_000, 9), (100_000, 15), (math.inf, 25))
#: How much a tree's label counts, in log-odds.
STRENGTH = {1: 0.7, 3: 0.7, 5: 0.6, 9: 0.5, 15: 0.4, 25: 0.3}
#: Rows times attributes above which splits of one value against the rest are left out.
LARGE = 60_000
#: Elementary steps that all draws may take, about a second; in a small domain depth is worth more
#: of them.
EFFORT, EFFORT_SMALL = 3.5e8, 1.5e9
#: Tables that each row may be in with two tests at most, whatever the effort; 1000 attributes would
#: have half a million.
TABLES = 5000
#: The precision that a value of an additive term should have for the term to be worth its epsilon.
PRECISION = 20
#: The share of epsilon that gives a single tree probabilities, where that is enough for a few nats
#: per class.
CALIBRATION = Fraction(1, 20)
#: The second derivative of a row's log-likelihood is about this.
CURVATURE = 0.1


@dataclass(frozen=True)
class Recipe:
    """How the default learner spends epsilon, and why.

    Rounds of boosting, from which space, how much a tree counts, and the shares of epsilon for
    other things.
    """

    space: TreeSpace
    rounds: int
    strength: float
    additive: Fraction
    calibration: Fraction
    why: str

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card."""
        return {
            "rounds": self.rounds,
            "max_depth": self.space.depth,
            "strength": self.strength,
            "additive_share": float(self.additive),
            "calibration_share": float(self.calibration),
            "why": self.why,
        }


def recipe_for(
    schema: Schema,
    n_rows: float,
    amount: Fraction | None,
    unit: Unit = "epsilon",
    *,
    rounds: int | None = None,
    depth: int | None = None,
    additive: bool = True,
) -> Recipe:
    """Return the recipe for a table of about ``n_rows`` rows.

    ``rounds`` and ``depth`` are taken as they are where given.

    ``amount`` is the epsilon or rho of the fit (None: infinite). m = n epsilon is how many nats of
    evidence there are; with rho, R draws have an epsilon of sqrt(8 rho/R) each, so that more of
    them have more evidence together. A *small* domain (at most 32 points per row; with ordered
    attributes only where evidence is thin) is worth one deep tree, or a few; otherwise shallow
    trees are boosted, more of them the more evidence there is. Additive terms are measured where
    their values would be known to a precision of PRECISION with at most half of the amount.
    """
    points = math.prod(schema.sizes)
    spent = 1e3 if amount is None else float(amount)
    in_all = n_rows * (spent if unit == "epsilon" else math.sqrt(8 * spent))
    # Ordered attributes are better ranked by several trees, once there is evidence for more than
    # one.
    ordered = any(attribute.ordered for attribute in schema.attributes.values())
    small = points <= 32 * n_rows and (
        not ordered or rounds == 1 or in_all * 2 / schema.n_classes < 600
    )
    terms = (
        _additive_share(schema, n_rows, spent, unit)
        if additive and not (small and points > n_rows / 10)
        else Fraction(0)
    )

    def evidence_of(draws: int) -> float:
        trees = spent * float(1 - terms)
        return n_rows * (trees if unit == "epsilon" else math.sqrt(8 * trees * draws))

    number = rounds or _choose_rounds(
        evidence_of, schema.n_classes, small=small, covered=points <= 2 * n_rows
    )
    evidence = evidence_of(number)
    candidates, last = _list_candidates(schema, n_rows, evidence / number, number, small=small)
    if depth is not None:
        candidates = [(depth, all_splits), (depth, coarse_splits)]
    # Small trees of many children, or deep ones of few: the prior of a split follows.
    split = 0.8 if small and last is all_splits else 0.5
    space = _first_that_fits(
        schema, candidates, last, n_rows, (EFFORT_SMALL if small else EFFORT) / number, split
    )
    calibrate = (
        CALIBRATION
        if number == 1 and CALIBRATION * evidence >= 5 * schema.n_classes
        else Fraction(0)
    )
    without = "too few rows for additive terms" if additive and not small else "no additive terms"
    why = [
        *([f"rows times epsilon is about {evidence:.3g}"] if n_rows else []),
        f"{'few' if points <= 32 * n_rows else 'many'} points in the domain ({Decimal(points):.2g})",  # noqa: E501
        f"so {number} {'draw' if number == 1 else 'draws'} of depth {space.depth} at most",
        _describe_share(terms, unit, "for additive terms") if terms else without,
        *(
            [
                _describe_share(calibrate, unit, "for probabilities")
                if calibrate
                else "too few rows for probabilities"
            ]
            if number == 1
            else []
        ),
    ]
    return Recipe(space, number, strength_of(number), terms, calibrate, "; ".join(why))


def strength_of(rounds: int) -> float:
    """Return how much a tree's label counts where there are so many."""
    return next(
        (strength for number, strength in STRENGTH.items() if rounds <= number),
        min(STRENGTH.values()),
    )


def _list_candidates(
    schema: Schema, n_rows: float, evidence: float, rounds: int, *, small: bool
) -> tuple[list[tuple[int, ListSplits]], ListSplits]:
    """Return depths and splits above the last level, and the splits of the last level.

    The most wanted come first.
    """
    k = len(schema.sizes)
    inner, last = all_splits, all_splits
    if small and n_rows * k > LARGE:
        values = max(math.prod(schema.sizes) ** (1 / k), 1.01)
        wanted = max(
            1,
            min(
                math.floor(math.log(max(evidence / 2.5, 1.0)) / math.log(values)),
                k - 1,
                MAX_SPACE_DEPTH,
            ),
        )
        inner, last = coarse_splits, coarse_splits
    elif small:
        wanted = min(_binary_depth(schema, evidence), 6 if k <= 6 else 5)
    elif (
        min(evidence, n_rows / rounds) >= 500
    ):  # without noise, too, few rows do not bear deep trees
        wanted, inner = 3, coarse_splits
    else:
        wanted = min(2, _binary_depth(schema, evidence))
    # In a small domain less depth costs less than coarser splits.
    kinds = [[all_splits], [coarse_splits]] if small else [[all_splits, coarse_splits]]
    return [
        (wanted, inner),
        *((depth, one) for listed in kinds for depth in range(wanted, 0, -1) for one in listed),
    ], last


def _first_that_fits(
    schema: Schema,
    candidates: list[tuple[int, ListSplits]],
    last: ListSplits,
    n_rows: float,
    effort: float,
    split: float,
) -> TreeSpace:
    """Return the first space that is small enough, and quick enough.

    Time counts where it is deeper than 2 or each row is in very many tables.
    """
    for depth, inner in candidates:
        space = TreeSpace(
            schema,
            depth,
            _drop_wide_splits(schema, inner(schema)),
            _drop_wide_splits(schema, last(schema)),
            split=split,
        )
        tables = math.comb(len(schema.sizes), depth)
        if space.fits and (
            (depth <= 2 and tables <= TABLES) or space.size.work + n_rows * tables <= effort
        ):
            return space
    space.check_size()
    return space


def _choose_rounds(
    evidence_of: Callable[[int], float], n_classes: int, *, small: bool, covered: bool
) -> int:
    """Return how many trees share the evidence; labels out of more classes need more of it each.

    ``covered``: there is about a row for every point of the domain.
    """
    if small:
        return 1 if covered or evidence_of(1) < 1500 else 3
    return next(number for bound, number in ROUNDS if evidence_of(number) * 2 / n_classes < bound)


def _binary_depth(schema: Schema, evidence: float) -> int:
    """Return the depth of two-way trees that the evidence allows.

    One level more for each doubling of the evidence beyond what one choice of split and labels
    needs.
    """
    choice = 2.5 * math.log(max(2, len(all_splits(schema)) * schema.n_classes))
    return max(1, math.floor(math.log2(max(1.0, evidence / choice))))


def _additive_share(schema: Schema, n_rows: float, amount: float, unit: Unit) -> Fraction:
    """Return the share of epsilon (or rho) that lets the values of additive terms be known to the
    precision; none where that is more than half.

    A value's rows have curvature h = CURVATURE n/s in all (s values per attribute), known up to
    Laplace noise of scale .75 k/(share epsilon), or Gaussian noise of variance .75^2 k/(2 share
    rho): the precision is h^2 over the variance.
    """
    k = len(schema.sizes)
    curvature = max(CURVATURE * n_rows * k / sum(schema.sizes), 1e-9)
    needed = (
        0.75 * k * math.sqrt(2 * PRECISION) / (curvature * amount)
        if unit == "epsilon"
        else 0.28 * k * PRECISION / (curvature**2 * amount)
    )
    return Fraction(max(15, round(100 * needed)), 100) if needed <= 0.5 else Fraction(0)


def _drop_wide_splits(schema: Schema, splits: list[Split]) -> list[Split]:
    """Return the splits without those that have too many children."""
    return [split for split in splits if split.n_children <= find_widest_split(schema.n_classes)]


def _describe_share(share: Fraction, unit: Unit, what: str) -> str:
    return f"{float(share):.0%} of {unit} {what}"
