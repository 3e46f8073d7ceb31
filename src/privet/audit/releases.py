"""What is released about a world, and what is promised for it: one function for each thing that can be audited.

The promise is that of the released statement or of the ledger, not one that is worked out here: what is tested is what people are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from privet.audit.worlds import World
from privet.budget import Budget, Cost, epsilon_for, rho_for
from privet.curator import Curator
from privet.ledger import MemoryLedger
from privet.mechanisms.randomness import Bits
from privet.privacy import People, PrivacyStatement

#: The delta of what promises no pure epsilon: large, so that an audit of a few thousand runs has something to see.
DELTA = Fraction(1, 100)


@dataclass(frozen=True)
class Released:
    """What a run gave out, and the (epsilon, delta) that was promised for it, for the neighbours that the schema declares."""

    what: Any
    epsilon: Fraction | float
    delta: Fraction = Fraction(0)


#: Releases something about a world for an epsilon per row added or removed, drawn from these bits.
Release = Callable[[World, Fraction, Bits], Released]


# -- through a curator -----------------------------------------------------------------------------------------------------------


def guarded(world: World, epsilon: Fraction, bits: Bits) -> Curator:
    """A curator of a world's table, with a budget for this epsilon per row."""
    return _over(world, Budget(Cost.pure(epsilon).promised(world.schema).epsilon), bits)


def _over(world: World, budget: Budget, bits: Bits) -> Curator:
    return Curator.over(world.source, world.schema, budget, ledger=MemoryLedger(), dataset="world", analyst="auditor", bits=bits)


def _spent(curator: Curator, what: Any) -> Released:
    """What the ledger says that an analyst has paid."""
    assert curator.spent.epsilon is not None
    return Released(what, curator.spent.epsilon)


def learner(kind: str, **settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet import learners

        fitted = getattr(learners, kind)(epsilon, **settings).fit_from(guarded(world, epsilon, bits))
        return _stated(fitted.model_, fitted.model_.privacy)

    return release


def _stated(what: Any, statement: PrivacyStatement) -> Released:
    assert statement.promised.epsilon is not None
    return Released(what, statement.promised.epsilon)


def tuned(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.learners import GibbsTreeClassifier, tune

    best = tune([GibbsTreeClassifier(max_depth=0), GibbsTreeClassifier(max_depth=1)], guarded(world, epsilon, bits), epsilon)
    return _stated(best.model_, best.model_.privacy)


def session(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """An analyst who asks whatever there is to ask, each for an equal share."""
    import numpy as np

    from privet.cells import Cells, Split
    from privet.curator import RowScore
    from privet.question import Question
    from privet.space import TreeSpace, all_splits

    curator, schema, share = guarded(world, epsilon, bits), world.schema, epsilon / 6
    everyone = Cells.everything(schema)
    by_a = everyone.refine({0: Split.multiway(schema, "a")})
    answers = [
        curator.size(share),
        curator.count(Question.of(by_a), share),
        curator.choose(everyone, all_splits(schema), "max", share),
        curator.sums(everyone, RowScore(schema, np.array([0, 2])), share),
        curator.draw_tree(TreeSpace(schema, 1, all_splits(schema)), share),
        curator.median("b", share),
    ]
    return _spent(curator, answers)


def count(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.cells import Cells, Split

    curator = guarded(world, epsilon, bits)
    by_a = Cells.everything(world.schema).refine({0: Split.multiway(world.schema, "a")})
    return _spent(curator, curator.count(by_a, epsilon))


def gaussian_count(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Counts for the rho that this epsilon and DELTA are worth."""
    from privet.cells import Cells

    rho = _rho(epsilon)
    promised = Cost.concentrated(rho).promised(world.schema).rho
    curator = _over(world, Budget(rho=promised), bits)
    answer = curator.count(Cells.everything(world.schema), rho=rho)
    return Released(answer, _epsilon(curator.spent.rho), DELTA)


@lru_cache
def _rho(epsilon: Fraction) -> Fraction:
    return rho_for(epsilon, DELTA)


@lru_cache
def _epsilon(rho: Fraction) -> float:
    return epsilon_for(rho, DELTA)


def quantile(world: World, epsilon: Fraction, bits: Bits) -> Released:
    curator = guarded(world, epsilon, bits)
    return _spent(curator, curator.quantile("b", "1/4", epsilon))


def choose_partition(world: World, epsilon: Fraction, bits: Bits) -> Released:
    import numpy as np

    from privet.cells import Cells
    from privet.question import Question

    curator, names = guarded(world, epsilon, bits), world.schema.names
    question = Question.level(Cells.everything(world.schema), names)
    # A row more takes one of them farther from what is expected, and the other nearer; for an empty table they are even.
    expected = [np.full((1, size, world.schema.n_classes), number) for number, size in enumerate(world.schema.sizes)]
    handicaps = [int(table.sum()) for table in expected]
    chosen = curator.choose_partition(question, expected, epsilon, handicaps=handicaps, mechanism="permute-and-flip")
    return _spent(curator, chosen)


def synthetic(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.publish import synthesize

    table = synthesize(guarded(world, epsilon, bits), epsilon)
    return _stated(table, table.privacy)


# -- several batches, parties, attributes ----------------------------------------------------------------------------------------


def updated(people: People, row_in: Sequence[int]) -> Release:
    """Two batches; the rows of the world are in those that are listed, and nobody in the others. Each batch costs epsilon / len(row_in)."""

    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.learners import RandomTreesClassifier

        share = epsilon / len(row_in)
        schema = world.schema.declare(n_rows=None)
        learner = RandomTreesClassifier(share, n_trees=1, height=1, people=people)
        for batch in range(2):
            learner.partial_fit_from(guarded(World(schema, world.rows if batch in row_in else ()), share, bits))
        return _stated(learner.model_, learner.model_.privacy)

    return release


def merged(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Two hospitals with a plan; the person is in one of them."""
    from privet.federation import contribute, draw_plan, merge

    plan = draw_plan(world.schema, 1, height=1, bits=bits)
    schema = world.schema.declare(n_rows=None)
    tables = {"north": World(schema, world.rows), "south": World(schema, ())}
    model = merge([contribute(plan, guarded(one, epsilon, bits), epsilon, name) for name, one in tables.items()], "disjoint")
    return _stated(model, model.privacy)


def joined(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Two offices with an attribute each of the same people: what they release adds up."""
    from privet.federation import join
    from privet.learners import RandomTreesClassifier

    halves = []
    for name in world.schema.names:
        schema = replace(world.schema, attributes={name: world.schema.attributes[name]})
        learner = RandomTreesClassifier(epsilon / 2, n_trees=1, height=1, shrink=0)
        halves.append(learner.fit_from(guarded(World(schema, world.rows), epsilon / 2, bits)).model_)
    model = join(halves)
    return _stated(model, model.privacy)


# -- on a person's own side ------------------------------------------------------------------------------------------------------


def randomized(**settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.publish import Randomizer

        randomizer = Randomizer(world.schema, epsilon, bits=bits, **settings)
        assert randomizer.cost.epsilon is not None
        return Released(randomizer.one(world.rows[0]), randomizer.cost.epsilon)

    return release


def randomized_leaf(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.federation import draw_plan
    from privet.publish import LeafRandomizer

    randomizer = LeafRandomizer(draw_plan(world.schema, 2, height=1, bits=bits), epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    report = randomizer.one(world.rows[0])
    return Released([report, [cells.attribute for cells in randomizer.plan.forest]], randomizer.cost.epsilon)
