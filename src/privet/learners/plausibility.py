"""Say where a model has learnt next to nothing, from what was released anyway.

A misspelt class, labels in another coding, values outside of the bounds: rows that do not fit the
schema are not counted, and a fit must not tell whether there are any. But it has paid for noisy
numbers of the rows that fit. Where they are near 0, or far from the number of rows that the owner
declared, or where the model says the same of everybody, something is wrong with the table or with
epsilon. Nothing here looks at rows, so that it may stand on the card.
"""

from __future__ import annotations

import hashlib
import math
import warnings
from dataclasses import dataclass

import numpy as np

from privet.curator.spending import RowsSeen
from privet.domain import Schema
from privet.errors import ConstantWarning, FewRowsWarning, NoiseWarning
from privet.model import Model
from privet.text import escape_invisible

#: So many standard deviations of noise are no accident.
SURE = 4.0
#: Rows that cannot be told from none, in standard deviations of their number.
NEAR_NONE = 3.0
#: Fewer rows than this part of what was declared are worth a word.
ABOUT_ALL = 0.9
#: At so many points of the domain a model is asked what it says.
POINTS = 512
#: What to do about rows that do not fit.
NEXT = (
    "Rows with a class or a value that the schema does not have are not counted: compare the "
    "table with its schema (privet schema check, or pv.Owner(table, schema).check())"
)


@dataclass(frozen=True)
class Doubt:
    """One reason to doubt a model, for its card and for a warning."""

    text: str
    category: type[NoiseWarning]


def list_doubts(schema: Schema, seen: RowsSeen | None, model: Model) -> list[Doubt]:
    """Return what speaks against a model, by its released numbers alone."""
    doubts = [doubt_rows(schema, seen), doubt_constant(model)]
    return [doubt for doubt in doubts if doubt is not None]


def doubt_rows(schema: Schema, seen: RowsSeen | None) -> Doubt | None:
    """Return why there may be too few rows that fit the schema, from their noisy number."""
    if seen is None:
        return None
    rows, deviation, declared = seen.rows, seen.deviation, schema.n_rows
    # noise that rounds to nothing is no reason to call a single row none
    if declared != 0 and rows < max(NEAR_NONE * deviation, 1.0):
        if seen.at_least:
            said = "What was counted cannot be told from what no rows at all would give"
        else:
            said = (
                f"About {_round(rows, deviation)} rows fit the schema, give or take "
                f"{_round(deviation, deviation)}: that may be none at all"
            )
        return Doubt(f"{said}. {NEXT}, or spend a larger epsilon", FewRowsWarning)
    if declared is None or seen.at_least or abs(rows - declared) <= SURE * deviation:
        return None
    about = (
        f"About {_round(rows, deviation)} rows fit the schema, and {declared} are declared (n_rows)"
    )
    if rows < ABOUT_ALL * declared:
        return Doubt(f"{about}. {NEXT}", FewRowsWarning)
    if rows * ABOUT_ALL > declared:
        return Doubt(f"{about}. Declare how many there are", FewRowsWarning)
    return None


def doubt_constant(model: Model) -> Doubt | None:
    """Return that a model says the same of everybody, judged at points of the public domain."""
    shares = model.probabilities(spread_points(model.schema))
    said = np.unique(model.decide(shares))
    if len(said) > 1:
        return None
    label = escape_invisible(model.schema.label.labels[int(said[0])])
    if np.ptp(shares, axis=0).max() < 1e-9:
        return Doubt(
            "The model says the same of every row, with the same probabilities: it has learnt "
            "nothing. Use a larger epsilon or more rows, and compare the table with its schema",
            FewRowsWarning,
        )
    return Doubt(
        f"The model says {label!r} of every row. Its probabilities differ: rank by them "
        "(predict_proba), or say what mistakes cost (costs, class_weight)",
        ConstantWarning,
    )


def spread_points(schema: Schema) -> list[np.ndarray]:
    """Return the codes of points all over the domain, always the same ones."""
    points = []
    for place, attribute in enumerate(schema.attributes.values()):
        stream = hashlib.shake_256(b"point %d" % place).digest(8 * POINTS)
        codes = np.frombuffer(stream, dtype=np.uint64) % np.uint64(attribute.size)
        points.append(codes.astype(attribute.dtype))
    return points


def warn_of(doubts: list[Doubt], stacklevel: int) -> None:
    """Say all doubts as warnings."""
    for doubt in doubts:
        warnings.warn(doubt.text, doubt.category, stacklevel=stacklevel + 1)


def _round(number: float, deviation: float) -> int:
    """Round a noisy number to the digits that its noise leaves."""
    unit: int = 10 ** max(math.floor(math.log10(max(deviation, 1.0))), 0)
    return max(round(number / unit), 0) * unit
