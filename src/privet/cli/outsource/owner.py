"""The owner's commands: keys, splitting, verifying, attacking one's own split."""

from __future__ import annotations

import json
from pathlib import Path

import typer

from privet.cli.options import FORCE, JSON, ROWS
from privet.cli.outsource.options import (
    CA,
    KEY_FILE,
    NEW_PASSPHRASE,
    TOKEN_FILE,
    ask_new_passphrase,
    connect_to_table,
    locked,
    read_keys,
    rows_of,
)

key_app = typer.Typer(
    help="The key that joins the two halves of a table. Whoever has it knows everything.",
    no_args_is_help=True,
)
FOLDER = typer.Argument(help="The folder that 'split' wrote.")


@key_app.command("new")
def new_key(
    path: Path = typer.Argument(help="The key file to make; nobody else may read it (mode 0600)."),
    algorithm: str = typer.Option("AES-256-GCM", help="AES-256-GCM or AES-128-GCM."),
    passphrase: bool = typer.Option(
        False, "--passphrase", help="Seal the file with a passphrase (scrypt)."
    ),
) -> None:
    """Make a key. Keep a copy in a safe place: without it nobody can join the halves again.

    Example: [bold]privet outsource key new people.key --passphrase[/bold]
    """
    from privet.outsource.cipher import KeyRing

    KeyRing.new(algorithm).write(path, ask_new_passphrase() if passphrase else None)  # type: ignore[arg-type]
    typer.echo(f"made {path} ({algorithm}); keep a copy in a safe place")


@key_app.command("passphrase")
def change_passphrase(
    path: Path = typer.Argument(help="The key file."),
    remove: bool = typer.Option(False, "--remove", help="Store the key without a passphrase."),
) -> None:
    """Give a key file another passphrase, or none.

    Example: [bold]privet outsource key passphrase people.key[/bold]
    """
    with locked(path) as (ring, _):
        ring.write(path, None if remove else ask_new_passphrase(NEW_PASSPHRASE), over=True)
    typer.echo(f"{path} has {'no' if remove else 'a new'} passphrase")


@key_app.command("retire")
def retire_key(
    path: Path = typer.Argument(help="The key file."),
    url: str = typer.Argument(
        help=(
            "The address of the server, which is looked at first: nothing there may need an older "
            "key."
        )
    ),
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
) -> None:
    """Forget the keys before the current one, after 'rotate' has sealed everything anew and all
    clients have the new key file.

    Example: [bold]privet outsource key retire people.key https://store.example[/bold]
    """
    from privet.errors import OutsourceError
    from privet.outsource.client.rotation import rotate

    with connect_to_table(url, token_file, path, ca) as there:
        if old := rotate(there):
            raise OutsourceError(
                f"{old} texts were still sealed with an older key (they are not any more): does "
                "somebody still use it?"
            )
    with locked(path) as (ring, passphrase):
        ring.retire_old_keys().write(path, passphrase, over=True)
    typer.echo(f"{path}: {len(ring.keys) - 1} older key(s) forgotten")


