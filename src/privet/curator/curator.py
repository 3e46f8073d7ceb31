"""Answer queries at the trust boundary: charge first, then count, and add noise to what leaves.

Nothing leaves but through a mechanism.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import NoReturn, TypeVar

from privet._validate import check_integer
from privet.accounting.cost import NOTHING, Budget, Cost, Number, copy_amount, parse_epsilon
from privet.accounting.ledger import Entry, Ledger, MemoryLedger
from privet.accounting.ledger.base import KeyedLedger
from privet.curator.account import Accounting, charging
from privet.curator.base import AnyCurator
from privet.curator.recorded import (
    answer_and_record,
    digest_of,
    facts_of,
    pack_answer,
    replay_answer,
    unpack_answer,
)
from privet.domain import Schema
from privet.domain.encode.values import raise_if_any
from privet.errors import KeyReused, ParameterError, PrivacyError, PrivetError, TableError
from privet.mechanisms.randomness import Bits, SystemBits
from privet.queries import Answer, Price, Query, check_query
from privet.queries.base import question_in_words
from privet.queries.release_kinds import LEAST_EPSILON
from privet.tables.base import CountSource, Table
from privet.tables.open import open_table

#: What 0.1 let everybody do who held a curator, and where an owner finds it.
_MOVED = {
    "share": "pv.Owner(table, schema, budget).share(...)",
    "charging": "privet.curator.account.charging(curator, ledger)",
}

A = TypeVar("A", bound=Answer)
Worked = TypeVar("Worked")


class Curator(Accounting, AnyCurator):
    """Answers queries about a table in this process, within a budget.

    It is what an analyst is handed: nothing public here gives exact numbers, sets a cap or chooses
    a ledger. What only the owner may do is on :class:`~privet.curator.Owner`.

    See :class:`~privet.curator.AnyCurator` for what epsilon and rho mean.

    Parameters
    ----------
    table
        What :func:`~privet.open_table` takes or returns.
    schema
        What is public about the table.
    budget
        The cap of the data set, if the ledger does not have one yet.
    ledger
        Where charges are recorded; by default one that lives as long as the process.
    dataset, analyst
        The names of the accounts that are charged.
    public
        Declares the table public: ``epsilon=math.inf`` then gives exact counts, marked
        ``private: false``.
    least_epsilon
        The least that any query must ask for, which is public; by default
        :data:`~privet.queries.release_kinds.LEAST_EPSILON`.
    strict
        Check every value first and raise where one does not fit the schema. For the owner:
        the error depends on the rows.
    bits
        The source of randomness; tests pass a seeded one.

    Examples
    --------
    >>> import privet as pv
    >>> car = pv.datasets.load("car")
    >>> curator = pv.Curator(car.table, car.schema, pv.Budget(1), dataset="car")
    >>> counts = curator.count(by="safety", epsilon=0.25)
    >>> curator
    <Curator of 'car': 6 attributes, epsilon 0.75 left>
    """

    _table: Table | None = None  # where this curator opened it
    #: What every query must ask for at least; public.
    least_epsilon: Fraction = LEAST_EPSILON

    def __init__(
        self,
        table: object,
        schema: Schema,
        budget: Budget | None = None,
        *,
        ledger: Ledger | None = None,
        dataset: str | None = None,
        analyst: str = "analyst",
        public: bool = False,
        least_epsilon: Number = LEAST_EPSILON,
        strict: bool = False,
        bits: Bits | None = None,
    ) -> None:
        if type(schema) is not Schema and type(table) is Schema:
            raise ParameterError(
                "Curator: the table comes first, and then its schema; were they swapped? Write "
                "Curator(table, schema, budget)"
            )
        if type(schema) is not Schema:
            raise ParameterError(
                f"Curator: schema must be a Schema, got {type(schema).__name__}; read a file with "
                "privet.Schema.read(path)"
            )
        if budget is not None and not isinstance(budget, Budget):
            raise ParameterError(
                f"Curator: budget must be a Budget such as privet.Budget(1), got {budget!r}"
            )
        opened: Table = open_table(table)
        opened.check_structure(schema)
        if strict:
            raise_if_any(opened.problems(schema))
        self._public, self._table = public, opened
        self.least_epsilon = parse_epsilon("least_epsilon", least_epsilon)
        self._set_up(
            opened.source(schema),
            schema,
            ledger or MemoryLedger(),
            dataset or opened.name,
            analyst,
            bits or SystemBits(),
        )
        self._open_account(budget)

    @classmethod
    def over(
        cls,
        source: CountSource,
        schema: Schema,
        budget: Budget | None = None,
        *,
        ledger: Ledger,
        dataset: str,
        analyst: str,
        least_epsilon: Fraction = LEAST_EPSILON,
        bits: Bits | None = None,
    ) -> Curator:
        """Return a curator of a source that is open already, and never public."""
        curator = cls.__new__(cls)
        curator._public, curator.least_epsilon = False, least_epsilon
        curator._set_up(source, schema, ledger, dataset, analyst, bits or SystemBits())
        curator._open_account(budget)
        return curator

    def _set_up(
        self,
        source: CountSource,
        schema: Schema,
        ledger: Ledger,
        dataset: str,
        analyst: str,
        bits: Bits,
    ) -> None:
        self._source, self._bits, self._account = source, bits, ""
        self._schema, self._dataset = schema, dataset
        self._ledger, self._analyst = ledger, analyst

    def _charge(self, cost: Cost, what: str, asked: str = "") -> Entry:
        """Charge a cost.

        Nothing is charged for a table that cannot be reached, which does not depend on its rows.
        """
        if self._table is not None:
            self._table.check_reachable()
        return super()._charge(cost, what, asked)

    # -- questions ---------------------------------------------------------------------------------

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        asked = check_query(query, self.schema)
        if not asked.for_analysts:
            raise PrivacyError(
                f"{asked.name!r} is no question of an analyst: alone its answer promises nothing; "
                "a party of a federation has it from pv.Owner(...).share"
            )
        return self._answer(asked, epsilon, rho)

    def _answer(self, asked: Query[A], epsilon: Number | None, rho: Number | None = None) -> A:
        """Answer a query that was checked, also one that only the owner may ask."""
        price = Price.of(epsilon, rho, public=self._public)
        kind = asked.kind
        cost = kind.cost(price)  # refuses a price that this kind cannot be had for
        price.check_least(self.least_epsilon)
        if price.exactly:
            cost = NOTHING
        what, words = asked.describe(), question_in_words(asked)
        entry = None if price.exactly else self._charge(cost, what, words)
        released = self._inside(lambda: kind.release(asked.exact(self._source), price, self._bits))
        private = self.private and not price.exactly
        terms = Answer(cost.promised(self.schema), cost, private, entry, asked=asked)
        return asked.answer(released, terms)

    def ask_once(
        self,
        key: str,
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        asked = check_query(query, self.schema)
        if not asked.for_analysts:  # before a charge whose answer could never be given again
            raise ParameterError(f"{asked.name} is asked once, and never written down")
        # A key pays for one query to one curator: about one table, under one schema, at one price,
        # and the price of the digest is the price of the answer.
        epsilon, rho = copy_amount(epsilon), copy_amount(rho)
        digest = digest_of((self.identity, facts_of(asked, epsilon, rho)))
        keyed = KeyedLedger(self._ledger, self._analyst, key, digest)
        fresh: list[A] = []

        def work() -> bytes:
            fresh.append(charging(self, keyed).ask(asked, epsilon, rho=rho))
            return pack_answer(fresh[0])

        kept = replay_answer(keyed) or answer_and_record(keyed, work)
        return fresh[0] if kept is None else unpack_answer(kept.answer, asked)

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all questions inside this block see the same rows, where the engine can."""
        with self._source.snapshot():
            yield

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> list[Curator]:
        """Return curators of disjoint random parts of the people.

        Each has a budget of ``epsilon`` of its own, charged here once.

        People are drawn independently at random (all rows of a person together, where the schema
        names one), never by position or content. Cost: ``epsilon`` once (parallel composition over
        disjoint people). They are asked within :meth:`snapshot`. A key divides once.
        """
        n_parts = check_integer("n_parts", n_parts, 1, 10_000)
        amount = parse_epsilon("epsilon", epsilon)
        budget = Budget(Cost.pure(amount).promised(self.schema).epsilon)
        # divides when it is first asked
        sources = self._source.parts(n_parts, self._bits.words(4).tobytes())
        charged = self
        if key:
            said = ("split-people", n_parts, amount)
            digest = digest_of((self.identity, said))
            charged = charging(self, KeyedLedger(self._ledger, self._analyst, key, digest))
        entry = charged._charge(Cost.pure(amount), f"{n_parts} disjoint groups of people")
        if key:
            # Who is in which group stays in this process. What is recorded is a name that no other
            # division has: people who were divided anew for the same charge could be asked again.
            division = secrets.token_hex(16).encode()
            if self._ledger.record(entry.number, division) != division:
                raise KeyReused(
                    f"the key {key!r} has divided the people before, and who was in which group is "
                    "known to those groups only; divide them under a new key"
                )
        names = [f"{self.dataset} (part {number + 1} of {n_parts})" for number in range(n_parts)]
        parts = [
            Curator.over(
                source,
                self.schema,
                budget,
                ledger=MemoryLedger(),
                dataset=name,
                analyst=self._analyst,
                least_epsilon=self.least_epsilon,
                bits=self._bits,
            )
            for source, name in zip(sources, names, strict=True)
        ]
        for part in parts:
            part._account = self.account  # whatever is released about them is about this table
        return parts

    def __getattr__(self, name: str) -> NoReturn:
        moved = f"; it is for owners now: {_MOVED[name]}" if name in _MOVED else ""
        raise AttributeError(f"a Curator has no attribute {name!r}{moved}")

    # -- how it is done ----------------------------------------------------------------------------

    def _inside(self, work: Callable[[], Worked]) -> Worked:
        """Do work on rows.

        What an engine says about a failure may tell of rows, so it is not passed on.
        """
        try:
            return work()
        except PrivetError:
            raise
        except Exception as error:  # noqa: BLE001
            kind = type(error).__name__
        raise TableError(f"{self.dataset!r} could not be counted ({kind}); the charge stands")


def table_of(curator: Curator) -> Table:
    """Return the table of a curator that opened one, for the owner's side."""
    if curator._table is None:
        raise ParameterError("this curator was made of a source, and has no table to look at")
    return curator._table
