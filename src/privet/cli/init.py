"""``privet init``: an interview that ends with a schema, for people who never wrote one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.cli.options import BUDGET, FORCE, LEDGER, ROWS
from privet.cli.schema import EXCLUDE, INCLUDE, PERSON
from privet.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from rich.console import Console

    from privet.domain.drafting.catalog import Outline
    from privet.domain.drafting.drafted import Draft

_WELCOME = """\
Privet must know what each column [b]can[/b] hold before it looks at anybody's row: which values, \
which bounds. Whatever it learns from the rows gives a little of them away, so this is written \
down first. It is public: write nothing that only your rows tell.
"""
_WAYS = {
    "1": "I have a file with rows that anybody may see (a public sample).",
    "2": "I know the table. Ask me about its columns.",
    "3": "Find it out from the rows, with noise, and pay for it from the privacy budget.",
}


@dataclass
class Interview:
    """What was answered so far. ``ask`` is False where every question has its default."""

    table: str
    console: Console
    ask: bool
    facts: dict[str, Any]
    columns: dict[str, str] = field(default_factory=dict)
    declared: dict[str, Any] = field(default_factory=dict)
    sample: Any = None
    payment: dict[str, Any] = field(default_factory=dict)

    def outline(self) -> Outline:
        """Return what is known and what is blank, if rows are not looked at."""
        from privet.describe import outline

        return outline(self.table, columns=self.columns, **self.facts)

    def draft(self) -> Draft:
        """Return the draft that follows from the answers."""
        from privet.describe import draft_schema

        told = {**self.facts, **self.declared, "columns": self.columns}
        return draft_schema(self.table, sample=self.sample, **told, **self.payment)


def init(
    table: str = ROWS,
    target: str | None = typer.Option(
        None, "--target", "-t", help="The column to predict; by default the last one."
    ),
    sample: str | None = typer.Option(
        None, "--sample", help="A file with PUBLIC rows of the same kind: its values are written."
    ),
    column: list[str] = typer.Option(
        [],
        "--column",
        "-c",
        help="What a column holds, as NAME=0..120, NAME=a|b|c, NAME=low<high, NAME=yes/no, "
        "NAME=2015-01-01..2024-12-31 or NAME=skip. Can be given several times.",
    ),
    classes: str | None = typer.Option(
        None, "--classes", help="The values of the target, as no|yes."
    ),
    exclude: list[str] = EXCLUDE,
    include: list[str] = INCLUDE,
    person: str | None = PERSON,
    rows_per_person: int | None = typer.Option(
        None, "--rows-per-person", help="How many rows one person may have at most."
    ),
    rows: int | None = typer.Option(
        None, "--rows", "-n", help="The number of rows, if it may be public."
    ),
    neighbours: str | None = typer.Option(
        None, "--neighbours", help="'add-remove' or 'replace': what the promise is for."
    ),
    epsilon: str | None = typer.Option(
        None,
        "--epsilon",
        "-e",
        help="Find what is still unknown from the rows, with noise, for this epsilon of the "
        "table's budget.",
    ),
    dictionary: Path | None = typer.Option(
        None, "--dictionary", help="With --epsilon: PUBLIC words that texts may be, one a line."
    ),
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    yes: bool = typer.Option(False, "--yes", "-y", help="Ask nothing: for scripts."),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Where to write it; by default NAME.schema.json."
    ),
    force: bool = FORCE,
) -> None:
    """Describe a table: answer a few questions, and get the schema file that all else needs.

    No row is read, unless you pay for it with --epsilon. Names, types, labels and rules are looked
    at; a public sample or your answers tell the rest. Identifiers are left out.

    Example: [bold]privet init people.csv --sample public.csv --target left --yes[/bold]
    """
    from rich.console import Console

    from privet.cli.asking import check_writable
    from privet.cli.compiling import compile_ahead
    from privet.cli.options import check_apart

    written = _default_output(table) if output is None else output
    check_writable(written, force=force)
    check_apart([written], table, None)
    facts: dict[str, Any] = {
        "target": target,
        "classes": () if classes is None else _read_classes("--classes", classes),
        "exclude": exclude,
        "include": include,
        "person": person,
    }
    interview = Interview(table, Console(stderr=True), not yes, facts, _read_columns(column))
    interview.outline()  # all that is wrong, before any question
    compile_ahead()
    if not yes:
        interview.console.print(_WELCOME, highlight=False)
    epsilon = _choose_way(interview, sample, epsilon)
    if not yes:
        _ask_who(interview, target, person, rows_per_person)
    declared = {"rows_per_person": rows_per_person, "n_rows": rows, "neighbours": neighbours}
    interview.declared |= {name: fact for name, fact in declared.items() if fact is not None}
    if not yes and interview.sample is None and epsilon is None:
        _fill_blanks(interview)
    if epsilon is not None:
        if not yes:
            _ask_classes(interview, unknown="find")
        _prepare_payment(interview, epsilon, budget, ledger, dictionary)
        draft = _pay(interview)
    else:
        draft = _review(interview, written)
    draft.schema.write(written)
    for line in draft.describe_left_out() if yes else ():
        typer.echo(f"left out: {line}", err=True)
    n_attributes = len(draft.schema.names)
    what = f"{n_attributes} attribute{'s' * (n_attributes > 1)}, {draft.schema.n_classes} classes"
    typer.echo(f"{written}: {what}")
    typer.echo(f"next: privet fit {table} --schema {written} --epsilon 1", err=True)


def _default_output(table: str) -> Path:
    """Return the schema file beside a table's file; for a table in a database, one by its name."""
    from privet.tables.open import open_table

    if "://" in table:
        return Path(f"{open_table(table).name}.schema.json")
    path = Path(table)
    return path.with_name(f"{path.name.partition('.')[0] or path.name}.schema.json")


