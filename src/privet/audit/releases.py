"""Release each thing that can be audited from a world, with what is promised for it.

The promise is that of the released statement or of the ledger, not one that is worked out here:
what is tested is what people are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from privet.accounting.conversion import epsilon_for, rho_for
from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import MemoryLedger
from privet.accounting.statement import People, PrivacyStatement
from privet.audit.likelihoods import HeardAnswer, Listener, View, see_all
from privet.audit.worlds import World
from privet.mechanisms.randomness import Bits

#: The delta of what promises no pure epsilon: large, so that an audit of a few thousand runs has
#: something to see.
DELTA = Fraction(1, 100)
#: How many rows each hospital of a relay declares, whatever it has.
DECLARED = 20


@dataclass(frozen=True)
class Released:
    """What a run released, and the (epsilon, delta) that was promised for it.

    The promise is for the neighbours that the schema declares.

    ``parts`` are the epsilons of the single answers that it is made of, or its ``rho`` where it has
    no pure epsilon: they tell what an audit could show at best (:mod:`~privet.audit.bounds`), and
    nothing else. ``answers`` are those that curators gave for it.
    """

    what: Any
    epsilon: Fraction | float
    delta: Fraction = Fraction(0)
    parts: tuple[float, ...] = ()
    rho: float = 0.0
    answers: Sequence[HeardAnswer] = ()


#: Releases something about a world for an epsilon per row added or removed, drawn from these bits.
Release = Callable[[World, Fraction, Bits], Released]


# Releases through a curator.


def make_curator(world: World, epsilon: Fraction, bits: Bits, view: View = see_all) -> Listener:
    """Make a curator of what a view of the world shows, with a budget for this epsilon per row."""
    world = view(world)
    return _make_curator_with(
        world, Budget(Cost.pure(epsilon).promised(world.schema).epsilon), bits, view
    )


def _make_curator_in_rho(world: World, rho: Fraction, bits: Bits) -> Listener:
    return _make_curator_with(
        world, Budget(rho=Cost.concentrated(rho).promised(world.schema).rho), bits
    )


def _make_curator_with(world: World, budget: Budget, bits: Bits, view: View = see_all) -> Listener:
    return Listener.over(
        world.source,
        world.schema,
        budget,
        ledger=MemoryLedger(),
        dataset="world",
        analyst="auditor",
        bits=bits,
        view=view,
    )


def _release_from_ledger(curator: Listener, what: Any, answers: int = 1) -> Released:
    """What the ledger says that an analyst has paid, for so many answers."""
    spent = curator.spent.epsilon
    if spent is None:
        epsilon, rho = epsilon_for(curator.spent.rho, DELTA), float(curator.spent.rho)
        return Released(what, epsilon, DELTA, rho=rho, answers=curator.heard)
    parts = (float(spent) / answers,) * answers
    return Released(what, spent, parts=parts, answers=curator.heard)


def release_learner(
    kind: str, *, answers: int = 1, delta: Fraction | None = None, **settings: Any
) -> Release:
    """Fit a classifier; each thing that it is charged for has so many answers of equal shares."""

    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet import learners

        made = getattr(learners, kind)(epsilon, **settings)
        if delta is None:
            curator = make_curator(world, epsilon, bits)
        else:
            made.set_params(delta=delta)
            curator = _make_curator_in_rho(world, rho_for(epsilon, delta), bits)
        fitted = made.fit_from(curator)
        return _release_from_statement(fitted.model_, fitted.model_.privacy, curator.heard, answers)

    return release


def _release_from_statement(
    what: Any, statement: PrivacyStatement, heard: Sequence[HeardAnswer], answers: int = 1
) -> Released:
    """What a statement promises."""
    promised = statement.promised
    if promised.epsilon is None:
        assert statement.delta is not None
        rho = float(promised.rho)
        return Released(what, statement.epsilon, statement.delta, rho=rho, answers=heard)
    # Of several releases about different people one counts.
    leaves = statement.leaves if statement.people != "disjoint" else statement.leaves[:1]
    costs = [
        charge.cost.for_neighbours(one.rows_per_person, one.neighbours)
        for one in leaves
        for charge in one.charges
    ]
    parts = [
        float(cost.epsilon) / answers for cost in costs if cost.epsilon for _ in range(answers)
    ]
    return Released(what, promised.epsilon, parts=tuple(parts), answers=heard)


def release_tuned(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.learners import GibbsTreeClassifier, tune

    curator = make_curator(world, epsilon, bits)
    candidates = [GibbsTreeClassifier(max_depth=0), GibbsTreeClassifier(max_depth=1)]
    best = tune(candidates, curator, epsilon)
    return _release_from_statement(best.model_, best.model_.privacy, curator.heard)


def release_session(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Ask every kind of query, each for an equal share."""
    import numpy as np

    from privet.domain.cells import Cells, Split
    from privet.domain.questions import Question
    from privet.domain.space import TreeSpace, all_splits
    from privet.queries import RowScore

    curator, schema, share = make_curator(world, epsilon, bits), world.schema, epsilon / 6
    everyone = Cells.everything(schema)
    by_a = everyone.refine({0: Split.multiway(schema, "a")})
    answers = [
        curator.size(share),
        curator.count(Question.of(by_a), share),
        curator.choose(everyone, all_splits(schema), "max", share),
        curator.sums(everyone, RowScore(schema, np.array([-2, 2])), share),
        curator.draw_tree(TreeSpace(schema, 1, all_splits(schema)), share),
        curator.median("b", share),
    ]
    return _release_from_ledger(curator, answers, 6)


