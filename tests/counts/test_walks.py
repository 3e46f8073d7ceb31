"""Walks of a fixed number of steps end where trees end, on one core and on all."""

import numpy as np
import pytest

from privet.cells import Cells, Split
from privet.counts.walks import add_scores, in_parts, walk_of
from privet.schema import Categorical, Schema
from privet.tree import Tree

SCHEMA = Schema({f"a{i}": Categorical([str(v) for v in range(3)]) for i in range(3)}, "y", ["0", "1"])


def uneven() -> Cells:
    cells = Cells.everything(SCHEMA).refine({0: Split.multiway(SCHEMA, "a1")})
    return cells.refine({1: Split.value(SCHEMA, "a0", 2)}).refine({2: Split.multiway(SCHEMA, "a2")})


@pytest.mark.parametrize("cells", [Cells.everything(SCHEMA), uneven()], ids=["a leaf", "leaves at several depths"])
@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_scores_are_those_of_the_node_that_a_row_ends_in(cells, kind):
    rng = np.random.default_rng(0)
    tree = Tree(cells, rng.normal(size=(len(cells.attribute), 2)))
    codes = rng.integers(0, 3, (3, 500)).astype(kind)
    total = np.ones((500, 2))
    add_scores(codes, 100, 400, walk_of(tree), total)
    expected = np.ones((500, 2))
    expected[100:400] += tree.counts[tree.reach(list(codes))][100:400]
    assert (total == expected).all()


@pytest.mark.parametrize("n_rows", [0, 1, 300_001])
def test_parts_are_every_row_once(n_rows, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    seen = np.zeros(n_rows, dtype=int)

    def work(low: int, high: int) -> None:
        seen[low:high] += 1

    in_parts(n_rows, 2, work)
    assert (seen == 1).all()
