"""``privet federation demo``: three parties in three processes with three databases, from the plan
to a merged model.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

    from privet.model import Model

#: The parties, and how many shares of the rows each has.
PARTIES = {"north": 1, "south": 2, "west": 3}
_COMMAND = [sys.executable, "-c", "from privet.cli import main; main()"]


def demo(
    epsilon: str = typer.Option("1", "--epsilon", "-e", help="What each party pays."),
    output: Path = typer.Option(
        Path("federation-out"),
        "--output",
        "-o",
        help="The folder for databases, contributions and models.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Three parties with a DuckDB file each, in three processes: accuracy of each alone, of all
    merged, and of pooled rows.

    The nursery data is generated on the spot and divided among them at random; a fifth of the rows
    is kept apart to test on.
    """
    import json

    import pandas as pd

    import privet as pv
    from privet.budget import parse_epsilon
    from privet.curator import Curator
    from privet.federation.plan import read_plan
    from privet.model.file import read_model
    from privet.trees.batches import contribution

    parse_epsilon("epsilon", epsilon)
    tables, test = _divide_rows(output)
    rows = sum(map(len, tables.values()))
    sized = ["--trees", "10", "--rows", str(rows)]
    _run(
        output,
        [["federation", "plan", "--schema", "nursery.schema.json", *sized, "-o", "plan.json"]],
        as_json,
    )
    asked = ["--plan", "plan.json", "--epsilon", epsilon]
    ask = [
        [
            "federation",
            "contribute",
            f"duckdb:///{name}.duckdb?table=people",
            *asked,
            "--party",
            name,
            "-o",
            f"{name}.json",
        ]
        for name in PARTIES
    ]
    _run(output, ask, as_json)
    files = [f"{name}.json" for name in PARTIES]
    _run(output, [["merge", *files, "--people", "disjoint", "-o", "merged.json"]], as_json)

    plan = read_plan(output / "plan.json")
    everybody = pd.concat(list(tables.values()), ignore_index=True)
    curator = Curator(everybody, plan.schema, pv.Budget(epsilon))
    models = {
        **{
            f"{name} alone ({len(tables[name])} rows)": read_model(output / f"{name}.json")
            for name in PARTIES
        },
        f"merged ({rows} rows, nobody showed any)": read_model(output / "merged.json"),
        f"pooled ({rows} rows in one place)": contribution(plan, curator, epsilon),
    }
    accuracy = {name: _measure_accuracy(model, test) for name, model in models.items()}
    if as_json:
        typer.echo(json.dumps({"accuracy": accuracy, "folder": str(output)}))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    view = Table(
        title="Accuracy on rows kept apart",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    view.add_column("model")
    view.add_column("accuracy", justify="right")
    for name, value in accuracy.items():
        view.add_row(name, f"{value:.3f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print(view)
    merged = read_model(output / "merged.json")
    console.print(f"merged.json is {merged.privacy.describe()}.")
    console.print(f"Databases, ledgers, contributions and the merged model are in {output}.")


def _divide_rows(output: Path) -> tuple[dict[str, pd.DataFrame], pd.DataFrame]:
    """The rows of each party, written to its database, and those kept apart. At random: never by
    position.
    """
    import duckdb
    import numpy as np

    import privet as pv
    from privet.errors import TableError
    from privet.mechanisms.randomness import SystemBits, uniform_below

    nursery = pv.datasets.load("nursery")
    shares = np.repeat(np.arange(len(PARTIES)), list(PARTIES.values()))
    drawn = uniform_below(
        SystemBits(), np.full(len(nursery.table), 5 * len(shares), dtype=np.uint64)
    ).astype(np.int64)
    apart = drawn >= 4 * len(shares)
    party = np.where(apart, -1, shares[drawn % len(shares)])
    tables = {name: nursery.table[party == number] for number, name in enumerate(PARTIES)}
    try:
        output.mkdir(parents=True)
        for name, table in tables.items():
            with duckdb.connect(str(output / f"{name}.duckdb")) as connection:
                connection.register("rows_of_party", table)
                connection.execute("CREATE TABLE people AS SELECT * FROM rows_of_party")
    except FileExistsError:
        raise TableError(
            f"{output} is there already; remove it, or name another folder with --output"
        ) from None
    except (OSError, duckdb.Error):
        raise TableError(f"cannot write the databases of the parties to {output}") from None
    nursery.schema.declare(n_rows=None).write(output / "nursery.schema.json")
    return tables, nursery.table[apart]


def _run(folder: Path, commands: list[list[str]], quiet: bool) -> None:
    """Run commands at the same time, each in a process of its own."""
    from privet.errors import PrivetError

    for command in commands if not quiet else []:
        typer.echo(f"$ privet {' '.join(command)}")
    running = [
        # - ours
        subprocess.Popen(  # noqa: S603
            [*_COMMAND, *command],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for command in commands
    ]
    said = [process.communicate() for process in running]
    for process, (_, problem) in zip(running, said, strict=True):
        if process.returncode != 0:
            raise PrivetError(f"a party failed: {problem.strip().removeprefix('privet: ')}")


def _measure_accuracy(model: Model, test: pd.DataFrame) -> float:
    import privet as pv

    return float((pv.ReleasedClassifier(model).predict(test) == test[model.schema.target]).mean())
