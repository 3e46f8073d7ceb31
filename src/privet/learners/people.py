"""Measure who the people are: the noisy share of each value of each attribute."""

from __future__ import annotations

import numpy as np

from privet.accounting.cost import Number, Unit, is_infinite, parse_exact
from privet.accounting.statement import Charge
from privet.curator import AnyCurator
from privet.curator.spending import Notice, ignore_counts
from privet.domain.cells import Cells, Split
from privet.domain.questions import RowScore
from privet.learners.resolution import Resolution, resolve_evenly
from privet.model.population import Population, project_to_shares
from privet.queries import Sums


def measure_population(
    curator: AnyCurator,
    n_rows: float,
    amount: Number,
    unit: Unit = "epsilon",
    resolution: Resolution | None = None,
    notice: Notice = ignore_counts,
) -> tuple[Population, list[Charge]]:
    """Count the rows by the values of one attribute after the other; each pays an equal part.

    Values that the resolution merges are counted together, and taken as equally frequent.

    Sensitivity: a row is in one cell of each attribute, and counts 1 there. Neighbours: one row
    added or removed. Cost: pure epsilon, or rho, in all.
    """
    schema = curator.schema
    resolution = resolution or resolve_evenly(schema)
    each = amount if is_infinite(amount) else parse_exact(unit, amount) / len(schema.names)
    once = RowScore(schema, np.ones(schema.n_classes, dtype=np.int64))
    shares, charges, deviation = {}, [], 0.0
    for name in schema.names:
        split = resolution.lift_split(Split.multiway(resolution.coarse, name))
        cells = Cells.everything(schema).refine({0: split})
        answer = curator.ask(Sums(cells, once), **{unit: each})
        notice(answer.tables, answer.deviation)
        bins = np.array(split.branch)
        shares[name] = (project_to_shares(answer.tables[0], n_rows) / np.bincount(bins))[bins]
        charges.append(Charge(f"rows by {name}", answer.row_cost))
        deviation = answer.deviation / max(n_rows, 1.0)
    return Population(shares, deviation), charges
