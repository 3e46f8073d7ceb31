"""What a person loses at an epsilon, by what an adversary wants to know about them.

The epsilon of a question is for one row added or removed (docs/decisions/005). A person of m rows who is in the table or not makes a
difference of m rows: m epsilon. Somebody who is known to be in it, and whose rows say one thing or another, is one person removed and
another added: 2 m epsilon. Both hold for every table; which of the two is the promise, and is charged, is what the schema declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from privet.budget import Cost, Number, exact
from privet.errors import ParameterError
from privet.explain.inputs import whole
from privet.schema import Neighbours


@dataclass(frozen=True)
class Losses:
    """Epsilons, exactly: of one row, of a person's presence, of what a person's rows say, and the one that is charged."""

    row: Fraction
    presence: Fraction
    record: Fraction
    charged: Fraction


def losses(epsilon: Number, rows_per_person: int = 1, neighbours: Neighbours = "add-remove") -> Losses:
    """What a question of this epsilon costs a person.

    Args:
        epsilon: as it is passed to a question or a learner: for one row added or removed.
        rows_per_person, neighbours: as the schema declares them.
    """
    whole("rows_per_person", rows_per_person)
    if neighbours not in ("add-remove", "replace"):
        raise ParameterError(f"neighbours must be 'add-remove' or 'replace', got {neighbours!r}")
    row = exact("epsilon", epsilon)
    presence, record = _person(row, rows_per_person, "add-remove"), _person(row, rows_per_person, "replace")
    return Losses(row, presence, record, record if neighbours == "replace" else presence)


def _person(row: Fraction, rows_per_person: int, neighbours: Neighbours) -> Fraction:
    found = Cost.pure(row).for_neighbours(rows_per_person, neighbours).epsilon
    assert found is not None
    return found
