"""Who takes part, what they are called, and where their code is. Nothing of theirs is imported
here.
"""

from __future__ import annotations

from dataclasses import dataclass

#: Random trees on categories have a child for each value, on numbers two children.
MULTIWAY, BINARY = "multiway", "binary"


@dataclass(frozen=True)
class Contestant:
    """What it is called, ``module:function`` of what prepares it, and whether it runs in the peers'
    environment.
    """

    label: str
    code: str
    peers: bool = False


CONTESTANTS = {
    "frame": Contestant("Privet, data frame", "ours:frame"),
    "text": Contestant("Privet, data frame of texts", "ours:text"),
    "parquet": Contestant("Privet, Parquet file", "ours:parquet"),
    "duckdb": Contestant("Privet, DuckDB file", "ours:database"),
    "kernel": Contestant("Privet, counting only", "ours:kernel"),
    "gibbs": Contestant("Privet, default learner", "ours:gibbs"),
    "greedy": Contestant("Privet, one greedy tree", "ours:greedy"),
    "diffprivlib": Contestant("diffprivlib RandomForest", "others:diffprivlib", peers=True),
    "dp-ebm": Contestant("DP-EBM", "others:dp_ebm", peers=True),
    "hist": Contestant("scikit-learn HistGradientBoosting", "others:hist"),
    "forest": Contestant("scikit-learn RandomForest", "others:forest"),
    "extra": Contestant("scikit-learn ExtraTrees", "others:extra"),
    "sql": Contestant("DuckDB alone, table in memory", "by_hand:table"),
    "sql-parquet": Contestant("DuckDB alone, Parquet file", "by_hand:parquet"),
    "predict-frame": Contestant("Privet, data frame", "ours:predict_frame"),
    "predict-array": Contestant("Privet, NumPy array", "ours:predict_array"),
    "predict-codes": Contestant("Privet, encoded rows", "ours:predict_codes"),
    "predict-gibbs": Contestant("Privet, default learner", "ours:predict_gibbs"),
    "predict-dp-ebm": Contestant("DP-EBM", "others:predict_dp_ebm", peers=True),
    "predict-hist": Contestant("scikit-learn HistGradientBoosting", "others:predict_hist"),
    "predict-forest": Contestant("scikit-learn RandomForest", "others:predict_forest"),
    "predict-diffprivlib": Contestant(
        "diffprivlib RandomForest", "others:predict_diffprivlib", peers=True
    ),
}
#: The one that ratios are about, with trees of the same shape.
OURS = "frame"


def label(contestant: str, shape: str = "") -> str:
    """What stands in tables and keys."""
    return CONTESTANTS[contestant].label + (f", {shape}" if shape else "")
