"""What a fault may not do, counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from privet.accounting.cost import Cost
from privet.accounting.ledger import Entry, Ledger, verify


@dataclass
class Tally:
    """A line of the table.

    ``answers`` were handed out (a charge that returned counts as one, and a file that was written),
    ``lost`` of them have no line in the ledger. ``overspent`` counts accounts whose charges add up
    to more than their cap, ``half`` files that are neither old nor new nor absent, ``odd``
    everything else that was not promised: an error without a type of ours, a ledger that does not
    verify, a budget that could not be spent to the end.
    """

    fault: str
    rounds: int = 0
    answers: int = 0
    refused: int = 0
    lost: int = 0
    overspent: int = 0
    half: int = 0
    odd: Counter[str] = field(default_factory=Counter)
    remark: str = ""

    @property
    def holds(self) -> bool:
        """Whether nothing happened that may not."""
        return self.rounds > 0 and not (self.lost or self.overspent or self.half or self.odd)

    def check(self, ledger: Ledger, told: Iterable[tuple[int, str]]) -> None:
        """Hold what was handed out, as numbers and hashes of lines, against the ledger; and the
        ledger against its caps.
        """
        self.check_told(ledger, told)
        self.check_books(ledger)

    def check_told(self, ledger: Ledger, told: Iterable[tuple[int, str]]) -> None:
        """Hold what was handed out against the ledger."""
        lines = {entry.number: entry.hash for entry in ledger.entries()}
        found = list(told)
        self.answers += len(found)
        self.lost += sum(1 for number, hashed in found if lines.get(number) != hashed)

    def check_books(self, ledger: Ledger) -> None:
        """Hold a ledger against its caps, and its totals and hashes against its lines."""
        self.odd.update(f"verify: {problem}"[:200] for problem in verify(ledger))
        for dataset in ledger.datasets():
            cap = ledger.cap(dataset)
            assert cap is not None
            self.overspent += spent_in(ledger.entries(dataset)) > cap.amount


def spent_in(entries: Iterable[Entry]) -> Fraction:
    """What lines add up to, whatever the ledger's own total says."""
    return sum((entry.cost.epsilon or Fraction(0) for entry in entries), Fraction(0))


def unit_cost(units: int) -> Cost:
    """The cost of which a budget of one has this many."""
    return Cost.pure(Fraction(1, units))
