"""``privet curator``: the owner's side of a running curator."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from privet.cli.options import ROWS
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.accounting.cost import Budget
    from privet.service.sql import SQLFunctions
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
DELTA = typer.Option(None, "--delta", help="With epsilon: as much rho as keeps (epsilon, delta).")


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
    home: Path = HOME,
) -> None:
    """Register a table with its schema and the budget of all analysts together.

    Example: [bold]privet curator dataset add people duckdb:///people.db?table=people --schema
    people.schema.json --epsilon 3[/bold]
    """
    from privet.accounting.ledger.relation import Relation, check_relation
    from privet.domain import Schema
    from privet.errors import LedgerError
    from privet.tables.identity import identify_rows
    from privet.tables.open import open_table
    from privet.tables.sources.registry import make_absolute

    state = _open(home)
    budget = _parse_budget(epsilon, rho, delta)
    public = Schema.read(schema)
    opened = open_table(table)
    opened.check_structure(public)
    opened.check_reachable()
    before = state.ledger.cap(name)
    if before is not None and not before.matches(budget):
        raise LedgerError(
            f"the ledger knows data set {name!r} already, with a budget of {before}, which stays: "
            "give that one"
        )
    own = Relation(public.neighbours, public.rows_per_person, public.person or "")
    check_relation(name, state.ledger.relation(name), own)
    state.accounts.check_new_dataset(name)
    rows = identify_rows(table, opened)
    known = _find_same_rows(state, name, rows)
    if known and not same_rows:
        others = ", ".join(map(repr, known))
        raise ParameterError(
            f"the rows of {opened.name!r} are, or may be, those of data set {others}: under two "
            "names each budget can be spent in full. Grant analysts that one instead, or say "
            "--same-rows if that is what you want; it is recorded"
        )
    if sql:
        functions = _require_sql_functions(state)
        functions.add_dataset(name, opened.name, public, public_counts=public_counts)
        for told in functions.list_told(name):
            typer.echo(
                f"warning: every login can read the exact number of rows of {told}", err=True
            )
    budget = state.ledger.open_cap(name, budget)
    state.accounts.add_dataset(name, make_absolute(table), public, rows, known)
    if opened.writable():
        typer.echo(
            (
                "warning: these credentials could change the table; give the curator a role that "
                "can only read it"
            ),
            err=True,
        )
    typer.echo(
        f"data set {name!r}: {opened.name}, {len(public.names)} attributes, {public.n_classes} "
        f"classes, budget {budget}"
    )


@dataset_app.command("list")
def list_datasets(home: Path = HOME) -> None:
    """List the tables, and what is left of their budgets.

    Example: [bold]privet curator dataset list[/bold]
    """
    from rich.console import Console

    from privet.cli.printing import budget_table

    state = _open(home)
    Console().print(
        budget_table(state.ledger, [dataset.name for dataset in state.accounts.datasets()])
    )
    for dataset, other, _ in state.accounts.overlaps():
        typer.echo(f"{dataset!r} has rows of {other!r}: what is spent on them does not add up")
    typer.echo(f"Every query costs at least {float(state.least_epsilon):g} (epsilon).")


@dataset_app.command("remove")
def remove_dataset(name: str = typer.Argument(help="The data set."), home: Path = HOME) -> None:
    """No longer answer questions about a table. What was spent on it stays in the ledger.

    Example: [bold]privet curator dataset remove people[/bold]
    """
    state = _open(home)
    state.accounts.remove_dataset(name)
    functions = state.functions
    if functions is not None:
        functions.remove_dataset(name)
    typer.echo(f"data set {name!r} is no longer served")


@analyst_app.command("add")
def add_analyst(name: str = typer.Argument(help="Who."), home: Path = HOME) -> None:
    """Register an analyst. Their token is shown this once.

    Example: [bold]privet curator analyst add ada[/bold]
    """
    token = _open(home).accounts.add_analyst(name)
    typer.echo(f"the token of {name!r}, shown this once: {token}")


@analyst_app.command("token")
def new_token(
    name: str | None = typer.Argument(None, help="Who."),
    owner: bool = typer.Option(False, "--owner", help="The owner's own token, for the page."),
    home: Path = HOME,
) -> None:
    """Give an analyst another token. The one before ends at once.

    Example: [bold]privet curator analyst token ada[/bold]
    """
    accounts = _open(home).accounts
    if owner == (name is not None):
        raise ParameterError("give the name of an analyst, or --owner")
    token = accounts.new_owner_token() if name is None else accounts.new_token(name)
    typer.echo(f"the new token{'' if name is None else f' of {name!r}'}, shown this once: {token}")


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
    state = _open(home)
    if name not in state.accounts.analysts():
        raise ParameterError(f"no analyst {name!r}")
    _require_sql_functions(state).grant_role(role, name)
    typer.echo(f"the role {role!r} asks as {name!r}")


@analyst_app.command("list")
def list_analysts(home: Path = HOME) -> None:
    """List the analysts, what they may ask about, and what they have left.

    Example: [bold]privet curator analyst list[/bold]
    """
    from rich.console import Console

    from privet.cli.printing import grants_table

    state = _open(home)
    Console().print(grants_table(state.ledger, state.accounts.analysts(), state.accounts.grants()))


@app.command("grant")
def grant(
    analyst: str = typer.Argument(help="Who may ask."),
    dataset: str = typer.Argument(help="About which data set."),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    until: str | None = typer.Option(
        None, help="When the grant ends: a date, an ISO time, or a span such as 30d or 12h."
    ),
    home: Path = HOME,
) -> None:
    """Let an analyst ask about a data set, up to a budget of their own in all. Granting again
    changes budget and end.

    Example: [bold]privet curator grant ada people --epsilon 1 --until 30d[/bold]
    """
    state = _open(home)
    budget = _parse_budget(epsilon, rho, delta)
    ends = None if until is None else _parse_expiry(until)
    if (
        dataset in {known.name for known in state.accounts.datasets()}
        and analyst in state.accounts.analysts()
    ):
        # the cap first: a grant without one would be bound by the data set's only
        state.ledger.set_cap(dataset, budget, analyst)
    state.accounts.grant(analyst, dataset, ends)
    functions = state.functions
    if functions is not None:
        functions.allow(dataset, analyst, ends)
    end = "" if ends is None else f", until {ends.isoformat(timespec='minutes')}"
    typer.echo(f"{analyst!r} may spend {budget} on {dataset!r}{end}")


@app.command("revoke")
def revoke(
    analyst: str = typer.Argument(help="Who may no longer ask."),
    dataset: str | None = typer.Argument(
        None, help="About which data set; by default any, and the token ends."
    ),
    home: Path = HOME,
) -> None:
    """Take back a grant, or all grants of an analyst and their token. Acts at once.

    Example: [bold]privet curator revoke ada people[/bold]
    """
    state = _open(home)
    names = state.accounts.revoke(analyst, dataset)
    functions = state.functions
    if functions is not None:
        for one in names:
            functions.forbid(one, analyst)
    what = "nothing was granted" if not names else ", ".join(map(repr, names))
    typer.echo(
        f"{analyst!r} may no longer ask ({what}){'' if dataset else '; the token has ended'}"
    )


@app.command("ledger")
def ledger(
    dataset: str | None = typer.Option(None, help="Only this data set."),
    analyst: str | None = typer.Option(None, help="Only what this analyst asked."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for machines."),
    home: Path = HOME,
) -> None:
    """Show the charges, and what is left. Charges without an answer are marked.

    Example: [bold]privet curator ledger --analyst ada[/bold]
    """
    from privet.accounting.ledger.journal import entry_to
    from privet.cli.printing import budget_table, grants_table, ledger_table, reservations_table

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
    home: Path = HOME,
) -> None:
    """Free what an analyst has set aside for a fit. What was charged stays charged, and the fit
    cannot go on.

    Example: [bold]privet curator cancel ada fit-5a3f...[/bold]
    """
    from privet.cli.printing import format_number

    ledger = _open(home).ledger
    there = ledger.reservation(analyst, key)
    ended = ledger.close_reservation(analyst, key, why="cancelled")
    freed = format_number(there.left) if there is not None else "0"
    typer.echo(f"cancelled {ended.what!r}: {ended.unit} {freed} can be spent again")


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
    _check_witness(witness, new=new_witness)
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


def _check_witness(witness: Path | None, *, new: bool) -> None:
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
    host: str = typer.Option(
        "127.0.0.1", help="The address to listen at; by default this machine only."
    ),
    port: int = typer.Option(8000, help="The port; 0 takes a free one.", min=0, max=65535),
    cert: Path | None = typer.Option(None, help="The TLS certificate (PEM)."),
    key: Path | None = typer.Option(None, help="The private key of the certificate (PEM)."),
    behind_tls: bool = typer.Option(
        False, "--behind-tls", help="Something in front does TLS: listen without it on any address."
    ),
    rate: float | None = typer.Option(
        None,
        help="Requests a second that one analyst may send, in place of the home's limit.",
        min=0.01,
    ),
    home: Path = HOME,
) -> None:
    """Serve the data sets over HTTP, and the page at /. A ledger that does not verify is not
    served.

    Example: [bold]privet curator serve --port 8000[/bold]
    """
    from dataclasses import replace

    from privet.service.limits import Limits, read_limits
    from privet.service.serve import run

    state = _open(home)
    allowed = read_limits(Limits, home)
    if rate is not None:
        allowed = replace(allowed, rate=rate, burst=4 * rate)
    run(state, allowed, host, port, cert, key, behind_tls=behind_tls)


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

    _open(home)
    show_limits(Limits, home, changes, as_json=as_json)


def _find_same_rows(state: ServiceState, name: str, rows: frozenset[str]) -> list[str]:
    """Return the other data sets that have some of these rows, or may have: removed ones too, as
    what was spent on them stays.
    """
    from privet.errors import PrivetError
    from privet.tables.identity import identify_rows
    from privet.tables.open import open_table

    places = state.accounts.places()
    for dataset in state.accounts.datasets():
        if dataset.name not in places:  # registered by 0.1
            try:
                places[dataset.name] = identify_rows(dataset.place, open_table(dataset.place))
            except PrivetError:  # it cannot be looked at now
                places[dataset.name] = rows
    return sorted(other for other, found in places.items() if other != name and found & rows)


def _require_sql_functions(state: ServiceState) -> SQLFunctions:
    functions = state.functions
    if functions is None:
        raise ParameterError(
            "SQL clients can ask where the ledger is in PostgreSQL: init the curator with --ledger "
            "postgresql://..."
        )
    return functions


def _open(home: Path) -> ServiceState:
    from privet.service.state import ServiceState

    return ServiceState.open(home)


def _parse_budget(epsilon: str | None, rho: str | None, delta: str | None) -> Budget:
    from privet.accounting.cost import Budget

    return Budget(epsilon, rho=rho, delta=delta)


def _parse_expiry(text: str) -> datetime:
    """A date, an ISO time, or a span from now."""
    spans = {"d": "days", "h": "hours", "m": "minutes"}
    try:
        if text[-1] in spans and text.isascii() and text[:-1].isdigit():
            return datetime.now(UTC) + timedelta(**{spans[text[-1]]: int(text[:-1])})
        when = datetime.fromisoformat(text)
    except (ValueError, OverflowError, IndexError):
        raise ParameterError(
            f"until must be a date, an ISO time, or a span such as 30d, 12h or 90m, got {text!r}"
        ) from None
    return when if when.tzinfo is not None else when.replace(tzinfo=UTC)


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
