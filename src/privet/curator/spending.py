"""Spend a learner's budget: what work may cost, what it has paid, and its privacy statement.

Work that asks several queries reserves its whole cost first, so that nobody else can starve it
halfway, and spends from that query by query. What it states at the end is what its public plan
*could* have spent: a learner that stops early spends less, but whether it does may depend on the
data. Only the ledger gets the rest back.

Every privacy statement of a single release is made in this module, for work that asks no curator
as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy.typing as npt

from privet.accounting.conversion import rho_for
from privet.accounting.cost import (
    Cost,
    Number,
    Unit,
    compose_sequentially,
    copy_amount,
    is_infinite,
    parse_exact,
)
from privet.accounting.statement import Charge, PrivacyStatement
from privet.curator.base import AnyCurator
from privet.domain import Schema
from privet.errors import ParameterError
from privet.mechanisms.randomness import Bits, SystemBits

#: Instead of the id of a release that is not made yet; no release has it.
FORESEEN = "foreseen"


def cost_of(epsilon: Number, delta: Number = 0) -> Cost | None:
    """Return the cost that an epsilon, or an epsilon and a delta, allow.

    None for an infinite epsilon: exact counts of a public table.
    """
    small = parse_exact("delta", delta, zero=True)
    if is_infinite(epsilon):
        return None
    amount = parse_exact("epsilon", epsilon)
    return Cost.pure(amount) if small == 0 else Cost.concentrated(rho_for(amount, small))


@dataclass(frozen=True)
class RowsSeen:
    """About how many rows were counted, by released numbers, and the deviation of their noise.

    ``at_least``: there may be many more, as where rows add less than 1 each.
    """

    rows: float
    deviation: float
    at_least: bool = False


#: Who is told about noisy counts that have every row in one entry.
Notice = Callable[[Iterable[npt.NDArray[Any]], float], None]


def ignore_counts(tables: Iterable[npt.NDArray[Any]], deviation: float) -> None:
    """Tell nobody."""


@dataclass
class Spending:
    """The epsilon or rho of some work.

    ``curator`` is whom to ask, and is charged within the reservation. ``left`` is what is left to
    spend; None without noise. ``charges`` is what was paid, for one row added or removed.
    """

    curator: AnyCurator
    cost: Cost | None
    unit: Unit = "epsilon"
    delta: Fraction | None = None
    left: Fraction | None = None
    charges: list[Charge] = field(default_factory=list)
    _seen: list[RowsSeen] = field(default_factory=list)

    @classmethod
    def reserve(
        cls, curator: AnyCurator, epsilon: Number, what: str, *, delta: Number = 0
    ) -> AbstractContextManager[Spending]:
        """Reserve the whole cost of some work, and see the same rows throughout it.

        The curator says how work on its rows is paid for: records that people randomised have paid
        already.

        Args:
            curator: who is asked.
            epsilon, delta: what the work may cost; ``math.inf`` is for public tables.
            what: one line for the ledger.
        """
        return curator.open_spending(epsilon, what, delta=delta)

    @classmethod
    @contextmanager
    def charge(
        cls, curator: AnyCurator, epsilon: Number, what: str, *, delta: Number = 0
    ) -> Iterator[Spending]:
        """Reserve a cost in the ledger of a curator that charges queries."""
        epsilon, delta = copy_amount(epsilon), copy_amount(delta)
        cost = cost_of(epsilon, delta)
        unit: Unit = "rho" if cost is not None and cost.epsilon is None else "epsilon"
        if unit == "rho" and curator.unit != "rho":
            raise ParameterError(
                "delta above 0 needs a curator with a budget in rho, such as pv.Budget(epsilon, "
                "delta=delta); this one counts epsilon"
            )
        left = None if cost is None else cost.amount(unit)
        small = parse_exact("delta", delta) if unit == "rho" else None
        # A pure epsilon under a budget in rho costs less than its square suggests, and its queries
        # say how much less: such work charges without reserving.
        aside = cost if curator.unit == unit else None
        with curator.reserving(aside, what) as reserved, reserved.snapshot():
            yield cls(reserved, cost, unit, small, left)

    @property
    def to_share(self) -> Fraction | None:
        """What all further queries have to share; None where each is as good as if it were the only
        one.
        """
        return self.left

    def take(self, share: Fraction) -> Number:
        """Return this share of what is left, to be spent."""
        if self.left is None:
            return math.inf
        amount = self.left * share
        self.left -= amount
        return amount

    def share(self, share: Fraction, parts: int) -> Number:
        """Return each of so many equal parts of this share of what is left, to be spent."""
        amount = self.take(share)
        return amount if is_infinite(amount) else parse_exact(self.unit, amount) / parts

    def draws(self, parts: int) -> Number:
        """Return the epsilon of each of so many draws that share all that is left.

        With rho, epsilon**2/8 of it is a draw's.
        """
        if self.left is None:
            return math.inf
        amount, self.left = self.left, Fraction(0)
        return spread_draws(amount, self.unit, parts)

    def price(self, amount: Number) -> dict[Unit, Number]:
        """Return an amount as the price of a query."""
        return {self.unit: amount}

    def record_charge(self, what: str, cost: Cost) -> None:
        """Note a charge for the privacy statement."""
        self.charges.append(Charge(what, cost))

    def notice_rows(self, rows: float, deviation: float, *, at_least: bool = False) -> None:
        """Note what released numbers say about how many rows there are: nothing is asked for it."""
        self._seen.append(RowsSeen(rows, deviation, at_least))

    def notice_counts(self, tables: Iterable[npt.NDArray[Any]], deviation: float) -> None:
        """Note the number of rows by tables of noisy counts, each of which has every row in one
        entry.
        """
        for table in tables:
            self.notice_rows(float(table.sum()), deviation * math.sqrt(table.size))

    @property
    def rows_seen(self) -> RowsSeen | None:
        """The mean of what was noted, the less noisy the more it weighs; None where nothing was."""
        counted = [seen for seen in self._seen if not seen.at_least] or self._seen
        if not counted:
            return None
        weights = [1 / max(seen.deviation, 1e-9) ** 2 for seen in counted]
        mean = sum(w * seen.rows for w, seen in zip(weights, counted, strict=True)) / sum(weights)
        return RowsSeen(mean, 1 / math.sqrt(sum(weights)), counted[0].at_least)

    def give_back(self) -> None:
        """Promise only what was charged.

        For work whose charges follow from what was released, and from nothing else: then whoever
        reads the statement learns nothing from how much was left.
        """
        if self.cost is not None:
            self.cost = compose_sequentially(charge.cost for charge in self.charges)
            self.left = Fraction(0)

    def statement(
        self,
        notes: Iterable[str] = (),
        *,
        name: str = "",
        id: str | None = None,  # noqa: A002
    ) -> PrivacyStatement:
        """Return what the work gives away: what its plan could have spent."""
        curator = self.curator
        release = release_id(curator.bits) if id is None else id
        curator.claim(release)
        reasons = ["no noise was added (epsilon is infinite)"] if self.cost is None else []
        reasons += [] if curator.private else [curator.reason]
        return PrivacyStatement.of(
            curator.schema,
            [*self.charges, *self._list_unused()],
            private=not reasons,
            reason="; ".join(reasons),
            delta=self.delta,
            notes=[*notes, *curator.notes],
            id=release,
            name=name,
            account=curator.account,
        )

    def _list_unused(self) -> list[Charge]:
        """Return what was set aside and not spent: it is promised all the same."""
        if self.cost is None:
            return []
        spent = sum(
            (charge.cost.amount(self.unit) or Fraction(0) for charge in self.charges), Fraction(0)
        )
        unused = (self.cost.amount(self.unit) or Fraction(0)) - spent
        if self.unit == "rho":  # rho is promised, although a sum of epsilons could be promised too
            return [Charge("set aside and not used", Cost(None, unused))]
        return [Charge("set aside and not used", Cost.pure(unused))] if unused > 0 else []


def foresee_charged(
    curator: AnyCurator, epsilon: Number, what: str, name: str = ""
) -> PrivacyStatement:
    """Return what work of this epsilon would state where queries are charged; charge nothing."""
    # without noise nothing is promised, and any amount shows whether the rest fits
    charge = Charge(what, Cost.pure(1 if is_infinite(epsilon) else epsilon))
    return PrivacyStatement.of(
        curator.schema, [charge], private=True, id=FORESEEN, name=name, account=curator.account
    )


def state_randomised(
    schema: Schema,
    cost: Cost,
    reasons: Sequence[str] = (),
    *,
    id: str | None = None,  # noqa: A002
    name: str = "",
    account: str = "",
) -> PrivacyStatement:
    """Return the statement of what was learnt from records that people randomised themselves.

    Args:
        schema: what the records are about.
        cost: what each record has paid, for one row replaced.
        reasons: why nothing can be promised; empty where it can.
        id, name, account: of the release; by default it gets a new id.
    """
    release = release_id(SystemBits()) if id is None else id
    return PrivacyStatement.randomised(
        schema,
        cost,
        private=not reasons,
        reason="; ".join(reasons),
        id=release,
        name=name,
        account=account,
    )


def state_secure_sum(
    schema: Schema, what: str, cost: Cost, *, notes: Iterable[str], assumes: str
) -> PrivacyStatement:
    """Return the statement of a sum whose noise several parties made together.

    Each of them has charged its own ledger.

    Args:
        schema: what the sum is about.
        what: what was added up.
        cost: what one row costs in all tables that it may be in.
        notes, assumes: whom the promise trusts.
    """
    return PrivacyStatement.of(
        schema,
        [Charge(what, cost)],
        private=True,
        notes=notes,
        id=release_id(SystemBits()),
        name="secure sum",
        assumes=assumes,
    )


def release_id(bits: Bits) -> str:
    """Return an id that no other release has."""
    return bits.words(2).tobytes().hex()


def spread_draws(amount: Number, unit: Unit, parts: int) -> Number:
    """Return the epsilon of each of so many draws or selections of bounded range that share an
    amount.

    With rho, epsilon**2/8 of it is each one's.
    """
    if is_infinite(amount):
        return math.inf
    each = parse_exact(unit, amount) / parts
    return each if unit == "epsilon" else root_below(8 * each)


def root_below(square: Fraction) -> Fraction:
    """Return a fraction just below the square root."""
    scale = 1 << 80
    return Fraction(math.isqrt(square.numerator * scale**2 // square.denominator), scale)
