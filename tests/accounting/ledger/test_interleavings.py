"""Random interleavings of everything that reserves and charges, against a simple model."""

from __future__ import annotations

import random
import shutil
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from fractions import Fraction as F
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import left, verify
from privet.errors import BudgetExceeded, KeyReused, PrivetError, ReservationClosed
from tests.accounting.ledger.clocks import START, Clocked

UNITS = {"people": "epsilon", "cars": "rho"}
ANALYSTS = ("ada", "bob")
WEEK = timedelta(days=7)

dataset, analyst = st.sampled_from(["people", "people", "cars"]), st.sampled_from(ANALYSTS)
amount = st.fractions(min_value=F(1, 60), max_value=F(1, 2), max_denominator=60)
cap = st.fractions(min_value=0, max_value=1, max_denominator=20)
key = st.sampled_from(["one", "two"])
STEPS = st.one_of(
    st.tuples(st.just("reserve"), dataset, analyst, key, amount),
    st.tuples(st.just("reserve"), dataset, analyst, key, amount),
    st.tuples(st.just("charge"), dataset, analyst, amount, st.just(""), st.just("")),
    st.tuples(st.just("charge"), dataset, analyst, amount.map(lambda a: a / 4), key, st.just("")),
    st.tuples(st.just("charge"), dataset, analyst, amount.map(lambda a: a / 4), key, st.just("")),
    st.tuples(st.just("charge"), dataset, analyst, amount.map(lambda a: a / 4), key, key),
    st.tuples(st.just("close"), analyst, key, st.sampled_from(["done", "cancelled"])),
    st.tuples(st.just("expire")),
    st.tuples(st.just("clock"), st.integers(-300, 300)),
    st.tuples(st.just("cap"), dataset, st.sampled_from([None, *ANALYSTS]), cap),
    st.tuples(st.just("reopen")),
    st.tuples(st.just("die"), dataset, analyst, key, amount),
)


@dataclass
class Held:
    """A reservation of the model."""

    dataset: str
    reserved: F
    touched: object
    charged: F = F(0)
    state: str = "open"


@dataclass
class Model:
    """What must be, written down as simply as possible. Keys of charges begin with "c "."""

    clock: object = START
    latest: object = START
    caps: dict = field(default_factory=dict)
    charges: list = field(default_factory=list)
    held: dict = field(default_factory=dict)
    keys: dict = field(default_factory=dict)

    def spent(self, dataset, who=None):
        return sum((a for d, w, a in self.charges if d == dataset and who in (None, w)), F(0))

    def committed(self, dataset, who=None):
        return self.spent(dataset, who) + sum(
            one.reserved - one.charged
            for (analyst, _), one in self.held.items()
            if one.dataset == dataset and one.state == "open" and who in (None, analyst)
        )

    def fits(self, dataset, analyst, used, amount):
        return all(
            used(dataset, who) + amount <= self.caps[dataset, who]
            for who in (None, analyst)
            if (dataset, who) in self.caps
        )

    def line(self):
        self.latest = max(self.latest, self.clock)

    def expire(self):
        now = max(self.clock, self.latest)
        idle = [one for one in self.held.values() if one.state == "open"]
        for one in idle:
            if now - one.touched >= WEEK:
                one.state = "expired"
                self.line()

    def reserve(self, dataset, analyst, key, amount):
        self.expire()
        there = self.held.get((analyst, key))
        if there is not None:
            return None if there.dataset == dataset else KeyReused
        if not self.fits(dataset, analyst, self.committed, amount):
            return BudgetExceeded
        self.line()
        self.held[analyst, key] = Held(dataset, amount, self.latest)
        return None

    def charge(self, dataset, analyst, amount, within, key):
        self.expire()
        if key and (analyst, key) in self.keys:
            return None if self.keys[analyst, key] == (dataset, amount, within) else KeyReused
        there = self.held.get((analyst, within)) if within else None
        if within:
            if there is None or there.state != "open" or there.dataset != dataset:
                return ReservationClosed
            if amount > there.reserved - there.charged:
                return BudgetExceeded
        used = self.spent if within else self.committed
        if not self.fits(dataset, analyst, used, amount):
            return BudgetExceeded
        self.line()
        self.charges.append((dataset, analyst, amount))
        if key:
            self.keys[analyst, key] = (dataset, amount, within)
        if within:
            there.charged += amount
            there.touched = self.latest
        return None

    def close(self, analyst, key, why):
        there = self.held.get((analyst, key))
        if there is None or there.state not in ("open", why):
            return ReservationClosed
        if there.state == "open":
            there.state = why
            self.line()
        return None


