"""The sampler's law over whole labelled trees, against all trees of small spaces, and over
neighbouring tables.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pytest

from privet.domain.cells import Split
from privet.domain.space import TreeSpace, all_splits, one_against_rest_splits, threshold_splits
from privet.mechanisms.gibbs.plan import SpaceArrays
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds
from tests.conformance.check_mechanism import ALPHA, choice_fit
from tests.mechanisms.gibbs_oracle import (
    RecursionLaw,
    SamplerLaw,
    SkippingLaw,
    drawn_shape,
    exact_law,
    extremes,
    gibbs_of,
    law_of_shapes,
    random_rows,
    small_schema,
)


def twice_on_a_path() -> TreeSpace:
    schema = small_schema(4, 2)
    inner = [Split("a", (0, 0, 1, 1)), Split("a", (0, 1, 1, 1))]
    return TreeSpace(schema, 3, inner, [Split.multiway(schema, "b"), Split("a", (0, 1, 0, 0))])


def different_last_splits() -> TreeSpace:
    schema = small_schema("3?", 2)
    return TreeSpace(schema, 2, threshold_splits(schema, "a")[:1], all_splits(schema))


SPACES = {
    "no test": lambda: TreeSpace(small_schema(2, 2, classes=3), 0),
    "one test": lambda: TreeSpace(small_schema(3, "3?"), 1),
    "two tests, two values": lambda: TreeSpace(small_schema(2, 2), 2),
    "more tests than there are": lambda: TreeSpace(small_schema(2, 2), 5),
    "three classes": lambda: TreeSpace(small_schema(2, 2, classes=3), 2, split=0.3, keep=0.9),
    "one against rest": lambda: TreeSpace(small_schema(3, 2), 2, split=0.7, keep=0.2),
    "ordered, missing bin, last splits differ": different_last_splits,
    "one attribute twice on a path": twice_on_a_path,
    "nothing above the last level": lambda: TreeSpace(small_schema(2, 2), 2, inner=[]),
    "nothing at the last level": lambda: TreeSpace(small_schema(2, 2), 2, last=[]),
    "a value alone": lambda: TreeSpace(small_schema(2, 1, 2), 2),
}


@pytest.mark.parametrize("rows", [0, 12], ids="rows={}".format)
@pytest.mark.parametrize("name", SPACES)
def test_every_tree_has_its_probability(name, rows):
    """prior x exp(unit x correct weight), normalised, for every labelled tree of the space; weights
    are 0 to 5 units.
    """
    space = SPACES[name]()
    table, unit = random_rows(space, rows, seed=rows), 0.3
    stated, sampler = exact_law(space, table, unit), SamplerLaw(gibbs_of(space, table, unit))
    found = {tree: sampler(tree) for tree in stated}
    assert abs(sum(found.values()) - 1) < 1e-20
    assert max(abs(found[tree] / chance - 1) for tree, chance in stated.items()) < 1e-12


def few_thresholds() -> TreeSpace:
    """Six bins and missing entries, of which splits tell three and these apart."""
    schema = small_schema("6?", 4)
    at_two, _, at_four, _ = threshold_splits(schema, "a")[1:]
    return TreeSpace(schema, 2, [at_two, at_four], [at_four, Split("b", (0, 1, 1, 0))])


def merge_tree(space: TreeSpace, tree: tuple) -> tuple:
    if len(tree) == 1:
        return tree
    label, split, *parts = tree
    return (label, space.atoms.merge_split(split), *(merge_tree(space, part) for part in parts))


def test_merged_codes_leave_every_tree_its_probability():
    """The law over trees of all codes, listed, against the sampler, which counts atoms."""
    space = few_thresholds()
    assert space.schema.sizes == (7, 4)
    assert space.merged.schema.sizes == (4, 2)
    table, unit = random_rows(space, 30, seed=1), 0.3
    codes = space.atoms.merge_codes(np.array([row[0] for row in table]).T).T.tolist()
    merged = [(tuple(one), *row[1:]) for one, row in zip(codes, table, strict=True)]
    stated = exact_law(space, table, unit)
    sampler = SamplerLaw(gibbs_of(space.merged, merged, unit))
    found = {tree: sampler(merge_tree(space, tree)) for tree in stated}
    assert abs(sum(found.values()) - 1) < 1e-20
    assert max(abs(found[tree] / chance - 1) for tree, chance in stated.items()) < 1e-12


@pytest.mark.parametrize("unit", [1e-9, 2.0**-16, 40.0, 3e5], ids="unit={:g}".format)
def test_every_tree_has_its_probability_at_every_epsilon(unit):
    """From almost the prior to trees whose chance is below 10**-1000000: no tree is lost, none is
    off.
    """
    space = SPACES["two tests, two values"]()
    table = random_rows(space, 12, seed=3)
    stated, sampler = exact_law(space, table, unit), SamplerLaw(gibbs_of(space, table, unit))
    assert max(abs(sampler(tree) / chance - 1) for tree, chance in stated.items()) < 1e-12


@pytest.mark.parametrize("name", ["one against rest", "one attribute twice on a path"])
def test_a_single_row_of_one_unit_counts(name):
    """The smallest table that is not empty."""
    space = SPACES[name]()
    table = [((1, 0), 1, 1)]
    stated, sampler = exact_law(space, table, 2.0), SamplerLaw(gibbs_of(space, table, 2.0))
    assert max(abs(sampler(tree) / chance - 1) for tree, chance in stated.items()) < 1e-12


def test_weights_of_a_huge_table_lose_nothing():
    """A chance does not drift with the size of the table, although unit x weight has more digits
    than a double.
    """
    space = SPACES["two tests, two values"]()
    table = [
        (codes, label, weight * 10**12 + weight)
        for codes, label, weight in random_rows(space, 12, seed=4)
    ]
    stated, sampler = exact_law(space, table, 0.1), SamplerLaw(gibbs_of(space, table, 0.1))
    assert max(abs(sampler(tree) / chance - 1) for tree, chance in stated.items()) < 1e-12


# -- by drawing ------------------------------------------------------------------------------------

DRAWS = 5000
DRAWN = TreeSpace(small_schema(3, 2), 2)
#: Three cells of six are empty.
TABLE = [((0, 0), 0, 4), ((0, 1), 1, 3), ((1, 0), 1, 5), ((1, 0), 0, 1)]
UNIT = 0.45


@pytest.fixture(scope="module")
def draws() -> Counter:
    gibbs = gibbs_of(DRAWN, TABLE, UNIT)
    with unlock_test_seeds():
        bits = SeededBits(5)
        return Counter(drawn_shape(gibbs.draw(bits)) for _ in range(DRAWS))


def fit_of(draws: Counter, law) -> float:
    """Trees with a share of their own or together with all the rare ones; trees that the law does
    not know count as rare.
    """
    stated = law_of_shapes(DRAWN, law)
    assert abs(sum(stated.values()) - 1) < 1e-20
    observed = [draws.get(tree, 0) for tree in stated]
    unknown = sum(draws.values()) - sum(observed)
    return choice_fit([*observed, unknown], [*map(float, stated.values()), 0.0])


def test_drawn_trees_follow_the_law(draws):
    assert fit_of(draws, RecursionLaw(DRAWN, TABLE, UNIT)) > ALPHA


@pytest.mark.parametrize("factor", [0.7, 1.3])
def test_an_epsilon_that_is_off_is_rejected(draws, factor):
    assert fit_of(draws, RecursionLaw(DRAWN, TABLE, UNIT * factor)) < ALPHA


def test_skipping_empty_nodes_is_rejected(draws):
    assert fit_of(draws, SkippingLaw(DRAWN, TABLE, UNIT)) < ALPHA


def test_a_drawn_tree_sends_every_row_to_one_labelled_leaf():
    gibbs = gibbs_of(DRAWN, TABLE, UNIT)
    with unlock_test_seeds():
        bits = SeededBits(6)
        for _ in range(50):
            tree = gibbs.draw(bits)
            assert len(tree.labels) == len(tree.cells.attribute)
            assert set(tree.labels.tolist()) <= {0, 1}
            assert tree.cells.n_cells == int((tree.cells.attribute < 0).sum())


# -- neighbours ------------------------------------------------------------------------------------

MOST = 4  #: units that a row can weigh


def neighbours(space: TreeSpace):
    """Tables, and each with one row more: any codes, any class, any weight."""
    tables = [
        [],
        [((1,) * len(space.schema.sizes), 0, MOST)],
        *(random_rows(space, n, seed=n, most=MOST) for n in (3, 8)),
    ]
    rows = list(product(product(*map(range, space.schema.sizes)), range(space.schema.n_classes)))
    for table in tables:
        for (codes, label), weight in product(rows, (0, 1, MOST)):
            yield table, [*table, (codes, label, weight)], weight


@pytest.mark.parametrize(
    "name", ["no test", "two tests, two values", "ordered, missing bin, last splits differ"]
)
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_neighbours_differ_by_epsilon_at_most(name, epsilon):
    """Over all trees, the log-ratio has a range of epsilon at most, so it is epsilon at most
    itself; and epsilon is used.
    """
    space = SPACES[name]()
    plan, known, worst = SpaceArrays(space), {}, 0.0

    def law(table):
        if (key := tuple(table)) not in known:
            known[key] = SamplerLaw(gibbs_of(space, table, epsilon / MOST, plan))
        return known[key]

    for table, more, weight in neighbours(space):
        low, high = extremes(space, law(more), law(table))
        assert low <= 1e-12
        assert high >= -1e-12
        # bounded range; a lighter row costs less
        assert high - low <= epsilon * weight / MOST + 1e-12
        worst = max(worst, -low, high)
    assert 0.4 * epsilon < worst <= epsilon + 1e-12


def test_neighbours_of_a_law_that_skips_empty_nodes_do_not():
    """What the check above would find: a tree that only one of two neighbours can give."""
    space = SPACES["two tests, two values"]()
    table = [((0, 0), 0, MOST)]
    law, more = (
        law_of_shapes(space, SkippingLaw(space, rows, 0.1))
        for rows in (table, [*table, ((1, 1), 0, 1)])
    )
    assert any(law[tree] == 0 and more[tree] > 0 for tree in law)


def test_one_against_rest_on_three_values_is_more_than_one_split_of_two():
    """After a value is out, several splits say the same; each keeps its share of the prior."""
    schema = small_schema(3)
    space = TreeSpace(schema, 2, one_against_rest_splits(schema, "a")[:1], all_splits(schema))
    sampler = SamplerLaw(gibbs_of(space, [], 1.0))
    child = sampler.below(sampler.root(), 0, space.inner[0])[0]
    chances = sampler.choices(child)
    assert len([split for label, split in chances if label == 0 and split is not None]) == 3
    assert float(
        sum(chance for (_, split), chance in chances.items() if split is not None)
    ) == pytest.approx(0.5)
