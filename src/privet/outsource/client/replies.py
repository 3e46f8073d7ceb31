"""Check what a server sends: a server is not trusted, and may be of another version.

Whatever is not what it should be is one clear error (:class:`reading_reply`).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Container
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from privet.errors import OutsourceError
from privet.outsource.anatomy import Anatomy, CellText
from privet.outsource.cipher.sealing import SealedPlace, SequenceEntry, place_of


@dataclass(frozen=True)
class TreeSummary:
    """A base tree at the server.

    ``changed``: rows added or removed since it was grown.
    """

    id: str
    made: str
    splits: str
    leaf_size: int
    max_depth: int | None
    leaves: int
    largest: int
    changed: int


@dataclass(frozen=True)
class TreeDetails:
    """The rows of each leaf of a base tree, and the versions of their sub-trees.

    Sub-trees refine some of the leaves.
    """

    sizes: dict[int, int]
    refined: dict[int, int]


@dataclass(frozen=True)
class CandidateRow:
    """A row of the identifier table, with all sensitive entries of its group."""

    row: int
    cells: list[CellText]
    pruning: bool
    gid: int
    eseq: bytes
    candidates: list[SequenceEntry]

    @property
    def place(self) -> SealedPlace:
        """Return what its sealed number must be bound to."""
        return place_of(self.gid, self.pruning, self.cells, self.candidates)


@dataclass(frozen=True)
class TablePage:
    """Some rows of the table as it was at one version."""

    version: int
    rows: list[CandidateRow]


@dataclass(frozen=True)
class Reached:
    """Where rows end in a base tree: leaves, the base tree's classes, and what lies there."""

    leaves: list[int]
    classes: list[str]
    contents: LeafContents


#: A leaf of a base tree, and the number of a row in it.
Position = tuple[int, int]
FIRST: Position = (0, -1)


@dataclass(frozen=True)
class LeafContents:
    """What lies in leaves: sealed sub-trees, and a page of rows of the leaves without one.

    A sub-tree that is None has to be fetched. Each row of the page, which may be None, is in the
    leaf of the same place in ``row_leaves``; ``next`` is where more rows follow.
    """

    subtrees: dict[int, bytes | None]
    page: TablePage | None = None
    row_leaves: tuple[int, ...] = ()
    next: Position | None = None


