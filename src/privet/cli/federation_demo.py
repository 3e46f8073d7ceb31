"""``privet federation demo``: three parties take turns on one model, beside what else they could
do.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    import pandas as pd

    from privet.domain import Schema

#: The parties, and how many shares of the rows each has.
PARTIES = {"north": 1, "south": 2, "west": 3}
#: All rows in one place: what the parties do not want, to compare with.
POOLED = "pooled"
RELAY, MERGED = "relay", "random trees, merged"
_COMMAND = [sys.executable, "-c", "from privet.cli import main; main()"]
_PICTURE = "accuracy.svg"


def demo(
    epsilon: str = typer.Option("1", "--epsilon", "-e", help="What each party pays."),
    output: Path = typer.Option(
        Path("federation-out"),
        "--output",
        "-o",
        help="The folder for databases, keys, relay files, models and the picture.",
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Three parties with a DuckDB file each take turns on one model, by real commands in processes
    of their own. See how accurate it is beside each party alone, pooled rows and merged random
    trees.

    The nursery data is generated on the spot and divided among them at random; a fifth of the rows
    is held out for testing. It takes about half a minute.
    """
    import json

    from privet.accounting.cost import parse_epsilon
    from privet.cli.printing import finite_or_none
    from privet.federation.keys import SigningKey
    from privet.model.file import read_model

    asked = parse_epsilon("epsilon", epsilon)
    # Only to hear, before anything is written, what has to be installed.
    SigningKey.new()
    tables, test, schema = _divide_rows(output)
    sizes = _write_schemas(output, len(tables[POOLED]) + len(test), schema)
    _take_turns(output, epsilon, sizes, quiet=as_json)
    _compare(output, epsilon, sizes, quiet=as_json)

    files = {
        **{f"{name} alone": f"{name}.alone.json" for name in PARTIES},
        RELAY: "model.json",
        POOLED: f"{POOLED}.json",
        MERGED: "merged.json",
    }
    accuracy = {name: _measure_accuracy(output / file, test) for name, file in files.items()}
    promise = read_model(output / "model.json").privacy.describe()
    missing = _draw(output / _PICTURE, accuracy, epsilon, promise)
    if as_json:
        told = {
            "accuracy": accuracy,
            "rows": {name: len(table) for name, table in tables.items()},
            "held_out": len(test),
            "epsilon": finite_or_none(float(asked)),
            "promise": promise,
            "picture": None if missing else _PICTURE,
            "folder": str(output),
        }
        typer.echo(json.dumps(told))
        return
    rows = dict.fromkeys(accuracy, len(tables[POOLED]))
    _show(accuracy, {**rows, **{f"{name} alone": len(tables[name]) for name in PARTIES}})
    typer.echo(f"model.json, the relay's, is {promise}.\n")
    typer.echo(explain(accuracy))
    typer.echo(
        f"There are {len(test):,} held-out rows: differences of .01 may be chance. Another run has "
        "other noise and other parties."
    )
    typer.echo(
        f"\nDatabases, keys, ledgers, relay files and models are in {output}; "
        + (f"there is no picture: {missing}" if missing else f"the picture is {_PICTURE}.")
    )


def explain(accuracy: Mapping[str, float]) -> str:
    """Say in words what the accuracies show, whichever way they came out."""
    best = max((f"{name} alone" for name in PARTIES), key=lambda name: accuracy[name])

    def beside(name: str, other: str) -> str:
        gap = round(accuracy[name], 3) - round(accuracy[other], 3)
        if abs(gap) < 0.0005:
            return "level with"
        return f"{abs(gap):.3f} {'above' if gap > 0 else 'below'}"

    return (
        f"By turns, the parties reach {accuracy[RELAY]:.3f}, and no row left its place: "
        f"{beside(RELAY, best)} the best party alone, {beside(RELAY, POOLED)} pooled rows.\n"
        f"Merged random trees, the older way, reach {accuracy[MERGED]:.3f}: "
        f"{beside(MERGED, best)} the best party alone."
    )


def _divide_rows(output: Path) -> tuple[dict[str, pd.DataFrame], pd.DataFrame, Schema]:
    """The rows of each party, written to its database; those held out; the schema. At random:
    never by position.
    """
    import duckdb
    import numpy as np
    import pandas as pd

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
    tables[POOLED] = pd.concat(list(tables.values()), ignore_index=True)
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
    return tables, nursery.table[apart], nursery.schema.declare(n_rows=None)


