"""``privet curator``: the owner's side of a running curator."""

from __future__ import annotations

import json
import os
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import ROWS
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.accounting.cost import Budget
    from privet.service.owner.desk import Desk, Outcome
    from privet.service.state import ServiceState

app = typer.Typer(
    help="Let analysts ask about tables that they may not see: accounts, budgets, the service.",
    no_args_is_help=True,
)
dataset_app = typer.Typer(help="The tables that may be asked about.", no_args_is_help=True)
analyst_app = typer.Typer(help="Who may ask.", no_args_is_help=True)
app.add_typer(dataset_app, name="dataset")
app.add_typer(analyst_app, name="analyst")

HOME = typer.Option(
    Path("curator"), "--home", envvar="PRIVET_CURATOR", help="The folder of the curator."
)
EPSILON = typer.Option(None, "--epsilon", "-e", help="In epsilon, such as 1 or 1/3.")
RHO = typer.Option(None, "--rho", help="In rho (zCDP), instead of epsilon.")
WHY = typer.Option("", "--why", help="The reason, for the audit log.")
DELTA = typer.Option(None, "--delta", help="With epsilon: as much rho as keeps (epsilon, delta).")
TOKEN_UNTIL = typer.Option(
    "never",
    "--until",
    help="When the token ends: a date (as it begins, in UTC), an ISO time, a span such as 90d, or "
    "never.",
)


@app.command("init")
def init(
    home: Path = HOME,
    ledger: str | None = typer.Option(
        None, help="A postgresql:// URL for the ledger; by default an SQLite file in the folder."
    ),
    least_epsilon: str = typer.Option(
        "1/1000000", help="What every query must ask for at least, for one row added or removed."
    ),
) -> None:
    """Make the folder of a curator, with accounts and a ledger.

    Example: [bold]privet curator init --home curator[/bold]
    """
    from privet.service.state import ServiceState

    made, token = ServiceState.make(home, ledger, least_epsilon)
    with open_desk(home).changing("home made", "the home of a curator was made"):
        pass
    typer.echo(f"made {made.path}")
    typer.echo(f"the owner's token for the page, shown this once: {token}")


@dataset_app.command("add")
def add_dataset(
    name: str = typer.Argument(help="What analysts call it."),
    table: str = ROWS,
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema of the table (JSON)."
    ),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    sql: bool = typer.Option(
        False,
        "--sql",
        help="Let SQL clients ask too; table and ledger must be in one PostgreSQL database.",
    ),
    public_counts: bool = typer.Option(
        False,
        "--public-counts",
        help=(
            "With --sql: you know that every login reads exact counts of partitions, heirs, "
            "partial indexes and materialized views in the catalog."
        ),
    ),
    same_rows: bool = typer.Option(
        False,
        "--same-rows",
        help="You know that another data set has the same rows: their charges do not add up.",
    ),
    check: bool = typer.Option(
        True,
        "--check/--no-check",
        help="Show you, and nobody else, rows that do not fit the schema.",
    ),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Register a table with its schema and the budget of all analysts together.

    Shows you, and nobody else, how the rows fit the schema, unless they all do.

    Example: [bold]privet curator dataset add people duckdb:///people.db?table=people --schema
    people.schema.json --epsilon 3[/bold]
    """
    from privet.cli.asking import show_table_check
    from privet.domain import Schema
    from privet.service.owner.datasets import add_dataset as add

    public, budget = Schema.read(schema), parse_budget(epsilon, rho, delta)
    desk = open_desk(home)
    if check:
        show_table_check(table, public)
    tell(
        add(
            desk,
            name,
            table,
            public,
            budget,
            sql=sql,
            public_counts=public_counts,
            same_rows=same_rows,
            why=why,
        )
    )


@dataset_app.command("list")
def list_datasets(home: Path = HOME) -> None:
    """List the tables, and what is left of their budgets.

    Example: [bold]privet curator dataset list[/bold]
    """
    from rich.console import Console

    from privet.cli.printing import budget_table

    state = _open(home)
    served = {dataset.name: dataset for dataset in state.accounts.datasets()}
    Console().print(budget_table(state.ledger, list(served)))
    for name, one in served.items():
        if one.paused is not None:
            since, why = one.paused
            typer.echo(f"{name!r} is paused since {since[:16]} UTC{f': {why}' if why else ''}")
    removed = [name for name in state.ledger.datasets() if name not in served]
    if removed:
        Console().print(budget_table(state.ledger, removed, "No longer served; what was spent"))
    for dataset, other, _ in state.accounts.overlaps():
        typer.echo(f"{dataset!r} has rows of {other!r}: what is spent on them does not add up")
    typer.echo(f"Every query costs at least {float(state.least_epsilon):g} (epsilon).")


@dataset_app.command("remove")
def remove_dataset(
    name: str = typer.Argument(help="The data set."), why: str = WHY, home: Path = HOME
) -> None:
    """No longer answer questions about a table. What was spent on it stays in the ledger.

    Example: [bold]privet curator dataset remove people[/bold]
    """
    from privet.service.owner.datasets import remove_dataset as remove

    tell(remove(open_desk(home), name, why))


@analyst_app.command("add")
def add_analyst(
    name: str = typer.Argument(help="Who."),
    same_person: bool = typer.Option(
        False, "--same-person", help="They were removed, and come back: what they spent counts on."
    ),
    until: str = TOKEN_UNTIL,
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Register an analyst. Their token is shown this once.

    Example: [bold]privet curator analyst add ada --until 90d[/bold]
    """
    from privet.service.owner.people import add_analyst as add

    made = add(open_desk(home), name, same_person=same_person, until=until, why=why)
    tell_token(made, repr(name))


