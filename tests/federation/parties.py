"""Small tables of several parties, and what they contribute."""

from __future__ import annotations

import itertools

import pandas as pd

import privet as pv
from privet import federation
from privet.domain import Categorical, Numeric, Schema
from privet.mechanisms.randomness import SystemBits

SCHEMA = Schema(
    {
        "form": Categorical(["complete", "foster", "other"]),
        "age": Numeric(0, 80, bins=8),
        "child": Categorical(["no", "yes"]),
    },
    target="advice",
    classes=["no", "yes"],
)


def rows(n: int, turn: int = 0) -> pd.DataFrame:
    """So many rows, the class of which follows from the attributes; another turn begins
    elsewhere.
    """
    forms, ages, children = ["complete", "foster", "other"], list(range(0, 80, 7)), ["no", "yes"]
    cases = itertools.islice(
        itertools.cycle(itertools.product(forms, ages, children)), turn, turn + n
    )
    table = pd.DataFrame(list(cases), columns=["form", "age", "child"])
    table["advice"] = [
        "yes" if form == "foster" or (age > 40 and child == "yes") else "no"
        for form, age, child in table.to_numpy()
    ]
    return table


def curator_of(
    table: pd.DataFrame, schema: Schema = SCHEMA, budget: object = 100, **more: object
) -> pv.Curator:
    return pv.Curator(table, schema, pv.Budget(budget), **more)


def plan(**more: object):
    return federation.draw_plan(SCHEMA, 3, **({"height": 2} | more))


def part(
    drawn, n: int = 200, epsilon: object = 1, name: str = "", turn: int = 0, schema: Schema = SCHEMA
):
    return federation.contribute(drawn, curator_of(rows(n, turn), schema), epsilon, name)


class Counting:
    """System bits, and how often they were asked for."""

    private = True

    def __init__(self) -> None:
        self.asked = 0

    def words(self, count: int):
        self.asked += 1
        return SystemBits().words(count)
