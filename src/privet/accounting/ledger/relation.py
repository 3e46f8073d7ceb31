"""Say who the neighbours of an account are: for whom its charges promise something.

What is charged is a cost for one kind of neighbours. Costs for another kind are about other pairs
of tables, and their sum is a promise to nobody: 2 for one row added or removed and 4 for one row
replaced are not 6, but 8 for one row replaced. So an account has one relation, that of the first
line which states it, and nothing is charged to it under another.

Ledgers of 0.1 state none, and those before version 4 (PostgreSQL: 3) no ``person``. Such an account
gets what it lacks from the next line that states it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from privet._types import Json
from privet.accounting.ledger.base import check_text
from privet.accounting.ledger.journal import JournalEntry
from privet.errors import ParameterError, PrivacyError

_NEIGHBOURS = ("add-remove", "replace")


class Relation(NamedTuple):
    """Who the neighbours are.

    ``person`` is the column that tells people apart, empty where rows are not told apart, and None
    where no line has said.
    """

    neighbours: str
    rows_per_person: int
    person: str | None = ""

    def __str__(self) -> str:
        rows = self.rows_per_person
        one = "one row" if rows == 1 and not self.person else f"one person of up to {rows} rows"
        by = f" (by {self.person!r})" if self.person else ""
        how = "replaced" if self.neighbours == "replace" else "added or removed"
        return f"{one}{by} {how}"

    def to_particulars(self) -> dict[str, Any]:
        """Return it as a line of the journal states it."""
        stated = {"neighbours": self.neighbours, "rows_per_person": self.rows_per_person}
        return stated if self.person is None else {**stated, "person": self.person}

    def to_json(self) -> Json:
        """Return it for a listing."""
        return {
            "neighbours": self.neighbours,
            "rows_per_person": self.rows_per_person,
            "person": self.person or None,
        }

    @classmethod
    def read(cls, particulars: Mapping[str, Any]) -> Relation | None:
        """Return what a line states, if anything."""
        if "neighbours" not in particulars:
            return None
        return cls(
            particulars["neighbours"],
            particulars["rows_per_person"],
            particulars.get("person"),
        )

    @classmethod
    def check(cls, neighbours: str, rows_per_person: int, person: str | None = "") -> Relation:
        """Return the relation; raise unless it is one."""
        if neighbours not in _NEIGHBOURS:
            raise ParameterError(
                f"neighbours must be 'add-remove' or 'replace', got {neighbours!r}"
            )
        good = isinstance(rows_per_person, int) and not isinstance(rows_per_person, bool)
        if not good or not 1 <= rows_per_person <= 10**18:
            raise ParameterError(
                f"rows_per_person must be an integer from 1 to 10**18, got {rows_per_person!r}"
            )
        if person is not None:
            check_text("person", person)
        return cls(neighbours, rows_per_person, person)


def check_stated(neighbours: str, rows_per_person: int, person: str = "") -> Relation | None:
    """Return the relation that a charge states, checked; None if it states none."""
    if neighbours == "" and rows_per_person == 0 and person == "":
        return None
    return Relation.check(neighbours, rows_per_person, person)


def is_same(recorded: Relation, stated: Relation) -> bool:
    """Return whether they do not contradict each other."""
    unsaid = recorded.person is None or stated.person is None
    return recorded[:2] == stated[:2] and (unsaid or recorded.person == stated.person)


def settle(recorded: Relation | None, stated: Relation | None) -> Relation | None:
    """Return the relation of an account after a line that is for the same, or states none."""
    if stated is None or (recorded is not None and not is_same(recorded, stated)):
        return recorded
    return stated if recorded is None or recorded.person is None else recorded


def check_relation(dataset: str, recorded: Relation | None, stated: Relation | None) -> None:
    """Raise where a charge is for other neighbours than its account."""
    if recorded is None or stated is None or is_same(recorded, stated):
        return
    raise PrivacyError(
        f"the account of data set {dataset!r} is for {recorded}, this would be for {stated}: such "
        "costs do not add up, so nothing is charged. Ask under a schema with the neighbours, "
        "rows_per_person and person of the account; or open another account, with a budget that "
        "is lower by what this one has spent, times the factor between the two"
    )


def stated_by(lines: Iterable[JournalEntry]) -> dict[str, list[Relation]]:
    """Return what the lines of each data set state, each relation once.

    More than one: before there was this check, somebody charged under several, and the account's
    total is a promise to nobody.
    """
    stated: dict[str, list[Relation]] = {}
    for line in lines:
        relation = Relation.read(line.particulars) if line.kind in ("charge", "reserve") else None
        if relation is None:
            continue
        known = stated.setdefault(line.dataset, [])
        if not any(is_same(other, relation) for other in known):
            known.append(relation)
    return stated
