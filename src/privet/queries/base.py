"""Define a query: a question about a table, as an object.

A query knows everything about itself: what it may be asked about, its kind of release (which owns
sensitivity, cost and noise), how it reads the exact numbers, how it describes itself, and its JSON.
A curator charges, reads and answers; it knows no query by name. So a new query is one new file in
this folder, and it works in process, over HTTP, in resumed fits and in the tests of all queries.
"""

from __future__ import annotations

import importlib
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args

import numpy as np

from privet._types import Json
from privet.accounting.cost import Cost, Number, parse_fraction
from privet.domain import Schema
from privet.errors import ParameterError
from privet.mechanisms.selection import Selection
from privet.queries.answers import Answer, Numbers
from privet.queries.frames import Axes
from privet.queries.plain import copy_query
from privet.queries.release_kinds import AnyKind, Measures, Noisy, Price
from privet.queries.shapes import Field, Fields, OneOf
from privet.tables.base import CountSource

A = TypeVar("A", bound=Answer, covariant=True)


@dataclass(frozen=True)
class Load:
    """How much work a query is, from public sizes alone: a service limits requests by it.

    Args:
        numbers: noisy numbers that are answered, or candidates that are scored.
        counts: exact counts that are kept meanwhile.
        nodes, depth: nodes of all trees and cells, and the longest path.
        trees: released trees that rows walk down.
        memory: bytes that are needed at once, where they are many.
        row_steps: elementary steps for each row.
        steps: elementary steps beside those, whatever the rows.
    """

    numbers: int = 0
    counts: int = 0
    nodes: int = 0
    depth: int = 0
    trees: int = 0
    memory: int = 0
    row_steps: int = 0
    steps: int = 0


class Query(ABC, Generic[A]):
    """A question about a table. Subclasses are frozen dataclasses of public facts.

    What a person gives may be loose (a list of cells, a float); :func:`check_query` makes it plain
    and sets ``schema``, and only then the other methods may be used.
    """

    #: The end of its address, and its name in the registry.
    name: ClassVar[str]
    #: What stands in its JSON body, beside the price.
    fields: ClassVar[Mapping[str, Field]] = {}
    #: Bodies for the description of the service.
    examples: ClassVar[tuple[Json, ...]] = ()
    #: Whether an analyst may ask it; what only the owner's own process may ask is not.
    for_analysts: ClassVar[bool] = True
    #: Whether it can be paid in rho.
    in_rho: ClassVar[bool] = False

    schema: Schema

    @abstractmethod
    def plain(self, schema: Schema) -> Self:
        """Return a copy of plain types that nobody else holds; raise where something is wrong.

        Looks at public facts only, and runs before anything is charged.
        """

    @property
    @abstractmethod
    def kind(self) -> AnyKind:
        """How exact numbers become an answer, with sensitivity and cost."""

    @property
    @abstractmethod
    def load(self) -> Load:
        """How much work it is."""

    @abstractmethod
    def describe(self) -> str:
        """Return one line for ledger, page and log: public facts only."""

    def spell_out(self) -> str:
        """Return the question in labels, for people who read the ledger: public facts only.

        By default as :meth:`describe` has it; :func:`question_in_words` bounds it.
        """
        return self.describe()

    def name_choice(self, index: int) -> str:  # noqa: ARG002
        """Return what the choice of this number is, in words, where there is one."""
        return ""

    @abstractmethod
    def identify(self, epsilon: Number | None, rho: Number | None) -> tuple[Any, ...]:
        """Return what a recorded query at this price is recognised by, beside its name: everything
        that it says.

        A half-finished fit goes on only while this stays as it is. A fact that a later version adds
        is left out where it says nothing new.
        """

    @abstractmethod
    def exact(self, source: CountSource) -> Any:
        """Return the exact numbers.

        The only method that meets rows: it runs inside the boundary.
        """

    @abstractmethod
    def answer(self, released: Any, terms: Answer) -> A:
        """Return the answer that leaves, from what the mechanism released."""

    @abstractmethod
    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> A:
        """Return an answer that was sent or recorded; raise unless it is one to this query."""

    @abstractmethod
    def to_json(self) -> Json:
        """Return the body of a request, without the price."""

    @classmethod
    @abstractmethod
    def from_json(cls, schema: Schema, data: Json) -> Self:
        """Return a query from the body of a request whose shape was checked."""

    @classmethod
    def shape(cls, more: Mapping[str, Field]) -> Fields:
        """Return the shape of its body, with fields that others add (the price, the snapshot)."""
        doc = (cls.__doc__ or "").split("\n\n")[0]
        return Fields({**more, **cls.fields}, " ".join(doc.split()), cls.examples)


class NotTheAnswer(ValueError):
    """A reply is no answer to what was asked."""


