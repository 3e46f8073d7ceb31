"""Drug consumption (Fehrman et al. 2016): personality and background against the use of one drug.

The raw table has one column per drug, from CL0 (never used) and CL1 (used over a decade ago) to CL6
(used in the last day). The class is whether the drug was used within the last decade.
"""

from __future__ import annotations

from privet.datasets.canonical import CellTexts

#: Every drug of the questionnaire; ``semer`` is a fictitious one that uncovers over-claimers.
DRUGS = (
    "alcohol",
    "amphet",
    "amyl",
    "benzos",
    "caff",
    "cannabis",
    "choc",
    "coke",
    "crack",
    "ecstasy",
    "heroin",
    "ketamine",
    "legalh",
    "lsd",
    "meth",
    "mushrooms",
    "nicotine",
    "semer",
    "vsa",
)
DRUG_RAW_COLUMNS = dict.fromkeys(DRUGS, False)

_NOT_WITHIN_A_DECADE = ("CL0", "CL1")


def with_user_class(cells: CellTexts, target: str) -> CellTexts:
    """Everybody, with the class user or non-user of one drug."""
    return cells | {
        target: ["non-user" if use in _NOT_WITHIN_A_DECADE else "user" for use in cells[target]]
    }