def release_session_in_rho(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Ask with a budget in rho: Gaussian noise, a selection and a draw."""
    from privet.curator.spending import root_below
    from privet.domain.cells import Cells
    from privet.domain.space import TreeSpace, all_splits

    rho = rho_for(epsilon, DELTA)
    curator, schema = _make_curator_in_rho(world, rho, bits), world.schema
    of_selection = root_below(8 * rho / 4)
    answers = [
        curator.size(rho=rho / 4),
        curator.count(Cells.everything(schema), rho=rho / 4),
        curator.draw_tree(TreeSpace(schema, 1, all_splits(schema)), of_selection),
        curator.median("b", of_selection, mechanism="exponential"),
    ]
    return _release_from_ledger(curator, answers)


def release_count(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.domain.cells import Cells, Split

    curator = make_curator(world, epsilon, bits)
    by_a = Cells.everything(world.schema).refine({0: Split.multiway(world.schema, "a")})
    return _release_from_ledger(curator, curator.count(by_a, epsilon))


def release_values(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Count the values of a, as a survey of a table does."""
    from privet.queries import CountValues

    curator = make_curator(world, epsilon, bits)
    return _release_from_ledger(curator, curator.ask(CountValues("a"), epsilon))


def release_scores(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Count the scores of a public model that tells the values of the first attribute apart."""
    from privet.domain.cells import Cells, Split
    from privet.domain.tree import Tree
    from privet.model import Model
    from privet.queries import Scores

    schema = world.schema
    cells = Cells.everything(schema).refine({0: Split.multiway(schema, schema.names[0])})
    shares = np.linspace(0.1, 0.9, len(cells.attribute))
    counts = np.full((len(shares), schema.n_classes), 1.0)
    counts[:, 0] = schema.n_classes * shares
    curator = make_curator(world, epsilon, bits)
    stated = curator.foresee_statement(epsilon, "a model that reads no rows")
    model = Model("public", schema, (Tree(cells, counts),), "counts", stated)
    edges = [[0.3, 0.5, 0.7]] * schema.n_classes
    return _release_from_ledger(curator, curator.ask(Scores(model, edges), epsilon))


def release_gaussian_count(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Count for the rho that this epsilon and DELTA are worth."""
    from privet.domain.cells import Cells

    rho = rho_for(epsilon, DELTA)
    curator = _make_curator_in_rho(world, rho, bits)
    return _release_from_ledger(curator, curator.count(Cells.everything(world.schema), rho=rho))


def release_quantile(q: str) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        curator = make_curator(world, epsilon, bits)
        return _release_from_ledger(curator, curator.quantile("b", q, epsilon))

    return release


def release_quantiles(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Halve the values of b twice."""
    from privet.queries import FindQuantiles

    curator = make_curator(world, epsilon, bits)
    return _release_from_ledger(curator, curator.ask(FindQuantiles("b", 2), epsilon))


def release_partition_choice(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Choose a partition that the row in question makes more likely, and its replacement less.

    The row takes one partition nearer to what is expected and the other farther; who replaces it,
    the other way round.
    """
    import numpy as np

    from privet.domain.cells import Cells
    from privet.domain.questions import Question

    curator, schema = make_curator(world, epsilon, bits), world.schema
    expected = [np.zeros((1, size, schema.n_classes), dtype=np.int64) for size in schema.sizes]
    expected[0][0, 0, 1] = expected[1][0, 3, 0] = 1  # ("x", "yes"), and ("b" in its last bin, "no")
    question = Question.level(Cells.everything(schema), schema.names)
    # With the row in question the two are even.
    chosen = curator.choose_partition(
        question, expected, epsilon, handicaps=[0, 2], mechanism="permute-and-flip"
    )
    return _release_from_ledger(curator, chosen)


def release_synthetic_table(delta: Fraction = Fraction(0), view: View = see_all) -> Release:
    """Draw many synthetic rows for few people, so that sampling hides nothing that was measured."""

    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.synthetic.synthesize import synthesize

        curator = (
            _make_curator_in_rho(world, rho_for(epsilon, delta), bits)
            if delta
            else make_curator(world, epsilon, bits, view)
        )
        table = synthesize(curator, epsilon, rows=1000, delta=delta)
        return _release_from_statement(table, table.privacy, curator.heard)

    return release


# Releases of several batches, parties or attributes.


def see_uncounted(world: World) -> World:
    """The same rows, without making their number public."""
    return world.uncounted


def see_nobody(world: World) -> World:
    """A table of the same schema without any rows."""
    return world.emptied


def see_declared(world: World) -> World:
    """The same rows, about as many as was declared."""
    return World(world.schema.declare(n_rows=DECLARED), world.rows)


def see_declared_nobody(world: World) -> World:
    """A table without any rows, of which as many were declared."""
    return see_declared(world.emptied)


def see_gridded(world: World) -> World:
    """The same people, of whom numbers have fine grids."""
    return world.gridded


def see_ruled(world: World) -> World:
    """The same people, of whom the schema says that some cannot be."""
    return world.ruled


def see_attribute(name: str, world: World) -> World:
    """The same people with one attribute and the class."""
    return world.by_attribute[name]


def release_updated_model(people: People, row_in: Sequence[int]) -> Release:
    """Fit a model to two batches.

    The rows of the world are in those that are listed, and nobody in the others. Each batch costs
    epsilon / len(row_in).
    """

    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.learners import RandomTreesClassifier

        share = epsilon / len(row_in)
        learner = RandomTreesClassifier(share, n_trees=1, height=1, people=people)
        heard: list[HeardAnswer] = []
        for batch in range(2):
            view = see_uncounted if batch in row_in else see_nobody
            curator = make_curator(world, share, bits, view)
            learner.partial_fit_from(curator)
            heard += curator.heard
        return _release_from_statement(learner.model_, learner.model_.privacy, heard)

    return release


def release_merged_model(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Merge the models of two hospitals with a plan; the person is in one of them."""
    from privet.federation import contribute, draw_plan, merge

    plan = draw_plan(world.schema, 1, height=1, bits=bits)
    curators = {
        name: make_curator(world, epsilon, bits, view)
        for name, view in (("north", see_uncounted), ("south", see_nobody))
    }
    model = merge(
        [contribute(plan, curator, epsilon, name) for name, curator in curators.items()],
        "disjoint",
    )
    heard = [answer for curator in curators.values() for answer in curator.heard]
    return _release_from_statement(model, model.privacy, heard)


def release_relayed_model(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Let three hospitals take turns on a model; the person is in the second.

    Everybody else conspires: what the others do is known, and so is all that travels. All declare
    the same number of rows, so that all draw.
    """
    from privet.learners import PrivetClassifier

    views = (see_declared_nobody, see_declared, see_declared_nobody)
    curators = [make_curator(world, epsilon, bits, view) for view in views]
    model = PrivetClassifier(epsilon, people="disjoint").fit_from(curators).model_
    heard = [answer for curator in curators for answer in curator.heard]
    return _release_from_statement(model, model.privacy, heard)


def release_grown_model(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Update a model of the default learner; the person is in the new batch.

    What the first batch released is known.
    """
    from privet.learners import PrivetClassifier

    learner = PrivetClassifier(epsilon, people="disjoint")
    heard: list[HeardAnswer] = []
    for view in (see_nobody, see_uncounted):
        curator = make_curator(world, epsilon, bits, view)
        learner.partial_fit_from(curator)
        heard += curator.heard
    return _release_from_statement(learner.model_, learner.model_.privacy, heard)


def release_joined_model(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Join the models of two offices with an attribute each of the same people.

    What they release adds up.
    """
    from privet.federation import join
    from privet.learners import RandomTreesClassifier

    halves = []
    heard: list[HeardAnswer] = []
    for name in world.by_attribute:
        learner = RandomTreesClassifier(epsilon / 2, n_trees=1, height=1, shrink=0)
        curator = make_curator(world, epsilon / 2, bits, partial(see_attribute, name))
        halves.append(learner.fit_from(curator).model_)
        heard += curator.heard
    model = join(halves)
    return _release_from_statement(model, model.privacy, heard)


# Releases that a person makes, or an owner for them. Promised for one row replaced by another.


def release_randomized_records(**settings: Any) -> Release:
    def release(world: World, epsilon: Fraction, bits: Bits) -> Released:
        from privet.local.randomizer import Randomizer

        randomizer = Randomizer(world.schema, epsilon, bits=bits, **settings)
        assert randomizer.cost.epsilon is not None
        parts = tuple(map(float, randomizer.shares)) if randomizer.spread == "split" else ()
        return Released(randomizer.one(world.rows[0]), randomizer.cost.epsilon, parts=parts)

    return release


def release_randomized_table(world: World, epsilon: Fraction, bits: Bits) -> Released:
    """Randomise a table that is sorted by what its rows hold, one row after the other."""
    from privet.local.randomizer import Randomizer

    randomizer = Randomizer(world.schema, epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    reports = randomizer.many(world.table.sort_values(list(world.table.columns)))
    return Released(
        [" ".join(map(str, report)) for report in reports.itertuples(index=False, name=None)],
        randomizer.cost.epsilon,
    )


def release_randomized_leaf(world: World, epsilon: Fraction, bits: Bits) -> Released:
    from privet.federation import draw_plan
    from privet.local.leaf_randomizer import LeafRandomizer

    randomizer = LeafRandomizer(draw_plan(world.schema, 2, height=1, bits=bits), epsilon, bits=bits)
    assert randomizer.cost.epsilon is not None
    report = randomizer.one(world.rows[0])
    return Released(
        [report, [cells.attribute for cells in randomizer.plan.forest]], randomizer.cost.epsilon
    )
