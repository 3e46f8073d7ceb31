"""Scores that are kept from question to question: those of all trees, bit by bit."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from privet import Curator
from privet.accounting.cost import Budget
from privet.domain.space import TreeSpace
from privet.learners import PrivetClassifier
from privet.tables.counting import kept_scores
from privet.tables.counting.kept_scores import KeptScores
from privet.tables.counting.passes import NO_WEIGHTS
from privet.tables.counting.row_sums import WeightedTables
from privet.tables.counting.scoring import Scoring
from privet.tables.memory import MemoryTable
from tests.tables.test_scoring import random_rows, random_trees, schema_of

SCHEMA = schema_of(3, 3, 4, 2)


def blocks(n: int = 2):
    for number in range(n):
        codes, classes = random_rows(SCHEMA, 100 + number, seed=number)
        yield codes, classes, NO_WEIGHTS


def check(kept: KeptScores, scoring: Scoring, last: int = 1) -> None:
    settled = max(len(scoring) - last, 0)
    found = [scores for *_, scores in kept.score(scoring, blocks(), settled)]
    for scores, (codes, *_) in zip(found, blocks(), strict=True):
        np.testing.assert_array_equal(scores, scoring.scores(codes))


def test_any_order_of_questions_has_the_same_scores():
    a, b, c, d, e = random_trees(SCHEMA, 5)
    kept = KeptScores()
    for trees in (
        [],
        [a],
        [a, b],
        [a, b, c],  # the last one is other than before, then two are more
        [a, b, d],
        [a, b, d, c, e],
        [b, a, d, c, e],
        [b],
        [b, a, d, c, a],
        [a, b],
        [],
    ):
        for last in (0, 1, 2):
            check(kept, Scoring(SCHEMA, trees), last)


def test_only_what_is_new_is_walked(monkeypatch):
    trees, walked = random_trees(SCHEMA, 6), []
    add_scores = Scoring.add_scores

    def count(self, codes, total, first, last):
        walked.append(last - first)
        add_scores(self, codes, total, first, last)

    monkeypatch.setattr(Scoring, "add_scores", count)
    kept = KeptScores()
    for n in range(1, 7):  # as a fit asks: for a draw, then for the leaves of what was drawn
        list(kept.score(Scoring(SCHEMA, trees[:n]), blocks(1), n))
        list(kept.score(Scoring(SCHEMA, [*trees[:n], trees[0]]), blocks(1), n))
    assert sum(walked) == 2 * len(trees)


def test_a_walk_that_was_interrupted_leaves_nothing_wrong(monkeypatch):
    trees = random_trees(SCHEMA, 4)
    kept = KeptScores()
    check(kept, Scoring(SCHEMA, trees[:2]))
    add_scores = Scoring.add_scores

    def fail(self, codes, total, first, last):
        add_scores(self, codes, total, first, last)
        raise KeyboardInterrupt

    monkeypatch.setattr(Scoring, "add_scores", fail)
    with pytest.raises(KeyboardInterrupt):
        list(kept.score(Scoring(SCHEMA, trees), blocks(), 3))
    monkeypatch.undo()
    check(kept, Scoring(SCHEMA, trees))


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(kept_scores, "MOST_BYTES", 3 * 100 * 8)  # the first block
    kept = KeptScores()
    for n in (2, 3, 4):
        check(kept, Scoring(SCHEMA, random_trees(SCHEMA, n)))
    assert len(kept._blocks) == 1


def test_two_threads_do_not_meet():
    one, other = (Scoring(SCHEMA, random_trees(SCHEMA, 3, seed)) for seed in (1, 2))
    kept, expected = KeptScores(), [one.scores(codes) for codes, *_ in blocks()]
    reading = kept.score(one, blocks(), 2)
    first = next(reading)[3]
    thread = threading.Thread(target=check, args=(kept, other))
    thread.start()
    thread.join()
    for scores, right in zip([first, *(rows[3] for rows in reading)], expected, strict=True):
        np.testing.assert_array_equal(scores, right)


def test_scores_go_with_the_snapshot_and_change_no_model():
    codes, classes = random_rows(SCHEMA, 400)
    frame = {f"a{a}": line for a, line in enumerate(codes)} | {"c": classes}
    source = MemoryTable(frame).source(SCHEMA)
    with source.snapshot(), source.snapshot():
        sums = WeightedTables(
            Scoring(SCHEMA, random_trees(SCHEMA, 3)), TreeSpace(SCHEMA, 1).atoms, [()]
        )
        one, other = source.sum_rows(sums), source.sum_rows(sums)
        assert source._scores._kept is not None
        assert one.tolist() == other.tolist()
    assert source._scores._kept is None
    curator = Curator(frame, SCHEMA, Budget(10))
    PrivetClassifier(5).fit_from(curator)
    assert curator._source._scores._kept is None
