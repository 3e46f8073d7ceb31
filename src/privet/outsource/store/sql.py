"""Share everything among the stores but how a database is reached."""

from __future__ import annotations

import json
import secrets
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from privet.domain.tree import Tree
from privet.errors import NotThere, OutsourceError
from privet.outsource.anatomy import Anatomy
from privet.outsource.store import changes, tables
from privet.outsource.store import leaves as store_leaves
from privet.outsource.store.base import (
    Change,
    Changed,
    Facts,
    Full,
    LeafFacts,
    LeafPage,
    OtherData,
    PageLimits,
    Row,
    Sealed,
    SealedSubtree,
    Stale,
    StoredPage,
    StoreLimits,
    Summary,
    Training,
    TreeSettings,
)
from privet.outsource.store.tables import FORMAT, OWNERS, Transaction, cell_names

_SUMMARY = (
    "SELECT t.id, t.made, t.splits, t.leaf_size, t.max_depth, l.n_leaves, l.largest, t.changed "
    "FROM trees AS t JOIN (SELECT tree, count(*) AS n_leaves, max(n_rows) AS largest FROM leaves "
    "GROUP BY tree) AS l ON l.tree = t.number "
)


class SqlStore(ABC):
    """A store in a database."""

    anatomy: Anatomy

    def __init__(self) -> None:
        self._trees: dict[str, tuple[int, Tree]] = {}
        self._trees_lock = threading.Lock()
        with self.reading() as session:
            line = session.rows("SELECT format, anatomy FROM meta")
        if len(line) != 1 or line[0][0] != FORMAT:
            raise OutsourceError(
                f"this store has another format; this Privet reads format {FORMAT}"
            )
        self.anatomy = Anatomy.from_json(json.loads(line[0][1]))
        self._cells = ", ".join(f"it.{name}" for name in cell_names(len(self.anatomy.columns)))

    @abstractmethod
    def reading(self) -> AbstractContextManager[Transaction]:
        """Open a transaction that sees one moment."""

    @abstractmethod
    def writing(self) -> AbstractContextManager[Transaction]:
        """Open a transaction in which nobody else writes.

        It is durable when it is left, and undone where it is left by an error.
        """

    def glance(self, sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """Return the answer to one statement."""
        with self.reading() as session:
            return session.rows(sql, values)

    @abstractmethod
    def close(self) -> None:
        """Close the database."""

    def about(self) -> tuple[Facts, list[Summary]]:
        with self.reading() as session:
            ((version, rows, values, groups),) = session.rows(
                "SELECT version, n_rows, n_values, n_groups FROM meta"
            )
            ((pending,),) = session.rows("SELECT count(*) FROM pending")
            summaries = session.rows(f"{_SUMMARY} ORDER BY t.number DESC")
        return Facts(version, rows, values, groups, pending), [Summary(*line) for line in summaries]

    # -- trees -------------------------------------------------------------------------------------

    def training(self) -> Training:
        with self.reading() as session:
            return tables.read_training_rows(session, self.anatomy)

    def add_tree(
        self, settings: TreeSettings, tree: Tree, training: Training, room: StoreLimits
    ) -> Summary:
        name, made = secrets.token_hex(16), datetime.now(UTC).isoformat(timespec="seconds")
        structure, stored = tables.as_stored(self.anatomy, tree)
        with self.writing() as session:
            ((there,),) = session.rows("SELECT count(*) FROM trees")
            if there >= room.trees:
                raise Full(
                    f"there are {there} trees, which is all that is allowed; delete one first"
                )
            ((number,),) = session.rows("SELECT next_tree FROM meta")
            session.run("UPDATE meta SET next_tree = next_tree + 1")
            changed = tables.place_rows(session, self.anatomy, number, stored, training)
            session.run(
                "INSERT INTO trees VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                (
                    number,
                    name,
                    made,
                    settings.splits,
                    settings.leaf_size,
                    settings.max_depth,
                    changed,
                    structure,
                ),
            )
            ((*summary,),) = session.rows(f"{_SUMMARY} WHERE t.number = $1", (number,))
        return Summary(*summary)

    def tree(self, id: str, *, looked_up: bool = True) -> Tree:  # noqa: A002
        if not looked_up and (known := self._trees.get(id)) is not None:
            return known[1]
        with self.reading() as session:
            _, tree = self._tree(session, id)
        return tree

    def leaf_facts(self, id: str) -> LeafFacts:  # noqa: A002
        with self.reading() as session:
            number = _find_tree_number(session, id)
            ((*summary,),) = session.rows(f"{_SUMMARY} WHERE t.number = $1", (number,))
            sizes = session.rows(
                "SELECT leaf, n_rows FROM leaves WHERE tree = $1 AND n_rows > 0 ORDER BY leaf",
                (number,),
            )
            refined = session.rows(
                (
                    "SELECT leaf, version FROM subtrees WHERE tree = $1 AND body IS NOT NULL ORDER "
                    "BY leaf"
                ),
                (number,),
            )
        return LeafFacts(
            Summary(*summary),
            [(leaf, n) for leaf, n in sizes],
            [(leaf, version) for leaf, version in refined],
        )

    def remove_tree(self, id: str) -> None:  # noqa: A002
        with self.writing() as session:
            number = _find_tree_number(session, id)
            for table in ("subtrees", "places", "leaves"):
                session.run(f"DELETE FROM {table} WHERE tree = $1", (number,))
            session.run("DELETE FROM trees WHERE number = $1", (number,))
        with self._trees_lock:
            self._trees.pop(id, None)

    def _tree(self, session: Transaction, name: str) -> tuple[int, Tree]:
        """The number of a tree, and the tree, which is parsed once."""
        number = _find_tree_number(session, name)
        with self._trees_lock:
            known = self._trees.get(name)
        if known is None:
            ((structure,),) = session.rows(
                "SELECT structure FROM trees WHERE number = $1", (number,)
            )
            known = number, tables.from_stored(self.anatomy, structure)
            with self._trees_lock:
                self._trees[name] = known
        return known

    # -- rows --------------------------------------------------------------------------------------

    @property
    def _columns(self) -> str:
        return f"it.number, it.pruning, it.gid, it.eseq, {self._cells}"

    def page(
        self, after: int, limit: int, most_values: int, leaf: tuple[str, int] | None = None
    ) -> StoredPage:
        columns = self._columns
        with self.reading() as session:
            ((version,),) = session.rows("SELECT version FROM meta")
            if leaf is None:
                found = session.rows(
                    f"SELECT {columns} FROM it WHERE number > $1 ORDER BY number LIMIT $2",
                    (after, limit + 1),
                )
            else:
                number, tree = self._tree(session, leaf[0])
                if not 0 <= leaf[1] < tree.n_nodes:
                    raise NotThere("the tree has no such leaf")
                found = session.rows(
                    f"SELECT {columns} FROM it JOIN places AS p ON p.number = it.number "
                    "WHERE p.tree = $1 AND p.leaf = $2 AND p.number > $3 ORDER BY p.number LIMIT $4",  # noqa: E501
                    (number, leaf[1], after, limit + 1),
                )
            kept = found[:limit]
            values = store_leaves.read_candidates(
                session, sorted({line[2] for line in kept}), most_values
            )
            if sum(len(values.get(line[2], ())) for line in kept) > most_values:
                gids = [line[2] for line in kept]
                kept = kept[: store_leaves.count_fitting_rows(session, gids, most_values)]
                values = store_leaves.read_candidates(session, sorted({line[2] for line in kept}))
        rows = [
            Row(line[0], line[4:], line[1], line[2], line[3], values.get(line[2], []))
            for line in kept
        ]
        return StoredPage(version, rows, rows[-1].number if len(kept) < len(found) else None)

    # -- what is sealed ----------------------------------------------------------------------------

    def subtree(self, id: str, leaf: int) -> Sealed:  # noqa: A002
        with self.reading() as session:
            number = _find_tree_number(session, id)
            rows = session.rows(
                (
                    "SELECT version, body FROM subtrees WHERE tree = $1 AND leaf = $2 AND body IS "
                    "NOT NULL"
                ),
                (number, leaf),
            )
        if not rows:
            raise NotThere("this leaf has no sealed sub-tree")
        return Sealed(*rows[0])

    def subtrees(self, id: str, leaves: Sequence[int], most_bytes: int) -> dict[int, Sealed]:  # noqa: A002
        known = self._trees.get(id)
        number = self._look_up(id) if known is None else known[0]
        if len(leaves) == 1:  # asked for every prediction: one plain statement
            rows = self.glance(
                "SELECT leaf, version, body FROM subtrees WHERE tree = $1 AND body IS NOT NULL AND "
                "leaf = $2",
                (number, leaves[0]),
            )
            return {
                leaf: Sealed(version, body if len(body) <= most_bytes else None)
                for leaf, version, body in rows
            }
        with self.reading() as session:
            return store_leaves.read_subtrees(session, number, leaves, most_bytes)

    def read_leaves(
        self,
        id: str,  # noqa: A002
        leaves: Sequence[int],
        after: tuple[int, int],
        most: PageLimits,
        *,
        refined: bool = True,
    ) -> LeafPage:
        with self.reading() as session:
            tree = self._tree(session, id)
            return store_leaves.read(
                session, tree, self._columns, leaves, after, most, refined=refined
            )

    def put_subtrees(
        self,
        id: str,  # noqa: A002
        subtrees: Sequence[SealedSubtree],
    ) -> list[int]:
        with self.writing() as session:
            return store_leaves.keep_subtrees(session, self._tree(session, id), subtrees)

    def _look_up(self, name: str) -> int:
        with self.reading() as session:
            return self._tree(session, name)[0]

    def put_subtree(
        self,
        id: str,  # noqa: A002
        leaf: int,
        body: bytes,
        replaces: int | None,
        data: int | None = None,
    ) -> int:
        with self.writing() as session:
            number, tree = self._tree(session, id)
            if not 0 <= leaf < tree.n_nodes or tree.cells.attribute[leaf] >= 0:
                raise NotThere("the tree has no such leaf")
            _check_data(session, data)
            return _replace(session, "subtrees", {"tree": number, "leaf": leaf}, body, replaces)

    def sealed(self, name: str) -> Sealed:
        rows = self.glance(
            "SELECT version, body FROM sealed WHERE name = $1 AND body IS NOT NULL", (name,)
        )
        if not rows:
            raise NotThere("there is no sealed object of this name")
        return Sealed(*rows[0])

    def put_sealed(
        self,
        name: str,
        body: bytes,
        replaces: int | None,
        room: StoreLimits,
        data: int | None = None,
    ) -> int:
        with self.writing() as session:
            ((others,),) = session.rows(
                "SELECT count(*) FROM sealed WHERE name NOT IN ($1, $2)", (name, OWNERS)
            )
            if others >= room.names:
                raise Full(f"there are {others} sealed objects, which is all that is allowed")
            _check_data(session, data)
            return _replace(session, "sealed", {"name": name}, body, replaces)

    def pending(self, after: int, limit: int) -> tuple[list[tuple[int, bytes]], int | None]:
        with self.reading() as session:
            rows = session.rows(
                "SELECT id, body FROM pending WHERE id > $1 ORDER BY id LIMIT $2",
                (after, limit + 1),
            )
        kept = [(number, body) for number, body in rows[:limit]]
        return kept, kept[-1][0] if len(rows) > limit else None

    # -- changes -----------------------------------------------------------------------------------

    def change(self, change: Change, room: StoreLimits) -> Changed:
        with self.writing() as session:
            grown = [
                self._tree(session, name)
                for (name,) in session.rows("SELECT id FROM trees ORDER BY number")
            ]
            return changes.apply(session, self.anatomy, grown, change, room)


