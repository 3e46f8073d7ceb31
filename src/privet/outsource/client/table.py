"""Talk to the server of an outsourced table, and check everything that it sends back.

A server is not trusted. :class:`OutsourcedTable` has a method for each of its routes.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Any, TypeVar

from privet.client.transport import Link
from privet.errors import Conflict, OutsourceError, SealError
from privet.outsource.anatomy import Anatomy, CellText
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import SealedPlace, SequenceEntry, check_anatomy, place_of

PAGE = 1000
OWNERS = "/sealed/anatomy"


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
    """Where rows end in a base tree: leaves, classes, and the sealed sub-trees.

    The classes are the base tree's. A sub-tree that is None has to be fetched.
    """

    leaves: list[int]
    classes: list[str]
    subtrees: dict[int, bytes | None]


class OutsourcedTable:
    """A table at its server.

    Args:
        url: where the server is: ``https://HOST[:PORT]``; ``http://`` for this machine, or where
            ``insecure`` says so.
        token: the client's token.
        ring: the keys; without them only what the server knows can be asked for. With them the
            server's description of the table is believed only if the owner sealed it.
        anatomy: the owner's description of the table, where there is no key: the server's must be
            the same.
        ca, insecure, timeout, retry_for: as for a curator.
    """

    def __init__(
        self,
        url: str,
        token: str,
        ring: KeyRing | None = None,
        *,
        anatomy: Anatomy | None = None,
        ca: str | PathLike[str] | None = None,
        insecure: bool = False,
        timeout: float = 300.0,
        retry_for: float = 30.0,
    ) -> None:
        self.link = Link(
            url,
            token,
            ca=ca,
            insecure=insecure,
            timeout=timeout,
            retry_for=retry_for,
            who="server of an outsourced table",
        )
        facts = self.about()
        self.anatomy: Anatomy = facts["anatomy"]
        self._sealer = None if ring is None else Sealer(ring, self.anatomy.id)
        if anatomy is not None and anatomy != self.anatomy:
            raise OutsourceError(
                "the server describes another table than the owner does, so nothing is sent to it"
            )
        if ring is not None and ring.table not in (None, self.anatomy.id):
            raise SealError
        if self._sealer is not None:
            check_anatomy(self._sealer, self.anatomy, self.fetch(OWNERS)[1])
        #: Whether the description is known to be the owner's.
        self.genuine = anatomy is not None or ring is not None
        self.refined = self.predictions = self.rows_held = 0

    def __enter__(self) -> OutsourcedTable:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.link.close()

    @property
    def sealer(self) -> Sealer:
        """What seals and opens."""
        if self._sealer is None:
            raise OutsourceError("this needs the key of the table; give its key file")
        return self._sealer

    @property
    def meter(self) -> Meter:
        """What was spent so far."""
        traffic, sealer = self.link.traffic, self._sealer
        sealed, opened = (0, 0) if sealer is None else (sealer.sealed, sealer.opened)
        return Meter(
            traffic.requests,
            traffic.sent,
            traffic.received,
            sealed,
            opened,
            self.refined,
            self.predictions,
            self.rows_held,
        )

    def holds(self, rows: int) -> None:
        """Note how many rows are in memory."""
        self.rows_held = max(self.rows_held, rows)

    # -- what there is -----------------------------------------------------------------------------

    def about(self) -> dict[str, Any]:
        """Return what the server says of itself.

        In it are an :class:`Anatomy` and :class:`TreeSummary` objects (newest first).
        """
        reply = self.link.get("/about")
        with _looking():
            listed = [_parse_tree_summary(tree) for tree in reply["trees"]]
            whole = {
                name: _check_natural(reply[name])
                for name in ("rows", "values", "groups", "version", "pending", "sealed_limit")
            }
        return {**whole, "anatomy": Anatomy.from_json(reply.get("anatomy")), "trees": listed}

    def newest_tree(self) -> TreeSummary:
        """Return the base tree that was grown last."""
        trees = self.about()["trees"]
        if not trees:
            raise OutsourceError(
                "the server has no tree yet; grow one with 'privet outsource learn'"
            )
        return trees[0]  # type: ignore[no-any-return]

    def rows(self) -> Iterator[TablePage]:
        """Return all rows, page by page."""
        return self._pages("/rows")

    # -- base trees --------------------------------------------------------------------------------

    def grow(
        self, splits: str = "multiway", leaf_size: int = 2, max_depth: int | None = None
    ) -> TreeSummary:
        """Let the server grow a base tree from the identifier table."""
        reply = self._post(
            "/trees", {"splits": splits, "leaf_size": leaf_size, "max_depth": max_depth}
        )
        with _looking():
            return _parse_tree_summary(reply)

    def drop(self, tree: str) -> None:
        """Forget a base tree and its sub-trees."""
        self.link.delete(f"/trees/{tree}")

    def details(self, tree: str) -> TreeDetails:
        """Return the leaves of a base tree."""
        reply = self.link.get(f"/trees/{tree}")
        with _looking():
            sizes = {_check_natural(leaf): _check_natural(rows) for leaf, rows in reply["sizes"]}
            return TreeDetails(
                sizes,
                {
                    _check_natural(leaf): _check_natural(version)
                    for leaf, version in reply["refined"]
                },
            )

    def classify(self, tree: str, rows: Sequence[Sequence[CellText]]) -> list[str]:
        """Return the base tree's classes."""
        reply = self._post(f"/trees/{tree}/predictions", {"rows": rows})
        with _looking():
            return _check_classes(self.anatomy, reply["classes"], len(rows))

    def reach(self, tree: str, rows: Sequence[Sequence[CellText]]) -> Reached:
        """Return where rows end in the base tree.

        Sends what identifies them, never a sensitive value.
        """
        reply = self._post(f"/trees/{tree}/leaves", {"rows": rows})
        with _looking():
            leaves = [_check_natural(leaf) for leaf in reply["leaves"]]
            _require_valid_reply(len(leaves) == len(rows))
            subtrees = {
                int(leaf): None if subtree["sealed"] is None else _decode_base64(subtree["sealed"])
                for leaf, subtree in reply["subtrees"].items()
            }
            return Reached(
                leaves, _check_classes(self.anatomy, reply["classes"], len(rows)), subtrees
            )

    def leaf_rows(self, tree: str, leaf: int) -> Iterator[TablePage]:
        """Return the rows of one leaf, page by page."""
        return self._pages(f"/trees/{tree}/leaves/{leaf}/rows")

    # -- what is sealed ----------------------------------------------------------------------------

    def subtree_place(self, tree: str, leaf: int) -> str:
        """Return where the sub-tree of a leaf is."""
        return f"/trees/{tree}/leaves/{leaf}/subtree"

    def fetch(self, place: str) -> tuple[int, bytes]:
        """Fetch the version and bytes of a sealed object."""
        reply = self.link.get(place)
        with _looking():
            return _check_natural(reply["version"]), _decode_base64(reply["sealed"])

    def store(
        self, place: str, sealed: bytes, replaces: int | None = None, data: int | None = None
    ) -> None:
        """Store a sealed object.

        :class:`Conflict` where another version of it is there than the one to be replaced, or the
        table is of another version than the one that it was learnt from.
        """
        self.link.put(
            place,
            json.dumps(
                {"sealed": encode_base64(sealed), "replaces": replaces, "data": data}
            ).encode(),
        )

    def pending(self) -> list[tuple[int, bytes]]:
        """Return the sealed rows that wait for a group."""
        sealed_rows: list[tuple[int, bytes]] = []
        after: int | None = 0
        while after is not None:
            reply = self.link.get(f"/pending?after={after}&limit={PAGE}")
            with _looking():
                sealed_rows += [
                    (_check_natural(number), _decode_base64(sealed))
                    for number, sealed in reply["pending"]
                ]
                after = _check_next(reply["next"], after)
        return sealed_rows

    def change(self, version: int, **changes: list[Any]) -> None:
        """Change the table in one step.

        Raises :class:`Conflict` where it is of another version by now.
        """
        # The name lets the server tell a change that is sent again, because its answer was lost,
        # from a new one.
        self._post("/changes", {"id": secrets.token_hex(16), "version": version, **changes})

    def change_any(self, **changes: list[Any]) -> None:
        """Change the table, whatever version it is of by now.

        This is for changes that do not depend on the rest.
        """
        retry_step(lambda: self.change(self.about()["version"], **changes))

    # -- how it is done ----------------------------------------------------------------------------

    def _post(self, path: str, body: Any) -> dict[str, Any]:
        return self.link.post(
            path, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
        )

    def _pages(self, path: str) -> Iterator[TablePage]:
        after: int | None = -1
        while after is not None:
            reply = self.link.get(f"{path}?after={after}&limit={PAGE}")
            with _looking():
                page = TablePage(
                    _check_natural(reply["version"]),
                    [_parse_candidate_row(self.anatomy, row) for row in reply["rows"]],
                )
                after = _check_next(reply["next"], after)
                _require_valid_reply(bool(page.rows) or after is None)
            yield page


