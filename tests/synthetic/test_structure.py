"""Which pairs are measured: candidates, the private choice among them, and the forest they make."""

from __future__ import annotations

import json
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.domain.questions import Question
from privet.mechanisms.randomness import SystemBits
from privet.queries.json_parts import expected_to, question_to
from privet.service.limits import Limits
from privet.synthetic.structure import (
    CANDIDATES,
    CLEAR,
    LONGEST,
    Cut,
    Known,
    choose_pair,
    list_candidates,
    parents_of,
)
from tests.synthetic.small import seeded


def schema_of(*sizes: int, n_classes: int = 2) -> Schema:
    attributes = {
        f"a{i}": Categorical([f"v{j}" for j in range(size)]) for i, size in enumerate(sizes)
    }
    return Schema(attributes, "c", [f"c{j}" for j in range(n_classes)])


def known_of(*sizes: int, rows: float = 1000.0, n_classes: int = 2) -> Known:
    schema = schema_of(*sizes, n_classes=n_classes)
    alone = tuple(np.full((size, n_classes), rows / size / n_classes) for size in sizes)
    return Known(schema, tuple(np.arange(size) for size in sizes), alone)


@st.composite
def forests(draw):
    """The pairs of a forest, in any order and direction."""
    n = draw(st.integers(1, 12))
    names = draw(st.permutations(range(n)))
    pairs = []
    for i in range(1, n):
        above = draw(st.integers(-1, i - 1))
        if above >= 0:
            pairs.append(draw(st.permutations((names[i], names[above]))))
    return n, [tuple(pair) for pair in draw(st.permutations(pairs))]


def parts_of(n, pairs):
    part = list(range(n))
    for a, b in pairs:
        part = [part[a] if one == part[b] else one for one in part]
    return part


@given(forests())
def test_parents_are_the_chosen_pairs_and_no_others(forest):
    n, pairs = forest
    parents = parents_of(n, pairs)
    assert {frozenset((a, parent)) for a, parent in enumerate(parents) if parent >= 0} == {
        frozenset(pair) for pair in pairs
    }
    for a in range(n):  # upwards one always comes to a top
        steps = 0
        while parents[a] >= 0:
            a, steps = parents[a], steps + 1
            assert steps <= n
    assert parents.count(-1) == len(set(parts_of(n, pairs)))


@settings(max_examples=50)
@given(forests(), st.data())
def test_candidates_join_two_parts_and_stand_out(forest, data):
    n, pairs = forest
    sizes = data.draw(st.lists(st.integers(1, 6), min_size=n, max_size=n))
    deviation = data.draw(st.sampled_from([1.0, 30.0, 60.0, 1000.0]))
    known, part = known_of(*sizes), parts_of(n, pairs)
    found = list_candidates(known, pairs, deviation, SystemBits())
    # rows of a class, on average, by the least that a cell should hold
    most = 500 / (CLEAR * deviation)
    allowed = {
        (a, b)
        for a in range(n)
        for b in range(a + 1, n)
        if part[a] != part[b] and min(sizes[a], sizes[b]) > 1 and most >= 4
    }
    assert {cut.pair for cut in found} == allowed
    assert len(found) == len(allowed)
    for cut in found:
        first, second = cut.sizes
        assert first * second <= most
        a, b = cut.pair
        if sizes[a] * sizes[b] <= most:  # nothing is joined without need
            assert (first, second) == (sizes[a], sizes[b])


def test_of_many_candidates_some_are_looked_at():
    known = known_of(*[2] * 40)
    bits = seeded(4)
    draws = [[cut.pair for cut in list_candidates(known, [], 1.0, bits)] for _ in range(60)]
    assert all(len(set(found)) == len(found) == CANDIDATES for found in draws)
    often = {}
    for found in draws:
        for pair in found:
            often[pair] = often.get(pair, 0) + 1
    chance = CANDIDATES / 780
    # every pair has its turn: one that never had would be missing with odds of 780 * 0.62**60
    assert len(often) == 780
    assert max(often.values()) < 60 * chance + 6 * np.sqrt(60 * chance * (1 - chance))


