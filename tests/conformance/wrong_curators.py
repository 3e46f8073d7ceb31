"""Curators and record keepers that break a promise, each in one way. The suite must catch them,
whatever is asked.
"""

from __future__ import annotations

from collections.abc import Callable

from privet.accounting.cost import Cost
from privet.accounting.ledger.base import KeyedLedger
from privet.curator import Curator
from privet.curator.recorded import Recorded
from privet.errors import PrivetError, TableError
from privet.queries import Answer, Price, check_query


class ReadsFirst(Curator):
    """Rows are read, and then the charge is made."""

    def ask(self, query, epsilon=None, *, rho=None):
        asked = check_query(query, self.schema)
        price = Price.of(epsilon, rho)
        cost = asked.kind.cost(price)
        exact = self._inside(lambda: asked.exact(self._source))
        entry = self._charge(cost, asked.describe())
        released = asked.kind.release(exact, price, self._bits)
        terms = Answer(cost.promised(self.schema), cost, self.private, entry)
        return asked.answer(released, terms)


class ChargesHalf(Curator):
    """The ledger hears of half the cost."""

    def _charge(self, cost, what, words=""):
        half = Cost(None if cost.epsilon is None else cost.epsilon / 2, cost.rho / 2)
        return super()._charge(half, what, words)


class ChargesTwice(Curator):
    """Two entries for one answer."""

    def _charge(self, cost, what, words=""):
        super()._charge(cost, what, words)
        return super()._charge(cost, what, words)


class ForgetsPeople(Curator):
    """The ledger hears of the cost for one row, whoever the neighbours are."""

    def _charge(self, cost, what, words=""):
        return self.charge_promised(cost, what, words)


class PassesOn(Curator):
    """What an engine says about a failure goes out."""

    def _inside(self, work):
        try:
            return work()
        except PrivetError:
            raise
        except Exception as error:  # noqa: BLE001
            raise TableError(f"{self.dataset!r} could not be counted: {error}") from None


class Chains(Curator):
    """What an engine says about a failure goes out with the traceback."""

    def _inside(self, work):
        try:
            return work()
        except Exception as error:
            raise TableError(f"{self.dataset!r} could not be counted") from error


class LetsThrough(Curator):
    """An engine's error goes out as it is."""

    def _inside(self, work):
        return work()


class TakesAnything(Curator):
    """A class that nobody registered may be asked."""

    def ask(self, query, epsilon=None, *, rho=None):
        if isinstance(query, type) or not hasattr(query, "plain"):
            return super().ask(query, epsilon, rho=rho)
        kind = type(query)
        plain = kind if kind.__module__.startswith("privet.") else kind.__base__
        other = object.__new__(plain)
        for name, value in vars(query).items():
            object.__setattr__(other, name, value)
        return super().ask(other, epsilon, rho=rho)


class LooksTwice(Curator):
    """More is read where there is more to read."""

    def ask(self, query, epsilon=None, *, rho=None):
        answer = super().ask(query, epsilon, rho=rho)
        if any(len(classes) for _, classes, _ in self._source.rows()):
            self._source.rows()
        return answer


def never_recorded(keyed: KeyedLedger, work: Callable[[], bytes]) -> Recorded | None:
    """The answer leaves, and nobody keeps it."""
    answer = work()
    return None if keyed.entry is None else Recorded(keyed.entry, answer, replayed=False)


def own_answer(keyed: KeyedLedger, work: Callable[[], bytes]) -> Recorded | None:
    """The answer is recorded, but what leaves is the own one even if another was kept."""
    answer = work()
    if keyed.entry is None:
        return None
    keyed.record(keyed.entry.number, answer)
    return Recorded(keyed.entry, answer, replayed=False)


def any_request(keyed: KeyedLedger) -> Recorded | None:
    """A key gives its answer to whatever is asked under it."""
    entry = keyed.before
    answer = None if entry is None else keyed.answer(entry.number)
    return None if entry is None or answer is None else Recorded(entry, answer, replayed=True)


def nothing_replayed(keyed: KeyedLedger) -> Recorded | None:
    """Everything is worked out again."""
    return None


_FIRST, _REFUSED = "is charged before rows are touched", "refuses without touching rows"
_FAILURE, _ONCE = "tells nothing when an engine fails", "is answered once for a charge"

_TWO = "two answers left for one charge"

#: What is wrong, the check that must catch it, and what it must say.
WRONG = {
    "reads before it charges": ({"curator": ReadsFirst}, _FIRST, "touched before the charge"),
    "reads what does not fit": (
        {"curator": ReadsFirst},
        _REFUSED,
        "over budget: rows were",
    ),
    "charges half": ({"curator": ChargesHalf}, _FIRST, "charge is not the stated cost"),
    "charges twice": ({"curator": ChargesTwice}, _FIRST, "more than one charge"),
    "forgets the neighbours": ({"curator": ForgetsPeople}, _FIRST, "charge is not the stated cost"),
    "quotes the engine": ({"curator": PassesOn}, _FAILURE, "was passed on"),
    "chains the engine's error": ({"curator": Chains}, _FAILURE, "was passed on"),
    "lets the engine's error through": ({"curator": LetsThrough}, _FAILURE, "raised RuntimeError"),
    "takes any class": ({"curator": TakesAnything}, _REFUSED, "a subclass of the query: was not"),
    "reads more of more rows": (
        {"curator": LooksTwice},
        "works alike whatever the rows",
        "what is read depends on the rows",
    ),
    "keeps no answer": ({"answered": never_recorded}, _ONCE, _TWO),
    "gives its own answer": ({"answered": own_answer}, _ONCE, _TWO),
    "replays to any request": ({"replayed": any_request}, _ONCE, "another request's key"),
    "works everything out again": ({"replayed": nothing_replayed}, _ONCE, "worked out again"),
}
