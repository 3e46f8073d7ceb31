"""Spell out what queries ask about, in the schema's labels. Public facts only.

The words are for ledgers and pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from privet.domain.cells import Cells, Split
from privet.domain.questions import Partition, Question
from privet.model import Model

#: So many cells, partitions or splits are spelled out; of more there is only the number.
MOST = 12
#: Cells of larger trees are not spelled out: it would take long.
MAX_SPELLED_NODES = 200


def spell_cells(cells: Cells) -> str:
    """Return some cells in words, such as ``form = complete; form = foster``."""
    if len(cells) > MOST or len(cells.attribute) > MAX_SPELLED_NODES:
        return f"{len(cells)} cells"
    leaves = cells.cell[cells.cell >= 0]
    if len(leaves) > len(np.unique(leaves)):  # one path does not tell all of such a cell
        return f"{len(cells)} cells"
    described = [cell.describe(cells.schema) for cell in cells]
    return "all rows" if described == ["everything"] else "; ".join(described)


def spell_partition(partition: Partition) -> str:
    """Return the cells of a partition, and by what they are split further."""
    by = "" if partition.by is None else f" by {partition.by}"
    return f"{spell_cells(partition.cells)}{by}"


def spell_question(question: Question) -> str:
    """Return all partitions of a question, in brackets where there are several."""
    parts = question.partitions
    if len(parts) == 1:
        return spell_partition(parts[0])
    return first_of(f"[{spell_partition(part)}]" for part in parts[: MOST + 1])


def spell_splits(splits: Iterable[Split]) -> str:
    """Return the attributes of some splits, with how many of each there are."""
    times: dict[str, int] = {}
    for split in splits:
        times[split.attribute] = times.get(split.attribute, 0) + 1
    return first_of(name if n == 1 else f"{name} ({n} ways)" for name, n in times.items())


def spell_models(models: Sequence[Model]) -> str:
    """Return the names of some models, by learner and release."""
    return first_of(
        f"{model.learner} ({len(model.trees)} tree{'s' if len(model.trees) > 1 else ''}"
        f"{f', release {model.privacy.display_name}' if model.privacy.display_name else ''})"
        for model in models[: MOST + 1]
    )


def first_of(texts: Iterable[str]) -> str:
    """Return a list in words that breaks off where it gets long."""
    listed = list(texts)
    return ", ".join([*listed[:MOST], "…"] if len(listed) > MOST else listed)
