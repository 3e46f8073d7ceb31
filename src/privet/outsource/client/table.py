"""Talk to the server of an outsourced table, and check everything that it sends back.

A server is not trusted. :class:`OutsourcedTable` has a method for each of its routes.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from typing import Any, TypeVar

from privet.client.transport import PACKED, Link
from privet.errors import Conflict, OutsourceError, SealError
from privet.outsource.anatomy import Anatomy, CellText
from privet.outsource.cipher import KeyRing, Sealer
from privet.outsource.cipher.sealing import check_anatomy
from privet.outsource.client.meter import Meter
from privet.outsource.client.replies import (
    FIRST,
    LeafContents,
    Position,
    Reached,
    TablePage,
    TreeDetails,
    TreeSummary,
    check_classes,
    check_natural,
    check_next,
    check_that,
    decode_base64,
    encode_base64,
    parse_contents,
    parse_page,
    parse_subtrees,
    parse_tree,
    reading_reply,
)

#: A sub-tree that is to be kept: its leaf, what is sealed, and the data version it was made of.
SealedSubtree = tuple[int, bytes, int]
#: Bytes of sealed sub-trees that are sent at once.
_SENT_AT_ONCE = 1 << 22
PAGE = 1000
OWNERS = "/sealed/anatomy"


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
        self._links: list[Link] = []
        self._make_link = partial(
            Link,
            url,
            token,
            ca=ca,
            insecure=insecure,
            timeout=timeout,
            retry_for=retry_for,
            who="server of an outsourced table",
        )
        self.link = self.open_link()
        facts = self.about()
        #: Whether the server answers about many leaves at once; one of 0.1 does not.
        self.batches = "batches" in facts["features"]
        #: The most bytes of one sealed text.
        self.sealed_limit: int = facts["sealed_limit"]
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
        """Close the connections."""
        for link in self._links:
            link.close()

    def open_link(self) -> Link:
        """Open a connection beside the first, for another thread. It is closed with the table."""
        self._links.append(self._make_link())
        return self._links[-1]

    @property
    def sealer(self) -> Sealer:
        """What seals and opens."""
        if self._sealer is None:
            raise OutsourceError("this needs the key of the table; give its key file")
        return self._sealer

    @property
    def meter(self) -> Meter:
        """What was spent so far."""
        traffic, sealer = [link.traffic for link in self._links], self._sealer
        sealed, opened = (0, 0) if sealer is None else (sealer.sealed, sealer.opened)
        return Meter(
            sum(one.requests for one in traffic),
            sum(one.sent for one in traffic),
            sum(one.received for one in traffic),
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
        with reading_reply():
            listed = [parse_tree(tree) for tree in reply["trees"]]
            whole = {
                name: check_natural(reply[name])
                for name in ("rows", "values", "groups", "version", "pending", "sealed_limit")
            }
            # a server of 0.1 names none
            features = [name for name in reply.get("features", []) if isinstance(name, str)]
        return {
            **whole,
            "anatomy": Anatomy.from_json(reply.get("anatomy")),
            "trees": listed,
            "features": features,
        }

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
        with reading_reply():
            return parse_tree(reply)

    def drop(self, tree: str) -> None:
        """Forget a base tree and its sub-trees."""
        self.link.delete(f"/trees/{tree}")

    def details(self, tree: str) -> TreeDetails:
        """Return the leaves of a base tree."""
        reply = self.link.get(f"/trees/{tree}")
        with reading_reply():
            sizes = {check_natural(leaf): check_natural(rows) for leaf, rows in reply["sizes"]}
            return TreeDetails(
                sizes,
                {check_natural(leaf): check_natural(version) for leaf, version in reply["refined"]},
            )

    def classify(self, tree: str, rows: Sequence[Sequence[CellText]]) -> list[str]:
        """Return the base tree's classes."""
        reply = self._post(f"/trees/{tree}/predictions", {"rows": rows})
        with reading_reply():
            return check_classes(self.anatomy, reply["classes"], len(rows))

    def reach(
        self,
        tree: str,
        rows: Sequence[Sequence[CellText]],
        *,
        page: int | None = None,
        waiting: Collection[int] = (),
    ) -> Reached:
        """Return where rows end in the base tree.

        Sends what identifies them, never a sensitive value. A server that can sends ``page`` rows
        of the leaves without a sub-tree along, but none of ``waiting``.
        """
        whole = page is not None and self.batches
        more = {"page": page, "waiting": sorted(waiting)} if whole else {}
        reply = self._post(f"/trees/{tree}/leaves", {"rows": rows, **more}, PACKED if whole else {})
        with reading_reply():
            leaves = [check_natural(leaf) for leaf in reply["leaves"]]
            check_that(len(leaves) == len(rows))
            return Reached(
                leaves,
                check_classes(self.anatomy, reply["classes"], len(rows)),
                parse_contents(self.anatomy, reply, set(leaves), FIRST)
                if whole
                else LeafContents(parse_subtrees(reply["subtrees"])),
            )

    def contents(
        self,
        tree: str,
        leaves: Collection[int],
        after: Position = FIRST,
        *,
        page: int = PAGE,
        refined: bool = True,
    ) -> LeafContents:
        """Return what lies in many leaves: sealed sub-trees, and a page of rows of the others."""
        asked = {"leaves": sorted(leaves), "after": after, "page": page, "refined": refined}
        reply = self._post(f"/trees/{tree}/contents", asked, PACKED)
        with reading_reply():
            return parse_contents(self.anatomy, reply, set(leaves), after)

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
        with reading_reply():
            return check_natural(reply["version"]), decode_base64(reply["sealed"])

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

    def store_subtrees(
        self, tree: str, subtrees: Sequence[SealedSubtree], link: Link | None = None
    ) -> int:
        """Store sealed sub-trees of leaves that have none, and return how many were kept.

        The others had another by then, or the rows that they were learnt from have changed: then
        whoever comes next refines the leaf.
        """
        kept = 0
        link = self.link if link is None else link
        for some in _split_by_size(subtrees):
            if self.batches:
                told = [
                    {"leaf": leaf, "sealed": encode_base64(sealed), "data": data}
                    for leaf, sealed, data in some
                ]
                path = f"/trees/{tree}/subtrees"
                reply = link.post(path, json.dumps({"subtrees": told}).encode())
                with reading_reply():
                    kept += len({check_natural(leaf) for leaf in reply["kept"]})
                continue
            for leaf, sealed, data in some:
                with suppress(Conflict):
                    self.store(self.subtree_place(tree, leaf), sealed, data=data)
                    kept += 1
        return kept

    def pending(self) -> list[tuple[int, bytes]]:
        """Return the sealed rows that wait for a group."""
        sealed_rows: list[tuple[int, bytes]] = []
        after: int | None = 0
        while after is not None:
            reply = self.link.get(f"/pending?after={after}&limit={PAGE}")
            with reading_reply():
                sealed_rows += [
                    (check_natural(number), decode_base64(sealed))
                    for number, sealed in reply["pending"]
                ]
                after = check_next(reply["next"], after)
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

    def _post(
        self, path: str, body: Any, headers: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        return self.link.post(
            path, json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode(), headers
        )

    def _pages(self, path: str) -> Iterator[TablePage]:
        after: int | None = -1
        while after is not None:
            asked = f"{path}?after={after}&limit={PAGE}"
            if self.batches:
                reply = self.link.get(f"{asked}&grouped=true", PACKED)
            else:
                reply = self.link.get(asked)
            with reading_reply():
                page = parse_page(self.anatomy, reply, grouped=self.batches)
                after = check_next(reply["next"], after)
                check_that(bool(page.rows) or after is None)
            yield page


def _split_by_size(subtrees: Sequence[SealedSubtree]) -> Iterator[list[SealedSubtree]]:
    """Sub-trees that are sent at once: as many as fit, but at least one."""
    some: list[SealedSubtree] = []
    for subtree in subtrees:
        if some and sum(len(one[1]) for one in some) + len(subtree[1]) > _SENT_AT_ONCE:
            yield some
            some = []
        some.append(subtree)
    if some:
        yield some


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
