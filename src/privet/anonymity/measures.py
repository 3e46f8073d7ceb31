"""Measure k-anonymity, l-diversity and t-closeness, for each group of rows and for a whole table.

A table is as good as its worst group. With r_1 >= r_2 >= ... >= r_m the counts of the values in a
group of n rows, p_i = r_i / n:

- distinct l: m;
- entropy l: exp(-sum p_i ln p_i), so that the entropy is at least ln l (Machanavajjhala et al.
  2006);
- frequency l: n / r_1, so that no value takes more than a share of 1/l (the form that Anatomy
  ensures; Xiao and Tao 2006);
- recursive (c, l): the largest l with r_1 < c (r_l + ... + r_m) (Machanavajjhala et al. 2006);
- t: the Earth Mover's Distance of p to the whole table (Li, Li and Venkatasubramanian 2007).

The first three are the Hill numbers of order zero, one and infinity, so that frequency l <= entropy
l <= distinct l.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from privet._types import Floats, Ints
from privet.accounting.cost import Number, parse_exact
from privet.errors import ParameterError

# How often each sensitive value occurs in each group of rows.


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of rows and the values that occur in them, as flat arrays.

    The entries of group ``g`` are ``starts[g]`` to ``starts[g + 1]`` of ``values`` and ``counts``,
    with each value once, in ascending order. Build it with :meth:`of`.

    Attributes:
        ids: what each group was called, ascending.
        codes: the values that occur anywhere, ascending.
        starts: where the entries of each group begin, and where the last ones end.
        values: the value of each entry, as a position in ``codes``.
        counts: in how many rows of its group it occurs, at least one.
    """

    ids: Ints
    codes: Ints
    starts: Ints
    values: Ints
    counts: Ints

    @classmethod
    def of(
        cls,
        group_ids: npt.NDArray[np.integer],
        value_codes: npt.NDArray[np.integer],
        rows: npt.NDArray[np.integer] | None = None,
    ) -> Groups:
        """Count the values in each group.

        Parameters
        ----------
        group_ids
            The group of each row, any whole numbers.
        value_codes
            The sensitive value of each row, any whole numbers. Where the order of
            values matters, it is theirs.
        rows
            How many rows each entry stands for; by default one.
        """
        ids, group = np.unique(_read_integers("group_ids", group_ids), return_inverse=True)
        codes, value = np.unique(_read_integers("value_codes", value_codes), return_inverse=True)
        weights = (
            np.ones(len(group), dtype=np.int64) if rows is None else _read_integers("rows", rows)
        )
        if not len(group) == len(value) == len(weights):
            raise ParameterError(
                f"group_ids, value_codes and rows must have the same length, got {len(group)}, "
                f"{len(value)}, {len(weights)}"
            )
        if not len(group):
            raise ParameterError("group_ids must hold at least one row, got none")
        if weights.min() < 1:
            raise ParameterError(f"rows must be one or more in every entry, got {weights.min()}")
        pairs, entry = np.unique(group * np.int64(len(codes)) + value, return_inverse=True)
        counts = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(counts, entry, weights)
        starts = np.searchsorted(
            pairs, np.arange(len(ids) + 1, dtype=np.int64) * len(codes)
        ).astype(np.int64)
        return cls(ids, codes, starts, (pairs % len(codes)).astype(np.int64), counts)

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.ids)

    @property
    def n_rows(self) -> int:
        """How many rows there are in all groups."""
        return int(self.counts.sum())

    @cached_property
    def sizes(self) -> Ints:
        """The number of rows of each group."""
        return np.add.reduceat(self.counts, self.starts[:-1])

    @cached_property
    def totals(self) -> Ints:
        """The number of rows of each value, over all groups."""
        totals = np.zeros(len(self.codes), dtype=np.int64)
        np.add.at(totals, self.values, self.counts)
        return totals

    @cached_property
    def group_of_entry(self) -> Ints:
        """The position of the group of each entry."""
        return np.repeat(np.arange(self.n_groups, dtype=np.int64), np.diff(self.starts))

    @cached_property
    def largest(self) -> Ints:
        """How often the most frequent value of each group occurs in it."""
        return np.maximum.reduceat(self.counts, self.starts[:-1])

    @cached_property
    def most_frequent(self) -> Ints:
        """The code of the most frequent value of each group; of several, the first."""
        order = np.lexsort((self.values, -self.counts, self.group_of_entry))
        return self.codes[self.values[order[self.starts[:-1]]]]


def _read_integers(name: str, numbers: npt.NDArray[np.integer]) -> Ints:
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise ParameterError(
            f"{name} must be integers in one row, got {array.dtype} in {array.ndim} dimension(s)"
        )
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise ParameterError(f"{name} must fit 64 bits with a sign, got {array.max()}")
    return array.astype(np.int64)


def k_anonymity(groups: Groups) -> int:
    """Return the number of rows of the smallest group (Samarati and Sweeney 1998)."""
    return int(groups.sizes.min())


def distinct_l(groups: Groups) -> int:
    """Return the smallest number of different values in a group."""
    return int(distinct_l_per_group(groups).min())


def distinct_l_per_group(groups: Groups) -> Ints:
    """Return the number of different values in each group."""
    return np.diff(groups.starts)