def _read_columns(column: list[str]) -> dict[str, str]:
    answers = {}
    for said in column:
        name, equals, answer = said.partition("=")
        if not equals:
            raise ParameterError(f"--column {said}: write it as NAME=ANSWER, such as age=0..120")
        answers[name] = answer
    return answers


def _choose_way(interview: Interview, sample: str | None, epsilon: str | None) -> str | None:
    """Find out where public facts come from, and read the public sample if that is it.

    Returns what is to be paid.
    """
    from privet.tables.open import read_public

    if sample is not None and epsilon is not None:
        raise ParameterError("give --sample or --epsilon, not both: one of them suffices")
    if sample is None and epsilon is None and interview.ask:
        interview.console.print("How do you know what the columns can hold?")
        for key, what in _WAYS.items():
            interview.console.print(f"  [b]{key}[/b]  {what}", highlight=False)
        way = _ask("Your choice", "2", partial(_expect, allowed=_WAYS))
        if way == "1":
            sample = _ask(
                "The file with public rows", None, partial(_check_sample, interview.table)
            )
        if way == "3":
            epsilon = _ask("The epsilon to pay, a small part of the budget", "0.1", _check_epsilon)
    if sample is not None:
        _check_sample(interview.table, sample)
        interview.sample = read_public(sample)
    return epsilon


def _prepare_payment(
    interview: Interview,
    epsilon: str,
    budget: str | None,
    ledger: Path | None,
    dictionary: Path | None,
) -> None:
    """Open the account that is charged, as a fit does, and read the public words."""
    from privet.cli.asking import open_account

    words = [] if dictionary is None else dictionary.read_text(encoding="utf-8").split("\n")
    book, cap = open_account(interview.table, budget, ledger)
    interview.payment = {
        "epsilon": epsilon,
        "ledger": book,
        "budget": cap,
        "dictionary": [word.strip() for word in words if word.strip()],
    }


def _pay(interview: Interview) -> Draft:
    """Say what is to be paid for, and find it."""
    from privet.curator.survey import expect_needs

    told = interview.outline()
    wanted = [*told.blanks, *(() if told.classes else (f"the classes of {told.wishes.target}",))]
    interview.console.print(
        f"epsilon {interview.payment['epsilon']} pays for: {', '.join(wanted)}",
        highlight=False,
        markup=False,
    )
    text, of_class = expect_needs(
        len(told.blanks), interview.payment["epsilon"], classes_known=bool(told.classes)
    )
    needs = [f"a text of a column must be in about {text:.0f} rows"] if told.blanks else []
    needs += [] if told.classes else [f"a class in about {of_class:.0f}"]
    interview.console.print(
        f"To be found for that, {', and '.join(needs)}; common words in half of that.",
        highlight=False,
        markup=False,
    )
    if interview.ask and not typer.confirm("Charge it now?", default=True, err=True):
        raise ParameterError("nothing was charged, and nothing written")
    draft = interview.draft()
    if interview.ask:
        _show(interview.console, draft)
    return draft


def _ask_who(
    interview: Interview, target: str | None, person: str | None, rows_per_person: int | None
) -> None:
    """Ask for the target and the person, unless options said so."""
    told = interview.outline()
    names = list(told.columns)
    interview.console.print(f"Columns: {', '.join(names)}", highlight=False, markup=False)
    if target is None:
        interview.facts["target"] = _ask(
            "Which column do you want to predict",
            told.wishes.target,
            partial(_expect, allowed=names),
        )
    if person is None:
        said = _ask(
            "If one person can have several rows, which column says whose row it is",
            "none",
            partial(_expect, allowed=[*names, "none"]),
        )
        if said != "none":
            interview.facts["person"] = said
            if rows_per_person is None:
                interview.declared["rows_per_person"] = int(
                    _ask("How many rows of one person count at most", "1", _check_count)
                )


