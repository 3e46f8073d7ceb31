"""One fault, and what must notice it."""

from __future__ import annotations

from dataclasses import dataclass


class Moved(Exception):
    """The code that a mutant changes is no longer there, or no longer there once."""


@dataclass(frozen=True)
class Audited:
    """An audit whose verdict must be "violated": of a subject of ``privet audit``, with so many
    seeded runs in each world.
    """

    subject: str
    runs: int

    def __str__(self) -> str:
        return f"audit of {self.subject}"


@dataclass(frozen=True)
class Mutant:
    """A replacement of ``before`` by ``after`` in a file of the package.

    Args:
        name: a few words for the table, unique.
        file: the path below ``src/privet``.
        before, after: the text that must be found exactly once, and what takes its place.
        harm: what would go wrong for a person.
        tests: node ids of pytest, below ``tests/``; each must fail.
        audits: each must find the claim violated.
    """

    name: str
    file: str
    before: str
    after: str
    harm: str
    tests: tuple[str, ...] = ()
    audits: tuple[Audited, ...] = ()

    def __post_init__(self) -> None:
        if self.before == self.after or not (self.tests or self.audits):
            raise ValueError(
                f"mutant {self.name!r} changes nothing, or nothing is named that must catch it"
            )

    def applied(self, text: str) -> str:
        """The text of the file with the fault in it."""
        found = text.count(self.before)
        if found != 1:
            raise Moved(
                f"mutant {self.name!r}: this text stands {found} times in src/privet/{self.file}, "
                "and must stand there once; "
                "where the code has moved, move the mutant in bench/mutants with "
                f"it:\n{self.before}"
            )
        return text.replace(self.before, self.after)

    @property
    def room(self) -> str:
        """The part of the package that it is in."""
        return self.file.split("/")[0].removesuffix(".py")