def _write_schemas(output: Path, rows: int, schema: Schema) -> dict[str, int]:
    """Write the schema that all share, and one for each table that says about how many rows it
    has. Return these numbers.

    They follow from the rows of all and the public shares, so nobody counts rows to know them, and
    the relay and whoever stays alone are told the same. Counted rows would also leave to chance
    whether the smallest party, whose evidence is just enough for half a turn, has one.
    """
    shares = sum(PARTIES.values())
    sizes = {name: rows * 4 * share // (5 * shares) for name, share in PARTIES.items()}
    sizes[POOLED] = sum(sizes.values())
    schema.write(output / "nursery.schema.json")
    for name, size in sizes.items():
        schema.declare(n_rows=size).write(output / f"{name}.schema.json")
    return sizes


def _take_turns(output: Path, epsilon: str, sizes: Mapping[str, int], *, quiet: bool) -> None:
    """Make a model by relay: cards, a start, turns as long as somebody has one, and the end."""
    from privet.federation.relay import RelayFile

    def say(text: str) -> None:
        if not quiet:
            typer.echo(text)

    def card(name: str) -> list[str]:
        about = ["--rows", str(sizes[name]), "--epsilon", epsilon, "--key", f"{name}.key"]
        shared = ["--schema", "nursery.schema.json"]
        return ["relay", "card", name, *shared, *about, "-o", f"{name}.card.json"]

    say("Each party signs a card: its rows, and what it will pay. Somebody starts the relay.")
    _run(output, [card(name) for name in PARTIES], quiet)
    cards = [f"{name}.card.json" for name in PARTIES]
    about = ["--schema", "nursery.schema.json", "--people", "disjoint"]
    _run(output, [["relay", "start", *cards, *about, "-o", "relay-0.json"]], quiet)
    say("\nThe file goes from party to party. Each adds to it from its own rows, and signs.")
    taken = 0
    while waiting := (relay := RelayFile.read(output / f"relay-{taken}.json")).next_names:
        name = waiting[0]
        who = ["--party", name, "--key", f"{name}.key"]
        file = ["--relay", f"relay-{taken}.json", *who, "-o", f"relay-{taken + 1}.json"]
        _run(output, [["relay", "add", _database(name), *file]], quiet)
        taken += 1
    for name in [str(one["name"]) for one in relay.list_parties() if not one["taken"]]:
        say(f"{name} had too little evidence for a turn, and paid nothing.")
    _run(output, [["relay", "finish", f"relay-{taken}.json", "-o", "model.json"]], quiet)


def _compare(output: Path, epsilon: str, sizes: Mapping[str, int], *, quiet: bool) -> None:
    """Make the models to compare with: the default learner on each table, and on all rows in one
    place; random trees, merged.

    Each has ledgers of its own, as if nothing else had been asked: a party would choose one way.
    """
    if not quiet:
        typer.echo(
            "\nTo compare, each with a ledger of its own, as if nothing else had been asked:"
        )
    # Without --learner it is the default one, which is what a party would use if it stayed alone.
    fits = [
        [
            *("fit", _database(name), "--schema", f"{name}.schema.json", "--epsilon", epsilon),
            *("--ledger", f"{name}.alone.sqlite"),
            *("-o", f"{POOLED}.json" if name == POOLED else f"{name}.alone.json"),
        ]
        for name in sizes
    ]
    _run(output, fits, quiet)
    sized = ["--schema", "nursery.schema.json", "--trees", "10", "--rows", str(sizes[POOLED])]
    _run(output, [["federation", "plan", *sized, "-o", "plan.json"]], quiet)
    parts = [
        [
            *("federation", "contribute", _database(name), "--plan", "plan.json"),
            *("--epsilon", epsilon, "--party", name, "--ledger", f"{name}.trees.sqlite"),
            *("-o", f"{name}.trees.json"),
        ]
        for name in PARTIES
    ]
    _run(output, parts, quiet)
    files = [f"{name}.trees.json" for name in PARTIES]
    _run(output, [["merge", *files, "--people", "disjoint", "-o", "merged.json"]], quiet)


def _database(name: str) -> str:
    return f"duckdb:///{name}.duckdb?table=people"


def _run(folder: Path, commands: list[list[str]], quiet: bool) -> None:
    """Run commands at the same time, each in a process of its own."""
    from privet.errors import PrivetError

    for command in commands if not quiet else []:
        typer.echo(f"$ privet {' '.join(command)}")
    running = [
        # - ours
        subprocess.Popen(  # noqa: S603
            [*_COMMAND, *command, "--force"],  # a demo writes over the one before
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


def _measure_accuracy(path: Path, test: pd.DataFrame) -> float:
    import privet as pv

    model = pv.load(path)
    return float((model.predict(test) == test[model.model_.schema.target]).mean())


def _show(accuracy: Mapping[str, float], rows: Mapping[str, int]) -> None:
    """Print the table of accuracies."""
    from rich import box
    from rich.console import Console
    from rich.table import Table

    view = Table(
        title="Accuracy on held-out rows",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for title in ("model", "learner", "rows", "accuracy"):
        view.add_column(title, justify="right" if title in ("rows", "accuracy") else "left")
    says = {
        RELAY: ("relay: by turns, rows stay", "default"),
        POOLED: ("pooled: rows in one place", "default"),
        MERGED: ("merged: counts are added", "random trees"),
    }
    for name, value in accuracy.items():
        view.add_row(*says.get(name, (name, "default")), f"{rows[name]:,}", f"{value:.3f}")
    console = Console(highlight=False, soft_wrap=True)
    console.print()
    console.print(view)


def _draw(path: Path, accuracy: Mapping[str, float], epsilon: str, promise: str) -> str:
    """Draw the accuracies, and return why that is not possible, if it is not.

    Who has signatures and no matplotlib still gets everything else.
    """
    from privet.errors import MissingDependency
    from privet.report.plots.bars import draw_bars
    from privet.report.plots.style import save_figure

    best = max(accuracy[f"{name} alone"] for name in PARTIES)
    says = {
        RELAY: "relay, default learner",
        POOLED: "pooled rows, default learner",
        MERGED: "random trees, merged",
    }
    fills = {RELAY: 0, POOLED: 2, MERGED: 1}
    try:
        figure = draw_bars(
            {says.get(name, f"{name}, default learner"): it for name, it in accuracy.items()},
            measure="accuracy on held-out rows",
            fills=[fills.get(name, 3) for name in accuracy],
            line=("best party alone", best),
            title=f"Three parties, nursery data, epsilon {epsilon}",
            caption=f"One run. The relay's model is {promise}.",
        )
    except MissingDependency as problem:
        return str(problem)
    save_figure(figure, path)
    return ""
