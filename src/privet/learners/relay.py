"""Learn from several tables that stay where they are: the model travels, and parties take turns.

Boosted draws need released trees to weigh rows, and nothing else that is shared. So each step of
the recipe is taken by one party on its own rows: it draws the next tree, or makes the next additive
term, given all that was released before. A party takes few steps and pays its whole epsilon for
them, so that each step has about the evidence that it would have on all rows together. Nobody's
rows move, and nobody is trusted with them.

Cost: where every person is in one table, each pays the epsilon of their own party once (parallel
composition); where people may be in several, the sum of those parties' epsilons. A party's own
epsilon covers what it does in its turns, whatever the others send: trees that arrive only weigh
rows, by 0 to 1.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, NamedTuple

from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import Charge, People, PrivacyStatement
from privet.curator import AnyCurator
from privet.curator.spending import FORESEEN, Spending, root_below
from privet.domain import Schema
from privet.domain.tree import Tree
from privet.errors import ParameterError, PartyWarning, QuestionError, Unavailable
from privet.learners.base import check_curator, measure_rows
from privet.learners.boosting import (
    FIRST,
    calibrate_tree,
    draw_next,
    measure_classes,
    start_from_classes,
)
from privet.learners.default_recipe import (
    Line,
    Recipe,
    has_small_domain,
    measure_evidence,
    recipe_for,
    share_for_classes,
    strength_of,
    strength_of_half,
)
from privet.learners.random_trees.batches import combine_facts
from privet.learners.resolution import Resolution, choose_bins, resolve_evenly
from privet.learners.terms import Terms
from privet.model import Model

LEARNER = "privet"

StepKind = Literal["classes", "tree", "term"]

#: How much a label counts where several parties draw a deep tree each, by the number of trees:
#: whoever comes next looks at the rows that the trees before got wrong.
DEEP_STRENGTH = {3: 2.0, 5: 1.5}
DEEP_STRENGTH_OF_MANY = 1.0
#: Where there are more of them, and evidence for one tree in all: shallower ones that can agree.
THIN_STRENGTH, THINNER = 0.5, Fraction(1, 3)
#: Evidence below which all of it is worth one draw; and the share of it, but for rounding, with
#: which one party draws alone.
ONE_DRAW, HALF = 1500, 0.499
#: Evidence from which on noise matters less than the sample that each party has: so many small
#: trees, of this depth, even out what a single one takes for true of everybody.
AMPLE, MANY_TREES, SMALL_DEPTH = 20_000, 33, 2
#: What is planned with where there is no noise.
WITHOUT_NOISE = Fraction(1000)


@dataclass(frozen=True)
class Party:
    """A table that takes part: its name, about how many rows it has, and what each row pays.

    All of it is public.
    """

    name: str
    rows: float
    amount: Fraction


class Turn(NamedTuple):
    """A step of the recipe, which party takes it, and what that party pays for it."""

    kind: StepKind
    party: int
    amount: Fraction
    #: Of a term.
    attribute: str = ""


@dataclass(frozen=True)
class Relay:
    """Where a relay stands: who takes part, what was taken, and what was released.

    ``parties`` are all that ever took part; ``gone`` are the numbers of those that left. Who comes
    late takes the turns that are due to its evidence; who leaves early leaves its turns out.
    """

    schema: Schema
    unit: Unit
    parties: tuple[Party, ...]
    gone: frozenset[int] = frozenset()
    taken: tuple[Turn, ...] = ()
    trees: tuple[Tree, ...] = ()

    @property
    def _here(self) -> list[int]:
        return [number for number in range(len(self.parties)) if number not in self.gone]

    @cached_property
    def recipe(self) -> Recipe:
        """The recipe for the rows of all parties that are there, together; of all that ever were,
        where nobody is there any more.
        """
        rare = any(tree.kind == "constant" for tree in self.trees)
        here = [self.parties[number] for number in self._here] or self.parties
        recipe = choose_recipe(self.resolution.coarse, here, self.unit, rare=rare)
        space = self.resolution.lift_space(recipe.space)
        # A term belongs to whoever made it: nobody visits it again. In a wide table terms are for
        # attributes that one table chooses; here trees get all.
        terms = Fraction(0) if recipe.screening else recipe.additive
        return replace(recipe, space=space, cycles=1, additive=terms, screening=Fraction(0))

    @cached_property
    def resolution(self) -> Resolution:
        """The bins of fine grids: as many codes in each, for cuts would be those of one party."""
        rows, amount = pool_parties(self.parties, self.unit)
        return resolve_evenly(self.schema, choose_bins(rows, float(amount), self.unit))

    @cached_property
    def rest(self) -> tuple[Turn, ...]:
        """The turns that are still to be taken, as far as is known.

        Until somebody has looked whether one class is rare, that turn alone is.
        """
        here = self._here
        if not here:
            return ()
        if not self.taken:
            start = plan_start(self.resolution.coarse, self.parties, here, self.unit)
            if start is not None:
                return (start,)
        steps = plan_steps(
            self.schema, [self.parties[number] for number in here], self.recipe, self.unit
        )
        done = Counter((turn.kind, turn.party) for turn in self.taken)
        named = {turn.attribute for turn in self.taken}
        rest = []
        for kind, place, share, attribute in steps:
            party = here[place]
            if kind == "tree" and done[kind, party]:
                done[kind, party] -= 1
            elif kind == "tree" or attribute not in named:
                rest.append((kind, party, share, attribute))
        left = {
            number: self.parties[number].amount
            - sum((turn.amount for turn in self.taken if turn.party == number), Fraction(0))
            for number in here
        }
        whole: dict[int, Fraction] = defaultdict(Fraction)
        for _, party, share, _ in rest:
            whole[party] += share
        return tuple(
            Turn(kind, party, left[party] * share / whole[party], attribute)
            for kind, party, share, attribute in rest
            if left[party] > 0
        )

    def turns_of(self, party: int) -> tuple[Turn, ...]:
        """Return the turns that a party can take now.

        Trees can be drawn in any order; terms come when all trees are there.
        """
        kind = self.rest[0].kind if self.rest else ""
        return tuple(turn for turn in self.rest if turn.party == party and turn.kind == kind)

    def take(self, party: int, curator: AnyCurator) -> tuple[Relay, list[Charge]]:
        """Take the next turn of a party with the rows of its curator; return what it cost, too.

        Cost: the amount of the turn. Neighbours: one row added or removed.
        """
        turn = self.turns_of(party)[0]
        if turn.kind == "classes":
            rows = self.parties[party].rows
            shares, noise, charge = measure_classes(curator, rows, turn.amount, self.unit)
            start = start_from_classes(self.schema, shares, noise)
            added, paid = [] if start is None else [start], [charge]
        elif turn.kind == "term":
            terms = Terms(self.resolution, [turn.attribute])
            paid = terms.visit(curator, self.trees, turn.amount, self.unit)
            added = terms.trees
        else:
            tree, paid = draw_turn(curator, self.recipe, self.trees, turn.amount, self.unit)
            added = [tree]
        return replace(self, taken=(*self.taken, turn), trees=(*self.trees, *added)), paid

    @property
    def settings(self) -> dict[str, Any]:
        """What is said on the card."""
        turns = Counter(turn.party for turn in self.taken)
        return {
            "parties": len(self.parties),
            "turns": [turns[number] for number in range(len(self.parties))],
            **self.recipe.settings,
        }


def draw_turn(
    curator: AnyCurator, recipe: Recipe, trees: Sequence[Tree], amount: Fraction, unit: Unit
) -> tuple[Tree, list[Charge]]:
    """Draw the next tree of a recipe, after those that were released, and return what it cost.

    A tree that is alone gets probabilities for its labels, where the recipe says so.

    Cost: the amount, pure epsilon or rho. Neighbours: one row added or removed.
    """
    number = sum(tree.kind != "constant" for tree in trees) + 1
    leaves = amount * recipe.leaves
    calibrating = amount * recipe.calibration
    drawing = amount - leaves - calibrating
    tree, charges = draw_next(
        curator,
        recipe.space,
        drawing if unit == "epsilon" else root_below(8 * drawing),
        recipe.strength * (FIRST if number == 1 and recipe.rounds > 1 else 1),
        trees,
        leaves={unit: leaves} if leaves else None,
        which=f"tree {number}",
    )
    if not calibrating:
        return tree, charges
    tree, charge = calibrate_tree(curator, tree, calibrating, unit)
    return tree, [*charges, charge]


def plan_start(
    schema: Schema, parties: Sequence[Party], here: Sequence[int], unit: Unit
) -> Turn | None:
    """Return the turn of whoever looks first whether one of two classes is rare, if that pays."""
    rows, amount = pool_parties([parties[number] for number in here], unit)
    share = share_for_classes(schema, rows, amount, unit)
    if not share:
        return None
    evidence = {
        number: measure_evidence(parties[number].rows, parties[number].amount, unit)
        for number in here
    }
    largest = max(evidence, key=evidence.__getitem__)
    # The share is of all evidence, but no party gives more than a quarter of its own for it.
    wanted = float(share) * sum(evidence.values()) / evidence[largest]
    share = Fraction(min(round(100 * wanted), 25), 100)
    return Turn("classes", largest, parties[largest].amount * share)


def choose_recipe(
    schema: Schema, parties: Sequence[Party], unit: Unit, *, rare: bool = False
) -> Recipe:
    """Return the recipe for the rows of all parties together.

    Where there is ample evidence, many small trees are drawn, so that each party draws several.
    Where there are more parties than trees, more are drawn, so that the evidence of each counts.
    But where all evidence is worth one deep tree, and one party has half of it, that party draws
    the tree alone, as deep as its own evidence allows: votes of thinner trees would be worse.
    """
    rows, amount = pool_parties(parties, unit)
    recipe = recipe_for(schema, rows, amount, unit, rare=rare)
    evidence = measure_evidence(rows, amount, unit)
    if recipe.leaves and evidence >= AMPLE and schema.n_classes == 2:
        number = max(MANY_TREES, 2 * len(parties) + 1)
        # Leaves would be refined on the rows of one party, for which the tree was drawn.
        line = Line(math.inf, number, SMALL_DEPTH, strength_of(number), Fraction(0))
        return recipe_for(schema, rows, amount, unit, rare=rare, line=line)
    if len(parties) <= recipe.rounds:
        return recipe
    deep = not rare and has_small_domain(schema, rows, evidence)
    thin = deep and evidence < ONE_DRAW
    largest = max(measure_evidence(party.rows, party.amount, unit) for party in parties) / evidence
    if thin and largest >= HALF:
        own = _take_evidence(amount, Fraction(largest), unit)
        recipe = recipe_for(schema, rows, own, unit, rounds=1)
        half = strength_of_half(schema.n_classes)
        return replace(recipe, strength=max(recipe.strength, half))
    odd = len(parties) + (len(parties) + 1) % 2  # votes of an even number can be tied
    if thin and odd > max(DEEP_STRENGTH):
        part = _take_evidence(amount, THINNER, unit)
        recipe = recipe_for(schema, rows, part, unit, rounds=odd)
        return replace(recipe, strength=THIN_STRENGTH)
    recipe = recipe_for(schema, rows, amount, unit, rare=rare, rounds=odd)
    if not deep:
        return recipe
    strength = next(
        (one for number, one in DEEP_STRENGTH.items() if recipe.rounds <= number),
        DEEP_STRENGTH_OF_MANY,
    )
    return replace(recipe, strength=strength)


def plan_steps(
    schema: Schema, parties: Sequence[Party], recipe: Recipe, unit: Unit
) -> list[tuple[StepKind, int, Fraction, str]]:
    """Return the steps of a recipe: what, whose turn, which share of the whole, which attribute.

    Evidence counts: a party with twice the rows, or twice the epsilon, takes twice as many steps.
    Parties alternate, which is better than one after the other where their people differ.
    """
    weights = [measure_evidence(party.rows, party.amount, unit) for party in parties]
    steps: list[tuple[StepKind, int, Fraction, str]] = [
        ("tree", party, (1 - recipe.additive) / recipe.rounds, "")
        for party in _assign(recipe.rounds, weights)
    ]
    if recipe.additive:
        terms = _assign(len(schema.names), weights)
        steps += [
            ("term", party, recipe.additive / len(terms), name)
            for party, name in zip(terms, schema.names, strict=True)
        ]
    return steps


def pool_parties(parties: Iterable[Party], unit: Unit) -> tuple[float, Fraction]:
    """Return how many rows there are together, and what each would pay for the same evidence."""
    parties = list(parties)
    rows = sum(party.rows for party in parties)
    evidence = sum(measure_evidence(party.rows, party.amount, unit) for party in parties)
    each = Fraction(evidence / rows)
    return rows, each if unit == "epsilon" else each**2 / 8


def fit_by_turns(
    curators: Sequence[AnyCurator], epsilons: Sequence[Number], delta: Number, people: People
) -> Model:
    """Return the default model of several tables, whose curators take turns.

    Cost: of each curator its own of the pure ``epsilons`` (or its rho, with ``delta``). One person
    loses the largest of them if nobody is in two tables (parallel composition), and otherwise their
    sum (sequential composition).
    """
    curators = [check_curator(curator) for curator in curators]
    check_parties(curators, epsilons, people)
    given = parse_exact("delta", delta, zero=True)
    unused = given > 0 and curators[0].unit == "epsilon"  # pure epsilon keeps any delta
    names = [f"party {number} ({curator.dataset})" for number, curator in enumerate(curators, 1)]
    with ExitStack() as stack:
        # All set aside what they may spend before anybody spends anything.
        spendings = [
            stack.enter_context(
                Spending.reserve(curator, epsilon, "relay", delta=0 if unused else given)
            )
            for curator, epsilon in zip(curators, epsilons, strict=True)
        ]
        trees, settings = take_all_turns(spendings, names)
        notes = [f"Chosen from public quantities: {settings['why']}."]
        if unused:
            notes.append(f"The delta of {float(given):g} was not used: the budgets count epsilon.")
        statements = [
            spending.statement(notes, name=name)
            for spending, name in zip(spendings, names, strict=True)
        ]
    schema = combine_facts([curator.schema for curator in curators])
    statement = PrivacyStatement.together(statements, people)
    settings["rows"] = {
        one.id: rows for one, rows in zip(statements, settings["rows"], strict=True)
    }
    return make_model(schema, trees, statement, settings)


def check_parties(
    curators: Sequence[AnyCurator], epsilons: Sequence[Number], people: People
) -> None:
    """Raise unless these curators can take turns. Charges nothing."""
    if len(curators) < 2:
        raise ParameterError(
            f"a relay needs two curators or more, got {len(curators)}; give one by itself"
        )
    if len(epsilons) != len(curators):
        raise ParameterError(
            f"epsilons must be as many as curators, {len(curators)}, got {len(epsilons)}"
        )
    if any(map(is_infinite, epsilons)):
        raise ParameterError("a relay needs a finite epsilon: without noise, pool the rows")
    first = curators[0]
    for number, curator in enumerate(curators, 1):
        if curator.schema.fingerprint != first.schema.fingerprint:
            raise QuestionError(
                f"the tables of parties 1 and {number} have different schemas: attributes, values, "
                "target and classes must be the same for all parties"
            )
        if curator.unit != first.unit:
            raise ParameterError(
                f"the budgets of parties 1 and {number} are counted in {first.unit} and "
                f"{curator.unit}; they must be in the same unit"
            )
    foreseen = [
        replace(
            curator.foresee_statement(epsilon, "relay", f"party {number}"),
            id=f"{FORESEEN}-{number}",
        )
        for number, (curator, epsilon) in enumerate(zip(curators, epsilons, strict=True), 1)
    ]
    PrivacyStatement.together(foreseen, people)


def make_model(
    schema: Schema,
    trees: Sequence[Tree],
    statement: PrivacyStatement,
    settings: dict[str, Any] | None = None,
) -> Model:
    """Return the model that the parties made together."""
    placed = tuple(replace(tree, cells=replace(tree.cells, schema=schema)) for tree in trees)
    return Model(LEARNER, schema, placed, "scores", statement, settings or {})


def take_all_turns(
    spendings: Sequence[Spending], names: Sequence[str]
) -> tuple[Sequence[Tree], dict[str, Any]]:
    """Take all turns of all parties, and return the trees and what is said about them.

    A party that cannot be reached any more leaves: the others go on, with a warning. What it has
    paid for stays in the model.
    """
    schema, unit = spendings[0].curator.schema, spendings[0].unit
    parties = []
    for name, spending in zip(names, spendings, strict=True):
        rows = measure_rows(spending.curator, spending)
        assert spending.left is not None
        parties.append(Party(name, rows, spending.left))
    relay = Relay(schema, unit, tuple(parties))
    while relay.rest:
        party = relay.rest[0].party
        try:
            relay, charges = relay.take(party, spendings[party].curator)
            spendings[party].charges += charges
        except Unavailable as problem:
            relay = replace(relay, gone=relay.gone | {party})
            if not relay.rest and not relay.trees:
                raise
            warnings.warn(
                f"{names[party]} cannot be reached any more, and the others go on: {problem}",
                PartyWarning,
                stacklevel=5,
            )
    return relay.trees, {**relay.settings, "rows": [party.rows for party in parties]}


def _take_evidence(amount: Fraction, share: Fraction, unit: Unit) -> Fraction:
    """Return the amount with which rows have this share of the evidence."""
    return amount * (share if unit == "epsilon" else share**2)


def _assign(steps: int, weights: Sequence[float]) -> list[int]:
    """Return the party of each step: in proportion to the weights, as evenly as possible.

    Whoever has most comes last, which is a little better than first where parties differ in size.
    """
    whole, credit, turns = sum(weights), [0.0] * len(weights), []
    for _ in range(steps):
        credit = [have + weight / whole for have, weight in zip(credit, weights, strict=True)]
        party = credit.index(max(credit))
        credit[party] -= 1
        turns.append(party)
    return turns[::-1]
