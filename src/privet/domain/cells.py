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
from datetime import date
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from privet._notebook import count_of, html_box, one_line
from privet._plain import copy_scalar, copy_scalars
from privet._validate import check_integer
from privet.domain.labels import (
    attribute_named,
    find_code,
    find_codes,
    find_edge,
    read_codes,
    refuse_edge,
    value_text,
)
from privet.domain.schema import Schema
from privet.errors import OverlapError, QuestionError
from privet.text import shorten

#: Compiling a list of cells may copy them along several branches; beyond this many nodes it is
#: refused.
MAX_NODES = 1 << 24
#: The paths of larger trees are not written out to be shown: it would take long.
MAX_SHOWN_NODES = 1000
#: Bytes of a tree whose proof is remembered; of larger ones the memory would fill up.
MAX_RECALLED = 1 << 14

Int32s = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Condition:
    """A condition of a cell: an attribute has one of some values.

    Parameters
    ----------
    attribute : str
        The name of the attribute.
    codes : str, int, or several of them
        The values, by label. An integer is a code here: the position of a value in the schema.

    Examples
    --------
    >>> import privet as pv
    >>> print(pv.Condition("form", ["complete", "completed"]))
    form in {complete, completed}
    """

    attribute: str
    codes: tuple[int | str, ...]

    def __post_init__(self) -> None:
        several = isinstance(self.codes, Iterable) and not isinstance(self.codes, str)
        object.__setattr__(self, "codes", tuple(self.codes) if several else (self.codes,))

    def __str__(self) -> str:
        return f"{self.attribute} in {{{', '.join(map(str, self.codes))}}}"


@dataclass(frozen=True)
class Cell:
    """A part of the domain: the rows that meet all conditions of a path.

    Parameters
    ----------
    path : tuple of Condition
        The conditions. Without any, the cell is the whole domain.

    Examples
    --------
    >>> import privet as pv
    >>> print(pv.Cell.where(form="complete", children=[1, 2]))
    form in {complete} and children in {1, 2}
    """

    path: tuple[Condition, ...] = ()

    @classmethod
    def where(cls, conditions: Mapping[str, Any] | None = None, /, **more: Any) -> Cell:
        """Return the cell of the rows whose attributes have these values.

        Parameters
        ----------
        conditions : mapping, optional
            For some attributes, a value or a list of values. These are always values, and never
            codes.
        **more
            The same, for attributes whose names can be written as keywords.

        Returns
        -------
        Cell
            The cell. That the values are in the schema is checked where the cell is used.

        Examples
        --------
        >>> import privet as pv
        >>> nursery = pv.datasets.load("nursery").schema
        >>> pv.Cell.where(children=[1, "more"]).describe(nursery)
        'children = 1 | more'
        """
        path = []
        for name, values in {**(conditions or {}), **more}.items():
            several = isinstance(values, Iterable) and not isinstance(values, str)
            texts = (value_text(value) for value in (values if several else (values,)))
            path.append(Condition(name, tuple(texts)))  # type: ignore[arg-type]
        return cls(tuple(path))

    def __str__(self) -> str:
        return " and ".join(map(str, self.path)) or "everything"

    def describe(self, schema: Schema) -> str:
        """Return the path in the schema's own values.

        Parameters
        ----------
        schema
            The schema whose labels are used.

        Examples
        --------
        >>> import privet as pv
        >>> pv.Cell.where(safety=["low", "med"]).describe(pv.datasets.load("car").schema)
        'safety = low | med'
        """
        return (
            " and ".join(
                f"{condition.attribute} = {' | '.join(_labels(schema, condition))}"
                for condition in self.path
            )
            or "everything"
        )


