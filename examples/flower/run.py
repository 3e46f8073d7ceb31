"""Three parties, one private forest: a secure sum under Flower, beside merged contributions, pooled
rows, and the default learner on one party's rows alone.

    python examples/flower/run.py

Everything runs on this machine: a SuperLink, three SuperNodes with a DuckDB file each, and the
app's own processes. They end with this one, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd

import privet as pv
from privet.federation import contribute, draw_plan, merge, write_plan
from privet.learners.random_trees.drawing import Plan
from privet.model import Model

sys.path.insert(0, str(Path(__file__).parent))
from processes import Flower

PARTIES = 3
TEST_SHARE = 0.2


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument(
        "--epsilon", default="0.5", help="what the model costs every party (default 0.5)"
    )
    parser.add_argument("--trees", type=int, default=10, help="how many trees (default 10)")
    parser.add_argument("--keep", type=Path, help="keep everything in this new folder")
    options = parser.parse_args(arguments)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="privet-flower-"))
    try:
        federate(folder, options.epsilon, options.trees)
    except KeyboardInterrupt:
        return 130
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def federate(folder: Path, epsilon: str, trees: int) -> None:
    data = pv.datasets.load("nursery")
    draw = np.random.default_rng(1)  # who is where; noise and trees come from the operating system
    testing = draw.random(len(data.table)) < TEST_SHARE
    train, test = data.table[~testing], data.table[testing]
    group = draw.integers(0, PARTIES, len(train))
    tables = [train[group == party] for party in range(PARTIES)]
    plan = draw_plan(data.schema, trees, rows=len(train))
    folder.mkdir(parents=True, exist_ok=True)
    write_plan(plan, folder / "plan.json")
    data.schema.write(folder / "schema.json")

    began = time.monotonic()
    with Flower(folder) as flower:
        for party, table in enumerate(tables):
            flower.join(f"party{party}", party_config(folder, party, table, epsilon))
        run = {
            "plan": str(folder / "plan.json"),
            "output": str(folder / "model.json"),
            "epsilon": epsilon,
        }
        ended = flower.run(
            {**run, "honest": PARTIES - 1, "colluding": 1, "parties": PARTIES, "people": "disjoint"}
        )
    if not ended.completed:
        raise SystemExit(f"the run failed:\n{ended.log}")
    say(
        f"A secure sum of {PARTIES} parties, in separate processes: "
        f"{time.monotonic() - began:.0f} "
        "s"
    )

    secure = pv.load(folder / "model.json")
    say(f"The model is {secure.privacy_}.\n")
    say("\n".join(f"  {note}" for note in secure.privacy_.notes) + "\n")
    apart = [contribute(plan, curator_of(table, plan, epsilon), epsilon) for table in tables]
    models = {
        "random trees, pooled rows": contribute(plan, curator_of(train, plan, epsilon), epsilon),
        "random trees, secure sum": secure.model_,
        "random trees, merged": merge(apart, "disjoint"),
        "random trees, one party": apart[0],
    }
    # What a party would use if it stayed alone is the default learner, not random trees.
    default = {
        "default, one party alone": fit_default(tables[0], plan, epsilon),
        "default, pooled rows": fit_default(train, plan, epsilon),
    }
    say(f"{'at epsilon ' + epsilon:<28}accuracy   noise of a leaf count")
    for name, model in {**models, **default}.items():
        predicted = pv.ReleasedClassifier(model).predict(test[list(data.schema)])
        # nursery is public, so that exact numbers are no harm
        accuracy = float((predicted == test[data.schema.target]).mean())
        noise = "" if name in default else f"   {model.noise:8.1f}"
        say(f"{name:<28}{accuracy:8.3f}{noise}")


def party_config(folder: Path, party: int, table: object, epsilon: str) -> dict[str, object]:
    """What a party writes into the configuration of its node: its table, its ledger, and what it
    accepts.
    """
    path = folder / f"party{party}.db"
    with duckdb.connect(path) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    return {
        "table": f"duckdb:////{str(path.resolve()).lstrip('/')}?table=people",
        "schema": str(folder / "schema.json"),
        "ledger": str(folder / f"party{party}.ledger.sqlite"),
        "budget": epsilon,
        "epsilon": epsilon,
        "colluding": 1,
    }


def curator_of(table: object, plan: Plan, epsilon: str) -> pv.Curator:
    return pv.Curator(table, plan.schema, pv.Budget(epsilon))


def fit_default(table: pd.DataFrame, plan: Plan, epsilon: str) -> Model:
    """The model of the default learner, which is told the public size of the table."""
    schema = plan.schema.declare(n_rows=round(len(table), -2))
    curator = pv.Curator(table, schema, pv.Budget(epsilon))
    return pv.PrivetClassifier(epsilon).fit_from(curator).model_


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
