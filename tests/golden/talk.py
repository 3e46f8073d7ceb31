"""What an analyst asks a curator over HTTP, step by step, with public names only.

The same steps were taken by the client of 0.1 when the exchanges were recorded. Most questions
have so large an epsilon that there is no noise, so that any version must give the same answer;
the names of steps with noise end in "(noisy)", and so do those of drawn trees: trees that
classify all rows alike are drawn alike at any epsilon.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import privet as pv
from tests.golden.samples import PLAIN

#: With this epsilon, noise is zero but for a probability of e^-100000.
SURE = 10**5
Step = Callable[[Any], Any]


def told(value: Any) -> Any:
    """An answer as JSON, whatever its class is called."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [told(one) for one in value]
    if isinstance(value, dict):
        return {name: told(entry) for name, entry in value.items()}
    if isinstance(value, pv.Cost):
        return {"epsilon": told(value.epsilon), "rho": told(value.rho)}
    if isinstance(value, pv.Split):
        return {"attribute": value.attribute, "branch": list(value.branch)}
    if isinstance(value, pv.Cells):
        arrays = {name: getattr(value, name).tolist() for name in ("attribute", "cell")}
        return {**arrays, "n_cells": value.n_cells}
    names = ("cost", "row_cost", "private", "entry", "tables", "noise", "spread", "deviation")
    names += ("splits", "index", "attribute", "q", "low", "high", "cells", "labels", "left", "fits")
    names += ("number", "dataset", "analyst", "what", "key", "time", "hash", "receipt", "answered")
    facts = {name: told(getattr(value, name)) for name in names if hasattr(value, name)}
    assert facts, value
    return facts


