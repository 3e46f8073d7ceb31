"""``privet epsilon``: what an epsilon means for a table, and which one keeps what is wished for.
Reads no row.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import FORCE, JSON

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from privet.domain import Schema
    from privet.epsilon import Choices, Explanation, Setting, Wishes


#: Room for sentences, and for the numbers of one epsilon beside them.
_SENTENCE, _NUMBER = 30, 16
#: What a table of accuracies takes at least, and with all facts.
_NARROW, _WIDE = 76, 120


def epsilon(
    epsilons: list[str] | None = typer.Argument(
        None, metavar="[EPSILON]...", help="One or several, side by side; as for fit and count."
    ),
    schema: Path | None = typer.Option(
        None,
        "--schema",
        "-s",
        help="The public schema: rows per person, neighbours, declared rows.",
    ),
    rows: int | None = typer.Option(
        None, "--rows", help="How many rows the table has; by default as the schema declares."
    ),
    priors: list[str] = typer.Option(
        ["0.01", "0.1", "0.5"],
        "--prior",
        help="What somebody thought the chance was before: above 0, below 1. Can be repeated.",
    ),
    false_alarms: str = typer.Option(
        "0.05",
        "--false-alarms",
        help="The share of people outside of the table that a test for membership wrongly flags.",
    ),
    tolerance: int = typer.Option(
        0,
        "--tolerance",
        help="By how many rows a count may be off for an attack that takes it at face value.",
    ),
    confidence: str = typer.Option(
        "0.95", "--confidence", help="How often a count should be within its margin."
    ),
    share: str = typer.Option("0.5", "--share", help="The share that a test looks at."),
    difference: str = typer.Option(
        "0.05", "--difference", help="The change of the share that the test should find."
    ),
    level: str = typer.Option(
        "0.05", "--level", help="How often the test finds a change where there is none."
    ),
    power: str = typer.Option("0.8", "--power", help="How often the test finds the change."),
    cost: str | None = typer.Option(
        None,
        "--cost",
        help="What a person must expect to lose who does not take part, in any currency.",
    ),
    people: int | None = typer.Option(
        None, "--people", help="How many people take part; by default as many as rows."
    ),
    majority: str | None = typer.Option(
        None,
        "--majority",
        help="The share of the most frequent class, if it is public or guessed: adds accuracies.",
    ),
    posterior_below: str | None = typer.Option(
        None, "--posterior-below", help="The largest belief that somebody is in the table."
    ),
    record_below: str | None = typer.Option(
        None,
        "--record-below",
        help="The largest belief in what a person's rows say.",
    ),
    attack_below: str | None = typer.Option(
        None, "--attack-below", help="How often a guess of in or out may be right."
    ),
    exact_count_below: str | None = typer.Option(
        None, "--exact-count-below", help="How often a noisy count may be exactly right."
    ),
    price_below: str | None = typer.Option(
        None,
        "--price-below",
        help="The largest price of taking part, for all people together.",
    ),
    margin_below: int | None = typer.Option(
        None, "--margin-below", help="The most rows that a count may be off by."
    ),
    ratio_below: str | None = typer.Option(
        None, "--ratio-below", help="The most times the rows that the test may need."
    ),
    plot: Path | None = typer.Option(
        None, "--plot", "-o", help="Where to draw all of it over epsilon: .svg, .png or .pdf."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """What an epsilon means for a table, or which epsilon to choose. Reads no row and charges
    nothing.

    What somebody can learn about a person, how often attacks succeed, the noise on counts, rows
    needed, the price of taking part, and how accurate a model can be, each with its source.
    Epsilon is for one row, as in fit and count; the schema says what a person of several rows
    loses.

    Example: [bold]privet epsilon 0.1 1 3 --rows 20000 --plot epsilon.svg[/bold], or [bold]privet
    epsilon --posterior-below 0.2[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.domain import Schema
    from privet.epsilon import Setting, Trial, Wishes, choose, draw_epsilon, explain
    from privet.errors import ParameterError

    wishes = Wishes(
        posterior_below,
        record_below,
        attack_below,
        exact_count_below,
        price_below,
        margin_below,
        ratio_below,
    )
    if not epsilons and wishes == Wishes():
        raise ParameterError(
            "say which epsilon, such as privet epsilon 1, or what it should keep, such as "
            "--posterior-below 0.2"
        )
    if plot is not None:
        check_writable(plot, force=force)
    public = None if schema is None else Schema.read(schema)
    setting = Setting(
        rows,
        tuple(priors),
        false_alarms,
        tolerance,
        confidence,
        Trial(share, difference, level, power),
        cost,
        people,
        majority,
    )
    choices = None if wishes == Wishes() else choose(wishes, public, setting)
    explanations = [explain(one, public, setting) for one in epsilons or ()]
    if plot is not None:
        from privet.report.plots import save_figure

        ends = (
            []
            if choices is None
            else [end for end in (choices.smallest, choices.largest) if end is not None]
        )
        save_figure(draw_epsilon(epsilons or ends, public, setting), plot)
    if as_json:
        told = {
            "epsilons": [one.to_json() for one in explanations],
            "choice": None if choices is None else choices.to_json(),
        }
        typer.echo(json.dumps(told | ({} if plot is None else {"plot": str(plot)})))
        return
    _print_explanations(explanations, choices, wishes, public, setting)
    if plot is not None:
        typer.echo(f"drew {plot}")


def _print_explanations(
    found: list[Explanation],
    choices: Choices | None,
    wishes: Wishes,
    schema: Schema | None,
    setting: Setting,
) -> None:
    from rich.console import Console

    from privet.epsilon.wording import (
        ASK_FOR_MAJORITY,
        CAVEATS,
        SOURCES,
        WHAT_CAN_BE_LEARNT,
        describe_expected,
    )

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = max(console.width, 160)  # in a file or a pipe nothing is cut off
    console.print(_describe_setting(schema, setting), markup=False)
    if choices is not None:
        _print_choice(console, choices, wishes, setting)
    if found:
        side_by_side = max(1, (console.width - _SENTENCE) // _NUMBER)
        for start in range(0, len(found), side_by_side):
            console.print(_make_numbers_table(found[start : start + side_by_side], setting))
        if found[0].nearest and console.width < _NARROW:
            console.print(
                (
                    f"Accuracies on public tables like this one are shown in {_NARROW} columns, or "
                    "with --json."
                ),
                style="dim",
            )
        elif found[0].nearest:
            console.print(_make_nearest_table(found, short=console.width < _WIDE))
        else:
            console.print(
                "With --rows, or a schema that declares them, you also see how accurate a "
                "model can be.",
                style="dim",
            )
        if any(
            explanation.expected and not explanation.expected[0].tables for explanation in found
        ):
            console.print(
                "Rows and epsilon lie outside of what was measured, so accuracies are those of the "
                "nearest that were."
            )
        if found[0].expected:
            for explanation in found:
                console.print(describe_expected(explanation, setting), soft_wrap=True)
            console.print(WHAT_CAN_BE_LEARNT, soft_wrap=True)
            if setting.majority is None:
                console.print(ASK_FOR_MAJORITY, soft_wrap=True)
        for caveat in CAVEATS[: 2 if found[0].nearest else 1]:
            console.print(caveat, soft_wrap=True)
    for source in SOURCES:
        console.print(source, style="dim", soft_wrap=True, markup=False)


def _describe_setting(schema: Schema | None, setting: Setting) -> str:
    """What the numbers are about."""
    rows = setting.rows_of(schema)
    size = "A table" if rows is None else f"A table of {rows:,} rows"
    if schema is None:
        return f"{size}, one row per person. Epsilon is for one row added or removed."
    person = (
        "one row per person"
        if schema.rows_per_person == 1
        else f"at most {schema.rows_per_person:,} rows per person"
    )
    change = "replaced by another" if schema.neighbours == "replace" else "added or removed"
    attributes = len(schema.names)
    shape = f"{attributes:,} attribute{'s' * (attributes != 1)}, {schema.n_classes:,} classes"
    return (
        f"{size}, {shape}, {person}, who is {change}. Epsilon is for one row added or removed; the "
        "ledger charges for the person."
    )


def _make_numbers_table(found: list[Explanation], setting: Setting) -> Table:
    from rich import box
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from privet.epsilon.wording import format_epsilon, make_sections

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    view.add_column("")
    for explanation in found:
        view.add_column(
            f"epsilon {format_epsilon(explanation.losses.row)}", justify="right", no_wrap=True
        )
    for section in make_sections(found, setting):
        view.add_section()
        view.add_row(Text(section.title, style="bold"))
        for line in section.lines:
            view.add_row(Padding(Text(line.sentence), (0, 0, 0, 2)), *line.numbers)
    return view


def _make_nearest_table(found: list[Explanation], *, short: bool) -> Table:
    """Where there is little room, the columns without which an accuracy means nothing."""
    from rich import box
    from rich.table import Table

    from privet.epsilon import wording
    from privet.epsilon.expected import list_learners

    title = "Public tables like this one, and the accuracy there"
    view = Table(
        title=title,
        title_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0) if short else (0, 1),
    )
    view.add_column("data set", overflow="fold")
    facts = ("rows", "epsilon") if short else ("rows", "attributes", "classes", "epsilon")
    for column in (*facts, "most frequent class", "without noise", *list_learners()):
        view.add_column(column, justify="right", overflow="fold")
    lines = [
        line
        for one in found
        for line in one.nearest[: len(list_learners()) * (4 if len(found) == 1 else 2)]
    ]
    places = {(line.data, line.rows, line.epsilon): line for line in lines}
    for place, first in places.items():
        by = {line.learner: line for line in lines if (line.data, line.rows, line.epsilon) == place}
        told = {
            "rows": f"{first.rows:,}",
            "attributes": str(first.attributes),
            "classes": str(first.classes),
        }
        told["epsilon"] = wording.format_epsilon(first.epsilon)
        accuracies = (first.majority, first.best, *(by[name].accuracy for name in list_learners()))
        view.add_row(
            first.data, *(told[fact] for fact in facts), *map(wording.format_percent, accuracies)
        )
    return view


def _print_choice(console: Console, choices: Choices, wishes: Wishes, setting: Setting) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from privet.epsilon.wording import describe_wish, format_chosen_epsilon

    view = Table(title="Which epsilon", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    view.add_column("")
    view.add_column("epsilon", justify="right", no_wrap=True)
    for choice in choices.choices:
        view.add_row(
            Text(describe_wish(choice, wishes, setting)),
            f"{choice.bound} {format_chosen_epsilon(choice.epsilon, choice.bound)}",
        )
    console.print(view)
    if not choices.possible:
        console.print(
            "No epsilon does all of this. You need more rows, or must ask for less.", style="bold"
        )
    elif choices.largest is not None and choices.smallest is not None:
        low, high = (
            format_chosen_epsilon(choices.smallest, "at least"),
            format_chosen_epsilon(choices.largest, "at most"),
        )
        console.print(f"An epsilon from {low} to {high} does all of this.", style="bold")
