"""Choose how the default learner spends epsilon, by a public rule.

The rule looks at the number of rows (declared or paid for), domain sizes and epsilon only.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from privet.accounting.conversion import rho_for
from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.domain import Schema
from privet.domain.cells import Split
from privet.domain.space import (
    MAX_SPACE_DEPTH,
    TreeSpace,
    all_splits,
    binary_and_coarse_splits,
    coarse_splits,
    coarsest_splits,
    find_widest_split,
)
from privet.errors import FewRowsWarning, QuestionError
from privet.learners.effort import allow_steps, count_steps, share_of_sharp_draws
from privet.learners.resolution import resolve_evenly
from privet.learners.screening import CHOSEN, SCREENING_SHARE, is_wide
from privet.learners.smooth import (
    SMOOTH_CYCLES,
    SMOOTH_ROUNDS,
    SMOOTH_SHARE,
    SMOOTH_STRENGTH,
    count_pairs,
    is_narrow,
    is_smooth,
    needs_less_noise,
    visits_of_pairs,
)
from privet.mechanisms.gibbs.slack import slack
from privet.queries.release_kinds import LEAST_EPSILON

ListSplits = Callable[[Schema], list[Split]]
#: A depth, the splits above the last level and those of the last level.
Candidate = tuple[int, ListSplits, ListSplits]


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
    _line(1_000_000, 25, 3, 0.3, 40),
    _line(math.inf, 41, 3, 0.2, 40),
)
#: For more than two classes, whose shares a label alone tells badly, leaves are worth more.
RULE_FOR_MANY = (
    _line(160, 1, 2, 0.7, 0),
    _line(600, 3, 2, 0.7, 0),
    _line(3500, 5, 2, 0.6, 30),
    _line(20_000, 9, 2, 0.5, 30),
    _line(100_000, 15, 3, 0.4, 30),
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
#: With rho, where terms are visited in cycles between the draws: more trees, which count less each.
#: Chosen on public tables, see docs/decisions/032-delta-never-hurts.md.
RULE_IN_CYCLES = (
    _line(600, 5, 2, 0.4, 0),
    _line(3500, 9, 2, 0.4, 0),
    _line(30_000, 15, 2, 0.4, 0),
    _line(math.inf, 25, 3, 0.25, 0),
)
#: Evidence that tells whether one of two classes is rare, the least and the largest share for it,
#: and the evidence below which there is no telling.
CLASS_EVIDENCE, LEAST_SHARE, LARGEST_SHARE, TOO_THIN = 30, 0.01, 0.1, 80
#: How much a tree's label counts where leaves are not refined, by the number of rounds.
STRENGTH = {1: 0.7, 3: 0.7, 5: 0.6, 9: 0.5, 15: 0.4, 25: 0.3, 41: 0.2}
#: Rows times attributes above which splits of one value against the rest are left out.
LARGE = 60_000
#: Nats that a row can tell about two classes, whatever epsilon is: few rows bear few trees.
ROW_EVIDENCE = 20
#: Evidence of a draw from which on coarser splits are better than less depth.
COARSE_EVIDENCE = 3000
#: Tables that each row may be in with two tests at most, whatever the effort; 1000 attributes would
#: have half a million.
TABLES = 5000
#: Children of a split of an ordered attribute, where more would be too many for a draw.
WIDEST_ORDERED = 33
#: The precision that a value of an additive term should have for the term to be worth its epsilon.
PRECISION = 20
#: With rho, terms are visited this often with this share of it: several small steps with fresh
#: derivatives cost no more than a single one.
CYCLES, CYCLED_SHARE = 4, Fraction(3, 5)
#: Evidence per attribute and class, n sqrt(8 rho/k) 2/T, from which on there are such cycles, and
#: from which on they are better than what pure epsilon has.
CYCLED_EVIDENCE, BETTER_IN_CYCLES = 20, 70
#: The second derivative of a row's log-likelihood is about this.
CURVATURE = 0.1
#: More bins of an ordered attribute are known as well as these, from their neighbours.
SMOOTHED = 16
#: The share of epsilon that gives a single tree probabilities, where that is enough for a few nats
#: per class.
CALIBRATION = Fraction(1, 20)
#: The share of the amount that tells who the people are, and the standard deviation of a value's
#: share up to which that is worth it.
POPULATION, BLURRED = Fraction(1, 50), 0.05


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
    #: How often all terms are visited; trees are drawn in as many groups, one before each visit.
    cycles: int = 1
    #: What pays for the choice of attributes that get terms, in a wide table.
    screening: Fraction = Fraction(0)
    #: Whether there is a term for each pair of attributes, and nothing else.
    pairs: bool = False

    @property
    def only_labels(self) -> bool:
        """Whether a single tree says classes, and nothing else tells their probabilities."""
        return self.rounds == 1 and not (self.additive or self.calibration or self.leaves)

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card."""
        return {
            "rounds": self.rounds,
            "max_depth": 2 if self.pairs else self.space.depth,
            "strength": self.strength,
            "leaf_share": float(self.leaves),
            "additive_share": float(self.additive),
            "cycles": self.cycles,
            "screening_share": float(self.screening),
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
    effort: float = 1.0,
    alone: bool = False,
) -> Recipe:
    """Return the recipe for a table of about ``n_rows`` rows.

    ``rounds`` and ``depth`` are taken as they are where given; ``draws_only`` leaves everything to
    drawn trees. ``rare`` says that one of two classes is, as far as was paid for. ``line`` is
    followed instead of the rule's own, which is how others are compared with it. ``effort`` is how
    many times the default's work the draws may take. ``alone`` says that one curator's rows make
    the whole model at once, for which there are recipes without turns (:mod:`~.smooth`).

    ``amount`` is the epsilon or rho of the fit (None: infinite). m = n epsilon is how many nats of
    evidence there are; with rho, R draws have an epsilon of sqrt(8 rho/R) each, so that more of
    them have more evidence together. A *small* domain is worth one deep tree, or a few; otherwise
    shallow trees are boosted by the line of the rule that the evidence allows.
    """
    points = math.prod(schema.sizes)

    def evidence_of(draws: int, share: Fraction = Fraction(1)) -> float:
        return measure_evidence(n_rows, amount, unit, draws, share)

    if alone and is_narrow(schema):
        return _plan_pairs(schema, n_rows, amount, unit)
    finite = 1e3 if amount is None else float(amount)
    smooth = alone and is_smooth(schema, n_rows, finite, unit)
    small = not (rare or smooth) and has_small_domain(
        schema, n_rows, evidence_of(1), single=rounds == 1
    )
    terms, cycles = SMOOTH_SHARE, SMOOTH_CYCLES
    if not smooth:
        without = draws_only or (small and points > n_rows / 10)
        terms = Fraction(0) if without else _additive_share(schema, n_rows, finite, unit)
        cycles = CYCLES if unit == "rho" and terms else 1
    screening = SCREENING_SHARE if terms and is_wide(schema) else Fraction(0)
    spared = (1 - terms) * (1 - screening)
    if smooth:
        line = Line(math.inf, SMOOTH_ROUNDS, 2, SMOOTH_STRENGTH, Fraction(0))
    line = line or choose_line(
        schema, n_rows, amount, unit, spared, rare=rare, in_cycles=cycles > 1
    )
    leaves = Fraction(0) if small or draws_only else line.leaves
    number = rounds or (
        (1 if points <= 2 * n_rows or evidence_of(1) < 1500 else 3) if small else line.rounds
    )
    evidence = evidence_of(number, spared * (1 - leaves))
    candidates = _list_candidates(
        schema, n_rows, evidence / number, number, line.depth, small=small
    )
    last = candidates[-1][2]
    if depth is not None:
        candidates = [(depth, all_splits, last), (depth, coarse_splits, last)]
    # Small trees of many children, or deep ones of few: the prior of a split follows.
    split = 0.8 if small and last is all_splits else 0.5
    steps = allow_steps(schema, n_rows, evidence, effort, small=small)
    space = _first_that_fits(schema, candidates, n_rows, steps / number, split)
    if not (small or draws_only):
        usable = share_of_sharp_draws(schema, n_rows, amount, unit, number) / spared
        leaves = max(leaves, 1 - usable)
    calibrate = (
        CALIBRATION
        if number == 1 and not leaves and CALIBRATION * evidence >= 5 * schema.n_classes
        else Fraction(0)
    )
    why = [
        *([_describe_evidence(evidence)] if n_rows else []),
        f"{'few' if points <= 32 * n_rows else 'many'} points in the domain ({Decimal(points):.2g})",  # noqa: E501
        *(["one class is rare"] if rare else []),
        f"so {number} {'draw' if number == 1 else 'draws'} of depth {space.depth} at most",
        *([f"{float(leaves):.0%} of each round for its leaves"] if leaves else []),
        *(
            _describe_share(share, unit, what)
            for share, what in (
                (terms, f"for {f'{CHOSEN} ' if screening else ''}additive terms"),
                (screening, "to choose attributes for them"),
                (calibrate, "for probabilities"),
            )
            if share
        ),
        *([f"visited {cycles} times, between the draws"] if cycles > 1 else []),
        *(["too few rows for probabilities"] if number == 1 and not (calibrate or leaves) else []),
    ]
    strength = line.strength if number == line.rounds else strength_of(number)
    recipe = Recipe(
        space, number, strength, terms, calibrate, leaves, "; ".join(why), cycles, screening
    )
    if not recipe.only_labels:
        return recipe
    return replace(recipe, strength=max(strength, strength_of_half(schema.n_classes)))


