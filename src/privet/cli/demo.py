"""``privet demo``: the main job on embedded data, from the rows to a model with its guarantee."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from privet.domain import Schema

EPSILONS = ("0.1", "0.5", "1", "2", "5")


def demo(
    epsilon: str = typer.Option("1", "--epsilon", "-e", help="What the fit may cost."),
    budget: str = typer.Option("2", help="The total epsilon that may be spent."),
    output: Path = typer.Option(
        Path("demo-out"),
        "--output",
        "-o",
        help="The folder for the model, its card and the pictures.",
    ),
    runs: int = typer.Option(
        4, help="Fits per epsilon for the picture of accuracy.", min=1, max=100
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
) -> None:
    """Train the default learner on the nursery data; show the tree, its guarantee and the ledger;
    write model, card and pictures.

    The data is generated on the spot (12 960 rows); nothing is downloaded. A fifth of the rows is
    held out for testing.
    """
    import json

    import numpy as np

    import privet as pv
    from privet.cli.asking import write_out
    from privet.cli.printing import budget_table, ledger_table
    from privet.errors import TableError
    from privet.report import model_view
    from privet.report.card import card_html
    from privet.report.plots import accuracy_over_epsilon, draw_effects, draw_tree, save_figure

    nursery = pv.datasets.load("nursery")
    apart = np.arange(len(nursery.table)) % 5 == 3
    train, test = nursery.table[~apart], nursery.table[apart]
    schema = nursery.schema.declare(n_rows=len(train))
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TableError(f"cannot make the folder {output}: {error.strerror}") from None
    curator = pv.Curator(train, schema, pv.Budget(budget), dataset="nursery", analyst="demo")
    learner = pv.PrivetClassifier(epsilon).fit_from(curator)
    pv.save(learner, output / "model.json")
    write_out(output / "card.html", card_html(learner.model_), quiet=True)
    title = f"Who is recommended for nursery school? (epsilon {epsilon})"
    model, promise = learner.model_, learner.privacy_.describe()
    figure = (
        draw_tree(model.trees[0], title=title, footer=promise, scores=True, people=model.population)
        if len(model.trees) == 1
        else draw_effects(model.explain(), title=title)  # one tree of many says little
    )
    save_figure(figure, output / "tree.svg")
    table = _measure_accuracies(train, test, schema, runs)
    majority = float((test[schema.target] == test[schema.target].mode()[0]).mean())
    figure = accuracy_over_epsilon(
        table,
        majority=majority,
        title="Nursery: accuracy on held-out rows over epsilon",
    )
    save_figure(figure, output / "accuracy.svg")
    accuracy = float((learner.predict(test) == test[schema.target]).mean())
    written = sorted(
        path.name
        for path in (
            output / name for name in ("model.json", "card.html", "tree.svg", "accuracy.svg")
        )
    )
    if as_json:
        spent = {
            "accuracy": accuracy,
            "spent": str(curator.spent.epsilon),
            "left": str(curator.left),
        }
        typer.echo(json.dumps({**spent, "folder": str(output), "written": written}))
        return
    from rich.console import Console

    console = Console()
    console.print(model_view(learner.model_, max_depth=3))
    console.print(ledger_table(curator.ledger.entries()))
    console.print(budget_table(curator.ledger, ["nursery"]))
    by_epsilon = table[table["learner"] == "privet"].groupby("epsilon")["accuracy"].mean()
    exact = table["accuracy"][table["learner"] != "privet"].mean()
    listed = ", ".join(f"{value:.3f} at {at:g}" for at, value in by_epsilon.items())
    console.print(
        f"\nAccuracy on held-out rows: {accuracy:.3f}. Over epsilon: {listed}; a tree without "
        f"privacy: {exact:.3f}; "
        f"always the majority class: {majority:.3f}.",
        soft_wrap=True,
        highlight=False,
    )
    console.print(f"In {output}: {', '.join(written)}.", soft_wrap=True, highlight=False)


def _measure_accuracies(
    train: pd.DataFrame, test: pd.DataFrame, schema: Schema, runs: int
) -> pd.DataFrame:
    """Accuracy of several fits per epsilon, beside an exact C4.5 tree. The data is public, so each
    fit has a ledger of its own.
    """
    import math
    import sys
    import warnings

    import pandas as pd
    from rich.console import Console
    from rich.progress import track

    import privet as pv
    from privet.domain.encode.rows import encode
    from privet.learners.baselines import grow_c45

    lines: list[dict[str, Any]] = []
    truth = test[schema.target].to_numpy()
    plan = [epsilon for epsilon in EPSILONS for _ in range(runs)]
    quiet = not sys.stderr.isatty()
    for epsilon in track(
        plan, "accuracy over epsilon", console=Console(stderr=True), disable=quiet, transient=True
    ):
        with warnings.catch_warnings():
            # many fits of the same rows show how accuracy follows epsilon; the rows are public
            warnings.simplefilter("ignore", pv.errors.RepeatedFitWarning)
            said = pv.PrivetClassifier(epsilon, schema).fit(train).predict(test)
        lines.append(
            {
                "learner": "privet",
                "epsilon": float(epsilon),
                "accuracy": float((said == truth).mean()),
            }
        )
    rows, held = encode(schema, train), encode(schema, test)
    assert rows.classes is not None
    tree = grow_c45(schema, rows.codes, rows.classes)
    right = tree.counts[tree.reach(held.codes)].argmax(axis=1) == held.classes
    lines.append(
        {"learner": "C4.5, not private", "epsilon": math.inf, "accuracy": float(right.mean())}
    )
    return pd.DataFrame(lines)
