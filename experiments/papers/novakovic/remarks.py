"""What the thesis says in passing, measured: that more folds make results more stable (section
7.5), and that many attributes make private trees worse (the same).
"""

from __future__ import annotations

import numpy as np

from experiments.papers.chance import Chance
from experiments.papers.experiment import Row
from experiments.papers.novakovic import protocol
from experiments.papers.novakovic.tables import table
from privet import presets
from privet.datasets import load
from privet.domain import Categorical, Schema

#: The smallest table is where results vary most.
FOLDS_FIGURE = "18"
COINS_SET = "synthetic2"


def vary_folds(folds: int, run: int, seed: int | None = None) -> list[Row]:
    """One cross-validation of Tic-Tac-Toe with so many folds."""
    from sklearn.model_selection import KFold

    data, chance = table(FOLDS_FIGURE), Chance(seed)
    divide = KFold(folds, shuffle=True, random_state=protocol.SHUFFLE_SEED)
    right = []
    for train, test in divide.split(np.zeros(len(data.classes))):
        learner = presets.novakovic(
            protocol.REMARK_EPSILON, data.schema.declare(n_rows=len(train))
        ).set_params(random_state=chance.state())
        learner.fit(data.X.iloc[train], data.y.iloc[train])
        right.append(float((learner.predict(data.X.iloc[test]) == data.y.iloc[test]).mean()))
    # As the thesis has it: the mean over the folds.
    return [{"folds": folds, "run": run, "accuracy": float(np.mean(right))}]


def add_coins(coins: int, run: int, seed: int | None = None) -> list[Row]:
    """A tree of a small table with so many more attributes that say nothing, with and without
    noise.
    """
    data, chance = load(COINS_SET), Chance(seed)
    draw = np.random.default_rng([protocol.SHUFFLE_SEED, run])  # public rows and coins, no noise
    rows = draw.permutation(len(data.X))
    train, test = rows[: protocol.COIN_ROWS], rows[-protocol.COIN_ROWS :]
    names = [f"coin{number}" for number in range(coins)]
    tossed = {name: draw.choice(["0", "1"], len(data.X)) for name in names}
    frame = data.X.assign(**tossed)
    attributes = dict(data.schema.attributes) | {name: Categorical(["0", "1"]) for name in names}
    schema = Schema(attributes, data.schema.target, data.schema.classes)
    found: list[Row] = []
    for epsilon in (float("inf"), protocol.REMARK_EPSILON):
        learner = presets.novakovic(
            epsilon, schema.declare(n_rows=protocol.COIN_ROWS), max_depth=3
        ).set_params(random_state=chance.state())
        learner.fit(frame.iloc[train], data.y.iloc[train])
        accuracy = float((learner.predict(frame.iloc[test]) == data.y.iloc[test]).mean())
        found.append({"attributes": len(attributes), "epsilon": epsilon, "run": run})
        found[-1]["accuracy"] = accuracy
    return found
