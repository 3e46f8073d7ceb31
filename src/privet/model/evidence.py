"""The leaf vectors of a model file: batch by batch, as they were released. The counts of the trees
follow from them.
"""

from __future__ import annotations

from typing import Any, get_args

from privet.cells import Cells
from privet.leaves import MAX_SHRINK, Batch, Evidence, Weighting
from privet.model.problem import require
from privet.model.structure import LARGEST, counts_from, short_number
from privet.privacy import MAX_RELEASES

#: All rows count once on average, so that a batch among noisier ones may count more than once.
MAX_WEIGHT = 1000

_EVIDENCE_KEYS = {"shrink", "borrowing", "weighting", "weights", "batches"}
_BATCH_KEYS = {"deviation", "counts"}


def evidence_to(evidence: Evidence) -> dict[str, Any]:
    """The entry of leaf vectors: per batch and tree, a list of class counts for each leaf."""
    return {
        "shrink": short_number(float(evidence.shrink)),
        "borrowing": short_number(float(evidence.borrowing)),
        "weighting": evidence.weighting,
        "weights": [short_number(float(weight)) for weight in evidence.weights],
        "batches": [
            {
                "deviation": short_number(float(batch.deviation)),
                "counts": [table.tolist() for table in batch.tables],
            }
            for batch in evidence.batches
        ],
    }


def evidence_from(data: Any, forest: list[Cells]) -> Evidence:
    """The leaf vectors of an entry, or :class:`~privet.model.problem.Damaged`."""
    require(
        isinstance(data, dict) and set(data) == _EVIDENCE_KEYS,
        f"leaves must have exactly {', '.join(sorted(_EVIDENCE_KEYS))}",
    )
    weighting, weights, batches = data["weighting"], data["weights"], data["batches"]
    for key in ("shrink", "borrowing"):
        require(
            type(data[key]) in (int, float) and 0 <= data[key] < 10 * MAX_SHRINK,
            f"{key} must be a number of at least 0",
        )
    require(data["shrink"] < MAX_SHRINK, f"shrink must be below {MAX_SHRINK}")
    require(weighting in get_args(Weighting), "weighting must be 'by-noise' or 'equal'")
    require(
        isinstance(batches, list) and 1 <= len(batches) <= MAX_RELEASES,
        f"batches must be a list of 1 to {MAX_RELEASES}",
    )
    require(
        isinstance(weights, list) and len(weights) == len(batches),
        "there must be one weight per batch",
    )
    in_range = all(type(weight) in (int, float) and 0 <= weight <= MAX_WEIGHT for weight in weights)
    require(
        in_range and any(weights), f"weights must lie between 0 and {MAX_WEIGHT}, and not all be 0"
    )
    read = tuple(_batch_from(batch, forest) for batch in batches)
    return Evidence(
        read, float(data["shrink"]), weighting, tuple(map(float, weights)), float(data["borrowing"])
    )


def _batch_from(data: Any, forest: list[Cells]) -> Batch:
    require(
        isinstance(data, dict) and set(data) == _BATCH_KEYS,
        f"a batch must have exactly {', '.join(sorted(_BATCH_KEYS))}",
    )
    deviation, counts = data["deviation"], data["counts"]
    require(
        type(deviation) in (int, float) and 0 <= deviation <= LARGEST,
        f"deviation must be a number from 0 to {LARGEST}",
    )
    require(
        isinstance(counts, list) and len(counts) == len(forest),
        f"a batch must have counts of {len(forest)} trees",
    )
    tables = [
        counts_from(lines, len(cells), cells.schema.n_classes)
        for lines, cells in zip(counts, forest, strict=True)
    ]
    return Batch(tuple(tables), float(deviation))