def _plan_pairs(schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit) -> Recipe:
    """Return the recipe for a table of two or three attributes: a term for each pair of them."""
    pairs = count_pairs(schema)
    evidence = measure_evidence(n_rows, amount, unit) / pairs ** (1 if unit == "epsilon" else 0.5)
    cycles = visits_of_pairs(evidence)
    why = (
        f"{_describe_evidence(measure_evidence(n_rows, amount, unit))}; "
        f"{len(schema.names)} attributes, so all of {unit} for {pairs} "
        f"{'term' if pairs == 1 else 'terms'} of pairs, visited {cycles} "
        f"{'time' if cycles == 1 else 'times'}"
    )
    nothing = Fraction(0)
    space = TreeSpace(schema, 0, [], [], split=0.5)
    return Recipe(space, 0, 0.0, Fraction(1), nothing, nothing, why, cycles, pairs=True)


def choose_line(
    schema: Schema,
    n_rows: float,
    amount: Fraction | None,
    unit: Unit,
    share: Fraction,
    *,
    rare: bool,
    in_cycles: bool = False,
) -> Line:
    """Return the line of the rule for boosted trees that have a share of the amount."""
    rule: tuple[Line, ...] = RULE_FOR_MANY
    if in_cycles:
        rule = RULE_IN_CYCLES
    elif schema.n_classes == 2:
        rule = RULE_FOR_RARE if rare else RULE
    most = n_rows * ROW_EVIDENCE if schema.n_classes == 2 else math.inf
    for line in rule:
        evidence = min(measure_evidence(n_rows, amount, unit, line.rounds, share), most)
        if evidence * 2 / schema.n_classes < line.below:
            break
    return line


