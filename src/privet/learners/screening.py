"""Choose privately which attributes of a wide table get additive terms."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from privet.accounting.cost import Number
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.domain import Schema
from privet.domain.cells import Split
from privet.domain.space import grouped_splits
from privet.learners.resolution import Resolution, resolve_evenly

#: Attributes above which terms are for chosen ones only, how many those are, and the share of the
#: amount that pays for the choice. A term of an irrelevant attribute is noise in every score. With
#: more than two classes ten were not better than all.
WIDE, CHOSEN, SCREENING_SHARE = 30, 10, Fraction(1, 20)


def is_wide(schema: Schema) -> bool:
    """Return whether there are too many attributes for a term each."""
    return len(schema.sizes) > WIDE and schema.n_classes == 2


def choose_attributes(
    curator: AnyCurator, number: int, epsilon: Number, resolution: Resolution | None = None
) -> tuple[list[str], list[Charge]]:
    """Return so many attributes that tell most about the classes by themselves, one by one.

    Each is the best of those that are left, by Gini impurity, at ``epsilon`` each. Sensitivity: see
    :class:`~privet.queries.ChooseSplits` (exponential mechanism, range 2). Cost: ``number`` times
    pure epsilon, and epsilon**2/8 each in zCDP. Neighbours: one row added or removed.
    """
    resolution = resolution or resolve_evenly(curator.schema)
    splits = list_screening_splits(resolution.coarse)
    left = [resolution.lift_split(split) for split in splits]
    names: list[str] = []
    charges = []
    for _ in range(min(number, len(left))):
        answer = curator.choose([{}], left, "gini", epsilon, mechanism="exponential")
        names.append(answer.splits[0].attribute)
        charges.append(Charge("choice of an attribute for a term", answer.row_cost))
        left = [split for split in left if split.attribute != names[-1]]
    return names, charges


def list_screening_splits(schema: Schema) -> Sequence[Split]:
    """Return one split per attribute: of all its values, or eight groups of many ordered ones."""
    return [
        (grouped_splits(schema, name) or [Split.multiway(schema, name)])[-1]
        if attribute.ordered
        else Split.multiway(schema, name)
        for name, attribute in schema.attributes.items()
    ]