def split(
    table: str = ROWS,
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema of the table (JSON)."
    ),
    sensitive: str = typer.Option(
        ..., "--sensitive", help="The attribute whose link to people is to be hidden."
    ),
    l: int = typer.Option(2, "--l", help="No sensitive value has more than one l-th of any group."),  # noqa: E741
    key_file: Path = KEY_FILE,
    output: Path = typer.Option(..., "--output", "-o", help="The folder to write."),
    pruning: float = typer.Option(
        0.2, help="The share of rows, drawn at random, that learners keep aside for pruning."
    ),
    withheld: Path | None = typer.Option(
        None, help="Write the rows that are held back to this CSV file, for the owner only."
    ),
    anyway: bool = typer.Option(
        False,
        "--anyway",
        help="Write the halves although the verifier finds that something links them.",
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Split a table into an identifier table and a sensitive table that only the key can join, in
    random l-diverse groups.

    Rows that cannot be placed without breaking l-diversity, or do not fit the schema, are held back
    and told.

    Example: [bold]privet outsource split people.csv -s people.schema.json --sensitive disease --l 3
    -k people.key -o halves[/bold]
    """
    from privet.cli.asking import check_writable, working
    from privet.domain import Schema
    from privet.errors import OutsourceError, ParameterError
    from privet.outsource.files import check_new_folder, private_file, write_halves
    from privet.outsource.split import split as split_table
    from privet.outsource.verify import verify as look

    check_new_folder(output)
    if withheld is not None:
        check_writable(withheld, force=force)
    public, rows = Schema.read(schema), rows_of(table)
    with locked(key_file) as (ring, passphrase):
        if ring.table is not None:
            raise ParameterError(
                f"the key in {key_file} belongs to another split; make a key for each. Where one "
                "key opens two tables, a server could show one in place of the other"
            )
        with working("splitting"):
            made = split_table(rows, public, sensitive, l, ring, pruning=pruning)
            verdict = look(made.halves, ring)
        if verdict.problems and not anyway:
            problems = "".join(f"\n  - {problem}" for problem in verdict.problems)
            raise OutsourceError(
                "something links the halves, so they are not written (--anyway writes "
                f"them):{problems}"
            )
        if withheld is not None:
            with private_file(withheld) as file:
                rows.iloc[made.withheld].to_csv(file, index=False)
        write_halves(made.halves, output)
        ring.bind_to_table(made.halves.anatomy.id).write(key_file, passphrase, over=True)
    if as_json:
        told = {
            "folder": str(output),
            "rows": verdict.rows,
            "groups": verdict.groups,
            "l": verdict.l,
            "unplaced": len(made.unplaced),
        }
        typer.echo(
            json.dumps(
                {
                    **told,
                    "unfit": len(made.unfit),
                    "problems": verdict.problems,
                    "remarks": verdict.remarks,
                }
            )
        )
        return
    typer.echo(
        f"{output}: {verdict.rows} rows in {verdict.groups} groups, {l}-diverse in {sensitive!r}"
    )
    for count, why in (
        (len(made.unplaced), "cannot be placed without breaking it"),
        (len(made.unfit), "do not fit the schema"),
    ):
        if count:
            typer.echo(f"{count} rows {why} and are held back; they are in neither half")
    if len(made.unplaced):
        typer.echo(
            "note: whoever knows that a person is in the table, but not in the halves, can guess a "
            "most frequent value for them"
        )
    _print_findings(verdict.problems, verdict.remarks)
    typer.echo(
        "this is anatomization, not differential privacy; see what an adversary learns with "
        "'privet outsource attack'"
    )


def verify(
    folder: Path = FOLDER,
    key_file: Path | None = typer.Option(
        None, "--key-file", "-k", help="With the key, more is checked."
    ),
) -> None:
    """Check that the groups of a split are l-diverse and that nothing but the sealed numbers links
    its halves. Exit code 1 if not.

    Example: [bold]privet outsource verify halves -k people.key[/bold]
    """
    from privet.outsource.files import read_halves
    from privet.outsource.verify import verify as look

    verdict = look(read_halves(folder), None if key_file is None else read_keys(key_file))
    _print_findings(verdict.problems, verdict.remarks)
    if verdict.problems:
        raise typer.Exit(1)
    told = "joined with the key" if verdict.joined else "looked at without the key"
    typer.echo(
        f"{folder}: {verdict.rows} rows in {verdict.groups} groups, {verdict.l:g}-diverse; {told}; "
        "nothing else links the halves"
    )


def attack(
    folder: Path = FOLDER,
    key_file: Path = KEY_FILE,
    model: str = typer.Option(
        "logistic",
        help="What the adversary learns with: logistic, or naive-bayes as in Kifer's paper.",
    ),
    known: int = typer.Option(
        5, help="People whose sensitive value the adversary knows beforehand.", min=0
    ),
    output: Path | None = typer.Option(
        None, "--output", "-o", help="Draw the result: .svg, .png or .pdf."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Measure how much an adversary who sees both halves learns beyond l-diversity, by the
    deFinetti attack (Kifer 2009).

    The attack itself uses the two halves only; the key is for counting how often it is right.

    Example: [bold]privet outsource attack halves -k people.key -o attack.svg[/bold]
    """
    from privet.cli.asking import check_writable, working
    from privet.outsource.files import read_halves
    from privet.outsource.verify import attack_halves

    if output is not None:
        check_writable(output, force=force)
    ring, halves = read_keys(key_file), read_halves(folder)
    with working("attacking"):
        score = attack_halves(halves, ring, model, known)  # type: ignore[arg-type]
    if output is not None:
        from privet.outsource.attack.picture import draw_attack
        from privet.report.plots import save_figure

        save_figure(
            draw_attack(score, f"{halves.anatomy.sensitive}, l = {halves.anatomy.l}"), output
        )
    if as_json:
        typer.echo(json.dumps(score.to_json()))
        return
    low, high = score.interval
    typer.echo(
        f"{score.n_rows} people in {score.n_groups} groups; l-diversity allows the group alone to "
        f"tell {score.bound:.0%}"
    )
    typer.echo(
        f"the adversary sees both halves and knows the values of {score.known} people, who do not "
        "count with their groups"
    )
    typer.echo(f"  a random guess in the group is right for      {score.random_guess:.1%}")
    if score.population is not None:
        typer.echo(
            f"  a model of other people, without the group,   {score.population.accuracy:.1%}"
        )
    typer.echo(
        f"  the attack is right for                       {score.accuracy:.1%}  ({low:.1%} to "
        f"{high:.1%}, 19 times in 20)"
    )
    if score.names_open:
        typer.echo(
            f"  the same, with the names of values settled    {score.renamed:.1%}  (groups tell "
            "people apart, not their values;"
        )
        typer.echo(
            "                                                to know a few people settles it, see "
            "--known)"
        )
    rightly = (
        ""
        if score.confident_right is None
        else f"  of all people, and right about {score.confident_right:.0%} of these"
    )
    typer.echo(f"  the attack is sure (at least 90%) about       {score.confident:.1%}{rightly}")
    typer.echo(
        f"  exposed: it is sure, and right, about         {score.at_least_confident:.1%}  of all "
        "people"
    )
    if score.learns:
        typer.echo(
            "the attack learns more than l-diversity allows; a larger l, fewer identifying "
            "attributes, or differential privacy help"
        )
    else:
        typer.echo(
            "this attack learns nothing beyond chance; a better one might, and background "
            "knowledge does"
        )
    if output is not None:
        typer.echo(f"drew {output}")


def _print_findings(problems: list[str], remarks: list[str]) -> None:
    for problem in problems:
        typer.echo(f"privet: {problem}", err=True)
    for remark in remarks:
        typer.echo(f"note: {remark}")
