"""Compare synthetic tables with those of AIM and MST: one run, and what is measured of it."""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
import warnings
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import privet as pv
from experiments.bench.publish.churn import churn_schema, make_churn
from privet.accounting.cost import rho_for
from privet.domain.encode.rows import encode
from privet.mechanisms.randomness import SystemBits
from privet.synthetic.rows import frame_of
from privet.synthetic.synthesize import synthesize

#: For contestants that promise (epsilon, delta).
DELTA = Fraction(1, 10**5)
#: Of so many triples of columns at most, picked once and for all.
TRIPLES = 150


def load(data: str) -> tuple[pd.DataFrame, pv.Schema]:
    """Return a public table with its class column."""
    if data == "churn":
        return make_churn(), churn_schema()
    found = pv.datasets.load(data)
    return found.X.assign(**{found.schema.target: found.y.to_numpy()}), found.schema


def split(table: pd.DataFrame, schema: pv.Schema, fold: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows to learn from, and those that are held out."""
    parts = StratifiedKFold(5, shuffle=True, random_state=1).split(table, table[schema.target])
    train, test = list(parts)[fold]
    return table.iloc[train].reset_index(drop=True), table.iloc[test].reset_index(drop=True)


def codes_of(table: pd.DataFrame, schema: pv.Schema) -> np.ndarray:
    """Return the codes of rows that fit the schema: columns x rows, the class last."""
    rows = encode(schema, table)
    known = rows.known(schema)
    return np.stack([line[known].astype(np.int64) for line in (*rows.codes, rows.classes)])


def run_privet(train, schema, epsilon, delta):
    """Our synthetic table."""
    budget = pv.Budget(epsilon, delta=delta) if delta else pv.Budget(epsilon)
    return synthesize(pv.Curator(train, schema, budget), epsilon, delta=delta).frame


def run_peer(train, schema, epsilon, peer, seed, limit=None):
    """The table of a peer, which sees codes, written as values in the same way as ours; a run that
    takes more than ``limit`` seconds is ended (``subprocess.TimeoutExpired``).
    """
    codes = codes_of(train, schema)
    with tempfile.TemporaryDirectory() as folder:
        given, made = Path(folder, "in.npz"), Path(folder, "out.npz")
        np.savez(
            given,
            codes=codes,
            sizes=[*schema.sizes, schema.n_classes],
            rho=float(rho_for(Fraction(str(epsilon)), DELTA)),
            rows=codes.shape[1],
            peer=peer,
            seed=seed,
        )
        script = Path(__file__).with_name("peers.py")
        subprocess.run([peer_python(), script, given, made], check=True, timeout=limit)
        drawn = np.load(made)["codes"]
    return frame_of(schema, list(drawn[:-1]), drawn[-1], SystemBits())


#: Where the environment of mbi is; made on the first run.
ENVIRONMENT = Path(".venv-mbi")


def peer_python() -> str:
    """Return the Python of an environment that has mbi, which is made if there is none."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "mbi==2.0.0"], check=True)
    return str(python)


MEASURES = ("error 1", "error 2", "error 3", "correlation", "auroc", "seconds")
CONTESTANTS = ("Privet", "Privet-delta", "AIM", "MST")


def run(
    data: str, epsilon: float, fold: int, name: str, limit: float | None = None
) -> dict[str, float]:
    """One contestant on one fold: what was measured of its table; of a peer that was not done after
    ``limit`` seconds, nothing but these.
    """
    table, schema = load(data)
    train, test = split(table, schema, fold)
    schema = schema.declare(n_rows=len(train))
    exact = Fraction(str(epsilon))
    start = time.perf_counter()
    if name.startswith("Privet"):
        made = run_privet(train, schema, exact, DELTA if "delta" in name else 0)
    else:
        try:
            made = run_peer(train, schema, epsilon, name.lower(), seed=fold + 1, limit=limit)
        except subprocess.TimeoutExpired:
            return dict.fromkeys(MEASURES, np.nan) | {"seconds": float(limit or 0)}
    seconds = time.perf_counter() - start
    return {**measure(made, train, test, schema), "seconds": seconds}


def measure(
    made: pd.DataFrame, train: pd.DataFrame, test: pd.DataFrame, schema: pv.Schema
) -> dict[str, float]:
    """Return how far marginals and correlations are off, and the AUROC of what is learnt."""
    ours, real = codes_of(made, schema), codes_of(train, schema)
    sizes = [*schema.sizes, schema.n_classes]
    found = {}
    for n in (1, 2, 3):
        sets = list(itertools.combinations(range(len(sizes)), n))
        if len(sets) > TRIPLES and n == 3:
            picked = np.random.default_rng(0).choice(len(sets), TRIPLES, replace=False)
            sets = [sets[i] for i in picked]
        found[f"error {n}"] = float(
            np.mean([_distance(ours, real, sizes, columns) for columns in sets])
        )
    numeric = [name for name in schema.names if schema.attributes[name].ordered]
    found["correlation"] = _miss(made[numeric], train[numeric]) if len(numeric) > 1 else np.nan
    found["auroc"] = learn(made, test, schema)
    return found


def _distance(ours, real, sizes, columns) -> float:
    shape = [sizes[a] for a in columns]
    shares = [
        np.bincount(
            np.ravel_multi_index([codes[a] for a in columns], shape), minlength=int(np.prod(shape))
        )
        / codes.shape[1]
        for codes in (ours, real)
    ]
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def _miss(made: pd.DataFrame, real: pd.DataFrame) -> float:
    """The mean size of the error of a correlation of two numbers."""
    found, true = (
        frame.apply(pd.to_numeric, errors="coerce").corr().fillna(0).to_numpy()
        for frame in (made, real)
    )
    above = np.triu_indices(len(true), 1)
    return float(np.abs(found - true)[above].mean())


def learn(made: pd.DataFrame, test: pd.DataFrame, schema: pv.Schema) -> float:
    """Return the AUROC, on held-out rows, of gradient boosting that learnt from synthetic ones; of
    many classes the mean of each against the rest.
    """
    sizes = made[schema.target].value_counts()
    made = made[made[schema.target].isin(sizes.index[sizes >= 5])]  # fewer make it diverge
    both = pd.concat([made[list(schema.names)], test[list(schema.names)]], ignore_index=True)
    for name in schema.names:
        if schema.attributes[name].ordered:
            both[name] = pd.to_numeric(both[name], errors="coerce")
        else:
            both[name] = both[name].astype(str).astype("category")
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(both.iloc[: len(made)], made[schema.target].astype(str))
    shares = model.predict_proba(both.iloc[len(made) :])
    truth = test[schema.target].astype(str).to_numpy()
    known = dict(zip(model.classes_, shares.T, strict=True))
    scores = [
        roc_auc_score(truth == label, known.get(label, np.zeros(len(truth))))
        for label in map(str, schema.classes)
        if 10 <= (truth == label).sum() < len(truth)
    ]
    return float(scores[-1] if schema.n_classes == 2 else np.mean(scores))
