"""``privet relay``: parties that take turns on one model, which travels between them as a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from privet.cli.merge import OWN_SCHEMA
from privet.cli.options import (
    ANALYST,
    BUDGET,
    CA,
    DATASET,
    FORCE,
    JSON,
    LEDGER,
    TABLE,
    TOKEN_FILE,
)

if TYPE_CHECKING:
    from privet.federation.relay import RelayFile

app = typer.Typer(
    help=(
        "Several parties, one classifier, as good as if they had pooled their rows: the model "
        "travels, and each party takes turns on its own rows."
    ),
    no_args_is_help=True,
)

RELAY = typer.Argument(help="The relay file.")
OUTPUT = typer.Option(..., "--output", "-o", help="Where to write the relay file (JSON).")


@app.command("card")
def card(
    name: str = typer.Argument(help="What the party is called; published."),
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema that all parties share (JSON)."
    ),
    rows: int = typer.Option(
        ..., "--rows", "-n", help="About how many rows the party has; published."
    ),
    epsilon: str = typer.Option(
        ..., "--epsilon", "-e", help="What its turns may cost in all, such as 1, 0.1 or 1/3."
    ),
    key: Path = typer.Option(
        ..., "--key", "-k", help="The party's signing key; made if it is not there. Keep it secret."
    ),
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the card (JSON)."),
    force: bool = FORCE,
) -> None:
    """Write a party's card: its name, about how many rows it has and what it will pay, signed with
    its key. Sees no data and charges nothing.

    Send the card to whoever starts the relay.

    Example: [bold]privet relay card north --schema people.schema.json --rows 13000 --epsilon 1
    --key north.key -o north.card.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.domain import Schema
    from privet.federation.card import Card
    from privet.federation.keys import SigningKey

    check_apart([output], None, None, schema, key)
    check_writable(output, force=force)
    shared = Schema.read(schema)
    signing = SigningKey.read(key) if key.exists() else SigningKey.new()
    made = Card.sign(shared, name, rows, epsilon, signing)
    if not key.exists():
        signing.write(key)
        typer.echo(f"{key}: a new signing key; keep it secret")
    made.write(shared, output)
    typer.echo(f"{output}: the card of {name}, {rows} rows, epsilon {made.epsilon}")
    typer.echo(f"public key: {signing.public[:16]}; tell it to the others by phone or in person")


