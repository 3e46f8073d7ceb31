"""Random l-diverse groups.

Only the sensitive values decide which rows may share a group, never what identifies people; within
a value, which row goes where is drawn uniformly. So for an adversary who holds the sensitive values
to be independent of what identifies people, every matching of a group's rows with its values is
equally likely (the paper's simple l-diverse distribution), and nobody's value has more than
probability 1/l. Whoever knows of a dependence learns more: that is the deFinetti attack.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.checks import check_integer

_shuffler = secrets.SystemRandom()


@dataclass(frozen=True, eq=False)
class Grouping:
    """The group of each row, numbered from 0 in no order; -1 for a row that cannot be placed."""

    group: npt.NDArray[np.int64]
    n_groups: int

    @property
    def withheld(self) -> npt.NDArray[np.intp]:
        """The rows without a group."""
        return np.flatnonzero(self.group < 0)


def draw_groups(values: npt.NDArray[np.integer], l: int) -> Grouping:  # noqa: E741
    """Draw groups in which no value stands twice, nearly all of exactly ``l`` rows.

    As many rows are placed as any l-diverse grouping can place: with g groups a value has room for
    g rows, and g is the largest number for which ``sum_v min(n_v, g) >= l g``. Which rows of a
    value that is too frequent are left out is drawn uniformly. Groups are filled one after the
    other with values drawn in proportion to the rows left of them; a value with as many rows left
    as there are groups must be in each of them.

    Args:
        values: the sensitive code of each row.
        l: how many values a group has at least.
    """
    check_integer("l", l, 2)
    group = np.full(len(values), -1, dtype=np.int64)
    codes, counts = np.unique(np.asarray(values), return_counts=True)
    n_groups = _most_groups(counts, l)
    if n_groups == 0:
        return Grouping(group, 0)
    waiting = [_shuffle_rows(np.flatnonzero(values == code))[:n_groups] for code in codes]
    left = [len(rows) for rows in waiting]
    numbers = _shuffle_rows(np.arange(n_groups))
    for done, number in enumerate(numbers):
        for value in _draw_group_values(left, n_groups - done, l):
            left[value] -= 1
            group[waiting[value][left[value]]] = number
    return Grouping(group, n_groups)


def _most_groups(counts: npt.NDArray[np.integer], l: int) -> int:  # noqa: E741
    """The largest g with sum_v min(n_v, g) >= l g. The left side grows slower and slower, so this
    holds up to some g.
    """
    low, high = 0, int(counts.sum()) // l
    while low < high:
        g = (low + high + 1) // 2
        low, high = (g, high) if int(np.minimum(counts, g).sum()) >= l * g else (low, g - 1)
    return low


def _draw_group_values(left: list[int], groups: int, l: int) -> list[int]:  # noqa: E741
    """The values of the next of so many groups."""
    chosen = [value for value, n in enumerate(left) if n == groups]
    if len(chosen) >= l:
        return chosen
    open_ = {value: n for value, n in enumerate(left) if 0 < n < groups}
    total = sum(open_.values())
    while len(chosen) < l:
        value = _pick_weighted(open_, secrets.randbelow(total))
        chosen.append(value)
        total -= open_.pop(value)
    return chosen


def _pick_weighted(weights: dict[int, int], at: int) -> int:
    for value, weight in weights.items():
        at -= weight
        if at < 0:
            return value
    raise AssertionError("a place beyond all weights")


def _shuffle_rows(rows: npt.NDArray[np.integer]) -> list[int]:
    listed: list[int] = rows.tolist()
    _shuffler.shuffle(listed)
    return listed