def _fill_blanks(interview: Interview) -> None:
    """Ask for what no catalog tells."""
    from privet.domain.drafting.answers import FORMS

    told = interview.outline()
    if told.blanks:
        interview.console.print(f"What do these columns hold? Answer with {FORMS}.", markup=False)
    for name in told.blanks:
        interview.columns[name] = _ask(f"  {name}", "skip", partial(_check_answer, name))
    _ask_classes(interview)


def _ask_classes(interview: Interview, unknown: str | None = None) -> None:
    """Ask for the classes unless they are known; the answer ``unknown`` leaves them so."""
    told = interview.outline()
    if told.classes:
        return
    question = f"The values of {told.wishes.target!r}, as no|yes"
    question += f", or {unknown} to pay for them" if unknown else ""
    said = _ask(question, unknown, partial(_check_classes, unknown))
    if said != unknown:
        interview.facts["classes"] = _read_classes("classes", said)


def _review(interview: Interview, written: Path) -> Draft:
    """Show the draft, and let its columns be changed, until it is right."""
    from privet.domain.drafting.answers import FORMS

    while True:
        draft = interview.draft()
        if not interview.ask:
            return draft
        _show(interview.console, draft)
        names = [*draft.schema.names, *draft.left_out]
        said = _ask(
            f"Write {written}? Enter for yes, or the name of a column to change",
            "yes",
            partial(_expect, allowed=[*names, "yes"]),
        )
        if said == "yes":
            return draft
        interview.console.print(f"Answer with {FORMS}.", markup=False)
        interview.columns[said] = _ask(f"  {said}", None, partial(_check_answer, said))


def _show(console: Console, draft: Draft) -> None:
    from rich.markup import escape
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    shown.add_column("column", overflow="fold")
    shown.add_column("what it can hold", overflow="fold")
    for name, attribute in draft.schema.attributes.items():
        kind, domain = attribute.describe(limit=8)
        shown.add_row(escape(name), escape(f"{kind}: {domain}"))
    for name, why in draft.left_out.items():
        shown.add_row(f"[dim]{escape(name)}[/dim]", f"[dim]left out: {escape(why)}[/dim]")
    classes = ", ".join(draft.schema.label.labels)
    shown.add_row(f"[b]{escape(draft.schema.target)}[/b]", f"to predict: {escape(classes)}")
    console.print(shown)


# -- questions --


def _ask(question: str, default: str | None, check: Callable[[str], str]) -> str:
    """Ask until the answer can be used."""
    while True:
        said = typer.prompt(question, default=default, err=True)
        try:
            return check(str(said).strip())
        except (ParameterError, SchemaError) as error:
            typer.echo(f"  {error}", err=True)


def _expect(said: str, allowed: Any) -> str:
    from privet._validate import list_words, suggest

    if said in allowed:
        return said
    meant = suggest(said, allowed)
    raise ParameterError(
        f"{said!r} is none of {list_words(list(allowed))}" + (f"; {meant}" if meant else "")
    )


def _check_answer(column: str, said: str) -> str:
    from privet.domain.drafting.answers import read_answer

    read_answer(column, said)
    return said


def _check_epsilon(said: str) -> str:
    from privet.accounting.cost import parse_epsilon

    parse_epsilon("epsilon", said)
    return said


def _check_sample(table: str, said: str) -> str:
    from privet.cli.options import check_public

    if "://" not in said and not Path(said).is_file():
        raise ParameterError(f"there is no file {said}")
    check_public(
        Path(said),
        table,
        "show rows that anybody may see, or leave --sample out: --column says what a column holds, "
        "and --epsilon pays to find out",
    )
    return said


def _check_count(said: str) -> str:
    if not said.isdecimal() or int(said) < 1:
        raise ParameterError(f"{said!r} is no number of rows; answer with 1 or more")
    return said


def _check_classes(unknown: str | None, said: str) -> str:
    if said != unknown:
        _read_classes("classes", said)
    return said


def _read_classes(what: str, said: str) -> list[Any]:
    from privet.domain.drafting.answers import read_values

    values = read_values(said)
    if len(values) < 2:
        raise ParameterError(
            f"{what}: {said!r} is no list of classes; write | between them, as in no|yes"
        )
    return values
