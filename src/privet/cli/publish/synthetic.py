"""``privet publish synthetic`` and ``check``: a table of rows that nobody is, and how near it is to
real ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    FORCE,
    JSON,
    LEDGER,
    PLACES,
    SCHEMA,
    TABLE,
    TOKEN_FILE,
)

if TYPE_CHECKING:
    from rich.table import Table


def synthetic(
    table: str = TABLE,
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the synthetic table may cost, such as 1, 0.1 or 1/3."
    ),
    rows: int | None = typer.Option(
        None,
        "--rows",
        "-n",
        help="How many rows to draw; by default about as many as the table has.",
    ),
    output: Path = typer.Option(
        ...,
        "--output",
        "-o",
        help="Where to write the rows: .parquet or .csv. The card is written beside it.",
    ),
    card: Path | None = typer.Option(
        None, "--card", help="Where to write the card as a page, too: .html."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    anew: bool = typer.Option(
        False,
        "--anew",
        help="Give up what was interrupted, and begin again; what it has cost is spent.",
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Draw a synthetic table from noisy counts of a private one. The charge is recorded in a ledger
    first.

    Any learner can be trained on the rows, as often as anybody likes: they cost nothing more. What
    was interrupted goes on when the same command is given again, and what was paid for is not paid
    again.

    Example: [bold]privet publish synthetic people.csv --schema people.schema.json --epsilon 1
    --rows 10000 -o synthetic.parquet[/bold]
    """
    import json

    from privet.cli.asking import (
        check_writable,
        place_of,
        place_of_unfinished,
        print_budget,
        resumable,
        write_out,
    )
    from privet.cli.options import check_apart
    from privet.cli.printing import finite_or_none
    from privet.errors import ParameterError
    from privet.synthetic.files import (
        card_path,
        check_file,
        check_suffix,
        render_table_card,
        write_table,
    )
    from privet.synthetic.synthesize import check_row_count, synthesize

    check_suffix(output)
    pages = [] if card is None else [card]
    for page in pages:
        if page.suffix.lower() not in (".html", ".htm"):
            raise ParameterError(f"--card: the page must end in .html, got {page.name!r}")
    check_apart([output, card_path(output), *pages], table, ledger, schema)
    check_writable(output, force=force)
    begun = place_of_unfinished(output).exists()  # the card is written last
    for path in (card_path(output), *pages):
        check_writable(path, force=force or begun)
    check_row_count(rows)
    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file, ca=ca)
    check_file(output, place.schema)
    curator = place.curator(epsilon)
    # how many rows are drawn is decided after all is paid for
    facts = ["synthetic table", f"epsilon={epsilon}"]
    with resumable(curator, output, "drawing a synthetic table", facts, anew=anew) as (asked, keep):
        drawn = synthesize(asked, epsilon, rows=rows)
        keep()
        write_table(drawn, output)
    for page in pages:
        write_out(page, render_table_card(drawn, html=True), quiet=as_json)
    if as_json:
        out = {
            "table": str(output),
            "rows": len(drawn.frame),
            "private": drawn.privacy.private,
            "epsilon": finite_or_none(drawn.privacy.epsilon),
        }
        typer.echo(json.dumps({**out, "pairs": drawn.pairs, "left": str(curator.left)}))
        return
    from rich.console import Console

    console = Console()
    pairs = (
        f"{len(drawn.pairs)} pair(s) of attributes measured together"
        if drawn.pairs
        else "no pairs: too few rows for the noise"
    )
    console.print(
        f"{output}: {len(drawn.frame)} rows, {pairs}; {drawn.privacy.describe()}",
        soft_wrap=True,
        highlight=False,
        markup=False,
    )
    console.print(
        f"what that means is in {card_path(output)}", soft_wrap=True, highlight=False, markup=False
    )
    print_budget(console, curator)


