"""``privet publish``: data instead of answers."""

from __future__ import annotations

import typer

from privet.cli.publish import local, synthetic

app = typer.Typer(
    help=(
        "Release data instead of answers: a synthetic table, or records that people randomised "
        "themselves."
    ),
    no_args_is_help=True,
)
app.command("synthetic")(synthetic.synthetic)
app.command("check")(synthetic.check)
app.command("randomizer")(local.randomizer)
app.command("randomize")(local.randomize)
app.command("learn")(local.learn)
