"""Plan: the structures of a forest, drawn before any data is seen, for all who will count their
rows in its leaves. No data in here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from privet.cells import Cells
from privet.checks import check_name, check_real
from privet.errors import QuestionError
from privet.leaves import MAX_SHRINK, structure_fingerprint
from privet.schema import Schema

#: How random trees become answers.
COMBINES = ("probabilities", "counts", "vote")


@dataclass(frozen=True, eq=False)
class Plan:
    """What several parties, or several batches of one, agree on before they count.

    Args:
        schema: the public schema. Its domain must be everybody's; how many rows and people there
            are is each party's own.
        forest: the structures, one or more.
        combine, shrink: how the trees become answers; see :class:`~privet.RandomTreesClassifier`.
        settings: public parameters, for the card.
    """

    schema: Schema
    forest: tuple[Cells, ...]
    combine: str
    shrink: float
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("combine", self.combine, COMBINES)
        check_real("shrink", self.shrink, least=0, below=MAX_SHRINK)
        if not self.forest or any(
            cells.schema.fingerprint != self.schema.fingerprint for cells in self.forest
        ):
            raise QuestionError("a plan needs at least one structure, all of them about its schema")

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of structures and domain: leaf vectors can be added if and only if their plans
        have the same.
        """
        return structure_fingerprint(self.forest)
