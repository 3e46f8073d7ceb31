"""``Groups``: how often each sensitive value occurs in each group of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from privet.errors import ParameterError
from privet.typed import Ints


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

        Args:
            group_ids: the group of each row, any whole numbers.
            value_codes: the sensitive value of each row, any whole numbers. Where the order of
                values matters, it is theirs.
            rows: how many rows each entry stands for; by default one.
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
