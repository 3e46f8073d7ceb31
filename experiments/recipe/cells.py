"""A cell is a table, a number of training rows and an epsilon; its band is the line of the rule
that the learner follows there.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

from experiments.recipe.menu import Variant, list_variants, recipe_of, share_for_start
from experiments.recipe.tables import Kind, kind_of
from privet.datasets import Dataset
from privet.domain import Schema
from privet.learners.default_recipe import (
    RULE,
    RULE_FOR_MANY,
    RULE_FOR_RARE,
    Line,
    choose_line,
    has_small_domain,
    recipe_for,
)

EPSILONS = ("0.05", "0.1", "0.3", "1", "3", "10")
#: Training rows: this share of a table, at most so many, and parts of that.
TRAINING_SHARE, MOST_ROWS, LEAST_ROWS, PARTS = 0.75, 30_000, 150, (1, 4, 16)


class Cell(NamedTuple):
    """Where recipes are compared; ``band`` counts the lines of the rule for its kind of tables."""

    kind: Kind
    band: int
    table: str
    rows: int
    epsilon: str
    repeat: int

    @property
    def line(self) -> Line:
        return rule_for(self.kind)[self.band]


def rule_for(kind: Kind) -> tuple[Line, ...]:
    """Return the lines of the rule for a kind of tables."""
    return {"rare class": RULE_FOR_RARE, "several classes": RULE_FOR_MANY}.get(kind, RULE)


def list_cells(data: Dataset, repeats: int) -> Iterator[Cell]:
    """Yield the cells of a table. In a small domain the learner follows no line of the rule."""
    kind = kind_of(data)
    most = min(int(TRAINING_SHARE * len(data.y)), MOST_ROWS)
    for rows in (most // part for part in PARTS):
        for epsilon in EPSILONS:
            evidence = rows * float(epsilon)
            if rows < LEAST_ROWS or has_small_domain(data.schema, rows, evidence, single=True):
                continue
            amount, rare = Fraction(epsilon), kind == "rare class"
            # the share for terms does not depend on depth, and a shallow space is laid out quickly
            share = 1 - recipe_for(data.schema, rows, amount, depth=1, rare=rare).additive
            line = choose_line(data.schema, rows, amount, "epsilon", share, rare=rare)
            for repeat in range(repeats):
                yield Cell(kind, rule_for(kind).index(line), data.name, rows, epsilon, repeat)


def list_different(cell: Cell, schema: Schema) -> list[Variant]:
    """Return the shipped recipe, and the variants that do something else in this cell."""
    epsilon = Fraction(cell.epsilon)

    def describe(variant: Variant) -> tuple[object, ...]:
        share = share_for_start(variant.start, schema, cell.rows, epsilon)
        rare = cell.kind == "rare class" and variant.start == "by rule" and share > 0
        recipe = recipe_of(variant, schema, cell.rows, epsilon, rare=rare)
        settings = [value for name, value in recipe.settings.items() if name != "why"]
        return (*settings, recipe.space.size, share, variant.start == "always")

    shipped, *others = list_variants(cell.line, cell.kind)
    same = describe(shipped)
    return [shipped, *(variant for variant in others if describe(variant) != same)]


def order_cells(cells: Iterable[Cell]) -> list[Cell]:
    """Return cells in an order that a run may stop in at any time.

    Bands of all kinds take turns, and the tables in each of them.
    """
    shuffled = sorted(cells)
    random.Random(0).shuffle(shuffled)  # an order, no noise
    seen: Counter[tuple[object, ...]] = Counter()
    turns = {}
    for cell in shuffled:
        turns[cell] = seen[cell.kind, cell.band, cell.table]
        seen[cell.kind, cell.band, cell.table] += 1
    ordered = []
    taken: Counter[tuple[object, ...]] = Counter()
    for cell in sorted(shuffled, key=lambda cell: turns[cell]):
        ordered.append((taken[cell.kind, cell.band], cell))
        taken[cell.kind, cell.band] += 1
    return [cell for _, cell in sorted(ordered, key=lambda placed: placed[0])]
