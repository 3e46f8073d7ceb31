"""Describe disjoint parts of the domain. No data in here.

A :class:`Cells` object is a partition of (a part of) the domain, held as a decision tree in flat
arrays: every point of the domain reaches exactly one leaf, and a leaf belongs to at most one cell.
So cells are disjoint *by structure*, which is what lets a ledger charge a whole level once
(parallel composition), and routing a row is a short walk.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.domain.schema import Schema
from privet.errors import OverlapError, QuestionError

#: Compiling a list of cells may copy them along several branches; beyond this many nodes it is
#: refused.
MAX_NODES = 1 << 24

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Condition:
    """An attribute must have one of these codes."""

    attribute: str
    codes: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.attribute} in {{{', '.join(map(str, self.codes))}}}"


@dataclass(frozen=True)
class Cell:
    """A part of the domain: all conditions of a path hold."""

    path: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return " and ".join(map(str, self.path)) or "everything"

    def describe(self, schema: Schema) -> str:
        """Return the path in the schema's own values."""
        return (
            " and ".join(
                f"{condition.attribute} = {' | '.join(_labels(schema, condition))}"
                for condition in self.path
            )
            or "everything"
        )


@dataclass(frozen=True)
class Split:
    """A public way to split a cell: ``branch[code]`` is the child that a value goes to, 0, 1, 2,
    ...
    """

    attribute: str
    branch: tuple[int, ...]

    def __post_init__(self) -> None:
        whole = all(isinstance(child, int) and not isinstance(child, bool) for child in self.branch)
        children = set(self.branch)
        if not children or not whole or min(children) != 0 or max(children) != len(children) - 1:
            raise QuestionError(
                f"a split of {self.attribute!r} must number its children 0, 1, 2, ... without a gap"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Split", self.attribute, self.branch)

    @property
    def n_children(self) -> int:
        """How many children the split makes."""
        return max(self.branch) + 1

    @cached_property
    def masks(self) -> list[int]:
        """The values that go to each child, as bits."""
        masks = [0] * self.n_children
        for code, child in enumerate(self.branch):
            masks[child] |= 1 << code
        return masks

    @classmethod
    def multiway(cls, schema: Schema, attribute: str) -> Split:
        """Return the split with one child per value."""
        return cls(attribute, tuple(range(domain_size(schema, attribute))))

    @classmethod
    def value(cls, schema: Schema, attribute: str, code: int) -> Split:
        """Return the split of one value (child 1) against the rest (child 0)."""
        size = domain_size(schema, attribute)
        if size < 2 or code not in range(size):
            raise QuestionError(
                f"{attribute!r} has {size} values; a value split needs 2 or more and a code below "
                f"{size}, got {code}"
            )
        return cls(attribute, tuple(int(other == code) for other in range(size)))

    @classmethod
    def threshold(cls, schema: Schema, attribute: str, code: int) -> Split:
        """Return the split of codes from ``code`` on (child 1) against smaller ones (child 0)."""
        size = domain_size(schema, attribute)
        if code not in range(1, size):
            raise QuestionError(
                f"{attribute!r} has {size} values; a threshold must be 1 to {size - 1}, got {code}"
            )
        return cls(attribute, tuple(int(other >= code) for other in range(size)))


@dataclass(frozen=True, eq=False)
class Cells:
    """Disjoint cells, as a decision tree in flat arrays.

    Node 0 is the root. Node ``i`` tests attribute ``attribute[i]`` (its position in the schema; -1
    for a leaf) and sends code ``c`` to node ``branch[offset[i] + c]``. A leaf belongs to cell
    ``cell[i]``, or to none (-1).
    """

    schema: Schema
    attribute: Int32s
    offset: npt.NDArray[np.int64]
    branch: Int32s
    cell: Int32s
    n_cells: int
    #: The parent of each node; -1 for the root.
    parents: npt.NDArray[np.int64] = field(init=False, repr=False)

    @classmethod
    def everything(cls, schema: Schema) -> Cells:
        """Return the whole domain as one cell."""
        return cls._from_lists(schema, [-1], [0], [], [0], 1)

    @classmethod
    def of(cls, schema: Schema, cells: Iterable[Cell], *, max_nodes: int = MAX_NODES) -> Cells:
        """Compile a list of cells, or raise :class:`OverlapError` with two that are not
        disjoint.
        """
        listed = list(cells)
        if not listed:
            raise QuestionError("a partition must hold at least one cell")
        sets, sizes = [_allowed_codes(schema, cell) for cell in listed], schema.sizes
        attribute: list[int] = []
        offset: list[int] = []
        branch: list[int] = []
        leaf_cell: list[int] = []

        def new_node() -> int:
            if len(attribute) >= max_nodes:
                raise QuestionError(
                    f"this list of cells needs a tree of more than {max_nodes} nodes; ask a "
                    "coarser partition"
                )
            attribute.append(-1)
            offset.append(0)
            leaf_cell.append(-1)
            return len(attribute) - 1

        # Depth first: (node, cells that are still possible there, attributes already tested).
        stack = [(new_node(), list(range(len(listed))), frozenset[int]())]
        while stack:
            node, alive, tested = stack.pop()
            tests = Counter(a for i in alive for a in sets[i] if a not in tested)
            if not tests:
                if len(alive) > 1:
                    raise OverlapError(listed[alive[0]], listed[alive[1]])
                leaf_cell[node] = alive[0] if alive else -1
                continue
            # The attribute that most of the remaining cells test separates them soonest.
            chosen = max(sorted(tests), key=tests.__getitem__)
            attribute[node], offset[node] = chosen, len(branch)
            children: dict[tuple[int, ...], int] = {}
            for code in range(sizes[chosen]):
                here = tuple(i for i in alive if chosen not in sets[i] or code in sets[i][chosen])
                if here not in children:
                    children[here] = new_node()
                    stack.append((children[here], list(here), tested | {chosen}))
                branch.append(children[here])
        return cls._from_lists(schema, attribute, offset, branch, leaf_cell, len(listed))

    def refine(self, splits: Mapping[int, Split]) -> Cells:
        """Split some cells; the others stay.

        New cells are numbered in the order of their parents, children in order.
        """
        for cell, split in splits.items():
            if not 0 <= cell < self.n_cells:
                raise QuestionError(f"no cell {cell}; there are {self.n_cells}")
            check_split(self.schema, split)
        widths = np.array([splits[c].n_children if c in splits else 1 for c in range(self.n_cells)])
        first = np.concatenate([[0], np.cumsum(widths)])
        attribute, offset, cell = self.attribute.tolist(), self.offset.tolist(), self.cell.tolist()
        branch = self.branch.tolist()
        for node in range(len(attribute)):
            old = cell[node]
            if attribute[node] >= 0 or old < 0:
                continue
            if old not in splits:
                cell[node] = int(first[old])
                continue
            split = splits[old]
            start = len(attribute)
            attribute[node], offset[node], cell[node] = (
                self.schema.index(split.attribute),
                len(branch),
                -1,
            )
            branch += [start + child for child in split.branch]
            attribute += [-1] * split.n_children
            offset += [0] * split.n_children
            cell += [int(first[old]) + child for child in range(split.n_children)]
        return self._from_lists(self.schema, attribute, offset, branch, cell, int(first[-1]))

    @classmethod
    def _from_lists(
        cls,
        schema: Schema,
        attribute: Sequence[int],
        offset: Sequence[int],
        branch: Sequence[int],
        cell: Sequence[int],
        n_cells: int,
    ) -> Cells:
        return cls(
            schema,
            np.asarray(attribute, dtype=np.int32),
            np.asarray(offset, dtype=np.int64),
            np.asarray(branch, dtype=np.int32),
            np.asarray(cell, dtype=np.int32),
            n_cells,
        )

    def __post_init__(self) -> None:
        for name, kind in (
            ("attribute", np.int32),
            ("offset", np.int64),
            ("branch", np.int32),
            ("cell", np.int32),
        ):
            array = np.array(getattr(self, name), dtype=kind, copy=True)
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        self._prove()

    def _prove(self) -> None:
        """Raise unless this is a tree: inner nodes point forward only, so every walk ends in one
        leaf.
        """
        n_nodes = len(self.attribute)
        if not (n_nodes == len(self.offset) == len(self.cell) and n_nodes > 0):
            raise QuestionError("a partition needs one attribute, offset and cell per node")
        inner = np.flatnonzero(self.attribute >= 0)
        if (self.attribute < -1).any() or (self.attribute >= len(self.schema.sizes)).any():
            raise QuestionError("a partition tests an attribute that the schema does not have")
        sizes = np.asarray(self.schema.sizes, dtype=np.int64)[self.attribute[inner]]
        start = self.offset[inner]
        if (start < 0).any() or (start > len(self.branch) - sizes).any():
            raise QuestionError("a node of the partition has no branch for some value")
        owner = np.repeat(inner, sizes)
        at = np.repeat(
            start - np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(inner) else start, sizes
        ) + np.arange(sizes.sum())
        target = self.branch[at]
        if (target <= owner).any() or (target >= n_nodes).any():
            raise QuestionError("a branch of the partition does not point forward to a node")
        parents = np.full(n_nodes, -1, dtype=np.int64)
        parents[target] = owner
        if (parents[target] != owner).any():
            raise QuestionError("a node of the partition has two parents")
        object.__setattr__(self, "parents", parents)
        if (
            (self.cell < -1).any()
            or (self.cell >= self.n_cells).any()
            or (self.cell[inner] != -1).any()
        ):
            raise QuestionError(
                "a partition has a leaf of a cell that does not exist, or a cell at an inner node"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return (
            "Cells",
            self.schema,
            self.attribute,
            self.offset,
            self.branch,
            self.cell,
            self.n_cells,
            self.parents,
        )

    def __len__(self) -> int:
        return self.n_cells

    def __iter__(self) -> Iterator[Cell]:
        return iter(self.listed)

    @cached_property
    def depths(self) -> npt.NDArray[np.int64]:
        """How many tests lead to each node."""
        # Twice as far up with every step: a chain of many nodes takes few.
        depths, above = (self.parents >= 0).astype(np.int64), self.parents
        while (open_ := np.flatnonzero(above >= 0)).size:
            depths[open_] += depths[above[open_]]
            above = np.where(above >= 0, above[above], -1)
        return depths

    @cached_property
    def levels(self) -> list[npt.NDArray[np.intp]]:
        """The nodes of each depth, from the root down."""
        order = np.argsort(self.depths, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.depths))[:-1])

    @cached_property
    def used(self) -> tuple[int, ...]:
        """The positions of the attributes that are tested anywhere."""
        return tuple(int(a) for a in np.unique(self.attribute[self.attribute >= 0]))

    @cached_property
    def listed(self) -> tuple[Cell, ...]:
        """The cells as paths, where each cell is one leaf.

        A cell of several leaves shows the path of its first.
        """
        parent: dict[int, tuple[int, tuple[int, ...]]] = {}
        for node in np.flatnonzero(self.attribute >= 0).tolist():
            size = self.schema.sizes[self.attribute[node]]
            children = self.branch[self.offset[node] : self.offset[node] + size]
            for child in dict.fromkeys(children.tolist()):
                parent[child] = (node, tuple(int(c) for c in np.flatnonzero(children == child)))
        cell_of: dict[int, Cell] = {}
        for leaf in np.flatnonzero(self.cell >= 0).tolist():
            path: list[Condition] = []
            node = leaf
            while node in parent:
                node, codes = parent[node]
                path.append(Condition(self.schema.names[self.attribute[node]], codes))
            cell_of.setdefault(int(self.cell[leaf]), Cell(tuple(reversed(path))))
        nothing = Cell((Condition(self.schema.names[0], ()),))  # a cell that no value reaches
        return tuple(cell_of.get(i, nothing) for i in range(self.n_cells))


