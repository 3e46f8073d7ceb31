"""Nursery: ranking of applications for nursery schools (Olave, Rajkovic and Bohanec 1989).

All 12 960 combinations of eight attributes, labelled by a hierarchical decision model of the DEX
kind. The model itself was not published with the data: the tables below group the input
combinations that behave the same in the UCI file, and the values of the intermediate concepts are
named here. Row by row the same as the UCI file.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

PARENTS = ("usual", "pretentious", "great_pret")
HAS_NURS = ("proper", "less_proper", "improper", "critical", "very_crit")
FORM = ("complete", "completed", "incomplete", "foster")
CHILDREN = ("1", "2", "3", "more")
HOUSING = ("convenient", "less_conv", "critical")
FINANCE = ("convenient", "inconv")
SOCIAL = ("nonprob", "slightly_prob", "problematic")
HEALTH = ("recommended", "priority", "not_recom")

# How much the parents' occupation and the nursery at home ask for a place; columns as in HAS_NURS.
_EMPLOY = {
    "usual": ("none", "mild", "mild", "strong", "urgent"),
    "pretentious": ("mild", "mild", "strong", "urgent", "urgent"),
    "great_pret": ("strong", "strong", "urgent", "urgent", "urgent"),
}

# The burden that the form of the family and the number of children are; columns as in CHILDREN.
_STRUCTURE = {
    "complete": ("light", "middle", "heavy", "heavy"),
    "completed": ("middle", "middle", "heavy", "heavy"),
    "incomplete": ("middle", "heavy", "heavy", "heavy"),
    "foster": ("heavy", "heavy", "heavy", "heavy"),
}

# The conditions at home; columns as in FINANCE.
_CONDITIONS = {
    "convenient": ("good", "fair"),
    "less_conv": ("fair", "fair"),
    "critical": ("poor", "poor"),
}

# Family structure and conditions at home together; columns: good, fair, poor conditions.
_STRUCT_FINAN = {
    "light": ("fine", "bearable", "bearable"),
    "middle": ("bearable", "bearable", "hard"),
    "heavy": ("bearable", "hard", "hard"),
}

# The class if health is no obstacle: need for a place, then structure and finances; columns: no
# concern, concern.
_NURSERY_CLASS = {
    ("none", "fine"): ("recommend", "priority"),
    ("none", "bearable"): ("very_recom", "priority"),
    ("none", "hard"): ("priority", "priority"),
    ("mild", "fine"): ("very_recom", "priority"),
    ("mild", "bearable"): ("very_recom", "priority"),
    ("mild", "hard"): ("priority", "priority"),
    ("strong", "fine"): ("priority", "priority"),
    ("strong", "bearable"): ("priority", "priority"),
    ("strong", "hard"): ("priority", "spec_prior"),
    ("urgent", "fine"): ("priority", "priority"),
    ("urgent", "bearable"): ("priority", "spec_prior"),
    ("urgent", "hard"): ("spec_prior", "spec_prior"),
}


def generate_nursery_rows() -> Iterator[tuple[str, ...]]:
    """Every application with its class, in the order of the UCI file."""
    for row in product(PARENTS, HAS_NURS, FORM, CHILDREN, HOUSING, FINANCE, SOCIAL, HEALTH):
        yield *row, classify_application(*row)


def classify_application(
    parents: str,
    has_nurs: str,
    form: str,
    children: str,
    housing: str,
    finance: str,
    social: str,
    health: str,
) -> str:
    """The class of one application."""
    if health == "not_recom":
        return "not_recom"
    employ = _EMPLOY[parents][HAS_NURS.index(has_nurs)]
    structure = _STRUCTURE[form][CHILDREN.index(children)]
    conditions = _CONDITIONS[housing][FINANCE.index(finance)]
    struct_finan = _STRUCT_FINAN[structure][("good", "fair", "poor").index(conditions)]
    concern = health == "priority" or social == "problematic"
    return _NURSERY_CLASS[employ, struct_finan][concern]