def steps(models: Path) -> dict[str, Step]:
    """Steps of an analyst with a large budget."""
    everyone = pv.Cells.everything(PLAIN)
    colours = everyone.refine({0: pv.Split.multiway(PLAIN, "colour")})
    smokes, age = pv.Split.multiway(PLAIN, "smokes"), pv.Split.threshold(PLAIN, "age", 2)
    splits = [smokes, age, pv.Split.multiway(PLAIN, "colour")]
    level = pv.Question.level(colours, ["age", "smokes"])
    both = pv.Question((pv.Partition(everyone), pv.Partition(colours, by="age")))
    listed = [
        pv.Cell((pv.Condition("colour", (0,)), pv.Condition("age", (2, 3)))),
        pv.Cell((pv.Condition("colour", (1, 2)),)),
    ]
    by_class = pv.RowScore(PLAIN, np.array([0, 3]))
    by_value = pv.RowScore(PLAIN, np.array([[0, 1], [2, -1], [5, 0], [1, 1]]), "age")
    far = [np.full(partition.shape, -7) for partition in level.partitions]
    greedy, other = (pv.load(models / f"{name}.json").model_ for name in ("greedy", "stump"))
    scored = pv.load(models / "scored.json").model_.trees
    space = pv.TreeSpace(PLAIN, 2)
    narrow = pv.TreeSpace(PLAIN, 1, [smokes, age], [age], 0.75, 0.25)

    def in_snapshot(curator: Any) -> Any:
        with curator.snapshot():
            size = curator.size(SURE)
            with curator.snapshot():
                return [told(size), told(curator.count(everyone, SURE))]

    def divided(curator: Any) -> Any:
        with curator.snapshot():
            parts = curator.split_people(2, 2 * SURE)
            answers = [told(part.count(everyone, SURE)) for part in parts]
            plan = told(parts[0].preview([pv.Cost.pure(1)]))
            return [[part.dataset for part in parts], answers, plan, told(parts[1].left)]

    def chosen(curator: Any) -> Any:
        index, answer = curator.choose_model([other, greedy], SURE)
        return [index, told(answer)]

    return {
        "preview": lambda c: c.preview([pv.Cost.pure("1/10"), pv.Cost.concentrated("1/20")]),
        "require": lambda c: c.require([pv.Cost.pure(1)]),
        "require too much": lambda c: c.require([pv.Cost.pure(10**12)]),
        "count": lambda c: c.count(colours, SURE),
        "count a level": lambda c: c.count(level, SURE),
        "count two partitions": lambda c: c.count(both, SURE),
        "count listed cells": lambda c: c.count(listed, SURE),
        "count for rho": lambda c: c.count(colours, rho=10**9),
        "count (noisy)": lambda c: c.count(colours, "1/3"),
        "count for rho (noisy)": lambda c: c.count(colours, rho="1/8"),
        "size": lambda c: c.size(SURE),
        "size for rho": lambda c: c.size(rho=10**9),
        "size (noisy)": lambda c: c.size("0.1"),
        "sums": lambda c: c.sums(colours, by_class, SURE),
        "sums by value": lambda c: c.sums(listed, by_value, rho=10**9),
        "choose": lambda c: c.choose(everyone, splits, "gini", SURE),
        "choose, exponential": lambda c: c.choose(
            everyone, splits, "gini", SURE, mechanism="exponential"
        ),
        "choose for each cell": lambda c: c.choose(
            colours, [[smokes, age], [age], [smokes, age]], "gini", SURE
        ),
        "choose (noisy)": lambda c: c.choose(colours, splits, "gini", "1/9"),
        "choose a partition": lambda c: c.choose_partition(level, far, SURE),
        "choose a partition, handicapped": lambda c: c.choose_partition(
            level, far, SURE, handicaps=[1000, 5], mechanism="permute-and-flip"
        ),
        "quantile": lambda c: c.quantile("age", "9/10", SURE),
        "quantile, exponential": lambda c: c.quantile("age", 0.25, SURE, mechanism="exponential"),
        "median": lambda c: c.median("age", SURE),
        "confusion": lambda c: c.confusion(greedy, SURE),
        "confusion for rho": lambda c: c.confusion(greedy, rho=10**9),
        "choose a model": chosen,
        "draw a narrow tree (noisy)": lambda c: c.draw_tree(narrow, SURE),
        "draw a weighted tree (noisy)": lambda c: c.draw_tree(narrow, SURE, weighting=scored),
        "draw a tree (noisy)": lambda c: c.draw_tree(space, "1/2"),
        "gradients": lambda c: c.gradients(colours, scored, SURE),
        "gradients for rho": lambda c: c.gradients(everyone, scored, rho=10**9),
        "gradients of nothing (noisy)": lambda c: c.gradients(colours, [], "1/5"),
        "snapshot": in_snapshot,
        "divide (noisy)": divided,
        "left": lambda c: c.left,
        "spent": lambda c: c.spent,
        "history": lambda c: c.history(),
        "receipts": lambda c: c.receipts,
    }


def small_steps() -> dict[str, Step]:
    """Steps of an analyst with a small budget."""
    everyone = pv.Cells.everything(PLAIN)
    return {
        "size for all that is left (noisy)": lambda c: c.size("1/2"),
        "nothing is left": lambda c: c.size("1/1000"),
        "count too much": lambda c: c.count(everyone, 5),
        "left of a small budget": lambda c: c.left,
    }


def facts(curator: Any) -> dict[str, Any]:
    """What a client knows once it is connected."""
    return {
        "dataset": curator.dataset,
        "unit": curator.unit,
        "private": curator.private,
        "reason": curator.reason,
        "account": curator.account,
        "schema": curator.schema.to_json(),
        "fingerprint": curator.schema.fingerprint,
    }


def outcome(step: Step, curator: Any) -> Any:
    """The answer of a step, or the error that it raises: its name, and amounts if it has any."""
    try:
        return {"answer": told(step(curator))}
    except pv.PrivetError as error:
        amounts = ("asked", "left", "unit", "account")
        more = {name: told(getattr(error, name)) for name in amounts if hasattr(error, name)}
        return {"error": type(error).__name__, **more}
