"""Every item of the five papers, and where it is or why it is left out.

The items are in ``inventory.txt``, by hand from the papers' texts. A place is a section of the
report (``report 13``, or ``report rdt2012 2`` of another paper), or a path in this repository. A
test follows every one of them, and finds each section of the report in the list.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("inventory.txt")
LEFT_OUT = "left out: "


@dataclass(frozen=True)
class Item:
    """One thing that a paper shows, defines, does or claims.

    Args:
        paper: its name in the report.
        place: where the paper has it.
        what: it is, in our words.
        where: it is here: sections of the report and paths; none if it is left out.
        why: it is left out; empty if it is here.
    """

    paper: str
    place: str
    what: str
    where: tuple[str, ...] = ()
    why: str = ""


def read_items(text: str) -> tuple[Item, ...]:
    """Return the items of the file."""
    items = []
    paper = ""
    for line in text.splitlines():
        if line.startswith("["):
            paper = line.strip("[]")
        elif line and not line.startswith("#"):
            place, rest = line.split(" | ", 1)
            what, end = rest.rsplit(" | ", 1)
            left_out = end.startswith(LEFT_OUT)
            where = () if left_out else tuple(end.split(", "))
            why = end.removeprefix(LEFT_OUT) if left_out else ""
            items.append(Item(paper, place, what, where, why))
    return tuple(items)


ITEMS = read_items(FILE.read_text(encoding="utf-8"))