def _find_tree_number(session: Transaction, name: str) -> int:
    rows = session.rows("SELECT number FROM trees WHERE id = $1", (name,))
    if not rows:
        raise NotThere("there is no such tree")
    return int(rows[0][0])


def _check_data(session: Transaction, data: int | None) -> None:
    """What was made of rows that have gone since may remember them."""
    ((version,),) = session.rows("SELECT version FROM meta")
    if data is not None and data != version:
        raise OtherData(version)


def _replace(
    session: Transaction, table: str, key: dict[str, Any], body: bytes, replaces: int | None
) -> int:
    """Keep a body if what is there is what the sender believes. A version is never given twice,
    even if what had it was dropped.
    """
    where = " AND ".join(f"{name} = ${i}" for i, name in enumerate(key, 1))
    rows = session.rows(
        f"SELECT version, body IS NOT NULL FROM {table} WHERE {where}", tuple(key.values())
    )
    version, there = rows[0] if rows else (0, False)
    current = version if there else None
    if replaces != current:
        raise Stale("what is sealed here", current)
    n = len(key)
    if rows:
        session.run(
            f"UPDATE {table} SET version = ${n + 1}, body = ${n + 2} WHERE {where}",
            (*key.values(), version + 1, body),
        )
    else:
        marks = ", ".join(f"${i}" for i in range(1, n + 3))
        session.run(
            f"INSERT INTO {table} ({', '.join(key)}, version, body) VALUES ({marks})",
            (*key.values(), 1, body),
        )
    return int(version) + 1
