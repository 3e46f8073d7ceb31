"""Every item of the five papers, and where it is or why it is left out."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One thing that a paper shows, defines, does or claims.

    Args:
        paper: its name in the report.
        place: where the paper has it.
        what: it is, in our words.
        where: it is here: a section of the report, a test, a page or a module; empty if left out.
        why: it is left out; empty if it is here.
    """

    paper: str
    place: str
    what: str
    where: str = ""
    why: str = ""


ITEMS: tuple[Item, ...] = ()