@dataclass(frozen=True)
class Split:
    """A public way to split a cell into children.

    :meth:`multiway`, :meth:`value`, :meth:`threshold` and :meth:`groups` make one from labels.

    Parameters
    ----------
    attribute : str
        The attribute that is tested.
    branch : tuple of int
        ``branch[code]`` is the child that a value goes to: 0, 1, 2, ...

    Examples
    --------
    >>> import privet as pv
    >>> nursery = pv.datasets.load("nursery").schema
    >>> pv.Split.value(nursery, "form", "foster")
    Split(attribute='form', branch=(0, 0, 0, 1))
    """

    attribute: str
    branch: tuple[int, ...]

    def __post_init__(self) -> None:
        # plain copies: what lies when it is asked again could count a row several times
        branch = self.branch
        if type(branch) is not tuple or set(map(type, branch)) != {int}:
            branch = copy_scalars(branch)
            branch = branch if set(map(type, branch)) == {int} else ()
            object.__setattr__(self, "branch", branch)
        if type(self.attribute) is not str:
            object.__setattr__(self, "attribute", copy_scalar(self.attribute))
        children = set(branch)
        if not children or min(children) != 0 or max(children) != len(children) - 1:
            raise QuestionError(
                f"a split of {self.attribute!r} must number its children 0, 1, 2, ... without a gap"
            )

    def identity(self) -> tuple[Any, ...]:
        """Return what a recorded query recognises it by, its name first: never change these."""
        return ("Split", self.attribute, self.branch)

    def describe(self, schema: Schema | None = None) -> str:
        """Return the values that go to each child, such as ``a | b / c``, in the schema's labels.

        Without a schema, values are codes.
        """
        labels: Sequence[str] = [str(code) for code in range(len(self.branch))]
        if schema is not None:
            check_split(schema, self)
            labels = schema.attributes[self.attribute].labels
        values: list[list[str]] = [[] for _ in range(self.n_children)]
        for label, child in zip(labels, self.branch, strict=True):
            values[child].append(label)
        return " / ".join(" | ".join(of_child) for of_child in values)

    @cached_property
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
        """Return the split with one child per value.

        Parameters
        ----------
        schema
            The public schema.
        attribute
            The attribute to split.

        Examples
        --------
        >>> import privet as pv
        >>> pv.Split.multiway(pv.datasets.load("nursery").schema, "health").n_children
        3
        """
        return cls(attribute, tuple(range(domain_size(schema, attribute))))

    @classmethod
    def value(
        cls, schema: Schema, attribute: str, value: object = None, *, code: int | None = None
    ) -> Split:
        """Return the split of one value (child 1) against the rest (child 0).

        Parameters
        ----------
        schema : Schema
            The public schema.
        attribute : str
            The attribute to split.
        value : str
            The value, by label. An integer is a code, as in 0.1; it is refused where the
            attribute has integers as values, or is a number or a date.
        code : int, optional
            The value by its code, instead.

        Examples
        --------
        >>> import privet as pv
        >>> nursery = pv.datasets.load("nursery").schema
        >>> pv.Split.value(nursery, "children", "2") == pv.Split.value(nursery, "children", code=1)
        True
        >>> pv.Split.value(nursery, "form", "fostered")
        Traceback (most recent call last):
        ...
        privet.errors.QuestionError: 'form' has the values 'complete', 'completed', 'incomplete', \
'foster', got 'fostered'; did you mean 'foster'?
        """
        size = domain_size(schema, attribute)
        if size < 2:
            raise QuestionError(f"{attribute!r} has {size} values; a value split needs 2 or more")
        if code is None:
            chosen = find_code(schema, attribute, value)
        else:
            chosen = check_integer("code", code, 0, size - 1, error=QuestionError)
        return cls(attribute, tuple(int(other == chosen) for other in range(size)))

    @classmethod
    def threshold(
        cls,
        schema: Schema,
        attribute: str,
        value: object = None,
        *,
        at: float | str | date | None = None,
        code: int | None = None,
    ) -> Split:
        """Return the split of values from one on (child 1) against those before it (child 0).

        Parameters
        ----------
        schema : Schema
            The public schema.
        attribute : str
            The attribute to split.
        value : str
            The first value of child 1, by label. An integer is a code, as in 0.1; it is refused
            where the attribute has integers as values or edges that could be meant.
        at : float, str or date, optional
            For a number or a date, the edge to cut at, instead.
        code : int, optional
            The first value of child 1 by its code, instead.

        Examples
        --------
        >>> import privet as pv
        >>> ages = pv.Schema({"age": pv.Numeric(0, 120, bins=4)}, "ill", ["no", "yes"])
        >>> pv.Split.threshold(ages, "age", at=60)
        Split(attribute='age', branch=(0, 0, 1, 1))
        """
        size = domain_size(schema, attribute)
        if at is not None:
            first = find_edge(schema, attribute, at)
        elif code is None and value is not None:
            refuse_edge(schema, attribute, value)
            # of what has an order, an integer that is no edge is a code, as in 0.1
            ordered = attribute_named(schema, attribute).ordered
            first = (read_codes if ordered else find_codes)(schema, attribute, [value])[0]
        else:
            first = check_integer("code", code, 0, error=QuestionError)
        if first not in range(1, size):
            raise QuestionError(
                f"{attribute!r} has {size} values; a threshold must be 1 to {size - 1}, got {first}"
            )
        return cls(attribute, tuple(int(other >= first) for other in range(size)))

    @classmethod
    def groups(cls, schema: Schema, attribute: str, groups: Sequence[object]) -> Split:
        """Return the split with one child for each group of values, and one for the other values.

        Parameters
        ----------
        schema : Schema
            The public schema.
        attribute : str
            The attribute to split.
        groups : list
            For each child, a value or a list of values, by label. Values in no group go to one
            more child.

        Examples
        --------
        >>> import privet as pv
        >>> nursery = pv.datasets.load("nursery").schema
        >>> pv.Split.groups(nursery, "form", [["complete", "completed"], "foster"])
        Split(attribute='form', branch=(0, 0, 2, 1))
        """
        if isinstance(groups, str) or not isinstance(groups, Sequence):
            raise QuestionError(
                f"groups must be a list with the values of each child, got {type(groups).__name__}"
            )
        branch = [len(groups)] * domain_size(schema, attribute)
        for child, values in enumerate(groups):
            for chosen in find_codes(schema, attribute, values):
                if branch[chosen] != len(groups):
                    label = schema.attributes[attribute].labels[chosen]
                    raise QuestionError(f"groups of {attribute!r} name the value {label!r} twice")
                branch[chosen] = child
        return cls(attribute, tuple(branch))


