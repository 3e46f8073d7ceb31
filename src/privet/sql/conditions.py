"""Turn a condition in JSON, and the attributes to count by, into a query.

Conditions are those of ``privet.ask`` in PostgreSQL: an object says for some attributes what is
allowed of each; ``["and", ...]``, ``["or", ...]`` and ``["not", condition]`` hold others.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet._types import Ints
from privet._validate import show
from privet.domain import Attribute, Schema
from privet.domain.cells import Cells
from privet.domain.labels import attribute_named, find_classes, find_codes, list_edges, value_text
from privet.domain.questions import RowScore
from privet.errors import QuestionError
from privet.queries import Count, Query, Sums

#: True, False, ("is", place, codes), ("and", ...), ("or", ...) or ("not", condition). The place of
#: the target is after those of all attributes.
Resolved = Any

#: Most combinations that may be counted at once, and most nodes of the tree that counts them.
MAX_COMBINATIONS = 100_000
MAX_NODES = 200_000

_FORM = (
    'condition: it must be an object from attributes to lists of labels, or ["and", ...], '
    '["or", ...] or ["not", condition]; {} counts all rows'
)


@dataclass(frozen=True)
class Asked:
    """A query, and what its numbers are."""

    query: Query[Any]
    #: The names that it counts by, and the labels along each, in the order of the answer.
    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    #: The classes that count, where the target is among the names, and its place.
    classes: tuple[int, ...]
    target_place: int | None

    def read(self, table: Ints) -> Iterator[tuple[dict[str, str], int]]:
        """Return each combination of labels with its number."""
        if self.target_place is not None:
            shape = [len(along) for along in self.labels]
            del shape[self.target_place]
            table = table[:, list(self.classes)].reshape(*shape, len(self.classes))
            table = np.moveaxis(table, -1, self.target_place)
        cells = itertools.product(*self.labels)
        for cell, number in zip(cells, table.reshape(-1).tolist(), strict=True):
            yield dict(zip(self.by, cell, strict=True)), number


def lay_out(schema: Schema, condition: str, by: Sequence[str]) -> Asked:
    """Return the query for a condition, as JSON, and the attributes to count by.

    One number has one noise. The class can be restricted where the rest of the condition does not
    depend on it; anything else would need several noisy numbers for one that is asked for.
    """
    try:
        said = json.loads(condition)
    except (ValueError, RecursionError):
        raise QuestionError(_FORM) from None
    try:
        return _lay_out(schema, said, by)
    except RecursionError:
        raise QuestionError("condition: it is nested too deep; ask several simpler ones") from None


def _lay_out(schema: Schema, said: Any, by: Sequence[str]) -> Asked:
    if len(set(by)) != len(by) or None in by:
        raise QuestionError("by must name attributes, each once")
    for name in by:
        _domain_of(schema, name)
    others = [name for name in by if name != schema.target]
    cells, classes = _grow(schema, _resolve(schema, said), [schema.index(name) for name in others])
    labels: list[Sequence[str]] = [_domain_of(schema, name).labels for name in by]
    if schema.target not in by:
        score = np.zeros(schema.n_classes, dtype=np.int64)
        score[list(classes)] = 1
        return Asked(Sums(cells, RowScore(schema, score)), tuple(by), _plain(labels), (), None)
    place = list(by).index(schema.target)
    labels[place] = [schema.label.labels[code] for code in classes]
    return Asked(Count(cells), tuple(by), _plain(labels), classes, place)


def _plain(labels: Sequence[Sequence[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(map(tuple, labels))


def _domain_of(schema: Schema, name: str) -> Attribute:
    return schema.label if name == schema.target else attribute_named(schema, name)


# -- what a condition says -------------------------------------------------------------------------


def _resolve(schema: Schema, said: Any) -> Resolved:
    """Return a condition with codes in the place of labels."""
    if isinstance(said, dict):
        return ("and", *(_resolve_one(schema, *entry) for entry in said.items()))
    if isinstance(said, list) and said and said[0] in ("and", "or", "not"):
        word, *parts = said
        if word != "not" or len(parts) == 1:
            return (word, *(_resolve(schema, part) for part in parts))
    raise QuestionError(_FORM)


def _resolve_one(schema: Schema, name: str, allowed: Any) -> Resolved:
    domain = _domain_of(schema, name)
    place = len(schema.names) if name == schema.target else schema.index(name)
    if isinstance(allowed, dict) and allowed and set(allowed) <= {"from", "to"}:
        if not domain.ordered:
            raise QuestionError(
                f"condition: {name!r} has no order; list its labels instead of a range"
            )
        first = _find_bin(domain, name, allowed["from"], 0) if "from" in allowed else 0
        last = _find_bin(domain, name, allowed["to"], 1) if "to" in allowed else domain.bins - 1
        return ("is", place, frozenset(range(first, last + 1)))
    excluded = isinstance(allowed, dict) and set(allowed) == {"not"}
    listed = allowed["not"] if excluded else allowed
    if not isinstance(listed, list):
        raise QuestionError(
            f'condition: what is allowed of {name!r} must be a list of labels, {{"not": [labels]}} '
            'or {"from": edge, "to": edge}'
        )
    if name == schema.target:
        codes = frozenset(find_classes(schema, listed))
    else:
        codes = frozenset(find_codes(schema, name, [_as_label(name, value) for value in listed]))
    return ("not", ("is", place, codes)) if excluded else ("is", place, codes)


def _as_label(name: str, value: object) -> object:
    text = value_text(value)
    if not isinstance(text, str):
        raise QuestionError(f"condition: {show(value)} is no label of {name!r}")
    return text


def _find_bin(domain: Attribute, name: str, value: object, is_end: int) -> int:
    """Return the bin that a range begins or ends with: a label, or an edge."""
    said, labels, edges = value_text(value), list(domain.labels[: domain.bins]), list_edges(domain)
    if said in labels:
        return labels.index(str(said))
    if said not in edges or said is None:
        known = ", ".join(edge for edge in edges[:20] if edge is not None)
        raise QuestionError(
            f"condition: {show(value)} is no edge of a bin of {name!r}; there are {known}"
        )
    return edges.index(str(said)) - is_end


# -- the cells that it makes -----------------------------------------------------------------------


def _decide(condition: Resolved, place: int, code: int) -> Resolved:
    """Return what is left of a condition where the code at this place is known."""
    if isinstance(condition, bool):
        return condition
    word, *parts = condition
    if word == "is":
        return code in parts[1] if parts[0] == place else condition
    if word == "not":
        left = _decide(parts[0], place, code)
        return not left if isinstance(left, bool) else ("not", left)
    neutral = word == "and"
    kept = dict.fromkeys(_decide(part, place, code) for part in parts)
    if (not neutral) in kept:
        return not neutral
    kept.pop(neutral, None)
    return (word, *kept) if kept else neutral


def _grow(schema: Schema, condition: Resolved, by: list[int]) -> tuple[Cells, tuple[int, ...]]:
    """Return a cell for each combination of the values to count by, and the classes that count."""
    attribute: list[int] = []
    offset: list[int] = []
    branch: list[int] = []
    cell: list[int] = []
    strides, total = {}, 1
    for place in reversed(by):
        strides[place], total = total, total * schema.sizes[place]
    if total > MAX_COMBINATIONS:
        raise QuestionError(
            f"by makes more than {MAX_COMBINATIONS} combinations; name fewer attributes"
        )
    target, classes = len(schema.names), range(schema.n_classes)
    counted: set[tuple[int, ...]] = set()

    def add_node() -> int:
        if len(attribute) >= MAX_NODES:
            raise QuestionError("condition: it has too many cases; ask several simpler ones")
        attribute.append(-1)
        offset.append(0)
        cell.append(-1)
        return len(attribute) - 1

    # (node, what is left of the condition, the next attribute, the combination up to here)
    stack = [(add_node(), _decide(condition, -1, 0), 0, 0)]
    while stack:
        node, left, place, combination = stack.pop()
        rests: list[Resolved] = []
        while left is not False and place < target:
            rests = [_decide(left, place, code) for code in range(schema.sizes[place])]
            if place in strides or any(rest != left for rest in rests):
                break
            place += 1
        if left is False or place == target:
            allowed = tuple(code for code in classes if _decide(left, target, code))
            if allowed:
                counted.add(allowed)
                cell[node] = combination
            continue
        attribute[node], offset[node] = place, len(branch)
        children: dict[tuple[Resolved, int], int] = {}
        for code, rest in enumerate(rests):
            child = (rest, combination + code * strides.get(place, 0))
            if child not in children:
                children[child] = add_node()
                stack.append((children[child], rest, place + 1, child[1]))
            branch.append(children[child])
    if len(counted) > 1:
        raise QuestionError(
            f"condition: which values of {schema.target!r} count must not depend on other "
            "attributes; ask for each part on its own"
        )
    every = tuple(classes)
    cells = Cells(
        schema,
        np.array(attribute, dtype=np.int32),
        np.array(offset, dtype=np.int64),
        np.array(branch, dtype=np.int32),
        np.array(cell, dtype=np.int32),
        total,
    )
    return cells, counted.pop() if counted else every
