"""Lines as a run would measure them, made up."""

from __future__ import annotations

from experiments.papers.anatomy.experiments import EXPERIMENTS
from experiments.papers.anatomy.results import Line, lines


def step(seconds: float, rows_held: int = 0, sent: int = 1000, received: int = 4000) -> dict:
    counted = {
        "requests": 12,
        "waited": 10,
        "sent": sent,
        "received": received,
        "sealed": 3,
        "opened": 40,
        "refined": 2,
        "predictions": 10,
    }
    return {"seconds": seconds, "cpu": seconds / 2, **counted, "rows_held": rows_held}


def tree(leaves: int, largest: int, leaf_size: int = 2) -> dict:
    return {
        "id": "ab",
        "made": "",
        "splits": "binary",
        "leaf_size": leaf_size,
        "max_depth": None,
        "leaves": leaves,
        "largest": largest,
        "changed": 0,
    }


def answers(
    cdbsl: int = 6,
    cdtl: int = 7,
    threshold: int = 7,
    cnl: int = 8,
    seconds: float = 2.0,
    largest: int = 30,
) -> dict[str, dict]:
    """Of the clients of one fold with 100 rows to learn from and 10 to predict."""
    refining = {
        "predict": step(seconds, 60),
        "parts": [
            {"upto": 1, "step": step(seconds / 2)},
            {"upto": 10, "step": step(seconds / 2)},
        ],
        "again": step(0.1),
        "tree": tree(5, largest),
        "right": cdtl,
    }
    naive = {"learn": step(1.0, 200), "predict": step(3.0), "right": cnl}
    return {
        "cdbsl": {
            "grow": step(0.5),
            "predict": step(0.1),
            "tree": tree(5, largest),
            "right": cdbsl,
        },
        **dict.fromkeys(("cdtl", "cdtl-tuples", "cdtl-batches"), refining),
        **dict.fromkeys(("cnl", "cnl-tuples", "cnl-batches"), naive),
        "traced": {"cdtl": 500, "cnl": 2000, "tree": tree(5, largest)},
        "threshold": {
            "learn": step(6.0, 150),
            "predict": step(2.0),
            "tree": tree(3, 40, 8),
            "right": threshold,
        },
    }


def fold(number: int, at: int, **told: float) -> list[Line]:
    """The lines of one fold of an experiment."""
    return lines(EXPERIMENTS[number], at, 100, 10, answers(**told))