@analyst_app.command("token")
def new_token(
    name: str | None = typer.Argument(None, help="Who."),
    owner: bool = typer.Option(False, "--owner", help="The owner's own token, for the page."),
    overlap: str | None = typer.Option(
        None,
        help="How long the token before stays valid, such as 2h or 7d; by default it ends at once.",
    ),
    until: str = TOKEN_UNTIL,
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Give an analyst another token. The one before ends at once, or after --overlap, so that their
    fits can go on meanwhile.

    Example: [bold]privet curator analyst token ada --overlap 2h[/bold]
    """
    from privet.service.accounts import FIRST_OWNER
    from privet.service.owner.desk import parse_span
    from privet.service.owner.people import replace_staff_token, replace_token

    if owner == (name is not None):
        raise ParameterError("give the name of an analyst, or --owner")
    if name is None and overlap is not None:
        raise ParameterError("--overlap is for the token of an analyst")
    desk = open_desk(home)
    if name is None:
        made, whose = replace_staff_token(desk, FIRST_OWNER.name, why, until), ""
    else:
        span = timedelta(0) if overlap is None else parse_span("--overlap", overlap)
        made, whose = replace_token(desk, name, why, span, until), f" of {name!r}"
    typer.echo(f"the new token{whose}, shown this once: {made.token}")
    for warning in made.warnings:
        typer.echo(warning)


@analyst_app.command("role")
def give_role(
    name: str = typer.Argument(help="Who."),
    role: str = typer.Argument(help="Their login on the PostgreSQL server that has the ledger."),
    home: Path = HOME,
) -> None:
    """Let a role of the database ask from SQL as an analyst, about the data sets that are granted
    to them.

    Example: [bold]privet curator analyst role ada ada_login[/bold]
    """
    from privet.service.owner.people import give_role as give

    tell(give(open_desk(home), name, role))


@analyst_app.command("list")
def list_analysts(home: Path = HOME) -> None:
    """List the analysts, what they may ask about, what they have left, and tokens that end.

    Example: [bold]privet curator analyst list[/bold]
    """
    from rich.console import Console

    from privet.cli.printing import grants_table
    from privet.service.token_ends import describe_end

    state = _open(home)
    accounts = state.accounts
    Console().print(grants_table(state.ledger, accounts.analysts(), accounts.grants()))
    for person, ends in accounts.token_ends().items():
        if person.role == "analyst":
            typer.echo(f"the token of {person.name!r} {describe_end(ends, accounts.now())}")


@app.command("grant")
def grant(
    analyst: str = typer.Argument(help="Who may ask."),
    dataset: str = typer.Argument(help="About which data set."),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    until: str | None = typer.Option(
        None,
        help="When the grant ends: a date (as it begins, in UTC), an ISO time, a span such as 30d, "
        "or never. A new grant has no end by default.",
    ),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Let an analyst ask about a data set, up to a budget of their own in all. Granting again
    changes what you give, the budget or the end, and leaves the other.

    Example: [bold]privet curator grant ada people --epsilon 1 --until 30d[/bold]
    """
    from privet.service.owner.rights import grant as give

    given = epsilon is not None or rho is not None or delta is not None
    budget = parse_budget(epsilon, rho, delta) if given else None
    tell(give(open_desk(home), analyst, dataset, budget, until, why))


@app.command("revoke")
def revoke(
    analyst: str = typer.Argument(help="Who may no longer ask."),
    dataset: str | None = typer.Argument(
        None, help="About which data set; by default any, and the token ends."
    ),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Take back a grant, or all grants of an analyst and their token. Acts at once.

    Example: [bold]privet curator revoke ada people[/bold]
    """
    from privet.service.owner.rights import revoke as take_back

    tell(take_back(open_desk(home), analyst, dataset, why))


@app.command("ledger")
def ledger(
    dataset: str | None = typer.Option(None, help="Only this data set."),
    analyst: str | None = typer.Option(None, help="Only what this analyst asked."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
    as_csv: bool = typer.Option(
        False, "--csv", help="Print all lines as CSV: charges, caps and reservations."
    ),
    home: Path = HOME,
) -> None:
    """Show the charges, and what is left. Charges without an answer are marked.

    Example: [bold]privet curator ledger --analyst ada[/bold]
    """
    from privet.accounting.ledger.journal import entry_to
    from privet.cli.printing import budget_table, grants_table, ledger_table, reservations_table

    if as_csv:
        from privet.service.owner.history import export_ledger

        typer.echo(export_ledger(open_desk(home), "csv", dataset, analyst), nl=False)
        return
    state = _open(home)
    entries = state.ledger.entries(dataset, analyst)
    unanswered = state.ledger.unanswered()
    if as_json:
        for entry in entries:
            relation = state.ledger.relation(entry.dataset)
            whom = {} if relation is None else relation.to_json()
            answered = entry.number not in unanswered
            typer.echo(json.dumps({**entry_to(entry), "answered": answered, **whom}))
        return
    from rich.console import Console

    console = Console()
    console.print(ledger_table(entries, unanswered))
    open_ones = state.ledger.reservations(dataset, analyst, open_only=True)
    if open_ones:
        console.print(reservations_table(open_ones))
    console.print(
        budget_table(
            state.ledger, [name for name in state.ledger.datasets() if dataset in (None, name)]
        )
    )
    console.print(grants_table(state.ledger, state.accounts.analysts(), state.accounts.grants()))


@app.command("cancel")
def cancel(
    analyst: str = typer.Argument(help="Whose reservation it is."),
    key: str = typer.Argument(help="Its key, as 'privet curator ledger' has it."),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Free what an analyst has set aside for a fit. What was charged stays charged, and the fit
    cannot go on.

    Example: [bold]privet curator cancel ada fit-5a3f...[/bold]
    """
    from privet.service.owner.rights import cancel_reservation

    tell(cancel_reservation(open_desk(home), analyst, key, why))


@app.command("verify")
def verify(
    receipt: list[str] = typer.Option(
        [], "--receipt", help="A receipt that an answer carried, or a file with one per line."
    ),
    witness: Path | None = typer.Option(
        None, help="Another witness file, such as one on another disk."
    ),
    new_witness: bool = typer.Option(
        False, "--new-witness", help="Begin this witness file: it does not exist yet."
    ),
    home: Path = HOME,
) -> None:
    """Check that the ledger is what it was: nothing edited, removed, moved, cut off, or restored
    from a backup. Exit code 1 if it is not.

    Example: [bold]privet curator verify --receipt receipts.txt[/bold]
    """
    from privet.accounting.ledger import Receipt, Witness, verify

    state = _open(home)
    check_witness(witness, new=new_witness)
    receipts = [Receipt.read(text) for one in receipt for text in _read_receipts(one)]
    problems = verify(state.ledger, state.witness, receipts)
    if witness is not None:
        problems += [f"{witness}: {one}" for one in verify(state.ledger, Witness(witness))]
    if problems:
        for one in dict.fromkeys(problems):
            typer.echo(f"privet: {one}", err=True)
        raise typer.Exit(1)
    lines = sum(1 for _ in state.ledger.journal())
    told = f", {len(receipts)} receipts fit" if receipts else ""
    typer.echo(f"the ledger is whole: {lines} lines{told}")


def check_witness(witness: Path | None, *, new: bool) -> None:
    """A name that is typed wrongly must not begin a witness that has seen nothing."""
    if witness is None:
        if new:
            raise ParameterError("--new-witness begins a file; say which with --witness FILE")
    elif new and witness.exists():
        raise ParameterError(f"the witness {witness} exists already; leave --new-witness out")
    elif not new and not witness.is_file():
        raise ParameterError(
            f"there is no witness file {witness}; check its name, or begin it with --new-witness"
        )


@app.command("serve")
def serve(
    ctx: typer.Context,
    config: Path | None = typer.Option(
        None,
        "--config",
        envvar="PRIVET_CONFIG",
        help="Settings and limits (TOML); the environment and these options stand above it.",
    ),
    host: str | None = typer.Option(
        None, help="The address to listen at; by default this machine only (127.0.0.1)."
    ),
    port: int | None = typer.Option(
        None, help="The port, by default 8000; 0 takes a free one.", min=0, max=65535
    ),
    cert: Path | None = typer.Option(None, help="The TLS certificate (PEM)."),
    key: Path | None = typer.Option(None, help="The private key of the certificate (PEM)."),
    behind_tls: bool | None = typer.Option(
        None,
        "--behind-tls/--no-behind-tls",
        help="Something in front does TLS: listen without it on any address.",
    ),
    log: str | None = typer.Option(None, help="How logs are written: text (by default) or json."),
    witness: Path | None = typer.Option(
        None, help="Another witness of the ledger, on another disk, which must exist."
    ),
    metrics_token_file: Path | None = typer.Option(
        None,
        "--metrics-token",
        help="The file with the token for /metrics; without one, there are no metrics.",
    ),
    check: bool = typer.Option(
        False, "--check", help="Show the settings and where each comes from, and do not serve."
    ),
    rate: float | None = typer.Option(
        None,
        help="Requests a second that one analyst may send, in place of the home's limit.",
        min=0.01,
    ),
    home: Path | None = typer.Option(
        None, "--home", envvar="PRIVET_CURATOR", help="The folder of the curator."
    ),
) -> None:
    """Serve the data sets over HTTP, and the page at /. A ledger that does not verify is not
    served.

    Example: [bold]privet curator serve --port 8000[/bold]
    """
    from dataclasses import replace

    from privet.cli.settings import show_settings
    from privet.service.limits import Limits, read_limits
    from privet.service.serve import run
    from privet.service.settings import read_settings

    named = ctx.get_parameter_source("home")
    given = {
        # what the environment says is read with all else of it, and told apart by --check
        "home": None if named is not None and named.name == "ENVIRONMENT" else home,
        "host": host,
        "port": port,
        "cert": cert,
        "key": key,
        "behind_tls": behind_tls,
        "log": log,
        "metrics_token_file": metrics_token_file,
        "witness": witness,
    }
    settings = read_settings(config, os.environ, given)
    state = _open(settings.home)
    allowed = settings.limits_over(read_limits(Limits, settings.home))
    if rate is not None:
        allowed = replace(allowed, rate=rate, burst=4 * rate)
    if check:
        show_settings(state, settings, allowed)
    else:
        run(state, settings, allowed)


@app.command("backup")
def backup(
    folder: Path = typer.Argument(help="The new folder for the copy."), home: Path = HOME
) -> None:
    """Copy the home to a new folder, while it is served. To restore it, put the copy in the place
    of the home and verify it.

    Example: [bold]privet curator backup /mnt/backups/curator-2026-11-18[/bold]
    """
    from privet.service.backup import back_up

    state = _open(home)
    names = back_up(state, folder)
    typer.echo(f"copied {', '.join(names)} to {folder}")
    if "ledger.sqlite" not in names:
        typer.echo(
            "warning: the ledger and the audit log are in PostgreSQL and not in this copy: back up "
            "that database, too, and after this",
            err=True,
        )


@app.command("limits")
def limits(
    changes: list[str] = typer.Option(
        [], "--set", help="Set a limit: NAME=VALUE. The service must be started anew."
    ),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
    home: Path = HOME,
) -> None:
    """Show the limits of the service, and what happens when they are reached; or set them.

    Example: [bold]privet curator limits --set rate=100 --set work=600[/bold]
    """
    from privet.cli.limits import show_limits
    from privet.service.limits import Limits

    desk = open_desk(home)
    if changes:
        what = f"limits set: {', '.join(changes)}"
        with desk.changing("limits", what):
            show_limits(Limits, home, changes, as_json=as_json)
    else:
        show_limits(Limits, home, changes, as_json=as_json)


def open_desk(home: Path) -> Desk:
    """Return the desk of whoever uses the command line: the home's administrator."""
    import getpass

    from privet.service.audit_log import Person
    from privet.service.owner.desk import Desk

    try:
        name = getpass.getuser()
    except (OSError, KeyError):  # a user id without a name
        name = "command line"
    return Desk(_open(home), Person(name, "administrator"))


def tell(outcome: Outcome) -> None:
    """Print what was done."""
    for warning in outcome.warnings:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo(outcome.said)


def tell_token(outcome: Outcome, whose: str) -> None:
    """Print a token, this once."""
    typer.echo(f"the token of {whose}, shown this once: {outcome.token}")


def _open(home: Path) -> ServiceState:
    from privet.service.state import ServiceState

    return ServiceState.open(home)


def parse_budget(epsilon: str | None, rho: str | None, delta: str | None) -> Budget:
    """Return the budget that is written so."""
    from privet.accounting.cost import Budget

    return Budget(epsilon, rho=rho, delta=delta)


def _read_receipts(given: str) -> list[str]:
    """A receipt as it is, or those of a file."""
    if given.startswith("privet-receipt-"):
        return [given]
    try:
        return [
            line for line in Path(given).read_text(encoding="utf-8").splitlines() if line.strip()
        ]
    except (OSError, ValueError):
        raise ParameterError(
            f"no file {given}, and no receipt either: one begins with privet-receipt-1."
        ) from None
