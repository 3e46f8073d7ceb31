"""Two-way splits of one attribute: a value against the rest, or a threshold on the order of
bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from privet.schema import Attribute, Numeric
from privet.typed import Ints


@dataclass(frozen=True, eq=False)
class BinarySplits:
    """Every two-way split of an attribute at every node of a level. Split ``s`` is value ``s``, or
    codes above ``s``.

    In a threshold split of a ``Numeric`` with a bin for missing entries, that bin (the last code)
    goes with the child that has more of the other rows, child 0 if both have as many. The last
    split sets it apart from all numbers.

    Args:
        attribute: the attribute.
        ones: class counts of child 1: shape (nodes, splits, classes).
        missing_above: whether missing entries go to child 1: shape (nodes, splits). None without
            such a bin.
    """

    attribute: Attribute
    ones: Ints
    missing_above: npt.NDArray[np.bool_] | None = None

    @classmethod
    def of(cls, attribute: Attribute, table: Ints) -> BinarySplits:
        """The splits, from class counts by node and value."""
        if not isinstance(attribute, Numeric):
            return cls(attribute, table)
        above = table.sum(axis=1, keepdims=True) - np.cumsum(table, axis=1)[:, :-1]
        if attribute.missing is None:
            return cls(attribute, above)
        missing = table[:, -1:]
        n_above = (above - missing).sum(axis=2)
        n_present = (table.sum(axis=1, keepdims=True) - missing).sum(axis=2)
        missing_above = n_above > n_present - n_above
        missing_above[:, -1] = True
        return cls(
            attribute, np.where(missing_above[:, :, None], above, above - missing), missing_above
        )

    def children(self, totals: Ints) -> Ints:
        """Child-by-class counts, from the class counts of the nodes: shape (nodes, splits, 2,
        classes).
        """
        return np.stack([totals[:, None, :] - self.ones, self.ones], axis=2)

    def branch(self, node: int, split: int) -> Ints:
        """The child that each code goes to."""
        codes = np.arange(self.attribute.size)
        if not isinstance(self.attribute, Numeric):
            return np.asarray(codes == split, dtype=np.int64)
        branch = np.asarray(codes > split, dtype=np.int64)
        if self.missing_above is not None:
            branch[-1] = self.missing_above[node, split]
        return branch
