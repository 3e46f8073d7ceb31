"""Describe what is public about a table. No data in here.

- :mod:`~privet.domain.schema`, :mod:`~privet.domain.attributes`: the columns, their values and bins
- :mod:`~privet.domain.draft`: write a first schema from a public sample
- :mod:`~privet.domain.encode`: turn rows into small integers
- :mod:`~privet.domain.cells`: disjoint parts of the domain, and splits
- :mod:`~privet.domain.questions`: partitions whose class counts are asked for
- :mod:`~privet.domain.tree`: a tree with its released class counts or scores
- :mod:`~privet.domain.routing`: send many rows down many trees
- :mod:`~privet.domain.space`: a public set of labelled trees with a prior, to draw one from
"""

from privet.domain.attributes import (
    Attribute,
    Boolean,
    Categorical,
    Date,
    Numeric,
    Ordinal,
    text_of,
)
from privet.domain.schema import Neighbours, Schema

__all__ = [
    "Attribute",
    "Boolean",
    "Categorical",
    "Date",
    "Neighbours",
    "Numeric",
    "Ordinal",
    "Schema",
    "text_of",
]
