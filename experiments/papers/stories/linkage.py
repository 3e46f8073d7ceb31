"""How Latanya Sweeney found a governor (told by Hanisch, section I, and Novakovic, section 2.1):
a hospital table without names, a voter roll with them, and what both have in common.

The town is made up; its size is that of an average ZIP code of the United States in 1990, about
250 million people in about 30 000 of them. Her 87% is of the census of that year.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from experiments.papers.experiment import Row
from privet.anonymity import Groups
from privet.anonymity.measures import k_anonymity

PEOPLE = 250_000_000 // 30_000
#: Voters, and people with a hospital stay, each drawn from all.
VOTERS, PATIENTS = 0.7, 0.1
DISEASES = ("flu", "fracture", "cancer", "asthma", "diabetes")
#: Days of birth over so many years.
YEARS = 78
#: What is kept of the quasi-identifiers after generalising: decade of birth and sex.
COARSE = ["decade", "sex"]
FINE = ["born", "sex"]


def link_tables(seed: int) -> list[Row]:
    """One town: who is alone in the table, who is found by the roll, and after generalising."""
    chance = np.random.default_rng([1997, seed])  # made-up people, no noise
    born = chance.integers(0, 365 * YEARS, PEOPLE)
    people = pd.DataFrame(
        {
            "name": np.arange(PEOPLE).astype(str),
            "born": born.astype(str),
            "decade": (born // 3650).astype(str),
            "sex": chance.choice(["f", "m"], PEOPLE),
            "disease": chance.choice(DISEASES, PEOPLE),
        }
    )
    alone = people.groupby(FINE)["name"].transform("size").eq(1).mean()
    patients = people[chance.random(PEOPLE) < PATIENTS]
    roll = people.loc[chance.random(PEOPLE) < VOTERS, ["name", *FINE, "decade"]]
    found = {"alone in the census": float(alone)}
    for what, columns in (("found by the roll", FINE), ("found after generalising", COARSE)):
        found[what] = _found(patients, roll, columns)
    classes = patients.groupby(COARSE).ngroup().to_numpy()
    groups = Groups.of(classes, pd.factorize(patients["disease"])[0])
    found["k after generalising"] = float(k_anonymity(groups))
    return [{"run": seed, "what": what, "value": value} for what, value in found.items()]


def _found(patients: pd.DataFrame, roll: pd.DataFrame, columns: list[str]) -> float:
    """The share of patients on the roll whose line fits one voter, and that voter's one patient."""
    listed = patients[patients["name"].isin(roll["name"])]
    voters = roll.groupby(columns)["name"].agg(["size", "first"])
    alone = patients.groupby(columns)["name"].transform("size").eq(1)
    fits = listed.join(voters, on=columns)
    right = fits["size"].eq(1) & fits["first"].eq(fits["name"]) & alone[listed.index]
    return float(right.mean())
