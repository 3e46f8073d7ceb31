"""A table whose counts, people, values and surroundings can be recognised wherever they turn up.

With noise a released number may be an exact count by chance. So everything is released twice, for a
tiny epsilon: what leaks is in both, and chance is not. With epsilon 11/200000 the noise of a count
is 0 with a probability of 1/40000 at most; twice that, for a thousand numbers, is below 1e-6.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from privet.domain import Categorical, Numeric, Schema

EPSILON = "11/200000"
SEED = 0x5EED_CAFE_F00D_1234_ABCD_0077
FOLDER, USER, HOST = "canary-folder-qzx", "canary-user-qzx", "canary-host-qzx"
PERSON, NOTE, UNKNOWN = "canary-person-qzx", "canary-note-qzx", "canary-value-qzx"
COLOURS, CLASSES = ("red", "green"), ("no", "yes")
#: Values inside two bins; the bins are public, the values are not.
AGES = (17.31913, 61.77231)
#: Prime numbers, one for each combination of colour, age and class; of five digits, for the letters
#: of a picture are drawn with four.
COUNTS = dict(
    zip(
        itertools.product(COLOURS, AGES, CLASSES),
        (10007, 11503, 10243, 11197, 10651, 10883, 11027, 10429),
        strict=True,
    )
)
SCHEMA = Schema(
    attributes={"colour": Categorical(list(COLOURS)), "age": Numeric(0, 80, bins=4)},
    target="ill",
    classes=list(CLASSES),
)


def people(counts: dict[tuple[str, float, str], int] = COUNTS) -> pd.DataFrame:
    """So many rows of each combination, in no order, and a few rows that do not fit the schema."""
    combinations = {**counts, (UNKNOWN, AGES[0], "no"): 3, ("red", AGES[1], UNKNOWN): 3}
    listed = pd.DataFrame(list(combinations), columns=["colour", "age", "ill"])
    places = np.random.default_rng(1).permutation(
        np.repeat(np.arange(len(listed)), list(combinations.values()))
    )
    return (
        listed.iloc[places]
        .reset_index(drop=True)
        .assign(who=[f"{PERSON}-{number}" for number in range(len(places))], note=NOTE)
    )


@dataclass(frozen=True)
class Canaries:
    """What must not be found: exact numbers, shares of classes, and texts."""

    numbers: frozenset[int]
    shares: frozenset[float]
    texts: tuple[str, ...]
    seed: int = SEED


def canaries(counts: dict[tuple[str, float, str], int] = COUNTS) -> Canaries:
    """The number of rows in every cell that a tree may have, of one class and of all; and the share
    of a class there.
    """
    numbers, shares = set(), set()
    for colours in _subsets(COLOURS):
        for ages in _subsets(AGES):
            cell = [
                sum(counts[colour, age, label] for colour in colours for age in ages)
                for label in CLASSES
            ]
            numbers |= {*cell, sum(cell)}
            shares |= {number / sum(cell) for number in cell}
    texts = (PERSON, NOTE, UNKNOWN, USER, HOST, FOLDER, *(str(age) for age in AGES))
    return Canaries(frozenset(numbers), frozenset(shares), texts)


def _subsets(values: tuple) -> list[tuple]:
    return [
        chosen
        for size in range(1, len(values) + 1)
        for chosen in itertools.combinations(values, size)
    ]


def write(folder: Path) -> Path:
    """The table and its schemas, in a folder with a name to recognise."""
    home = folder / FOLDER
    home.mkdir()
    people().to_parquet(home / "people.parquet", index=False)
    people().head(3000).to_parquet(home / "few.parquet", index=False)
    SCHEMA.write(home / "people.schema.json")
    SCHEMA.declare(person="who", rows_per_person=1).write(home / "person.schema.json")
    SCHEMA.declare(neighbours="replace").write(home / "replaced.schema.json")
    for name in SCHEMA.names:
        Schema({name: SCHEMA.attributes[name]}, SCHEMA.target, list(CLASSES)).write(
            home / f"{name}.schema.json"
        )
    return home