def _make_rich_table(headers: Sequence[str], lines: Sequence[Sequence[str]]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for column, header in enumerate(headers):
        table.add_column(header, justify="right" if column else "left")
    for line in lines:
        table.add_row(*map(escape, line))
    return table


def check(
    rows: Path = typer.Argument(
        help="A synthetic table: a .parquet or .csv file. It is taken as public."
    ),
    held_out: str = typer.Argument(
        help=(
            f"Private rows that were not used for it: {PLACES}; or the address of a curator: "
            "https://HOST."
        )
    ),
    schema: Path | None = SCHEMA,
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What the check may cost the held-out rows."
    ),
    against: list[Path] = typer.Option(
        [],
        "--against",
        help="A model to compare with, such as one of the real rows; may be repeated.",
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to write the report: .md or .html."
    ),
    plot: Path | None = typer.Option(
        None, "--plot", help="Where to draw the shares of values: .svg, .png or .pdf."
    ),
    anyway: bool = typer.Option(
        False, "--anyway", help="Spend epsilon even where the noise would hide everything."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Compare a synthetic table with held-out private rows: shares of values, and how right a
    classifier is that was trained on it.

    Half of epsilon pays for the shares, half for the classifiers; it is charged to the ledger of
    the held-out rows. What the noise lets you see is said first, from public sizes, and where that
    is nothing, nothing is spent.

    Example: [bold]privet publish check synthetic.parquet held-out.csv --schema people.schema.json
    --epsilon 0.5 -o report.html[/bold]
    """
    import json

    import privet as pv
    from privet.cli.asking import check_writable, place_of, print_budget, working, write_out
    from privet.cli.options import check_apart, check_public
    from privet.errors import ParameterError
    from privet.synthetic.check import check_synthetic
    from privet.synthetic.check_plan import plan_check
    from privet.synthetic.files import render_check_report
    from privet.tables.open import read_public

    for path in filter(None, (output, plot)):
        check_apart([path], held_out, ledger, schema, rows, *against)
        check_writable(path, force=force)
    check_public(rows, held_out, "name the synthetic rows first, then the held-out ones")
    if output is not None and output.suffix.lower() not in (".md", ".html", ".htm"):
        raise ParameterError(f"a report is written to a .md or .html file, got {output.name}")
    if plot is not None:
        from privet.report.plots.style import check_suffix, need_matplotlib

        need_matplotlib()
        check_suffix(plot)
    models = {
        f"{path} ({loaded.model_.learner})": loaded.model_
        for path in against
        for loaded in [pv.load(path)]
    }
    table = read_public(str(rows))
    place = place_of(held_out, schema, budget, ledger, analyst, dataset, token_file, ca=ca)
    plan = plan_check(table, place.schema, epsilon, models=1 + len(models))
    typer.echo(plan.describe(), err=True)
    if not plan.tells and not anyway:
        raise ParameterError(
            f"epsilon {epsilon} would tell you nothing, so nothing was spent; try epsilon "
            f"{plan.enough}, hold out more rows and declare n_rows in the schema, or give --anyway"
        )
    curator = place.curator(epsilon)
    with working("checking"):
        result = check_synthetic(table, curator, epsilon, against=models)
    if output is not None:
        write_out(
            output, render_check_report(result, html=output.suffix.lower() != ".md"), quiet=True
        )
    if plot is not None:
        from privet.report.plots import save_figure
        from privet.synthetic.check import draw_check

        save_figure(draw_check(result), plot)
    if as_json:
        right = {
            name: {"accuracy": one.accuracy, "interval": list(one.interval())}
            for name, one in result.models.items()
        }
        shares = {
            one.name: {"distance": one.distance, "noise": one.floor} for one in result.marginals
        }
        out = {
            "models": right,
            "most_frequent": result.most_frequent,
            "attributes": shares,
            "private": result.private,
        }
        typer.echo(
            json.dumps({**out, "epsilon": str(result.cost.epsilon), "left": str(curator.left)})
        )
        return
    from rich.console import Console

    console = Console()
    lines = [
        [name, f"{one.accuracy:.3f}", "{:.3f} to {:.3f}".format(*one.interval())]
        for name, one in result.models.items()
    ]
    lines.append(["most frequent class", f"{result.most_frequent:.3f}", ""])
    console.print(
        _make_rich_table(["right on held-out rows", "", "95% interval (sampling and noise)"], lines)
    )
    shares_of = [
        [one.name, f"{one.distance:.3f}", f"{min(one.floor, 1.0):.3f}"] for one in result.marginals
    ]
    console.print(
        _make_rich_table(["shares by class", "distance", "noise alone, about"], shares_of)
    )
    print_budget(console, curator)
