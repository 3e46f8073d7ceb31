"""What a person releases on their own side, or an owner for them, and what is promised for it: for
one row replaced by another.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from privet.audit.releases import Release, Released
from privet.audit.worlds import World
from privet.mechanisms.randomness import Bits


def release_randomized_records(**settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.publish import Randomizer

        randomizer = Randomizer(world.schema, epsilon, bits=bits, **settings)
        assert randomizer.cost.epsilon is not None
        parts = tuple(map(float, randomizer.shares)) if randomizer.spread == "split" else ()
        return Released(randomizer.one(world.rows[0]), randomizer.cost.epsilon, parts=parts)

    return release


def release_randomized_table(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Reports of a table that is sorted by what its rows hold, one after the other."""
    from privet.publish import Randomizer

    randomizer = Randomizer(world.schema, epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    reports = randomizer.many(world.table.sort_values(list(world.table.columns)))
    return Released(
        [" ".join(map(str, report)) for report in reports.itertuples(index=False, name=None)],
        randomizer.cost.epsilon,
    )


def release_randomized_leaf(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.federation import draw_plan
    from privet.publish import LeafRandomizer

    randomizer = LeafRandomizer(draw_plan(world.schema, 2, height=1, bits=bits), epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    report = randomizer.one(world.rows[0])
    return Released(
        [report, [cells.attribute for cells in randomizer.plan.forest]], randomizer.cost.epsilon
    )