def prefers_pure(schema: Schema, epsilon: Number, delta: Number, **choices: Any) -> bool:
    """Return whether a fit is expected to be better with pure epsilon than with this delta as well.

    Terms in cycles are better with the rho of epsilon and delta where there is evidence enough. A
    few draws are not: R of them have sqrt(8 rho R) together, which has to be more than epsilon.
    There is no telling where the number of rows is not declared. ``choices`` are those of
    :func:`recipe_for`.
    """
    small = parse_exact("delta", delta, zero=True)
    if small == 0 or is_infinite(epsilon) or schema.n_rows is None:
        return False
    amount = parse_exact("epsilon", epsilon)
    rho = rho_for(amount, small)
    coarse = resolve_evenly(schema).coarse
    recipe = recipe_for(coarse, schema.n_rows, rho, "rho", **choices)
    if recipe.pairs:
        return needs_less_noise(schema, count_pairs(schema), amount, rho)
    if recipe.cycles > 1:
        if is_smooth(coarse, schema.n_rows, float(rho), "rho"):
            return False
        return _measure_per_attribute(coarse, schema.n_rows, float(rho)) < BETTER_IN_CYCLES
    return 8 * rho * recipe.rounds <= amount**2


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
    schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit, *, always: bool = False
) -> Fraction:
    """Return the share of the amount that tells whether one of two classes is rare.

    Nothing in a small domain, where a deep tree finds the rare class, and for more classes, whose
    leaves tell their shares; unless they are needed ``always``.
    """
    evidence = measure_evidence(n_rows, amount, unit)
    if not (always or may_start_from_classes(schema, n_rows, evidence)):
        return Fraction(0)
    needed = CLASS_EVIDENCE / evidence
    if unit == "rho":  # the variance of noise is 1/(2 share rho), and 2/(share epsilon)^2
        needed = 2 * needed**2
    share = min(max(needed, LEAST_SHARE), LARGEST_SHARE)
    return Fraction(round(100 * share), 100)


