"""Compiled loops and plain NumPy say the same, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from privet.domain import routing
from tests.report.models import COMBINE, SCHEMA, merged_model, random_schema, small_model


def some_codes(schema, n, seed):
    """Also codes that nobody knows."""
    draw = np.random.default_rng(seed)
    return [
        draw.integers(0, size + 2, n).astype(np.uint16 if number % 2 else np.uint8)
        for number, size in enumerate(schema.sizes)
    ]


def both_ways(model, codes, monkeypatch):
    found = []
    for many in (0, 10**12):
        monkeypatch.setattr(routing, "MANY", many)
        found.append(replace(model).probabilities(codes))
    return found


@pytest.mark.parametrize("combine", COMBINE)
def test_every_way_to_combine(combine, monkeypatch):
    model = small_model(combine=combine)
    compiled, plain = both_ways(model, some_codes(SCHEMA, 30_000, 1), monkeypatch)
    np.testing.assert_array_equal(compiled, plain)


@pytest.mark.parametrize("seed", range(20))
def test_random_trees(seed, monkeypatch):
    from privet.domain.tree import Tree
    from privet.learners.random_trees.drawing import draw_tree
    from privet.mechanisms.randomness import SystemBits

    draw = np.random.default_rng(seed)
    schema = random_schema(draw)
    forest = [
        draw_tree(schema, int(draw.integers(1, 5)), SystemBits())
        for _ in range(int(draw.integers(1, 6)))
    ]
    trees = tuple(
        Tree.from_leaves(cells, draw.normal(5, 10, (cells.n_cells, schema.n_classes)))
        for cells in forest
    )
    model = replace(small_model(), schema=schema, trees=trees, combine="probabilities")
    compiled, plain = both_ways(
        model, some_codes(schema, int(draw.integers(0, 25_000)), seed), monkeypatch
    )
    np.testing.assert_array_equal(compiled, plain)


def test_merged_models(monkeypatch):
    compiled, plain = both_ways(merged_model(), some_codes(SCHEMA, 20_001, 5), monkeypatch)
    np.testing.assert_array_equal(compiled, plain)