class Both:
    """A ledger and its model, taking the same steps."""

    def __init__(self, clocked) -> None:
        self.clocked, self.model = clocked, Model()
        self.seen = Counter()
        for name in UNITS:
            self.cap(name, None, F(1))

    @property
    def ledger(self):
        return self.clocked.ledger

    def _agree(self, expected, act):
        outcome = None
        try:
            act()
        except PrivetError as error:
            outcome = type(error)
        assert outcome is expected
        self.seen[outcome] += 1

    def _reserve(self, dataset, analyst, key, amount):
        self.ledger.reserve(
            dataset,
            analyst,
            Budget(**{UNITS[dataset]: amount}),
            "a fit",
            key=key,
            request="r",
            schema="s",
            neighbours="replace",
            rows_per_person=2,
        )

    def reserve(self, *step):
        self._agree(self.model.reserve(*step), lambda: self._reserve(*step))

    def charge(self, dataset, analyst, amount, within, key):
        cost = Cost.pure(amount) if UNITS[dataset] == "epsilon" else Cost.concentrated(amount)
        self._agree(
            self.model.charge(dataset, analyst, amount, within, key),
            lambda: self.ledger.charge(
                dataset,
                analyst,
                cost,
                "x",
                key=key and f"c {key}",
                request=key and f"{dataset} {amount} {within}",
                reservation=within,
            ),
        )

    def close(self, analyst, key, why):
        self._agree(
            self.model.close(analyst, key, why),
            lambda: self.ledger.close_reservation(analyst, key, why=why),
        )

    def expire(self):
        self.model.expire()
        self.ledger.expire()

    def clock(self, hours):
        self.model.clock += timedelta(hours=hours)
        self.clocked.set_clock(self.model.clock)

    def cap(self, dataset, who, amount):
        self.ledger.set_cap(dataset, Budget(**{UNITS[dataset]: amount}), who)
        self.model.caps[dataset, who] = amount
        self.model.line()

    def reopen(self):
        self.clocked.reopen()

    def die(self, dataset, analyst, key, amount):
        """The process dies within a transaction, after it wrote a line. Nothing of it stays."""
        if self.clocked.kind != "sqlite":
            return
        ledger = self.ledger
        write = ledger._append
        cost = Cost(F(0), F(0))

        def cut(*given):
            write(*given)
            raise InterruptedError

        ledger._append = cut
        for act in (
            lambda: self._reserve(dataset, analyst, f"{key} new", F(1, 10**6)),
            lambda: ledger.charge(dataset, analyst, cost, "x"),
            lambda: ledger.charge(dataset, analyst, cost, "x", reservation=key),
            lambda: ledger.close_reservation(analyst, key),
            ledger.expire,
        ):
            before = ledger.books()
            try:
                act()
            except InterruptedError:
                self.seen["died"] += 1
            except PrivetError:
                pass
            assert ledger.books() == before
        self.clocked.reopen()

    def check(self, before):
        """Compare everything that a caller can see."""
        for dataset in UNITS:
            for who in (None, *ANALYSTS):
                committed = self.model.committed(dataset, who)
                assert self.ledger.committed(dataset, who) == committed
                spent = self.ledger.spent(dataset, who).amount(UNITS[dataset])
                assert spent == self.model.spent(dataset, who)
                limit = self.model.caps.get((dataset, who))
                if limit is not None:  # only the owner brings a cap below what is committed
                    assert committed <= max(limit, before.get((dataset, who), F(0)))
            for who in ANALYSTS:
                limits = [
                    self.model.caps[dataset, one] - self.model.committed(dataset, one)
                    for one in (None, who)
                    if (dataset, one) in self.model.caps
                ]
                assert left(self.ledger, dataset, who) == max(min(limits), 0)
        seen = {
            (one.analyst, one.key): (one.dataset, one.reserved, one.charged, one.state)
            for one in self.ledger.reservations()
        }
        assert seen == {
            name: (one.dataset, one.reserved, one.charged, one.state)
            for name, one in self.model.held.items()
        }
        assert all(0 <= charged <= reserved for _, reserved, charged, _ in seen.values())

    def committed(self):
        accounts = [(name, who) for name in UNITS for who in (None, *ANALYSTS)]
        return {account: self.model.committed(*account) for account in accounts}


