"""``privet curator``: what an owner changes of data sets, caps and roles, and what is recorded."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

import typer

from privet.cli.curator import (
    DELTA,
    EPSILON,
    HOME,
    RHO,
    TOKEN_UNTIL,
    WHY,
    analyst_app,
    app,
    dataset_app,
    open_desk,
    parse_budget,
    tell,
    tell_token,
)
from privet.errors import ParameterError

staff_app = typer.Typer(help="Owners and auditors, for the page and the API.", no_args_is_help=True)
log_app = typer.Typer(
    help="The audit log: every change of rights, and every refused attempt.", no_args_is_help=True
)
app.add_typer(staff_app, name="staff")
app.add_typer(log_app, name="audit-log")
__all__ = ["app"]
_NAME = typer.Argument(help="The data set.")
_WHO = typer.Argument(help="Who.")


class StaffRole(StrEnum):
    """What somebody may be beside the first owner."""

    OWNER = "owner"
    AUDITOR = "auditor"


class Form(StrEnum):
    """How a history is exported."""

    JSON = "json"
    CSV = "csv"


@dataset_app.command("update")
def update_dataset(
    name: str = _NAME,
    place: str | None = typer.Option(None, help="Where the rows are now."),
    schema: Path | None = typer.Option(
        None, "--schema", "-s", help="The public schema of the table now (JSON)."
    ),
    password: bool = typer.Option(
        False, "--password", help="A new password for the table's server; it is asked for."
    ),
    same_rows: bool = typer.Option(
        False, "--same-rows", help="You know that another data set has the same rows."
    ),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Give a data set another place, password or schema. Grants and spending stay.

    Example: [bold]privet curator dataset update people --password[/bold]
    """
    from privet.domain import Schema
    from privet.service.owner.datasets import update_dataset as update

    asked = typer.prompt("The new password", hide_input=True) if password else None
    tell(
        update(
            open_desk(home),
            name,
            place=place,
            password=asked,
            schema=None if schema is None else Schema.read(schema),
            same_rows=same_rows,
            why=why,
        )
    )


@dataset_app.command("test")
def check_dataset(
    name: str = _NAME,
    place: str | None = typer.Option(None, help="Another place to try, before an update."),
    schema: Path | None = typer.Option(
        None, "--schema", "-s", help="Another schema to try, before an update."
    ),
    home: Path = HOME,
) -> None:
    """Look whether a table can be reached, and has the columns that its schema says. Reads no row.
    Exit code 1 if not.

    Example: [bold]privet curator dataset test people[/bold]
    """
    from privet.domain import Schema
    from privet.service.owner.datasets import check_dataset as check

    read = None if schema is None else Schema.read(schema)
    state = check(open_desk(home), name, place=place, schema=read)
    if not state.good:
        wrong = "has another structure" if state.reachable else "cannot be reached"
        typer.echo(f"privet: the table of data set {name!r} {wrong}: {state.trouble}", err=True)
        raise typer.Exit(1)
    typer.echo(f"the table of data set {name!r} can be reached, and is as the schema says")


@dataset_app.command("pause")
def pause_dataset(name: str = _NAME, why: str = WHY, home: Path = HOME) -> None:
    """Answer no questions about a data set for a while. Grants, budgets and fits stay.

    Example: [bold]privet curator dataset pause people --why "the table is rebuilt"[/bold]
    """
    from privet.service.owner.datasets import pause_dataset as pause

    tell(pause(open_desk(home), name, why))


@dataset_app.command("resume")
def resume_dataset(name: str = _NAME, why: str = WHY, home: Path = HOME) -> None:
    """Answer questions about a data set again.

    Example: [bold]privet curator dataset resume people[/bold]
    """
    from privet.service.owner.datasets import resume_dataset as resume

    tell(resume(open_desk(home), name, why))


@analyst_app.command("remove")
def remove_analyst(name: str = _WHO, why: str = WHY, home: Path = HOME) -> None:
    """Remove an analyst with their token and grants. What they spent stays in the ledger.

    Example: [bold]privet curator analyst remove ada --why "left the hospital"[/bold]
    """
    from privet.service.owner.people import remove_analyst as remove

    tell(remove(open_desk(home), name, why))


