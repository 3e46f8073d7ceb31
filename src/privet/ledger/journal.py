"""The lines of a ledger. Each carries the hash of itself and of the line before, so that none can
be changed unnoticed.

A line's hash is SHA-256 over the hash of the line before (for the first: the ledger's identity, 64
random hexadecimal digits) followed by the line's fields in order, each as ``<bytes of
UTF-8>:<text>,``. So a line fixes everything before it: who knows one hash can tell whether the
history that led to it is still the same.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from privet.budget import Budget, Cost, written_fraction
from privet.errors import ParameterError


@dataclass(frozen=True)
class Entry:
    """One charge. ``number`` is its line in the journal; ``key`` and ``request`` say which request
    of the analyst it paid for.
    """

    number: int
    time: str
    dataset: str
    analyst: str
    what: str
    cost: Cost
    key: str = ""
    request: str = ""
    hash: str = ""


@dataclass(frozen=True)
class Line:
    """One line as it is stored. Amounts are written fractions; an empty one means that there is
    none.

    A line of kind "cap" sets the cap of a data set, or of one analyst on it (no analyst: of the
    data set), in one of the two units.
    """

    number: int
    time: str
    kind: str
    dataset: str
    analyst: str
    what: str
    epsilon: str
    rho: str
    key: str
    request: str
    hash: str

    def hashed(self, before: str) -> str:
        """The hash that this line must have after a line with the hash ``before``."""
        texts = [str(getattr(self, field.name)) for field in fields(self)[:-1]]
        written = "".join(f"{len(text.encode())}:{text}," for text in texts)
        return hashlib.sha256(f"{before}{written}".encode()).hexdigest()

    @property
    def entry(self) -> Entry:
        """As a charge."""
        cost = Cost(
            written_fraction(self.epsilon) if self.epsilon else None, written_fraction(self.rho)
        )
        return Entry(
            self.number,
            self.time,
            self.dataset,
            self.analyst,
            self.what,
            cost,
            self.key,
            self.request,
            self.hash,
        )

    @property
    def budget(self) -> Budget:
        """As a cap."""
        return (
            Budget(written_fraction(self.epsilon))
            if self.epsilon
            else Budget(rho=written_fraction(self.rho))
        )


@dataclass(frozen=True)
class Books:
    """A ledger at one moment, as it is stored: its lines, and the caps and totals that must follow
    from them.

    Caps and totals are by data set and analyst (no analyst: of the data set); a cap is text such as
    "epsilon 1/3".
    """

    lines: list[Line]
    caps: dict[tuple[str, str], str]
    spent: dict[tuple[str, str], tuple[str | None, str]]

    @classmethod
    def read(
        cls, lines: list[Line], caps: Iterable[Sequence[Any]], spent: Iterable[Sequence[Any]]
    ) -> Books:
        """From rows of (data set, analyst, unit, amount) and of (data set, analyst, epsilon,
        rho).
        """
        by_account = {
            (dataset, analyst): f"{unit} {amount}" for dataset, analyst, unit, amount in caps
        }
        return cls(
            lines,
            by_account,
            {(dataset, analyst): (epsilon, rho) for dataset, analyst, epsilon, rho in spent},
        )


def charge_line(
    before: str,
    number: int,
    dataset: str,
    analyst: str,
    what: str,
    cost: Cost,
    key: str = "",
    request: str = "",
    time: str = "",
) -> Line:
    """The next line, for a charge."""
    epsilon = "" if cost.epsilon is None else str(cost.epsilon)
    return _chained(
        before,
        Line(
            number,
            time or now(),
            "charge",
            dataset,
            analyst,
            what,
            epsilon,
            str(cost.rho),
            key,
            request,
            "",
        ),
    )


def cap_line(before: str, number: int, dataset: str, analyst: str | None, budget: Budget) -> Line:
    """The next line, for a cap."""
    amounts = (str(budget.amount), "") if budget.unit == "epsilon" else ("", str(budget.amount))
    return _chained(
        before,
        Line(number, now(), "cap", dataset, analyst or "", f"cap: {budget}", *amounts, "", "", ""),
    )


def _chained(before: str, line: Line) -> Line:
    values = {field.name: getattr(line, field.name) for field in fields(line)}
    return Line(**{**values, "hash": line.hashed(before)})


def written(cost: Cost) -> tuple[str | None, str]:
    """A total as it is stored."""
    return None if cost.epsilon is None else str(cost.epsilon), str(cost.rho)


def new_identity() -> str:
    """The identity of a new ledger."""
    return secrets.token_hex(32)


def now() -> str:
    """The time in a line."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


@dataclass(frozen=True)
class Receipt:
    """What an answer carries to prove its line: the ledger, the line's number and hash, and the
    SHA-256 of the answer (if there is one).
    """

    ledger: str
    number: int
    hash: str
    answer: str = ""

    def __str__(self) -> str:
        return f"privet-receipt-1.{self.ledger}.{self.number}.{self.hash}.{self.answer}"

    @classmethod
    def of(cls, ledger: str, entry: Entry, answer: bytes | None) -> Receipt:
        """The receipt of a charge, and of its answer where there is one."""
        return cls(
            ledger,
            entry.number,
            entry.hash,
            "" if answer is None else hashlib.sha256(answer).hexdigest(),
        )

    @classmethod
    def read(cls, text: str) -> Receipt:
        """From its text."""
        found = re.fullmatch(
            r"privet-receipt-1\.([0-9a-f]{64})\.([0-9]{1,18})\.([0-9a-f]{64})\.([0-9a-f]{64}|)",
            text.strip(),
        )
        if found is None:
            raise ParameterError(
                "a receipt must be text such as privet-receipt-1.LEDGER.NUMBER.HASH.ANSWER, as an "
                "answer carries it"
            )
        return cls(found[1], int(found[2]), found[3], found[4])
