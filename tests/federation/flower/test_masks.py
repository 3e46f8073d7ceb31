"""Masks come from whole seeds. The first test documents why: it fails when Flower no longer needs
this.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from flwr.common.secure_aggregation.secaggplus_utils import pseudo_rand_gen
from scipy import stats

from privet.errors import MissingDependency
from privet.federation.flower import encoding
from privet.federation.flower.encoding import expand

MODULES = (
    "flwr.client.mod.secure_aggregation.secaggplus_mod",
    "flwr.server.workflow.secure_aggregation.secaggplus_workflow",
)
SEED, SAME_FOLD = bytes(range(32)), bytes(range(4, 8)) + bytes(range(4)) + bytes(range(8, 32))
SHAPES = [(1,), (40, 3)]


def test_flower_itself_keeps_32_bits_of_a_seed():
    """Two of the 2**256 seeds with one mask: all there is to guess is 32 bits."""
    ours, theirs = (pseudo_rand_gen(seed, 1 << 32, SHAPES) for seed in (SEED, SAME_FOLD))
    assert all((a == b).all() for a, b in zip(ours, theirs, strict=True))


def test_the_check_in_the_decision_runs():
    """A maintainer may paste it into a report: it must show what it says."""
    decision = Path(__file__).parents[3] / "docs/decisions/014-whole-seeds-for-masks.md"
    (code,) = re.findall(r"> ```python\n(.*?)> ```", decision.read_text(), re.DOTALL)
    exec(re.sub(r"^> ?", "", code, flags=re.MULTILINE), {})


def test_whole_seeds_count():
    first, second, again = (
        expand(SEED, 1 << 32, SHAPES),
        expand(SAME_FOLD, 1 << 32, SHAPES),
        expand(SEED, 1 << 32, SHAPES),
    )
    assert [mask.shape for mask in first] == SHAPES
    assert all(mask.dtype == np.int64 for mask in first)
    assert (first[1] != second[1]).all()
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    flipped = bytes([SEED[0] ^ 1]) + SEED[1:]
    assert (first[1] != expand(flipped, 1 << 32, SHAPES)[1]).all()


def test_masks_are_uniform_over_all_of_the_modulus():
    (mask,) = expand(SEED, 1 << 4, [(160_000,)])
    assert stats.chisquare(np.bincount(mask, minlength=16)).pvalue > 1e-6
    (wide,) = expand(SEED, 1 << 32, [(100_000,)])
    assert stats.kstest(wide / 2**32, "uniform").pvalue > 1e-6


@pytest.mark.parametrize("modulus", [0, 1, 3, (1 << 32) - 1, 1 << 63])
def test_only_powers_of_two(modulus):
    with pytest.raises(ValueError, match="num_range must be a power of two"):
        expand(SEED, modulus, [(1,)])


def test_both_sides_use_them(monkeypatch):
    for name in MODULES:
        monkeypatch.setattr(import_module(name), "pseudo_rand_gen", pseudo_rand_gen)
    encoding.install()
    assert all(import_module(name).pseudo_rand_gen is expand for name in MODULES)


def test_a_flower_that_is_built_differently_is_refused(monkeypatch):
    monkeypatch.delattr(import_module(MODULES[1]), "pseudo_rand_gen")
    with pytest.raises(MissingDependency, match=r"flwr>=1.41,<1.42"):
        encoding.install()
