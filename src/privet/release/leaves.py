"""The leaf vectors of a model file: batch by batch, as they were released. The counts of the trees follow from them."""

from __future__ import annotations

from typing import Any, get_args

from privet.cells import Cells
from privet.leaves import Batch, Evidence, Weighting
from privet.release.problem import require
from privet.release.structure import LARGEST, counts_from, short_number

MAX_BATCHES = 1000

_KEYS = {"shrink", "weighting", "batches"}
_BATCH = {"deviation", "counts"}


def evidence_to(evidence: Evidence) -> dict[str, Any]:
    """The entry of leaf vectors: per batch and tree, a list of class counts for each leaf."""
    return {
        "shrink": short_number(float(evidence.shrink)),
        "weighting": evidence.weighting,
        "batches": [
            {"deviation": short_number(float(batch.deviation)), "counts": [table.tolist() for table in batch.tables]}
            for batch in evidence.batches
        ],
    }


def evidence_from(data: Any, forest: list[Cells]) -> Evidence:
    """The leaf vectors of an entry, or :class:`~privet.release.problem.Damaged`."""
    require(isinstance(data, dict) and set(data) == _KEYS, f"leaves must have exactly {', '.join(sorted(_KEYS))}")
    shrink, weighting, batches = data["shrink"], data["weighting"], data["batches"]
    require(type(shrink) in (int, float) and 0 <= shrink < 10**6, "shrink must be a number of at least 0")
    require(weighting in get_args(Weighting), "weighting must be 'by-noise' or 'equal'")
    require(isinstance(batches, list) and 1 <= len(batches) <= MAX_BATCHES, f"batches must be a list of 1 to {MAX_BATCHES}")
    return Evidence(tuple(_batch_from(batch, forest) for batch in batches), float(shrink), weighting)


def _batch_from(data: Any, forest: list[Cells]) -> Batch:
    require(isinstance(data, dict) and set(data) == _BATCH, f"a batch must have exactly {', '.join(sorted(_BATCH))}")
    deviation, counts = data["deviation"], data["counts"]
    require(type(deviation) in (int, float) and 0 <= deviation <= LARGEST, f"deviation must be a number from 0 to {LARGEST}")
    require(isinstance(counts, list) and len(counts) == len(forest), f"a batch must have counts of {len(forest)} trees")
    tables = [counts_from(lines, len(cells), cells.schema.n_classes) for lines, cells in zip(counts, forest, strict=True)]
    return Batch(tuple(tables), float(deviation))
