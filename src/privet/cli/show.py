"""``privet show``, ``plot``, ``card`` and ``export``: a model for people and for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.cli.completion import complete_dialect, complete_format
from privet.cli.explain import BANDS, REPEATS, repeat_with_bar
from privet.cli.options import FORCE

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from privet.model import Model
    from privet.report import Parts

MODEL = typer.Argument(help="A model file.")


WHOLE = typer.Option(
    False, "--whole", help="Show all branches of a drawn tree, also those that say the same."
)


def show(
    model: Path = MODEL,
    depth: int | None = typer.Option(None, "--depth", "-d", help="Show this many levels only."),
    trees: int = typer.Option(1, "--trees", help="How many trees of a forest to show."),
    whole: bool = WHOLE,
) -> None:
    """Show a model's tree in the terminal, with its guarantee under it.

    Example: [bold]privet show m.json --depth 3[/bold]
    """
    from rich.console import Console

    from privet.report import model_view, read_model

    Console().print(model_view(read_model(model), max_depth=depth, max_trees=trees, whole=whole))


def plot(
    model: Path = MODEL,
    output: Path = typer.Option(
        ..., "--output", "-o", help="Where to draw it: .svg, .png or .pdf."
    ),
    tree: int | None = typer.Option(
        None, "--tree", help="Draw one tree of several, from 1, in place of what all say together."
    ),
    depth: int | None = typer.Option(None, "--depth", "-d", help="Draw this many levels only."),
    leaves: int = typer.Option(
        24, "--leaves", help="Draw this many leaves at most; the rest is summed up."
    ),
    whole: bool = WHOLE,
    bands: bool = BANDS,
    force: bool = FORCE,
) -> None:
    """Draw a model as a picture, with its guarantee beneath.

    A model of one tree is drawn as a tree: leaves show the class shares and the noise on them, or
    the class that a drawn tree says. Of several trees, or trees and scores, the picture shows what
    all say together: what matters, and what each value does. To say what cannot be told from noise,
    the fit is repeated on synthetic rows.

    Example: [bold]privet plot m.json -o tree.svg[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.report import Parts, read_model
    from privet.report.plots import draw_effects, save_figure
    from privet.report.plots.style import check_suffix

    check_apart([output], None, None, model)
    check_writable(output, force=force)
    check_suffix(output)
    released = read_model(model)
    parts = Parts.of(released)
    divided = released.combine == "counts" and len(released.trees) > 1
    if tree is None and len(released.trees) > 1 and not divided:
        again = repeat_with_bar(released, REPEATS if bands else 0)
        name = f"{released.learner} for {released.schema.target}: what it has learnt"
        figure = draw_effects(released.explain(repeats=again), title=name)
    else:
        figure = _draw_one(released, parts, tree or 1, depth, leaves, whole)
    save_figure(figure, output)
    typer.echo(f"drew {output}")


def _draw_one(
    model: Model, parts: Parts, number: int, depth: int | None, leaves: int, whole: bool
) -> Figure:
    """Draw one tree of a model; of one that has none, its scores."""
    from privet.errors import ParameterError
    from privet.report.plots import draw_terms, draw_tree

    name = f"{model.learner} for {model.schema.target}"
    if not parts.trees:
        return draw_terms(model, title=f"{name}, scores by value")
    if not 1 <= number <= len(parts.trees):
        raise ParameterError(f"--tree must be 1 to {len(parts.trees)}, got {number}")
    which = f", tree {number} of {len(parts.trees)}" if len(parts.trees) > 1 else ""
    return draw_tree(
        parts.trees[number - 1],
        noise=model.noise,
        title=f"{name}{which}",
        footer=model.privacy.describe(),
        max_depth=depth,
        max_leaves=leaves,
        scores=model.combine == "scores",
        whole=whole,
        people=model.population,
    )


def card(
    model: Path = MODEL,
    output: Path | None = typer.Option(
        None,
        "--output",
        "-o",
        help="Where to write it: .md, .html or .txt; by default Markdown on standard output.",
    ),
    ledger: Path | None = typer.Option(
        None, "--ledger", help="The ledger that was charged, to list who asked what and when."
    ),
    evaluation: Path | None = typer.Option(
        None, "--evaluation", help="What 'privet evaluate --json' printed, to say how well it does."
    ),
    bands: bool = BANDS,
    force: bool = FORCE,
) -> None:
    """Write a privacy card: what is protected, what is not, what epsilon means, and what the model
    has learnt, for a data-protection officer and an analyst.

    A page (.html) says what cannot be told from noise, for which the fit is repeated on synthetic
    rows.

    Example: [bold]privet card m.json -o card.html[/bold]
    """
    from privet.cli.asking import check_writable, note_written
    from privet.cli.ledger import open_existing_ledger
    from privet.cli.options import check_apart
    from privet.report import read_model
    from privet.report.card import card as make_card
    from privet.report.card import check_card

    if output is not None:
        check_apart([output], None, ledger, model, evaluation)
        check_writable(output, force=force)
        check_card(output)
    released = read_model(model)
    book = None if ledger is None else open_existing_ledger(ledger)
    told = None if evaluation is None else _read_evaluation(evaluation, released)
    page = output is not None and output.suffix.lower() in (".html", ".htm")
    divided = released.combine == "counts" and len(released.trees) > 1
    again = repeat_with_bar(released, REPEATS if bands and page and not divided else 0)
    said = released.explain(repeats=again) if again else None  # a card makes its own without
    made = make_card(released, explanation=said, evaluation=told, ledger=book)
    if output is None:
        typer.echo(made.to_markdown())
        return
    made.save(output)
    note_written(output)


def _read_evaluation(path: Path, model: Model) -> dict[str, Any]:
    import json

    from privet.errors import ParameterError
    from privet.report.card_parts import evaluation_blocks

    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ParameterError(f"--evaluation {path}: cannot be read: {error.strerror}") from None
    except ValueError:
        told = None
    try:
        evaluation_blocks(model, told)
        return dict(told)
    except ParameterError as error:
        raise ParameterError(f"--evaluation {path}: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError):
        raise ParameterError(
            f"--evaluation {path}: this is no evaluation of this model; write one with 'privet "
            f"evaluate ... --json > {path.name}'"
        ) from None


def export(
    model: Path = MODEL,
    output: Path = typer.Option(
        ..., "--output", "-o", help="Where to write it: .txt, .dot, .onnx or .sql."
    ),
    format: str | None = typer.Option(  # noqa: A002
        None,
        "--format",
        help="The format, where the file's name does not say it.",
        autocompletion=complete_format,
    ),
    dialect: str = typer.Option(
        "duckdb",
        "--dialect",
        help="Of SQL: duckdb, postgres, spark or sqlite.",
        autocompletion=complete_dialect,
    ),
    table: str = typer.Option(
        "people", "--table", help="Of SQL: the table to predict, such as people or public.people."
    ),
    whole: bool = WHOLE,
    force: bool = FORCE,
) -> None:
    """Export a model: indented text, Graphviz DOT (the first tree), ONNX (to label and
    probabilities), or SQL that predicts inside a database.

    Example: [bold]privet export m.json -o m.sql --dialect postgres --table people[/bold]
    """
    from privet.cli.asking import check_writable, note_written
    from privet.cli.options import check_apart
    from privet.report import read_model
    from privet.report.export import export as export_model

    check_apart([output], None, None, model)
    check_writable(output, force=force)
    export_model(
        read_model(model), output, format=format, whole=whole, dialect=dialect, table=table
    )
    note_written(output)
