"""What is answered, as JSON, and back. Amounts are written fractions, so that nothing is rounded on
the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from privet.budget import Cost, written_fraction
from privet.curator.answers import Answer, Choice, Choices, Drawn, Numbers, Preview, Quantile
from privet.curator.quantile import numeric_attribute
from privet.ledger import Entry
from privet.schema import Schema
from privet.wire.questions import Json, cells_from, cells_to, split_from, split_to


def cost_to(cost: Cost) -> Json:
    """A cost; no epsilon where there is no pure guarantee."""
    return {"epsilon": None if cost.epsilon is None else str(cost.epsilon), "rho": str(cost.rho)}


def cost_from(data: Mapping[str, Any]) -> Cost:
    """A cost."""
    return Cost(
        None if data["epsilon"] is None else written_fraction(data["epsilon"]),
        written_fraction(data["rho"]),
    )


def entry_to(entry: Entry) -> Json:
    """A line of the ledger, as its analyst may see it."""
    return {
        "number": entry.number,
        "time": entry.time,
        "dataset": entry.dataset,
        "analyst": entry.analyst,
        "what": entry.what,
        "cost": cost_to(entry.cost),
        "key": entry.key,
        "hash": entry.hash,
    }


def entry_from(data: Mapping[str, Any]) -> Entry:
    """A line of the ledger."""
    texts = {
        name: str(data[name]) for name in ("time", "dataset", "analyst", "what", "key", "hash")
    }
    return Entry(number=int(data["number"]), cost=cost_from(data["cost"]), **texts)


def answer_to(answer: Answer) -> Json:
    """Any answer."""
    told: Json = {
        "cost": cost_to(answer.cost),
        "row_cost": cost_to(answer.row_cost),
        "private": answer.private,
    }
    told["entry"] = None if answer.entry is None else entry_to(answer.entry)
    if isinstance(answer, Numbers):
        told["tables"] = [
            {"shape": list(table.shape), "numbers": table.reshape(-1).tolist()}
            for table in answer.tables
        ]
        told |= {"noise": answer.noise, "spread": str(answer.spread), "deviation": answer.deviation}
    elif isinstance(answer, Choices):
        told["splits"] = [split_to(split) for split in answer.splits]
    elif isinstance(answer, Choice):
        told["index"] = answer.index
        if isinstance(answer, Quantile):
            told |= {
                "attribute": answer.attribute,
                "q": str(answer.q),
                "low": answer.low,
                "high": answer.high,
            }
    elif isinstance(answer, Drawn):
        told |= {"cells": cells_to(answer.cells), "labels": answer.labels.tolist()}
    return told


def _common(data: Mapping[str, Any]) -> Json:
    entry = None if data["entry"] is None else entry_from(data["entry"])
    return {
        "cost": cost_from(data["cost"]),
        "row_cost": cost_from(data["row_cost"]),
        "private": data["private"] is True,
        "entry": entry,
    }


def numbers_from(data: Mapping[str, Any]) -> Numbers:
    """Noisy tables."""
    tables = tuple(
        np.array(table["numbers"], dtype=np.int64).reshape(table["shape"])
        for table in data["tables"]
    )
    return Numbers(
        **_common(data), tables=tables, noise=data["noise"], spread=written_fraction(data["spread"])
    )


def choices_from(data: Mapping[str, Any]) -> Choices:
    """Chosen splits."""
    return Choices(**_common(data), splits=tuple(split_from(split) for split in data["splits"]))


def choice_from(data: Mapping[str, Any]) -> Choice:
    """The number of what was chosen."""
    return Choice(**_common(data), index=int(data["index"]))


def quantile_from(schema: Schema, data: Mapping[str, Any]) -> Quantile:
    """A chosen bin; its edges are those of the schema."""
    cuts = numeric_attribute(schema, data["attribute"]).cuts
    return Quantile.of(choice_from(data), data["attribute"], written_fraction(data["q"]), cuts)


def drawn_from(schema: Schema, data: Mapping[str, Any]) -> Drawn:
    """A drawn tree."""
    return Drawn(
        **_common(data),
        cells=cells_from(schema, data["cells"]),
        labels=np.array(data["labels"], dtype=np.int64),
    )


def preview_to(preview: Preview) -> Json:
    """What a plan would cost."""
    return {"cost": cost_to(preview.cost), "left": str(preview.left), "fits": preview.fits}


def preview_from(data: Mapping[str, Any]) -> Preview:
    """What a plan would cost."""
    return Preview(cost_from(data["cost"]), written_fraction(data["left"]), bool(data["fits"]))
