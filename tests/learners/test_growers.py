"""Greedy trees and noisy ID3: what they ask, what it costs, and that noise-free they do the right
thing.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pandas as pd
import pytest

from privet import datasets
from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Numeric, Schema
from privet.learners import GreedyTreeClassifier, NoisyID3Classifier
from privet.learners.greedy import grow_greedy, split_candidates, split_epsilon
from privet.learners.noisy_id3 import count_rounds, grow_noisy_id3
from privet.mechanisms.randomness import SeededBits, unlock_test_seeds

NURSERY = datasets.load("nursery")
SCHEMA = NURSERY.schema.declare(n_rows=12960)


def curator(**options) -> Curator:
    return Curator(NURSERY.table, SCHEMA, Budget(1), **options)


@pytest.mark.parametrize(("attributes", "full"), [(8, 36), (16, 136), (22, 253)])
def test_a_full_id3_tree_takes_k_times_k_plus_1_half_rounds(attributes, full):
    assert count_rounds(attributes, attributes) == full
    assert count_rounds(attributes, 2) == 2 * attributes - 1


def test_noisy_id3_pays_a_level_by_its_unused_attributes():
    ledger = curator()
    _, _, charges = grow_noisy_id3(ledger, F(1), max_depth=2)
    assert [charge.cost.epsilon for charge in charges] == [F(8, 15), F(7, 15)]
    assert [entry.cost.epsilon for entry in ledger.ledger.entries()] == [F(8, 15), F(7, 15)]
    # A round of each attribute: its noise has the scale of one round, not of a level.
    assert ledger.ledger.entries()[0].what.startswith("class counts: 8 partitions")


def test_noisy_id3_without_noise_is_id3():
    from experiments.papers.exact import grow_id3
    from privet.domain.encode.rows import encode

    exact = Curator(NURSERY.table, SCHEMA, Budget(1), public=True)
    tree, deviation, charges = grow_noisy_id3(exact, None, max_depth=3)
    encoded = encode(SCHEMA, NURSERY.table)
    reference = grow_id3(SCHEMA, encoded.codes, encoded.classes, max_depth=3)
    assert deviation == 0
    assert all(charge.cost.epsilon == 0 for charge in charges)
    ours, theirs = (t.counts[t.reach(encoded.codes)].argmax(axis=1) for t in (tree, reference))
    np.testing.assert_array_equal(ours, theirs)


def test_noisy_id3_stops_where_counts_would_drown_in_noise():
    with unlock_test_seeds():
        noisy = curator(bits=SeededBits(1))
    tree, _, charges = grow_noisy_id3(noisy, F(1, 100))
    assert tree.n_nodes == 1
    assert len(charges) == 1


def test_greedy_asks_a_selection_per_level_and_counts_at_the_end():
    ledger = curator()
    grown = grow_greedy(ledger, "max", split_epsilon("even", F(1), 3))
    asked = [(entry.what.split(":")[0], entry.cost.epsilon) for entry in ledger.ledger.entries()]
    assert asked == [("private selection", F(1, 6))] * 3 + [("class counts", F(1, 2))]
    assert len(grown.cells) == 8
    assert grown.leaf_counts.shape == (8, 5)


def test_the_thesis_schedule_counts_every_level():
    ledger = curator()
    grow_greedy(ledger, "max", split_epsilon("thesis", F(1), 2), min_rows=5)
    assert [entry.cost.epsilon for entry in ledger.ledger.entries()] == [F(1, 5)] * 5


def test_stopping_rules_look_at_noisy_counts():
    """A node that is too small, or of one class, is not split; its level is not asked about it."""
    pure = pd.DataFrame(
        {"a": ["x", "y"] * 300, "b": ["u", "u", "v", "v"] * 150, "c": ["n", "p"] * 300}
    )
    schema = Schema(
        {"a": Categorical(["x", "y"]), "b": Categorical(["u", "v"])}, "c", ["n", "p"], n_rows=600
    )
    exact = Curator(pure, schema, Budget(1), public=True)
    grown = grow_greedy(exact, "max", split_epsilon("thesis", None, 2))
    assert len(grown.cells) == 2  # a tells everything: both children are pure
    small = Curator(pure, schema, Budget(1), public=True)
    assert len(grow_greedy(small, "max", split_epsilon("thesis", None, 2), min_rows=600).cells) == 1
    # no counts, no such rule
    assert len(grow_greedy(small, "max", split_epsilon("even", None, 2), min_rows=600).cells) == 4


def test_stopping_rules_look_at_nothing_else():
    """Where noise has made all counts zero nothing is split, whatever the rows are."""

    class Zeros:
        """A curator whose counts all came out as zero."""

        def __init__(self, curator: Curator) -> None:
            self._curator = curator

        def count(self, *question):
            answer = self._curator.count(*question)
            return replace(answer, tables=tuple(np.zeros_like(table) for table in answer.tables))

        def __getattr__(self, name):
            return getattr(self._curator, name)

    assert len(grow_greedy(Zeros(curator()), "max", split_epsilon("thesis", F(1), 2)).cells) == 1
    assert len(grow_greedy(curator(), "max", split_epsilon("thesis", F(1), 2)).cells) > 1


def test_candidates_are_all_splits_that_separate_what_is_still_possible():
    schema = Schema(
        {
            "a": Categorical(["x", "y", "z"]),
            "n": Numeric(0, 4, bins=4),
            "b": Categorical(["u", "v"]),
        },
        "c",
        ["n", "p"],
    )
    everything = tuple(frozenset(range(size)) for size in schema.sizes)
    found = [
        (split.attribute, split.branch) for split in split_candidates(schema, everything, "binary")
    ]
    assert found[:3] == [("a", (1, 0, 0)), ("a", (0, 1, 0)), ("a", (0, 0, 1))]
    assert found[3:] == [
        ("n", (0, 1, 1, 1)),
        ("n", (0, 0, 1, 1)),
        ("n", (0, 0, 0, 1)),
        ("b", (0, 1)),
    ]
    narrowed = (frozenset({0, 2}), frozenset({1, 2}), frozenset({1}))
    found = [
        (split.attribute, split.branch) for split in split_candidates(schema, narrowed, "binary")
    ]
    assert found == [("a", (0, 0, 1)), ("n", (0, 0, 1, 1))]
    assert [s.attribute for s in split_candidates(schema, everything, "multiway")] == [
        "a",
        "n",
        "n",
        "n",
        "b",
    ]


def test_a_greedy_tree_without_noise_finds_the_rule():
    monks = datasets.load("monks1")
    learner = GreedyTreeClassifier(
        math.inf, monks.schema.declare(n_rows=432), criterion="gini", max_depth=6, shrink=0
    )
    assert (learner.fit(monks.X, monks.y).predict(monks.X) == monks.y).mean() > 0.85
    exact = NoisyID3Classifier(math.inf, monks.schema)
    assert (exact.fit(monks.X, monks.y).predict(monks.X) == monks.y).mean() == 1
