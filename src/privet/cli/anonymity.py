"""``privet anonymity``: k-anonymity, l-diversity and t-closeness of a table, for its owner."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import FORCE, JSON, ROWS

if TYPE_CHECKING:
    from rich.table import Table

    from privet.anonymity import Report


def anonymity(
    table: str = ROWS,
    quasi: str = typer.Option(
        ...,
        "--quasi",
        "-q",
        help=(
            "The columns that somebody may know of a person, separated by commas (a name with a "
            "comma in quotes)."
        ),
    ),
    sensitive: str = typer.Option(
        ..., "--sensitive", "-s", help="The column that they should not learn."
    ),
    c: str = typer.Option(
        "3", "--c", help="The c of recursive (c, l)-diversity, such as 3 or 1/2."
    ),
    asked_l: int = typer.Option(
        2, "--l", help="The l that is wanted; classes that do not reach it are counted."
    ),
    worst: int = typer.Option(
        10, "--worst", help="How many of the worst classes to show, by each measure."
    ),
    ordered: bool | None = typer.Option(
        None,
        "--ordered/--unordered",
        help=(
            "Measure t along the order of numbers; by default if the column's type is a number "
            "(not in CSV)."
        ),
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to draw class sizes, l and t: .svg, .png or .pdf."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """How anonymous a table is: k-anonymity, l-diversity, t-closeness, and the worst classes. For
    the owner: exact, NOT private.

    What it prints are exact numbers and values of the rows. No noise is added and nothing is
    charged: it is not differentially private, and not for release. Null is a value of its own.

    Example: [bold]privet anonymity people.csv --quasi age,sex,zip --sensitive illness -o
    classes.svg[/bold]
    """
    import csv
    import json

    from privet.anonymity import examine
    from privet.cli.asking import check_writable, working
    from privet.cli.options import check_apart

    if output is not None:
        check_apart([output], table, None)
        check_writable(output, force=force)
    columns = next(csv.reader([quasi], skipinitialspace=True), [])
    with working("grouping"):
        report = examine(
            table, columns, sensitive, c=c, asked_l=asked_l, worst=worst, ordered=ordered
        )
    if output is not None:
        from privet.anonymity.picture import draw_anonymity
        from privet.report.plots import save_figure

        save_figure(draw_anonymity(report), output)
    if as_json:
        typer.echo(json.dumps(report.to_json() | ({} if output is None else {"plot": str(output)})))
        return
    _print_report(report)
    if output is not None:
        typer.echo(f"drew {output}")


def _print_report(report: Report) -> None:
    from rich.console import Console

    from privet.anonymity.report import WARNING

    console = Console(highlight=False)
    console.print(_make_measures_table(report))
    if report.worst:
        console.print(_make_worst_table(report))
    console.print(WARNING, style="bold", soft_wrap=True)


def _make_measures_table(report: Report) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from privet.text import escape_invisible

    groups = report.groups
    where = escape_invisible(
        f"{report.table}: {', '.join(report.quasi)}; sensitive: {report.sensitive}"
    )
    sizes = (
        f"{groups.n_rows:,} rows in {groups.n_groups:,} classes, {len(groups.codes):,} sensitive "
        "values"
    )
    view = Table(
        title=Text(f"{where}\n{sizes}"), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    view.add_column("measure")
    view.add_column("table", justify="right")
    view.add_column("of its worst class")
    view.add_column(f"classes below l = {report.asked_l}", justify="right")
    view.add_column("rows in them", justify="right")
    view.add_row(
        "k", f"{report.k:,}", f"rows ({report.unique_rows:,} rows are alone in their class)", "", ""
    )
    said = {
        "distinct l": "different sensitive values",
        "entropy l": "exp of the entropy of the sensitive values",
        "recursive l": f"largest l of recursive ({report.c}, l)-diversity",
        "frequency l": "rows per row with the most frequent value",
    }
    for measure, meaning in said.items():
        short = report.shortfall(measure)
        view.add_row(
            measure,
            _format_measure(measure, report.overall(measure)),
            meaning,
            f"{short.classes:,}",
            f"{short.rows:,}",
        )
    distance = "ordered" if report.ordered else "equal"
    view.add_row(
        "t",
        _format_measure("t", report.overall("t")),
        f"{distance} distance to the whole table, 0 to 1",
        "",
        "",
    )
    return view


def _make_worst_table(report: Report) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from privet.anonymity.report import MEASURES
    from privet.text import escape_invisible, shorten

    def text(value: str | None) -> Text:
        return (
            Text("null", style="italic dim")
            if value is None
            else Text(shorten(escape_invisible(value), 30))
        )

    view = Table(
        title="The worst classes", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False
    )
    for column in report.quasi:
        view.add_column(text(column))
    for measure in MEASURES:
        view.add_column("rows" if measure == "size" else measure, justify="right")
    view.add_column(Text.assemble("most frequent ", text(report.sensitive)))
    view.add_column("worst by")
    # the measure that each class is here for
    firsts = [next(iter(worst_class.rank)) for worst_class in report.worst]
    for worst_class, here, after in zip(report.worst, firsts, [*firsts[1:], None], strict=True):
        numbers = [
            _format_measure(measure, value) for measure, value in worst_class.by_measure.items()
        ]
        value = text(worst_class.most_frequent).append(
            f" ({worst_class.most_frequent_rows / worst_class.by_measure['size']:.0%})",
            style="none",
        )
        by = ", ".join(worst_class.rank).replace(", ".join(MEASURES[1:5]), "every l")
        view.add_row(*map(text, worst_class.quasi), *numbers, value, by, end_section=here != after)
    return view


def _format_measure(measure: str, value: float) -> str:
    return f"{value:,.3f}" if measure in ("entropy l", "frequency l", "t") else f"{value:,.0f}"