@app.command("start")
def start(
    cards: list[Path] = typer.Argument(help="The cards of all parties."),
    schema: Path = typer.Option(
        ..., "--schema", "-s", help="The public schema that all parties share (JSON)."
    ),
    people: str = typer.Option(
        ...,
        "--people",
        help=(
            "'disjoint': the parties assert that nobody is in two of their tables, and a person "
            "pays the epsilon of one party; 'may-overlap': the sum."
        ),
    ),
    output: Path = OUTPUT,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Start a relay from the cards of its parties. Sees no data and charges nothing.

    Example: [bold]privet relay start north.card.json south.card.json --schema people.schema.json
    --people disjoint -o relay.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.domain import Schema
    from privet.federation.card import Card
    from privet.federation.relay import RelayFile

    check_apart([output], None, None, schema, *cards)
    check_writable(output, force=force)
    shared = Schema.read(schema)
    read = [Card.read(shared, path) for path in cards]
    relay = RelayFile.start(shared, read, people)  # type: ignore[arg-type]
    relay.write(output)
    _show(relay, output, as_json)


@app.command("add")
def add(
    table: str = TABLE,
    relay: Path = typer.Option(..., "--relay", "-r", help="The relay file as it arrived."),
    party: str = typer.Option(..., "--party", "-p", help="Who takes its turns."),
    key: Path = typer.Option(..., "--key", "-k", help="The party's signing key."),
    epsilon: str | None = typer.Option(
        None,
        "--epsilon",
        "-e",
        help="What all turns of the party may cost; the relay must say the same.",
    ),
    turns: int | None = typer.Option(
        None,
        "--turns",
        "-t",
        min=1,
        help=(
            "How many turns to take before handing on; by default all. With fewer, parties "
            "alternate, which is better where their people differ."
        ),
    ),
    output: Path = OUTPUT,
    schema: Path | None = OWN_SCHEMA,
    budget: str | None = BUDGET,
    ledger: Path | None = LEDGER,
    analyst: str | None = ANALYST,
    dataset: str | None = DATASET,
    token_file: Path | None = TOKEN_FILE,
    ca: Path | None = CA,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Take the turns that a party can take now, with its own table, and sign them. The charge is
    recorded in the table's ledger first.

    Turns that were interrupted go on when the same command is given again. No turn is paid for
    twice, whatever file arrives.

    Example: [bold]privet relay add people.csv --relay relay.json --party north --key north.key -o
    relay-2.json[/bold]
    """
    from privet.accounting.cost import parse_epsilon
    from privet.cli.asking import check_writable, place_of, work_bars
    from privet.cli.options import check_apart
    from privet.errors import ParameterError
    from privet.federation.keys import SigningKey
    from privet.federation.relay import RelayFile

    check_apart([output], table, ledger, schema, relay, key)
    check_writable(output, force=force)
    arrived = RelayFile.read(relay)
    said = arrived.card_of(party).epsilon
    if epsilon is not None and parse_epsilon("epsilon", epsilon) != said:
        raise ParameterError(
            f"the relay says that {party} pays {said} in all, and --epsilon says {epsilon}"
        )
    arrived.check_turn(party)
    signing = SigningKey.read(key)
    arrived.check_key(party, signing)
    known = arrived.schema
    place = place_of(table, schema, budget, ledger, analyst, dataset, token_file, known, ca=ca)
    if schema is None and not table.startswith(("http://", "https://")):
        typer.echo("without --schema, every row is taken for a person of its own", err=True)
    curator = place.curator(str(said))
    with work_bars("taking turns") as paid:
        taken = arrived.take_turns(party, curator, signing, turns, paid)
    taken.write(output)
    _show(taken, output, as_json)


@app.command("join")
def join(
    relay: Path = RELAY,
    cards: list[Path] = typer.Argument(help="The cards of parties that come late."),
    output: Path = OUTPUT,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Let parties come late: they take the turns that are due to their rows. Charges nothing.

    Example: [bold]privet relay join relay.json east.card.json -o relay-2.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.federation.card import Card
    from privet.federation.relay import RelayFile

    check_apart([output], None, None, relay, *cards)
    check_writable(output, force=force)
    changed = RelayFile.read(relay)
    for path in cards:
        changed = changed.join(Card.read(changed.schema, path))
    changed.write(output)
    _show(changed, output, as_json)


@app.command("leave")
def leave(
    relay: Path = RELAY,
    party: str = typer.Argument(help="Who takes no more turns."),
    output: Path = OUTPUT,
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Go on without a party. What it has done stays in the model. Charges nothing.

    Example: [bold]privet relay leave relay.json south -o relay-2.json[/bold]
    """
    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.federation.relay import RelayFile

    check_apart([output], None, None, relay)
    check_writable(output, force=force)
    changed = RelayFile.read(relay).leave(party)
    changed.write(output)
    _show(changed, output, as_json)


@app.command("show")
def show(relay: Path = RELAY, as_json: bool = JSON) -> None:
    """Check every signature of a relay, and say who has done what and whose turn it is.

    Example: [bold]privet relay show relay.json[/bold]
    """
    from privet.federation.relay import RelayFile

    _show(RelayFile.read(relay), relay, as_json)


@app.command("finish")
def finish(
    relay: Path = RELAY,
    output: Path = typer.Option(..., "--output", "-o", help="Where to write the model (JSON)."),
    early: bool = typer.Option(
        False, "--early", help="Make a model although turns are still to be taken."
    ),
    as_json: bool = JSON,
    force: bool = FORCE,
) -> None:
    """Make the model of what the parties have done. Checks every signature; charges nothing.

    Example: [bold]privet relay finish relay.json -o m.json[/bold]
    """
    import json

    from privet.cli.asking import check_writable
    from privet.cli.options import check_apart
    from privet.cli.printing import finite_or_none
    from privet.federation.relay import RelayFile
    from privet.model.file import write_model

    check_apart([output], None, None, relay)
    check_writable(output, force=force)
    model = RelayFile.read(relay).finish(early=early)
    write_model(model, output)
    statement = model.privacy
    if as_json:
        out = {"model": str(output), "epsilon": finite_or_none(statement.epsilon)}
        typer.echo(json.dumps({**out, "private": statement.private}))
        return
    typer.echo(f"{output}: {len(model.trees)} trees and terms; {statement.describe()}")


_PEOPLE = {
    "disjoint": "people: its parties assert that nobody is in two of their tables",
    "may-overlap": "people: somebody may be in several tables, and pays for each",
}


def _show(relay: RelayFile, path: Path, as_json: bool) -> None:
    """Say who takes part, what each has done, and whose turn it is."""
    import json

    parties = relay.list_parties()
    if as_json:
        out = {"relay": str(path), "digest": relay.digest, "people": relay.people}
        turns: dict[str, Any] = {"next": relay.next_names, "idle": relay.idle_names}
        turns |= {"unforeseen": relay.unforeseen, "not_private": relay.not_private}
        typer.echo(json.dumps({**out, "parties": parties, **turns}))
        return
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from privet.text import escape_invisible

    view = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in ("party", "rows", "epsilon", "spent", "turns taken", "turns left"):
        view.add_column(title, justify="left" if title == "party" else "right")
    for one in parties:
        name = str(one["name"]) + (" (left)" if one["left"] else "")
        left = "?" if relay.is_looking_at_classes and not one["left"] else one["to take"]
        texts = (*(one[title] for title in ("rows", "epsilon", "spent", "taken")), left)
        view.add_row(name, *(f"{text:,}" if isinstance(text, int) else str(text) for text in texts))
    console = Console(highlight=False, soft_wrap=True, markup=False)
    console.print(view)
    console.print(f"{path}: digest {relay.digest[:16]}, every signature is right")
    # Signatures prove who holds a key. Only people can check whose key it is.
    keys = ", ".join(f"{one['name']} {one['key'][:16]}" for one in parties)
    console.print(f"public keys: {keys}")
    console.print(_PEOPLE[relay.people])
    if relay.unforeseen:
        console.print(f"beware: {relay.unforeseen}; nobody can take a turn after that")
        return
    for name, reason in relay.not_private.items():
        why = escape_invisible(reason)
        console.print(f"beware: the turns of {name} are not private, so no model of them is: {why}")
    for name in relay.idle_names:
        console.print(f"{name} has too little evidence for a turn: it pays nothing")
    waiting = relay.next_names
    if not waiting:
        console.print(f"all turns are taken: privet relay finish {path} -o MODEL makes the model")
        return
    if relay.is_looking_at_classes:
        console.print("how many turns are left follows from the first, a look at the classes")
    console.print(f"next is {' or '.join(waiting)}, with its own table and key:")
    console.print(f"privet relay add TABLE --relay {path} --party {waiting[0]} --key KEY -o NEW")
