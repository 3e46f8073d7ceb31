"""Why random trees must not be pruned (2009, section V, figures 3 and 4), run instead of drawn.

Two public tables differ by one row. The same random structure is filled with each, and what no row
reaches is cut off, as Fan et al. do. A pruned tree of the larger table then cannot come from the
smaller one, whatever the structure: seeing it tells for certain who is there. Kept whole, with
noise in every leaf count, each outcome is about as likely from both.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product

from experiments.papers.experiment import Row

Line = tuple[int, int, int, str]
Table = tuple[Line, ...]
#: Three Boolean attributes and a class; the last row is the one that only D1 has.
D1: Table = ((0, 0, 0, "+"), (0, 1, 0, "-"), (1, 0, 0, "+"), (1, 1, 1, "-"))
D2 = D1[:-1]
ATTRIBUTES = 3
HEIGHT = 2
#: A structure: the attribute of the root, and of its two children.
Structure = tuple[int, int, int]
#: What is left after pruning: the root's attribute, its children's, and the leaves.
Shape = tuple[int, tuple[int | None, ...], tuple[tuple[int, int], ...]]
EPSILON = Fraction(1)
#: Noise beyond this many has a probability below 1e-17.
_FAR = 40


def structures() -> list[Structure]:
    """All structures of this height; each is as likely as any other."""
    return [
        (root, left, right)
        for root, left, right in product(range(ATTRIBUTES), repeat=3)
        if root not in (left, right)
    ]


def leaf_of(structure: Structure, row: Line) -> tuple[int, int]:
    """The leaf that a row reaches: its values on the path."""
    root, *below = structure
    first = int(row[root])
    return first, int(row[below[first]])


def leaf_counts(structure: Structure, table: Table) -> Counter[tuple[tuple[int, int], str]]:
    """How many rows of each class are in each leaf."""
    return Counter((leaf_of(structure, row), row[3]) for row in table)


def pruned(structure: Structure, table: Table) -> Shape:
    """The shape of the tree after pruning: tests that rows reach, and leaves with rows. Its counts
    are left out, as if they had noise: the shape is enough.
    """
    reached = {leaf_of(structure, row) for row in table}
    tests = tuple(
        structure[1 + side] if any(leaf[0] == side for leaf in reached) else None for side in (0, 1)
    )
    return structure[0], tests, tuple(sorted(reached))


def probability_of(tree: Shape, table: Table) -> float:
    """The probability that a table gives this pruned tree, over all structures."""
    found = structures()
    return sum(pruned(structure, table) == tree for structure in found) / len(found)


def counter_example() -> list[Row]:
    """The probability that D2 gives a pruned tree of D1; and the worst ratio of noisy counts where
    nothing is pruned.
    """
    trees = [pruned(structure, D1) for structure in structures()]
    likely = [probability_of(tree, D2) for tree in trees]
    # One count differs by one: the worst ratio of the probabilities of its noisy values.
    p = math.exp(-float(EPSILON))
    law = [(1 - p) / (1 + p) * p ** abs(noise) for noise in range(-_FAR, _FAR + 1)]
    ratio = max(max(a / b, b / a) for a, b in pairwise(law))
    changed = max(
        sum((leaf_counts(one, D1) - leaf_counts(one, D2)).values()) for one in structures()
    )
    return [
        {"what": "probability of R1 from D2", "value": likely[0]},
        {"what": "largest probability of any tree of D1 from D2", "value": max(likely)},
        {"what": "structures", "value": float(len(trees))},
        {"what": "leaf counts that one row changes", "value": float(changed)},
        {"what": "largest ratio with noise and no pruning", "value": ratio},
    ]
