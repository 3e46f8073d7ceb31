"""Define a store: what a server keeps, whatever database it is in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from privet._types import Ints, Splits
from privet.domain.tree import Tree
from privet.errors import Conflict, OutsourceError
from privet.outsource.anatomy import Anatomy, CellText


class Full(OutsourceError):
    """There is no room for another object; something must be removed first."""


class Stale(Conflict):
    """The object to be replaced has changed.

    Carries the version that is there; None for nothing.
    """

    def __init__(self, what: str, version: int | None) -> None:
        self.version = version
        super().__init__(f"{what} has changed since; nothing was stored")


class OtherData(Conflict):
    """The rows have changed since. Carries the data version that is there."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__("the rows have changed since; nothing was stored")


@dataclass(frozen=True)
class Facts:
    """How much the store holds. ``version`` goes up with every change of the rows."""

    version: int
    rows: int
    values: int
    groups: int
    pending: int


@dataclass(frozen=True)
class TreeSettings:
    """How a tree is grown."""

    splits: Splits = "multiway"
    leaf_size: int = 2
    max_depth: int | None = None


@dataclass(frozen=True)
class Summary:
    """A tree without its structure.

    ``largest``: rows of its largest leaf; ``changed``: rows that came or went since it was grown.
    """

    id: str
    made: str
    splits: Splits
    leaf_size: int
    max_depth: int | None
    leaves: int
    largest: int
    changed: int

    def to_json(self) -> dict[str, Any]:
        """Return it as a client gets it."""
        return asdict(self)