class reading_reply:  # noqa: N801 - reads as a statement
    """Whatever a server sends that is not what it should be is one clear error."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(
            kind,
            KeyError | TypeError | ValueError | AttributeError | binascii.Error | OverflowError,
        ):
            raise OutsourceError(
                "the server's answer is not what it should be; is it of another version?"
            ) from None


def check_that(holds: bool) -> None:
    """Raise unless a reply is what it should be."""
    if not holds:
        raise ValueError


def check_natural(value: Any) -> int:
    """Return an integer from 0 that fits into 63 bits."""
    check_that(type(value) is int and 0 <= value < 1 << 63)
    return value  # type: ignore[no-any-return]


def parse_tree(told: dict[str, Any]) -> TreeSummary:
    """Return a base tree as a server describes it."""
    tree = TreeSummary(**told)
    check_that(
        re.fullmatch(r"[0-9a-f]{32}", tree.id) is not None
        and re.fullmatch(r"[0-9T:+.-]{10,40}", tree.made) is not None
    )
    check_that(
        tree.splits in ("multiway", "binary")
        and (tree.max_depth is None or check_natural(tree.max_depth) >= 0)
    )
    for number in (tree.leaf_size, tree.leaves, tree.largest, tree.changed):
        check_natural(number)
    return tree


def check_next(value: Any, after: int) -> int | None:
    """Return where the following page begins."""
    check_that(value is None or check_natural(value) > after)  # else it would never end
    return value  # type: ignore[no-any-return]


def check_cell(value: Any) -> CellText:
    """Return a cell."""
    check_that(value is None or isinstance(value, str))
    return value  # type: ignore[no-any-return]


def check_classes(anatomy: Anatomy, listed: list[Any], n_rows: int) -> list[str]:
    """Return the classes of so many rows."""
    check_that(len(listed) == n_rows and set(listed) <= set(anatomy.schema.label.labels))
    return listed


def parse_row(anatomy: Anatomy, told: dict[str, Any]) -> CandidateRow:
    cells = [check_cell(one) for one in told["cells"]]
    check_that(len(cells) == len(anatomy.columns) and type(told["pruning"]) is bool)
    candidates = [(check_natural(seq), check_cell(value)) for seq, value in told["candidates"]]
    return CandidateRow(
        check_natural(told["row"]),
        cells,
        told["pruning"],
        check_natural(told["gid"]),
        decode_base64(told["eseq"]),
        candidates,
    )


def parse_page(anatomy: Anatomy, told: dict[str, Any], *, grouped: bool) -> TablePage:
    """Return a page of rows of the whole table, or of one leaf."""
    if not grouped:
        rows = [parse_row(anatomy, row) for row in told["rows"]]
    else:
        groups = _parse_groups(told["groups"])
        rows = [_parse_grouped_row(anatomy, row, groups) for row in told["rows"]]
    return TablePage(check_natural(told["version"]), rows)


def parse_subtrees(told: dict[str, Any]) -> dict[int, bytes | None]:
    """Return sealed sub-trees by leaf."""
    return {
        int(leaf): None if subtree["sealed"] is None else decode_base64(subtree["sealed"])
        for leaf, subtree in told.items()
    }


def parse_contents(
    anatomy: Anatomy, told: dict[str, Any], asked: Container[int], after: Position
) -> LeafContents:
    """Return what lies in leaves, of those that were asked for and after a position."""
    subtrees = parse_subtrees(told["subtrees"])
    candidates = told.get("candidates")
    check_that(all(leaf in asked for leaf in subtrees))
    if candidates is None:
        return LeafContents(subtrees)
    groups = _parse_groups(candidates["groups"])
    rows = [_parse_grouped_row(anatomy, row[1:], groups) for row in candidates["rows"]]
    leaves = tuple(check_natural(row[0]) for row in candidates["rows"])
    places = [after, *((leaf, row.row) for leaf, row in zip(leaves, rows, strict=True))]
    in_order = all(one < other for one, other in pairwise(places))
    check_that(in_order and all(leaf in asked and leaf not in subtrees for leaf in leaves))
    following = candidates["next"]
    check_that(following is None or (len(places) > 1 and tuple(following) == places[-1]))
    page = TablePage(check_natural(candidates["version"]), rows)
    return LeafContents(subtrees, page, leaves, None if following is None else places[-1])


_CELL_TYPES = {str, type(None)}


def _parse_groups(told: dict[str, Any]) -> dict[int, list[SequenceEntry]]:
    return {
        int(gid): [(check_natural(seq), check_cell(value)) for seq, value in entries]
        for gid, entries in told.items()
    }


def _parse_grouped_row(
    anatomy: Anatomy, told: list[Any], groups: dict[int, list[SequenceEntry]]
) -> CandidateRow:
    number, cells, pruning, gid, eseq = told
    # at once, because there are many: what JSON holds is exactly of these types
    check_that(len(cells) == len(anatomy.columns) and set(map(type, cells)) <= _CELL_TYPES)
    check_that(type(cells) is list and type(pruning) is bool)
    return CandidateRow(
        check_natural(number),
        cells,
        pruning,
        check_natural(gid),
        decode_base64(eseq),
        groups[gid],
    )


def decode_base64(text: str) -> bytes:
    """Decode bytes as they are sent."""
    return base64.b64decode(text, validate=True)


def encode_base64(data: bytes) -> str:
    """Encode bytes as they are sent."""
    return base64.b64encode(data).decode()
