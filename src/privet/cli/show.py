"""``privet show``, ``plot``, ``card`` and ``export``: a model for people and for other programs."""

from __future__ import annotations

from pathlib import Path

import typer

MODEL = typer.Argument(help="A model file.")


def show(
    model: Path = MODEL,
    depth: int | None = typer.Option(None, "--depth", "-d", help="Show this many levels only."),
    trees: int = typer.Option(1, "--trees", help="How many trees of a forest to show."),
) -> None:
    """Show a model's tree in the terminal, with its guarantee under it.

    Example: [bold]privet show m.json --depth 3[/bold]
    """
    from rich.console import Console

    from privet.release import model_view, read_model

    Console().print(model_view(read_model(model), max_depth=depth, max_trees=trees))


def plot(
    model: Path = MODEL,
    output: Path = typer.Option(..., "--output", "-o", help="Where to draw it: .svg, .png or .pdf."),
    tree: int = typer.Option(1, "--tree", help="Which tree of a forest, from 1."),
    depth: int | None = typer.Option(None, "--depth", "-d", help="Draw this many levels only."),
) -> None:
    """Draw a tree as a picture, with the class shares of its leaves and the noise on them.

    Example: [bold]privet plot m.json -o tree.svg[/bold]
    """
    from privet.errors import ParameterError
    from privet.plots import draw_tree, save_figure
    from privet.release import read_model

    released = read_model(model)
    if not 1 <= tree <= len(released.trees):
        raise ParameterError(f"--tree must be 1 to {len(released.trees)}, got {tree}")
    title = f"{released.learner}, tree {tree} of {len(released.trees)}" if len(released.trees) > 1 else released.learner
    figure = draw_tree(released.trees[tree - 1], noise=released.noise, title=title, footer=released.privacy.describe(), max_depth=depth)
    save_figure(figure, output)
    typer.echo(f"drew {output}")


def card(
    model: Path = MODEL,
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to write it: .md or .html; by default Markdown on standard output."
    ),
) -> None:
    """Write a privacy card: what is protected, what is not, and what epsilon means, for a data-protection officer.

    Example: [bold]privet card m.json -o card.html[/bold]
    """
    from privet.release import card_html, card_markdown, read_model

    released = read_model(model)
    if output is None:
        typer.echo(card_markdown(released))
        return
    _write(output, card_html(released) if output.suffix.lower() in (".html", ".htm") else card_markdown(released))


def export(
    model: Path = MODEL,
    output: Path = typer.Option(..., "--output", "-o", help="Where to write it: .txt, .dot or .onnx."),
) -> None:
    """Export a model: indented text, Graphviz DOT (the first tree), or ONNX (from codes to label and probabilities).

    Example: [bold]privet export m.json -o m.onnx[/bold]
    """
    from privet.errors import ParameterError
    from privet.release import read_model, to_onnx, tree_dot, tree_text

    released = read_model(model)
    kind = output.suffix.lower()
    if kind == ".onnx":
        output.write_bytes(to_onnx(released).SerializeToString())
        typer.echo(f"wrote {output}")
    elif kind in (".txt", ".dot"):
        comment, text = ("#", tree_text) if kind == ".txt" else ("//", tree_dot)
        _write(output, f"{comment} {released.privacy.describe()}\n{text(released.trees[0])}")
    else:
        raise ParameterError(f"--output must end in .txt, .dot or .onnx, got {output.name!r}")


def _write(path: Path, text: str) -> None:
    from privet.errors import PrivetError

    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PrivetError(f"cannot write {path}: {error.strerror}") from None
    typer.echo(f"wrote {path}")
