"""Attacking one's own split: the attack sees the two halves, the key only counts how often it is
right.
"""

from __future__ import annotations

import numpy as np

from privet.outsource.attack import ModelName, Score, acquaintances, attack, population, score
from privet.outsource.cells import codes_of
from privet.outsource.cipher import KeyRing
from privet.outsource.halves import Halves
from privet.outsource.verify import open_true_values
from privet.schema.encode import encode


def attack_halves(
    halves: Halves, ring: KeyRing, model: ModelName = "logistic", known: int = 0
) -> Score:
    """Run the deFinetti attack on a split and score it. ``known``: so many people whose value the
    adversary knows beforehand.
    """
    anatomy, it, st = halves.anatomy, halves.identifiers, halves.values
    _, values = open_true_values(halves, ring)
    truth = codes_of(anatomy.sensitive_domain, values)
    encoded = encode(anatomy.identifying, it.frame(anatomy))
    assert encoded.classes is not None
    entries = codes_of(anatomy.sensitive_domain, st.value)
    believed = attack(
        anatomy.identifying,
        encoded.codes,
        np.asarray(encoded.classes),
        it.gid,
        entries,
        st.gid,
        anatomy.sensitive_domain.size,
        known=acquaintances(truth, known),
        model=model,
    )
    without = population(
        anatomy.identifying, encoded.codes, np.asarray(encoded.classes), believed, truth
    )
    return score(believed, truth, l=anatomy.l, population=without)
