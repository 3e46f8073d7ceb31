"""Whole trees that are drawn at once: the law over all labelled trees of a tiny space, for all tiny
tables and all of their neighbours.

The program that draws is run node by node. What a node draws from is found by trying words: the
outcome only grows with the word, so that a few words tell, to the last of 64 bits, where one
outcome ends and the next begins.
"""

from __future__ import annotations

from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from privet.accounting.cost import Budget
from privet.curator import Curator
from privet.domain import Categorical, Schema
from privet.domain.cells import Cells, Split
from privet.domain.space import TreeSpace
from privet.mechanisms.gibbs import draw
from privet.mechanisms.gibbs.draw import exact_draw
from tests.exact.bounds import check, exp_bounds
from tests.exact.enumeration import Law, law_of
from tests.exact.tables import added, all_rows, columns, replaced

EPSILON = F(1)
SCHEMA = Schema({"a": Categorical(["x", "y"]), "b": Categorical(["u", "v"])}, "class", ["n", "p"])
SPLITS = [Split.multiway(SCHEMA, name) for name in SCHEMA.names]
WORDS = 1 << 64


class Word:
    """One word, and then others that are always the same."""

    private = False

    def __init__(self, first: int) -> None:
        self._next = first

    def words(self, count: int) -> np.ndarray:
        assert count == 1
        word, self._next = self._next, 1 << 63
        return np.array([word], dtype=np.uint64)


@cache
def weights_of(whole: bytes, unit: float, rest: bytes) -> tuple[int, ...]:
    """How many of the 2**64 words lead to each outcome of a draw. A word in which the next ones
    decide is counted with one of the two.
    """
    numbers, logs = np.frombuffer(whole, dtype=np.int64), np.frombuffer(rest)

    def outcome(word: int) -> int:
        return exact_draw(Word(word), numbers, unit, logs)

    about = np.cumsum(np.exp(unit * (numbers - numbers.max()) + logs))
    edges = [0]
    for index in range(len(numbers) - 1):
        guess = int(about[index] / about[-1] * float(WORDS))
        # where it is, most likely; and if not:
        low, high = max(guess - (1 << 16), 0), min(guess + (1 << 16), WORDS - 1)
        low = low if outcome(low) <= index else 0
        high = high if outcome(high) > index else WORDS
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if outcome(middle) <= index else (low, middle)
        edges.append(low)
    return tuple(end - start for start, end in zip(edges, [*edges[1:], WORDS], strict=True))


def enumerated_draw(bits, whole, unit, rest):
    weights = weights_of(
        np.ascontiguousarray(whole, dtype=np.int64).tobytes(),
        unit,
        np.ascontiguousarray(rest, dtype=float).tobytes(),
    )
    # so that a word more or less changes no chance by more than 2**-52 of it
    assert min(weights) > WORDS >> 12
    return bits.paths.choose(weights)


def shape(drawn, node=0):
    """A labelled tree: the label of a node, the attribute of its test, and what is below."""
    cells, a, label = drawn.cells, int(drawn.cells.attribute[node]), int(drawn.labels[node])
    if a < 0:
        return (label,)
    below = cells.branch[cells.offset[node] : cells.offset[node] + cells.schema.sizes[a]].tolist()
    return (label, a, *(shape(drawn, child) for child in below))


class Laws:
    """For each table: the law over all trees, from the program that the curator would draw with."""

    def __init__(self, depth: int, patch: pytest.MonkeyPatch) -> None:
        self._space, self._known = TreeSpace(SCHEMA, depth, SPLITS, SPLITS), {}
        self._draw, self._programs = draw.Gibbs.draw, []
        patch.setattr(draw, "exact_draw", enumerated_draw)
        patch.setattr(
            draw.Gibbs, "draw", lambda program, bits: self._programs.append(program) or _nothing()
        )

    def __call__(self, table) -> Law:
        if table not in self._known:
            Curator(columns(SCHEMA, table), SCHEMA, Budget(9)).draw_tree(self._space, EPSILON)
            program = self._programs.pop()
            self._known[table] = law_of(lambda bits: shape(self._draw(program, bits)))
            assert self._known[table].rest == 0
        return self._known[table]

    def worst(self, pairs, epsilon: F) -> F:
        return max(check(self(one), self(other), epsilon) for one, other in pairs)


def _nothing() -> draw.LabelledTree:
    return draw.LabelledTree(Cells.everything(SCHEMA), np.zeros(1, dtype=np.int64))


def test_trees_of_depth_one_of_all_tiny_tables(monkeypatch):
    """One row added to at most one other, or replaced by another one."""
    laws = Laws(1, monkeypatch)
    rows = all_rows(SCHEMA)
    worst = laws.worst(added(rows, 1), EPSILON)
    assert worst > exp_bounds(EPSILON / 2)[0]  # what is paid for is used
    laws.worst(replaced(rows, 0), 2 * EPSILON)
    # no test; or one of two, with two labels above and two below each
    assert len(laws(()).low) == 2 + 2 * 2 * 4


@pytest.mark.slow
def test_trees_of_depth_two_of_all_tiny_tables(monkeypatch):
    laws = Laws(2, monkeypatch)
    rows = all_rows(SCHEMA)
    assert laws.worst(added(rows, 1), EPSILON) > exp_bounds(EPSILON / 2)[0]
    laws.worst(replaced(rows, 1), 2 * EPSILON)
    assert len(laws(()).low) == 2 + 2 * 2 * (2 + 2 * 4) ** 2


@pytest.mark.slow
def test_trees_of_depth_one_of_three_rows(monkeypatch):
    laws = Laws(1, monkeypatch)
    rows = all_rows(SCHEMA)
    laws.worst(added(rows, 2), EPSILON)
    laws.worst(replaced(rows, 1), 2 * EPSILON)


def test_words_lead_to_outcomes_as_their_chances_say():
    """exp(0), exp(1/2) and exp(-1/4) in three draws, to 60 binary digits."""
    whole, rest = np.array([0, 1, 0]), np.array([0.0, 0.25, -0.25])
    weights = weights_of(whole.tobytes(), 0.25, rest.tobytes())
    bounds = [exp_bounds(F(x)) for x in (F(0), F(1, 2), F(-1, 4))]
    assert sum(weights) == WORDS
    for weight, (low, high) in zip(weights, bounds, strict=True):
        least, most = low / sum(b for _, b in bounds), high / sum(a for a, _ in bounds)
        assert least - F(1, 1 << 60) < F(weight, WORDS) < most + F(1, 1 << 60)
