"""Copy what is asked to plain types, once, before anything is checked.

Whoever asks a query made it, and may hold parts of it, change them while it is answered, or have
given objects that say something else each time they are looked at. So a query is copied as a whole
at the boundary: what is checked, charged and computed is one and the same copy, which nobody else
holds. Parts are built anew from their fields, and so proved anew; whatever else an object carries,
such as results that it remembers, is left behind.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from privet._plain import are_plain, copy_scalar, is_plain_scalar
from privet.accounting.cost import Cost
from privet.accounting.statement import Charge, PrivacyStatement
from privet.domain import Schema
from privet.domain.cells import Cell, Cells, Condition, Split
from privet.domain.labels import Codes
from privet.domain.questions import Partition, Question, RowScore
from privet.domain.space import TreeSpace
from privet.domain.tree import Tree
from privet.errors import ParameterError, PrivetError, QuestionError
from privet.model import Model
from privet.model.leaf_vectors import Batch, Evidence
from privet.model.population import Population

#: What a query can be made of, beside texts, numbers, lists, mappings and arrays of numbers.
PARTS = (
    Batch,
    Cell,
    Cells,
    Charge,
    Condition,
    Cost,
    Evidence,
    Model,
    Partition,
    Population,
    PrivacyStatement,
    Question,
    RowScore,
    Split,
    Tree,
    TreeSpace,
)

_PARTS = frozenset(PARTS)

Thing = TypeVar("Thing")


def copy_query(query: Thing, schema: Schema) -> Thing:
    """Return a registered query, copied with everything in it and about this schema."""
    try:
        copy: Thing = _Copies(schema).build(query)
    except PrivetError:
        raise
    except RecursionError:
        raise ParameterError("what is asked is nested too deeply, or in itself") from None
    except Exception as error:  # noqa: BLE001
        # what somebody else's object raises when it is looked at
        kind = type(error).__name__
        raise ParameterError(f"what is asked could not be read ({kind})") from None
    return copy


def is_same_domain(theirs: Schema, ours: Schema) -> bool:
    """Return whether a plain schema has our domain.

    Sizes are compared by themselves: compiled loops step by them.
    """
    return type(theirs) is Schema and (theirs.sizes, theirs.n_classes, theirs.fingerprint) == (
        ours.sizes,
        ours.n_classes,
        ours.fingerprint,
    )


class _Copies:
    """The copies of one query: a part that is in several places stays one part."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        # with the originals: as long as they are held, no other object has their id
        self._made: dict[int, tuple[Any, Any]] = {}
        self._splits: dict[tuple[str, tuple[int, ...]], Split] = {}

    def copy(self, name: str, thing: Any) -> Any:
        """Return a plain copy of what is in the field of this name; raise for what has none."""
        made = self._made.get(id(thing))
        if made is not None:
            return made[1]
        if type(thing) not in _PARTS:  # of which there may be many
            scalar = copy_scalar(thing)
            if is_plain_scalar(scalar):
                return scalar
        copy = self._make(name, thing)
        self._made[id(thing)] = thing, copy
        return copy

    def _make(self, name: str, thing: Any) -> Any:
        # by type() and not isinstance(), which believes what an object says about its class
        kind = type(thing)
        if kind in _PARTS:
            return self.build(thing)
        if kind in (tuple, list) and are_plain(thing):
            return tuple(thing)
        if thing.__class__ is not kind or issubclass(kind, bytes | bytearray | memoryview):
            raise _refusal(name, kind)
        if issubclass(kind, Schema):
            return self._find_schema(thing)
        if issubclass(kind, PARTS):
            raise _refusal(name, kind)
        if kind is Codes:
            return Codes(self._copy_all(name, thing))
        if issubclass(kind, Mapping):
            return {self.copy(name, key): self.copy(name, value) for key, value in thing.items()}
        if issubclass(kind, np.ndarray) or hasattr(kind, "__array__"):
            return self._copy_array(name, thing)
        if issubclass(kind, Iterable):
            return tuple(self._copy_all(name, thing))
        raise _refusal(name, kind)

    def build(self, part: Any) -> Any:
        """Return a part of copies of its fields, which proves them anew."""
        held = vars(part)
        if type(part) is Split:
            return self._build_split(held["attribute"], held["branch"])
        names = _FIELDS.get(type(part)) or _list_fields(type(part))
        return type(part)(*[self.copy(name, held[name]) for name in names])

    def _build_split(self, attribute: Any, branch: Any) -> Split:
        """Return one copy for all splits that say the same: every cell may offer them."""
        plain = type(attribute) is str and type(branch) is tuple
        if not plain or set(map(type, branch)) != {int}:
            return Split(self.copy("attribute", attribute), self.copy("branch", branch))
        copy = self._splits.get((attribute, branch))
        if copy is None:
            copy = self._splits[attribute, branch] = Split(attribute, branch)
        return copy

    def _copy_all(self, name: str, things: Iterable[Any]) -> Iterator[Any]:
        return (self.copy(name, thing) for thing in things)

    def _find_schema(self, theirs: Schema) -> Schema:
        if not is_same_domain(theirs, self._schema):
            raise QuestionError("what is asked is about another schema")
        return self._schema

    def _copy_array(self, name: str, thing: Any) -> Any:
        array = np.array(thing)  # of the base class
        if not array.dtype.hasobject:
            return array
        if array.dtype.kind != "O":
            raise _refusal(name, type(thing))
        return self.copy(name, array.tolist())


def _list_fields(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind) if field.init]


#: The fields of each part; looking them up anew takes longer than to copy a small part.
_FIELDS = {part: _list_fields(part) for part in PARTS}


def _refusal(name: str, kind: type) -> ParameterError:
    part = next((part for part in PARTS if issubclass(kind, part)), None)
    wanted = (
        "made of texts, numbers, lists, mappings, arrays of numbers and parts such as Cells"
        if part is None
        else f"a plain {part.__name__}: a subclass could look at rows"
    )
    return ParameterError(f"{name} must be {wanted}, got {kind.__name__}")
