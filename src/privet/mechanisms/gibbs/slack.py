"""Bound what rounding can add to the epsilon of a draw; the bound is public, and it is charged.

Each node of a tree is one exact draw (:func:`~privet.mechanisms.gibbs.draw.exact_draw`) from
log-weights that the dynamic program rounded. Let a log-weight be within e1 of what the stored
values of the children say, and a stored value within e2 of the logarithm of the sum of such terms.
Along a tree the stored values cancel, so that the logarithm of its probability is that of prior x
exp(epsilon x correct weight) but for a constant and, per node, 2 e1 + e2. Over two neighbouring
tables the range of the log-ratio is then at most epsilon + 4 E, where E is the sum of 2 e1 + e2
over the nodes of the largest tree (docs/concepts/gibbs.md).

:func:`slack` is 4 E. It assumes that sums, products and quotients of doubles are rounded to nearest
(IEEE 754), and that exp and log, of NumPy and of compiled code, are good to 4 units in the last
place; the tests look at that.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

from privet.domain.space import TreeSpace
from privet.errors import QuestionError

ROUNDING = 2.0**-53
#: A space whose bound is larger is refused: terms of second order, covered by a factor of 1 +
#: 2**-10, would count.
MAX_SLACK = Fraction(1, 1 << 16)
#: The slack may take this share of epsilon.
MAX_SHARE = Fraction(1, 10)


@lru_cache(maxsize=4)
def slack(space: TreeSpace) -> Fraction:
    """Return what rounding can add to the epsilon of a draw, whatever the table.

    From public sizes alone.
    """
    below = nodes_below(space)
    within = [sum(below[: left + 1]) for left in range(space.depth + 1)]
    error = ROUNDING * math.fsum(
        nodes * _bound_node_rounding(space, within[space.depth - level])
        for level, nodes in enumerate(below)
    )
    bound = Fraction(math.ceil(4 * error * (1 + 2.0**-10) * 2.0**64), 1 << 64)
    if bound > MAX_SLACK:
        raise QuestionError(
            f"trees of this space can have {within[-1]:.1e} nodes, too many for floating point; "
            f"use less depth (now {space.depth}) or splits with fewer children"
        )
    return bound


def epsilon_per_unit(space: TreeSpace, epsilon: Fraction, most: int) -> float:
    """Return the double with which a draw costs at most ``epsilon``.

    A row weighs at most ``most`` units.

    It is the largest one up to (epsilon - slack)/most, so the epsilon of the distribution itself is
    a dyadic rational, and nothing of it is rounded.
    """
    taken = slack(space)
    if taken > epsilon * MAX_SHARE:
        raise QuestionError(
            f"rounding could add {float(taken):.1e} to epsilon in this space of trees, too much "
            f"for epsilon {float(epsilon):.1e}; "
            "use a larger epsilon, less depth or splits with fewer children"
        )
    exact = (epsilon - taken) / most
    unit = float(exact)
    return unit if Fraction(unit) <= exact else math.nextafter(unit, 0.0)


def nodes_below(space: TreeSpace) -> list[int]:
    """Return the most nodes that a tree can have after 0, 1, ..., depth tests.

    A split divides the possible values of its attribute among the children. So there are at most as
    many nodes after i tests as the i largest domains have combinations (by induction), and as the
    widest split allows.
    """
    splits = (*(space.inner or ()), *(space.last or ()))
    domains = sorted(
        (space.schema.attributes[name].size for name in {split.attribute for split in splits}),
        reverse=True,
    )
    return [
        min(math.prod(domains[:tests]), _count_most_children(space) ** tests)
        for tests in range(space.depth + 1)
    ]


def size_per_node(space: TreeSpace) -> float:
    """Return how large a stored logarithm can be, per node below.

    It bounds the prior of a node, and the number of terms of a sum.
    """
    inner, last = space.splits_of(space.inner), space.splits_of(space.last)
    alike = max(
        sum(map(bool, listed)) * max(map(len, listed), default=0) for listed in (inner, last)
    )
    chance = max(-math.log(space.split), -math.log1p(-space.split))
    return (
        _bound_label_term(space)
        + chance
        + math.log(max(alike, 1))
        + math.log(_count_most_sum_terms(space))
    )


def _bound_node_rounding(space: TreeSpace, within: int) -> float:
    """Bound 2 e1 + e2 of a node with so many nodes below it (itself included), in roundings.

    The constants are counted in the docs.
    """
    most, n_classes = _count_most_children(space), space.schema.n_classes
    leaves = most * (n_classes + 14 + 4 * _bound_label_term(space))
    return (
        (3 * most + 60) * size_per_node(space) * within
        + 3 * leaves
        + 10 * _count_most_sum_terms(space)
        + n_classes
        + 33
    )


def _bound_label_term(space: TreeSpace) -> float:
    """Return -log of the smallest probability of a label."""
    return math.log(space.schema.n_classes / (1 - space.keep))


def _count_most_sum_terms(space: TreeSpace) -> int:
    """Return the most terms of a sum over what a node can be."""
    return 1 + max(len(space.inner or ()), len(space.last or ()))


def _count_most_children(space: TreeSpace) -> int:
    return max(
        (split.n_children for split in (*(space.inner or ()), *(space.last or ()))), default=1
    )
