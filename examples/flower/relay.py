"""Three parties, one model: a relay under Flower, beside each party alone and pooled rows.

    python examples/flower/relay.py

Everything runs on this machine: a SuperLink with TLS, three SuperNodes with a DuckDB file each, and
the app's own processes. They end with this one, also after Ctrl-C.
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
from privet.federation.keys import SigningKey

sys.path.insert(0, str(Path(__file__).parent))
from processes import Flower

PARTIES = ("north", "south", "west")
TEST_SHARE = 0.2


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--epsilon", default="0.5", help="what each party pays (default 0.5)")
    parser.add_argument("--keep", type=Path, help="keep everything in this new folder")
    options = parser.parse_args(arguments)
    folder = options.keep or Path(tempfile.mkdtemp(prefix="privet-flower-"))
    try:
        take_turns(folder, options.epsilon)
    except KeyboardInterrupt:
        return 130
    finally:
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def take_turns(folder: Path, epsilon: str) -> None:
    data = pv.datasets.load("nursery")
    draw = np.random.default_rng(1)  # who is where; noise and trees come from the operating system
    testing = draw.random(len(data.table)) < TEST_SHARE
    train, test = data.table[~testing], data.table[testing]
    group = draw.integers(0, len(PARTIES), len(train))
    tables = {name: train[group == number] for number, name in enumerate(PARTIES)}
    folder.mkdir(parents=True, exist_ok=True)
    schema = data.schema.declare(n_rows=None)
    schema.write(folder / "schema.json")

    began = time.monotonic()
    with Flower(folder, Path(__file__).parent / "relay_app", tls=True) as flower:
        for name, table in tables.items():
            flower.join(name, party_config(folder, name, table, epsilon))
        ended = flower.run(
            {
                "schema": str(folder / "schema.json"),
                "output": str(folder / "model.json"),
                "parties": len(PARTIES),
                "people": "disjoint",
            }
        )
    if not ended.completed:
        raise SystemExit(f"the run failed:\n{ended.log}")
    say(f"A relay of {len(PARTIES)} parties, in separate processes with TLS: ", end="")
    say(f"{time.monotonic() - began:.0f} s")
    relay = pv.load(folder / "model.json")
    say(f"The model is {relay.privacy_}.\n")

    alone = {f"{name} alone": fit_alone(table, schema, epsilon) for name, table in tables.items()}
    pooled = fit_alone(train, schema, epsilon)
    say(f"{'at epsilon ' + epsilon:<28}accuracy")
    for name, model in {**alone, "relay (Flower)": relay, "pooled rows": pooled}.items():
        # nursery is public, so that exact numbers are no harm
        right = model.predict(test[list(schema)]) == test[schema.target]
        say(f"{name:<28}{float(right.mean()):8.3f}")


def party_config(folder: Path, name: str, table: pd.DataFrame, epsilon: str) -> dict[str, object]:
    """What a party writes into the configuration of its node."""
    path = folder / f"{name}.db"
    with duckdb.connect(path) as connection:
        connection.register("given", table)
        connection.execute("CREATE TABLE people AS SELECT * FROM given")
    SigningKey.new().write(folder / f"{name}.key")
    return {
        "party": name,
        "table": f"duckdb:////{str(path.resolve()).lstrip('/')}?table=people",
        "schema": str(folder / "schema.json"),
        "rows": len(table),
        "key": str(folder / f"{name}.key"),
        "ledger": str(folder / f"{name}.ledger.sqlite"),
        "budget": epsilon,
        "epsilon": epsilon,
    }


def fit_alone(table: pd.DataFrame, schema: pv.Schema, epsilon: str) -> pv.PrivetClassifier:
    """The default learner, with the number of rows declared as the parties declare it."""
    curator = pv.Curator(table, schema.declare(n_rows=len(table)), pv.Budget(epsilon))
    return pv.PrivetClassifier(epsilon).fit_from(curator)


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
