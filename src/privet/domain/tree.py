"""Hold a released tree: its structure and its (noisy) class counts.

A tree predicts, and knows no mechanism and no data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._notebook import count_of, html_box, one_line
from privet._types import Floats
from privet.domain.cells import Cells
from privet.domain.routing import Routes
from privet.domain.schema import Schema
from privet.errors import QuestionError

#: What a tree is, as whoever made it states. ``"counts"``: a decision tree of class counts. All
#: others are parts of a model that adds up scores: ``"drawn"``, a decision tree whose every node
#: adds the same public amount to one class; ``"calibrated"``, a decision tree whose every node says
#: one class, with the same scores wherever it says the same; ``"term"``, scores for each value of
#: one attribute; ``"constant"``, scores that every row gets; ``"scores"``, any other decision tree.
TreeKind = Literal["counts", "drawn", "calibrated", "term", "constant", "scores"]
TREE_KINDS: tuple[TreeKind, ...] = get_args(TreeKind)

#: Counts are added up level by level.
MAX_HEIGHT = 1000


@dataclass(frozen=True, eq=False)
class Tree:
    """A decision tree over a schema's codes: the structure of ``cells``, and class counts for every
    node.

    Counts are what was released: noisy, perhaps smoothed, never exact unless the model says
    ``private: false``. In a model that adds up scores they are class scores, on a log scale, and no
    counts; ``kind`` says so, and :class:`~privet.model.Model` checks it. A row whose code is
    unknown at a node stays there, and is answered by that node's counts.
    """

    cells: Cells
    counts: Floats
    # Not compared: it changes no answer, so the digest of a query must not depend on it.
    kind: TreeKind = field(default="counts", compare=False)

    def __post_init__(self) -> None:
        if self.kind not in TREE_KINDS:
            known = ", ".join(map(repr, TREE_KINDS))
            raise QuestionError(f"the kind of a tree must be one of {known}, got {self.kind!r}")
        counts = np.array(self.counts, dtype=np.float64, copy=True)
        if counts.shape != (self.n_nodes, self.schema.n_classes) or not np.isfinite(counts).all():
            raise QuestionError(
                f"a tree needs {self.n_nodes} x {self.schema.n_classes} finite class counts"
            )
        counts.setflags(write=False)
        object.__setattr__(self, "counts", counts)

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Tree", self.cells, self.counts)

    @classmethod
    def from_leaves(cls, cells: Cells, leaf_counts: npt.NDArray[Any]) -> Tree:
        """Return a tree from the counts of its cells; an inner node counts what is below it."""
        return cls(cells, node_counts(cells, leaf_counts))

    def __repr__(self) -> str:
        return one_line("Tree", *self._sizes(), f"kind {self.kind!r}")

    def _repr_html_(self) -> str:
        tested = [self.schema.names[attribute] for attribute in self.cells.used]
        facts = {"tests": ", ".join(tested) or "nothing", "kind": self.kind}
        return html_box(f"Tree: {', '.join(self._sizes())}", facts)

    def _sizes(self) -> list[str]:
        leaves = count_of(len(self.leaves), "leaf", "leaves")
        return [count_of(self.n_nodes, "node"), leaves, f"depth {int(self.depths.max())}"]

    @property
    def schema(self) -> Schema:
        """The schema that the tree is about."""
        return self.cells.schema

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, leaves included."""
        return len(self.cells.attribute)

    @cached_property
    def leaves(self) -> npt.NDArray[np.intp]:
        """The numbers of the leaf nodes."""
        return np.flatnonzero(self.cells.attribute < 0)

    @property
    def depths(self) -> npt.NDArray[np.int64]:
        """How many tests lead to each node."""
        return self.cells.depths

    def children(
        self, node: int, *, possible_only: bool = False
    ) -> list[tuple[int, tuple[int, ...]]]:
        """Return the children of a node, each with the codes that lead to it.

        For people, only those that the tests above leave possible.
        """
        attribute = int(self.cells.attribute[node])
        if attribute < 0:
            return []
        possible = (
            self._possible_codes(node, attribute)
            if possible_only
            else np.ones(self.schema.sizes[attribute], dtype=bool)
        )
        branch = self._branch(node)
        children = []
        for child in dict.fromkeys(branch.tolist()):
            codes = np.flatnonzero(branch == child)
            children.append(
                (
                    child,
                    tuple((codes[possible[codes]] if possible[codes].any() else codes).tolist()),
                )
            )
        return children

    def _branch(self, node: int) -> npt.NDArray[np.int32]:
        start = int(self.cells.offset[node])
        return self.cells.branch[start : start + self.schema.sizes[self.cells.attribute[node]]]

    def _possible_codes(self, node: int, attribute: int) -> npt.NDArray[np.bool_]:
        """Return which codes of an attribute a row at this node can have, by the tests of the same
        attribute above it.
        """
        possible = np.ones(self.schema.sizes[attribute], dtype=bool)
        parent, steps = int(self.cells.parents[node]), 0
        # nobody reads a longer path; what is farther up is left open
        while parent >= 0 and steps < 64:
            steps += 1
            if self.cells.attribute[parent] == attribute:
                possible &= self._branch(parent) == node
            node, parent = parent, int(self.cells.parents[parent])
        return possible

    def reach(self, codes: Sequence[npt.NDArray[Any]]) -> npt.NDArray[np.int64]:
        """Return the node that each row ends in: a leaf, or where its code is unknown.

        The work depends on the tree and the number of rows only (:mod:`privet.domain.routing`).
        """
        return self._routes.find_nodes(self._routes.pack(codes))

    @cached_property
    def _routes(self) -> Routes:
        return Routes.through([self.cells])


