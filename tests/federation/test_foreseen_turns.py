"""A party signs what was not due, or what no recipe gives: nobody pays for a turn after that."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from privet import Budget, Curator, datasets
from privet.domain.cells import Cells, Split
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.federation.card import Card
from privet.federation.keys import SigningKey
from privet.federation.relay import RelayFile
from privet.learners.relay import Turn
from privet.model.file import load_json, seal
from privet.model.structure import Damaged
from tests.federation.parties import SCHEMA, curator_of, rows

NAMES = ("north", "south", "west", "east")


@pytest.fixture(scope="module")
def keys():
    return {name: SigningKey.new() for name in NAMES}


@pytest.fixture(scope="module")
def started(keys):
    cards = [Card.sign(SCHEMA, name, 400, 1, keys[name]) for name in NAMES[:3]]
    return RelayFile.start(SCHEMA, cards, "disjoint")


def open_tables():
    return {name: curator_of(rows(400, 7 * place), budget=9) for place, name in enumerate(NAMES)}


@pytest.fixture(scope="module")
def tables():
    return open_tables()


@pytest.fixture(scope="module")
def begun(started, keys, tables):
    """Who looked at classes and drew the first tree, and the relay after it."""
    first = started.next_names[0]
    return first, started.take_turns(first, tables[first], keys[first], 1)


def add_to(visit, turns, trees):
    return replace(visit, turns=tuple(turns), added=replace(visit.added, trees=tuple(trees)))


def make_louder(visit):
    *others, tree = visit.added.trees
    return add_to(visit, visit.turns, [*others, replace(tree, counts=1000 * tree.counts)])


def take_fifty(visit):
    *looks, drawn = visit.turns
    *starts, tree = visit.added.trees
    each = drawn._replace(amount=drawn.amount / 50)
    return add_to(visit, [*looks, *[each] * 50], [*starts, *[tree] * 50])


def pay_less(visit):
    *looks, drawn = visit.turns
    statement = visit.added.privacy
    cheap = drawn._replace(amount=drawn.amount / 2)
    *before, charge = statement.charges
    cost = type(charge.cost).pure(cheap.amount)
    charges = (*before, replace(charge, cost=cost))
    added = replace(visit.added, privacy=replace(statement, charges=charges))
    return replace(visit, turns=(*looks, cheap), added=added)


def draw_deeper(visit):
    *others, tree = visit.added.trees
    cells = Cells.everything(SCHEMA)
    for name in SCHEMA.names:
        cells = cells.refine(dict.fromkeys(range(len(cells)), Split.multiway(SCHEMA, name)))
    counts = np.zeros((len(cells.attribute), 2))
    counts[:, 0] = tree.counts.max()
    return add_to(visit, visit.turns, [*others, Tree(cells, counts, "drawn")])


def make_terms_of_others(visit):
    *looks, drawn = visit.turns
    starts = visit.added.trees[:-1]
    turns, terms = [], []
    for name in SCHEMA.names:
        cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, name)})
        terms.append(Tree(cells, np.zeros((len(cells.attribute), 2)), "term"))
        turns.append(Turn("term", drawn.party, drawn.amount / len(SCHEMA.names), name))
    return add_to(visit, [*looks, *turns], [*starts, *terms])


def start_from(scores):
    def change(visit):
        start = Tree(Cells.everything(SCHEMA), np.array([scores]), "constant")
        return add_to(visit, visit.turns, [start, visit.added.trees[-1]])

    return change


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (make_louder, "scores that are larger"),
        (take_fifty, "a turn that was not due"),
        (pay_less, "a turn that was not due"),
        (draw_deeper, "none of the recipe's"),
        (make_terms_of_others, "a turn that was not due"),
        (start_from([9999.0, -9999.0]), "as frequent as no rows are"),
        (start_from([-0.01, -40.0]), "as frequent as no rows are"),
        (start_from([np.log(0.6), np.log(0.4)]), "as frequent as no rows are"),
    ],
)
def test_what_was_not_due_is_refused_before_anybody_pays(
    started, begun, keys, tables, change, problem
):
    first, relay = begun
    lie = RelayFile.from_bytes(started._sign(change(relay.visits[-1]), keys[first]).to_bytes())
    other = next(name for name in NAMES[:3] if name != first)
    before = tables[other].left
    for refused in (
        lambda: lie.take_turns(other, tables[other], keys[other]),
        lambda: lie.finish(early=True),
    ):
        with pytest.raises(ParameterError, match=f"{first} .*{problem}.*Nothing was charged"):
            refused()
    assert tables[other].left == before


def test_a_turn_out_of_order_is_refused(started, begun, keys):
    """The first look is due to somebody else."""
    first, relay = begun
    other = next(name for name in NAMES[:3] if name != first)
    number = list(started.cards).index(other)
    visit = relay.visits[-1]
    turns = tuple(turn._replace(party=number) for turn in visit.turns)
    statement = replace(visit.added.privacy, name=other)
    visit = replace(visit, name=other, turns=turns, added=replace(visit.added, privacy=statement))
    lie = RelayFile.from_bytes(started._sign(visit, keys[other]).to_bytes())
    assert lie.unforeseen == f"{other} took a turn that was not due"


@pytest.mark.parametrize("most", [1, None])
def test_what_honest_parties_do_is_foreseen(started, keys, most):
    """One comes late, one leaves, turns are taken one by one or all at once."""
    relay, tables, changed = started, open_tables(), False
    while relay.next_names:
        name = relay.next_names[-1]
        relay = relay.take_turns(name, tables[name], keys[name], most)
        if not changed:
            changed = True
            gone = next(one for one in NAMES[:3] if one != name)
            relay = relay.join(Card.sign(SCHEMA, "east", 500, "1/2", keys["east"])).leave(gone)
        relay = RelayFile.from_bytes(relay.to_bytes())
        assert relay.unforeseen == ""
    assert relay.finish().privacy.promised.epsilon == 1


@pytest.mark.parametrize(("n_rows", "kind"), [(9500, "scores"), (20_000, "drawn")])
def test_refined_leaves_and_terms_are_foreseen(keys, n_rows, kind):
    """They are made where there is more evidence, which the cards say; many trees, where there is
    ample.
    """
    cards = [Card.sign(SCHEMA, name, n_rows, 1, keys[name]) for name in NAMES[:2]]
    relay, tables = RelayFile.start(SCHEMA, cards, "disjoint"), open_tables()
    while relay.next_names:
        name = relay.next_names[0]
        relay = relay.take_turns(name, tables[name], keys[name])
    assert relay.unforeseen == ""
    assert {kind, "term"} <= {tree.kind for tree in relay.standing.trees}


def test_one_tree_with_probabilities_is_foreseen():
    car = datasets.load("car")
    keys = {name: SigningKey.new() for name in NAMES[:2]}
    cards = [Card.sign(car.schema, name, 864, "1/2", key) for name, key in keys.items()]
    relay = RelayFile.start(car.schema, cards, "disjoint")
    (name,) = relay.next_names
    curator = Curator(car.table[::2], car.schema, Budget(1))
    relay = relay.take_turns(name, curator, keys[name])
    assert relay.unforeseen == ""
    assert [tree.kind for tree in relay.finish().trees] == ["calibrated"]


def test_a_promise_with_a_condition_is_refused(started, begun, keys):
    first, relay = begun
    visit = relay.visits[-1]
    statement = replace(visit.added.privacy, assumes="nobody looks")
    lie = started._sign(replace(visit, added=replace(visit.added, privacy=statement)), keys[first])
    with pytest.raises(Damaged, match="depend on something"):
        RelayFile.from_bytes(lie.to_bytes())


@pytest.mark.parametrize("depth", [900, 100_000])
def test_a_schema_that_is_nested_deeply_is_refused(started, depth):
    text = started.to_bytes().decode()
    values = json.dumps(["complete", "foster", "other"], separators=(",", ":"))
    assert values in text
    body = text.replace(values, "[" * depth + "]" * depth, 1)
    with pytest.raises(Damaged, match="nested too deeply"):
        RelayFile.from_bytes(reseal(body))


def reseal(text):
    try:
        document = load_json(text.encode())
    except Damaged:
        return text.encode()
    del document["checksum"]
    return seal(document)
