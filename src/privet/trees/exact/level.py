"""Level: the open nodes of one depth and the rows in them, counted all at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.trees.exact.rows import EncodedRows
from privet.typed import Ints

#: How many counts one attribute's table may have; a level with more is looked at in pieces.
MAX_TABLE = 1 << 20


@dataclass(frozen=True, eq=False)
class Level:
    """Nodes of one depth that may still be split.

    Args:
        data: the training rows.
        nodes: the numbers of the nodes in the tree.
        counts: exact class counts, one line per node.
        used: which attributes (columns) are tested above each node (line).
        rows: the rows in these nodes, grouped by node.
        place: for each of these rows, the line of its node.
    """

    data: EncodedRows
    nodes: Ints
    counts: Ints
    used: npt.NDArray[np.bool_]
    rows: Ints
    place: Ints

    @classmethod
    def root(cls, data: EncodedRows) -> Level:
        """One node that holds every row."""
        counts = np.bincount(data.classes, minlength=data.schema.n_classes)[None, :]
        used = np.zeros((1, len(data.schema.sizes)), dtype=bool)
        n_rows = len(data)
        return cls(
            data, np.zeros(1, np.int64), counts, used, np.arange(n_rows), np.zeros(n_rows, np.int64)
        )

    def __len__(self) -> int:
        return len(self.nodes)

    def where(self, keep: npt.NDArray[np.bool_]) -> Level:
        """Only these nodes."""
        inside = keep[self.place]
        line = np.cumsum(keep) - 1
        return replace(
            self,
            nodes=self.nodes[keep],
            counts=self.counts[keep],
            used=self.used[keep],
            rows=self.rows[inside],
            place=line[self.place[inside]],
        )

    def pieces(self) -> Iterator[Level]:
        """The level, a few nodes at a time where its tables would be too large."""
        step = max(1, MAX_TABLE // (max(self.data.schema.sizes) * self.data.schema.n_classes))
        for low in range(0, len(self), step):
            nodes = slice(low, low + step)
            rows = slice(*np.searchsorted(self.place, [low, low + step]).tolist())
            yield replace(
                self,
                nodes=self.nodes[nodes],
                counts=self.counts[nodes],
                used=self.used[nodes],
                rows=self.rows[rows],
                place=self.place[rows] - low,
            )

    def table(self, attribute: int) -> Ints:
        """Class counts by node and value of an attribute: shape (nodes, values, classes)."""
        shape = (len(self), self.data.schema.sizes[attribute], self.data.schema.n_classes)
        entry = (self.place * shape[1] + self.data.codes[attribute][self.rows]) * shape[
            2
        ] + self.data.classes[self.rows]
        return np.bincount(entry, minlength=shape[0] * shape[1] * shape[2]).reshape(shape)

    def values(self, attribute: npt.NDArray[Any]) -> Ints:
        """The code of each row in the attribute that ``attribute`` names for its node."""
        tested = attribute[self.place]
        values = np.empty(len(self.rows), dtype=np.int64)
        for a in np.unique(tested).tolist():
            here = tested == a
            values[here] = self.data.codes[a][self.rows[here]]
        return values
