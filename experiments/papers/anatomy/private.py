"""The paper's next step: cdtl beside trees with differential privacy, on the same folds.

``python -m experiments.papers.anatomy.private FOLDER`` takes the folds and the accuracies of a run
of the five experiments from its folder, trains the default private learner on the same rows,
attacks the split of the first fold, and writes ``private.csv`` beside them. An outsourced table
gives away what the attack finds; a private model at most what its epsilon says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

import privet as pv
from experiments.papers.anatomy.experiments import EXPERIMENTS, L
from experiments.papers.anatomy.fold import PRUNING
from experiments.papers.anatomy.folds import kept
from experiments.papers.anatomy.results import LEARNERS, Line
from privet.epsilon.adversary import best_guess
from privet.outsource.cipher import KeyRing
from privet.outsource.split import split
from privet.outsource.verify import attack_halves

EPSILONS = (0.1, 1.0, 4.0)
#: People whose values the adversary of the attack knows.
KNOWN = 5


def compare(folder: Path, numbers: Sequence[int]) -> list[Line]:
    """The lines of these experiments: one per fold and epsilon, and one of the attack."""
    done = pd.read_csv(folder / "results.csv")
    found: list[Line] = []
    for number in numbers:
        experiment = EXPERIMENTS[number]
        table, schema = experiment.load()
        assignment = kept(folder / "folds" / f"experiment-{number}.json", experiment, table, schema)
        mine = done[done["experiment"] == number]
        for fold in sorted(mine["fold"].unique()):
            train, test = assignment.parts(int(fold) - 1)
            rows, held_out = table.iloc[train].reset_index(drop=True), table.iloc[test]
            head = {"experiment": number, "data": experiment.data, "fold": int(fold)}
            measured = mine[(mine["fold"] == fold) & mine["learner"].isin(LEARNERS)]
            found += [{**head, **_pick(line)} for line in measured.to_dict("records")]
            found += [{**head, **_fit(rows, held_out, schema, one)} for one in EPSILONS]
            if fold == mine["fold"].min():
                found.append({**head, **_attack(rows, schema, experiment.sensitive)})
    return found


def _pick(line: dict[str, Any]) -> Line:
    return {
        "learner": line["learner"],
        "accuracy": line["accuracy"],
        "client_seconds": line["cpu_seconds"],
        "received": line["received"],
    }


def _fit(rows: Any, held_out: Any, schema: Any, epsilon: float) -> Line:
    started = time.process_time()
    curator = pv.Curator(rows, schema, budget=pv.Budget(epsilon))
    model = pv.PrivetClassifier(epsilon=epsilon).fit_from(curator)
    seconds = time.process_time() - started
    names = list(schema.attributes)
    said = [str(one) for one in model.predict(held_out[names])]
    right = [one == str(true) for one, true in zip(said, held_out[schema.target], strict=True)]
    return {
        "learner": f"private, epsilon {epsilon:g}",
        "accuracy": sum(right) / len(right),
        "client_seconds": seconds,
        # somebody's value, of two, is another row: two neighbours away where rows come and go
        "right_at_most": best_guess(2 * epsilon),
    }


def _attack(rows: Any, schema: Any, sensitive: str) -> Line:
    ring = KeyRing.new("AES-128-GCM")
    score = attack_halves(
        split(rows, schema, sensitive, L, ring, pruning=PRUNING).halves, ring, "logistic", KNOWN
    )
    return {
        "learner": "attack",
        "accuracy": score.accuracy,
        "exposed": score.at_least_confident,
        "guess": score.random_guess,
    }


def main() -> None:
    """Compare, and write the lines."""
    folder, *numbers = sys.argv[1:]
    lines = compare(Path(folder), [int(one) for one in numbers] or sorted(EXPERIMENTS))
    table = pd.DataFrame(lines)
    table.to_csv(Path(folder) / "private.csv", index=False, float_format="%.6g")
    means = table.groupby(["experiment", "learner"]).mean(numeric_only=True)
    sys.stdout.write(f"{means.round(4).to_string()}\n")


if __name__ == "__main__":
    main()