def expect(holds: bool, what: str) -> None:
    """Raise unless a reply is what was asked for."""
    if not holds:
        raise NotTheAnswer(what)


def read_answer(query: Query[A], data: Mapping[str, Any], cost: Cost | None = None) -> A:
    """Return an answer from JSON; where the cost is known, it must be that of the answer.

    A privacy statement is made of what answers cost: a curator elsewhere cannot make one smaller
    than what was asked for.
    """
    terms = replace(Answer.from_json(data), asked=query)
    if cost is not None:
        costs = (terms.row_cost, terms.cost)
        expect(
            costs == (cost, cost.promised(query.schema)),
            "it costs something else than was asked for",
        )
    return query.read_answer(data, terms)


def check_query(query: Query[A], schema: Schema) -> Query[A]:
    """Return the query as plain types under this schema, in a copy that nobody else holds.

    Only registered classes are taken: a subclass could look at the rows it is asked about.
    """
    if type(query) not in queries().values():
        raise ParameterError(
            f"ask a query of privet.queries ({', '.join(queries())}), got {type(query).__name__}"
        )
    ready = copy_query(query, schema).plain(schema)
    object.__setattr__(ready, "schema", schema)
    return ready


#: Longest question in words, in characters.
MAX_WORDS = 500


def question_in_words(query: Query[Any]) -> str:
    """Return what a checked query asks, in labels, on one line of bounded length.

    Empty where that says no more than its description.
    """
    said = query.spell_out()
    if said == query.describe():
        return ""
    line = "".join(char if char.isprintable() else "?" for char in said)
    return line if len(line) <= MAX_WORDS else f"{line[: MAX_WORDS - 1]}…"


Q = TypeVar("Q", bound=type[Query[Any]])
_REGISTERED: dict[str, type[Query[Any]]] = {}


def register(query: Q) -> Q:
    """Add a query to those that curators answer."""
    assert query.name not in _REGISTERED, query.name
    _REGISTERED[query.name] = query
    return query


@cache
def queries() -> dict[str, type[Query[Any]]]:
    """Return all queries by name: those of every module in this folder."""
    package = importlib.import_module("privet.queries")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"privet.queries.{module.name}")
    return dict(sorted(_REGISTERED.items()))


def check_mechanism(mechanism: object) -> Selection:
    """Return the name of a mechanism of private selection; raise for any other."""
    if type(mechanism) is str and mechanism in get_args(Selection):
        return mechanism  # type: ignore[return-value]
    allowed = " or ".join(map(repr, get_args(Selection)))
    raise ParameterError(f"mechanism must be {allowed}, got {mechanism!r}")


MECHANISM = Field(OneOf(get_args(Selection)), description="How the choice is drawn.")


# -- what all queries share whose answer is noisy tables --

#: What never leaves a curator by HTTP is an exact count.
NOISES = ("discrete-laplace", "discrete-gaussian")


class Measurement(Query[Numbers]):
    """A query that is answered with noisy integer tables."""

    in_rho = True
    #: What the numbers are, as the name of a column.
    measured: ClassVar[str] = "noisy count"

    @property
    @abstractmethod
    def kind(self) -> Measures:
        """The shapes of the tables, and how much one row can change each."""

    @abstractmethod
    def axes(self) -> Sequence[Axes]:
        """Return what each axis of each table is, with its labels."""

    def answer(self, released: Noisy, terms: Answer) -> Numbers:
        return Numbers(
            **terms.terms, tables=released.tables, noise=released.noise, spread=released.spread
        )

    def read_answer(self, data: Mapping[str, Any], terms: Answer) -> Numbers:
        return read_numbers(self.kind, data, terms)


def read_numbers(kind: Measures, data: Mapping[str, Any], terms: Answer) -> Numbers:
    """Return noisy tables of these shapes, from a reply."""
    for table in data["tables"]:
        expect(set(map(type, table["numbers"])) <= {int}, "noisy numbers must be whole")
    tables = tuple(
        np.array(table["numbers"], dtype=np.int64).reshape(table["shape"])
        for table in data["tables"]
    )
    expect(
        [table.shape for table in tables] == list(kind.shapes),
        "its tables have another shape",
    )
    spread, paid = parse_fraction(data["spread"]), terms.row_cost
    laplace, gaussian = NOISES
    if paid.epsilon is None:
        noise, price = gaussian, Price(paid.rho, "rho")
    else:
        noise, price = laplace, Price(paid.epsilon)
    expect(data["noise"] == noise, "its noise is of another kind")
    # learners weigh counts by it, and models state it
    expect(price.amount > 0 and spread == kind.spread(price), "its noise is not what its cost buys")
    return Numbers(**terms.terms, tables=tables, noise=data["noise"], spread=spread)