def run(kind, steps, url=None):
    folder = Path(tempfile.mkdtemp())
    with pytest.MonkeyPatch.context() as patch:
        clocked = Clocked(kind, folder, url, patch)
        try:
            both = Both(clocked)
            for name, *step in steps:
                before = both.committed()
                getattr(both, name)(*step)
                both.check(before)
            both.reopen()
            both.check(both.committed())
            assert verify(both.ledger) == []
            closed = set()
            for line in both.ledger.journal():  # nothing is charged after the end
                reservation = line.particulars.get("reservation")
                assert reservation is None or reservation not in closed
                if line.kind == "close":
                    closed.add(reservation)
            both.seen.update(one.state for one in both.model.held.values())
            return both.seen
        finally:
            clocked.close()
            shutil.rmtree(folder)


@settings(max_examples=150)
@given(st.lists(STEPS, max_size=60))
def test_memory(steps):
    run("memory", steps)


@settings(max_examples=30)
@given(st.lists(STEPS, min_size=20, max_size=50))
def test_sqlite(steps):
    run("sqlite", steps)


@settings(max_examples=8)
@given(st.lists(STEPS, min_size=20, max_size=50))
def test_postgres(postgres, steps):
    run("postgres", steps, postgres.database())


def walk(rng, n):
    """A long walk, with new keys as it goes on, so that there is always something to do."""
    for i in range(n):
        dataset, analyst = rng.choice(sorted(UNITS)), rng.choice(ANALYSTS)
        key = f"{rng.randrange(max(0, i // 8 - 3), i // 8 + 1)}"
        amount = F(rng.randrange(1, 20), 60)
        yield rng.choice(
            [
                ("reserve", dataset, analyst, key, amount),
                ("reserve", dataset, analyst, key, amount),
                ("charge", dataset, analyst, amount / 30, "", rng.choice(["", key])),
                ("charge", dataset, analyst, amount / 30, key, ""),
                ("charge", dataset, analyst, amount / 30, key, rng.choice(["", key])),
                ("charge", dataset, analyst, amount / 3, key, ""),
                ("close", analyst, key, rng.choice(["done", "cancelled"])),
                ("expire",),
                ("clock", rng.choice([-100, 1, 60, 100, 200])),
                ("cap", dataset, rng.choice([None, None, analyst]), 1 + F(i, 200)),
                ("cap", dataset, rng.choice([None, analyst]), F(i, 300)),
                ("reopen",),
                ("die", dataset, analyst, key, amount),
            ]
        )


@pytest.mark.parametrize(("kind", "n"), [("memory", 800), ("sqlite", 250), ("postgres", 200)])
def test_a_long_walk_meets_every_outcome(kind, n, request):
    url = request.getfixturevalue("postgres").database() if kind == "postgres" else None
    seen = run(kind, walk(random.Random(n), n), url)
    outcomes = [None, KeyReused, BudgetExceeded, ReservationClosed]
    outcomes += ["open", "done", "cancelled", "expired"] + ["died"] * (kind == "sqlite")
    assert {outcome: seen[outcome] for outcome in outcomes if not seen[outcome]} == {}, seen