def node_counts(cells: Cells, leaf_counts: npt.NDArray[Any]) -> Floats:
    """Return the counts of all nodes from those of the cells: an inner node counts what is below
    it.
    """
    counts = np.zeros((len(cells.attribute), cells.schema.n_classes))
    leaves = np.flatnonzero(cells.cell >= 0)
    counts[leaves] = np.asarray(leaf_counts)[cells.cell[leaves]]
    return sum_upwards(cells, counts)


def sum_upwards(cells: Cells, values: Floats) -> Floats:
    """Return the values of the nodes, each plus those of all nodes below it."""
    total = np.array(values, dtype=np.float64)
    for nodes in cells.levels[:0:-1]:
        np.add.at(total, cells.parents[nodes], total[nodes])
    return total


def domain_shares(cells: Cells) -> Floats:
    """Return the share of the domain's points that reaches each node.

    All values of an attribute are taken as equally likely.
    """
    return share_of_nodes(cells, [np.ones(size) for size in cells.schema.sizes])


def share_of_nodes(cells: Cells, values: Sequence[Floats]) -> Floats:
    """Return the share that reaches each node, where values have these weights.

    There is a weight for each value of each attribute. Attributes are taken as independent.
    """
    shares = np.zeros(len(cells.attribute))
    shares[0] = 1.0
    # The codes that the tests above leave possible, by attribute. Children come after their
    # parents.
    left: dict[int, dict[int, npt.NDArray[np.bool_]]] = {0: {}}
    for node in range(len(shares)):
        here, attribute = left.pop(node, {}), int(cells.attribute[node])
        if attribute < 0 or not shares[node]:
            continue
        size, start = cells.schema.sizes[attribute], int(cells.offset[node])
        possible, branch = (
            here.get(attribute, np.ones(size, dtype=bool)),
            cells.branch[start : start + size],
        )
        weights = values[attribute]
        for child in np.unique(branch).tolist():
            codes = possible & (branch == child)
            shares[child] = shares[node] * weights[codes].sum() / weights[possible].sum()
            left[child] = {**here, attribute: codes}
    return shares
