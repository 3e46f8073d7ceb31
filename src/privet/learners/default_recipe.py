"""Choose how the default learner spends epsilon, by a public rule.

The rule looks at the number of rows (declared or paid for), domain sizes and epsilon only.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

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
from privet.errors import FewRowsWarning

ListSplits = Callable[[Schema], list[Split]]


class Line(NamedTuple):
    """How evidence below a bound is spent on boosted trees."""

    #: Evidence below which this line holds: 2 m/T, m = n epsilon.
    below: float
    rounds: int
    depth: int
    #: How much a tree's label counts, in log-odds, before its leaves are refined.
    strength: float
    #: The share of each round for its leaves.
    leaves: Fraction


def _line(below: float, rounds: int, depth: int, strength: float, leaves: int) -> Line:
    return Line(below, rounds, depth, strength, Fraction(leaves, 100))


#: Chosen on public tables, and compared with recipes around each line by ``python -m
#: experiments.recipe``, see docs/results/recipe.md.
RULE = (
    _line(160, 1, 2, 0.7, 0),
    _line(600, 3, 2, 0.7, 0),
    _line(3500, 5, 2, 0.6, 0),
    _line(11_000, 9, 2, 0.5, 0),
    _line(20_000, 9, 2, 0.5, 30),
    _line(100_000, 15, 3, 0.4, 20),
    _line(math.inf, 25, 3, 0.3, 40),
)
#: For more than two classes, whose shares a label alone tells badly, leaves are worth more.
RULE_FOR_MANY = (
    _line(160, 1, 2, 0.7, 0),
    _line(600, 3, 2, 0.7, 0),
    _line(1500, 5, 2, 0.6, 0),
    _line(3500, 5, 2, 0.6, 30),
    _line(11_000, 9, 2, 0.5, 30),
    _line(20_000, 9, 2, 0.5, 30),
    _line(100_000, 9, 3, 0.5, 30),
    _line(math.inf, 15, 3, 0.4, 30),
)
#: Where one of two classes is rare, and scores start from its share: fewer trees, whose leaves say
#: how much they count.
RULE_FOR_RARE = (
    _line(250, 1, 2, 0.7, 20),
    _line(400, 2, 2, 0.6, 20),
    _line(1500, 3, 2, 0.5, 20),
    _line(6000, 5, 2, 0.5, 30),
    _line(20_000, 9, 2, 0.5, 20),
    _line(100_000, 9, 3, 0.5, 30),
    _line(math.inf, 15, 3, 0.4, 30),
)
#: Evidence that tells whether one of two classes is rare, the least and the largest share for it,
#: and the evidence below which there is no telling.
CLASS_EVIDENCE, LEAST_SHARE, LARGEST_SHARE, TOO_THIN = 30, 0.01, 0.1, 80
#: How much a tree's label counts where leaves are not refined, by the number of rounds.
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
#: The second derivative of a row's log-likelihood is about this.
CURVATURE = 0.1
#: The share of epsilon that gives a single tree probabilities, where that is enough for a few nats
#: per class.
CALIBRATION = Fraction(1, 20)


@dataclass(frozen=True)
class Recipe:
    """How the default learner spends epsilon, and why.

    Rounds of boosting, from which space, how much a tree counts, and the shares of epsilon for
    other things: in this order, each of what is left, but ``leaves``, which is of each round.
    """

    space: TreeSpace
    rounds: int
    strength: float
    additive: Fraction
    calibration: Fraction
    leaves: Fraction
    why: str

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card."""
        return {
            "rounds": self.rounds,
            "max_depth": self.space.depth,
            "strength": self.strength,
            "leaf_share": float(self.leaves),
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
    draws_only: bool = False,
    rare: bool = False,
    line: Line | None = None,
) -> Recipe:
    """Return the recipe for a table of about ``n_rows`` rows.

    ``rounds`` and ``depth`` are taken as they are where given; ``draws_only`` leaves everything to
    drawn trees. ``rare`` says that one of two classes is, as far as was paid for. ``line`` is
    followed instead of the rule's own, which is how others are compared with it.

    ``amount`` is the epsilon or rho of the fit (None: infinite). m = n epsilon is how many nats of
    evidence there are; with rho, R draws have an epsilon of sqrt(8 rho/R) each, so that more of
    them have more evidence together. A *small* domain is worth one deep tree, or a few; otherwise
    shallow trees are boosted by the line of the rule that the evidence allows.
    """
    points = math.prod(schema.sizes)

    def evidence_of(draws: int, share: Fraction = Fraction(1)) -> float:
        return measure_evidence(n_rows, amount, unit, draws, share)

    small = not rare and has_small_domain(schema, n_rows, evidence_of(1), single=rounds == 1)
    terms = (
        Fraction(0)
        if draws_only or (small and points > n_rows / 10)
        else _additive_share(schema, n_rows, 1e3 if amount is None else float(amount), unit)
    )
    line = line or choose_line(schema, n_rows, amount, unit, 1 - terms, rare=rare)
    leaves = Fraction(0) if small or draws_only else line.leaves
    number = rounds or (
        (1 if points <= 2 * n_rows or evidence_of(1) < 1500 else 3) if small else line.rounds
    )
    evidence = evidence_of(number, (1 - terms) * (1 - leaves))
    candidates, last = _list_candidates(
        schema, n_rows, evidence / number, number, line.depth, small=small
    )
    if depth is not None:
        candidates = [(depth, all_splits), (depth, coarse_splits)]
    # Small trees of many children, or deep ones of few: the prior of a split follows.
    split = 0.8 if small and last is all_splits else 0.5
    space = _first_that_fits(
        schema, candidates, last, n_rows, (EFFORT_SMALL if small else EFFORT) / number, split
    )
    calibrate = (
        CALIBRATION
        if number == 1 and not leaves and CALIBRATION * evidence >= 5 * schema.n_classes
        else Fraction(0)
    )
    why = [
        *([f"rows times epsilon is about {evidence:.3g}"] if n_rows else []),
        f"{'few' if points <= 32 * n_rows else 'many'} points in the domain ({Decimal(points):.2g})",  # noqa: E501
        *(["one class is rare"] if rare else []),
        f"so {number} {'draw' if number == 1 else 'draws'} of depth {space.depth} at most",
        *([f"{float(leaves):.0%} of each round for its leaves"] if leaves else []),
        *(
            _describe_share(share, unit, what)
            for share, what in (
                (terms, "for additive terms"),
                (calibrate, "for probabilities"),
            )
            if share
        ),
        *(["too few rows for probabilities"] if number == 1 and not (calibrate or leaves) else []),
    ]
    strength = line.strength if number == line.rounds else strength_of(number)
    return Recipe(space, number, strength, terms, calibrate, leaves, "; ".join(why))


