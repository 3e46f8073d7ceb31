"""What a person loses at an epsilon, by what an adversary wants to know about them.

The epsilon of a question is for one row added or removed (docs/decisions/005). A person of m rows
who is in the table or not makes a difference of m rows: m epsilon. Somebody who is known to be in
it, and whose rows say one thing or another, is one person removed and another added: 2 m epsilon.
Where everybody knows how many rows there are, whoever is not in the table has somebody else in
their place, so that presence costs 2 m epsilon, too. This holds for every table; what is charged is
what the schema declares.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import get_args

from privet.budget import Cost, Number, parse_exact
from privet.checks import check_name
from privet.explain.inputs import check_count
from privet.schema import Neighbours, Schema


@dataclass(frozen=True)
class Losses:
    """Epsilons, exactly: of one row, of a person's presence, of what a person's rows say, and the
    one that is charged.
    """

    row: Fraction
    presence: Fraction
    record: Fraction
    charged: Fraction


def compute_losses(
    epsilon: Number,
    rows_per_person: int = 1,
    neighbours: Neighbours = "add-remove",
    *,
    public_size: bool = False,
) -> Losses:
    """What a question of this epsilon costs a person.

    Args:
        epsilon: as it is passed to a question or a learner: for one row added or removed.
        rows_per_person, neighbours: as the schema declares them.
        public_size: whether everybody knows how many rows there are. With ``"replace"`` they do.
    """
    check_count("rows_per_person", rows_per_person)
    check_name("neighbours", neighbours, get_args(Neighbours))
    row = parse_exact("epsilon", epsilon)
    added, replaced = (
        _person_epsilon(row, rows_per_person, "add-remove"),
        _person_epsilon(row, rows_per_person, "replace"),
    )
    presence = replaced if public_size or neighbours == "replace" else added
    return Losses(row, presence, replaced, replaced if neighbours == "replace" else added)


def compute_losses_under(epsilon: Number, schema: Schema | None) -> Losses:
    """The same for what a schema declares; without one, for one row per person and a number of rows
    that nobody was told.
    """
    if schema is None:
        return compute_losses(epsilon)
    return compute_losses(
        epsilon, schema.rows_per_person, schema.neighbours, public_size=schema.n_rows is not None
    )


def _person_epsilon(row: Fraction, rows_per_person: int, neighbours: Neighbours) -> Fraction:
    found = Cost.pure(row).for_neighbours(rows_per_person, neighbours).epsilon
    assert found is not None
    return found
