"""Car Evaluation: acceptability of cars (Bohanec and Rajkovic 1990).

All 1728 combinations of six attributes, labelled by a hierarchical decision model: price and
technical quality, the latter from comfort and safety. The tables group the input combinations that
behave the same in the UCI file. Row by row the same as the UCI file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

BUYING = MAINT = ("vhigh", "high", "med", "low")
DOORS = ("2", "3", "4", "5more")
PERSONS = ("2", "4", "more")
LUG_BOOT = ("small", "med", "big")
SAFETY = ("low", "med", "high")

# Overall price from the buying price; columns: price of the maintenance, as in MAINT.
_PRICE = {
    "vhigh": ("too_high", "too_high", "high", "high"),
    "high": ("too_high", "high", "high", "high"),
    "med": ("high", "high", "medium", "low"),
    "low": ("high", "medium", "low", "low"),
}

# Comfort for at least four persons, from persons and doors; columns: luggage boot, as in LUG_BOOT.
_COMFORT = {
    ("4", "2"): ("plain", "plain", "good"),
    ("4", "3"): ("plain", "plain", "good"),
    ("4", "4"): ("plain", "good", "good"),
    ("4", "5more"): ("plain", "good", "good"),
    ("more", "2"): ("bad", "plain", "good"),
    ("more", "3"): ("plain", "good", "good"),
    ("more", "4"): ("plain", "good", "good"),
    ("more", "5more"): ("plain", "good", "good"),
}

# Technical quality from comfort; columns: safety, as in SAFETY.
_TECH = {
    "bad": ("bad", "bad", "bad"),
    "plain": ("bad", "fair", "good"),
    "good": ("bad", "good", "excellent"),
}

# The class from the price; columns: bad, fair, good and excellent technical quality.
_CAR_CLASS = {
    "too_high": ("unacc", "unacc", "unacc", "unacc"),
    "high": ("unacc", "unacc", "acc", "acc"),
    "medium": ("unacc", "acc", "acc", "vgood"),
    "low": ("unacc", "acc", "good", "vgood"),
}


def generate_car_rows() -> Iterator[tuple[str, ...]]:
    """Every car with its class, in the order of the UCI file."""
    for row in product(BUYING, MAINT, DOORS, PERSONS, LUG_BOOT, SAFETY):
        yield *row, classify_car(*row)


def classify_car(
    buying: str, maint: str, doors: str, persons: str, lug_boot: str, safety: str
) -> str:
    """The class of one car."""
    price = _PRICE[buying][MAINT.index(maint)]
    comfort = "bad" if persons == "2" else _COMFORT[persons, doors][LUG_BOOT.index(lug_boot)]
    tech = _TECH[comfort][SAFETY.index(safety)]
    return _CAR_CLASS[price][("bad", "fair", "good", "excellent").index(tech)]
