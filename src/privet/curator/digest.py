"""What a query of an interrupted fit is recognised by: a digest of everything that it says.

The digests are those of 0.1, so that a fit that 0.1 began goes on: the name of the query and its
parts in the order in which 0.1's methods took them, the price among them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from privet.budget import Number
from privet.queries import Query
from privet.schema import Schema

#: The parts of each query in the order of 0.1. A query that is not listed has all of its fields in
#: their order, and the price.
_ORDER = {
    "count": ("question", "epsilon", "rho"),
    "size": ("epsilon", "rho"),
    "sums": ("cells", "score", "epsilon", "rho"),
    "choose": ("cells", "candidates", "criterion", "epsilon", "mechanism"),
    "choose-partition": ("question", "expected", "handicaps", "epsilon", "mechanism"),
    "quantile": ("attribute", "q", "epsilon", "mechanism"),
    "draw-tree": ("space", "epsilon", "weighting"),
    "gradients": ("cells", "trees", "epsilon", "rho"),
}


def facts_of(query: Query[Any], epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
    """Everything that a checked query says, with its price."""
    said = {field.name: getattr(query, field.name) for field in fields(query)}  # type: ignore[arg-type]
    said |= {"epsilon": epsilon, "rho": rho}
    return (query.name, *(said[name] for name in _ORDER.get(query.name, tuple(said))))


def digest_of(thing: object) -> str:
    """A digest of nested facts. They may be large: a forest can have millions of leaves."""
    digest = hashlib.sha256()
    _feed(digest.update, thing)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        update(f"{thing.dtype.str}{thing.shape}:".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, Schema):
        update(thing.fingerprint.encode())
    elif is_dataclass(thing) and not isinstance(thing, type):
        update(f"{type(thing).__name__}(".encode())
        _feed(update, [getattr(thing, field.name) for field in fields(thing) if field.compare])
    elif isinstance(thing, Mapping):
        _feed(update, sorted(thing.items()))
    elif isinstance(thing, list | tuple):
        update(f"{len(thing)}[".encode())
        for one in thing:
            _feed(update, one)
    else:
        assert (
            thing is None
            or isinstance(thing, str | int | float | complex)
            or hasattr(thing, "numerator")
        ), type(thing)
        update(f"{thing!r},".encode())
