"""Walks of a fixed number of steps end where trees end, on one core and on all."""

import numpy as np
import pytest

from privet.cells import Cells, Split
from privet.counts.walk_loops import add_scores
from privet.counts.walks import BLOCK, in_parts, walks_of
from privet.schema import Categorical, Schema
from privet.tree import Tree

SCHEMA = Schema(
    {f"a{i}": Categorical([str(v) for v in range(3)]) for i in range(3)}, "y", ["0", "1"]
)


def uneven() -> Cells:
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a1")})
    return cells.refine({1: Split.value(SCHEMA, "a0", 2)}).refine({2: Split.multiway(SCHEMA, "a2")})


@pytest.mark.parametrize(
    "forest",
    [[Cells.everything(SCHEMA)], [uneven()], [uneven(), Cells.everything(SCHEMA), uneven()]],
)
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_scores_are_those_of_the_node_that_a_row_ends_in(forest, kind):
    rng = np.random.default_rng(0)
    trees = [Tree(cells, rng.normal(size=(len(cells.attribute), 2))) for cells in forest]
    n = 2 * BLOCK + 500
    codes = rng.integers(0, 3, (3, n)).astype(kind)
    total, expected = np.ones((n, 2)), np.ones((n, 2))
    scores = np.concatenate([tree.counts[tree.cells.attribute < 0] for tree in trees])
    add_scores(codes, 100, n - 100, *walks_of(forest), scores, total)
    for tree in trees:  # one after the other: the same numbers, bit for bit
        expected[100 : n - 100] += tree.counts[tree.reach(list(codes))][100 : n - 100]
    assert (total == expected).all()


@pytest.mark.parametrize("n_rows", [0, 1, 300_001])
def test_parts_are_every_row_once(n_rows, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    seen = np.zeros(n_rows, dtype=int)

    def work(low: int, high: int) -> None:
        seen[low:high] += 1

    in_parts(n_rows, 2, work)
    assert (seen == 1).all()
