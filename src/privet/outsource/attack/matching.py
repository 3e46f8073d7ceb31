"""Compute how likely each row of a group is to own each value, over all ways to match them.

Every way to give each row an entry of its own is as likely as any other beforehand. A way then has
the weight prod_r P(x_r | value of r), and the probability of a candidate is the weight of the ways
that hold it over the weight of all ways: a ratio of permanents. Entries of one value need not be
told apart, so the ways are counted by how many entries of each value the first rows have taken;
that is exact, and small where values repeat.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from privet._types import Floats
from privet.outsource.attack.groups import Block, CandidateGroups

#: Groups with more states than this are balanced instead: 9 distinct values have 512 states, 12
#: have 4096.
MAX_STATES = 512
#: The same for the last time, when exact probabilities are worth waiting for.
MAX_STATES_AT_LAST = 4096
_AT_ONCE = 1 << 18
_SWEEPS, _CLOSE = 100, 1e-4

Places = npt.NDArray[np.intp]
Matching = Callable[[tuple[int, ...], Floats], tuple[Floats, Floats]]


def match_all(
    groups: CandidateGroups, weights: Floats, *, max_states: int = MAX_STATES
) -> tuple[Floats, float]:
    """Return the probability of every candidate, and the log weight of all matchings.

    The log weight is of all groups.
    """
    probabilities, total = np.empty(len(weights)), 0.0
    for block in groups:
        probability, log_weight = match(block, block.of(weights), max_states=max_states)
        probabilities[block.start : block.stop] = probability.ravel()
        total += log_weight
    return probabilities, total


def match(block: Block, weights: Floats, *, max_states: int = MAX_STATES) -> tuple[Floats, float]:
    """Return the probability of each candidate of a block, and the log weight of all matchings.

    The log weight is summed over the block's groups.

    Args:
        block: groups of one shape.
        weights: log P(x_r | v), by group, row and value.
        max_states: groups with more states are balanced instead.
    """
    if len(block.counts) == 1:
        return np.ones(block.shape), float(weights.sum())
    if block.n_rows == 2 and block.counts == (1, 1):
        return _match_pairs(weights)
    if n_states(block.counts) > max_states:
        return _apply_in_parts(block, weights, balance_matchings, block.n_rows * len(block.counts))
    return _apply_in_parts(block, weights, count_matchings, n_states(block.counts))


def n_states(counts: tuple[int, ...]) -> int:
    """Return how many different amounts of each value can have been taken."""
    return math.prod(count + 1 for count in counts)


def _apply_in_parts(
    block: Block, weights: Floats, function: Matching, width: int
) -> tuple[Floats, float]:
    """A function of many groups, on as many at once as fit into memory."""
    step, probabilities, total = max(1, _AT_ONCE // width), np.empty(block.shape), 0.0
    for start in range(0, block.n_groups, step):
        part = slice(start, start + step)
        probabilities[part], log_weight = function(block.counts, weights[part])
        total += float(log_weight.sum())
    return probabilities, total


def _match_pairs(weights: Floats) -> tuple[Floats, float]:
    """Two rows and two values: straight or crosswise."""
    straight, crossed = weights[:, 0, 0] + weights[:, 1, 1], weights[:, 0, 1] + weights[:, 1, 0]
    together = np.logaddexp(straight, crossed)
    first, second = np.exp(straight - together), np.exp(crossed - together)
    found = np.stack([np.stack([first, second], axis=1), np.stack([second, first], axis=1)], axis=1)
    return found, float(together.sum())


@lru_cache(maxsize=256)
def _list_transitions(
    counts: tuple[int, ...],
) -> tuple[tuple[tuple[Places, Places, Floats], ...], ...]:
    """For each number of rows that are served and each value: the states before and after, and the
    log of the entries to choose from.
    """
    digits = np.indices([count + 1 for count in counts]).reshape(len(counts), -1)
    served, strides = (
        digits.sum(axis=0),
        [math.prod(count + 1 for count in counts[v + 1 :]) for v in range(len(counts))],
    )
    levels = []
    for level in range(sum(counts)):
        steps = []
        for v, count in enumerate(counts):
            before = np.flatnonzero((served == level) & (digits[v] < count))
            steps.append((before, before + strides[v], np.log(count - digits[v][before])))
        levels.append(tuple(steps))
    return tuple(levels)


def count_matchings(counts: tuple[int, ...], weights: Floats) -> tuple[Floats, Floats]:
    """Sum over all matchings exactly: forward over the rows, backward, and both together.

    Works with logarithms of all sums, so that nothing overflows.
    """
    n_groups, n_rows, _ = weights.shape
    levels, step = (
        _list_transitions(counts)[:n_rows],
        np.ascontiguousarray(weights.transpose(1, 2, 0)),
    )
    ahead = np.full((n_states(counts), n_groups), -np.inf)
    ahead[0] = 0.0
    for row, steps in enumerate(levels):
        for v, (before, after, choices) in enumerate(steps):
            ahead[after] = np.logaddexp(
                ahead[after], ahead[before] + (choices[:, None] + step[row, v])
            )
    last = np.unique(np.concatenate([after for _, after, _ in levels[-1]]))
    behind = np.full_like(ahead, -np.inf)
    # entries that are left over belong to people who are gone: any of them may be
    behind[last] = 0.0
    together = np.logaddexp.reduce(ahead[last], axis=0)
    found = np.empty_like(step)
    for row in range(n_rows - 1, -1, -1):
        for v, (before, after, choices) in enumerate(levels[row]):
            rest = behind[after] + (choices[:, None] + step[row, v])
            found[row, v] = np.exp(ahead[before] + rest - together).sum(axis=0)
            behind[before] = np.logaddexp(behind[before], rest)
    probability = found.transpose(2, 0, 1)
    return probability / probability.sum(axis=2, keepdims=True), together


def balance_matchings(counts: tuple[int, ...], weights: Floats) -> tuple[Floats, Floats]:
    """Approximate large groups: scale the matrix until rows and values have their sums.

    After Sinkhorn 1964.

    It is the table q with these sums that has the most entropy plus expected log weight. It finds
    mostly the same best values, and is less sure of them than it could be. Where there are more
    entries than rows, one more row of equal weights takes what is left over. Rows sum to one; sums
    by value are as close as a hundred sweeps bring them.
    """
    n_groups, n_rows, _ = weights.shape
    spare = sum(counts) - n_rows
    if spare:
        weights = np.concatenate([weights, np.zeros((n_groups, 1, len(counts)))], axis=1)
    rows = np.log(np.array([1.0] * n_rows + [float(spare)] * bool(spare)))[:, None]
    columns = np.log(np.array(counts, dtype=float))
    scaled = weights - weights.max(axis=2, keepdims=True)
    for _ in range(_SWEEPS):
        scaled = scaled + (columns - _log_sum(scaled, 1))
        off = rows - _log_sum(scaled, 2)
        scaled = scaled + off
        if np.abs(off).max() < _CLOSE:
            break
    found = np.exp(scaled)
    value = (found * (weights - np.where(found > 0, scaled, 0.0))).sum(axis=(1, 2))
    return found[:, :n_rows], value


def _log_sum(logs: Floats, axis: int) -> Floats:
    """The logarithm of a sum, from logarithms. The axis stays, with length one."""
    most = logs.max(axis=axis, keepdims=True)
    total: Floats = np.log(np.exp(logs - most).sum(axis=axis, keepdims=True)) + most
    return total