@dataclass(frozen=True, eq=False)
class LeafFacts:
    """The rows of each leaf of a tree that has some, and the versions of sealed sub-trees."""

    summary: Summary
    sizes: list[tuple[int, int]]
    refined: list[tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Training:
    """The identifier table as codes, as of one data version.

    ``numbers`` are the numbers of its rows, in order.
    """

    version: int
    numbers: Ints
    codes: list[npt.NDArray[Any]]
    classes: npt.NDArray[Any]
    pruning: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Row:
    """A row of the identifier table with the sensitive values of its group.

    One of the values is its own.
    """

    number: int
    cells: tuple[CellText, ...]
    pruning: bool
    gid: int
    eseq: bytes
    candidates: list[tuple[int, CellText]]


@dataclass(frozen=True)
class StoredPage:
    """Rows of one data version, in order of their numbers.

    ``next`` is where the following page begins, None after the last.
    """

    version: int
    rows: list[Row]
    next: int | None


@dataclass(frozen=True)
class LeafPage:
    """Some of what lies in several leaves: sealed sub-trees, and the rows of leaves without one.

    Rows are of one data version, each after the leaf that it is in, in order of leaves and numbers.
    They have no candidates of their own: ``groups`` has those of each group, once. ``next`` is the
    leaf and number of the last row, None where no rows follow.
    """

    version: int
    subtrees: dict[int, Sealed]
    rows: list[tuple[int, Row]]
    groups: dict[int, list[tuple[int, CellText]]]
    next: tuple[int, int] | None


@dataclass(frozen=True)
class SealedSubtree:
    """A sub-tree that is to be kept: for which leaf, and from which data version it was made."""

    leaf: int
    body: bytes
    data: int


@dataclass(frozen=True)
class PageLimits:
    """How much a page holds at most: rows, their candidates, and bytes of sealed sub-trees."""

    rows: int
    values: int
    sealed: int


@dataclass(frozen=True)
class Sealed:
    """Bytes that only a client can read. ``body`` is None where it was left out for its size."""

    version: int
    body: bytes | None


@dataclass(frozen=True)
class NewRow:
    """A row that comes."""

    cells: Sequence[CellText]
    pruning: bool
    gid: int
    eseq: bytes


@dataclass(frozen=True)
class Change:
    """What comes and goes, all of it or nothing.

    ``version`` is the data version that it is meant for. A change that has an ``id`` is done once:
    sent again, because its answer was lost, it gets the same answer.
    """

    version: int
    rows: Sequence[NewRow] = ()
    values: Sequence[tuple[int, int, CellText]] = ()
    remove_rows: Sequence[int] = ()
    pending: Sequence[bytes] = ()
    remove_pending: Sequence[int] = ()
    reseal: Sequence[tuple[int, bytes]] = ()
    id: str | None = None


@dataclass(frozen=True)
class StoreLimits:
    """How much a store holds at most.

    The limits are of trees, sealed objects with a name, pending objects, and bytes of one of these.
    """

    trees: int = 64
    names: int = 16
    pending: int = 100_000
    pending_bytes: int = 1 << 16


@dataclass(frozen=True)
class Changed:
    """The new data version, and the numbers of the pending objects that came."""

    version: int
    pending: list[int] = field(default_factory=list)


class Store(Protocol):
    """A place for both halves and what belongs to them.

    Several threads may use it at once.

    Every method is one transaction: what it returns is of one moment, and what it stored is durable
    when it returns.
    """

    anatomy: Anatomy

    def about(self) -> tuple[Facts, list[Summary]]:
        """Return how much there is, and the trees, newest first."""
        ...

    def training(self) -> Training:
        """Return what a tree is grown from."""
        ...

    def add_tree(
        self, settings: TreeSettings, tree: Tree, training: Training, room: StoreLimits
    ) -> Summary:
        """Keep a tree that was grown, and which rows are in which leaf.

        Rows that came or went meanwhile are accounted for.
        """
        ...

    def tree(self, id: str, *, looked_up: bool = True) -> Tree:  # noqa: A002 - its name everywhere
        """Return a tree; its nodes are numbered as they are stored.

        Not ``looked_up``, another process may have removed it meanwhile.
        """
        ...

    def leaf_facts(self, id: str) -> LeafFacts:  # noqa: A002
        """Return the facts about a tree and its leaves."""
        ...

    def remove_tree(self, id: str) -> None:  # noqa: A002
        """Forget a tree and its sealed sub-trees."""
        ...

    def page(
        self, after: int, limit: int, most_values: int, leaf: tuple[str, int] | None = None
    ) -> StoredPage:
        """Return rows with larger numbers than ``after``.

        They are of the whole table, or of a leaf of a tree.

        The page ends early, after at least one row, where the candidates would be more than
        ``most_values``.
        """
        ...

    def subtree(self, id: str, leaf: int) -> Sealed:  # noqa: A002
        """Return the sealed sub-tree of a leaf."""
        ...

    def subtrees(self, id: str, leaves: Sequence[int], most_bytes: int) -> dict[int, Sealed]:  # noqa: A002
        """Return the sub-trees of several leaves that have one.

        Their bytes are there as long as all of them fit.
        """
        ...

    def read_leaves(
        self,
        id: str,  # noqa: A002
        leaves: Sequence[int],
        after: tuple[int, int],
        most: PageLimits,
        *,
        refined: bool = True,
    ) -> LeafPage:
        """Return what lies in several leaves: sub-trees, and rows of the leaves without one.

        Rows come after a leaf and a number. Not ``refined``, rows of all leaves come, and no
        sub-tree does.
        """
        ...

    def put_subtrees(
        self,
        id: str,  # noqa: A002
        subtrees: Sequence[SealedSubtree],
    ) -> list[int]:
        """Keep sealed sub-trees, and return the leaves of those that were kept.

        One is left out where its leaf has another, or the rows have changed since it was made.
        """
        ...

    def put_subtree(
        self,
        id: str,  # noqa: A002
        leaf: int,
        body: bytes,
        replaces: int | None,
        data: int | None = None,
    ) -> int:
        """Keep a sealed sub-tree, and return its version.

        ``replaces`` says what is there, ``data`` from which data version it was made.
        """
        ...

    def sealed(self, name: str) -> Sealed:
        """Return a sealed object."""
        ...

    def put_sealed(
        self,
        name: str,
        body: bytes,
        replaces: int | None,
        room: StoreLimits,
        data: int | None = None,
    ) -> int:
        """Keep a sealed object, and return its version."""
        ...

    def pending(self, after: int, limit: int) -> tuple[list[tuple[int, bytes]], int | None]:
        """Return sealed rows that wait for a group, and where the following ones begin."""
        ...

    def change(self, change: Change, room: StoreLimits) -> Changed:
        """Apply a change."""
        ...

    def close(self) -> None:
        """Close the database."""
        ...
