"""What golden files must turn out to say, through public names only."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import privet as pv


def exact_counts(table: Path, schema: pv.Schema) -> dict[str, Any]:
    """Class counts by every attribute, with so large an epsilon that there is no noise."""
    curator = pv.Curator(pv.open_table(str(table)), schema, pv.Budget(10**9))
    everything = pv.Cells.everything(schema)
    counts = {}
    for name in schema.names:
        cells = everything.refine({0: pv.Split.multiway(schema, name)})
        counts[name] = curator.count(cells, 10**5).tables[0].tolist()
    return counts


def facts_of(path: Path, rows: pd.DataFrame) -> dict[str, Any]:
    """What a model file says and predicts, through the public interface."""
    model = pv.load(path)
    privacy = model.privacy_
    promised = privacy.promised
    return {
        "statement": str(privacy),
        "private": privacy.private,
        "reason": privacy.reason,
        "epsilon": None if promised.epsilon is None else str(promised.epsilon),
        "rho": str(promised.rho),
        "delta": None if privacy.delta is None else str(privacy.delta),
        "id": privacy.id,
        "parts": [part.name for part in privacy.leaves],
        "learner": model.model_.learner,
        "trees": len(model.model_.trees),
        "fingerprint": model.model_.schema.fingerprint,
        "classes": [str(label) for label in model.classes_],
        "predicted": [str(label) for label in model.predict(rows)],
        "probabilities": np.asarray(model.predict_proba(rows)).tolist(),
        "importances": np.asarray(model.feature_importances_).tolist(),
    }


def ledger_facts(path: Path) -> dict[str, Any]:
    """What a ledger says, through the public interface."""
    with closing(pv.SQLiteLedger(path)) as ledger:
        accounts = [(d, a) for d in ledger.datasets() for a in (None, "ada", "bob", "cleo")]
        return {
            "datasets": ledger.datasets(),
            "analysts": {name: ledger.analysts(name) for name in ledger.datasets()},
            "accounts": [
                {
                    "dataset": dataset,
                    "analyst": analyst,
                    "cap": cap_of(ledger.cap(dataset, analyst)),
                    "spent": cost_of(ledger.spent(dataset, analyst)),
                }
                for dataset, analyst in accounts
            ],
            "entries": [
                {
                    "number": entry.number,
                    "time": entry.time,
                    "dataset": entry.dataset,
                    "analyst": entry.analyst,
                    "what": entry.what,
                    "cost": cost_of(entry.cost),
                    "key": entry.key,
                }
                for entry in ledger.entries()
            ],
            "unanswered": sorted(ledger.unanswered()),
        }


def cap_of(cap: Any) -> list[str] | None:
    return None if cap is None else [cap.unit, str(cap.amount)]


def cost_of(cost: Any) -> list[str | None]:
    return [None if cost.epsilon is None else str(cost.epsilon), str(cost.rho)]


def same_facts(found: dict[str, Any], kept: dict[str, Any]) -> None:
    """Assert equal facts, but for the last digits of floating-point numbers."""
    for name in ("probabilities", "importances"):
        np.testing.assert_allclose(found.pop(name), kept[name], rtol=0, atol=1e-12)
    assert found == {name: kept[name] for name in found}
