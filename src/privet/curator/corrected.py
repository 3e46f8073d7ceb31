"""The corrected counts of a partition, from randomised records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.counts.local import Estimate, LocalCounts, boxes_of_cells, boxes_of_nodes
from privet.question import Partition
from privet.typed import Floats


def count_partition(source: LocalCounts, partition: Partition) -> tuple[Estimate, Floats | None]:
    """The counts of a partition, and where it is not split further the deviation of each node of
    its structure.
    """
    cells, schema, boxes = partition.cells, partition.cells.schema, boxes_of_cells(partition.cells)
    if partition.by is not None:
        a = schema.index(partition.by)
        values = np.eye(schema.sizes[a], dtype=bool)
        return _stack_estimates(
            [source.view(cell).by(a).sets(values) for cell in boxes], partition.shape
        ), None
    nodes = _stack_estimates(
        [source.view([box]).totals() for box in boxes_of_nodes(cells)],
        (len(cells.attribute), schema.n_classes),
    )
    leaves = [np.flatnonzero(cells.cell == c) for c in range(len(cells))]
    listed = [
        Estimate(nodes.counts[at[0]], nodes.variances[at[0]])
        if len(at) == 1 and len(cell) == 1
        else source.view(cell).totals()
        for at, cell in zip(leaves, boxes, strict=True)
    ]
    return _stack_estimates(listed, partition.shape), np.sqrt(nodes.variances.mean(axis=1))


def _stack_estimates(estimates: Sequence[Estimate], shape: tuple[int, ...]) -> Estimate:
    counts, variances = (np.array(part).reshape(shape) for part in zip(*estimates, strict=True))
    return Estimate(counts, variances)
