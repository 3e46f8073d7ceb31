"""Handle every request of a client, without HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from privet._types import Ints, Json
from privet.domain.encode.rows import encode_entries
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.learners.baselines import grow_c45
from privet.model.structure import tree_to
from privet.outsource.anatomy import STATEMENT
from privet.outsource.server import requests
from privet.outsource.server.requests import NotForThisToken, TooLarge, decode_base64, encode_base64
from privet.outsource.server.state import ServerLimits, ServerState
from privet.outsource.store.base import (
    Change,
    Full,
    LeafPage,
    NewRow,
    PageLimits,
    Row,
    Sealed,
    SealedSubtree,
    Store,
    StoredPage,
    StoreLimits,
    Summary,
    TreeSettings,
)
from privet.service.admission import Admission

#: What this server can do that one of 0.1 could not: clients ask for no more than it has.
FEATURES = ("batches",)


class ServerHandlers:
    """Handle what clients ask for.

    Several threads may use it at once; trees grow one at a time.
    """

    def __init__(self, state: ServerState, limits: ServerLimits | None = None) -> None:
        self.limits = limits or ServerLimits()
        self._admission, self._roles = Admission(state.accounts, self.limits), state.roles
        self.store = state.store()
        self._grower = ThreadPoolExecutor(1, thread_name_prefix="grower")

    def check_key_holder(self, client: str) -> None:
        """Raise unless the client's token is good for what only a holder of the key needs."""
        if self._roles.of(client) != "key":
            raise NotForThisToken(
                "this token is good for base trees and their predictions only; the owner of the "
                "server can change that with 'privet outsource client role'"
            )

    def close(self) -> None:
        """Close the store, after the tree that is growing."""
        self._grower.shutdown(wait=True, cancel_futures=True)
        self.store.close()

    def admit(self, token: str | None, address: str, path: str) -> str:  # noqa: ARG002
        """Return the client of a token."""
        return self._admission.admit(token, address)

    def about(self) -> Json:
        """Return what is public about the table, and what there is."""
        facts, trees = self.store.about()
        return {
            "anatomy": self.store.anatomy.to_json(),
            "rows": facts.rows,
            "values": facts.values,
            "groups": facts.groups,
            "version": facts.version,
            "pending": facts.pending,
            "sealed_limit": self.limits.sealed,
            "trees": [tree.to_json() for tree in trees],
            "statement": STATEMENT,
            "features": list(FEATURES),
        }

    # -- trees -------------------------------------------------------------------------------------

    def grow(self, asked: requests.TreeToGrow) -> Future[Json]:
        """Grow a tree, after those that were asked for before."""
        settings, room = (
            TreeSettings(asked.splits, asked.leaf_size, asked.max_depth),
            self.limits.room,
        )
        _, trees = self.store.about()
        if len(trees) >= room.trees:  # before the work; who is faster is decided when it is kept
            raise Full(
                f"there are {len(trees)} trees, which is all that is allowed; delete one first"
            )
        return self._grower.submit(
            lambda: grow_tree(self.store, settings, room, self.limits.nodes).to_json()
        )

    def tree(self, name: str) -> Json:
        """Return a tree, and the facts about its leaves."""
        facts = self.store.leaf_facts(name)
        return {
            **facts.summary.to_json(),
            "structure": tree_to(self.store.tree(name)),
            "sizes": [list(pair) for pair in facts.sizes],
            "refined": [list(pair) for pair in facts.refined],
        }

    def predict(self, name: str, rows: Sequence[Sequence[Any]]) -> Json:
        """Return the classes that a tree gives to rows."""
        tree = self.store.tree(name)
        return {"classes": self._classes(tree, self._reached(tree, rows))}

    def leaves(self, name: str, asked: requests.RowsToRefine) -> Json:
        """Return the leaf that each row reaches, its class there, and what lies in the leaves.

        That are their sealed sub-trees and, where they were asked for, rows of the others.
        """
        tree = self.store.tree(name, looked_up=False)
        reached = self._reached(tree, asked.rows)
        leaves = np.unique(reached).tolist()
        subtrees = self.store.subtrees(name, leaves, self.limits.inline)
        answer = {"leaves": reached.tolist(), "classes": self._classes(tree, reached)}
        if asked.page is None:
            return {**answer, "subtrees": _subtrees_to(subtrees)}
        known = {*subtrees, *asked.waiting}
        ends = tree.cells.attribute < 0  # a row whose value is unknown stops before a leaf
        bare = [leaf for leaf in leaves if leaf not in known and ends[leaf]]
        if not bare:  # as nearly always: nothing else to be looked up
            return {**answer, "subtrees": _subtrees_to(subtrees), "candidates": None}
        page = self.store.read_leaves(name, bare, (0, -1), self._page(asked.page))
        subtrees |= page.subtrees  # that have come since
        return {**answer, "subtrees": _subtrees_to(subtrees), "candidates": _candidates_to(page)}

    def read_leaves(self, name: str, asked: requests.LeavesToRead) -> Json:
        """Return what lies in leaves: sealed sub-trees, and rows of the others."""
        page = self.store.read_leaves(
            name, asked.leaves, asked.after, self._page(asked.page), refined=asked.refined
        )
        return {"subtrees": _subtrees_to(page.subtrees), "candidates": _candidates_to(page)}

    def _page(self, rows: int) -> PageLimits:
        return PageLimits(min(rows, self.limits.rows), self.limits.page_values, self.limits.inline)

    def put_subtrees(self, name: str, asked: requests.SubtreesToKeep) -> Json:
        """Keep sealed sub-trees of leaves that have none."""
        subtrees = [
            SealedSubtree(
                one.leaf, self._sealed_bytes(f"subtrees.{i}.sealed", one.sealed), one.data
            )
            for i, one in enumerate(asked.subtrees)
        ]
        return {"kept": self.store.put_subtrees(name, subtrees)}

    def _reached(self, tree: Tree, rows: Sequence[Sequence[Any]]) -> Ints:
        if len(rows) > self.limits.rows:
            raise ParameterError(f"rows: at most {self.limits.rows} at once")
        names = tree.schema.names
        for i, row in enumerate(rows):
            if len(row) != len(names):
                raise ParameterError(f"rows.{i}: must be {len(names)} cells: {', '.join(names)}")
        columns: list[Sequence[Any]] = (
            list(zip(*rows, strict=True)) if rows else [() for _ in names]
        )
        return tree.reach(encode_entries(tree.schema.attributes.values(), columns))

    @staticmethod
    def _classes(tree: Tree, nodes: Ints) -> list[str]:
        labels, best = tree.schema.label.labels, tree.counts.argmax(axis=1)
        return [labels[label] for label in best[nodes].tolist()]

    # -- rows --------------------------------------------------------------------------------------

    def rows(self, asked: requests.Slice, leaf: tuple[str, int] | None = None) -> Json:
        """Return rows with their candidates, of the whole table or of a leaf."""
        page = self.store.page(
            asked.after, min(asked.limit, self.limits.rows), self.limits.page_values, leaf
        )
        return _grouped_page_to(page) if asked.grouped else _page_to(page)

    # -- what is sealed ----------------------------------------------------------------------------

    def subtree(self, name: str, leaf: int) -> Json:
        """Return the sealed sub-tree of a leaf."""
        return _sealed_to(self.store.subtree(name, leaf))

    def put_subtree(self, name: str, leaf: int, sealing: requests.Sealing) -> Json:
        """Keep a sealed sub-tree."""
        return {
            "version": self.store.put_subtree(
                name, leaf, self._body(sealing), sealing.replaces, sealing.data
            )
        }

    def sealed(self, name: str) -> Json:
        """Return a sealed object."""
        return _sealed_to(self.store.sealed(name))

    def put_sealed(self, name: str, sealing: requests.Sealing) -> Json:
        """Keep a sealed object."""
        return {
            "version": self.store.put_sealed(
                name, self._body(sealing), sealing.replaces, self.limits.room, sealing.data
            )
        }

    def _body(self, sealing: requests.Sealing) -> bytes:
        return self._sealed_bytes("sealed", sealing.sealed)

    def _sealed_bytes(self, where: str, text: str) -> bytes:
        body = decode_base64(where, text)
        if len(body) > self.limits.sealed:
            raise TooLarge(f"what is sealed may have {self.limits.sealed} bytes")
        return body

    def pending(self, asked: requests.PendingSlice) -> Json:
        """Return sealed rows that wait for a group."""
        waiting, following = self.store.pending(asked.after, asked.limit)
        return {
            "pending": [[number, encode_base64(body)] for number, body in waiting],
            "next": following,
        }

    # -- changes -----------------------------------------------------------------------------------

    def change(self, asked: requests.Changes) -> Json:
        """Apply a change, all of it or nothing."""
        change = Change(
            asked.version,
            [
                NewRow(row.cells, row.pruning, row.gid, decode_base64(f"rows.{i}.eseq", row.eseq))
                for i, row in enumerate(asked.rows)
            ],
            asked.values,
            asked.remove_rows,
            [decode_base64(f"pending.{i}", text) for i, text in enumerate(asked.pending)],
            asked.remove_pending,
            [
                (number, decode_base64(f"reseal.{i}", text))
                for i, (number, text) in enumerate(asked.reseal)
            ],
            asked.id,
        )
        done = self.store.change(change, self.limits.room)
        return {"version": done.version, "pending_ids": done.pending}


