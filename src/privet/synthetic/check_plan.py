"""Say beforehand what a check of a synthetic table can tell, and cut values so that it tells more.

Everything here follows from what is public: the synthetic rows, the schema, epsilon, and how many
held-out rows there are, if the schema declares it. Otherwise they are taken to be as many as the
synthetic ones.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from privet._types import Floats, Ints
from privet.accounting.cost import Number, parse_epsilon
from privet.domain import Attribute, Schema
from privet.domain.encode.rows import encode
from privet.errors import ParameterError
from privet.learners.evaluation import BINS, BINS_OF_MANY, Z
from privet.synthetic.groups import divide_groups

#: The distance that noise alone may show: values are counted together until it is no more.
GOOD = 0.05
#: Where noise alone shows more than this, or moves an accuracy by more, there is nothing to see.
NOTHING = 0.4
#: Values that are named in a label.
NAMED = 3


@dataclass(frozen=True, eq=False)
class CheckPlan:
    """What a check can tell.

    ``parts`` says of each attribute which part each of its values is counted in, ``floors`` which
    distance noise alone would show (above 1 all is noise), and ``accuracy`` how far it moves an
    accuracy, 19 times in 20.
    """

    n_rows: int
    declared: bool
    epsilon: float
    parts: Mapping[str, Ints]
    floors: Mapping[str, float]
    accuracy: float

    @property
    def tells(self) -> bool:
        """Whether anything could be seen of at least one attribute, and of the classifiers."""
        return min(self.floors.values()) <= NOTHING and self.accuracy <= NOTHING

    @property
    def enough(self) -> str:
        """An epsilon at which noise would show a distance of about a tenth, and move an accuracy by
        a tenth.
        """
        needed = self.epsilon * max(np.median(list(self.floors.values())), self.accuracy) / 0.1
        scale = 10.0 ** math.floor(math.log10(needed))
        return f"{math.ceil(needed / scale - 1e-9) * scale:.2g}"

    def describe(self) -> str:
        """Say what the check can tell, in a sentence or two."""
        rows = (
            "declared"
            if self.declared
            else "taken to be as many as the synthetic ones; half as many double what follows"
        )
        least, most = (min(1.0, edge(self.floors.values())) for edge in (min, max))
        shown = f"{least:.2g}" if f"{least:.2g}" == f"{most:.2g}" else f"{least:.2g} to {most:.2g}"
        return (
            f"With {self.n_rows} held-out rows ({rows}), noise alone would show a distance of "
            f"{shown} between equal tables, and move an accuracy by {min(1.0, self.accuracy):.2g} "
            "either way."
        )


def plan_check(rows: Any, schema: Schema, epsilon: Number, *, models: int = 1) -> CheckPlan:
    """Plan the check of some synthetic rows; nothing is asked, and nothing is paid.

    Args:
        rows: the synthetic rows, which are public.
        schema: of the held-out table.
        epsilon: what the check may cost.
        models: how many classifiers are compared.
    """
    amount = float(parse_epsilon("epsilon", epsilon))
    counts = count_public(schema, rows)
    n_rows = schema.n_rows if schema.n_rows is not None else int(counts[0].sum())
    # Laplace noise of scale k/(epsilon/2) is this large on average
    size = 2 * len(schema.names) / amount / max(n_rows, 1)
    most = max(2, int(2 * GOOD / (size * schema.n_classes)))
    parts, floors = {}, {}
    for (name, attribute), table in zip(schema.attributes.items(), counts, strict=True):
        parts[name] = divide_groups(attribute, table.sum(axis=1) + 0.5, most)
        floors[name] = size * schema.n_classes * (int(parts[name].max()) + 1) / 2
    entries = schema.n_classes**2 * (BINS if schema.n_classes == 2 else BINS_OF_MANY)
    accuracy = Z * math.sqrt(entries / 2) / (amount / 2 / models * max(n_rows, 1))
    return CheckPlan(n_rows, schema.n_rows is not None, amount, parts, floors, accuracy)


def count_public(schema: Schema, rows: Any) -> list[Floats]:
    """Return how many public rows have each (value, class) of each attribute."""
    encoded = encode(schema, rows)
    known = encoded.known(schema)
    if encoded.classes is None or not known.any():
        raise ParameterError("the synthetic rows hold no row that fits the schema")
    classes = encoded.classes[known].astype(np.int64)
    tables = []
    for size, codes in zip(schema.sizes, encoded.codes, strict=True):
        flat = np.bincount(
            codes[known].astype(np.int64) * schema.n_classes + classes,
            minlength=size * schema.n_classes,
        )
        tables.append(flat.reshape(size, schema.n_classes).astype(np.float64))
    return tables


def label_parts(attribute: Attribute, parts: Ints) -> tuple[str, ...]:
    """Return the text of each part: its values, or the edges of its bins."""
    labels = []
    for part in range(int(parts.max()) + 1):
        codes = np.flatnonzero(parts == part)
        if attribute.ordered and attribute.cuts and codes[-1] < attribute.bins:
            first, last = (f"{attribute.label_edge(int(c))}" for c in (codes[0], codes[-1] + 1))
            labels.append(f"{first} to {last}")
            continue
        named = [attribute.labels[code] for code in codes[:NAMED]]
        more = len(codes) - len(named)
        labels.append(", ".join(named) + (f" and {more} more" if more else ""))
    return tuple(labels)
