"""A curator for work that may be interrupted: every answer is recorded in the ledger with its
charge, and given again for the same key (:mod:`privet.curator.recorded`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from fractions import Fraction
from typing import TypeVar

from privet.budget import Cost, Number, Unit
from privet.curator import AnyCurator, Curator
from privet.curator.recorded import answered, replayed
from privet.errors import BudgetExceeded, KeyReused, ParameterError
from privet.ledger import Entry
from privet.ledger.keyed import KeyedLedger
from privet.ledger.reservations import Reservation
from privet.mechanisms.randomness import Bits
from privet.queries import Answer, Preview, Query, checked
from privet.resume.digest import digest_of, facts_of
from privet.resume.packing import packed, unpacked
from privet.resume.unfinished import KeptBits, Unfinished, identity_of

A = TypeVar("A", bound=Answer)


class ResumableCurator(AnyCurator):
    """Asks a curator of this process, each query under the next key of the work.

    ``paid`` is told, after each answer, which share of what was required has been paid for.
    """

    def __init__(
        self,
        curator: Curator,
        unfinished: Unfinished,
        paid: Callable[[float], None] = lambda _: None,
    ) -> None:
        self._curator, self._unfinished, self._paid = curator, unfinished, paid
        self._schema, self._dataset = curator.schema, curator.dataset
        self._bits = KeptBits(curator.bits, unfinished)
        self._asked, self._spent, self._required = 0, Fraction(0), Fraction(0)
        self._within = False

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        """The answer to the next query of the work: the recorded one, or a new one that is
        recorded before anybody sees it.
        """
        asked = checked(query, self.schema)
        if not asked.for_analysts:  # what must not leave the owner's process is never recorded
            raise ParameterError(f"{asked.name} cannot be recorded; ask the curator itself")
        # before the charge: what was drawn for this query must not be drawn again
        self._unfinished.save()
        self._asked += 1
        key = f"{self._unfinished.key}.{self._asked}"
        # A key pays for one query to one curator: about one table, under one schema, at one price.
        digest = digest_of((identity_of(self._curator), facts_of(asked, epsilon, rho)))
        keyed = KeyedLedger(self._curator.ledger, self._curator.analyst, key, digest)
        fresh: list[A] = []

        def work() -> bytes:
            fresh.append(self._curator.charging(keyed).ask(asked, epsilon, rho=rho))
            return packed(fresh[0])

        try:
            kept = replayed(keyed) or answered(keyed, work)
        except KeyReused:
            raise ParameterError(
                f"the fit in {self._unfinished.path} does not ask what it asked before it was "
                "interrupted (was Privet or the schema changed since?); give it up with --anew "
                "(what it has cost is spent)"
            ) from None
        if kept is None:  # nothing was charged, so there was nothing to keep
            return fresh[0]
        told = unpacked(kept.answer, asked)
        if self._required:
            self._spent += told.cost.amount(self.unit) or Fraction(0)
            self._paid(float(self._spent / self._required))
        return told

    # -- what is public ----------------------------------------------------------------------------

    @property
    def account(self) -> str:
        return self._curator.account

    @property
    def unit(self) -> Unit:
        return self._curator.unit

    @property
    def left(self) -> Fraction:
        return self._curator.left

    @property
    def private(self) -> bool:
        return self._curator.private

    @property
    def reason(self) -> str:
        return self._curator.reason

    @property
    def bits(self) -> Bits:
        """Randomness for structure that is drawn and released; it is drawn once for the work."""
        return self._bits

    def snapshot(self) -> AbstractContextManager[None]:
        return self._curator.snapshot()

    # -- money -------------------------------------------------------------------------------------

    @property
    def answered(self) -> int:
        """How many answers were paid for before the work was interrupted."""
        ledger = self._curator.ledger
        return sum(1 for entry in self._charges() if ledger.answer(entry.number) is not None)

    @property
    def charged(self) -> bool:
        """Whether the work has cost anything yet."""
        return bool(self._charges())

    def _charges(self) -> list[Entry]:
        entries = self._curator.ledger.entries(self.dataset, self._curator.analyst)
        return [entry for entry in entries if entry.key.startswith(f"{self._unfinished.key}.")]

    def preview(self, plan: Iterable[Cost]) -> Preview:
        return self._curator.preview(plan)

    @contextmanager
    def reserving(self, cost: Cost | None, what: str) -> Iterator[ResumableCurator]:
        """Set a cost aside under the key of the work, or go on with what was. It stays set aside
        when the work is interrupted, so that it can go on.
        """
        if cost is None or self._within or (self.charged and not self._reserved):
            if cost is not None and not self._within:  # a fit that 0.1 began did not reserve
                self.require([cost])
            yield self
            return
        self._unfinished.save()  # a reservation whose key is forgotten would be lost
        self._curator, self._within = self._curator.reserve(cost, what, self._unfinished.key), True
        self._required = self.preview([cost]).cost.amount(self.unit) or Fraction(0)
        yield self
        self._curator.close_reservation()

    def claim(self, release: str) -> None:
        self._curator.claim(release)

    def give_up(self) -> None:
        """Free what is set aside. What was charged stays charged."""
        there = self._reserved
        if there is not None and there.is_open:
            self._curator.ledger.close_reservation(there.analyst, there.key, why="cancelled")

    @property
    def _reserved(self) -> Reservation | None:
        return self._curator.ledger.reservation(self._curator.analyst, self._unfinished.key)

    def require(self, plan: Iterable[Cost]) -> None:
        """Raise unless what is still to be paid of a plan fits. Charges nothing."""
        preview = self.preview(plan)
        asked = preview.cost.amount(self.unit)
        if asked is None:
            return
        self._required = asked
        to_pay = asked - sum(
            (entry.cost.amount(self.unit) or Fraction(0) for entry in self._charges()), Fraction(0)
        )
        if to_pay > preview.left:
            raise BudgetExceeded(to_pay, preview.left, self.unit, f"data set {self.dataset!r}")

    def split_people(self, n_parts: int, epsilon: Number) -> Sequence[Curator]:
        """As the curator does. Who is in which group is forgotten with the process, so groups are
        divided, and paid for, anew.
        """
        return self._curator.split_people(n_parts, epsilon)