@app.command("cap")
def change_cap(
    dataset: str = typer.Argument(help="The data set."),
    analyst: str | None = typer.Argument(None, help="The cap of this analyst; by default of all."),
    epsilon: str | None = EPSILON,
    rho: str | None = RHO,
    delta: str | None = DELTA,
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Raise or lower the cap of a data set, or of one analyst on it. A cap below what was spent
    stops all further spending.

    Example: [bold]privet curator cap people --epsilon 4 --why "approved by the board"[/bold]
    """
    from privet.service.owner.rights import change_cap as change

    tell(change(open_desk(home), dataset, parse_budget(epsilon, rho, delta), analyst, why))


@staff_app.command("add")
def add_staff(
    name: str = _WHO,
    role: StaffRole = typer.Option(
        ..., help="An owner changes what is granted; an auditor reads everything."
    ),
    until: str = TOKEN_UNTIL,
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Register another owner, or an auditor. Their token is shown this once.

    Example: [bold]privet curator staff add dora --role auditor[/bold]
    """
    from privet.service.owner.people import add_staff as add

    tell_token(add(open_desk(home), name, role.value, why, until), repr(name))


@staff_app.command("token")
def replace_staff_token(
    name: str = _WHO, until: str = TOKEN_UNTIL, why: str = WHY, home: Path = HOME
) -> None:
    """Give an owner or auditor another token. The one before ends at once.

    Example: [bold]privet curator staff token dora[/bold]
    """
    from privet.service.owner.people import replace_staff_token as replace

    tell_token(replace(open_desk(home), name, why, until), repr(name))


@staff_app.command("remove")
def remove_staff(name: str = _WHO, why: str = WHY, home: Path = HOME) -> None:
    """Remove an owner or auditor with their token.

    Example: [bold]privet curator staff remove dora[/bold]
    """
    from privet.service.owner.people import remove_staff as remove

    tell(remove(open_desk(home), name, why))


@staff_app.command("list")
def list_staff(home: Path = HOME) -> None:
    """List the owners and auditors, and tokens that end.

    Example: [bold]privet curator staff list[/bold]
    """
    from privet.service.token_ends import describe_end

    accounts = open_desk(home).state.accounts
    ends = accounts.token_ends()
    for person in accounts.staff():
        end = ends.get(person, "")
        told = f", whose token {describe_end(end, accounts.now())}" if end else ""
        typer.echo(f"{person.role:8} {person.name}{told}")


@app.command("places")
def places(
    allow: list[str] = typer.Option(
        [], help="Allow a folder, or postgresql://HOST/DATABASE, to be named over HTTP."
    ),
    forbid: list[str] = typer.Option([], help="Take one back."),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Show or set the places in which an owner may register tables over HTTP. None is allowed at
    first: connecting to any place would let a request read this machine's files.

    Example: [bold]privet curator places --allow /srv/tables --allow postgresql://db/clinic[/bold]
    """
    from privet.service.owner.places import AllowedPlaces

    desk = open_desk(home)
    allowed = AllowedPlaces.read(home)
    for place in allow:
        allowed = allowed.allowing(place)
    for place in forbid:
        allowed = allowed.forbidding(place)
    if allow or forbid:
        what = f"places over HTTP: {allowed.describe()}"
        with desk.changing("places", what, why=why, allowed=list(allow), forbidden=list(forbid)):
            allowed.write(home)
    typer.echo(f"over HTTP, tables may be registered in these places: {allowed.describe()}")


@log_app.command("show")
def show_log(
    dataset: str | None = typer.Option(None, help="Only what is about this data set."),
    analyst: str | None = typer.Option(None, help="Only what is about this analyst."),
    since: str = typer.Option("", "--from", help="From this day (UTC), such as 2026-01-31."),
    until: str = typer.Option("", "--to", help="To this day (UTC), included."),
    home: Path = HOME,
) -> None:
    """Show who changed what, and who was refused what, oldest first.

    Example: [bold]privet curator audit-log show --dataset people --from 2026-01-01[/bold]
    """
    from rich.console import Console

    from privet.cli.printing import events_table
    from privet.service.owner.history import read_log

    Console().print(events_table(read_log(open_desk(home), dataset, analyst, since, until)))


@log_app.command("verify")
def verify_log(
    witness: Path | None = typer.Option(None, help="Another witness file, kept elsewhere."),
    new_witness: bool = typer.Option(False, "--new-witness", help="Begin this witness file."),
    home: Path = HOME,
) -> None:
    """Check that the audit log is what it was: nothing edited, removed, moved, cut off, or restored
    from a backup. Exit code 1 if it is not.

    Example: [bold]privet curator audit-log verify[/bold]
    """
    from privet.accounting.ledger import Witness
    from privet.cli.curator import check_witness
    from privet.service.audit_log.store import verify_stored

    state = open_desk(home).state
    check_witness(witness, new=new_witness)
    problems = verify_stored(state.audit_log, state.audit_witness)
    if witness is not None:
        other = Witness(witness, "audit log")
        problems += [f"{witness}: {found}" for found in verify_stored(state.audit_log, other)]
    if problems:
        for problem in dict.fromkeys(problems):
            typer.echo(f"privet: {problem}", err=True)
        raise typer.Exit(1)
    typer.echo(f"the audit log is whole: {len(state.audit_log.events())} lines")


@log_app.command("export")
def export_log(
    form: Form = typer.Option(Form.JSON, "--format", help="JSON lines, or CSV."),
    dataset: str | None = typer.Option(None, help="Only what is about this data set."),
    analyst: str | None = typer.Option(None, help="Only what is about this analyst."),
    since: str = typer.Option("", "--from", help="From this day (UTC), such as 2026-01-31."),
    until: str = typer.Option("", "--to", help="To this day (UTC), included."),
    out: Path | None = typer.Option(None, "-o", help="A file; by default, it is printed."),
    home: Path = HOME,
) -> None:
    """Export the audit log.

    Example: [bold]privet curator audit-log export --format csv -o audit-log.csv[/bold]
    """
    from privet.service.owner.history import export_log as export

    _write(export(open_desk(home), form.value, dataset, analyst, since, until), out)


def _write(text: str, out: Path | None) -> None:
    if out is None:
        typer.echo(text, nl=False)
        return
    from privet._atomic import save_file

    save_file(out, text, private=True)
    typer.echo(f"wrote {out}", err=True)


@app.command("report")
def report(
    dataset: str = typer.Argument(help="The data set; also one that is no longer served."),
    since: str = typer.Option(
        "", "--from", help="From this day (UTC); by default the first of last month."
    ),
    until: str = typer.Option("", "--to", help="To this day; by default the last of last month."),
    out: Path = typer.Option(Path("report.html"), "-o", help="A file, .html or .md."),
    home: Path = HOME,
) -> None:
    """Write a report on a data set and a period, for a data-protection officer to sign: who asked
    what at which epsilon, what changed, what was refused, and whether the records are whole.

    Example: [bold]privet curator report people --from 2026-01-01 --to 2026-03-31[/bold]
    """
    from datetime import UTC, datetime

    from privet._atomic import save_file
    from privet.service.owner.report import FORMS, last_month, make_report, render_report

    if out.suffix not in FORMS:
        raise ParameterError(f"-o must end in {' or '.join(FORMS)}, got {out}")
    first, last = last_month(datetime.now(UTC).date())
    if not since and not until:
        since, until = first, last
    made = make_report(open_desk(home), dataset, since, until)
    save_file(out, render_report(made, out.suffix), private=True)
    typer.echo(f"wrote {out}: {made.questions} questions from {since} to {until}")
    if not made.whole:
        typer.echo("privet: the records are not what they were; the report says how", err=True)
        raise typer.Exit(1)


@app.command("archive")
def archive(
    before: str = typer.Option(..., help="Before this day (UTC), such as 2026-01-31."),
    out: Path = typer.Option(..., "-o", help="The new file."),
    why: str = WHY,
    home: Path = HOME,
) -> None:
    """Move the recorded answers of old questions from the ledger to a sealed file. Every line of
    the ledger stays. Who sends such a request again is told the file's name, and charged nothing.

    Example: [bold]privet curator archive --before 2026-01-01 -o answers-2025.json[/bold]
    """
    from privet.service.owner.archive import archive_answers

    tell(archive_answers(open_desk(home), before, out, why=why))