def frequency_l(groups: Groups) -> float:
    """Return the largest l such that no value takes more than a share of 1/l in any group."""
    return float(frequency_l_per_group(groups).min())


def frequency_l_per_group(groups: Groups) -> Floats:
    """Return, for each group, its number of rows over that of its most frequent value."""
    return groups.sizes / groups.largest


def entropy_l(groups: Groups) -> float:
    """Return the largest l such that the entropy of every group is at least ln l."""
    return float(entropy_l_per_group(groups).min())


def entropy_l_per_group(groups: Groups) -> Floats:
    """Return, for each group, exp of the entropy of its values."""
    logs = np.add.reduceat(groups.counts * np.log(groups.counts), groups.starts[:-1])
    found = np.exp(np.log(groups.sizes) - logs / groups.sizes)
    # It lies between the other two. That makes it exact where they meet: one value only, or all
    # values equally often.
    return np.clip(found, frequency_l_per_group(groups), distinct_l_per_group(groups))


def recursive_l(groups: Groups, c: Number) -> int:
    """Return the largest l for which every group is recursively (c, l)-diverse, or 0."""
    return int(recursive_l_per_group(groups, c).min())


def recursive_l_per_group(groups: Groups, c: Number) -> Ints:
    """Return, for each group, the largest l for which it is recursively (c, l)-diverse, or 0.

    A group is (c, 1)-diverse for every c above 1, and never (c, l)-diverse for an l above its
    number of values.

    Parameters
    ----------
    groups
        The groups.
    c
        A number above zero, read as it is written: 0.1 is one tenth.
    """
    bound = parse_exact("c", c)
    order = np.lexsort((-groups.counts, groups.group_of_entry))
    descending = groups.counts[order]
    through = np.cumsum(descending)
    ends = np.repeat(through[groups.starts[1:] - 1], np.diff(groups.starts))
    tails = ends - through + descending  # r_l + ... + r_m, at the place of r_l
    needed = _find_integer_above(groups.largest, bound, groups.n_rows)[groups.group_of_entry]
    # it falls with l, so that all up to the largest hold
    return np.add.reduceat((tails >= needed).astype(np.int64), groups.starts[:-1])


def _find_integer_above(largest: Ints, c: Fraction, beyond: int) -> Ints:
    """The least whole number above r_1 / c, exactly. Different r_1 are few: a table of n rows has
    room for less than sqrt(2 n).
    """
    different, which = np.unique(largest, return_inverse=True)
    least = [
        min(int(count) * c.denominator // c.numerator, beyond) + 1 for count in different.tolist()
    ]
    return np.array(least, dtype=np.int64)[which]


def t_closeness(groups: Groups, *, ordered: bool = False) -> float:
    """Return the largest distance of a group to all rows."""
    return float(t_closeness_per_group(groups, ordered=ordered).max())


def t_closeness_per_group(groups: Groups, *, ordered: bool = False) -> Floats:
    """Return the Earth Mover's Distance between each group's values and all rows, from 0 to 1.

    Parameters
    ----------
    groups
        The groups.
    ordered
        False for the equal distance, where all values are as far apart: half the sum of
        absolute differences. True for the ordered distance, where the i-th and j-th of m values
        are ``|i - j| / (m - 1)`` apart.
    """
    distance = _ordered_distance(groups) if ordered else _equal_distance(groups)
    return np.clip(distance, 0.0, 1.0)


def _equal_distance(groups: Groups) -> Floats:
    """What the group has too much of, which is what it has too little of: values that are not in it
    need not be looked at.
    """
    share = groups.counts / groups.sizes[groups.group_of_entry]
    return np.add.reduceat(
        np.maximum(share - (groups.totals / groups.n_rows)[groups.values], 0.0), groups.starts[:-1]
    )


def _ordered_distance(groups: Groups) -> Floats:
    """The sum of abs(P(i) - Q(i)) / (m - 1) over all i, P and Q the cumulative shares in the group
    and in all rows.

    P is constant from one value of the group to the next. Q rises, so that it crosses that constant
    once at most, and prefix sums of Q give what lies on either side. A group costs as much as it
    has values, however many the table has.
    """
    m, n = len(groups.codes), groups.n_rows
    if m == 1:
        return np.zeros(groups.n_groups)
    below = np.cumsum(groups.totals)  # n Q(i)
    prefix = np.concatenate([[0], np.cumsum(below)])
    size = groups.sizes[groups.group_of_entry]
    through = np.cumsum(groups.counts)
    before = np.concatenate([[0], through])[groups.starts[:-1]]
    level = (through - before[groups.group_of_entry]) / size
    low = groups.values
    high = np.append(groups.values[1:], m)
    high[groups.starts[1:] - 1] = m
    cross = np.clip(np.searchsorted(below / n, level, side="right"), low, high)
    above = level * (cross - low) - (prefix[cross] - prefix[low]) / n
    under = (prefix[high] - prefix[cross]) / n - level * (high - cross)
    # up to the first value of the group, P is zero
    first = prefix[groups.values[groups.starts[:-1]]] / n
    return (first + np.add.reduceat(above + under, groups.starts[:-1])) / (m - 1)