def may_start_from_classes(schema: Schema, n_rows: float, evidence: float) -> bool:
    """Return whether scores may start from class shares, by public quantities."""
    return (
        schema.n_classes == 2
        and evidence >= TOO_THIN
        and not has_small_domain(schema, n_rows, evidence)
    )


def share_for_population(
    schema: Schema, n_rows: float, amount: Fraction | None, unit: Unit
) -> Fraction:
    """Return the share of the amount that tells who the people are.

    None where noise would blur it, or a query would ask for less than curators answer for. Each of
    k attributes has a part of share/k, and a count has Laplace noise of scale k/(share epsilon), or
    Gaussian noise of variance k/(2 share rho).
    """
    k, share = len(schema.names), float(POPULATION)
    if amount is None:
        return POPULATION
    noise = (
        math.sqrt(2) * k / (share * float(amount))
        if unit == "epsilon"
        else math.sqrt(k / (2 * share * float(amount)))
    )
    least = LEAST_EPSILON if unit == "epsilon" else LEAST_EPSILON**2 / 2
    worth_it = noise <= BLURRED * n_rows and POPULATION * amount / k >= least
    return POPULATION if worth_it else Fraction(0)


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


def strength_of_half(n_classes: int) -> float:
    """Return how much a label counts that has half of the probability, the others the rest."""
    return math.log(max(n_classes - 1, 1))


