"""Replies are what was asked for, or they are not taken: a learner never meets a table of another
shape, or a split nobody offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from privet.errors import PrivetError, Unavailable
from privet.ledger import Entry
from privet.ledger.as_json import entry_from
from privet.queries.base import NotTheAnswer, expect
from privet.typed import Json


@dataclass(frozen=True)
class Charged(Entry):
    """A charge, with the receipt that proves it and whether it was answered."""

    receipt: str = ""
    answered: bool = True


@contextmanager
def understood(what: str) -> Iterator[None]:
    """Whatever goes wrong while a reply is read: it is not what it should be."""
    try:
        yield
    except (
        PrivetError,
        ValueError,
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
    ) as error:
        found = str(error) if isinstance(error, NotTheAnswer) else type(error).__name__
        raise Unavailable(
            f"the curator's {what} is not what this version of Privet expects ({found}); if it was "
            "charged, history() lists it"
        ) from None


def parse_division(data: Json, n_parts: int) -> int:
    """The number of a division into so many groups."""
    division = data["division"]
    expect(
        type(division) is int and division >= 0 and data["n_parts"] == n_parts,
        "it is another division",
    )
    return int(division)


def parse_charge(data: Json) -> Charged:
    """A line of the history."""
    entry = entry_from(data)
    return Charged(
        **{**vars(entry), "receipt": str(data["receipt"] or ""), "answered": bool(data["answered"])}
    )