class _looking:  # noqa: N801 - reads as a statement
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


def _require_valid_reply(holds: bool) -> None:
    if not holds:
        raise ValueError


def _check_natural(value: Any) -> int:
    _require_valid_reply(type(value) is int and 0 <= value < 1 << 63)
    return value  # type: ignore[no-any-return]


def _parse_tree_summary(told: dict[str, Any]) -> TreeSummary:
    tree = TreeSummary(**told)
    _require_valid_reply(
        re.fullmatch(r"[0-9a-f]{32}", tree.id) is not None
        and re.fullmatch(r"[0-9T:+.-]{10,40}", tree.made) is not None
    )
    _require_valid_reply(
        tree.splits in ("multiway", "binary")
        and (tree.max_depth is None or _check_natural(tree.max_depth) >= 0)
    )
    for number in (tree.leaf_size, tree.leaves, tree.largest, tree.changed):
        _check_natural(number)
    return tree


def _check_next(value: Any, after: int) -> int | None:
    _require_valid_reply(value is None or _check_natural(value) > after)  # else it would never end
    return value  # type: ignore[no-any-return]


def _check_cell(value: Any) -> CellText:
    _require_valid_reply(value is None or isinstance(value, str))
    return value  # type: ignore[no-any-return]


def _check_classes(anatomy: Anatomy, listed: list[Any], n_rows: int) -> list[str]:
    _require_valid_reply(len(listed) == n_rows and set(listed) <= set(anatomy.schema.label.labels))
    return listed


