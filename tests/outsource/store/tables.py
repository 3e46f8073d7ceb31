"""An outsourced table of made-up people, with random bytes for what would be sealed: a store cannot
tell.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import duckdb
import numpy as np

from privet.domain import Categorical, Numeric, Schema
from privet.outsource.anatomy import Anatomy
from privet.outsource.files import Halves, Identifiers, Values, write_halves
from privet.outsource.split import draw_groups
from privet.outsource.store.base import NewRow

DISEASES = ["flu", "cold", "gout", "none"]
COLOURS = ["red", "green", "blue"]
SCHEMA = Schema(
    attributes={
        "colour": Categorical(COLOURS),
        "age": Numeric(0, 80, bins=4, on_unknown="drop"),
        "disease": Categorical(DISEASES),
    },
    target="ill",
    classes=["no", "yes"],
    person="who",
)


def halves(n: int = 240, l: int = 2, seed: int = 0) -> Halves:  # noqa: E741 - its name everywhere
    """People of whom the red and young ones are ill, and nearly all are in a group."""
    rng = np.random.default_rng(seed)
    disease = rng.integers(0, len(DISEASES), n)
    grouping = draw_groups(disease, l)
    kept = np.flatnonzero(grouping.group >= 0)
    n, disease, group = len(kept), disease[kept], grouping.group[kept]
    colour, age = rng.choice(COLOURS, n), rng.integers(0, 80, n)
    ill = np.where((colour == "red") & (age < 40), "yes", "no")
    columns = [colour.tolist(), age.astype(str).tolist(), ill.tolist(), [f"p{i}" for i in range(n)]]
    by_seq = rng.permutation(n)
    seq = np.sort(rng.choice(1 << 62, n, replace=False))
    values = Values(seq, group[by_seq], [DISEASES[i] for i in disease[by_seq]])
    identifiers = Identifiers(
        columns, rng.random(n) < 0.2, group, sorted(os.urandom(41) for _ in range(n))
    )
    return Halves(
        Anatomy(secrets.token_hex(16), l, "disease", SCHEMA), identifiers, values, os.urandom(33)
    )


def folder(path: Path, made: Halves | None = None) -> Path:
    """The folder that an owner makes."""
    write_halves(made or halves(), path)
    return path


def rewrite(path: Path, sql: str) -> None:
    """Make another Parquet file of one; ``sql`` selects from ``old``."""
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE old AS SELECT * FROM read_parquet('{path}')")
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")


def new_group(
    diseases=("flu", "gout"), gid: int | None = None, colour: str = "red", age: str = "20"
):
    """Rows and values of a new group."""
    number = secrets.randbelow(1 << 62) + (1 << 40) if gid is None else gid
    rows = [
        NewRow([colour, age, "no", secrets.token_hex(8)], False, number, os.urandom(41))
        for _ in diseases
    ]
    return rows, [((1 << 62) + secrets.randbelow(1 << 61), number, disease) for disease in diseases]
