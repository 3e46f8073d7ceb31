"""A ledger that lives as long as the process."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from privet.budget import NOTHING, Budget, Cost
from privet.ledger.base import check_cap, fitted, same_request
from privet.ledger.journal import Books, Entry, Line, cap_line, charge_line, new_identity, written


class MemoryLedger:
    """A ledger that lives as long as the process."""

    def __init__(self) -> None:
        self.identity = new_identity()
        self._lock = threading.Lock()
        self._lines: list[Line] = []
        self._caps: dict[tuple[str, str | None], Budget] = {}
        self._spent: dict[tuple[str, str | None], Cost] = {}
        self._keys: dict[tuple[str, str], Entry] = {}
        self._answers: dict[int, bytes] = {}

    def set_cap(self, dataset: str, budget: Budget, analyst: str | None = None) -> None:
        with self._lock:
            check_cap(self._caps.get((dataset, None)), dataset, budget, analyst)
            self._set_cap(dataset, budget, analyst)

    def open_cap(self, dataset: str, budget: Budget) -> Budget:
        with self._lock:
            check_cap(None, dataset, budget, None)
            if (dataset, None) not in self._caps:
                self._set_cap(dataset, budget, None)
            return self._caps[dataset, None]

    def _set_cap(self, dataset: str, budget: Budget, analyst: str | None) -> None:
        self._lines.append(cap_line(*self._head(), dataset, analyst, budget))
        self._caps[dataset, analyst] = budget

    def cap(self, dataset: str, analyst: str | None = None) -> Budget | None:
        return self._caps.get((dataset, analyst))

    def charge(
        self, dataset: str, analyst: str, cost: Cost, what: str, *, key: str = "", request: str = ""
    ) -> Entry:
        with self._lock:
            if key and (analyst, key) in self._keys:
                return same_request(self._keys[analyst, key], request)
            totals = {}
            for who in (None, analyst):
                totals[who] = fitted(
                    self._caps.get((dataset, who)), self.spent(dataset, who), cost, dataset, who
                )
            line = charge_line(*self._head(), dataset, analyst, what, cost, key, request)
            self._lines.append(line)
            self._spent.update({(dataset, who): total for who, total in totals.items()})
            if key:
                self._keys[analyst, key] = line.entry
        return line.entry

    def charged(self, analyst: str, key: str) -> Entry | None:
        return self._keys.get((analyst, key))

    def record(self, number: int, answer: bytes) -> bytes:
        return self._answers.setdefault(number, answer)

    def answer(self, number: int) -> bytes | None:
        return self._answers.get(number)

    def spent(self, dataset: str, analyst: str | None = None) -> Cost:
        return self._spent.get((dataset, analyst), NOTHING)

    def entries(self, dataset: str | None = None, analyst: str | None = None) -> list[Entry]:
        charges = [line.entry for line in self._lines if line.kind == "charge"]
        return [e for e in charges if dataset in (None, e.dataset) and analyst in (None, e.analyst)]

    def unanswered(self) -> set[int]:
        return {entry.number for entry in self._keys.values()} - set(self._answers)

    def datasets(self) -> list[str]:
        return sorted(dataset for dataset, analyst in self._caps if analyst is None)

    def analysts(self, dataset: str) -> list[str]:
        return sorted(
            analyst for known, analyst in self._caps if known == dataset and analyst is not None
        )

    def journal(self) -> Iterator[Line]:
        yield from list(self._lines)

    def line(self, number: int) -> Line | None:
        return self._lines[number - 1] if 1 <= number <= len(self._lines) else None

    def recorded(self, analyst: str) -> int:
        return sum(
            len(self._answers.get(entry.number, b"")) for entry in self.entries(analyst=analyst)
        )

    def books(self) -> Books:
        with self._lock:
            caps = {
                (dataset, analyst or ""): f"{cap.unit} {cap.amount}"
                for (dataset, analyst), cap in self._caps.items()
            }
            spent = {
                (dataset, analyst or ""): written(cost)
                for (dataset, analyst), cost in self._spent.items()
            }
            return Books(list(self._lines), caps, spent)

    def _head(self) -> tuple[str, int]:
        """The hash of the last line, and the number of the next."""
        return (self._lines[-1].hash if self._lines else self.identity), len(self._lines) + 1
