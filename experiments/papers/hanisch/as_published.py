"""Hanisch's count procedure and forest as he printed them: **NOT PRIVATE**. No learner; only for
the runs that repeat him.

His Laplace noise is -b sign(u) log(1 - 2|u|) with b = 1/epsilon and u = rand() - 0.5, rounded to a
whole number. But

- ``rand()`` is no cryptographic generator: who knows its state strips the noise off;
- u is rounded to ten digits and handed on as ``VARCHAR``, for which SQL Server keeps six digits
  (CAST and CONVERT, style 0). So |u| is at most 0.499999, noise is never beyond b ln(500 000) =
  13.1 b, and towards the end it jumps by up to 0.7 b: some answers are possible for one table and
  impossible for its neighbour, which no epsilon allows. :func:`telling_answers` says how often;
- nobody keeps a ledger.

The law of u is repeated here from the system's bits; how guessable ``rand()`` is changes no
accuracy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from experiments.papers.textbook import uniform_floats
from privet._types import Floats
from privet.domain.cells import Cells
from privet.domain.tree import Tree
from privet.mechanisms.randomness import Bits

Codes = list[npt.NDArray[Any]]
#: What SQL Server keeps of a float in a VARCHAR.
DIGITS = 6


def laplacian_counts_not_private(
    bits: Bits, counts: npt.NDArray[np.int64], epsilon: float
) -> npt.NDArray[np.int64]:
    """Noisy, rounded counts, as the procedure ``laplacianCount`` gives them."""
    u = np.empty(counts.size)
    open_ = np.arange(counts.size)
    while len(open_):
        u[open_] = _six_digits(np.round(uniform_floats(bits, len(open_)) - 0.5, 10))
        open_ = open_[np.abs(u[open_]) == 0.5]
    return counts + _noise(u, epsilon).reshape(counts.shape)


def forest_accuracy_not_private(
    bits: Bits,
    structures: Sequence[Cells],
    train: tuple[Codes, npt.NDArray[Any]],
    test: tuple[Codes, npt.NDArray[Any]],
    epsilon: float,
) -> float:
    """The accuracy of a forest on test rows, by a majority of its trees; each tree asks with its
    share of epsilon.

    A leaf says class 1 if its noisy count is the larger one, and a forest if more than half of its
    trees do.
    """
    votes = np.zeros(len(test[1]))
    for cells in structures:
        tree = Tree(cells, np.zeros((len(cells.attribute), 2)))
        exact = np.zeros((len(cells.attribute), 2), dtype=np.int64)
        np.add.at(exact, (tree.reach(train[0]), train[1]), 1)
        leaves = tree.leaves
        noisy = np.zeros_like(exact)
        noisy[leaves] = laplacian_counts_not_private(bits, exact[leaves], epsilon / len(structures))
        votes += (noisy[:, 1] > noisy[:, 0])[tree.reach(test[0])]
    return float(((votes > len(structures) / 2) == test[1]).mean())


def telling_answers(epsilon: float) -> float:
    """The probability that an answer of the procedure cannot be one about the table with a row
    more: it rules that neighbour out.

    All u of six digits from 0.1 on are looked at; nearer to zero noise has no gaps.
    """
    u = np.arange(100_000, 500_000) / 1e6
    noise = _noise(np.concatenate([-u, u]), epsilon)
    low = noise.min()
    chance = np.bincount(noise - low) * 1e-6
    beyond = int(-_noise(np.array([0.1]), epsilon)[0]), int(_noise(np.array([0.1]), epsilon)[0])
    found = np.arange(low, low + len(chance))
    # The same answer needs noise that is smaller by one where the true count is larger by one.
    before = np.concatenate([[0.0], chance[:-1]])
    inside = (found > min(beyond)) & (found <= max(beyond))
    return float(chance[(chance > 0) & (before == 0) & ~inside].sum())


def largest_noise(epsilon: float) -> int:
    """Noise is never beyond this."""
    return int(_noise(np.array([0.5 - 10.0**-DIGITS]), epsilon)[0])


def _noise(u: Floats, epsilon: float) -> npt.NDArray[np.int64]:
    return np.asarray(np.rint(-np.sign(u) * np.log1p(-2 * np.abs(u)) / epsilon), dtype=np.int64)


def _six_digits(u: Floats) -> Floats:
    """What is left of u when it is written with six digits."""
    size = np.maximum(np.abs(u), 1e-10)
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(size)))
    return np.asarray(np.rint(u * scale) / scale)