def choose_line(
    schema: Schema,
    n_rows: float,
    amount: Fraction | None,
    unit: Unit,
    share: Fraction,
    *,
    rare: bool,
) -> Line:
    """Return the line of the rule for boosted trees that have a share of the amount."""
    rule = RULE_FOR_RARE if rare else RULE if schema.n_classes == 2 else RULE_FOR_MANY
    return next(
        line
        for line in rule
        if measure_evidence(n_rows, amount, unit, line.rounds, share) * 2 / schema.n_classes
        < line.below
        or line.below == math.inf
    )


def measure_evidence(
    n_rows: float,
    amount: Fraction | None,
    unit: Unit,
    draws: int = 1,
    share: Fraction = Fraction(1),
) -> float:
    """Return m = n epsilon of so many draws that have a share of the amount (None: infinite)."""
    trees = (1e3 if amount is None else float(amount)) * float(share)
    return n_rows * (trees if unit == "epsilon" else math.sqrt(8 * trees * draws))


def has_small_domain(
    schema: Schema, n_rows: float, evidence: float, *, single: bool = False
) -> bool:
    """Return whether there are few points in the domain for so many rows: 32 for each at most.

    Ordered attributes are better ranked by several trees, once there is evidence for more than one.
    """
    ordered = any(attribute.ordered for attribute in schema.attributes.values())
    return math.prod(schema.sizes) <= 32 * n_rows and (
        not ordered or single or evidence * 2 / schema.n_classes < 600
    )


def share_for_classes(
    schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit
) -> Fraction:
    """Return the share of the amount that tells whether one of two classes is rare.

    Nothing in a small domain, where a deep tree finds the rare class, and for more classes, whose
    leaves tell their shares.
    """
    evidence = measure_evidence(n_rows, amount, unit)
    if schema.n_classes > 2 or evidence < TOO_THIN or has_small_domain(schema, n_rows, evidence):
        return Fraction(0)
    share = min(max(CLASS_EVIDENCE / evidence, LEAST_SHARE), LARGEST_SHARE)
    return Fraction(round(100 * share), 100)


def warn_of_few_rows(schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit) -> None:
    """Warn where evidence is not enough to choose a single split, whatever the rows say."""
    needed = 2.5 * math.log(max(2, len(all_splits(schema)) * schema.n_classes))
    evidence = measure_evidence(n_rows, amount, unit)
    if evidence < needed:
        warnings.warn(
            f"rows times epsilon is about {evidence:.2g}, and to choose one test takes about "
            f"{needed:.2g}: what the model learns is mostly chance. Use a larger epsilon, more "
            "rows, or fewer attributes and values",
            FewRowsWarning,
            stacklevel=6,
        )


def strength_of(rounds: int) -> float:
    """Return how much a tree's label counts where there are so many."""
    return next(
        (strength for number, strength in STRENGTH.items() if rounds <= number),
        min(STRENGTH.values()),
    )


def _list_candidates(
    schema: Schema, n_rows: float, evidence: float, rounds: int, boosted: int, *, small: bool
) -> tuple[list[tuple[int, ListSplits]], ListSplits]:
    """Return depths and splits above the last level, and the splits of the last level.

    The most wanted come first. ``boosted`` is the depth of boosted trees where nothing speaks
    against it.
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
    elif boosted > 2 and n_rows / rounds >= 500:  # without noise, too, few rows bear no deep trees
        wanted, inner = boosted, coarse_splits
    else:
        wanted = min(boosted, 2, _binary_depth(schema, evidence))
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
