"""Where do people with this diagnosis live? (Mancuhan and Clifton, section 2: Love Canal.)

A made-up county of the 1970s. The class is the neighbourhood, the sensitive attribute the
diagnosis. In one neighbourhood birth defects are common; nothing else tells it apart. A server that
does not see who has which diagnosis (cdbsl) cannot find it; a tree from the whole rows (cnl) does.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.papers.experiment import Row
from privet.domain import Categorical, Schema
from privet.domain.encode.rows import encode
from privet.learners.baselines.c45 import grow_c45

PEOPLE = 4000
AREAS = ("Love Canal", "Falls", "Heights")
DIAGNOSES = ("none", "asthma", "birth defect")
#: The probability of each diagnosis, by area.
RATES = {"Love Canal": (0.6, 0.1, 0.3), "Falls": (0.88, 0.1, 0.02), "Heights": (0.88, 0.1, 0.02)}
SHARES = (0.2, 0.4, 0.4)
IDENTIFYING = {"sex": ("f", "m"), "age": ("child", "adult", "old"), "owner": ("no", "yes")}
CDBSL, CNL = "cdbsl: identifying attributes only", "cnl: the diagnosis, too"


def find_love_canal(run: int) -> list[Row]:
    """One county: how many people with a birth defect are sent to their own area by each tree."""
    chance = np.random.default_rng([1978, run])  # made-up people, no noise
    areas = chance.choice(AREAS, PEOPLE, p=SHARES)
    table = pd.DataFrame({name: chance.choice(v, PEOPLE) for name, v in IDENTIFYING.items()})
    table["diagnosis"] = [chance.choice(DIAGNOSES, p=RATES[area]) for area in areas]
    table["area"] = areas
    half = PEOPLE // 2
    found: list[Row] = []
    for learner, names in (
        (CDBSL, [*IDENTIFYING]),
        (CNL, [*IDENTIFYING, "diagnosis"]),
    ):
        values = IDENTIFYING | {"diagnosis": DIAGNOSES}
        schema = Schema({name: Categorical(list(values[name])) for name in names}, "area", AREAS)
        encoded = encode(schema, table)
        assert encoded.classes is not None
        train = [column[:half] for column in encoded.codes], encoded.classes[:half]
        tree = grow_c45(schema, *train)
        said = tree.counts[tree.reach([column[half:] for column in encoded.codes])].argmax(axis=1)
        truth = encoded.classes[half:]
        struck = (table["diagnosis"] == "birth defect").to_numpy()[half:]
        of_canal = struck & (truth == AREAS.index("Love Canal"))
        found.append(
            {
                "learner": learner,
                "run": run,
                "accuracy": float((said == truth).mean()),
                "found": float((said == truth)[of_canal].mean()),
            }
        )
    return found
