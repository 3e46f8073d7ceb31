"""What a query of an interrupted fit is recognised by: a digest of everything that it says.

Queries and their parts declare their facts, each part under a name of its own, so that a digest
does not depend on how a class or a field is called. The digests are those of 0.1, so that a fit
that 0.1 began goes on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from privet.budget import Number
from privet.queries import Query
from privet.schema import Schema


@runtime_checkable
class Identified(Protocol):
    """A part of a query that declares what it is recognised by."""

    def identity(self) -> tuple[Any, ...]:
        """Return its name in digests, and its facts in order."""


def facts_of(query: Query[Any], epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
    """Return everything that a checked query says, with its price."""
    return (query.name, *query.identify(epsilon, rho))


def digest_of(thing: object) -> str:
    """Return a digest of nested facts. They may be large: a forest can have millions of leaves."""
    digest = hashlib.sha256()
    _feed(digest.update, thing)
    return digest.hexdigest()


def _feed(update: Callable[[bytes], None], thing: Any) -> None:
    if isinstance(thing, np.ndarray):
        update(f"{thing.dtype.str}{thing.shape}:".encode())
        update(np.ascontiguousarray(thing).tobytes())
    elif thing is None or isinstance(thing, str | int | float | complex):
        update(f"{thing!r},".encode())
    elif isinstance(thing, list | tuple):
        update(f"{len(thing)}[".encode())
        for one in thing:
            _feed(update, one)
    elif isinstance(thing, Mapping):
        _feed(update, sorted(thing.items()))
    elif isinstance(thing, Schema):
        update(thing.fingerprint.encode())
    elif isinstance(thing, Identified):
        name, *facts = thing.identity()
        update(f"{name}(".encode())
        _feed(update, facts)
    else:
        assert hasattr(thing, "numerator"), type(thing)
        update(f"{thing!r},".encode())
