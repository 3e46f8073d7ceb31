"""The public tables that recipes are chosen on. Tables that the accuracy benchmark holds out are
not among them, nor others with the same rows.

Schemas are drafted from the tables: these are public.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Literal, NamedTuple

import pandas as pd

from experiments.recipe.generated import GENERATED, generate
from experiments.recipe.packages import read_keel, read_pydataset
from privet.datasets import Dataset
from privet.domain.draft import draft
from privet.learners.boosting import COMMON

Kind = Literal["balanced", "rare class", "several classes"]
KINDS: tuple[Kind, ...] = ("balanced", "rare class", "several classes")
#: A class of fewer rows is left out: it must be in training and test rows.
LEAST_ROWS = 8
#: Text with more values than this is a name, and no attribute.
MANY_VALUES = 100


class Target(NamedTuple):
    """What is predicted in a table of pydataset, and columns that would give it away."""

    item: str
    target: str
    without: tuple[str, ...] = ()


PYDATASET = (
    Target("Ecdat/Mroz", "work", ("hoursw", "hearnw", "wagew")),
    Target("Ecdat/Participation", "lfp"),
    Target("COUNT/medpar", "died", ("provnum", "age80")),
    Target("Ecdat/Hdma", "deny"),
    Target("car/Chile", "vote"),
    Target("MASS/Aids2", "status", ("death",)),
    Target("Ecdat/Males", "union", ("nr",)),
    Target("Ecdat/Benefits", "ui"),
    Target("Ecdat/DoctorAUS", "insurance"),
    Target("Ecdat/MedExp", "health"),
    Target("Ecdat/MedExp", "physlim"),
    Target("Ecdat/VietNamI", "insurance", ("commune",)),
    Target("Ecdat/HI", "whi", ("hhi", "hhi2")),
    Target("survival/flchain", "death", ("chapter", "futime")),
    Target("survival/nwtco", "rel", ("seqno", "edrel")),
    Target("COUNT/rwm5yr", "outwork", ("id",)),
    Target("Ecdat/OFP", "privins"),
    Target("Ecdat/OFP", "medicaid"),
    Target("Zelig/turnout", "vote"),
    Target("COUNT/azpro", "procedure"),
    Target("psych/bfi", "gender"),
    Target("survival/colon", "status", ("id", "study", "time")),
    Target("ggplot2/diamonds", "cut"),
    Target("lme4/VerbAgg", "r2", ("resp", "id")),
    Target("Ecdat/Workinghours", "owned", ("mortgage",)),
    Target("Ecdat/Treatment", "treat"),
    Target("Ecdat/Star", "freelunk"),
    Target("KMsurv/std", "condom"),
    Target("Ecdat/Computers", "premium"),
    Target("Ecdat/Kakadu", "answer", ("lower", "upper")),
    Target("Ecdat/Wages", "union"),
    Target("psych/epi", "V1"),
    Target("pscl/politicalInformation", "y"),
    Target("Ecdat/RetSchool", "col4", ("wage76", "grade76")),
    Target("Zelig/mexico", "pri82", ("pan82", "novote82")),
    Target("Ecdat/Heating", "depvar", ("idcase",)),
    Target("Ecdat/BudgetFood", "sex"),
    Target("Ecdat/PSID", "married", ("persnum", "intnum")),
    Target("Ecdat/LaborSupply", "disab", ("id",)),
    Target("quantreg/uis", "CENSOR", ("ID", "TIME", "Y")),
    Target("Ecdat/Fair", "child"),
    Target("MASS/biopsy", "class", ("ID",)),
    Target("car/SLID", "sex"),
    Target("Ecdat/UnempDur", "ui"),
    Target("Zelig/mid", "conflict"),
)
KEEL = (
    *(f"balanced/{name}" for name in ("ring", "twonorm", "heart", "bupa", "bands", "marketing")),
    *("balanced/texture", "balanced/led7digit", "balanced/tae"),
    *("imbalanced/page-blocks0", "imbalanced/yeast1", "imbalanced/yeast3", "imbalanced/flare-F"),
    *("imbalanced/winequality-red-4", "imbalanced/haberman", "imbalanced/abalone9-18"),
)
TARGETS = {f"{item.item}, {item.target}": item for item in PYDATASET}
NAMES = (
    *TARGETS,
    *(f"keel/{item}" for item in KEEL),
    *(f"generated, {name}" for name in GENERATED),
)


@lru_cache
def load(name: str, cache: Path) -> Dataset:
    """Return a table with its drafted schema."""
    if name in TARGETS:
        _, target, without = TARGETS[name]
        table = read_pydataset(cache, TARGETS[name].item).drop(columns=list(without))
    elif name.startswith("keel/"):
        target, table = "class", read_keel(cache, name.removeprefix("keel/"))
    else:
        target, table = "class", generate(name.removeprefix("generated, "))
    return prepare(name, table, target)


def prepare(name: str, table: pd.DataFrame, target: str) -> Dataset:
    """Return a table without names, unknown classes and classes that are too small to be split."""
    table = table.dropna(subset=[target]).reset_index(drop=True)
    if pd.api.types.is_float_dtype(table[target]):
        table[target] = table[target].astype(int)
    table = table[table.groupby(target)[target].transform("size") >= LEAST_ROWS]
    attributes = [
        column
        for column in table.columns
        if column != target
        and (pd.api.types.is_numeric_dtype(table[column]) or table[column].nunique() <= MANY_VALUES)
    ]
    table = table[[*attributes, target]].reset_index(drop=True)
    return Dataset(name, table[attributes], table[target], draft(table, target))


def kind_of(data: Dataset) -> Kind:
    """Return which part of the rule a table is for."""
    if data.schema.n_classes > 2:
        return "several classes"
    return "rare class" if data.y.value_counts(normalize=True).max() >= COMMON else "balanced"
