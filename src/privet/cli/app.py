"""Assemble all commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperGroup

import privet
from privet.cli import (
    anonymity,
    audit,
    count,
    curator_owner,
    datasets,
    demo,
    epsilon,
    evaluate,
    explain,
    federation,
    fit,
    hide_given_passwords,
    init,
    ledger,
    merge,
    outsource,
    publish,
    relay,
    schema,
    show,
    sources,
    sql,
)

# Typer comes with a Click of its own since 0.26, so nothing here may import Click.
_UsageError: Any = typer.BadParameter.__base__


class _Group(TyperGroup):
    """All commands; a word that is repeated because it is wrong may hold a password."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        join_help_lines(self)

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _hidden_passwords():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _hidden_passwords():
            return super().invoke(ctx)


@contextmanager
def _hidden_passwords() -> Iterator[None]:
    try:
        yield
    except _UsageError as error:
        told = error.format_message()
        hidden = hide_given_passwords(_say_once(told))
        if hidden == told:
            raise
        raise _UsageError(hidden, error.ctx) from None


def _say_once(told: str) -> str:
    """Return a message without advice that both libraries beneath have added."""
    sentences = re.split(r"(?<=[.?)]) ", told)
    return " ".join(dict.fromkeys(sentences))


def join_help_lines(command: Any) -> None:
    """Make each paragraph of a command's help one line, which a terminal of any width can wrap.

    The same for all commands of a group.
    """
    paragraphs = inspect.cleandoc(command.help or "").split("\n\n")
    command.help = "\n\n".join(" ".join(text.split()) for text in paragraphs)
    for inner in getattr(command, "commands", {}).values():
        join_help_lines(inner)


app = typer.Typer(
    name="privet",
    cls=_Group,
    help="Decision trees on tables about people, with a proof of what they give away.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("init")(init.init)
app.command("fit")(fit.fit)
app.command("predict")(fit.predict)
app.command("evaluate")(evaluate.evaluate)
app.command("update")(merge.update)
app.command("merge")(merge.merge)
app.command("join")(merge.join)
app.command("show")(show.show)
app.command("plot")(show.plot)
app.command("explain")(explain.explain)
app.command("card")(show.card)
app.command("export")(show.export)
app.command("count")(count.count)
app.command("quantile")(count.quantile)
app.command("anonymity")(anonymity.anonymity)
app.command("epsilon")(epsilon.epsilon)
app.command("audit")(audit.audit)
app.command("sources")(sources.sources)
app.add_typer(schema.app, name="schema")
app.add_typer(datasets.app, name="datasets")
app.add_typer(ledger.app, name="ledger")
app.add_typer(curator_owner.app, name="curator")
app.add_typer(sql.app, name="sql")
app.add_typer(relay.app, name="relay")
app.add_typer(federation.app, name="federation")
app.add_typer(outsource.app, name="outsource")
app.add_typer(publish.app, name="publish")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"privet {privet.__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Options of the command itself."""