def _parse_candidate_row(anatomy: Anatomy, told: dict[str, Any]) -> CandidateRow:
    cells = [_check_cell(cell) for cell in told["cells"]]
    _require_valid_reply(len(cells) == len(anatomy.columns) and type(told["pruning"]) is bool)
    candidates = [(_check_natural(seq), _check_cell(value)) for seq, value in told["candidates"]]
    return CandidateRow(
        _check_natural(told["row"]),
        cells,
        told["pruning"],
        _check_natural(told["gid"]),
        _decode_base64(told["eseq"]),
        candidates,
    )


def _decode_base64(text: str) -> bytes:
    return base64.b64decode(text, validate=True)


def encode_base64(data: bytes) -> str:
    """Encode bytes as they are sent."""
    return base64.b64encode(data).decode()


# Retrying a step where somebody else changed the table in between.

_STEP_TRIES = 20
_T = TypeVar("_T")


def retry_step(step: Callable[[], _T]) -> _T:
    """Run a step, and run it again where the table changed in between.

    The step reads the table and depends on what it read, so it starts again from its beginning.
    """
    for _ in range(_STEP_TRIES):
        try:
            return step()
        except Conflict:
            continue
    raise Conflict("others keep changing the table; try again later")


# What a client spends: bytes, seals and memory.


@dataclass(frozen=True)
class Meter:
    """A reading of what a client has spent.

    Args:
        requests, sent, received: exchanges with the server, and their bytes (heads and bodies).
        sealed, opened: encryptions and decryptions.
        refined: leaves that were refined.
        predictions: rows that were classified.
        rows_held: the most rows that were in memory at once, candidates included.
    """

    requests: int = 0
    sent: int = 0
    received: int = 0
    sealed: int = 0
    opened: int = 0
    refined: int = 0
    predictions: int = 0
    rows_held: int = 0

    def since(self, before: Meter) -> Meter:
        """Return what was spent after another reading.

        The largest number of rows held stays what it is.
        """
        spent = {name: value - getattr(before, name) for name, value in asdict(self).items()}
        return Meter(**(spent | {"rows_held": self.rows_held}))

    def each(self) -> dict[str, float]:
        """Return what one prediction took, on average over all."""
        return {
            name: getattr(self, name) / max(self.predictions, 1)
            for name in ("requests", "sent", "received", "sealed", "opened")
        }
