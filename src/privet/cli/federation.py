"""``privet federation``: parties that count in the leaves of one plan, and a demonstration."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.merge import OWN_SCHEMA
from privet.cli.options import ANALYST, BUDGET, DATASET, JSON, LEDGER, TABLE, TOKEN_FILE

if TYPE_CHECKING:
    import pandas as pd

    from privet.model import Model


# ``privet federation demo``: three processes with a database each, from the plan to a merged model.

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
    from privet.accounting.cost import parse_epsilon
    from privet.curator import Curator
    from privet.federation.plan import read_plan
    from privet.learners.random_trees.batches import contribution
    from privet.model.file import read_model

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


app = typer.Typer(
    help="Several parties, one classifier: each counts its own rows, in its own place.",
    no_args_is_help=True,
)
app.command("demo")(demo)


@app.command("plan")
def plan(
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema that all parties share (JSON)."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the plan (JSON)."),
    trees: int = typer.Option(
        10, "--trees", "-t", help="How many trees; each party's epsilon is shared among them."
    ),
    rows: int | None = typer.Option(
        None,
        "--rows",
        "-n",
        help="About how many rows all parties have together, if that is public.",
    ),
    height: int | None = typer.Option(
        None, "--height", help="The depth of every leaf, instead of --rows."
    ),
    combine: str = typer.Option(
        "probabilities", help="How trees add up: probabilities, counts or vote."
    ),
    as_json: bool = JSON,
) -> None:
    """Draw the structures of random trees that all parties will count in. Sees no data and charges
    nothing.

    Publish the file, and have all parties compare its fingerprint.

    Example: [bold]privet federation plan --schema people.schema.json --trees 10 --rows 30000 -o
    plan.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.domain import Schema
    from privet.federation.plan import draw_plan, write_plan

    check_writable(output)
    check_apart([output], None, None, schema)
    drawn = draw_plan(Schema.read(schema), trees, rows=rows, height=height, combine=combine)
    write_plan(drawn, output)
    facts = {
        "trees": len(drawn.forest),
        "height": drawn.settings["height"],
        "leaves": sum(len(cells) for cells in drawn.forest),
    }
    if as_json:
        typer.echo(json.dumps({"plan": str(output), "fingerprint": drawn.fingerprint, **facts}))
        return
    typer.echo(
        f"{output}: {facts['trees']} trees of height {facts['height']}, {facts['leaves']} leaves "
        "in all"
    )
    typer.echo(f"fingerprint {drawn.fingerprint}")


@app.command("contribute")
def contribute(
    table: str = TABLE,
    plan: Path = typer.Option(..., "--plan", "-p", help="The plan that all parties share."),
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the contribution may cost, such as 1, 0.1 or 1/3."
    ),
    output: Path = typer.Option(
        ...,
        "--output",
        "-o",
        help="Where to write the contribution (JSON): a model of this table alone.",
    ),
    party: str = typer.Option(
        "", "--party", help="Who contributes, for the privacy statement; published."
    ),
    schema: Path | None = OWN_SCHEMA,
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    as_json: bool = JSON,
) -> None:
    """Count a table's rows in the leaves of a plan and write the noisy counts to a file. The charge
    is recorded in a ledger first.

    The file is a model of this table alone; [bold]privet merge[/bold] adds it to those of other
    parties.

    Example: [bold]privet federation contribute people.csv --plan plan.json --epsilon 1 --party
    north -o part.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable, place_of, print_budget, working
    from privet.cli.options import check_apart
    from privet.cli.printing import finite_or_none
    from privet.federation.plan import read_plan
    from privet.learners.random_trees.batches import check_same_domain, contribution
    from privet.model.file import write_model

    check_writable(output)
    check_apart([output], table, ledger, schema, plan)
    agreed = read_plan(plan)
    place = place_of(
        table,
        schema,
        budget,
        ledger,
        analyst,
        dataset,
        token_file,
        agreed.schema.declare(n_rows=None),
    )
    check_same_domain(agreed, place.schema)
    if schema is None and not table.startswith(("http://", "https://")):
        typer.echo("without --schema, every row is taken for a person of its own", err=True)
    curator = place.curator(epsilon)
    with working("counting"):
        part = contribution(agreed, curator, epsilon, party)
    write_model(part, output)
    statement = part.privacy
    if as_json:
        out = {
            "contribution": str(output),
            "plan": agreed.fingerprint,
            "id": statement.id,
            "epsilon": finite_or_none(statement.epsilon),
        }
        typer.echo(json.dumps({**out, "private": statement.private, "left": str(curator.left)}))
        return
    from rich.console import Console

    console = Console()
    console.print(
        f"{output}: leaf counts of {len(part.trees)} trees; {statement.describe()}",
        soft_wrap=True,
        highlight=False,
    )
    console.print(
        f"plan {agreed.fingerprint[:12]}, contribution {statement.id[:12]}", highlight=False
    )
    print_budget(console, curator)
