"""What diffprivlib's forest truly loses by dealing rows to trees, computed from the law of its
code, for rows that fall into one leaf.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from itertools import permutations, product

Law = dict[tuple[int, ...], float]


def true_epsilon(
    classes: Sequence[int], more: int, trees: int, epsilon: float, *, shuffled: bool
) -> float:
    """The largest log-likelihood ratio of all labels of all trees, when a row of class ``more`` is
    appended to rows of these classes.
    """
    before, after = (_law(rows, trees, epsilon, shuffled) for rows in (classes, [*classes, more]))
    return max(abs(math.log(after[labels] / before[labels])) for labels in before)


def _law(classes: Sequence[int], trees: int, epsilon: float, shuffled: bool) -> Law:
    """The chance of every vector of labels: row i goes to tree place[i] // (n / trees), as the code
    has it.
    """
    n = len(classes)
    places = list(permutations(range(n))) if shuffled else [tuple(range(n))]
    law: Law = defaultdict(float)
    for place in places:
        dealt = [int(p // (n / trees)) for p in place]
        ahead = [
            sum(1 if of else -1 for of, tree in zip(classes, dealt, strict=True) if tree == t)
            for t in range(trees)
        ]
        ones = [_chance_of_one(more, epsilon) for more in ahead]
        for labels in product((0, 1), repeat=trees):
            law[labels] += math.prod(
                one if label else 1 - one for label, one in zip(labels, ones, strict=True)
            ) / len(places)
    return law


def _chance_of_one(ahead: int, epsilon: float) -> float:
    """Permute-and-flip between two classes, of which class 1 is so many rows ahead: the one that is
    behind has half of e^-(epsilon gap).
    """
    behind = math.exp(-epsilon * abs(ahead)) / 2
    return 1 - behind if ahead > 0 else behind


def computed() -> dict[str, str]:
    """Sentences for the cases that are about dealing."""
    by_position = true_epsilon([0, 1] * 5, 0, 10, 1.0, shuffled=False)
    at_random = true_epsilon([0] * 5, 1, 5, 1.0, shuffled=True)
    return {
        "forest-position": f"from the law of the code, epsilon is {by_position:.1f} in these worlds.",  # noqa: E501
        "forest-shuffled": "from the law of the code, with five trees and five rows of one class, "
        "to which one of the other comes, epsilon "
        f"is {at_random:.2f}: more than is claimed, and too little more to be seen in so few runs.",
    }
