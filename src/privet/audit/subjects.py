"""What is audited: everything in Privet that promises an epsilon, at settings small enough for one row to show.

A subject releases something about a world and says what it promises. The promise is that of the released statement or of the ledger,
not one that is worked out here: what is tested is what people are told.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from privet.audit.two_worlds import AuditResult, audit
from privet.audit.worlds import Pair, World, pairs_of
from privet.budget import Budget, Cost
from privet.curator import Curator
from privet.errors import NoiseWarning, ParameterError
from privet.ledger import MemoryLedger
from privet.mechanisms.randomness import Bits, SystemBits
from privet.privacy import People
from privet.schema.schema import Neighbours


@dataclass(frozen=True)
class Released:
    """What a run gave out, and the epsilon that was promised for it, for the neighbours that the schema declares."""

    what: Any
    promised: Fraction


#: Releases something about a world for an epsilon per row added or removed, drawn from these bits.
Release = Callable[[World, Fraction, Bits], Released]


@dataclass(frozen=True)
class Subject:
    """Something to audit.

    ``only`` is the one neighbour relation that it promises anything for, where it is one; ``rows_per_person`` and ``alone`` are the
    worlds that it needs (:func:`~privet.audit.worlds.pairs_of`).
    """

    name: str
    release: Release
    only: Neighbours | None = None
    rows_per_person: int = 1
    alone: bool = False

    def neighbours(self, asked: Neighbours) -> Neighbours:
        """For whom it is audited."""
        return self.only or asked

    def pairs(self, asked: Neighbours) -> tuple[Pair, ...]:
        """The worlds that it is audited in."""
        return pairs_of(self.neighbours(asked), rows_per_person=self.rows_per_person, alone=self.alone)


@dataclass(frozen=True)
class SubjectRun:
    """A run of a subject, by its name, so that it can be sent to another process."""

    name: str
    epsilon: Fraction
    bits: Bits | None = None

    def __call__(self, world: World) -> Any:
        return self.released(world).what

    def released(self, world: World) -> Released:
        """With what was promised."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", NoiseWarning)  # so few rows are meant to drown in noise
            return subject_named(self.name).release(world, self.epsilon, self.bits or SystemBits())


def audit_subject(
    name: str, epsilon: Fraction, runs: int = 4000, *, neighbours: Neighbours = "add-remove", bits: Bits | None = None, **options: Any
) -> AuditResult:
    """Audit a ready subject: its promise for these neighbours against what it releases. Options are those of ``audit``."""
    run, pairs = SubjectRun(name, epsilon, bits), subject_named(name).pairs(neighbours)
    promised = {run.released(world).promised for pair in pairs for world in (pair.one, pair.other)}
    if len(promised) > 1:
        raise ParameterError(f"the promise of {name} depends on the rows: {', '.join(map(str, sorted(promised)))}")
    return audit(run, pairs, float(promised.pop()), runs, name=name, **options)


# -- through a curator -----------------------------------------------------------------------------------------------------------


def guarded(world: World, epsilon: Fraction, bits: Bits) -> Curator:
    """A curator of a world's table, with a budget for this epsilon per row."""
    budget = Budget(Cost.pure(epsilon).promised(world.schema).epsilon)
    return Curator.over(world.source, world.schema, budget, ledger=MemoryLedger(), dataset="world", analyst="auditor", bits=bits)


def _spent(curator: Curator, what: Any) -> Released:
    """What the ledger says that an analyst has paid."""
    assert curator.spent.epsilon is not None
    return Released(what, curator.spent.epsilon)


