"""What the attacker sees of a target in a released model: how sure it is of its class, and what its
leaves hold beyond other rows.
"""

from __future__ import annotations

import numpy as np

from experiments.bench.membership.contestants import Seen
from experiments.bench.membership.game import Bits, Game
from privet._types import Floats

NAMES = ("confidence", "lead", "left over", "left over, cut")


def features(seen: Seen, game: Game, bits: Bits) -> Floats:
    """One line per target.

    - confidence: the log-odds of the target's class
    - lead: what its class has more than the best other in the leaf that it reaches; the mean over
      trees
    - left over: the number of rows of its class in that leaf, less those of all other rows, which
      the attacker knows; cut to [0, 1], it is proportional to the likelihood of one row more under
      Laplace noise
    """
    first = len(game.base)
    own = game.classes[first:]
    at = np.arange(len(own))
    share = np.clip(seen.shares(game.target_codes)[at, own], 1e-6, 1 - 1e-6)
    alike = (game.classes[None, :] == own[:, None]) & game.present(bits)[None, :]
    alike[at, first + at] = False
    lead, left, cut = np.zeros(len(own)), np.zeros(len(own)), np.zeros(len(own))
    trees = seen.leaves(game.codes)
    for leaf, numbers in trees:
        reached = numbers[leaf[first:]]
        rest = reached.copy()
        rest[at, own] = -np.inf
        lead += reached[at, own] - rest.max(axis=1)
        if seen.counts:
            others = (alike & (leaf[first:, None] == leaf[None, :])).sum(axis=1)
            more = reached[at, own] - others
            left += more
            cut += np.clip(more, 0, 1)
    return np.column_stack(
        [np.log(share / (1 - share)), *(value / len(trees) for value in (lead, left, cut))]
    )
