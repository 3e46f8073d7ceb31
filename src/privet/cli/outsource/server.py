"""The server's commands. They need no key, and could not use one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from privet.outsource.server.state import ServerState

client_app = typer.Typer(help="Who may use the table.", no_args_is_help=True)
HOME = typer.Option(
    Path("outsourced"), "--home", envvar="PRIVET_OUTSOURCED", help="The folder of the server."
)


def init(
    folder: Path = typer.Argument(help="The folder that the owner's 'split' wrote."),
    store: str | None = typer.Option(
        None,
        help=(
            "postgresql://...?schema=NAME to keep the halves there; by default a DuckDB file in "
            "the home."
        ),
    ),
    home: Path = HOME,
) -> None:
    """Make the folder of a server and load the two halves of a table. What is not l-diverse is
    refused.

    Example: [bold]privet outsource init halves --home outsourced[/bold]
    """
    from privet.cli.asking import working
    from privet.outsource.server.state import ServerState

    with working("loading"):
        made = ServerState.make(home, folder, store)
    typer.echo(
        f"made {made.path}; let a client in with 'privet outsource client add NAME --home {home}'"
    )


ROLE = typer.Option(
    "key",
    help="key: for those who have the key, everything; ask: base trees and their predictions only.",
)


@client_app.command("add")
def add_client(
    name: str = typer.Argument(help="Who."), role: str = ROLE, home: Path = HOME
) -> None:
    """Let a client in. Their token is shown this once.

    Example: [bold]privet outsource client add ada[/bold]
    """
    token = _open(home).add_client(name, _check_role(role))
    typer.echo(f"the token of {name!r}, shown this once: {token}")


@client_app.command("list")
def list_clients(home: Path = HOME) -> None:
    """List the clients.

    Example: [bold]privet outsource client list[/bold]
    """
    state = _open(home)
    for name in state.accounts.analysts():
        typer.echo(name if state.roles.of(name) == "key" else f"{name} (base trees only)")


@client_app.command("role")
def set_role(
    name: str = typer.Argument(help="Who."),
    role: str = typer.Argument(help="key: everything; ask: base trees and their predictions."),
    home: Path = HOME,
) -> None:
    """Say what a client's token is good for, from the next request on.

    Example: [bold]privet outsource client role ada ask[/bold]
    """
    _open(home).set_role(name, _check_role(role))
    typer.echo(f"client {name!r} has the role {role!r}")


@client_app.command("token")
def new_token(name: str = typer.Argument(help="Who."), home: Path = HOME) -> None:
    """Give a client another token; the one before ends at once.

    Example: [bold]privet outsource client token ada[/bold]
    """
    typer.echo(f"the token of {name!r}, shown this once: {_open(home).accounts.new_token(name)}")


@client_app.command("revoke")
def revoke_client(name: str = typer.Argument(help="Who."), home: Path = HOME) -> None:
    """Let a client in no more, at once.

    Example: [bold]privet outsource client revoke ada[/bold]
    """
    _open(home).accounts.revoke(name)
    typer.echo(f"client {name!r} is not let in any more")


def serve(
    host: str = typer.Option(
        "127.0.0.1", help="The address to listen at; by default this machine only."
    ),
    port: int = typer.Option(8100, help="The port; 0 takes a free one.", min=0, max=65535),
    cert: Path | None = typer.Option(None, help="The TLS certificate (PEM)."),
    key: Path | None = typer.Option(
        None, help="The private key of the certificate (PEM); not the key of the table."
    ),
    behind_tls: bool = typer.Option(
        False, "--behind-tls", help="Something in front does TLS: listen without it on any address."
    ),
    rate: float | None = typer.Option(
        None,
        help="Requests a second that one client may send, in place of the home's limit.",
        min=0.01,
    ),
    home: Path = HOME,
) -> None:
    """Serve the two halves, base trees and what clients sealed, over HTTP.

    Example: [bold]privet outsource serve --port 8100[/bold]
    """
    from dataclasses import replace

    from privet.outsource.server.serve import run
    from privet.outsource.server.state import ServerLimits
    from privet.service.limits import read_limits

    state = _open(home)
    allowed = read_limits(ServerLimits, home)
    if rate is not None:
        allowed = replace(allowed, rate=rate, burst=4 * rate)
    run(state, allowed, host, port, cert, key, behind_tls=behind_tls)


def limits(
    changes: list[str] = typer.Option(
        [], "--set", help="Set a limit: NAME=VALUE. The server must be started anew."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
    home: Path = HOME,
) -> None:
    """Show the limits of the server, and what happens when they are reached; or set them.

    Example: [bold]privet outsource limits --set rate=500[/bold]
    """
    from privet.cli.limits import show_limits
    from privet.outsource.server.state import ServerLimits

    _open(home)
    show_limits(ServerLimits, home, changes, as_json=as_json)


def _check_role(role: str) -> Any:
    from privet._validate import check_name
    from privet.outsource.server.roles import ROLES

    return check_name("role", role, ROLES)


def _open(home: Path) -> ServerState:
    from privet.outsource.server.state import ServerState

    return ServerState.open(home)