def _labels(schema: Schema, condition: Condition) -> list[str]:
    _allowed_codes(schema, Cell((condition,)))
    labels = schema.attributes[condition.attribute].labels
    return [labels[code] for code in condition.codes]


def check_split(schema: Schema, split: Split) -> None:
    """Raise unless the split names a child for each value of its attribute."""
    size = domain_size(schema, split.attribute)
    if len(split.branch) != size:
        raise QuestionError(
            f"a split of {split.attribute!r} must say a child for each of its {size} values"
        )


def domain_size(schema: Schema, attribute: str) -> int:
    """Return how many values an attribute has."""
    try:
        return schema.attributes[attribute].size
    except KeyError:
        raise QuestionError(
            f"no attribute {attribute!r}; there are {', '.join(schema.names)}"
        ) from None


def _allowed_codes(schema: Schema, cell: Cell) -> dict[int, frozenset[int]]:
    """Return the codes that a cell allows, by attribute position.

    Two tests of one attribute intersect.
    """
    allowed: dict[int, frozenset[int]] = {}
    for test in cell.path:
        size = domain_size(schema, test.attribute)
        codes = frozenset(test.codes)
        if bad := [
            code
            for code in codes
            if isinstance(code, bool) or not isinstance(code, int) or not 0 <= code < size
        ]:
            raise QuestionError(f"{test.attribute!r} has codes 0 to {size - 1}, got {bad[0]!r}")
        position = schema.index(test.attribute)
        allowed[position] = allowed.get(position, codes) & codes
    return allowed
