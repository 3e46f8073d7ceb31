"""Resume work that was interrupted, without paying twice.

:class:`ResumableCurator` gives every query of some work a key, which pays once. Asked again, the
query gets the answer that was recorded (:mod:`privet.curator.recorded`), in this process or at a
curator's service.

:class:`Unfinished` is the file of work that was begun: its key in the ledger, what work it is, and
the random words of structure that was drawn for it. The words are those of tree structures and
names of releases, which a model makes public: never those of noise. Answers are in the ledger, not
in the file.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from privet._notebook import count_of
from privet.accounting.cost import Cost, Number, Unit, explain_factor
from privet.accounting.ledger import Entry
from privet.accounting.statement import PrivacyStatement
from privet.curator.base import RULES, AnyCurator
from privet.curator.spending import Spending
from privet.errors import (
    BudgetExceeded,
    KeyReused,
    ParameterError,
    PrivetError,
    ReservationClosed,
)
from privet.mechanisms.randomness import Bits, Words
from privet.model.document import canonical_json
from privet.model.file import read_sealed, seal, unseal, write_sealed
from privet.model.structure import require
from privet.queries import Answer, Preview, Query

__all__ = ["Remembered", "ResumableCurator", "Unfinished"]


A = TypeVar("A", bound=Answer)


class ResumableCurator(AnyCurator):
    """Asks a curator, each query under the next key of the work.

    ``paid`` is told, after each answer, which share of what was required has been paid for.
    ``changed`` is what to say where the work does not ask what it asked before. Work that goes on
    where other work of the same key ended has ``asked`` so many queries already, and sets aside
    under a ``reservation`` key of its own.
    """

    def __init__(
        self,
        curator: AnyCurator,
        unfinished: Unfinished,
        paid: Callable[[float], None] = lambda _: None,
        changed: str = "",
        *,
        asked: int = 0,
        reservation: str = "",
    ) -> None:
        self._curator, self._unfinished, self._paid = curator, unfinished, paid
        self._set_aside = reservation or unfinished.key
        self._changed = changed or (
            f"the fit in {unfinished.path} does not ask what it asked before it was interrupted "
            "(was Privet or the schema changed since?); give it up with --anew (what it has cost "
            "is spent)"
        )
        self._schema, self._dataset = curator.schema, curator.dataset
        self._bits = KeptBits(curator.bits, unfinished)
        self._asked, self._spent, self._required = asked, Fraction(0), Fraction(0)
        self._was_interrupted = unfinished.was_begun
        self._first, self._answered_before, self._told = asked, 0, 0

    def ask(
        self, query: Query[A], epsilon: Number | None = None, *, rho: Number | None = None
    ) -> A:
        """Answer the next query of the work.

        That is the recorded answer, or a new one that is recorded before anybody sees it.
        """
        return self.ask_once(self._next_key(), query, epsilon, rho=rho)

    def ask_once(
        self,
        key: str,
        query: Query[A],
        epsilon: Number | None = None,
        *,
        rho: Number | None = None,
    ) -> A:
        with self._same_work():
            told = self._curator.ask_once(key, query, epsilon, rho=rho)
        self._told += 1
        if self._required:
            self._spent += told.cost.amount(self.unit) or Fraction(0)
            self._paid(float(self._spent / self._required))
        return told

    @contextmanager
    def _same_work(self) -> Iterator[None]:
        """Say what to do where the work cannot go on."""
        try:
            yield
        except KeyReused:
            raise ParameterError(self._changed) from None
        except ReservationClosed as closed:
            raise ReservationClosed(
                f"{closed}. The answers that the fit has paid for are kept, but it cannot go on: "
                "begin again with --anew"
            ) from None

    def _next_key(self) -> str:
        # before the charge: what was drawn for this query must not be drawn again
        self._unfinished.save()
        self._asked += 1
        return f"{self._unfinished.key}.{self._asked}"

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

    def check_learner(self, name: str) -> None:
        self._curator.check_learner(name)

    def open_spending(
        self, epsilon: Number, what: str, *, delta: Number = 0, through: AnyCurator | None = None
    ) -> AbstractContextManager[Spending]:
        return self._curator.open_spending(epsilon, what, delta=delta, through=through or self)

    @property
    def rules(self) -> int:
        return self._unfinished.rules

    @property
    def notes(self) -> Sequence[str]:
        kept, asked = self._answered_before, self._asked - self._first
        again = (
            [
                f"interrupted, and finished later: {kept} of {asked} answers are about the rows as "
                "they were before, the others about the rows as they were then"
            ]
            if 0 < kept < asked
            else []
        )
        return [*self._curator.notes, *again]

    def foresee_statement(self, epsilon: Number, what: str, name: str = "") -> PrivacyStatement:
        return self._curator.foresee_statement(epsilon, what, name)

    @property
    def identity(self) -> list[Any]:
        return self._curator.identity

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
        return sum(1 for _, answered in self._list_charges() if answered)

    def describe_kept(self) -> str:
        """Return what is paid for and kept, as the ledger has it.

        Where that is not within reach: the answers that this process has seen.
        """
        try:
            charges = self._list_charges()
        except PrivetError:
            return f"{count_of(self._told, 'answer')} are paid for and kept, as far as it is known"
        amounts = (entry.cost.amount(self.unit) or Fraction(0) for entry, _ in charges)
        kept = count_of(sum(answered for _, answered in charges), "answer")
        return (
            f"{self.unit} {float(sum(amounts, Fraction(0))):.6g} is spent, and {kept} kept for it"
        )

    @property
    def charged(self) -> bool:
        """Whether the work has cost anything yet."""
        return bool(self._list_charges())

    def _list_charges(self) -> list[tuple[Entry, bool]]:
        return self._curator.keyed_charges(f"{self._unfinished.key}.")

    def keyed_charges(self, prefix: str) -> list[tuple[Entry, bool]]:
        return self._curator.keyed_charges(prefix)

    def preview(self, plan: Iterable[Cost]) -> Preview:
        return self._curator.preview(plan)

    def require(self, plan: Iterable[Cost]) -> None:
        """Raise unless what is still to be paid of a plan fits. Charges nothing."""
        preview = self.preview(plan)
        asked = preview.cost.amount(self.unit)
        if asked is None:
            return
        self._required = asked
        spent = (entry.cost.amount(self.unit) or Fraction(0) for entry, _ in self._list_charges())
        to_pay = asked - sum(spent, Fraction(0))
        if to_pay > preview.left:
            account = f"data set {self.dataset!r}"
            note = explain_factor(self.schema, to_pay, self.unit)
            raise BudgetExceeded(to_pay, preview.left, self.unit, account, note=note)

    @contextmanager
    def reserving(self, cost: Cost | None, what: str) -> Iterator[ResumableCurator]:
        """Set a cost aside under the key of the work, or go on with what was.

        It stays set aside when the work is interrupted, so that it can go on.
        """
        if cost is None or self._reservation:
            yield self
            return
        own = self._set_aside == self._unfinished.key
        if own and self.charged and not self.reservation_state(self._set_aside):
            self.require([cost])  # a fit that 0.1 began did not reserve
            yield self
            return
        self._unfinished.save()  # a reservation whose key is forgotten would be lost
        self._required = self.preview([cost]).cost.amount(self.unit) or Fraction(0)
        with self._same_work():
            self._curator = self._curator.reserve(cost, what, self._set_aside)
        self._reservation = self._set_aside
        if self._was_interrupted:
            self._answered_before = self.answered - self._first
        yield self
        with suppress(ReservationClosed):  # it may have expired since the last query was answered
            self.close_reservation()

    def reserve(self, cost: Cost, what: str, key: str = "") -> AnyCurator:
        return self._curator.reserve(cost, what, key)

    def close_reservation(self, why: str = "done") -> None:
        self._curator.close_reservation(why)

    def reservation_state(self, key: str) -> str:
        return self._curator.reservation_state(key)

    def give_up(self) -> None:
        """Free what is set aside. What was charged stays charged."""
        if self.reservation_state(self._set_aside) == "open":
            self._curator.cancel_reservation(self._set_aside)

    def cancel_reservation(self, key: str) -> None:
        self._curator.cancel_reservation(key)

    def claim(self, release: str) -> None:
        self._unfinished.save()  # a release has one name, however often the work goes on
        self._curator.claim(release)

    def split_people(self, n_parts: int, epsilon: Number, key: str = "") -> Sequence[AnyCurator]:
        """Divide the people, as the curator does.

        Who is in which group is forgotten with the process, so work that divided its people cannot
        go on after an interruption, and says so.
        """
        mine = key or self._next_key()
        divided = any(entry.key == mine for entry, _ in self._list_charges())
        # 0.1 charged a division without a key, so of its fits nobody knows whether they had divided
        if divided or (self._was_interrupted and not self._reservation):
            raise ParameterError(
                f"the fit in {self._unfinished.path} had divided its people into groups, and who "
                "was in which is forgotten; begin again with --anew (what it has cost is spent)"
            )
        return self._curator.split_people(n_parts, epsilon, mine)


# -- the file of work that was begun --

_KIND, _VERSION = "unfinished fit", 1
_ENTRIES = {"privet", "version", "key", "work", "drawn"}
#: The rules of work whose file does not name them: 0.1 began it.
_FIRST_RULES = 1


@dataclass
class Unfinished:
    """Work that was begun and is not finished."""

    path: Path
    key: str
    work: str
    drawn: bytes = b""
    #: Which public rules the work began with; it ends with the same.
    rules: int = RULES
    #: How much of it is in the file.
    saved: int = field(default=-1, compare=False)

    @classmethod
    def begin(cls, path: Path, curator: AnyCurator, *facts: str) -> Unfinished:
        """Go on with the work in this file, or begin it if there is no file.

        It must be the same work, as the curator and these facts tell.
        """
        work = hashlib.sha256(
            canonical_json({"who": curator.identity, "facts": list(facts)})
        ).hexdigest()
        if not path.exists():
            return cls(path, f"fit-{secrets.token_hex(16)}", work)
        unfinished = cls.read(path)
        if not unfinished._same(work):
            raise ParameterError(
                f"{path} belongs to a fit that was interrupted, of another table, learner or "
                "setting; finish that one with the "
                "options it had, or give it up with --anew (what it has cost is spent)"
            )
        return unfinished

    @classmethod
    def read(cls, path: Path) -> Unfinished:
        """Read the work in this file."""
        return read_sealed(path, lambda data: cls._parse(path, data), _KIND)

    @classmethod
    def _parse(cls, path: Path, data: bytes) -> Unfinished:
        document = unseal(data, _KIND, _VERSION)
        rules = document.pop("rules", _FIRST_RULES)
        require(
            set(document) == _ENTRIES
            and all(isinstance(document[name], str) for name in ("key", "work", "drawn")),
            "it is incomplete",
        )
        require(
            type(rules) is int and _FIRST_RULES <= rules <= RULES,
            "a newer version of Privet began it; go on with that one",
        )
        try:
            drawn = bytes.fromhex(document["drawn"])
        except ValueError:
            drawn = b"?"
        require(len(drawn) % 8 == 0, "its random words are damaged")
        return cls(path, document["key"], document["work"], drawn, rules, len(drawn))

    def _same(self, work: str) -> bool:
        return self.work == work

    @property
    def was_begun(self) -> bool:
        """Whether the file is there."""
        return self.saved >= 0

    def save(self) -> None:
        """Write the file durably, where something was drawn since."""
        if self.saved < len(self.drawn):
            document = {
                "privet": _KIND,
                "version": _VERSION,
                "key": self.key,
                "work": self.work,
                "drawn": self.drawn.hex(),
                **({} if self.rules == _FIRST_RULES else {"rules": self.rules}),
            }
            write_sealed(seal(document), self.path, _KIND, private=True)
            self.saved = len(self.drawn)

    def finish(self) -> None:
        """Remove the file: the work is done."""
        self.path.unlink(missing_ok=True)


class Remembered(Unfinished):
    """Work whose key follows from what it is, so that no file has to keep it.

    It draws nothing by itself that is released.
    """

    def __init__(self, key: str) -> None:
        super().__init__(Path(key), key, "")

    def save(self) -> None:
        """Keep nothing: the ledger has the answers."""


class KeptBits:
    """Random words that come out the same when the work is resumed."""

    def __init__(self, bits: Bits, unfinished: Unfinished) -> None:
        self._bits, self._unfinished, self._taken = bits, unfinished, 0

    @property
    def private(self) -> bool:
        """Whether nobody can know or repeat the words of noise, which come from elsewhere."""
        return self._bits.private

    def words(self, count: int) -> Words:
        """Return this many words."""
        start, self._taken = self._taken, self._taken + 8 * count
        missing = self._taken - len(self._unfinished.drawn)
        if missing > 0:
            self._unfinished.drawn += self._bits.words(-(-missing // 8)).tobytes()
        return np.frombuffer(self._unfinished.drawn[start : self._taken], dtype=np.uint64)
