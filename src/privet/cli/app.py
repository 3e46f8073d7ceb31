"""Assemble all commands."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click
import typer
from typer.core import TyperGroup

import privet
from privet.cli import (
    anonymity,
    audit,
    count,
    curator,
    datasets,
    demo,
    epsilon,
    federation,
    fit,
    hide_given_passwords,
    ledger,
    merge,
    outsource,
    publish,
    relay,
    schema,
    show,
    sources,
)


class _Group(TyperGroup):
    """All commands; a word that is repeated because it is wrong may hold a password."""

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
    except click.UsageError as error:
        told = error.format_message()
        hidden = hide_given_passwords(told)
        if hidden == told:
            raise
        raise click.UsageError(hidden, error.ctx) from None


app = typer.Typer(
    name="privet",
    cls=_Group,
    help="Decision trees on tables about people, with a proof of what they give away.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
app.command("demo")(demo.demo)
app.command("fit")(fit.fit)
app.command("predict")(fit.predict)
app.command("evaluate")(fit.evaluate)
app.command("update")(merge.update)
app.command("merge")(merge.merge)
app.command("join")(merge.join)
app.command("show")(show.show)
app.command("plot")(show.plot)
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
app.add_typer(curator.app, name="curator")
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
