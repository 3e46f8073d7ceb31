"""``privet explain``: what a whole model has learnt, as a page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.cli.options import FORCE, ledger_beside
from privet.errors import ParameterError
from privet.tables.sources.registry import file_of
from privet.text import hide_password

if TYPE_CHECKING:
    from privet.model import Model

#: By default; those of privet.learners.repeats, which takes long to import.
REPEATS = 8
BANDS = typer.Option(
    True, "--bands/--no-bands", help="Whether to measure the noise, which takes a while."
)


def explain(
    model: Path = typer.Argument(help="A model file."),
    rows: str | None = typer.Argument(
        None, help="Rows to explain one by one, such as new-people.csv; the first 100."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write it: .html."),
    people: str | None = typer.Option(
        None,
        "--people",
        help="Synthetic rows to average over, never private ones; by default the population that "
        "the model has released, or all values alike.",
    ),
    repeats: int = typer.Option(
        REPEATS, "--repeats", min=1, max=1000, help="Fits to repeat to measure the noise."
    ),
    bands: bool = BANDS,
    force: bool = FORCE,
) -> None:
    """Explain a whole model: what matters, what each value does, which pairs act together, and why
    a row gets its score.

    It needs the model file only and charges nothing. To say what cannot be told from noise, the fit
    is repeated on synthetic rows that are drawn from the model.

    Example: [bold]privet explain m.json new-people.csv -o explanation.html[/bold]
    """
    from privet.cli.asking import check_writable, note_written
    from privet.cli.options import check_apart
    from privet.model.explanations.explanation import check_page
    from privet.report import read_model

    read = [model, *(Path(table) for table in (rows, people) if table is not None)]
    check_apart([output], rows, None, *read)
    check_writable(output, force=force)
    check_page(output)
    released = read_model(model)
    synthetic = None if people is None else _read_people(people)
    explained = None if rows is None else _read_rows(rows)
    if explained is not None and explained.empty:
        raise ParameterError(f"{hide_password(str(rows))} has no row to explain")
    again = repeat_with_bar(released, repeats if bands else 0, synthetic)
    said = released.explain(explained, people=synthetic, repeats=again)
    said.save(output)
    note_written(output)


def repeat_with_bar(model: Model, repeats: int, people: Any = None) -> list[Model]:
    """Repeat the fit of a model behind a progress bar; say why where that is impossible."""
    from privet.cli.asking import work_bars
    from privet.cli.compiling import start_compiling
    from privet.learners.repeats import explain_no_repeats, repeat_fits
    from privet.model.explanations.people import People

    if not repeats:
        return []
    why_not = explain_no_repeats(model)
    if why_not:
        typer.echo(f"privet: the noise is not measured: {why_not}", err=True)
        return []
    start_compiling()()
    with work_bars("repeating the fit on synthetic rows", remaining=True) as tell:
        return repeat_fits(model, People.of(model, people), repeats, tell)


def _read_people(table: str) -> Any:
    """Return synthetic rows; refuse a table that is known to be private."""
    if file_of(table) is not None and ledger_beside(table).exists():
        raise ParameterError(
            f"--people {hide_password(table)}: this table has a ledger, so that its rows are "
            "private, and averages over them would be released without being paid for; give "
            "synthetic rows, as 'privet publish synthetic' makes them"
        )
    typer.echo(
        "privet: effects are averaged over the rows of --people, and give away facts about them: "
        "these must be synthetic or public",
        err=True,
    )
    return _read_rows(table)


def _read_rows(table: str) -> Any:
    """Return the first rows of a table."""
    from privet.tables.open import read_blocks

    return next(iter(read_blocks(table)))
