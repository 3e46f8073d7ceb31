"""One fault, and what must notice it."""

from __future__ import annotations

from dataclasses import dataclass


class Moved(Exception):
    """The code that a mutant changes is no longer there, or no longer there once."""


@dataclass(frozen=True)
class Audited:
    """An audit whose verdict must be "violated".

    Args:
        subject: a subject of ``privet audit``.
        runs: the number of seeded runs in each of the two worlds.
    """

    subject: str
    runs: int

    def __str__(self) -> str:
        return f"audit of {self.subject}"


@dataclass(frozen=True)
class Mutant:
    """A replacement of ``before`` by ``after``, somewhere in the package.

    The code is found by its syntax tree (see :mod:`experiments.mutants.source`), so that neither
    another layout nor another file loses it.

    Args:
        name: a few words for the table, unique.
        place: the qualified name of the function or class around the code, such as
            ``SQLiteLedger.charge``, or of the constant that it defines, such as ``_SCRYPT``.
        before: the code, which must be there exactly once: an expression, a statement or several,
            a keyword argument, or the header of a compound statement up to its colon.
        after: what takes its place; where a statement is to go, nothing.
        harm: what would go wrong for a person.
        tests: node ids of pytest, below ``tests/``; each must fail.
        audits: each must find the claim violated.
        module: the last parts of the module's name, such as ``ledger.sqlite``; only needed where
            two modules have the same place.
        in_string: whether ``before`` is not code, but text inside a string constant, such as SQL.
    """

    name: str
    place: str
    before: str
    after: str
    harm: str
    tests: tuple[str, ...] = ()
    audits: tuple[Audited, ...] = ()
    module: str = ""
    in_string: bool = False

    def __post_init__(self) -> None:
        if self.before == self.after or not (self.tests or self.audits):
            raise ValueError(
                f"mutant {self.name!r} changes nothing, or nothing is named that must catch it"
            )

    @property
    def where(self) -> str:
        """The place, with its module where one is named."""
        return f"{self.module}: {self.place}" if self.module else self.place