@dataclass(frozen=True, eq=False)
class Cells:
    """Disjoint cells, as a decision tree in flat arrays.

    Node 0 is the root. Node ``i`` tests attribute ``attribute[i]`` (its position in the schema; -1
    for a leaf) and sends code ``c`` to node ``branch[offset[i] + c]``. A leaf belongs to cell
    ``cell[i]``, or to none (-1).

    Parameters
    ----------
    schema
        The public schema.
    attribute
        For each node, the position of the attribute that it tests; -1 for a leaf.
    offset
        For each node, where its branches begin.
    branch
        The node that each code leads to.
    cell
        For each node, the cell that it belongs to, if it is a leaf of one; otherwise -1.
    n_cells
        How many cells there are.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car").schema
    >>> cells = pv.Cells.everything(car).refine({0: pv.Split.multiway(car, "safety")})
    >>> [cell.describe(car) for cell in cells]
    ['safety = low', 'safety = med', 'safety = high']
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
        """Return the whole domain as one cell.

        Parameters
        ----------
        schema
            The public schema.

        Examples
        --------
        >>> import privet as pv
        >>> pv.Cells.everything(pv.datasets.load("car").schema)
        <Cells: 1 cell, 1 node, depth 0>
        """
        return cls._from_lists(schema, [-1], [0], [], [0], 1)

    @classmethod
    def of(
        cls,
        schema: Schema,
        cells: Iterable[Cell | Mapping[str, Any]],
        *,
        max_nodes: int = MAX_NODES,
    ) -> Cells:
        """Compile a list of disjoint cells.

        Parameters
        ----------
        schema : Schema
            The public schema.
        cells : iterable of Cell or mapping
            The cells. A mapping says for some attributes which values are in the cell, by label.
        max_nodes : int
            Refuse a list that needs a larger tree.

        Returns
        -------
        Cells
            The cells, in the order in which they were given.

        Raises
        ------
        OverlapError
            If two cells overlap; it holds both.
        QuestionError
            If an attribute or a value is not in the schema.

        Examples
        --------
        >>> import privet as pv
        >>> nursery = pv.datasets.load("nursery").schema
        >>> pv.Cells.of(nursery, [{"form": "complete"}, {"form": ["foster", "incomplete"]}])
        <Cells: 2 cells, 4 nodes, depth 1>
        """
        listed = [_read_cell(schema, cell) for cell in cells]
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
                    raise _overlap_error(schema, listed[alive[0]], listed[alive[1]])
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

        Parameters
        ----------
        splits
            For some cells, by number, how to split them.

        Examples
        --------
        >>> import privet as pv
        >>> car = pv.datasets.load("car").schema
        >>> halves = pv.Cells.everything(car).refine({0: pv.Split.value(car, "safety", "low")})
        >>> for cell in halves.refine({1: pv.Split.value(car, "persons", "2")}):
        ...     print(cell.describe(car))
        safety = med | high
        safety = low and persons = 4 | more
        safety = low and persons = 2
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
        n_cells = check_integer("n_cells", self.n_cells, 0, error=QuestionError)
        object.__setattr__(self, "n_cells", n_cells)
        self._prove()

    def _prove(self) -> None:
        """Raise unless this is a tree, and keep the parents of its nodes."""
        arrays = (self.attribute, self.offset, self.branch, self.cell)
        small = sum(array.nbytes for array in arrays) <= MAX_RECALLED
        if small and all(array.ndim == 1 for array in arrays):
            held = (array.tobytes() for array in arrays)
            recalled = _recall_parents(self.schema.sizes, self.n_cells, *held)
            parents = np.frombuffer(recalled, dtype=np.int64).copy()
        else:
            parents = _find_parents(self.schema.sizes, self.n_cells, *arrays)
        object.__setattr__(self, "parents", parents)

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

    def _sizes(self) -> list[str]:
        nodes = count_of(len(self.attribute), "node")
        return [count_of(self.n_cells, "cell"), nodes, f"depth {int(self.depths.max())}"]

    def __repr__(self) -> str:
        return one_line("Cells", *self._sizes())

    def _repr_html_(self) -> str:
        title = f"Cells: {', '.join(self._sizes())}"
        if len(self.attribute) > MAX_SHOWN_NODES:
            return html_box(title)
        rows = [(n, cell.describe(self.schema)) for n, cell in enumerate(self.listed)]
        return html_box(title, headers=("number", "cell"), rows=rows)

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


def _find_parents(
    domain_sizes: tuple[int, ...],
    n_cells: int,
    attribute: npt.NDArray[np.int32],
    offset: npt.NDArray[np.int64],
    branch: npt.NDArray[np.int32],
    cell: npt.NDArray[np.int32],
) -> npt.NDArray[np.int64]:
    """Return the parent of each node; raise unless inner nodes point forward only, so that every
    walk ends in one leaf.
    """
    n_nodes = len(attribute)
    if not (n_nodes == len(offset) == len(cell) and n_nodes > 0):
        raise QuestionError("a partition needs one attribute, offset and cell per node")
    inner = np.flatnonzero(attribute >= 0)
    if (attribute < -1).any() or (attribute >= len(domain_sizes)).any():
        raise QuestionError("a partition tests an attribute that the schema does not have")
    sizes = np.asarray(domain_sizes, dtype=np.int64)[attribute[inner]]
    start = offset[inner]
    if (start < 0).any() or (start > len(branch) - sizes).any():
        raise QuestionError("a node of the partition has no branch for some value")
    owner = np.repeat(inner, sizes)
    at = np.repeat(
        start - np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(inner) else start, sizes
    ) + np.arange(sizes.sum())
    target = branch[at]
    if (target <= owner).any() or (target >= n_nodes).any():
        raise QuestionError("a branch of the partition does not point forward to a node")
    parents = np.full(n_nodes, -1, dtype=np.int64)
    parents[target] = owner
    if (parents[target] != owner).any():
        raise QuestionError("a node of the partition has two parents")
    if (cell < -1).any() or (cell >= n_cells).any() or (cell[inner] != -1).any():
        raise QuestionError(
            "a partition has a leaf of a cell that does not exist, or a cell at an inner node"
        )
    return parents


@lru_cache(maxsize=1024)
def _recall_parents(
    domain_sizes: tuple[int, ...],
    n_cells: int,
    attribute: bytes,
    offset: bytes,
    branch: bytes,
    cell: bytes,
) -> bytes:
    """Return what :func:`_find_parents` does, proved once for the same content.

    The same trees are asked about again and again, in copies. All that is remembered is bytes,
    which nobody can change.
    """
    return _find_parents(
        domain_sizes,
        n_cells,
        np.frombuffer(attribute, dtype=np.int32),
        np.frombuffer(offset, dtype=np.int64),
        np.frombuffer(branch, dtype=np.int32),
        np.frombuffer(cell, dtype=np.int32),
    ).tobytes()


def _overlap_error(schema: Schema, first: Cell, second: Cell) -> OverlapError:
    """Return the error for two cells, which says in labels what they are."""
    words = (shorten(cell.describe(schema), 200) for cell in (first, second))
    return OverlapError(first, second, (next(words), next(words)))


def _labels(schema: Schema, condition: Condition) -> list[str]:
    _allowed_codes(schema, Cell((condition,)))
    labels = schema.attributes[condition.attribute].labels
    return [labels[c] for c in read_codes(schema, condition.attribute, condition.codes)]


def _read_cell(schema: Schema, cell: Cell | Mapping[str, Any]) -> Cell:
    """Return a cell from its conditions or from a mapping of values."""
    if isinstance(cell, Cell):
        return cell
    if not isinstance(cell, Mapping):
        raise QuestionError(
            'a cell says for some attributes which values are in it, such as {"form": '
            f'["complete"]}}; got {type(cell).__name__}'
        )
    conditions = [Condition(n, find_codes(schema, n, values)) for n, values in cell.items()]
    return Cell(tuple(conditions))


def check_split(schema: Schema, split: Split) -> None:
    """Raise unless the split names a child for each value of its attribute."""
    size = domain_size(schema, split.attribute)
    if len(split.branch) != size:
        raise QuestionError(
            f"a split of {split.attribute!r} must say a child for each of its {size} values"
        )


def domain_size(schema: Schema, attribute: str) -> int:
    """Return how many values an attribute has."""
    return attribute_named(schema, attribute).size


def _allowed_codes(schema: Schema, cell: Cell) -> dict[int, frozenset[int]]:
    """Return the codes that a cell allows, by attribute position.

    Two tests of one attribute intersect.
    """
    allowed: dict[int, frozenset[int]] = {}
    for test in cell.path:
        size = domain_size(schema, test.attribute)
        codes = frozenset(read_codes(schema, test.attribute, test.codes))
        if bad := [code for code in codes if not 0 <= code < size]:
            raise QuestionError(f"{test.attribute!r} has codes 0 to {size - 1}, got {bad[0]!r}")
        position = schema.index(test.attribute)
        allowed[position] = allowed.get(position, codes) & codes
    return allowed
