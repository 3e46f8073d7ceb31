"""``privet outsource``: a table at a server that must not understand it."""

from __future__ import annotations

import typer

from privet.cli.outsource import client, owner, server

app = typer.Typer(
    help="Store a table at a server that must not link people to a sensitive value, and learn "
    "trees there. This is anatomization, not differential privacy.",
    no_args_is_help=True,
)
app.add_typer(owner.key_app, name="key")
app.command("split")(owner.split)
app.command("verify")(owner.verify)
app.command("attack")(owner.attack)
app.command("init")(server.init)
app.add_typer(server.client_app, name="client")
app.command("serve")(server.serve)
app.command("limits")(server.limits)
app.command("status")(client.status)
app.command("learn")(client.learn)
app.command("predict")(client.predict)
app.command("naive")(client.naive)
app.command("baseline")(client.baseline)
app.command("insert")(client.insert)
app.command("flush")(client.flush)
app.command("delete")(client.delete)
app.command("rotate")(client.rotate)
app.command("export")(client.export)
app.command("card")(client.card)

__all__ = ["app"]