def _list_candidates(
    schema: Schema, n_rows: float, evidence: float, rounds: int, boosted: int, *, small: bool
) -> list[Candidate]:
    """Return depths and splits, the most wanted first.

    ``boosted`` is the depth of boosted trees where nothing speaks against it.
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
        above = [coarse_splits] + [coarsest_splits] * (evidence >= COARSE_EVIDENCE)
        return [
            # So far down, a child for each value would follow the sample, and take longer.
            *((boosted, splits, binary_and_coarse_splits) for splits in above),
            *((depth, splits, last) for depth in (2, 1) for splits in (all_splits, coarse_splits)),
        ]
    else:
        wanted = min(boosted, 2, _binary_depth(schema, evidence))
    # In a small domain less depth costs less than coarser splits.
    kinds = [[all_splits], [coarse_splits]] if small else [[all_splits, coarse_splits]]
    return [
        (wanted, inner, last),
        *(
            (depth, one, last)
            for listed in kinds
            for depth in range(wanted, 0, -1)
            for one in listed
        ),
    ]


def _first_that_fits(
    schema: Schema,
    candidates: list[Candidate],
    n_rows: float,
    steps: float,
    split: float,
) -> TreeSpace:
    """Return the first space that is small enough, and quick enough.

    Time counts where it is deeper than 2 or each row is in very many tables.
    """
    for depth, inner, last in candidates:
        space = _make_space(schema, depth, inner, last, split)
        tables = math.comb(len(schema.sizes), depth)
        if _can_be_drawn(space) and (
            (depth <= 2 and tables <= TABLES) or count_steps(space, n_rows) <= steps
        ):
            return space
    space.check_size()
    return space


def _make_space(
    schema: Schema, depth: int, inner: ListSplits, last: ListSplits, split: float
) -> TreeSpace:
    """Return a space of this depth: where it could not be drawn from, without splits of ordered
    attributes into very many bins.
    """
    for widest in (find_widest_split(schema.n_classes), WIDEST_ORDERED):
        above, below = (_drop_wide_splits(schema, one(schema), widest) for one in (inner, last))
        space = TreeSpace(schema, depth, above, below, split=split)
        if _can_be_drawn(space):
            break
    return space


def _can_be_drawn(space: TreeSpace) -> bool:
    """Return whether a space is small enough to draw from, and to bound what rounding adds."""
    try:
        space.check_size()
        slack(space.merged)
    except QuestionError:
        return False
    return True


def _binary_depth(schema: Schema, evidence: float) -> int:
    """Return the depth of two-way trees that the evidence allows.

    One level more for each doubling of the evidence beyond what one choice of split and labels
    needs.
    """
    choice = 2.5 * math.log(max(2, len(all_splits(schema)) * schema.n_classes))
    return max(1, math.floor(math.log2(max(1.0, evidence / choice))))


def _additive_share(schema: Schema, n_rows: float, amount: float, unit: Unit) -> Fraction:
    """Return the share of epsilon that lets the values of additive terms be known to the precision;
    none where that is more than half. Of rho, it is always the same, or none.

    A value's rows have curvature h = CURVATURE n/s in all (s values per attribute; of an ordered
    one, whose neighbouring bins are smoothed, SMOOTHED at most), known up to Laplace noise of scale
    .75 k/(share epsilon): the precision is h^2 over the variance. In a wide table
    only chosen attributes get a term, where all of them could.
    """
    k = len(schema.sizes)
    if unit == "rho":
        enough = _measure_per_attribute(schema, n_rows, amount) >= CYCLED_EVIDENCE
        return CYCLED_SHARE if enough else Fraction(0)
    values = sum(
        min(attribute.size, SMOOTHED) if attribute.ordered else attribute.size
        for attribute in schema.attributes.values()
    )
    curvature = max(CURVATURE * n_rows * k / values, 1e-9)
    needed = 0.75 * k * math.sqrt(2 * PRECISION) / (curvature * amount)
    if needed > 0.5:
        return Fraction(0)
    needed *= CHOSEN / k if is_wide(schema) else 1
    return Fraction(max(15, round(100 * needed)), 100)


def _measure_per_attribute(schema: Schema, n_rows: float, rho: float) -> float:
    return n_rows * math.sqrt(8 * rho / len(schema.sizes)) * 2 / schema.n_classes


def _drop_wide_splits(schema: Schema, splits: list[Split], ordered: int) -> list[Split]:
    """Return the splits without those that have too many children; of ordered attributes, more
    than so many.
    """
    widest = find_widest_split(schema.n_classes)
    return [
        split
        for split in splits
        if split.n_children <= (ordered if schema.attributes[split.attribute].ordered else widest)
    ]


def _describe_evidence(evidence: float) -> str:
    return f"rows times epsilon is about {evidence:.3g}"


def _describe_share(share: Fraction, unit: Unit, what: str) -> str:
    return f"{float(share):.0%} of {unit} {what}"