def test_random_words_are_not_wasted():
    """What is drawn for work that can go on is kept in a file: not a word for every pair of a wide
    table.
    """

    class Counting:
        private, drawn = False, 0

        def words(self, count):
            self.drawn += count
            return source.words(count)

    source, bits = seeded(1), Counting()
    assert len(list_candidates(known_of(*[2] * 200), [], 1.0, bits)) == CANDIDATES
    assert bits.drawn < 4 * CANDIDATES


@pytest.mark.parametrize(
    ("n_attributes", "n_values", "n_groups", "n_classes"),
    [(25, 32, 32, 2), (16, 32, 32, 20), (25, 700, 20, 2)],
)
def test_a_selection_is_not_too_long_for_a_curator_at_an_address(
    n_attributes, n_values, n_groups, n_classes
):
    """It would be refused there, after the first counts were paid for."""
    schema = schema_of(*[n_values] * n_attributes, n_classes=n_classes)
    groups = tuple(np.arange(n_values) * n_groups // n_values for _ in range(n_attributes))
    alone = tuple(np.full((n_groups, n_classes), 1e8) for _ in range(n_attributes))
    known = Known(schema, groups, alone)
    cuts = list_candidates(known, [], 1.0, seeded(2))
    assert len(cuts) > 20
    partitions = [known.partition(cut) for cut in cuts]
    expected = [np.rint(known.expected(cut)).astype(np.int64) for cut in cuts]
    asked = {**question_to(Question(tuple(partitions))), **expected_to(expected, [0] * len(cuts))}
    assert len(json.dumps(asked, separators=(",", ":"))) < Limits().body


def test_a_pair_that_is_too_long_alone_is_left_out():
    known = known_of(2, 2, 3)
    long = Known(known.schema, known.groups, known.alone)
    object.__setattr__(long, "groups", (*known.groups[:2], np.arange(LONGEST) % 3))
    assert [cut.pair for cut in list_candidates(long, [], 1.0, seeded(2))] == [(0, 1)]


class TestTables:
    """Sizes differ, so that a table the wrong way round would not fit, or not be right."""

    known = Known(
        schema_of(3, 5, 2),
        (np.array([1, 0, 1]), np.array([0, 1, 2, 0, 1]), np.array([0, 1])),
        (
            np.array([[10.0, 30.0], [40.0, 20.0]]),
            np.array([[5.0, 15.0], [25.0, 25.0], [20.0, 10.0]]),
            np.array([[25.0, 40.0], [25.0, 10.0]]),
        ),
    )

    def test_partitions_count_groups_in_the_order_of_what_is_expected(self):
        rng = np.random.default_rng(1)
        codes = [rng.integers(0, size, 500) for size in (3, 5, 2)]
        classes = rng.integers(0, 2, 500)
        columns = {f"a{i}": [f"v{code}" for code in column] for i, column in enumerate(codes)}
        frame = pd.DataFrame({**columns, "c": [f"c{c}" for c in classes]})
        curator = Curator(frame, self.known.schema, Budget(1), public=True)
        for a, b in ((0, 1), (1, 2), (0, 2), (2, 1)):
            cut = self.known.cut((a, b), 0.5)
            answer = curator.count(Question((self.known.partition(cut),)), float("inf"))
            groups = self.known.groups
            sizes = (groups[a].max() + 1, groups[b].max() + 1, 2)
            brute = np.zeros(sizes, dtype=int)
            np.add.at(brute, (groups[a][codes[a]], groups[b][codes[b]], classes), 1)
            assert answer.tables[0].tolist() == brute.reshape(-1, 2).tolist()

    def test_expected_counts_are_products_within_a_class(self):
        assert self.known.classes == pytest.approx([50.0, 50.0])
        found = self.known.expected(self.known.cut((0, 1), 0.5)).reshape(2, 3, 2)
        for i, j, c in np.ndindex(2, 3, 2):
            assert found[i, j, c] == pytest.approx(
                self.known.alone[0][i, c] * self.known.alone[1][j, c] / 50
            )
        other = self.known.expected(self.known.cut((1, 0), 0.5)).reshape(3, 2, 2)
        assert other == pytest.approx(found.transpose(1, 0, 2))

    def test_parts_are_counted_as_their_groups_together(self):
        rng = np.random.default_rng(2)
        rows = rng.integers(20, 90, (6, 2)).astype(float)
        schema = Schema({"n": Numeric(0, 6, bins=6), "m": Numeric(0, 6, bins=6)}, "c", ["c0", "c1"])
        known = Known(schema, (np.arange(6),) * 2, (rows, rows[::-1]))
        cut = known.cut((0, 1), rows.sum() / 2 / CLEAR / 9.5)  # nine cells stand out
        assert cut.sizes == (3, 3)
        assert (np.diff(cut.parts[0]) >= 0).all()
        whole = Cut((0, 1), (np.arange(6), np.arange(6)))
        fine = known.expected(whole).reshape(6, 6, 2)
        coarse = np.zeros((3, 3, 2))
        for i, j in np.ndindex(6, 6):
            coarse[cut.parts[0][i], cut.parts[1][j]] += fine[i, j]
        assert known.expected(cut) == pytest.approx(coarse.reshape(9, 2))


def rows_of(n_rows: int, *, dependent: bool, seed: int = 3) -> tuple[pd.DataFrame, Known]:
    """Attributes of unlike sizes; the second and fourth depend on each other where asked for,
    within each class.
    """
    rng = np.random.default_rng(seed)
    sizes = (2, 3, 4, 5)
    codes = [rng.integers(0, size, n_rows) for size in sizes]
    if dependent:
        codes[3] = np.where(rng.random(n_rows) < 0.5, codes[1], codes[3])
    classes = rng.integers(0, 2, n_rows)
    columns = {f"a{i}": [f"v{code}" for code in column] for i, column in enumerate(codes)}
    frame = pd.DataFrame({**columns, "c": [f"c{c}" for c in classes]})
    alone = []
    for size, column in zip(sizes, codes, strict=True):
        table = np.zeros((size, 2))
        np.add.at(table, (column, classes), 1.0)
        alone.append(table)
    return frame, Known(schema_of(*sizes), tuple(np.arange(size) for size in sizes), tuple(alone))


@pytest.mark.parametrize("dependent", [True, False])
def test_the_dependent_pair_is_chosen_and_otherwise_it_stops(dependent):
    frame, known = rows_of(4000, dependent=dependent)
    curator = Curator(frame, known.schema, Budget(100))
    cuts = list_candidates(known, [], 20.0, SystemBits())
    assert len(cuts) == 6
    pair, choice = choose_pair(curator, known, cuts, 20.0, 10)
    assert pair == ((1, 3) if dependent else None)
    assert choice.row_cost.epsilon == curator.spent.epsilon == 10


def test_noise_that_would_hide_a_pair_is_held_against_it():
    frame, known = rows_of(4000, dependent=True)
    curator = Curator(frame, known.schema, Budget(100))
    # 30 numbers of deviation 500 against 2000 rows out of place
    cut = Cut((1, 3), (np.arange(3), np.arange(5)))
    pair, _ = choose_pair(curator, known, [cut], 500.0, 10)
    assert pair is None


def test_among_pairs_that_say_nothing_it_stops():
    """The noise of a selection makes one of many look good."""
    known = known_of(*[2] * 20, rows=4000.0)
    rng = np.random.default_rng(5)
    columns = {f"a{i}": [f"v{code}" for code in rng.integers(0, 2, 4000)] for i in range(20)}
    frame = pd.DataFrame({**columns, "c": [f"c{c}" for c in rng.integers(0, 2, 4000)]})
    curator = Curator(frame, known.schema, Budget(100), bits=seeded(3))
    cuts = list_candidates(known, [], 20.0, SystemBits())
    found = [choose_pair(curator, known, cuts, 20.0, F(1, 200))[0] for _ in range(12)]
    assert found.count(None) >= 6  # without what stopping is ahead, one in a hundred