def _sealed_to(sealed: Sealed) -> Json:
    return {
        "version": sealed.version,
        "sealed": None if sealed.body is None else encode_base64(sealed.body),
    }


def _page_to(page: StoredPage) -> Json:
    rows = [
        {
            "row": r.number,
            "cells": r.cells,
            "pruning": r.pruning,
            "gid": r.gid,
            "eseq": encode_base64(r.eseq),
            "candidates": r.candidates,
        }
        for r in page.rows
    ]
    return {"rows": rows, "next": page.next, "version": page.version}


def _subtrees_to(subtrees: Mapping[int, Sealed]) -> Json:
    return {str(leaf): _sealed_to(sealed) for leaf, sealed in subtrees.items()}


def _row_to(row: Row) -> list[Any]:
    """A row without its candidates, which stand with its group."""
    return [row.number, row.cells, row.pruning, row.gid, encode_base64(row.eseq)]


def _grouped_page_to(page: StoredPage) -> Json:
    return {
        "version": page.version,
        "rows": [_row_to(row) for row in page.rows],
        "groups": {str(row.gid): row.candidates for row in page.rows},
        "next": page.next,
    }


def _candidates_to(page: LeafPage) -> Json:
    return {
        "version": page.version,
        "rows": [[leaf, *_row_to(row)] for leaf, row in page.rows],
        "groups": {str(gid): entries for gid, entries in page.groups.items()},
        "next": page.next,
    }


# Growing a base tree from the identifier table alone (the paper's cdbsl).


def grow_tree(
    store: Store, settings: TreeSettings, room: StoreLimits, nodes: int | None = None
) -> Summary:
    """Grow a tree from the rows that are not for pruning, prune it with the others, and keep it."""
    rows = store.training()
    grown, kept = ~rows.pruning, rows.pruning
    tree = grow_c45(
        store.anatomy.identifying,
        [column[grown] for column in rows.codes],
        rows.classes[grown],
        splits=settings.splits,
        max_depth=settings.max_depth,
        min_rows=settings.leaf_size,
        max_nodes=nodes,
        prune=([column[kept] for column in rows.codes], rows.classes[kept]) if kept.any() else None,
    )
    return store.add_tree(settings, tree, rows, room)
