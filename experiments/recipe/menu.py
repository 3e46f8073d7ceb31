"""The recipes that are compared with a line of the rule: each differs from it in one thing. And the
rule of version 0.1.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Literal, NamedTuple

from experiments.recipe.tables import Kind
from privet.domain import Schema
from privet.learners.default_recipe import (
    Line,
    Recipe,
    choose_line,
    measure_evidence,
    recipe_for,
    share_for_classes,
    strength_of,
)

#: Scores start from class shares as the learner decides, never (and nothing is paid for it), or
#: whatever the shares are.
Start = Literal["by rule", "never", "always"]
ROUNDS = (1, 2, 3, 5, 9, 15, 25, 41)
LEAVES = (Fraction(0), Fraction(20, 100), Fraction(45, 100))
TERMS = (Fraction(0), Fraction(40, 100))
#: What a start costs where the rule has none.
SHARE_FOR_START = Fraction(5, 100)
#: Evidence from which on deeper trees are tried, and below which shallower ones.
DEEP = 3500


class Variant(NamedTuple):
    """What is different from what the learner would do; None where nothing is."""

    name: str
    rounds: int | None = None
    depth: int | None = None
    strength: float | None = None
    leaves: Fraction | None = None
    terms: Fraction | None = None
    start: Start = "by rule"

    def change(self, line: Line) -> Line:
        """Return a line of the rule with what is different."""
        changes = {
            name: value
            for name in ("rounds", "depth", "strength", "leaves")
            if (value := getattr(self, name)) is not None
        }
        return line._replace(**changes)


SHIPPED = Variant("shipped")
#: Rounds and strength by evidence, as 0.1 had them; trees of depth 3 from 500 nats each.
VERSION_0_1 = Variant("0.1", start="never")
RULE_0_1 = (
    (160, 1, 0.7),
    (600, 3, 0.7),
    (3500, 5, 0.6),
    (20_000, 9, 0.5),
    (100_000, 15, 0.4),
    (math.inf, 25, 0.3),
)
DEPTH_3_FROM = 500


def list_variants(line: Line, kind: Kind) -> list[Variant]:
    """Return what is compared for a line of the rule: the line itself first, 0.1's rule last."""
    place = ROUNDS.index(line.rounds)
    rounds = [*ROUNDS[max(place - 1, 0) : place], *ROUNDS[place + 1 : place + 2]]
    depth = line.depth - 1 if line.depth > 2 or line.below <= DEEP else line.depth + 1
    strengths = [round(line.strength * factor, 2) for factor in (0.6, 1.5)]
    leaves = [share for share in LEAVES if abs(share - line.leaves) > Fraction(1, 10)]
    return [
        SHIPPED,
        *(Variant(_count(number, "round"), rounds=number) for number in rounds),
        Variant(f"depth {depth}", depth=depth),
        *(Variant(f"strength {strength:g}", strength=strength) for strength in strengths),
        *(Variant(f"{float(share):.0%} for leaves", leaves=share) for share in leaves),
        *(Variant(f"{float(share):.0%} for terms", terms=share) for share in TERMS),
        Variant("no start", start="never")
        if kind == "rare class"
        else Variant("always a start", start="always"),
        VERSION_0_1,
    ]


def recipe_of(
    variant: Variant, schema: Schema, n_rows: float, epsilon: Fraction, *, rare: bool
) -> Recipe:
    """Return what a variant does with a table; ``rare`` as :func:`recipe_for` has it."""
    shipped = recipe_for(schema, n_rows, epsilon, rare=rare)
    share = 1 - shipped.additive
    if variant == VERSION_0_1:
        line = _line_of_0_1(schema, n_rows, epsilon, share)
    else:
        line = variant.change(choose_line(schema, n_rows, epsilon, "epsilon", share, rare=rare))
        if variant.rounds and not line.leaves:  # more trees count less each, as the learner has it
            line = line._replace(strength=strength_of(line.rounds))
    recipe = recipe_for(schema, n_rows, epsilon, rare=rare, line=line)
    return recipe if variant.terms is None else replace(recipe, additive=variant.terms)


def share_for_start(start: Start, schema: Schema, n_rows: float, epsilon: Fraction) -> Fraction:
    """Return the share of epsilon that pays for class shares."""
    by_rule = share_for_classes(schema, n_rows, epsilon, "epsilon")
    if start == "always":
        return by_rule or SHARE_FOR_START
    return by_rule if start == "by rule" else Fraction(0)


def _line_of_0_1(schema: Schema, n_rows: float, epsilon: Fraction, share: Fraction) -> Line:
    evidence = measure_evidence(n_rows, epsilon, "epsilon", 1, share)
    below, rounds, strength = next(
        line for line in RULE_0_1 if evidence * 2 / schema.n_classes < line[0]
    )
    depth = 3 if min(evidence, n_rows) / rounds >= DEPTH_3_FROM else 2
    return Line(below, rounds, depth, strength, Fraction(0))


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
