"""Figure 2 of Hanisch: how likely each noisy count of millionaires is, with and without one more
person.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from experiments.papers.chance import Chance
from experiments.papers.experiment import Row
from privet.mechanisms.laplace import add_laplace

#: Of Washington; the one of whom it is to be learnt is among them.
MILLIONAIRES = 26_412
EPSILON = Fraction(math.log(2)).limit_denominator(10**9)
#: Answers so far from the truth are shown.
SHOWN = 8
DRAWS = 4000


def count_millionaires(seed: int | None = None) -> list[Row]:
    """The probability of each answer about both tables, and draws of our mechanism."""
    p = math.exp(-float(EPSILON))
    found: list[Row] = []
    for name, count in (("with him", MILLIONAIRES), ("without him", MILLIONAIRES - 1)):
        found += [
            {
                "table": name,
                "answer": answer,
                "probability": (1 - p) / (1 + p) * p ** abs(answer - count),
            }
            for answer in range(MILLIONAIRES - SHOWN, MILLIONAIRES + SHOWN + 1)
        ]
        asked = np.full(DRAWS, count, dtype=np.int64)
        noisy, _ = add_laplace(Chance(seed).bits(), asked, EPSILON)
        values, often = np.unique(noisy, return_counts=True)
        found += [
            {"table": name, "drawn": int(value), "times": int(times)}
            for value, times in zip(values, often, strict=True)
        ]
    return found