def _learner(kind: str, **settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet import learners

        fitted = getattr(learners, kind)(epsilon, **settings).fit_from(guarded(world, epsilon, bits))
        return _stated(fitted.model_, fitted.model_.privacy)

    return release


def _stated(what: Any, statement: Any) -> Released:
    assert statement.promised.epsilon is not None
    return Released(what, statement.promised.epsilon)


def _tuned(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.learners import GibbsTreeClassifier, tune

    best = tune([GibbsTreeClassifier(max_depth=0), GibbsTreeClassifier(max_depth=1)], guarded(world, epsilon, bits), epsilon)
    return _stated(best.model_, best.model_.privacy)


def _session(world: World, epsilon: Fraction, bits: Bits) -> Released:
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


def _count(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.cells import Cells, Split

    curator = guarded(world, epsilon, bits)
    by_a = Cells.everything(world.schema).refine({0: Split.multiway(world.schema, "a")})
    return _spent(curator, curator.count(by_a, epsilon))


def _quantile(world: World, epsilon: Fraction, bits: Bits) -> Released:
    curator = guarded(world, epsilon, bits)
    return _spent(curator, curator.quantile("b", "1/4", epsilon))


def _choose_partition(world: World, epsilon: Fraction, bits: Bits) -> Released:
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


def _synthetic(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.publish import synthesize

    table = synthesize(guarded(world, epsilon, bits), epsilon)
    return _stated(table, table.privacy)


# -- several batches, parties, attributes ----------------------------------------------------------------------------------------


def _updated(people: People, row_in: Sequence[int]) -> Release:
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


def _merged(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Two hospitals with a plan; the person is in one of them."""
    from privet.federation import contribute, draw_plan, merge

    plan = draw_plan(world.schema, 1, height=1, bits=bits)
    schema = world.schema.declare(n_rows=None)
    tables = {"north": World(schema, world.rows), "south": World(schema, ())}
    model = merge([contribute(plan, guarded(one, epsilon, bits), epsilon, name) for name, one in tables.items()], "disjoint")
    return _stated(model, model.privacy)


def _joined(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Two offices with an attribute each of the same people: what they release adds up."""
    from dataclasses import replace

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


def _randomized(**settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.publish import Randomizer

        randomizer = Randomizer(world.schema, epsilon, bits=bits, **settings)
        assert randomizer.cost.epsilon is not None
        return Released(randomizer.one(world.rows[0]), randomizer.cost.epsilon)

    return release


def _randomized_leaf(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.federation import draw_plan
    from privet.publish import LeafRandomizer

    randomizer = LeafRandomizer(draw_plan(world.schema, 2, height=1, bits=bits), epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    report = randomizer.one(world.rows[0])
    return Released([report, [cells.attribute for cells in randomizer.plan.forest]], randomizer.cost.epsilon)


SUBJECTS: dict[str, Subject] = {
    one.name: one
    for one in (
        Subject("privet", _learner("PrivetClassifier")),
        Subject("gibbs-tree", _learner("GibbsTreeClassifier", max_depth=1)),
        Subject("gibbs-boost", _learner("GibbsBoostClassifier", rounds=2, max_depth=1)),
        Subject("random-trees", _learner("RandomTreesClassifier", n_trees=2, height=1)),
        Subject("greedy-tree", _learner("GreedyTreeClassifier", max_depth=1, shrink=0)),
        Subject("forest-budget", _learner("ForestClassifier", n_trees=2, max_depth=1, shrink=0, divide="budget")),
        Subject("forest-people", _learner("ForestClassifier", n_trees=2, max_depth=1, shrink=0, divide="people")),
        Subject("noisy-id3", _learner("NoisyID3Classifier", max_depth=1)),
        Subject("additive", _learner("AdditiveClassifier")),
        Subject("tune", _tuned),
        Subject("update-disjoint", _updated("disjoint", (1,))),
        Subject("update-overlapping", _updated("may-overlap", (0, 1))),
        Subject("merge", _merged),
        Subject("join", _joined),
        Subject("session", _session),
        Subject("count", _count),
        Subject("count-person", _count, rows_per_person=2),
        Subject("quantile", _quantile),
        Subject("choose-partition", _choose_partition),
        Subject("synthetic", _synthetic),
        Subject("randomizer-sample", _randomized(), only="replace", alone=True),
        Subject("randomizer-split", _randomized(spread="split"), only="replace", alone=True),
        Subject("leaf-randomizer", _randomized_leaf, only="replace", alone=True),
    )
}


def subject_named(name: str) -> Subject:
    """A ready subject."""
    if name not in SUBJECTS:
        raise ParameterError(f"subject must be one of {', '.join(SUBJECTS)}, got {name!r}")
    return SUBJECTS[name]
