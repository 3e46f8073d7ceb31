"""Table I of Hanisch: two people of one age and area with two diseases, by the old measures."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from experiments.papers.experiment import Row
from privet.anonymity import Groups
from privet.anonymity.measures import distinct_l_per_group, k_anonymity

HEADS = ("Age", "ZIP code", "Disease")
#: Table I of Hanisch.
TABLE = (("50", "38xxx", "Yellow fever"), ("50", "38xxx", "Dementia"))
#: The same two, both with one disease: k-anonymous still, and telling.
ALIKE = (("50", "38xxx", "Dementia"), ("50", "38xxx", "Dementia"))


def measure_tables() -> list[Row]:
    """The measures of both tables, and the best guess of somebody who knows age and area."""
    found: list[Row] = []
    for name, people in (("table I", TABLE), ("one disease", ALIKE)):
        rows = pd.DataFrame(people, columns=HEADS)
        classes = rows.groupby([*HEADS[:2]]).ngroup().to_numpy()
        groups = Groups.of(classes, pd.factorize(rows[HEADS[2]])[0])
        guess = max(Counter(disease for *_, disease in people).values()) / len(people)
        least = distinct_l_per_group(groups).min()
        measures = {"k": k_anonymity(groups), "l": least, "guess": guess}
        found += [
            {"table": name, "what": what, "value": float(value)} for what, value in measures.items()
        ]
    # Who knows that somebody never left the country knows that the fever is the other one's.
    others = [disease for *_, disease in TABLE if disease != "Yellow fever"]
    told = {"table": "table I", "what": "guess, with background", "value": 1 / len(others)}
    return [*found, told]
