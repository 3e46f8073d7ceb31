"""Costs and ledger entries as JSON, and back. Amounts are written fractions, so that nothing is
rounded on the way.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from privet.budget import Cost, parse_fraction
from privet.ledger.journal import Entry
from privet.typed import Json


def cost_to(cost: Cost) -> Json:
    """A cost; no epsilon where there is no pure guarantee."""
    return {"epsilon": None if cost.epsilon is None else str(cost.epsilon), "rho": str(cost.rho)}


def cost_from(data: Mapping[str, Any]) -> Cost:
    """A cost."""
    return Cost(
        None if data["epsilon"] is None else parse_fraction(data["epsilon"]),
        parse_fraction(data["rho"]),
    )


def entry_to(entry: Entry) -> Json:
    """An entry of the ledger, as its analyst may see it. What version 0.1 does not know is there
    only where it says something.
    """
    more: Json = {"reservation": entry.reservation} if entry.reservation else {}
    if entry.asked:
        more["asked"] = entry.asked
    return {
        "number": entry.number,
        "time": entry.time,
        "dataset": entry.dataset,
        "analyst": entry.analyst,
        "what": entry.what,
        "cost": cost_to(entry.cost),
        "key": entry.key,
        "hash": entry.hash,
        **more,
    }


def entry_from(data: Mapping[str, Any]) -> Entry:
    """An entry of the ledger."""
    texts = {
        name: str(data[name]) for name in ("time", "dataset", "analyst", "what", "key", "hash")
    }
    return Entry(
        number=int(data["number"]),
        cost=cost_from(data["cost"]),
        reservation=int(data.get("reservation", 0)),
        asked=str(data.get("asked", "")),
        **texts,
    )
