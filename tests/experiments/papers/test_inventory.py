"""The inventory of the papers: every item is somewhere or left out with a reason, and the report
has nothing that the inventory does not know.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from experiments.papers.inventory import ITEMS, Item, read_items
from experiments.papers.papers import MODULES, paper_named

ROOT = Path(__file__).parents[3]
#: The tables and figures that the texts have, by their captions.
SHOWN = {
    "hanisch": (1, 17),
    "rdt2009": (2, 15),
    "rdt2012": (2, 5),
    "novakovic": (0, 18),
    "anatomy": (0, 6),
}
SECTIONS = {
    (name, experiment.number) for name in MODULES for experiment in paper_named(name).experiments
}


def section_of(item: Item, place: str) -> tuple[str, str]:
    number = place.removeprefix("report ")
    first, _, rest = number.partition(" ")
    return (first, rest) if first in MODULES else (item.paper, number)


def test_every_item_is_here_or_left_out_for_a_reason() -> None:
    assert len(ITEMS) > 178
    assert {item.paper for item in ITEMS} == set(MODULES)
    for item in ITEMS:
        assert bool(item.where) != bool(item.why), item
        for place in item.where:
            if place.startswith("report "):
                assert section_of(item, place) in SECTIONS, item
            else:
                assert (ROOT / place).exists(), item


def test_the_report_has_nothing_that_the_inventory_does_not_know() -> None:
    known = {
        section_of(item, place)
        for item in ITEMS
        for place in item.where
        if place.startswith("report ")
    }
    assert known == SECTIONS


@pytest.mark.parametrize("paper", MODULES)
def test_every_table_and_figure_of_the_text_is_listed(paper: str) -> None:
    tables, figures = SHOWN[paper]
    places = " ".join(f"{item.place}," for item in ITEMS if item.paper == paper)
    roman = {1: "I", 2: "II"}
    for number in range(1, tables + 1):
        assert f"table {number}," in places or f"table {roman[number]}," in places
    for number in range(1, figures + 1):
        assert f"figure {number}," in places


def test_no_item_is_listed_twice() -> None:
    counts = Counter((item.paper, item.place, item.what) for item in ITEMS)
    assert max(counts.values()) == 1


def test_the_file_is_read_line_by_line() -> None:
    here, left = read_items(
        "# words\n[some]\nI | a |b| c | report 3, docs\n\nII | d | left out: no time, no money\n"
    )
    assert here == Item("some", "I", "a |b| c", ("report 3", "docs"))
    assert left == Item("some", "II", "d", (), "no time, no money")
