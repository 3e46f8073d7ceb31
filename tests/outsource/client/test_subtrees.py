"""Trees as texts: they read back, their length depends on the number of rows alone, and one that is
too large is cut.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from privet.domain import Categorical, Schema
from privet.domain.encode.rows import encode
from privet.domain.tree import Tree
from privet.errors import SealError
from privet.learners.baselines import grow_c45
from privet.outsource.client.subtrees import (
    TrueRows,
    learn,
    pad_tree,
    predict_classes,
    room_for,
    unpad_tree,
)
from tests.outsource.people import SCHEMA, people


def rows(n: int, seed: int = 0, aside: float = 0.2) -> TrueRows:
    encoded = encode(SCHEMA, people(n, seed))
    return TrueRows(
        1, encoded.codes, encoded.classes, np.random.default_rng(seed).random(n) < aside
    )


@given(
    st.integers(1, 300),
    st.integers(0, 50),
    st.sampled_from(["multiway", "binary"]),
    st.sampled_from([0.0, 0.2, 1.0]),
)
def test_a_tree_reads_back_from_a_text_of_one_length(n, seed, splits, aside):
    given_rows = rows(n, seed, aside)
    tree = learn(SCHEMA, given_rows, splits)
    text = pad_tree(tree, n)
    assert len(text) == room_for(SCHEMA, n)
    read = unpad_tree(SCHEMA, text)
    assert read.n_nodes == tree.n_nodes
    assert predict_classes(read, given_rows.codes) == predict_classes(tree, given_rows.codes)


def test_lengths_are_powers_of_two_and_grow_with_the_rows():
    lengths = [room_for(SCHEMA, n) for n in (1, 500, 512, 513, 1024, 5000)]
    assert lengths == [1024, 1024, 1024, 2048, 2048, 16384]


def test_a_tree_that_is_too_large_is_cut_to_fewer_levels():
    """Noise that a tree without pruning learns by heart: it does not fit, and what is left is its
    upper part.
    """
    attributes = {f"a{i}": Categorical(list(range(40))) for i in range(6)}
    schema = Schema(attributes, "c", [0, 1, 2])
    rng = np.random.default_rng(0)
    codes = [rng.integers(0, 40, 3000) for _ in range(6)]
    tree = grow_c45(schema, codes, rng.integers(0, 3, 3000), min_rows=1)
    text = pad_tree(tree, 3000)
    assert len(text) == room_for(schema, 3000)
    cut = unpad_tree(schema, text)
    assert 1 < cut.n_nodes < tree.n_nodes
    assert (cut.cells.attribute[0], cut.counts[0].tolist()) == (
        tree.cells.attribute[0],
        tree.counts[0].tolist(),
    )
    assert cut.depths.max() < tree.depths.max()


def test_a_tree_without_a_test_always_fits():
    """However many classes there are, and however large their counts."""
    schema = Schema({"a": Categorical([0, 1])}, "c", list(range(60_000)))
    tree = grow_c45(schema, [np.zeros(1, dtype=np.int64)], np.zeros(1, dtype=np.int64), max_depth=0)
    loud = Tree(tree.cells, np.random.default_rng(0).integers(0, 2**52, (1, 60_000)).astype(float))
    assert unpad_tree(schema, pad_tree(loud, 1)).counts.tolist() == loud.counts.tolist()


@given(st.binary(max_size=3000))
def test_no_other_text_is_a_tree(text):
    with pytest.raises(SealError):
        unpad_tree(SCHEMA, text)
